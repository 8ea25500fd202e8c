"""TFR204, the traps first."""

from rulebench import bench, leaves_alone, offers, refuses, rewrites
from tfrewrite.codemods.hoist_tf_function import HoistTfFunction

HEAD = """
            import numpy as np
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            optimizer = tf.keras.optimizers.SGD(0.1)
            data = tf.data.Dataset.range(10)
"""

test_hoist_tf_function = bench(
    HoistTfFunction,
    # Traps
    leaves_alone(
        "made before the loop",
        HEAD
        + """
            @tf.function
            def step(x):
                return model(x)

            for x in data:
                step(x)
        """,
    ),
    leaves_alone(
        "made in the first turn only",
        HEAD
        + """
            for number, x in enumerate(data):
                if number == 0:
                    step = tf.function(lambda one: model(one))
                step(x)
        """,
    ),
    leaves_alone(
        "a list of functions",
        HEAD
        + """
            steps = []
            for size in (1, 2, 3):

                @tf.function
                def step(x):
                    return model(x)

                steps.append(step)
        """,
    ),
    leaves_alone(
        "the file runs everything eagerly",
        """
            import tensorflow as tf

            tf.config.run_functions_eagerly(True)
            for x in range(3):

                @tf.function
                def double(value):
                    return value * 2

                print(double(tf.constant(x)))
        """,
    ),
    leaves_alone(
        "in a graph of TensorFlow 1",
        """
            import tensorflow.compat.v1 as tf

            with tf.Session() as sess:
                for x in range(3):
                    double = tf.function(lambda value: value * 2)
                    print(sess.run(double(tf.constant(x))))
        """,
        shapes=(),
    ),
    leaves_alone(
        "a function of that name that is not TensorFlow's",
        """
            import tensorflow as tf
            from mylib import function

            for x in range(3):

                @function
                def double(value):
                    return value * 2

                print(double(tf.constant(x)))
        """,
    ),
    refuses(
        "it reads the loop's variable",
        HEAD
        + """
            for epoch in range(10):

                @tf.function
                def step(x):
                    return model(x) * epoch

                for x in data:
                    step(x)
        """,
        reason="python-value",
    ),
    refuses(
        "a default value that is evaluated in each turn",
        HEAD
        + """
            rate = 0.1
            for epoch in range(10):
                rate = rate * 0.5

                @tf.function
                def step(x, scale=rate):
                    return model(x) * scale

                for x in data:
                    step(x)
        """,
        reason="python-value",
    ),
    refuses(
        "a helper that is defined in the loop, with the loop's variable as a default",
        HEAD
        + """
            for epoch in range(10):

                def scaled(x, by=epoch):
                    return x * by

                @tf.function
                def step(x):
                    return scaled(model(x))

                for x in data:
                    step(x)
        """,
        reason="python-value",
    ),
    refuses(
        "a model made in each turn",
        HEAD
        + """
            for units in range(1, 4):
                small = tf.keras.Sequential([tf.keras.layers.Dense(units)])

                @tf.function
                def step(x):
                    return small(x)

                for x in data:
                    step(x)
        """,
        reason="python-value",
    ),
    refuses(
        "a first trace that fails leaves a function that can never make variables",
        HEAD
        + """
            for attempt in range(10):

                @tf.function
                def step(x):
                    with tf.GradientTape() as tape:
                        loss = tf.reduce_mean(model(x))
                    gradients = tape.gradient(loss, model.trainable_variables)
                    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

                try:
                    for x in data:
                        step(x)
                except ValueError:
                    print("failed", attempt)
        """,
        reason="exception-seen",
    ),
    refuses(
        "a list that may change",
        HEAD
        + """
            scales = [1.0, 2.0]
            for epoch in range(10):
                scales[0] = scales[0] * 0.5

                @tf.function
                def step(x):
                    return model(x) * scales[0]

                for x in data:
                    step(x)
        """,
        reason="python-value",
    ),
    refuses(
        "an array that is written to",
        HEAD
        + """
            mask = np.ones(1)
            for epoch in range(10):
                mask[0] = mask[0] * 0.5

                @tf.function
                def step(x):
                    return model(x) * mask

                for x in data:
                    step(x)
        """,
        reason="python-value",
    ),
    refuses(
        "layers are frozen in the loop",
        HEAD
        + """
            for epoch in range(10):
                model.trainable = epoch > 5

                @tf.function
                def step(x):
                    with tf.GradientTape() as tape:
                        loss = tf.reduce_mean(model(x))
                    gradients = tape.gradient(loss, model.trainable_variables)
                    optimizer.apply_gradients(zip(gradients, model.trainable_variables))

                for x in data:
                    step(x)
        """,
        reason="dynamic-code",
    ),
    refuses(
        "a layer of the model is frozen under another name",
        HEAD
        + """
            for epoch in range(10):
                layer = model.layers[0]
                layer.trainable = epoch > 5

                @tf.function
                def step(x):
                    return model(x)

                for x in data:
                    step(x)
        """,
        reason="state-changes",
    ),
    refuses(
        "code of another file has the model",
        """
            import tensorflow as tf
            from mylib import Freezer

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])


            def main():
                freezer = Freezer(model)
                for epoch in range(10):
                    freezer.next()

                    @tf.function
                    def step(x):
                        return model(x)

                    step(tf.ones([1, 1]))
        """,
        reason="state-changes",
        shapes=(),
    ),
    refuses(
        "a policy is set in the loop",
        HEAD
        + """
            for name in ("float32", "mixed_float16"):
                tf.keras.mixed_precision.set_global_policy(name)
                step = tf.function(lambda x: model(x))
                for x in data:
                    step(x)
        """,
        reason="state-changes",
    ),
    refuses(
        "the seed is set in the loop",
        HEAD
        + """
            for epoch in range(3):
                tf.random.set_seed(epoch)
                step = tf.function(lambda x: tf.nn.dropout(model(x), 0.5))
                for x in data:
                    step(x)
        """,
        reason="state-changes",
    ),
    refuses(
        "it prints when it is traced",
        HEAD
        + """
            for epoch in range(10):

                @tf.function
                def step(x):
                    print("tracing")
                    return model(x)

                for x in data:
                    step(x)
        """,
        reason="python-effect",
    ),
    refuses(
        "it counts in Python",
        HEAD
        + """
            seen = []
            for epoch in range(10):

                @tf.function
                def step(x):
                    seen.append(1)
                    return model(x)

                for x in data:
                    step(x)
        """,
        reason=("call-not-seen",),
    ),
    refuses(
        "it draws with numpy when it is traced",
        HEAD
        + """
            for epoch in range(10):

                @tf.function
                def step(x):
                    return model(x) + np.random.rand()

                for x in data:
                    step(x)
        """,
        reason="python-effect",
    ),
    refuses(
        "a helper has the effect",
        HEAD
        + """
            def told(x):
                print("here")
                return x


            for epoch in range(10):

                @tf.function
                def step(x):
                    return told(model(x))

                for x in data:
                    step(x)
        """,
        reason="python-effect",
    ),
    refuses(
        "a layer of the file counts its calls",
        """
            import tensorflow as tf


            class Counting(tf.keras.layers.Layer):
                def call(self, x):
                    self.calls = 1
                    return x


            def main(data):
                model = tf.keras.Sequential([Counting()])
                for epoch in range(10):

                    @tf.function
                    def step(x):
                        return model(x)

                    for x in data:
                        step(x)
        """,
        reason="python-effect",
        shapes=(),
    ),
    refuses(
        "a Lambda layer reads a number that changes",
        """
            import tensorflow as tf

            scale = 1.0


            def main(data):
                global scale
                model = tf.keras.Sequential([tf.keras.layers.Lambda(lambda x: x * scale)])
                for epoch in range(10):
                    scale = scale * 0.5
                    step = tf.function(lambda x: model(x))
                    for x in data:
                        step(x)
        """,
        reason="python-value",
        shapes=(),
    ),
    refuses(
        "a subclass has another method",
        """
            import tensorflow as tf


            class Trainer:
                def __init__(self):
                    self.weight = tf.Variable(1.0)

                def loss(self, x):
                    return x * self.weight

                def fit(self, data):
                    for epoch in range(10):
                        step = tf.function(lambda x: self.loss(x))
                        for x in data:
                            step(x)


            class Loud(Trainer):
                def loss(self, x):
                    print(x)
                    return x
        """,
        reason="call-not-seen",
        shapes=(),
    ),
    refuses(
        "code of another file",
        """
            import tensorflow as tf
            from mylib import forward

            for epoch in range(10):

                @tf.function
                def step(x):
                    return forward(x)

                step(tf.ones([2]))
        """,
        reason="call-not-seen",
    ),
    refuses(
        "a function of another file",
        """
            import tensorflow as tf
            from mylib import forward

            for epoch in range(10):
                step = tf.function(forward)
                step(tf.ones([2]))
        """,
        reason="code-not-seen",
    ),
    refuses(
        "an argument may be a Python value that decides what is made",
        HEAD
        + """
            for epoch in range(10):

                @tf.function
                def step(x, train):
                    if train:
                        optimizer.apply_gradients([(x, model.weights[0])])
                    return x

                step(tf.ones([1, 1]), epoch > 3)
        """,
        reason="python-branch",
    ),
    refuses(
        "it makes a layer",
        HEAD
        + """
            for epoch in range(10):

                @tf.function
                def step(x):
                    return tf.keras.layers.Dense(1)(x)

                step(tf.ones([1, 1]))
        """,
        reason="makes-variables",
    ),
    refuses(
        "the model is what is given",
        HEAD
        + """
            def step(net, x):
                return net(x)


            for units in range(1, 4):
                small = tf.keras.Sequential([tf.keras.layers.Dense(units)])
                compiled = tf.function(step)
                for x in data:
                    compiled(small, x)
        """,
        reason="python-value",
    ),
    refuses(
        "an object that is given, whose attribute changes",
        """
            import tensorflow as tf


            class State:
                def __init__(self):
                    self.scale = 1.0


            def forward(state, x):
                return x * state.scale


            def main():
                state = State()
                for epoch in range(3):
                    state.scale = state.scale * 2
                    compiled = tf.function(forward)
                    compiled(state, tf.ones([2]))
        """,
        reason="python-value",
        shapes=(),
    ),
    refuses(
        "an attribute of a function, and one of a class",
        """
            import tensorflow as tf


            def scaled(x):
                return x * scaled.by


            class Settings:
                rate = 1.0


            def main():
                for epoch in range(3):
                    one = tf.function(lambda x: scaled(x))
                    other = tf.function(lambda x: x * Settings.rate)
                    one(tf.ones([2]))
                    other(tf.ones([2]))
        """,
        reason=("python-value", "call-not-seen"),
        shapes=(),
    ),
    refuses(
        "it is kept as well",
        HEAD
        + """
            kept = []
            for epoch in range(10):

                @tf.function
                def step(x):
                    return model(x)

                kept.append(step)
                for x in data:
                    step(x)
        """,
        reason="used-otherwise",
    ),
    refuses(
        "it is called before it is made",
        HEAD
        + """
            for epoch in range(10):
                if epoch > 0:
                    step(tf.ones([1, 1]))

                @tf.function
                def step(x):
                    return model(x)
        """,
        reason="used-otherwise",
    ),
    refuses(
        "it is deleted in each turn",
        HEAD
        + """
            for epoch in range(10):

                @tf.function
                def step(x):
                    return model(x)

                step(tf.ones([1, 1]))
                del step
        """,
        reason="used-otherwise",
    ),
    refuses(
        "traces are counted",
        HEAD
        + """
            for epoch in range(10):
                step = tf.function(lambda x: model(x))
                step(tf.ones([1, 1]))
                print(step.experimental_get_tracing_count())
        """,
        reason="traces-counted",
    ),
    refuses(
        "how it is made changes",
        HEAD
        + """
            for size in (8, 16, 32):

                @tf.function(input_signature=[tf.TensorSpec([size, 1])])
                def step(x):
                    return model(x)

                step(tf.ones([size, 1]))
        """,
        reason="python-value",
    ),
    refuses(
        "made on a device",
        HEAD
        + """
            for epoch in range(10):
                with tf.device("/cpu:0"):
                    step = tf.function(lambda x: model(x))
                    for x in data:
                        step(x)
        """,
        reason="scope-in-loop",
    ),
    refuses(
        "names are changed unseen",
        HEAD
        + """
            globals()["model"] = None
            for epoch in range(10):
                step = tf.function(lambda x: model(x))
                for x in data:
                    step(x)
        """,
        reason="dynamic-code",
    ),
    # What it does
    rewrites(
        "a function that is defined in the loop",
        HEAD
        + '''
            for epoch in range(10):
                # One step.
                @tf.function
                def step(x):
                    """It goes
                    forward."""
                    # Not trained.
                    return model(
                        x
                    )

                for x in data:
                    step(x)
        ''',
        HEAD
        + '''
            # One step.
            @tf.function
            def step(x):
                """It goes
                    forward."""
                # Not trained.
                return model(
                    x
                )

            for epoch in range(10):
                for x in data:
                    step(x)
        ''',
        contract="exact",
        shapes=("main", "crlf"),
    ),
    rewrites(
        "a training step, out of two loops",
        HEAD
        + """
            for run in range(2):
                for epoch in range(10):

                    @tf.function(jit_compile=True)
                    def step(x):
                        with tf.GradientTape() as tape:
                            loss = tf.reduce_mean(tf.square(model(x)))
                        gradients = tape.gradient(loss, model.trainable_variables)
                        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
                        return loss

                    for x in data:
                        loss = step(x)
                    print(run, epoch, float(loss))
                    model.save_weights("weights.h5")
        """,
        HEAD
        + """
            @tf.function(jit_compile=True)
            def step(x):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.square(model(x)))
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables))
                return loss

            for run in range(2):
                for epoch in range(10):

                    for x in data:
                        loss = step(x)
                    print(run, epoch, float(loss))
                    model.save_weights("weights.h5")
        """,
        contract="exact",
    ),
    rewrites(
        "a function that is compiled in each turn",
        HEAD
        + """
            def forward(x):
                return model(x)


            for x in data:
                compiled = tf.function(forward)
                print(compiled(x))
        """,
        HEAD
        + """
            def forward(x):
                return model(x)


            compiled = tf.function(forward)
            for x in data:
                print(compiled(x))
        """,
        contract="exact",
    ),
    rewrites(
        "compiled and called at once",
        HEAD
        + """
            def forward(x):
                return model(x)


            for x in data:
                print(tf.function(forward)(x))
        """,
        HEAD
        + """
            def forward(x):
                return model(x)


            compiled_forward = tf.function(forward)
            for x in data:
                print(compiled_forward(x))
        """,
        contract="exact",
    ),
    rewrites(
        "out of the inner loop only",
        HEAD
        + """
            for scale in (0.1, 0.2):
                for epoch in range(10):
                    step = tf.function(lambda x: model(x) * scale)
                    for x in data:
                        step(x)
        """,
        HEAD
        + """
            for scale in (0.1, 0.2):
                step = tf.function(lambda x: model(x) * scale)
                for epoch in range(10):
                    for x in data:
                        step(x)
        """,
        contract="exact",
        refused=("python-value",),
    ),
    offers(
        "random ops begin anew at each trace",
        HEAD
        + """
            for epoch in range(10):

                @tf.function
                def step(x):
                    return model(x) + tf.random.normal([1])

                for x in data:
                    step(x)
        """,
        contract="resampled",
        changes="drew the same numbers",
    ),
    offers(
        "dropout, of a Keras that is not known",
        """
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dropout(0.5)])
            for epoch in range(10):
                step = tf.function(lambda x: model(x, training=True))
                step(tf.ones([2]))
        """,
        contract="resampled",
    ),
    rewrites(
        "dropout of Keras 3",
        """
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dropout(0.5)])
            for epoch in range(10):
                step = tf.function(lambda x: model(x, training=True))
                step(tf.ones([2]))
        """,
        """
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dropout(0.5)])
            step = tf.function(lambda x: model(x, training=True))
            for epoch in range(10):
                step(tf.ones([2]))
        """,
        contract="exact",
        target_tf=(2, 21),
    ),
)
