"""Pictures of stripes, told apart by a network that Keras trains with Adam."""
import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

batch_size = 32
epochs = 5

np.random.seed(17)


def stripes(count):
    kinds = np.random.randint(0, 3, count)
    across, down = np.meshgrid(np.arange(12), np.arange(12))
    waves = np.stack([across, down, across + down])[kinds]
    shifts = np.random.uniform(0, 6, (count, 1, 1))
    noise = np.random.normal(scale=0.7, size=(count, 12, 12))
    return (np.sin(waves + shifts) + noise).astype('float32'), kinds


x_train, y_train = stripes(256)
x_test, y_test = stripes(96)

model = keras.Sequential([
    keras.Input(shape=(12, 12)),
    layers.Flatten(),
    layers.Dense(64, activation='relu'),
    layers.Dense(32, activation='relu'),
    layers.Dense(3, activation='softmax', dtype='float32'),
])
model.compile(
    optimizer=keras.optimizers.Adam(learning_rate=0.003),
    loss='sparse_categorical_crossentropy',
    metrics=['accuracy'],
)
history = model.fit(x_train, y_train, batch_size=batch_size, epochs=epochs, verbose=0)
print('losses', history.history['loss'])

loss, accuracy = model.evaluate(x_test, y_test, verbose=0)
print('test', loss, accuracy)
print('probabilities', model.predict(x_test[:4], verbose=0).tolist())
