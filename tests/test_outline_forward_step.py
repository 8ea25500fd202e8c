"""TFR202: stretches without a tape that become functions, and those that must not."""

from __future__ import annotations

import textwrap

from rulebench import Case, bench, leaves_alone, offers, refuses, rewrites
from tfrewrite.codemods.outline_train_step import OutlineTrainStep

START = """\
import numpy as np
import tensorflow as tf

tf.random.set_seed(3)
xs = np.random.normal(size=(64, 6)).astype(np.float32)
ys = np.random.randint(0, 3, size=(64,))
data = tf.data.Dataset.from_tensor_slices((xs, ys)).batch(16).prefetch(tf.data.AUTOTUNE)
model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(3)])
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
mean = tf.keras.metrics.SparseCategoricalAccuracy()
"""
# Ends in a softmax of Keras.
SOFT = """\
soft = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(3, activation="softmax")])
cross = tf.keras.losses.SparseCategoricalCrossentropy()
"""

ROWS = """\
cell = tf.keras.layers.LSTMCell(4)
dense = tf.keras.layers.Dense(2)
sequences = np.random.normal(size=(40, 5, 1, 3)).astype(np.float32)
"""
BY_ROWS = """\
for sequence in sequences:
    state = [tf.zeros([1, 4]), tf.zeros([1, 4])]
    summed = tf.zeros([1, 4])
    for element in sequence:
        out, state = cell(element, state)
        summed = summed + out
    print(float(tf.reduce_sum(dense(summed))))
"""
SHARED = """\
def compute_loss(model, x, y):
    return loss_fn(y, model(x))


"""
COUNTED = """\
count = []


def compute_loss(model, x, y):
    count.append(1)
    return loss_fn(y, model(x))


"""
STEPS = """\
@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = compute_loss(model, x, y)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))


optimizer = tf.keras.optimizers.SGD(0.05)
"""
EVALUATION = """\
for epoch in range(3):
    for x, y in data:
        train_step(x, y)
    seen = tf.keras.metrics.Mean()
    for x, y in data:
        seen(compute_loss(model, x, y))
    print(float(seen.result()))
"""


def script(*parts: str) -> str:
    return START + "".join(textwrap.dedent(part).lstrip("\n") for part in parts)


def alone(name: str, *parts: str) -> Case:
    return leaves_alone(name, script(*parts), shapes=())


def no(name: str, reason: str, *parts: str) -> Case:
    return refuses(name, script(*parts), reason=reason, shapes=())


def yes(
    name: str,
    before: str,
    after: str,
    *,
    top: str = "",
    refused: tuple[str, ...] = (),
    shapes: tuple[str, ...] = (),
) -> Case:
    """What stands below the same lines, before and after."""
    return rewrites(
        name,
        script(top, before),
        START + top + textwrap.dedent(after).removeprefix("\n"),
        contract="rounding",
        refused=refused,
        shapes=shapes,
    )


