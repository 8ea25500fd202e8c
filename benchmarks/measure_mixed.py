"""What half precision does to models that `fit` trains, and what goes wrong with it.

    PYTHON benchmarks/measure_mixed.py layers|traps

`docs/measurements.md` says what came out. Runs in TensorFlow 2.4 and later, on Keras 2 and 3, and
hides GPUs. `layers` holds each layer that TFR601 lets through against itself in single precision.
"""

import os
import sys
import tempfile
from pathlib import Path

os.environ["CUDA_VISIBLE_DEVICES"] = ""

import numpy as np
import tensorflow as tf

K, L = tf.keras, tf.keras.layers
RNG = np.random.RandomState(0)
ROWS = RNG.rand(32, 12).astype("float32")
IMAGES = RNG.rand(32, 12, 12, 3).astype("float32")
SERIES = RNG.rand(32, 7, 5).astype("float32")
WORDS = RNG.randint(0, 50, (32, 7))
LABELS = RNG.randint(0, 4, 32)
LOSS = "sparse_categorical_crossentropy"
SINGLE = {"dtype": "float32"}

BODIES = {
    "Dense": (ROWS, lambda: [L.Dense(8, "relu", kernel_regularizer="l2"), L.Dense(8, "elu")]),
    "activations": (ROWS, lambda: [L.Dense(8, a) for a in ("tanh", "selu", "softplus", "swish")]),
    "ReLU, LeakyReLU": (ROWS, lambda: [L.Dense(8), L.ReLU(6.0), L.Dense(8), L.LeakyReLU(0.2)]),
    "BatchNormalization": (ROWS, lambda: [L.Dense(8), L.BatchNormalization(epsilon=1e-8)]),
    "and of images": (IMAGES, lambda: [L.Conv2D(4, 3), L.BatchNormalization(), L.Flatten()]),
    "LayerNormalization": (ROWS, lambda: [L.Dense(8), L.LayerNormalization(epsilon=1e-6)]),
    "Dropout": (ROWS, lambda: [L.Dropout(0.3, seed=1), L.Dense(8)]),
    "Conv1D": (SERIES, lambda: [L.Conv1D(8, 3, padding="causal"), L.GlobalMaxPooling1D()]),
    "Conv2D": (IMAGES, lambda: [L.Conv2D(8, 3, 2), L.AveragePooling2D(2), L.Flatten()]),
    "dilated": (IMAGES, lambda: [L.Conv2D(8, 3, dilation_rate=2), L.GlobalMaxPooling2D()]),
    "Conv2DTranspose": (IMAGES, lambda: [L.Conv2DTranspose(8, 3, 2), L.GlobalMaxPooling2D()]),
    "UpSampling2D": (IMAGES, lambda: [L.UpSampling2D(2, interpolation="bilinear"), L.Flatten()]),
    "Embedding, LSTM": (WORDS, lambda: [L.Embedding(50, 8, mask_zero=True), L.LSTM(8)]),
    "Bidirectional": (WORDS, lambda: [L.Embedding(50, 8), L.Bidirectional(L.GRU(8))]),
    "averages of words": (WORDS, lambda: [L.Embedding(50, 8), L.GlobalAveragePooling1D()]),
    "data of 0 to 255": ((IMAGES * 255).astype("uint8"), lambda: [L.Conv2D(4, 3), L.Flatten()]),
}


def started(*, half):
    K.backend.clear_session()
    getattr(K.utils, "set_random_seed", tf.random.set_seed)(1)
    K.mixed_precision.set_global_policy("mixed_float16" if half else "float32")


def stack(data, body, *, half):
    kind = "int32" if data is WORDS else "float32"
    last = L.Dense(4, activation="softmax", **(SINGLE if half else {}))
    return K.Sequential([K.Input(data.shape[1:], dtype=kind), *body(), last])


def trained(data, body, *, half, optimizer="adam", epochs=4, **options):
    started(half=half)
    model = stack(data, body, half=half)
    model.compile(optimizer() if callable(optimizer) else optimizer, LOSS, **options)
    fitted = model.fit(data, LABELS, batch_size=8, epochs=epochs, shuffle=False, verbose=0)
    return model, np.array(fitted.history["loss"])


def dense():
    return [L.Dense(16, "relu")]


