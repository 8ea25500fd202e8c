"""Fit with all the usual callbacks, a model of its own, and predictions one by one afterwards."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import backend as K
from tensorflow.keras import layers

MAX_LEN = 12
VOCAB = 40


def make_reviews(count, seed):
    """Rows of word numbers; the mood is which half of the vocabulary has more words in it."""
    rng = np.random.RandomState(seed)
    words = rng.randint(1, VOCAB, size=(count, MAX_LEN))
    moods = (np.sum(words > VOCAB // 2, axis=1) > MAX_LEN // 2).astype("float32")
    return words, moods


def build_model():
    model = keras.Sequential(
        [
            layers.Input((MAX_LEN,)),
            layers.Embedding(VOCAB, 8),
            layers.Conv1D(8, 3, activation="relu"),
            layers.GlobalMaxPooling1D(),
            layers.Dense(8, activation="relu"),
            layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(optimizer="rmsprop", loss="binary_crossentropy", metrics=["acc"])
    return model


class LossHistory(keras.callbacks.Callback):
    """Remembers the loss of each batch."""

    def on_train_begin(self, logs=None):
        self.losses = []

    def on_batch_end(self, batch, logs=None):
        self.losses.append(logs.get("loss"))


def schedule(epoch, lr):
    return lr if epoch < 3 else lr * 0.5


keras.utils.set_random_seed(13)
x_train, y_train = make_reviews(256, 13)
x_val, y_val = make_reviews(64, 14)

folder = tempfile.mkdtemp()
history = LossHistory()
callbacks = [
    keras.callbacks.EarlyStopping(monitor="val_loss", patience=3),
    keras.callbacks.LearningRateScheduler(schedule),
    keras.callbacks.ModelCheckpoint(
        os.path.join(folder, "best.weights.h5"), save_best_only=True, save_weights_only=True
    ),
    keras.callbacks.CSVLogger(os.path.join(folder, "log.csv")),
    history,
]

model = build_model()
trained = model.fit(
    x_train,
    y_train,
    batch_size=32,
    epochs=5,
    validation_data=(x_val, y_val),
    callbacks=callbacks,
    verbose=0,
)
print("batches seen", len(history.losses), "last loss %.5f" % history.losses[-1])
print("val_loss", ["%.4f" % value for value in trained.history["val_loss"]])



@tf.function(input_signature=[tf.TensorSpec((1, MAX_LEN), tf.int64)])
def ask(review):
    return model(review, training=False)


wrong = []
for number, (review, mood) in enumerate(zip(x_val, y_val)):
    score = ask(tf.constant(review[np.newaxis, :])).numpy()[0][0]
    if (score > 0.5) != bool(mood):
        wrong.append(number)
print("wrong", len(wrong), "first", wrong[:3])
print("weights %.6f" % sum(float(np.abs(w).sum()) for w in model.get_weights()))
