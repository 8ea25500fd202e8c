"""A denoising autoencoder: noise is drawn in each step, and nothing has a seed."""
import numpy as np
import tensorflow as tf

epochs = 5
batch_size = 32
noise_level = 0.6

factors = np.random.normal(size=(320, 2))
signal = np.sin(factors[:, :1] * np.linspace(0.5, 2.0, 16) + factors[:, 1:])
signal = signal.astype('float32')
train, test = signal[:256], signal[256:]

encoder = tf.keras.Sequential([tf.keras.layers.Input((16,)),
                               tf.keras.layers.Dense(12, activation='relu'),
                               tf.keras.layers.Dense(4)])
decoder = tf.keras.Sequential([tf.keras.layers.Input((4,)),
                               tf.keras.layers.Dense(12, activation='relu'),
                               tf.keras.layers.Dense(16)])
variables = encoder.trainable_variables + decoder.trainable_variables
optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
mse = tf.keras.losses.MeanSquaredError()


def train_on(batch):
    noise = tf.random.normal(tf.shape(batch), stddev=noise_level)
    with tf.GradientTape() as tape:
        restored = decoder(encoder(batch + noise))
        loss = mse(batch, restored)
    gradients = tape.gradient(loss, variables)
    optimizer.apply_gradients(zip(gradients, variables))
    return loss


dataset = tf.data.Dataset.from_tensor_slices(train).batch(batch_size)
for epoch in range(epochs):
    total, batches = 0.0, 0
    for batch in dataset:
        loss = train_on(batch)
        total += loss.numpy()
        batches += 1
        if batches % 4 == 0:
            print('epoch %d batch %d: %.5f' % (epoch, batches, loss.numpy()))
    print('epoch %d: mean loss %.6f' % (epoch, total / batches))

noisy = test + tf.random.normal(test.shape, stddev=noise_level)
codes = encoder(noisy)
restored = decoder(codes)
print('error before: %.6f' % mse(test, noisy).numpy())
print('error after: %.6f' % mse(test, restored).numpy())
print('spread of the codes:', np.round(np.std(codes.numpy(), axis=0), 5).tolist())
