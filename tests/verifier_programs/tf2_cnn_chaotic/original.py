"""A convolutional network with batch normalisation whose learning rate is rather too high."""

import numpy as np
import tensorflow as tf

batch_size = 32
image_size = 12
num_steps = 48

rng = np.random.RandomState(1)


def make_images(count):
    labels = rng.randint(0, 4, count)
    images = rng.normal(0.0, 0.7, (count, image_size, image_size, 1))
    for image, label in zip(images, labels):
        row, column = rng.randint(0, image_size // 2, 2)
        row += image_size // 2 * (label // 2)
        column += image_size // 2 * (label % 2)
        image[max(row - 1, 0):row + 2, max(column - 1, 0):column + 2] += 1.0
    return images.astype(np.float32), labels


train_images, train_labels = make_images(256)
test_images, test_labels = make_images(100)

model = tf.keras.Sequential([
    tf.keras.layers.Input((image_size, image_size, 1)),
    tf.keras.layers.Conv2D(8, 3, padding='same', use_bias=False),
    tf.keras.layers.BatchNormalization(momentum=0.9, epsilon=1e-3),
    tf.keras.layers.Activation('elu'),
    tf.keras.layers.MaxPooling2D(),
    tf.keras.layers.Conv2D(12, 3, padding='same', use_bias=False),
    tf.keras.layers.BatchNormalization(momentum=0.9, epsilon=1e-3),
    tf.keras.layers.Activation('elu'),
    tf.keras.layers.MaxPooling2D(),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(4),
])
optimizer = tf.keras.optimizers.SGD(0.7)
cross_entropy = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
accuracy = tf.keras.metrics.SparseCategoricalAccuracy()


def train_step(images, labels):
    with tf.GradientTape() as tape:
        predictions = model(images, training=True)
        loss = cross_entropy(labels, predictions)
    grads = tape.gradient(loss, model.trainable_weights)
    optimizer.apply_gradients(zip(grads, model.trainable_weights))
    accuracy.update_state(labels, predictions)
    return loss


def test_step(images):
    return model(images, training=False)


dataset = tf.data.Dataset.from_tensor_slices((train_images, train_labels))
dataset = dataset.shuffle(256, seed=4).repeat().batch(batch_size).take(num_steps)

for step, (images, labels) in enumerate(dataset):
    loss = train_step(images, labels)
    if step % 8 == 7:
        print('Step %d Loss: %.6f Accuracy: %.4f' % (step + 1, loss, accuracy.result()))
        accuracy.reset_state()

correct, total, test_loss = 0, 0, 0.0
for i in range(0, len(test_images), 25):
    predictions = test_step(test_images[i:i + 25])
    test_loss += cross_entropy(test_labels[i:i + 25], predictions).numpy() * 25
    correct += np.sum(np.argmax(predictions, axis=-1) == test_labels[i:i + 25])
    total += 25
print('Test loss: %.6f, %d of %d' % (test_loss / total, correct, total))
