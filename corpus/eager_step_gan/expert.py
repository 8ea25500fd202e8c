"""A small GAN: a step for each network, noise from a generator whose state is a variable."""

import numpy as np
import tensorflow as tf

EPOCHS = 3
BATCH = 32
NOISE = 8

tf.keras.utils.set_random_seed(3)
rng = np.random.RandomState(3)
samples = (rng.normal(size=(512, 10)) * 0.5 + 1.0).astype(np.float32)
real_data = tf.data.Dataset.from_tensor_slices(samples).batch(BATCH, drop_remainder=True)
real_data = real_data.cache().prefetch(tf.data.AUTOTUNE)
stream = tf.random.Generator.from_seed(3)


def build_generator():
    model = tf.keras.Sequential()
    model.add(tf.keras.layers.Dense(24, input_shape=(NOISE,)))
    model.add(tf.keras.layers.LeakyReLU())
    model.add(tf.keras.layers.Dense(10))
    return model


def build_critic():
    inputs = tf.keras.Input((10,))
    hidden = tf.keras.layers.Dense(24)(inputs)
    hidden = tf.keras.layers.LeakyReLU()(hidden)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(1)(hidden))


generator = build_generator()
critic = build_critic()
generator_optimizer = tf.keras.optimizers.Adam(1e-3, beta_1=0.5)
critic_optimizer = tf.keras.optimizers.Adam(1e-3, beta_1=0.5)
cross_entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)


def critic_loss(real, fake):
    return cross_entropy(tf.ones_like(real), real) + cross_entropy(tf.zeros_like(fake), fake)


def critic_step(real):
    noise = stream.normal([BATCH, NOISE])
    with tf.GradientTape() as tape:
        loss = critic_loss(critic(real), critic(generator(noise)))
    gradients = tape.gradient(loss, critic.trainable_variables)
    critic_optimizer.apply_gradients(zip(gradients, critic.trainable_variables))
    return loss


def generator_step():
    noise = stream.normal([BATCH, NOISE])
    with tf.GradientTape() as tape:
        judged = critic(generator(noise))
        loss = cross_entropy(tf.ones_like(judged), judged)
    gradients = tape.gradient(loss, generator.trainable_variables)
    generator_optimizer.apply_gradients(zip(gradients, generator.trainable_variables))
    return loss


# One call for both updates.
@tf.function
def train_step(real):
    return critic_step(real), generator_step()


for epoch in range(EPOCHS):
    for real in real_data:
        c_loss, g_loss = train_step(real)
    print(epoch, float(c_loss), float(g_loss))

weights = np.concatenate([v.numpy().ravel() for v in generator.variables + critic.variables])
print(float(np.linalg.norm(weights)))