test_outline_forward_step = bench(
    OutlineTrainStep,
    alone(
        "no loop over anything",
        """
        logits = model(xs, training=False)
        mean.update_state(ys, logits)
        """,
    ),
    alone(
        "one layer is too little",
        """
        layer = tf.keras.layers.Dense(3)
        for x, y in data:
            mean.update_state(y, tf.nn.relu(layer(x)))
        """,
    ),
    alone(
        "ops without a model",
        """
        for x, y in data:
            right = tf.equal(tf.argmax(x, 1), y)
            mean.update_state(y, tf.one_hot(tf.argmax(x, 1), 3))
        """,
    ),
    alone(
        "a loop that says it makes few turns",
        """
        for x, y in data.take(3):
            logits = model(x, training=False)
            mean.update_state(y, logits)
        """,
    ),
    alone(
        "a loop that makes few turns over a list",
        """
        for x, y in [(xs, ys), (xs, ys)]:
            logits = model(x, training=False)
            mean.update_state(y, logits)
        """,
    ),
    alone(
        "now and then",
        """
        for step, (x, y) in enumerate(data):
            if step % 100 == 0:
                logits = model(x, training=False)
                mean.update_state(y, logits)
        """,
    ),
    alone(
        "a loop in the `call` of a model",
        """
        class Deep(tf.keras.Model):
            def __init__(self):
                super().__init__()
                self.parts = [tf.keras.layers.Dense(4), tf.keras.layers.Dense(3)]

            def call(self, x):
                for _ in range(100):
                    for part in self.parts:
                        x = part(x)
                        x = tf.nn.relu(x)
                return x


        deep = Deep()
        print(deep(xs))
        """,
    ),
    alone(
        "layers are put together",
        """
        inputs = h = tf.keras.Input((6,))
        for _ in range(100):
            h = tf.keras.layers.Dense(6)(h)
            h = tf.keras.layers.ReLU()(h)
        deep = tf.keras.Model(inputs, h)
        """,
    ),
    alone(
        "layers that are put together by names",
        """
        inputs = h = tf.keras.Input((6,))
        first, second = tf.keras.layers.Dense(6), tf.keras.layers.Dense(6)
        for _ in range(100):
            h = first(h)
            h = second(h)
        deep = tf.keras.Model(inputs, h)
        """,
    ),
    alone(
        "a tape looks on",
        """
        with tf.GradientTape() as tape:
            total = tf.zeros(())
            for x, y in data:
                logits = model(x, training=False)
                total += loss_fn(y, logits)
        gradients = tape.gradient(total, model.trainable_variables)
        """,
    ),
    alone(
        "in a function that is compiled by hand",
        """
        @tf.function
        def run():
            total = 0.0
            for x, y in data:
                logits = model(x, training=False)
                total += tf.reduce_sum(logits)
            return total


        for _ in range(100):
            print(float(run()))
        """,
    ),
    alone(
        "a function that TFR201 compiles",
        """
        def ask(x, y):
            logits = model(x, training=False)
            mean.update_state(y, logits)
            return loss_fn(y, logits)


        total = 0.0
        for x, y in data:
            total += float(ask(x, y))
        """,
    ),
    alone(
        "a `try` of the loop",
        """
        for x, y in data:
            try:
                logits = model(x, training=False)
                mean.update_state(y, logits)
            except ValueError:
                print("no")
        """,
    ),
    alone(
        "a generator expression that asks",
        """
        for x, y in data:
            print(float(sum(tf.reduce_sum(model(x[i : i + 1])) for i in range(4))))
        """,
    ),
    alone(
        "a lambda that asks",
        """
        for x, y in data:
            ask = lambda v: model(v, training=False)
            mean.update_state(y, ask(x))
        """,
    ),
    alone(
        "two names at once",
        """
        for x, y in data:
            first = second = model(x, training=False)
            mean.update_state(y, first)
            print(first is second)
        """,
    ),
    alone(
        "an attribute is set",
        """
        class Keeper:
            pass


        keeper = Keeper()
        for x, y in data:
            keeper.logits = model(x, training=False)
            mean.update_state(y, keeper.logits)
        """,
    ),
    alone(
        "two values are read by one statement",
        """
        total = 0.0
        for x, y in data:
            total += float(loss_fn(y, model(x))) + float(tf.reduce_sum(model(x)))
        """,
    ),
    no(
        "a `float` of the file's own",
        "reads-on-host",
        """
        def float(v):
            return 2 * v.numpy()


        total = 0.0
        for x, y in data:
            total += float(loss_fn(y, model(x)))
        """,
    ),
    alone(
        "where it is kept is computed first",
        """
        seen = [0.0]


        def place():
            print("place")
            return 0


        for x, y in data:
            seen[place()] = float(loss_fn(y, model(x)))
        """,
    ),
    alone(
        "the shape of a batch beside what is read",
        """
        total = 0.0
        for x, y in data:
            total += float(loss_fn(y, model(x)) * x.shape[0])
        """,
    ),
    alone(
        "a list of layers that grows",
        """
        layers = [tf.keras.layers.Dense(6) for _ in range(4)]
        for x, y in data:
            h = tf.identity(x)
            for layer in layers:
                h = layer(h)
            layers.append(tf.keras.layers.Dense(6))
        """,
    ),
    alone(
        "a coroutine",
        """
        async def run():
            for x, y in data:
                logits = model(x, training=False)
                mean.update_state(y, logits)
        """,
    ),
    alone(
        "a walrus that nobody else reads",
        """
        total = 0.0
        for x, y in data:
            total += float(loss_fn(y, (logits := model(x))) + tf.reduce_mean(logits))
        """,
    ),
    no(
        "a tape looks on from a caller",
        "tensor-decides",
        """
        def total_of(batches):
            total = tf.zeros(())
            for x, y in batches:
                logits = model(x, training=False)
                total += loss_fn(y, logits)
            return total


        for _ in range(100):
            with tf.GradientTape() as tape:
                total = total_of(data)
            gradients = tape.gradient(total, model.trainable_variables)
        """,
    ),
    no(
        "numpy batches computed with",
        "numpy-argument",
        """
        total = 0
        for i in range(0, 640, 16):
            x, y = xs[i % 64 : i % 64 + 16], ys[i % 64 : i % 64 + 16]
            total += int(tf.reduce_sum(tf.cast(tf.argmax(model(x), 1) == y, tf.int32)))
        """,
    ),
    no(
        "an array that is changed in place",
        "captured-not-fixed",
        """
        batch = np.zeros((16, 6), np.float32)
        total = 0.0
        for i in range(200):
            batch[:] = xs[:16] * i
            total += float(tf.reduce_sum(model(batch)))
        """,
    ),
    no(
        "another model in each turn",
        "two-objects",
        """
        net = model
        for x, y in data:
            logits = net(x, training=False)
            mean.update_state(y, logits)
            net = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(3)])
        """,
    ),
    no(
        "another model in each epoch",
        "two-objects",
        """
        for epoch in range(3):
            net = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(3)])
            for x, y in data:
                logits = net(x, training=False)
                mean.update_state(y, logits)
        """,
    ),
    no(
        "a function for two models",
        "two-objects",
        """
        def evaluate(net, batches):
            total = 0.0
            for x, y in batches:
                total += float(loss_fn(y, net(x)))
            return total


        other = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(3)])
        print(evaluate(model, data), evaluate(other, data))
        """,
    ),
    no(
        "frozen in the loop",
        "object-changes",
        """
        for x, y in data:
            logits = model(x, training=False)
            mean.update_state(y, logits)
            model.trainable = not model.trainable
        """,
    ),
    no(
        "a layer adapts in the loop",
        "object-changes",
        """
        scaled = tf.keras.layers.Normalization()
        scaled.adapt(xs)
        for x, y in data:
            logits = model(scaled(x))
            mean.update_state(y, logits)
            scaled.adapt(x)
        """,
    ),
    no(
        "a layer is added in the loop",
        "object-changes",
        """
        for x, y in data:
            logits = model(x)
            mean.update_state(y, logits)
            model.add(tf.keras.layers.Dense(3))
        """,
    ),
    no(
        "losses of activities are read",
        "python-effect",
        """
        net = tf.keras.Sequential([tf.keras.layers.Dense(3, activity_regularizer="l2")])
        for x, y in data:
            logits = net(x, training=False)
            mean.update_state(y, logits)
            print(float(sum(net.losses)))
        """,
    ),
    no(
        "a model that keeps what it computed",
        "python-effect",
        """
        class Seeing(tf.keras.Model):
            def __init__(self):
                super().__init__()
                self.head = tf.keras.layers.Dense(3)

            def call(self, x):
                self.last = self.head(x)
                return 2 * self.last


        seeing = Seeing()
        for x, y in data:
            logits = seeing(x)
            mean.update_state(y, logits)
            print(seeing.last)
        """,
    ),
    no(
        "a model that computes with what the loop sets",
        "captured-not-fixed",
        """
        class Scaled(tf.keras.Model):
            def __init__(self):
                super().__init__()
                self.head = tf.keras.layers.Dense(3)
                self.scale = 1.0

            def call(self, x):
                return self.head(x) * self.scale


        scaled = Scaled()
        for i, (x, y) in enumerate(data):
            scaled.scale = float(i)
            logits = scaled(x)
            mean.update_state(y, logits)
        """,
    ),
    no(
        "a mask on a result",
        "mask-lost",
        """
        words = tf.data.Dataset.from_tensor_slices(np.ones((64, 3), np.int64)).batch(16)
        embedding = tf.keras.layers.Embedding(5, 6, mask_zero=True)
        dense, recurrent = tf.keras.layers.Dense(6), tf.keras.layers.LSTM(3)
        for ids in words:
            h = dense(embedding(ids))
            print("embedded")
            print(float(tf.reduce_sum(recurrent(h))))
        """,
    ),
    no(
        "a crossentropy of the result of a softmax",
        "logits-found",
        SOFT,
        """
        for x, y in data:
            p = soft(x, training=False)
            mean.update_state(y, p)
            print(float(cross(y, p)))
        """,
    ),
    no(
        "a crossentropy of a softmax that was asked before",
        "logits-found",
        SOFT,
        """
        for x, y in data:
            p = soft(x, training=False)
            print("asked")
            loss = cross(y, p)
            print(float(loss + tf.reduce_sum(p)))
        """,
    ),
    no(
        "a crossentropy of a softmax of TensorFlow's",
        "logits-found",
        SOFT,
        """
        total = 0.0
        for x, y in data:
            total += float(cross(y, tf.nn.softmax(model(x))))
        """,
    ),
    no(
        "a model that is told to train, twice",
        "called-again",
        """
        noisy = tf.keras.Sequential([tf.keras.layers.Dropout(0.5), tf.keras.layers.Dense(3)])
        for x, y in data:
            several = tf.stack([noisy(x, training=True) for _ in range(5)])
            mean.update_state(y, tf.reduce_mean(several, 0))
        """,
    ),
    no(
        "a `try` around the loop",
        "exception-seen",
        """
        try:
            for x, y in data:
                logits = model(x, training=False)
                mean.update_state(y, logits)
        except ValueError:
            print("no")
        """,
    ),
    no(
        "a name of the module, from a function",
        "python-effect",
        """
        logits = None


        def run():
            global logits
            for x, y in data:
                logits = model(x, training=False)
                mean.update_state(y, logits)


        run()
        """,
    ),
    no(
        "a name of the function around",
        "python-effect",
        """
        def outer():
            logits = None

            def run():
                nonlocal logits
                for x, y in data:
                    logits = model(x, training=False)
                    mean.update_state(y, logits)

            run()
            return logits


        outer()
        """,
    ),
    no(
        "a walrus that is read elsewhere",
        "not-followed",
        """
        total = 0.0
        for x, y in data:
            total += float(loss_fn(y, (logits := model(x))))
        print(logits)
        """,
    ),
    no(
        "the same object by two names",
        "returns-python",
        """
        for x, y in data:
            logits = model(x, training=False)
            same = logits
            mean.update_state(y, logits)
            print(same is logits)
        """,
    ),
    no(
        "which object it is",
        "returns-python",
        """
        last = None
        for x, y in data:
            logits = model(x, training=False)
            mean.update_state(y, logits)
            print(logits is last)
            last = logits
        """,
    ),
    no(
        "a generator expression that is read later",
        "returns-python",
        """
        for x, y in data:
            sums = (tf.reduce_sum(model(v)) for v in (x, x + 1))
            logits = model(x)
            print(float(sum(sums)), logits)
        """,
    ),
    no(
        "a number that varies",
        "argument-varies",
        """
        factor, total = 0.0, 0.0
        for x, y in data:
            factor += 0.5
            total += float(tf.reduce_sum(model(x) * factor))
        """,
    ),
    no(
        "a number that says whether it trains",
        "argument-varies",
        """
        for epoch in range(60):
            for x, y in data:
                logits = model(x, training=epoch > 30)
                mean.update_state(y, logits)
        """,
    ),
    no(
        "a carried sum that begins with a number",
        "argument-varies",
        """
        total = 0
        for x, y in data:
            total = total + tf.reduce_sum(model(x))
            print(float(total))
        """,
    ),
    no(
        "batches of other lengths",
        "argument-not-known",
        """
        def lines():
            for length in (5, 3, 7):
                yield np.ones((2, length), np.int64)


        reader = tf.keras.Sequential([tf.keras.layers.Embedding(5, 4), tf.keras.layers.LSTM(3)])
        signature = tf.TensorSpec((2, None), tf.int64)
        for ids in tf.data.Dataset.from_generator(lines, output_signature=signature):
            read = reader(ids)
            print(float(tf.reduce_sum(read)))
        """,
    ),
    no(
        "a text that gets longer",
        "argument-not-known",
        """
        reader = tf.keras.Sequential([tf.keras.layers.Embedding(5, 4), tf.keras.layers.LSTM(5)])
        ids = tf.constant([[1]])
        for _ in range(100):
            logits = reader(ids)
            best = tf.argmax(logits, 1, output_type=tf.int32)
            ids = tf.concat([ids, best[:, None]], 1)
        """,
    ),
    no(
        "a list of words that gets longer",
        "captured-not-fixed",
        """
        reader = tf.keras.Sequential([tf.keras.layers.Embedding(5, 4), tf.keras.layers.LSTM(5)])
        ids = [1]
        for _ in range(100):
            ids.append(int(tf.argmax(reader(tf.expand_dims(ids, 0))[0])))
        """,
    ),
    alone(
        "a strategy places variables",
        """
        strategy = tf.distribute.get_strategy()
        for x, y in data:
            logits = model(x, training=False)
            mean.update_state(y, logits)
        """,
    ),
    no(
        "a function in a function that is called again",
        "traced-again",
        """
        def outer():
            def run():
                for x, y in data:
                    logits = model(x, training=False)
                    mean.update_state(y, logits)

            run()
            run()


        outer()
        """,
    ),
    no(
        "a tensor that a comprehension goes over",
        "fails-when-traced",
        """
        for x, y in data:
            sums = [tf.reduce_sum(model(row[None])) for row in x]
            print(float(sum(sums)))
        """,
    ),
    no(
        "losses of activities are read by `compute_loss`",
        "python-effect",
        """
        net = tf.keras.Sequential([tf.keras.layers.Dense(3, activity_regularizer="l2")])
        net.compile(loss="mse")
        for x, y in data:
            logits = net(x, training=False)
            mean.update_state(y, logits)
            print(net.compute_loss(x, y, x))
        """,
    ),
    no(
        "losses of activities are read by name",
        "python-effect",
        """
        net = tf.keras.Sequential([tf.keras.layers.Dense(3, activity_regularizer="l2")])
        for x, y in data:
            logits = net(x, training=False)
            mean.update_state(y, logits)
            print(getattr(net, "losses"))
        """,
    ),
    yes(
        "by a metric",
        """
        for x, y in data:
            logits = model(x, training=False)
            mean.update_state(y, logits)
        print(float(mean.result()))
        """,
        """


        @tf.function
        def forward_step(x, y):
            logits = model(x, training=False)
            mean.update_state(y, logits)


        for x, y in data:
            forward_step(x, y)
        print(float(mean.result()))
        """,
        shapes=("crlf", "tabs"),
    ),
    yes(
        "by a metric that is called",
        """
        losses = tf.keras.metrics.Mean()
        for x, y in data:
            logits = model(x, training=False)
            losses(loss_fn(y, logits))
            mean(y, logits)
        print(float(losses.result()), float(mean.result()))
        """,
        """
        losses = tf.keras.metrics.Mean()


        @tf.function
        def forward_step(x, y):
            logits = model(x, training=False)
            losses(loss_fn(y, logits))
            mean(y, logits)


        for x, y in data:
            forward_step(x, y)
        print(float(losses.result()), float(mean.result()))
        """,
    ),
    yes(
        "by a count",
        """
        total = 0
        for x, y in data:
            best = tf.argmax(model(x, training=False), axis=1)
            total += int(tf.reduce_sum(tf.cast(best == y, tf.int32)))
        print(total)
        """,
        """
        total = 0


        @tf.function
        def forward_step(x, y):
            best = tf.argmax(model(x, training=False), axis=1)
            return tf.reduce_sum(tf.cast(best == y, tf.int32))


        for x, y in data:
            total += int(forward_step(x, y))
        print(total)
        """,
        shapes=("crlf", "tabs"),
    ),
    yes(
        "by a loss",
        """
        total = 0.0
        for x, y in data:
            logits = model(x, training=False)
            total += float(loss_fn(y, logits))
        print(total)
        """,
        """
        total = 0.0


        @tf.function
        def forward_step(x, y):
            logits = model(x, training=False)
            return loss_fn(y, logits)


        for x, y in data:
            total += float(forward_step(x, y))
        print(total)
        """,
    ),
    yes(
        "by an array",
        """
        total = 0.0
        for x, y in data:
            total += tf.reduce_sum(model(x)).numpy()
        print(total)
        """,
        """
        total = 0.0


        @tf.function
        def forward_step(x):
            return tf.reduce_sum(model(x))


        for x, y in data:
            total += forward_step(x).numpy()
        print(total)
        """,
    ),
    yes(
        "by a list of losses",
        """
        losses = []
        for x, y in data:
            losses.append(float(loss_fn(y, model(x))))
        print(losses)
        """,
        """
        losses = []


        @tf.function
        def forward_step(y, x):
            return loss_fn(y, model(x))


        for x, y in data:
            losses.append(float(forward_step(y, x)))
        print(losses)
        """,
    ),
    yes(
        "arrays in a list",
        """
        found = []
        for x, y in data:
            found.append(model(x, training=False).numpy())
        print(np.concatenate(found).shape)
        """,
        """
        found = []


        @tf.function
        def forward_step(x):
            return model(x, training=False)


        for x, y in data:
            found.append(forward_step(x).numpy())
        print(np.concatenate(found).shape)
        """,
    ),
    yes(
        "a flag",
        """
        for x, y in data:
            fine = bool(tf.reduce_all(tf.math.is_finite(model(x))))
            print(fine)
        """,
        """


        @tf.function
        def forward_step(x):
            return tf.reduce_all(tf.math.is_finite(model(x)))


        for x, y in data:
            fine = bool(forward_step(x))
            print(fine)
        """,
    ),
    yes(
        "in a function that the program starts with",
        """
        def main():
            total = 0.0
            for x, y in data:
                logits = model(x, training=False)
                total += float(loss_fn(y, logits))
            print(total)


        if __name__ == "__main__":
            main()
        """,
        """
        def main():
            total = 0.0

            @tf.function
            def forward_step(x, y):
                logits = model(x, training=False)
                return loss_fn(y, logits)

            for x, y in data:
                total += float(forward_step(x, y))
            print(total)


        if __name__ == "__main__":
            main()
        """,
    ),
    yes(
        "in a function that each epoch calls",
        """
        def evaluate(net, batches):
            total = 0.0
            for x, y in batches:
                logits = net(x, training=False)
                total += float(loss_fn(y, logits))
            return total


        for epoch in range(3):
            print(evaluate(model, data))
        """,
        """


        @tf.function
        def forward_step(net, x, y):
            logits = net(x, training=False)
            return loss_fn(y, logits)


        def evaluate(net, batches):
            total = 0.0
            for x, y in batches:
                total += float(forward_step(net, x, y))
            return total


        for epoch in range(3):
            print(evaluate(model, data))
        """,
        shapes=("crlf", "tabs"),
    ),
    yes(
        "in a method",
        """
        class Trainer:
            def __init__(self):
                self.model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(3)])

            def evaluate(self, batches):
                total = 0.0
                for x, y in batches:
                    logits = self.model(x, training=False)
                    total += float(loss_fn(y, logits))
                return total


        first, second = Trainer(), Trainer()
        for epoch in range(3):
            print(first.evaluate(data), second.evaluate(data))
        """,
        """
        class Trainer:
            def __init__(self):
                self.model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(3)])

            @tf.function
            def compiled_forward(self, x, y):
                logits = self.model(x, training=False)
                return loss_fn(y, logits)

            def evaluate(self, batches):
                total = 0.0
                for x, y in batches:
                    total += float(self.compiled_forward(x, y))
                return total


        first, second = Trainer(), Trainer()
        for epoch in range(3):
            print(first.evaluate(data), second.evaluate(data))
        """,
        shapes=("crlf", "tabs"),
    ),
    yes(
        "in a generator",
        """
        def scores(batches):
            for x, y in batches:
                logits = model(x)
                loss = loss_fn(y, logits)
                yield loss


        print(list(scores(data)), list(scores(data)))
        """,
        """


        @tf.function
        def forward_step(x, y):
            logits = model(x)
            loss = loss_fn(y, logits)
            return loss


        def scores(batches):
            for x, y in batches:
                loss = forward_step(x, y)
                yield loss


        print(list(scores(data)), list(scores(data)))
        """,
    ),
    yes(
        "several layers",
        """
        first, second = tf.keras.layers.Dense(4), tf.keras.layers.Dense(3)
        for x, y in data:
            h = tf.nn.relu(first(x))
            mean.update_state(y, second(h))
        print(float(mean.result()))
        """,
        """
        first, second = tf.keras.layers.Dense(4), tf.keras.layers.Dense(3)


        @tf.function
        def forward_step(x, y):
            h = tf.nn.relu(first(x))
            mean.update_state(y, second(h))


        for x, y in data:
            forward_step(x, y)
        print(float(mean.result()))
        """,
    ),
    yes(
        "a loop over layers",
        """
        layers = [tf.keras.layers.Dense(6) for _ in range(4)]
        for x, y in data:
            h = tf.identity(x)
            for layer in layers:
                h = tf.nn.relu(layer(h))
            print(float(tf.reduce_sum(h)))
        """,
        """
        layers = [tf.keras.layers.Dense(6) for _ in range(4)]


        @tf.function
        def forward_step(x):
            h = tf.identity(x)
            for layer in layers:
                h = tf.nn.relu(layer(h))
            return h


        for x, y in data:
            h = forward_step(x)
            print(float(tf.reduce_sum(h)))
        """,
    ),
    yes(
        "a list of models",
        """
        nets = [tf.keras.Sequential([tf.keras.layers.Dense(3)]) for _ in range(3)]
        for x, y in data:
            logits = tf.add_n([net(x, training=False) for net in nets])
            mean.update_state(y, logits)
        """,
        """
        nets = [tf.keras.Sequential([tf.keras.layers.Dense(3)]) for _ in range(3)]


        @tf.function
        def forward_step(x, y):
            logits = tf.add_n([net(x, training=False) for net in nets])
            mean.update_state(y, logits)


        for x, y in data:
            forward_step(x, y)
        """,
    ),
    yes(
        "a loop over metrics",
        """
        several = [tf.keras.metrics.Accuracy(), tf.keras.metrics.MeanSquaredError()]
        for x, y in data:
            best = tf.argmax(model(x, training=False), 1)
            for one in several:
                one.update_state(y, best)
        """,
        """
        several = [tf.keras.metrics.Accuracy(), tf.keras.metrics.MeanSquaredError()]


        @tf.function
        def forward_step(x, y):
            best = tf.argmax(model(x, training=False), 1)
            for one in several:
                one.update_state(y, best)


        for x, y in data:
            forward_step(x, y)
        """,
    ),
    yes(
        "comments",
        """
        for x, y in data:
            # Above.
            logits = model(x, training=False)  # Beside.
            # Between.
            mean.update_state(
                y,  # In brackets.
                logits,
            )
            # Below.
        print(float(mean.result()))
        """,
        """


        @tf.function
        def forward_step(x, y):
            logits = model(x, training=False)  # Beside.
            # Between.
            mean.update_state(
                y,  # In brackets.
                logits,
            )


        for x, y in data:
            # Above.
            forward_step(x, y)
            # Below.
        print(float(mean.result()))
        """,
        shapes=("crlf", "tabs"),
    ),
    yes(
        "over several lines",
        """
        total = 0.0
        for x, y in data:
            total += float(
                # Why.
                loss_fn(
                    y,
                    model(x),  # Beside.
                )
            )
        """,
        """
        total = 0.0


        @tf.function
        def forward_step(y, x):
            return loss_fn(
                y,
                model(x),  # Beside.
            )


        for x, y in data:
            total += float(
                # Why.
                forward_step(y, x)
            )
        """,
        shapes=("crlf", "tabs"),
    ),
    yes(
        "one line",
        """
        for x, y in data: mean.update_state(y, model(x))
        """,
        """


        @tf.function
        def forward_step(y, x):
            mean.update_state(y, model(x))


        for x, y in data: forward_step(y, x)
        """,
    ),
    yes(
        "a value in one line",
        """
        losses = []
        for x, y in data: losses.append(float(loss_fn(y, model(x))))
        """,
        """
        losses = []


        @tf.function
        def forward_step(y, x):
            return loss_fn(y, model(x))


        for x, y in data: losses.append(float(forward_step(y, x)))
        """,
    ),
    yes(
        "two statements of one line",
        """
        for x, y in data:
            logits = model(x); mean.update_state(y, logits)
        """,
        """


        @tf.function
        def forward_step(x, y):
            logits = model(x); mean.update_state(y, logits)


        for x, y in data:
            forward_step(x, y)
        """,
    ),
    yes(
        "results that are used after the loop",
        """
        for x, y in data:
            logits = model(x, training=False)
            mean.update_state(y, logits)
        print(logits.shape)
        """,
        """


        @tf.function
        def forward_step(x, y):
            logits = model(x, training=False)
            mean.update_state(y, logits)
            return logits


        for x, y in data:
            logits = forward_step(x, y)
        print(logits.shape)
        """,
    ),
    yes(
        "a name that a function reads",
        """
        logits = None


        def show():
            print(logits)


        for x, y in data:
            logits = model(x, training=False)
            mean.update_state(y, logits)
            show()
        """,
        """
        logits = None


        def show():
            print(logits)


        @tf.function
        def forward_step(x):
            logits = model(x, training=False)
            return logits


        for x, y in data:
            logits = forward_step(x)
            mean.update_state(y, logits)
            show()
        """,
    ),
    yes(
        "two loops",
        """
        for x, y in data:
            logits = model(x, training=True)
            mean.update_state(y, logits)
        print(float(mean.result()))
        for x, y in data:
            logits = model(x, training=False)
            mean.update_state(y, logits)
        print(float(mean.result()))
        """,
        """


        @tf.function
        def forward_step(x, y):
            logits = model(x, training=True)
            mean.update_state(y, logits)


        for x, y in data:
            forward_step(x, y)
        print(float(mean.result()))


        @tf.function
        def forward_step_2(x, y):
            logits = model(x, training=False)
            mean.update_state(y, logits)


        for x, y in data:
            forward_step_2(x, y)
        print(float(mean.result()))
        """,
        shapes=("crlf", "tabs"),
    ),
    yes(
        "beside a step",
        """
        optimizer = tf.keras.optimizers.SGD(0.1)
        for x, y in data:
            with tf.GradientTape() as tape:
                loss = loss_fn(y, model(x, training=True))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            print(float(loss))
            logits = model(x, training=False)
            mean.update_state(y, logits)
        """,
        """
        optimizer = tf.keras.optimizers.SGD(0.1)


        @tf.function
        def train_step(y, x):
            with tf.GradientTape() as tape:
                loss = loss_fn(y, model(x, training=True))
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            return loss


        @tf.function
        def forward_step(x, y):
            logits = model(x, training=False)
            mean.update_state(y, logits)


        for x, y in data:
            loss = train_step(y, x)
            print(float(loss))
            forward_step(x, y)
        """,
        shapes=("crlf", "tabs"),
    ),
    yes(
        "a loop of its own, now and then",
        """
        for step in range(1000):
            if step % 100 == 0:
                for x, y in data:
                    logits = model(x, training=False)
                    mean.update_state(y, logits)
                print(float(mean.result()))
        """,
        """


        @tf.function
        def forward_step(x, y):
            logits = model(x, training=False)
            mean.update_state(y, logits)


        for step in range(1000):
            if step % 100 == 0:
                for x, y in data:
                    forward_step(x, y)
                print(float(mean.result()))
        """,
    ),
    yes(
        "carried from turn to turn",
        """
        state = tf.zeros((16, 3))
        for x, y in data:
            state = state + model(x)
            print(float(tf.reduce_sum(state)))
        """,
        """
        state = tf.zeros((16, 3))


        @tf.function
        def forward_step(state, x):
            state = state + model(x)
            return state


        for x, y in data:
            state = forward_step(state, x)
            print(float(tf.reduce_sum(state)))
        """,
    ),
    yes(
        "a print between",
        """
        for x, y in data:
            logits = model(x, training=False)
            print("asked")
            mean.update_state(y, logits)
        """,
        """


        @tf.function
        def forward_step(x):
            logits = model(x, training=False)
            return logits


        for x, y in data:
            logits = forward_step(x)
            print("asked")
            mean.update_state(y, logits)
        """,
    ),
    yes(
        "a `break` between",
        """
        for x, y in data:
            logits = model(x, training=False)
            if float(tf.reduce_max(logits)) > 100:
                break
            mean.update_state(y, logits)
        """,
        """


        @tf.function
        def forward_step(x):
            logits = model(x, training=False)
            return logits


        for x, y in data:
            logits = forward_step(x)
            if float(tf.reduce_max(logits)) > 100:
                break
            mean.update_state(y, logits)
        """,
    ),
    yes(
        "a list that is changed between",
        """
        seen = []
        for x, y in data:
            logits = model(x, training=False)
            seen.append(logits)
            mean.update_state(y, logits)
        """,
        """
        seen = []


        @tf.function
        def forward_step(x):
            logits = model(x, training=False)
            return logits


        for x, y in data:
            logits = forward_step(x)
            seen.append(logits)
            mean.update_state(y, logits)
        """,
    ),
    yes(
        "a number of Python's before",
        """
        for x, y in data:
            count = len(x)
            logits = model(x)
            print(count, logits)
        """,
        """


        @tf.function
        def forward_step(x):
            logits = model(x)
            return logits


        for x, y in data:
            logits = forward_step(x)
            count = len(x)
            print(count, logits)
        """,
    ),
    yes(
        "a list of variables before",
        """
        for x, y in data:
            weights = list(model.trainable_variables)
            logits = model(x)
            weights[0].assign_add(tf.ones_like(weights[0]))
            print(logits)
        """,
        """


        @tf.function
        def forward_step(x):
            logits = model(x)
            return logits


        for x, y in data:
            weights = list(model.trainable_variables)
            logits = forward_step(x)
            weights[0].assign_add(tf.ones_like(weights[0]))
            print(logits)
        """,
    ),
    yes(
        "a draw before",
        """
        for i in range(100):
            noise = tf.random.stateless_normal((4, 6), seed=(1, i))
            made = model(noise)
            print(float(tf.reduce_mean(made)))
        """,
        """


        @tf.function
        def forward_step(noise):
            made = model(noise)
            return made


        for i in range(100):
            noise = tf.random.stateless_normal((4, 6), seed=(1, i))
            made = forward_step(noise)
            print(float(tf.reduce_mean(made)))
        """,
    ),
    yes(
        "both arms of a condition",
        """
        other = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(3)])
        for i, (x, y) in enumerate(data):
            if i > 1:
                logits = model(x)
                loss = loss_fn(y, logits)
            else:
                logits = other(x)
                loss = tf.reduce_mean(logits)
            print(float(loss))
        """,
        """
        other = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(3)])


        @tf.function
        def forward_step(x, y):
            logits = model(x)
            loss = loss_fn(y, logits)
            return loss


        @tf.function
        def forward_step_2(x):
            logits = other(x)
            loss = tf.reduce_mean(logits)
            return loss


        for i, (x, y) in enumerate(data):
            if i > 1:
                loss = forward_step(x, y)
            else:
                loss = forward_step_2(x)
            print(float(loss))
        """,
    ),
    yes(
        "a layer with a state",
        """
        normed = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.BatchNormalization()])
        for x, y in data:
            logits = normed(x, training=True)
            mean.update_state(y, logits)
        """,
        """
        normed = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.BatchNormalization()])


        @tf.function
        def forward_step(x, y):
            logits = normed(x, training=True)
            mean.update_state(y, logits)


        for x, y in data:
            forward_step(x, y)
        """,
    ),
    yes(
        "losses of activities that nobody reads",
        """
        net = tf.keras.Sequential([tf.keras.layers.Dense(3, activity_regularizer="l2")])
        for x, y in data:
            logits = net(x, training=False)
            mean.update_state(y, logits)
        """,
        """
        net = tf.keras.Sequential([tf.keras.layers.Dense(3, activity_regularizer="l2")])


        @tf.function
        def forward_step(x, y):
            logits = net(x, training=False)
            mean.update_state(y, logits)


        for x, y in data:
            forward_step(x, y)
        """,
    ),
    yes(
        "masks that stay inside",
        """
        words = tf.data.Dataset.from_tensor_slices(np.ones((64, 3), np.int64)).batch(16)
        embedding = tf.keras.layers.Embedding(5, 6, mask_zero=True)
        dense, recurrent = tf.keras.layers.Dense(6), tf.keras.layers.LSTM(3)
        for ids in words:
            total = tf.reduce_sum(recurrent(dense(embedding(ids))))
            print(float(total))
        """,
        """
        words = tf.data.Dataset.from_tensor_slices(np.ones((64, 3), np.int64)).batch(16)
        embedding = tf.keras.layers.Embedding(5, 6, mask_zero=True)
        dense, recurrent = tf.keras.layers.Dense(6), tf.keras.layers.LSTM(3)


        @tf.function
        def forward_step(ids):
            total = tf.reduce_sum(recurrent(dense(embedding(ids))))
            return total


        for ids in words:
            total = forward_step(ids)
            print(float(total))
        """,
    ),
    yes(
        "a crossentropy after a softmax, both inside",
        """
        total = 0.0
        for x, y in data:
            p = soft(x, training=False)
            total += float(cross(y, p))
        """,
        """
        total = 0.0


        @tf.function
        def forward_step(x, y):
            p = soft(x, training=False)
            return cross(y, p)


        for x, y in data:
            total += float(forward_step(x, y))
        """,
        top=SOFT,
    ),
    yes(
        "a flag of two values",
        """
        training = False
        for x, y in data:
            training = not training
            logits = model(x, training=training)
            mean.update_state(y, logits)
        """,
        """
        training = False


        @tf.function
        def forward_step(x, training, y):
            logits = model(x, training=training)
            mean.update_state(y, logits)


        for x, y in data:
            training = not training
            forward_step(x, training, y)
        """,
    ),
    yes(
        "names that are taken",
        """
        forward_step = 3
        for x, y in data:
            logits = model(x, training=False)
            mean.update_state(y, logits)
        print(forward_step)
        """,
        """
        forward_step = 3


        @tf.function
        def forward_step_2(x, y):
            logits = model(x, training=False)
            mean.update_state(y, logits)


        for x, y in data:
            forward_step_2(x, y)
        print(forward_step)
        """,
    ),
    yes(
        "a method of a name that is taken",
        """
        class Base:
            def compiled_forward(self):
                return 5


        class Trainer(Base):
            def __init__(self):
                self.model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(3)])

            def evaluate(self, batches):
                for x, y in batches:
                    logits = self.model(x)
                    mean.update_state(y, logits)
                return self.compiled_forward()


        trainer = Trainer()
        print(trainer.evaluate(data), trainer.evaluate(data))
        """,
        """
        class Base:
            def compiled_forward(self):
                return 5


        class Trainer(Base):
            def __init__(self):
                self.model = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(3)])

            @tf.function
            def compiled_forward_2(self, x, y):
                logits = self.model(x)
                mean.update_state(y, logits)

            def evaluate(self, batches):
                for x, y in batches:
                    self.compiled_forward_2(x, y)
                return self.compiled_forward()


        trainer = Trainer()
        print(trainer.evaluate(data), trainer.evaluate(data))
        """,
    ),
    yes(
        "batches with names",
        """
        named = tf.data.Dataset.from_tensor_slices({"x": xs, "y": ys}).batch(16)
        for batch in named:
            logits = model(batch["x"], training=False)
            mean.update_state(batch["y"], logits)
        """,
        """
        named = tf.data.Dataset.from_tensor_slices({"x": xs, "y": ys}).batch(16)


        @tf.function
        def forward_step(batch):
            logits = model(batch["x"], training=False)
            mean.update_state(batch["y"], logits)


        for batch in named:
            forward_step(batch)
        """,
    ),
    yes(
        "a `while`",
        """
        batches = iter(data.repeat())
        while float(mean.result()) < 0.9:
            x, y = next(batches)
            logits = model(x, training=False)
            mean.update_state(y, logits)
        """,
        """
        batches = iter(data.repeat())


        @tf.function
        def forward_step(x, y):
            logits = model(x, training=False)
            mean.update_state(y, logits)


        while float(mean.result()) < 0.9:
            x, y = next(batches)
            forward_step(x, y)
        """,
    ),
    yes(
        "a model that makes its variables then",
        """
        late = tf.keras.Sequential([tf.keras.layers.Dense(4), tf.keras.layers.Dense(3)])
        for x, y in data:
            logits = late(x)
            mean.update_state(y, logits)
        print(late.count_params())
        """,
        """
        late = tf.keras.Sequential([tf.keras.layers.Dense(4), tf.keras.layers.Dense(3)])


        @tf.function
        def forward_step(x, y):
            logits = late(x)
            mean.update_state(y, logits)


        for x, y in data:
            forward_step(x, y)
        print(late.count_params())
        """,
    ),
    yes(
        "a sum over several lines",
        """
        total = 0.0
        for x, y in data:
            total += float(tf
                .reduce_sum(model(x))
            )
        """,
        """
        total = 0.0


        @tf.function
        def forward_step(x):
            return (tf
                .reduce_sum(model(x)))


        for x, y in data:
            total += float(forward_step(x)
            )
        """,
    ),
    yes(
        "draws that stay in the loop",
        """
        for i in range(100):
            noise = tf.random.normal((4, 6))
            made = model(noise)
            print(float(tf.reduce_mean(made)))
        """,
        """


        @tf.function
        def forward_step(noise):
            made = model(noise)
            return made


        for i in range(100):
            noise = tf.random.normal((4, 6))
            made = forward_step(noise)
            print(float(tf.reduce_mean(made)))
        """,
    ),
    no(
        "an array that is gone through by rows and used as a whole, too",
        "tensor-decides",
        ROWS,
        BY_ROWS.replace("summed + out", "summed + out * tf.reduce_mean(sequence)"),
    ),
    no("another tuple", "tensor-decides", "tuple = len\n", ROWS, BY_ROWS),
    alone("rows that are not known to be few", ROWS.replace("5", "len(xs)"), BY_ROWS),
    alone("rows that are numbers", ROWS.replace(", 1, 3", ""), BY_ROWS),
    yes(
        "an array that is gone through by rows",
        ROWS + BY_ROWS,
        ROWS
        + """

@tf.function
def forward_step(sequence):
    state = [tf.zeros([1, 4]), tf.zeros([1, 4])]
    summed = tf.zeros([1, 4])
    for element in sequence:
        out, state = cell(element, state)
        summed = summed + out
    return summed


for sequence in sequences:
    summed = forward_step(tuple(sequence))
    print(float(tf.reduce_sum(dense(summed))))
""",
    ),
    # Functions that steps ask models with, too
    alone(
        "a function of a step that counts its calls, now and then",
        COUNTED,
        STEPS,
        "if len(count) % 100 == 0:\n    print(compute_loss(model, xs, ys))\n",
    ),
    no(
        "a function of a step that counts its calls",
        "python-effect",
        COUNTED,
        STEPS,
        EVALUATION,
    ),
    no(
        "a function of a step that is asked for two models in turns",
        "argument-varies",
        "other = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(3)])\n",
        SHARED,
        STEPS,
        EVALUATION.replace("(model", "(other if epoch else model"),
    ),
    yes(
        "a function that a step calls as well, for a metric that is made anew",
        f"{SHARED}{STEPS}{EVALUATION}",
        f"""{SHARED}{STEPS}

@tf.function
def forward_step(x, y):
    return compute_loss(model, x, y)


{EVALUATION.replace("compute_loss(model, x, y)", "forward_step(x, y)")}""",
        shapes=("crlf", "tabs"),
    ),
    yes(
        "a function that a step calls which TFR201 compiles",
        f"{SHARED}{STEPS.removeprefix('@tf.function')}{EVALUATION}",
        f"""{SHARED}{STEPS.removeprefix("@tf.function")}

@tf.function
def forward_step(x, y):
    return compute_loss(model, x, y)


{EVALUATION.replace("compute_loss(model, x, y)", "forward_step(x, y)")}""",
    ),
    yes(
        "a sum that begins with a number, and a list",
        """
        total, rows = 0.0, []
        for x, y in data:
            total += loss_fn(y, model(x))
        for x, _ in data:
            rows.append(model(x))
        print(float(total), len(rows))
        """,
        """
        total, rows = 0.0, []


        @tf.function
        def forward_step(y, x):
            return loss_fn(y, model(x))


        for x, y in data:
            total += forward_step(y, x)


        @tf.function
        def forward_step_2(x):
            return model(x)


        for x, _ in data:
            rows.append(forward_step_2(x))
        print(float(total), len(rows))
        """,
        shapes=("crlf", "tabs"),
    ),
    offers(
        "draws",
        script("""
        for _ in range(100):
            made = model(tf.random.normal((4, 6)))
            print(float(tf.reduce_mean(made)))
        """),
        contract="resampled",
        shapes=(),
    ),
)
