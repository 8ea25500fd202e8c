"""TFR205, the traps first."""

from rulebench import bench, leaves_alone, refuses, rewrites
from tfrewrite.codemods.hoist_constant import HoistConstant

HEAD = """
            import numpy as np
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
"""

test_hoist_constant = bench(
    HoistConstant,
    # Not the pattern
    leaves_alone(
        "made of what the loop sets",
        HEAD
        + """
            for n in range(10):
                print(tf.constant(n).numpy(), tf.zeros([n, 2]).numpy())
        """,
    ),
    leaves_alone(
        "random tensors and variables",
        HEAD
        + """
            for n in range(10):
                noise = tf.random.normal([3])
                v = tf.Variable([1.0])
                print((noise + v).numpy())
        """,
    ),
    leaves_alone(
        "in a compiled function",
        HEAD
        + """
            @tf.function
            def total(x):
                for _ in range(3):
                    x = x + tf.constant([2.0])
                return x


            def helper(x):
                for _ in range(3):
                    x = x + tf.constant([2.0])
                return x


            @tf.function
            def other(x):
                return helper(x)


            print(total(tf.zeros([1])).numpy(), other(tf.zeros([1])).numpy())
        """,
    ),
    leaves_alone(
        "in a step with its tape",
        HEAD
        + """
            optimizer = tf.keras.optimizers.SGD(0.1)
            for x in data:
                scale = tf.constant([0.5])
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(model(x) * scale) + tf.reduce_sum(tf.ones([3]))
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        """,
        shapes=(),
    ),
    leaves_alone(
        "in the step of a function",
        HEAD
        + """
            optimizer = tf.keras.optimizers.SGD(0.1)


            def step(x):
                with tf.GradientTape() as tape:
                    loss = 0.0
                    for _ in range(3):
                        loss += tf.reduce_mean(model(x) * tf.constant([0.5]))
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables))


            for x in data:
                step(x)
        """,
        shapes=(),
    ),
    leaves_alone(
        "in a loop that compiles a function in each turn",
        HEAD
        + """
            for scale in data:
                step = tf.function(lambda x: model(x) * scale)
                print(step(tf.ones([2, 3])).numpy())
        """,
    ),
    leaves_alone(
        "nothing says that it is TensorFlow 2",
        """
            import tensorflow as tf

            for n in range(10):
                print(tf.zeros([3, 4]))
        """,
    ),
    leaves_alone(
        "graphs of TensorFlow 1",
        """
            import tensorflow as tf

            with tf.Graph().as_default():
                with tf.compat.v1.Session() as sess:
                    for n in range(10):
                        print(sess.run(tf.zeros([3, 4])))
            tf.random.set_seed(1)
        """,
    ),
    leaves_alone(
        "another module of that name",
        """
            import tensorflow
            import toys as tf

            tensorflow.random.set_seed(1)
            for n in range(10):
                print(tf.zeros([3, 4]))
        """,
    ),
    leaves_alone(
        "at each tenth turn only",
        HEAD
        + """
            for n in range(100):
                if n % 10 == 0:
                    print(tf.zeros([3, 4]).numpy())
        """,
    ),
    leaves_alone(
        "a list of tensors",
        HEAD
        + """
            states = [tf.zeros([1, 8]) for _ in range(4)]
            print(states[0].numpy())
        """,
    ),
    leaves_alone(
        "for a whole model",
        HEAD
        + """
            for n in range(10):
                print(model.predict(tf.zeros([1, 8]), verbose=0), tf.ones([]).numpy)
        """,
        shapes=(),
    ),
    # What it is made of
    refuses(
        "an array that the loop writes to",
        HEAD
        + """
            weights = np.zeros(3)
            for n in range(10):
                print(tf.constant(weights).numpy())
                weights[0] = n
        """,
        reason="operand-unknown",
    ),
    refuses(
        "an array that has another name",
        HEAD
        + """
            weights = np.zeros(3)
            view = weights[1:]
            for n in range(10):
                print(tf.constant(weights).numpy())
                view += 1.0
        """,
        reason="operand-unknown",
    ),
    refuses(
        "rows of the array are written to",
        HEAD
        + """
            weights = np.zeros((3, 2))
            for n in range(10):
                print(tf.constant(weights).numpy())
                for row in weights:
                    row += 1.0
        """,
        reason="operand-unknown",
    ),
    refuses(
        "a function writes to the array",
        HEAD
        + """
            def shuffled(array):
                np.random.shuffle(array)


            weights = np.arange(3.0)
            for n in range(10):
                print(tf.constant(weights).numpy())
                shuffled(weights)
        """,
        reason="operand-unknown",
    ),
    refuses(
        "the array gets another shape",
        HEAD
        + """
            weights = np.zeros((2, 2))
            for n in range(10):
                print(tf.constant(weights).numpy())
                weights.shape = (4,)
        """,
        reason="operand-unknown",
    ),
    refuses(
        "a list that grows",
        HEAD
        + """
            values = [1.0]
            for n in range(10):
                print(tf.constant(values).numpy())
                values.append(2.0)
        """,
        reason="operand-unknown",
    ),
    refuses(
        "the list in another one",
        HEAD
        + """
            values = [1.0]
            pair = [values, values]
            for n in range(10):
                print(tf.constant(values).numpy())
                pair[0][0] = 2.0
        """,
        reason="operand-unknown",
    ),
    refuses(
        "a variable is no constant",
        HEAD
        + """
            scale = tf.Variable([1.0])
            for n in range(10):
                print(tf.cast(scale, tf.float16).numpy())
                scale.assign_add([1.0])
        """,
        reason="operand-unknown",
    ),
    refuses(
        "a number that a function sets",
        HEAD
        + """
            size = 3


            def grow():
                global size
                size += 1


            for n in range(10):
                print(tf.zeros([size]).numpy())
                grow()
        """,
        reason="operand-not-sure",
        shapes=(),
    ),
    refuses(
        "an attribute that a method sets",
        HEAD
        + """
            class Trainer:
                def __init__(self):
                    self.size = 3

                def grow(self):
                    self.size += 1

                def run(self):
                    for n in range(10):
                        print(tf.zeros([self.size]).numpy())
                        self.grow()
        """,
        reason="operand-not-sure",
    ),
    refuses(
        "a tensor with gradients",
        HEAD
        + """
            x = tf.constant([1.0, 2.0])
            with tf.GradientTape() as tape:
                tape.watch(x)
                total = tf.constant([0.0])
                for n in range(3):
                    total = total + tf.reduce_sum(tf.cast(x, tf.float16) * n)
            print(tape.gradient(total, x).numpy())
        """,
        reason="operand-unknown",
        shapes=(),
    ),
    leaves_alone(
        "TensorFlow is imported in the loop",
        """
            for n in range(10):
                import tensorflow as tf

                print(tf.zeros([3]).numpy())
        """,
        shapes=(),
    ),
    # It may fail
    refuses(
        "no turn, and a size that may be negative",
        HEAD
        + """
            size = int(input())
            for x in data:
                print(tf.zeros([size]).numpy())
        """,
        reason="may-fail",
    ),
    refuses(
        "lists of different lengths",
        HEAD
        + """
            for x in data:
                print(tf.constant([[1], [2, 3]]).numpy())
        """,
        reason="may-fail",
    ),
    refuses(
        "a fraction is no whole number",
        HEAD
        + """
            for x in data:
                print(tf.constant(0.5, dtype=tf.int32).numpy())
        """,
        reason="may-fail",
    ),
    refuses(
        "a number that is too large",
        HEAD
        + """
            for x in data:
                print(tf.constant(3000000000).numpy(), tf.constant(300, tf.uint8).numpy())
        """,
        reason="may-fail",
    ),
    refuses(
        "its error is caught",
        HEAD
        + """
            size = int(input())
            try:
                for n in range(10):
                    print(tf.zeros([size]).numpy())
            except Exception:
                print("none")
        """,
        reason="may-fail",
    ),
    refuses(
        "the first turn may end before",
        HEAD
        + """
            size = int(input())
            for n in range(10):
                if size < 0:
                    break
                print(tf.zeros([size]).numpy())
        """,
        reason="may-fail",
    ),
    # Who could tell
    refuses(
        "kept in a list",
        HEAD
        + """
            kept = []
            for n in range(10):
                kept.append(tf.constant(2.0))
            print(kept[0].numpy())
        """,
        reason="used-otherwise",
    ),
    refuses(
        "kept in an attribute",
        HEAD
        + """
            for n in range(10):
                model.state = tf.zeros([3])
                print(model.state.numpy())
        """,
        reason="used-otherwise",
    ),
    refuses(
        "compared by identity",
        HEAD
        + """
            last = None
            for n in range(10):
                x = tf.zeros([3])
                print(x is last, x.numpy())
                last = x
        """,
        reason="used-otherwise",
    ),
    refuses(
        "its gradient is asked for",
        HEAD
        + """
            with tf.GradientTape(persistent=True) as tape:
                for n in range(10):
                    x = tf.constant([1.0])
                    tape.watch(x)
                    y = x * x
            print(tape.gradient(y, x).numpy())
        """,
        reason="used-otherwise",
        shapes=(),
    ),
    refuses(
        "given to who is not known",
        HEAD
        + """
            for n in range(10):
                visit(tf.zeros([3]))
                print(tf.zeros([3])._numpy())
            tf.random.set_seed(1)
        """,
        reason="used-otherwise",
        shapes=(),
    ),
    refuses(
        "a function of the file keeps it",
        HEAD
        + """
            kept = []


            def keep(number, tensor):
                kept.append(tensor)


            for n in range(10):
                keep(n, tf.zeros([3]))
            print(kept[0].numpy())
        """,
        reason="used-otherwise",
        shapes=(),
    ),
    refuses(
        "Python gets at its memory",
        HEAD
        + """
            def spoil(array):
                array[0] = 1.0
                return array


            for n in range(10):
                print(tf.numpy_function(spoil, [tf.zeros([3])], tf.float32).numpy())
        """,
        reason="used-otherwise",
        shapes=(),
    ),
    # Where it stands
    refuses(
        "on a device of the loop's",
        HEAD
        + """
            for n in range(10):
                with tf.device("/cpu:0"):
                    print(tf.zeros([3]).numpy())
        """,
        reason="scope-in-loop",
    ),
    refuses(
        "in a generator",
        HEAD
        + """
            def states():
                for n in range(10):
                    yield n, tf.zeros([3]).numpy()
        """,
        reason="generator",
    ),
    refuses(
        "a function for others",
        HEAD
        + """
            def total(x):
                for n in range(3):
                    x = x + tf.constant([1.0, 2.0])
                return x


            tf.random.set_seed(1)
        """,
        reason="callers-not-seen",
    ),
    refuses(
        "devices are set up in the loop",
        HEAD
        + """
            for gpu in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(gpu, True)
                print(tf.zeros([3]).numpy())
        """,
        reason="set-up-in-loop",
    ),
    refuses(
        "each op is shown",
        HEAD
        + """
            tf.debugging.set_log_device_placement(True)
            for n in range(10):
                print(tf.zeros([3]).numpy())
        """,
        reason="ops-shown",
    ),
    refuses(
        "names are changed unseen",
        HEAD
        + """
            globals()["n"] = 3
            for n in range(10):
                print(tf.zeros([3]).numpy())
        """,
        reason="dynamic-code",
    ),
    # What it does
    rewrites(
        "a state that begins anew",
        HEAD
        + """
            cell = tf.keras.layers.GRUCell(8)
            for sentence in data:
                # Nothing is remembered.
                state = tf.zeros([1, 8])
                for word in sentence:
                    out, state = cell(word, state)
                print(state.numpy())
        """,
        HEAD
        + """
            cell = tf.keras.layers.GRUCell(8)
            initial_state = tf.zeros([1, 8])
            for sentence in data:
                # Nothing is remembered.
                state = initial_state
                for word in sentence:
                    out, state = cell(word, state)
                print(state.numpy())
        """,
        contract="exact",
    ),
    rewrites(
        "a name that has but this value",
        HEAD
        + """
            for n in range(10):
                weights = tf.constant([0.1, 0.2])  # of both halves
                print(tf.reduce_sum(weights * n).numpy())
        """,
        HEAD
        + """
            # of both halves
            weights = tf.constant([0.1, 0.2])
            for n in range(10):
                print(tf.reduce_sum(weights * n).numpy())
        """,
        contract="exact",
    ),
    rewrites(
        "the name has this value after the loop too",
        HEAD
        + """
            for n in range(10):
                weights = tf.constant([0.1, 0.2])
                print(tf.reduce_sum(weights * n).numpy())
            print(weights.shape)
        """,
        HEAD
        + """
            initial_weights = tf.constant([0.1, 0.2])
            for n in range(10):
                weights = initial_weights
                print(tf.reduce_sum(weights * n).numpy())
            print(weights.shape)
        """,
        contract="exact",
    ),
    rewrites(
        "out of two loops, and through a function",
        HEAD
        + """
            def score(x, scale):
                return tf.reduce_sum(x * scale)


            size = 3
            for epoch in range(2):
                for n in range(10):
                    print(score(tf.ones([size, 2]), tf.cast(2, tf.float32)).numpy())
        """,
        HEAD
        + """
            def score(x, scale):
                return tf.reduce_sum(x * scale)


            size = 3
            ones_tensor = tf.ones([size, 2])
            cast_tensor = tf.cast(2, tf.float32)
            for epoch in range(2):
                for n in range(10):
                    print(score(ones_tensor, cast_tensor).numpy())
        """,
        contract="exact",
        shapes=("main", "crlf", "tabs"),
    ),
    rewrites(
        "an array that nothing changes",
        HEAD
        + """
            table = np.linspace(0.0, 1.0, 11)
            for n in range(10):
                print(table[n], (tf.convert_to_tensor(table) * n).numpy())
        """,
        HEAD
        + """
            table = np.linspace(0.0, 1.0, 11)
            table_tensor = tf.convert_to_tensor(table)
            for n in range(10):
                print(table[n], (table_tensor * n).numpy())
        """,
        contract="exact",
    ),
    rewrites(
        "what a loop runs over",
        HEAD
        + """
            for n in range(10):
                for i in tf.range(3):
                    print((i * n).numpy())
        """,
        HEAD
        + """
            range_tensor = tf.range(3)
            for n in range(10):
                for i in range_tensor:
                    print((i * n).numpy())
        """,
        contract="exact",
    ),
    rewrites(
        "one made of another",
        HEAD
        + """
            while True:
                rows = tf.expand_dims(tf.range(3), 0)
                print(tf.cast(rows, tf.float32).numpy())
        """,
        HEAD
        + """
            rows = tf.expand_dims(tf.range(3), 0)
            rows_tensor = tf.cast(rows, tf.float32)
            while True:
                print(rows_tensor.numpy())
        """,
        contract="exact",
    ),
)
