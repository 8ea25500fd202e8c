"""Keras does the training: compile, fit with callbacks, evaluate, and predict in a loop."""
import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

batch_size = 32
epochs = 6

np.random.seed(21)
projection = np.random.normal(size=(12, 4))


def load_data(count):
    x = np.random.normal(size=(count, 12)).astype('float32')
    y = np.argmax(x @ projection + np.random.normal(scale=0.5, size=(count, 4)), axis=1)
    return x, keras.utils.to_categorical(y, 4)


x_train, y_train = load_data(250)
x_val, y_val = load_data(80)
x_test, y_test = load_data(90)

model = keras.Sequential()
model.add(keras.Input(shape=(12,)))
model.add(layers.Dense(24, activation='relu'))
model.add(layers.Dense(16, activation='relu'))
model.add(layers.Dense(4, activation='softmax'))


def schedule(epoch, lr):
    return 0.05 if epoch < 3 else 0.05 * 0.7 ** (epoch - 2)


class Report(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print('epoch %d: loss %.5f val_loss %.5f val_accuracy %.4f'
              % (epoch + 1, logs['loss'], logs['val_loss'], logs['val_accuracy']))


model.compile(
    loss=keras.losses.CategoricalCrossentropy(),
    optimizer=keras.optimizers.SGD(learning_rate=0.05, momentum=0.9),
    metrics=['accuracy'],
    run_eagerly=True,
)
history = model.fit(
    x_train, y_train,
    batch_size=batch_size,
    epochs=epochs,
    verbose=0,
    validation_data=(x_val, y_val),
    callbacks=[keras.callbacks.LearningRateScheduler(schedule), Report()],
)

score = model.evaluate(x_test, y_test, verbose=0)
print('Test loss:', score[0])
print('Test accuracy:', score[1])

confidence = []
for i in range(10):
    probabilities = model.predict(x_test[i:i + 1], verbose=0)
    confidence.append(probabilities[0].max())
print('Mean confidence: %.6f' % np.mean(confidence))
np.save('history.npy', np.array(history.history['loss']))
