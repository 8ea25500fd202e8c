"""Text by characters: a GRU that is trained by a loop of its own, then asked letter by letter."""

import os

import numpy as np
import tensorflow as tf

SEQ_LENGTH = 20
BATCH_SIZE = 8
EPOCHS = 3

text = (
    "the mill stands by the river and the river turns the mill. "
    "when the river is high the mill turns fast; when it is low the miller waits. "
) * 10
vocab = sorted(set(text))
char2idx = {u: i for i, u in enumerate(vocab)}
idx2char = np.array(vocab)
text_as_int = np.array([char2idx[c] for c in text])


def split_input_target(chunk):
    input_text = chunk[:-1]
    target_text = chunk[1:]
    return input_text, target_text


tf.random.set_seed(7)
np.random.seed(7)
char_dataset = tf.data.Dataset.from_tensor_slices(text_as_int)
sequences = char_dataset.batch(SEQ_LENGTH + 1, drop_remainder=True)
dataset = sequences.map(split_input_target, num_parallel_calls=tf.data.experimental.AUTOTUNE)
dataset = dataset.shuffle(100, seed=7).batch(BATCH_SIZE, drop_remainder=True).prefetch(tf.data.experimental.AUTOTUNE)


class Model(tf.keras.Model):
    def __init__(self, vocab_size, embedding_dim, units):
        super(Model, self).__init__()
        self.units = units
        self.embedding = tf.keras.layers.Embedding(vocab_size, embedding_dim)
        self.gru = tf.keras.layers.GRU(
            self.units,
            return_sequences=True,
            return_state=True,
            recurrent_initializer="glorot_uniform",
        )
        self.fc = tf.keras.layers.Dense(vocab_size)

    def call(self, x, hidden):
        x = self.embedding(x)
        output, states = self.gru(x, initial_state=hidden)
        # output is (batch_size, max_length, hidden_size)
        x = self.fc(output)
        return x, states


model = Model(len(vocab), 16, 32)
optimizer = tf.keras.optimizers.Adam(0.005)


def loss_function(real, preds):
    return tf.reduce_mean(
        tf.keras.losses.sparse_categorical_crossentropy(real, preds, from_logits=True)
    )


@tf.function
def train_step(inp, hidden, target):
    with tf.GradientTape() as tape:
        predictions, hidden = model(inp, hidden)
        loss = loss_function(target, predictions)
    grads = tape.gradient(loss, model.trainable_variables)
    grads, _ = tf.clip_by_global_norm(grads, 5.0)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return hidden, loss


initial_hidden = tf.zeros((BATCH_SIZE, 32))
for epoch in range(EPOCHS):
    hidden = initial_hidden
    for batch, (inp, target) in enumerate(dataset):
        hidden, loss = train_step(inp, hidden, target)

        if batch % 4 == 0:
            template = "Epoch {} Batch {} Loss {:.4f}"
            print(template.format(epoch + 1, batch, loss))
    print("Epoch {} Loss {:.4f}".format(epoch + 1, loss))


def generate(start_string, count):
    ids = [char2idx[s] for s in start_string]
    input_eval = tf.expand_dims(ids, 0)
    text_generated = ""
    hidden = tf.zeros((1, 32))
    for _ in range(count):
        predictions, hidden = model(input_eval, hidden)
        # the likeliest of all characters
        predicted_id = tf.argmax(predictions[0, -1], axis=-1).numpy()
        input_eval = tf.expand_dims([predicted_id], 0)
        text_generated += idx2char[predicted_id]
    return start_string + text_generated


print(generate("the ", 30))
print("weights %.6f" % sum(float(np.abs(w).sum()) for w in model.get_weights()))
