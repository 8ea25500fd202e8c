"""TFR405: what is left alone and refused first, then what is rewritten."""

from __future__ import annotations

import textwrap

from rulebench import Case, bench, leaves_alone, refuses, rewrites
from tfrewrite.codemods.fit_in_loop import FitInLoop

TOP = ("crlf", "tabs")
"""The helper stands at the top of the module, which is no place in a function."""

MODEL = """\
import numpy as np
import tensorflow as tf
from tensorflow import keras

model = keras.Sequential([keras.layers.Dense(2)])
model.compile(loss="mse", optimizer="adam")
states = np.random.rand(500, 4)
"""
HELPER = '''\
def fit_one_row(model, x, y, **options):
    """The same as `model.fit`, without the pipeline that it builds in each call."""
    numbers = (np.float32, np.float64, np.int32, np.int64, np.uint8)
    arrays = all(type(a) is np.ndarray and a.dtype in numbers for a in (x, y))
    if arrays and x.shape[:1] == y.shape[:1] == (1,):
        model.train_on_batch(x, y)
    else:
        model.fit(x, y, **options)


'''
HELPER_FOR_ROWS = '''\
def fit_one_batch(model, x, y, batch_size=None, **options):
    """The same as `model.fit` but for the order of rows, without a pipeline for each call."""
    numbers = (np.float32, np.float64, np.int32, np.int64, np.uint8)
    arrays = all(type(a) is np.ndarray and a.ndim and a.dtype in numbers for a in (x, y))
    if arrays and 0 < len(x) == len(y) <= (batch_size or 32):
        model.train_on_batch(x, y)
    else:
        model.fit(x, y, batch_size=batch_size, **options)


'''


def script(rest: str, head: str = MODEL) -> str:
    return head + textwrap.dedent(rest).lstrip("\n")


def in_loop(*lines: str, head: str = MODEL) -> str:
    return f"{head}for state in states:\n" + "".join(f"    {line}\n" for line in lines)


def fitted(options: str = ", epochs=1, verbose=0", head: str = MODEL) -> str:
    return in_loop(f"model.fit(state[None], np.zeros((1, 2)){options})", head=head)


test_left_alone = bench(
    FitInLoop,
    leaves_alone("no loop", script("model.fit(states[:1], states[:1], verbose=0)")),
    leaves_alone("epochs in a loop", fitted(", epochs=5, verbose=0")),
    leaves_alone("epochs by a name", fitted(", epochs=n, verbose=0")),
    leaves_alone("a dataset", in_loop("model.fit(data, verbose=0)")),
    leaves_alone("a generator", in_loop("model.fit(data, None, steps_per_epoch=3, verbose=0)")),
    leaves_alone(
        "a fit of scikit-learn",
        in_loop(
            "scaler.fit(state[None], state[None], verbose=0)",
            head=f"from sklearn.preprocessing import StandardScaler\n{MODEL}"
            "scaler = StandardScaler()\n",
        ),
    ),
    leaves_alone(
        "the owner chooses already",
        script(
            """
            def learn(x, y):
                if len(x) == 1:
                    model.train_on_batch(x, y)
                else:
                    model.fit(x, y, verbose=0)
            for state in states:
                learn(state[None], np.zeros((1, 2)))
            """
        ),
    ),
)

