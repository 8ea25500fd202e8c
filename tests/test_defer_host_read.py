"""TFR206, the traps first."""

from rulebench import bench, leaves_alone, refuses, rewrites
from tfrewrite.codemods.defer_host_read import DeferHostRead

HEAD = """
            import numpy as np
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            optimizer = tf.keras.optimizers.SGD(0.1)


            @tf.function
            def train_step(x):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.square(model(x)))
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables))
                return loss


"""

test_defer_host_read = bench(
    DeferHostRead,
    # It is looked at in each turn
    leaves_alone(
        "printed in each turn",
        HEAD
        + """
            for step, x in enumerate(data):
                loss = float(train_step(x))
                print(step, loss)
                if step % 10 == 0:
                    print(loss)
        """,
    ),
    leaves_alone(
        "it ends the loop",
        HEAD
        + """
            for step, x in enumerate(data):
                loss = float(train_step(x))
                if np.isnan(loss):
                    break
        """,
    ),
    leaves_alone(
        "the next turn looks at it",
        HEAD
        + """
            value = 0.0
            for step, x in enumerate(data):
                if value > 1.0:
                    print(step)
                value = float(train_step(x))
                if step % 10 == 0:
                    print(value)
        """,
    ),
    leaves_alone(
        "it is looked at after the loop",
        HEAD
        + """
            for step, x in enumerate(data):
                value = float(train_step(x))
                if step % 10 == 0:
                    print(value)
            print(value)
        """,
    ),
    leaves_alone(
        "a function looks at it",
        HEAD
        + """
            value = None


            def show():
                print(value)


            for step, x in enumerate(data):
                value = float(train_step(x))
                if step % 10 == 0:
                    print(value)
                    show()
        """,
        shapes=(),
    ),
    leaves_alone(
        "two blocks look at it",
        HEAD
        + """
            for step, x in enumerate(data):
                value = float(train_step(x))
                if step % 10 == 0:
                    print(value)
                if step % 100 == 0:
                    print(value * 2)
        """,
    ),
    leaves_alone(
        "the other branch looks at it",
        HEAD
        + """
            for step, x in enumerate(data):
                value = float(train_step(x))
                if step % 10 == 0:
                    print(value)
                else:
                    print(-value)
        """,
    ),
    leaves_alone(
        "it may be another value there",
        HEAD
        + """
            for step, x in enumerate(data):
                value = float(train_step(x))
                if step > 5:
                    value = 0.0
                if step % 10 == 0:
                    print(value)
        """,
    ),
    leaves_alone(
        "out of loops, and at each tenth turn already",
        HEAD
        + """
            value = float(train_step(tf.ones([2, 3])))
            if value > 1.0:
                print(value)
            for step, x in enumerate(data):
                if step % 10 == 0:
                    value = float(train_step(x))
                    if step:
                        print(value)
        """,
    ),
    leaves_alone(
        "another float",
        HEAD
        + """
            def float(value):
                return value


            for step, x in enumerate(data):
                value = float(train_step(x))
                if step % 10 == 0:
                    print(value)
        """,
        shapes=(),
    ),
    leaves_alone(
        "the list is looked at in the loop",
        HEAD
        + """
            for epoch in range(3):
                losses = []
                for x in data:
                    losses.append(float(train_step(x)))
                    print(np.mean(losses))
                print(len(losses))
        """,
    ),
    leaves_alone(
        "the list ends the loop",
        HEAD
        + """
            for epoch in range(3):
                losses = []
                while len(losses) < 10 and sum(losses) < 3.0:
                    losses.append(float(train_step(data)))
                print(np.mean(losses))
        """,
    ),
    leaves_alone(
        "the list is made elsewhere, or has another name",
        HEAD
        + """
            others = losses = []
            more = [1.0]
            for x in data:
                losses.append(float(train_step(x)))
                more.append(float(train_step(x)))
            print(np.mean(losses), others, more)
        """,
    ),
    leaves_alone(
        "who catches an exception looks at the list",
        HEAD
        + """
            losses = []
            try:
                for x in range(10):
                    losses.append(float(train_step(x)))
            except KeyboardInterrupt:
                print("stopped")
            print(np.mean(losses))
        """,
    ),
    leaves_alone(
        "the list is filled in two places",
        HEAD
        + """
            losses = []
            for x in range(10):
                losses.append(float(train_step(x)))
                losses.append(0.0)
            print(np.mean(losses))
        """,
    ),
    leaves_alone(
        "the loop's own end looks at the list",
        HEAD
        + """
            losses = []
            for x in range(10):
                losses.append(float(train_step(x)))
            else:
                print(sum(losses))
            print(np.mean(losses))
        """,
    ),
    leaves_alone(
        "the function returns the list from within the loop",
        HEAD
        + """
            def run():
                losses = []
                for x in range(10):
                    losses.append(float(train_step(x)))
                    if x > 3:
                        return losses
                return losses
        """,
        shapes=(),
    ),
    leaves_alone(
        "in a trace, where it fails",
        HEAD
        + """
            @tf.function
            def run(x):
                for step in range(10):
                    value = tf.reduce_sum(x).numpy()
                    if step % 5 == 0:
                        print(value)
        """,
    ),
    # What is read
    refuses(
        "a variable changes",
        HEAD
        + """
            rate = tf.Variable(0.1)
            for step, x in enumerate(data):
                value = rate.numpy()
                rate.assign(rate * 0.9)
                if step % 10 == 0:
                    print(value)
        """,
        reason="tensor-unknown",
    ),
    refuses(
        "a cast gives back a variable that has the type",
        HEAD
        + """
            rate = tf.Variable(0.1)
            for step, x in enumerate(data):
                value = tf.cast(rate, tf.float32).numpy()
                same = tf.cast(rate, tf.float32)
                other = same.numpy()
                rate.assign(rate * 0.9)
                if step % 10 == 0:
                    print(value, other)
        """,
        reason="tensor-unknown",
    ),
    refuses(
        "what an own function gives may be a variable",
        HEAD
        + """
            rate = tf.Variable(0.1)


            def current():
                return rate


            for step, x in enumerate(data):
                value = float(current())
                rate.assign(rate * 0.9)
                if step % 10 == 0:
                    print(value)
        """,
        reason="tensor-unknown",
    ),
    leaves_alone(
        "an array, a text and a number are no tensors",
        HEAD
        + """
            weights = np.zeros(1)
            total = 0.0
            for step, line in enumerate(open("log")):
                value = float(weights)
                weights += 1.0
                other = float(line)
                total += float(line)
                third = float(value := line)
                if step % 10 == 0:
                    print(value, other, third)
        """,
    ),
    refuses(
        "several numbers, of which float fails",
        HEAD
        + """
            for step, x in enumerate(data):
                value = float(tf.reduce_mean(x, axis=0))
                if step % 10 == 0:
                    print(value)
        """,
        reason="tensor-unknown",
    ),
    refuses(
        "a loss that does not average",
        HEAD
        + """
            loss_of = tf.keras.losses.MeanSquaredError(reduction="none")
            for step, x in enumerate(data):
                value = loss_of(x, x).numpy().item()
                if step % 10 == 0:
                    print(value)
        """,
        reason="tensor-unknown",
    ),
    leaves_alone(
        "one way out gives no tensor",
        HEAD
        + """
            def measured(x):
                if len(x) > 3:
                    return tf.reduce_mean(x)
                return 0


            for step, x in enumerate(data):
                value = float(measured(x))
                if step % 10 == 0:
                    print(value)
        """,
    ),
    refuses(
        "who is not known",
        HEAD
        + """
            for step, x in enumerate(data):
                value = predict(x).numpy()
                if step % 10 == 0:
                    print(value)
        """,
        reason="tensor-unknown",
    ),
    refuses(
        "a list of one whole training",
        HEAD
        + """
            losses = []
            for x in data:
                losses.append(float(train_step(x)))
            print(np.mean(losses))
        """,
        reason="keeps-many",
    ),
    refuses(
        "a list of many epochs",
        HEAD
        + """
            losses = []
            for epoch in range(100):
                for x in range(1000):
                    losses.append(float(train_step(x)))
            print(np.mean(losses))
        """,
        reason="keeps-many",
    ),
    refuses(
        "arrays in a list take twice the memory",
        HEAD
        + """
            for epoch in range(3):
                outputs = []
                for x in data:
                    outputs.append(tf.square(tf.ones([3, 2])).numpy())
                print(np.concatenate(outputs).shape)
        """,
        reason="tensor-unknown",
    ),
    refuses(
        "a sum",
        HEAD
        + """
            total = 0.0
            for x in data:
                total += float(train_step(x))
            print(total)
        """,
        reason="summed",
    ),
    refuses(
        "names are changed unseen",
        HEAD
        + """
            for step, x in enumerate(data):
                value = float(train_step(x))
                if step % 10 == 0:
                    print(value, locals())
        """,
        reason="dynamic-code",
    ),
    refuses(
        "the module is read by its name",
        HEAD
        + """
            import __main__
            for step, x in enumerate(data):
                value = float(train_step(x))
                if step % 10 == 0:
                    print(value)
            print(__main__.value)
        """,
        reason="dynamic-code",
        shapes=("crlf", "tabs"),
    ),
    # What it does
    rewrites(
        "a loss that is logged at times",
        HEAD
        + """
            for step, x in enumerate(data):
                loss = train_step(x)
                # For the log.
                loss_value = loss.numpy()

                if step % 10 == 0:
                    print(step, loss_value)
        """,
        HEAD
        + """
            for step, x in enumerate(data):
                loss = train_step(x)

                if step % 10 == 0:
                    # For the log.
                    loss_value = loss.numpy()
                    print(step, loss_value)
        """,
        contract="exact",
        shapes=("crlf", "tabs"),
    ),
    rewrites(
        "the step itself is read",
        HEAD
        + """
            for step, x in enumerate(data):
                value = float(train_step(x))
                if step % 10 == 0:
                    print(step, value)
        """,
        HEAD
        + """
            for step, x in enumerate(data):
                value = train_step(x)
                if step % 10 == 0:
                    value = float(value)
                    print(step, value)
        """,
        contract="exact",
    ),
    rewrites(
        "the tensor's name goes on to another",
        HEAD
        + """
            for step, x in enumerate(data):
                loss = train_step(x)
                value = float(loss.numpy())
                loss = train_step(x)
                if step % 10 == 0:
                    print(step, value)
        """,
        HEAD
        + """
            for step, x in enumerate(data):
                loss = train_step(x)
                value = loss
                loss = train_step(x)
                if step % 10 == 0:
                    value = float(value.numpy())
                    print(step, value)
        """,
        contract="exact",
    ),
    rewrites(
        "a name that is a letter of the read",
        HEAD
        + """
            for step, x in enumerate(data):
                l = train_step(x)
                value = float(l)
                l = train_step(x)
                other = l.numpy()
                if step % 10 == 0:
                    print(step, value, other)
        """,
        HEAD
        + """
            for step, x in enumerate(data):
                l = train_step(x)
                value = l
                l = train_step(x)
                if step % 10 == 0:
                    value = float(value)
                    other = l.numpy()
                    print(step, value, other)
        """,
        contract="exact",
    ),
    rewrites(
        "the block begins with another read, under the name of the tensor",
        HEAD
        + """
            for step, x in enumerate(data):
                loss = train_step(x)
                value = loss.numpy()
                if step % 10 == 0:
                    loss = float(loss)
                    print(step, value, loss)
        """,
        HEAD
        + """
            for step, x in enumerate(data):
                loss = train_step(x)
                if step % 10 == 0:
                    value = loss.numpy()
                    loss = float(loss)
                    print(step, value, loss)
        """,
        contract="exact",
    ),
    rewrites(
        "beside another statement in its line",
        HEAD
        + """
            for step, x in enumerate(data):
                loss = train_step(x); value = loss.numpy(); seen = step
                if step % 10 == 0:
                    print(seen, value)
        """,
        HEAD
        + """
            for step, x in enumerate(data):
                loss = train_step(x); seen = step
                if step % 10 == 0:
                    value = loss.numpy()
                    print(seen, value)
        """,
        contract="exact",
    ),
    rewrites(
        "several numbers at once, as an array",
        HEAD
        + """
            for step in range(10):
                values = tf.square(tf.ones([2, 3]) * step).numpy()
                if step % 5 == 0:
                    print(step, values)
        """,
        HEAD
        + """
            for step in range(10):
                values = tf.square(tf.ones([2, 3]) * step)
                if step % 5 == 0:
                    values = values.numpy()
                    print(step, values)
        """,
        contract="exact",
    ),
    rewrites(
        "the losses of an epoch",
        HEAD
        + """
            for epoch in range(3):
                losses = []
                for x in data:
                    loss = train_step(x)
                    losses.append(float(loss))
                # The mean.
                print(epoch, np.mean(losses))
        """,
        HEAD
        + """
            for epoch in range(3):
                losses = []
                for x in data:
                    loss = train_step(x)
                    losses.append(loss)
                losses = [float(loss) for loss in losses]
                # The mean.
                print(epoch, np.mean(losses))
        """,
        contract="exact",
    ),
    rewrites(
        "the losses of a short training",
        HEAD
        + """
            losses = []
            for epoch in range(10):
                for step in range(100):
                    losses.append(train_step(step).numpy())
            print(losses)
        """,
        HEAD
        + """
            losses = []
            for epoch in range(10):
                for step in range(100):
                    losses.append(train_step(step))
            losses = [tensor.numpy() for tensor in losses]
            print(losses)
        """,
        contract="exact",
    ),
)
