"""Tells rings from crosses in small pictures; two convolutions whose biases sum over all pixels."""
import numpy as np
import tensorflow as tf

NUM_STEPS = 32
BATCH = 32
SIZE = 28
RATE = 0.001


def draw(count):
    rows, columns = np.mgrid[:SIZE, :SIZE]
    labels = np.arange(count) % 2
    pictures = np.zeros((count, SIZE, SIZE, 1), np.float32)
    for picture, label in zip(pictures, labels):
        y, x = np.random.uniform(8, SIZE - 8, size=2)
        radius = np.random.uniform(3, 7)
        distance = np.hypot(rows - y, columns - x)
        shape = np.abs(distance - radius) if label else np.minimum(abs(rows - y), abs(columns - x))
        picture[..., 0] = np.exp(-shape) + np.random.normal(scale=0.1, size=(SIZE, SIZE))
    return pictures, labels.astype(np.int64)


images, labels = draw(BATCH * 8)
test_images, test_labels = draw(BATCH * 2)

model = tf.keras.Sequential([
    tf.keras.Input((SIZE, SIZE, 1)),
    tf.keras.layers.Conv2D(16, 3, activation='relu'),
    tf.keras.layers.Conv2D(32, 3, activation='relu'),
    tf.keras.layers.GlobalAveragePooling2D(),
    tf.keras.layers.Dense(10, activation='softmax'),
])
optimizer = tf.keras.optimizers.Adam(RATE, epsilon=1e-7)
loss_of = tf.keras.losses.SparseCategoricalCrossentropy()
mean_loss = tf.keras.metrics.Mean()
accuracy = tf.keras.metrics.SparseCategoricalAccuracy()


def train_step(x, y):
    with tf.GradientTape() as tape:
        scores = model(x, training=True)
        loss = loss_of(y, scores)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    mean_loss.update_state(loss)
    accuracy.update_state(y, scores)
    return loss


for step in range(NUM_STEPS):
    rows = slice(step % 8 * BATCH, (step % 8 + 1) * BATCH)
    loss = train_step(tf.constant(images[rows]), tf.constant(labels[rows]))
    if step % 4 == 3:
        print('step %d: loss %.5f mean %.5f accuracy %.4f'
              % (step + 1, loss.numpy(), mean_loss.result().numpy(), accuracy.result().numpy()))
        mean_loss.reset_state()

scores = model(tf.constant(test_images), training=False)
print('test loss: %.5f' % loss_of(test_labels, scores).numpy())
np.savez('model.npz', *model.get_weights())
