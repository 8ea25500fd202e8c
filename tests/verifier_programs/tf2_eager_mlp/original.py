"""A small classifier on spirals, trained eagerly with the tape written into the loop."""
import numpy as np
import tensorflow as tf
from tensorflow import keras

BATCH_SIZE = 40
EPOCHS = 4
LEARNING_RATE = 0.2

np.random.seed(0)


def spirals(count):
    labels = np.random.randint(0, 3, count)
    radius = np.random.uniform(0.1, 1.0, count)
    angle = 4.0 * radius + labels * 2.0 * np.pi / 3.0 + np.random.normal(0, 0.15, count)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return points.astype('float32'), labels.astype('int32')


x_train, y_train = spirals(470)
x_test, y_test = spirals(200)

model = keras.Sequential([
    keras.Input(shape=(2,)),
    keras.layers.Dense(32, activation='relu'),
    keras.layers.Dense(32, activation='tanh'),
    keras.layers.Dense(3),
])
loss_object = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.SGD(learning_rate=LEARNING_RATE)

losses = []
step = 0
for epoch in range(EPOCHS):
    order = np.random.permutation(len(x_train))
    for start in range(0, len(x_train), BATCH_SIZE):
        chosen = order[start:start + BATCH_SIZE]
        x = tf.constant(x_train[chosen])
        y = tf.constant(y_train[chosen])

        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            loss = loss_object(y, logits)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))

        losses.append(loss.numpy())
        step += 1
        if step % 10 == 0:
            hits = np.mean(np.argmax(logits.numpy(), axis=1) == y_train[chosen])
            print('step {:3d}  loss {:.5f}  batch accuracy {:.3f}'.format(step, losses[-1], hits))
    print('epoch', epoch + 1, 'mean loss', np.mean(losses[-12:]))

test_logits = model(x_test, training=False)
print('test loss', float(loss_object(y_test, test_logits)))
print('test accuracy', np.mean(np.argmax(test_logits.numpy(), axis=1) == y_test))
np.save('losses.npy', np.array(losses))
