"""What surely runs op by op."""

import ast

from analysis_helpers import facts, marked


def test_a_file_is_of_tensorflow_2_where_something_says_so() -> None:
    head = "import tensorflow as tf\n"
    assert not facts(f"{head}x = tf.zeros([2])").eager_code.is_tf2
    assert not facts("import numpy as np\nprint(np.numpy())").eager_code.is_tf2
    assert facts(f"{head}x = tf.zeros([2]).numpy()").eager_code.is_tf2
    assert facts(f"{head}tf.random.set_seed(1)").eager_code.is_tf2
    session = "with tf.compat.v1.Session() as sess:\n    sess.run(x)\n"
    assert not facts(f"{head}x = tf.zeros([2]).numpy()\n{session}").eager_code.is_tf2


def test_traces_and_steps_are_seen() -> None:
    found = facts("""
        import tensorflow as tf

        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        optimizer = tf.keras.optimizers.SGD(0.1)

        def helper(x):
            return x + 1.0  # helped

        @tf.function
        def compiled(x):
            return helper(x)  # compiled

        def step(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(model(x))  # step
            optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables),
                                          model.trainable_variables))

        for x in data:
            step(x)  # loop
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(model(x))  # inline
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        f = lambda: tf.zeros([2])  # lambda
    """)
    for mark in ("helped", "compiled", "step", "inline"):
        assert found.eager_code.traced(marked(found, mark)), mark
    assert not found.eager_code.traced(marked(found, "loop"))
    (anonymous,) = found.source.all(ast.Lambda)
    assert found.eager_code.traced(anonymous.body)


def test_who_is_called_from_elsewhere_may_be_traced() -> None:
    found = facts("""
        import tensorflow as tf

        def for_others(x):
            return x + 1.0  # others

        def reads(x):
            print(x.numpy())
            return x + 1.0  # reads

        def inner(x):
            return x + 1.0  # inner

        def main():
            reads(inner(tf.zeros([2])))

        main()
    """)
    unsure = found.eager_code.unsure(marked(found, "others"))
    assert unsure is not None and unsure.reason == "callers-not-seen"
    assert found.eager_code.unsure(marked(found, "reads")) is None
    assert found.eager_code.unsure(marked(found, "inner")) is None


def test_keras_may_call_methods_of_layers() -> None:
    found = facts("""
        import tensorflow as tf

        class Layer(tf.keras.layers.Layer):
            def call(self, x):
                return x + 1.0  # keras

        class Plain:
            def call(self, x):
                return x + 1.0  # plain

        plain = Plain()
        print(Layer().call(tf.zeros([2])), plain.call(tf.zeros([2])).numpy())
    """)
    unsure = found.eager_code.unsure(marked(found, "keras"))
    assert unsure is not None and unsure.reason == "callers-not-seen"


def test_a_generator_may_be_left_on_another_device() -> None:
    found = facts("""
        import tensorflow as tf

        def placed():
            with tf.device("/cpu:0"):
                yield 1

        def plain():
            with open("file") as lines:
                yield from lines

        for n in placed():
            print(n)  # placed
        for n in plain():
            print(n)  # plain
    """)
    placed, plain = (found.flow.loop(marked(found, mark)) for mark in ("placed", "plain"))
    assert placed is not None and found.eager_code.sets_up(placed) is not None
    assert plain is not None and found.eager_code.sets_up(plain) is None


def test_loops_that_set_devices_up_are_seen() -> None:
    found = facts("""
        import tensorflow as tf

        def set_up(gpu):
            tf.config.experimental.set_memory_growth(gpu, True)

        for gpu in gpus:
            set_up(gpu)  # outer
        for n in range(3):
            tf.random.set_seed(n)  # seeds
    """)
    outer, seeds = (found.flow.loop(marked(found, mark)) for mark in ("outer", "seeds"))
    assert outer is not None and found.eager_code.sets_up(outer) is not None
    assert seeds is not None and found.eager_code.sets_up(seeds) is None


def test_devices_may_be_set_up_behind_a_loop_without_turns() -> None:
    found = facts("""
        import tensorflow as tf

        for n in data:
            print(n)  # before
        tf.config.set_visible_devices([], "GPU")
        for n in data:
            print(n)  # after
    """)
    before, after = (found.flow.loop(marked(found, mark)) for mark in ("before", "after"))
    assert before is not None and found.eager_code.sets_up(before) is not None
    assert after is not None and found.eager_code.sets_up(after) is None