test_refused = bench(
    FitInLoop,
    refuses("the loss is printed", fitted(", epochs=1"), reason="other-arguments"),
    refuses("the loss is printed on request", fitted(", verbose=2"), reason="other-arguments"),
    refuses("callbacks", fitted(", verbose=0, callbacks=c"), reason="other-arguments"),
    refuses("validation", fitted(", verbose=0, validation_split=0.5"), reason="other-arguments"),
    refuses("weights", fitted(", verbose=0, class_weight={0: 1}"), reason="other-arguments"),
    refuses("weights of rows", fitted(", verbose=0, sample_weight=w"), reason="other-arguments"),
    refuses("a first epoch", fitted(", verbose=0, initial_epoch=1"), reason="other-arguments"),
    refuses("hidden arguments", fitted(", verbose=0, **options"), reason="other-arguments"),
    refuses("a size by position", fitted(", 1, verbose=0"), reason="other-arguments"),
    refuses(
        "the history is used",
        in_loop("h = model.fit(state[None], np.zeros((1, 2)), verbose=0)", "print(h.history)"),
        reason="history-used",
    ),
    refuses(
        "metrics that the model has are read",
        fitted() + "print([m.result() for m in model.metrics])\n",
        reason="metrics-read",
    ),
    refuses(
        "a metric that the model was given is read",
        fitted() + "print(mean.result())\n",
        reason="metrics-read",
    ),
    refuses(
        "a batch elsewhere goes on counting",
        fitted() + "def tried():\n    return model.train_on_batch(states[:8], np.zeros((8, 2)))\n",
        reason="metrics-read",
    ),
    refuses(
        "a batch is tried elsewhere",
        fitted() + "print(model.test_on_batch(states[:8], np.zeros((8, 2))))\n",
        reason="metrics-read",
    ),
    refuses(
        "the history of the model is read",
        fitted() + "print(model.history.epoch)\n",
        reason="history-used",
    ),
    refuses(
        "a model from elsewhere",
        fitted(head="import numpy as np\nfrom nets import model, states\nimport keras\n"),
        reason="model-unknown",
    ),
    refuses(
        "a train_step of its own",
        script(
            """
            class Net(keras.Model):
                def train_step(self, data):
                    return {}

            net = Net()
            for state in states:
                net.fit(state[None], np.zeros((1, 2)), epochs=1, verbose=0)
            """
        ),
        reason="own-method",
    ),
    refuses(
        "averages of the weights",
        fitted(head=f"{MODEL}sgd = keras.optimizers.SGD(0.1, use_ema=True)\n"),
        reason="optimizer-ema",
    ),
    refuses(
        "averages of the weights, asked for later",
        fitted(head=f"{MODEL}sgd = keras.optimizers.SGD(0.1)\nsgd.use_ema = True\n"),
        reason="optimizer-ema",
    ),
    refuses(
        "an optimizer is changed, of which the first trace has kept what it was",
        script(
            """
            model.fit(states, states[:, :2], verbose=0)
            for state in states:
                model.optimizer.momentum = 0.9
                model.fit(state[None], np.zeros((1, 2)), epochs=1, verbose=0)
            """
        ),
        reason="object-changes",
    ),
    refuses(
        "a layer is frozen, and the model not compiled anew",
        script(
            """
            model.fit(states, states[:, :2], verbose=0)
            model.layers[0].trainable = False
            for state in states:
                model.fit(state[None], np.zeros((1, 2)), epochs=1, verbose=0)
            """
        ),
        reason="object-changes",
    ),
    refuses(
        "several rows and dropout",
        in_loop(
            "model.fit(np.zeros((8, 4)), np.zeros((8, 2)), verbose=0)",
            head=f"{MODEL}model.add(keras.layers.Dropout(0.5))\n",
        ),
        reason="rows-shuffled",
    ),
    refuses(
        "any rows and a loss of one's own",
        in_loop("model.fit(state, target, verbose=0)", head=f"{MODEL}model.compile(loss=mine)\n"),
        reason="rows-shuffled",
    ),
    refuses(
        "any rows, not shuffled",
        in_loop("model.fit(state, target, verbose=0, shuffle=False)"),
        reason="rows-unknown",
    ),
    refuses(
        "rows that are shuffled now and then",
        in_loop("model.fit(state, target, verbose=0, shuffle=mixed)"),
        reason="other-arguments",
    ),
    refuses(
        "a sum of lists", in_loop("model.fit([a] + b, target, verbose=0)"), reason="rows-unknown"
    ),
    refuses(
        "several batches",
        in_loop("model.fit(np.zeros((64, 4)), np.zeros((64, 2)), verbose=0, shuffle=False)"),
        reason="several-batches",
    ),
    refuses(
        "batches of one",
        in_loop("model.fit(np.zeros((8, 4)), np.zeros((8, 2)), verbose=0, batch_size=1)"),
        reason="several-batches",
    ),
    refuses(
        "a whole set",
        in_loop("y[0] = 1", "model.fit(x_train, y, verbose=0)"),
        reason="several-batches",
    ),
    refuses(
        "batches of a dataset",
        script(
            """
            for x, y in dataset:
                model.fit(x, y, verbose=0)
            """
        ),
        reason="several-batches",
    ),
    refuses(
        "the message is read",
        script(
            """
            for state in states:
                try:
                    model.fit(state[None], np.zeros((1, 2)), verbose=0)
                except ValueError as error:
                    print(error)
            """
        ),
        reason="message-read",
    ),
)


def exact(name: str, before: str, after: str) -> Case:
    return rewrites(name, in_loop(before), in_loop(after), contract="exact")


test_direct = bench(
    FitInLoop,
    exact(
        "one row",
        "model.fit(state[None], np.zeros((1, 2)), epochs=1, verbose=0)",
        "model.train_on_batch(state[None], np.zeros((1, 2)))",
    ),
    exact(
        "one row in a batch of one",
        "model.fit(state[None], np.array([1]), batch_size=1, verbose=0)",
        "model.train_on_batch(state[None], np.array([1]))",
    ),
    exact(
        "a batch that is not shuffled",
        "model.fit(np.zeros((8, 4)), np.zeros((8, 2)), verbose=0, shuffle=False)",
        "model.train_on_batch(np.zeros((8, 4)), np.zeros((8, 2)))",
    ),
    rewrites(
        "several rows",
        in_loop("model.fit(np.zeros((8, 4)), np.zeros((8, 2)), verbose=0)"),
        in_loop("model.train_on_batch(np.zeros((8, 4)), np.zeros((8, 2)))"),
        contract="rounding",
    ),
    rewrites(
        "beside a training whose history is used",
        fitted(head=f"{MODEL}before = model.fit(states, states)\nprint(before.history)\n"),
        in_loop(
            "model.train_on_batch(state[None], np.zeros((1, 2)))",
            head=f"{MODEL}before = model.fit(states, states)\nprint(before.history)\n",
        ),
        contract="exact",
    ),
)

LOOP = """\
for state, action in zip(states, actions):
    target = make(state)
    target[0][action] = 1
    {call}
"""

test_with_a_helper = bench(
    FitInLoop,
    rewrites(
        "a target of one row",
        MODEL + LOOP.format(call="model.fit(state, target, epochs=1, verbose=0)"),
        f"{MODEL}\n\n{HELPER}"
        + LOOP.format(call="fit_one_row(model, state, target, epochs=1, verbose=0)"),
        contract="exact",
        shapes=TOP,
    ),
    rewrites(
        "one row, and a target of any",
        in_loop("model.fit(state[None], target, verbose=False)"),
        MODEL + f"\n\n{HELPER}"
        "for state in states:\n    fit_one_row(model, state[None], target, verbose=False)\n",
        contract="exact",
        shapes=TOP,
    ),
    rewrites(
        "a batch of any rows",
        in_loop("model.fit(make(state), targets, epochs=1, batch_size=size, verbose=0)"),
        MODEL
        + f"\n\n{HELPER_FOR_ROWS}for state in states:\n"
        + "    fit_one_batch(model, make(state), targets, epochs=1, batch_size=size, verbose=0)\n",
        contract="rounding",
        shapes=TOP,
    ),
)
