"""A script is for TensorFlow 1 only if a name settles it."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tfrewrite.verify.tf_generation import is_tf1_script

OTHERWISE = {
    "nothing of TensorFlow": "import numpy as np\nnp.mean([1])",
    "names that both have": """
        import tensorflow as tf
        x = tf.constant([1.0])
        print(tf.reduce_sum(tf.nn.relu(x)), tf.Variable(1.0), tf.gradients)
        """,
    "version 2": """
        import tensorflow as tf
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        optimizer = tf.optimizers.Adam(0.1)
        @tf.function
        def step(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(model(x))
            return tape.gradient(loss, model.trainable_variables)
        """,
    "what the table does not have for version 2, though it is there": """
        import tensorflow as tf
        data = tf.data.Dataset.from_generator(lambda: [1], tf.int32)
        with tf.io.TFRecordWriter("x") as writer, tf.summary.create_file_writer("y").as_default():
            tf.summary.scalar("loss", 1.0, step=1)
        tf.data.Dataset.zip((data, data)), tf.random.Generator.from_seed(1)
        tf.lookup.StaticHashTable, tf.nn.ctc_loss, tf.losses.Reduction.NONE
        """,
    "what was in version 2 for a time": """
        import tensorflow as tf
        tf.estimator.Estimator, tf.keras.backend.get_session, tf.metrics.mean_squared_error
        tf.losses.mean_squared_error, tf.config.experimental_list_devices
        """,
    "it imports the interface itself": """
        import tensorflow.compat.v1 as tf
        tf.disable_v2_behavior()
        x = tf.placeholder(tf.float32)
        """,
    "so it does from the package": """
        from tensorflow.compat import v1 as tf
        x = tf.placeholder(tf.float32)
        """,
    "where it can": """
        try:
            import tensorflow.compat.v1 as tf
        except ImportError:
            import tensorflow as tf
        x = tf.placeholder(tf.float32)
        """,
    "it spells the interface out": """
        import tensorflow as tf
        tf.compat.v1.disable_eager_execution()
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
        """,
    "or has a name for it": """
        import tensorflow as tf
        tf1 = tf.compat.v1
        make = tf1.placeholder
        x = make(tf.float32), tf1.train.GradientDescentOptimizer(0.1)
        """,
    "it looks at the version first": """
        import tensorflow as tf
        if tf.__version__.startswith("1."):
            tf.enable_eager_execution()
        OLD = int(tf.__version__.split(".")[0]) < 2
        optimizer = tf.train.AdamOptimizer() if OLD else tf.optimizers.Adam()
        """,
    "it looks whether it is there": """
        import tensorflow as tf
        if hasattr(tf, "enable_eager_execution"):
            tf.enable_eager_execution()
        try:
            tf.logging.set_verbosity(tf.logging.ERROR)
        except AttributeError:
            pass
        try:
            from tensorflow.contrib import rnn
        except (ImportError, AttributeError):
            rnn = None
        """,
    "it puts them there itself": """
        import tensorflow as tf
        tf.placeholder = tf.compat.v1.placeholder
        x = tf.placeholder(tf.float32)
        """,
    "names in text": """
        import tensorflow as tf
        # tf.placeholder(tf.float32)
        print("tf.Session()")
        """,
    "another library's names": "import torch as tf\ntf.placeholder, tf.Session()",
    "a name that neither has": "import tensorflow as tf\ntf.no_such_thing(1)",
    "not Python 3": "import tensorflow as tf\nprint tf.Session()",
    "nothing": "",
}
FOR_VERSION_1 = {
    "a placeholder": "import tensorflow as tf\nx = tf.placeholder(tf.float32)",
    "a session": "import tensorflow\nwith tensorflow.Session() as session:\n    pass",
    "an optimizer": """
        import tensorflow as tf
        def train(loss):
            return tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        """,
    "a package that is gone": "import tensorflow as tf\ntf.layers.dense(x, 10)",
    "contrib": "import tensorflow as tf\ncell = tf.contrib.rnn.BasicLSTMCell(10)",
    "contrib, imported": "import tensorflow.contrib.slim as slim",
    "contrib's own": "from tensorflow.contrib.seq2seq import sequence_loss",
    "flags": "import tensorflow as tf\nFLAGS = tf.app.flags.FLAGS",
    "flags under a name": "import tensorflow as tf\nflags = tf.flags\nflags.DEFINE_string",
    "the tutorial": "from tensorflow.examples.tutorials.mnist import input_data",
    "a name brought in": "from tensorflow import placeholder, float32\nplaceholder(float32)",
    "an alias": "import tensorflow as tf\nlog = tf.log",
    "eager mode asked for": "import tensorflow as tf\ntf.enable_eager_execution()",
    "beside the interface spelled out": """
        import tensorflow as tf
        tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
        x = tf.placeholder(tf.float32)
        """,
    "after a test of something else": """
        import tensorflow as tf
        try:
            x = tf.placeholder(tf.float32)
        except ValueError:
            raise
        if __name__ == "__main__":
            tf.Session()
        """,
    "guarded here, needed there": """
        import tensorflow as tf
        if tf.__version__ < "1.4":
            data = tf.contrib.data
        else:
            data = tf.data
        session = tf.Session()
        """,
}


@pytest.mark.parametrize("text", OTHERWISE.values(), ids=OTHERWISE)
def test_not_for_version_1(text: str) -> None:
    assert not is_tf1_script(dedent(text))


@pytest.mark.parametrize("text", FOR_VERSION_1.values(), ids=FOR_VERSION_1)
def test_for_version_1(text: str) -> None:
    assert is_tf1_script(dedent(text))


def test_a_text_nested_too_deeply_is_not_read() -> None:
    assert not is_tf1_script("import tensorflow as tf\ntf" + ".x" * 100_000)
