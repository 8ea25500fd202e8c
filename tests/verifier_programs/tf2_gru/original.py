"""Predicts the next letter of a made-up text; the state goes from one window to the next."""

import numpy as np
import tensorflow as tf

SEQ_LENGTH = 12
BATCH_SIZE = 8
UNITS = 24
EPOCHS = 4

# A text of words, put together anew in every run
words = ['alpha ', 'beta ', 'gamma ', 'delta ', 'epsilon ', 'zeta ']
text = ''.join(np.random.choice(words, size=280))
vocabulary = sorted(set(text))
char2idx = {char: index for index, char in enumerate(vocabulary)}
encoded = np.array([char2idx[char] for char in text])
columns = 10 * SEQ_LENGTH + 1
rows = encoded[:BATCH_SIZE * columns].reshape(BATCH_SIZE, columns)
held_out = encoded[BATCH_SIZE * columns:][:200]


class CharModel(tf.keras.Model):
    def __init__(self, vocab_size):
        super().__init__()
        self.embedding = tf.keras.layers.Embedding(vocab_size, 8)
        self.gru = tf.keras.layers.GRU(UNITS, return_sequences=True, return_state=True)
        self.dense = tf.keras.layers.Dense(vocab_size)

    def call(self, inputs, state):
        output, state = self.gru(self.embedding(inputs), initial_state=state)
        return self.dense(output), state


model = CharModel(len(vocabulary))
model(tf.constant(rows[:, :SEQ_LENGTH]), tf.zeros([BATCH_SIZE, UNITS]))
optimizer = tf.keras.optimizers.RMSprop(learning_rate=0.01, rho=0.9, epsilon=1e-7)


def compute_loss(labels, logits):
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


for epoch in range(EPOCHS):
    state = tf.zeros([BATCH_SIZE, UNITS])
    total_loss = 0.0
    for start in range(0, columns - 1, SEQ_LENGTH):
        inputs = tf.constant(rows[:, start:start + SEQ_LENGTH])
        labels = tf.constant(rows[:, start + 1:start + SEQ_LENGTH + 1])
        with tf.GradientTape() as tape:
            logits, state = model(inputs, state)
            loss = compute_loss(labels, logits)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        total_loss += float(loss)
        if start % (4 * SEQ_LENGTH) == 0:
            print('Epoch {} Column {} Loss {:.4f}'.format(epoch + 1, start, float(loss)))
    print('Epoch {} Loss {:.5f}'.format(epoch + 1, total_loss / 10))

logits, _ = model(tf.constant(held_out[None, :-1]), tf.zeros([1, UNITS]))
held_out_loss = compute_loss(tf.constant(held_out[None, 1:]), logits)
print('Bits per letter on other text:', float(held_out_loss) / np.log(2.0))

# What the model would write
letter = tf.constant([[char2idx['a']]])
state = tf.zeros([1, UNITS])
written = 'a'
for _ in range(20):
    logits, state = model(letter, state)
    letter = tf.argmax(logits[:, -1], axis=-1)[:, None]
    written += vocabulary[int(letter[0, 0])]
print(written)