def layers():
    for name, (data, body) in BODIES.items():
        (one, ours), (other, theirs) = (trained(data, body, half=half) for half in (False, True))
        outputs = [model.predict(data, verbose=0) for model in (one, other)]
        apart = np.abs(outputs[0] - outputs[1]).max() / np.abs(outputs[0]).max()
        losses = np.abs((ours - theirs) / ours).max()
        print(f"{name}: losses {losses:.0e}, outputs {apart:.0e} apart, {outputs[1].dtype}")


def words():
    """Numbers of words in float32: how many are looked up as those of others."""
    numbers = np.arange(0, 60000, 7, dtype="float32").reshape(-1, 1)
    table = (np.arange(70000) % 2048).astype("float32").reshape(-1, 1)
    ways = {
        "without inputs": list,
        "of inputs": lambda: [K.Input([1])],
        "behind a layer": lambda: [K.Input([1]), L.Flatten()],
    }
    for name, before in ways.items():
        started(half=True)
        layer = L.Embedding(70000, 1)
        model = K.Sequential([*before(), layer, L.Reshape([1])])
        model(numbers[:2])
        layer.set_weights([table])
        found = model.predict(numbers, verbose=0)[:, 0]
        wrong = found != table[numbers[:, 0].astype(int), 0]
        print(f"an Embedding, {name}: {wrong.sum()} of {len(numbers)} words are others")


def averages():
    data = np.full((1, 300, 300, 2), 255.0, "float32")
    for kind in (L.GlobalAveragePooling2D, lambda: L.AveragePooling2D(100)):
        started(half=True)
        layer = kind()
        print(f"{layer.name} of 255: {float(tf.reduce_max(tf.cast(layer(data), tf.float32)))}")


def optimizers():
    settings = ({"clipnorm": 0.01}, {"clipvalue": 0.001}, {"global_clipnorm": 0.01})
    for options in settings:
        runs = [
            trained(ROWS, dense, half=half, optimizer=lambda o=options: K.optimizers.SGD(1.0, **o))
            for half in (False, True)
        ]
        print(f"{options}: losses {[run[1].round(4).tolist() for run in runs]}")
    model, _ = trained(ROWS, dense, half=True)
    print(f"the optimizer: {type(model.optimizer).__name__}")


def compiled_twice():
    started(half=True)
    model, optimizer = stack(ROWS, dense, half=True), K.optimizers.SGD(0.1)
    for _ in range(2):
        model.compile(optimizer, LOSS)
        model.fit(ROWS, LABELS, verbose=0)


def weights_loaded():
    path = str(Path(tempfile.mkdtemp()) / "a.weights.h5")
    trained(ROWS, dense, half=True)[0].save_weights(path)
    started(half=True)
    model = stack(ROWS, dense, half=True)
    model.compile("adam", LOSS)
    model.load_weights(path)


def saved():
    path = str(Path(tempfile.mkdtemp()) / "a.keras")
    trained(ROWS, dense, half=True)[0].save(path)
    K.mixed_precision.set_global_policy("float32")
    model = K.models.load_model(path)
    print(f"loaded: {model.layers[0].compute_dtype}, trains by {type(model.optimizer).__name__}")


def checked():
    tf.debugging.enable_check_numerics()
    try:
        trained(ROWS, dense, half=True, optimizer="sgd", loss_weights=[1e6])
    finally:
        tf.debugging.disable_check_numerics()


def activities():
    def body():
        return [L.Dense(2000, kernel_initializer="ones", activity_regularizer="l2")]

    _, losses = trained(ROWS, body, half=True, optimizer="sgd")
    print(f"a regularizer of activities: {losses}")


def cleared():
    started(half=True)
    K.backend.clear_session()
    print(f"behind clear_session: {L.Dense(2).compute_dtype}")


def tried(trap):
    try:
        trap()
    except (AttributeError, TypeError, ValueError, tf.errors.OpError) as error:
        print(f"{trap.__name__}: {type(error).__name__}: {str(error)[:90]!r}")
    else:
        print(f"{trap.__name__}: no error")


def traps():
    for trap in (words, averages, optimizers, compiled_twice, weights_loaded, saved, cleared):
        tried(trap)
    tried(activities)
    tried(checked)


if __name__ == "__main__":
    print(tf.__version__)
    {"layers": layers, "traps": traps}[sys.argv[1]]()
