"""WGAN with gradient penalty on points of a ring, the critic trained several times per step."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

LATENT = 4
BATCH = 32
CRITIC_STEPS = 3
GP_WEIGHT = 10.0
STEPS = 40


def ring(count, rng):
    angle = rng.uniform(0, 2 * np.pi, size=(count, 1))
    radius = 1.0 + 0.05 * rng.normal(size=(count, 1))
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)], axis=1).astype(
        np.float32
    )


def get_generator():
    noise = keras.layers.Input(shape=(LATENT,))
    x = keras.layers.Dense(32, use_bias=False)(noise)
    x = keras.layers.LayerNormalization()(x)
    x = keras.layers.LeakyReLU()(x)
    x = keras.layers.Dense(32, activation="relu")(x)
    return keras.Model(noise, keras.layers.Dense(2)(x), name="generator")


def get_critic():
    points = keras.layers.Input(shape=(2,))
    x = keras.layers.Dense(32)(points)
    x = keras.layers.LeakyReLU()(x)
    x = keras.layers.Dense(32)(x)
    x = keras.layers.LeakyReLU()(x)
    return keras.Model(points, keras.layers.Dense(1)(x), name="critic")


class WGAN:
    def __init__(self, critic, generator, latent_dim, critic_extra_steps=3, gp_weight=10.0):
        self.critic = critic
        self.generator = generator
        self.latent_dim = latent_dim
        self.c_steps = critic_extra_steps
        self.gp_weight = gp_weight
        self.stream = tf.random.Generator.from_seed(17)
        self.c_optimizer = keras.optimizers.Adam(2e-4, beta_1=0.5, beta_2=0.9)
        self.g_optimizer = keras.optimizers.Adam(2e-4, beta_1=0.5, beta_2=0.9)

    def gradient_penalty(self, batch_size, real, fake):
        alpha = self.stream.uniform([batch_size, 1], 0.0, 1.0)
        interpolated = real + alpha * (fake - real)

        with tf.GradientTape() as gp_tape:
            gp_tape.watch(interpolated)
            pred = self.critic(interpolated, training=True)

        grads = gp_tape.gradient(pred, [interpolated])[0]
        norm = tf.sqrt(tf.reduce_sum(tf.square(grads), axis=[1]))
        return tf.reduce_mean((norm - 1.0) ** 2)

    def train_critic(self, real):
        noise = self.stream.normal([BATCH, self.latent_dim])
        with tf.GradientTape() as tape:
            fake = self.generator(noise, training=True)
            fake_logits = self.critic(fake, training=True)
            real_logits = self.critic(real, training=True)
            c_cost = tf.reduce_mean(fake_logits) - tf.reduce_mean(real_logits)
            gp = self.gradient_penalty(BATCH, real, fake)
            c_loss = c_cost + gp * self.gp_weight
        c_gradient = tape.gradient(c_loss, self.critic.trainable_variables)
        self.c_optimizer.apply_gradients(zip(c_gradient, self.critic.trainable_variables))
        return c_loss

    def train_generator(self):
        noise = self.stream.normal([BATCH, self.latent_dim])
        with tf.GradientTape() as tape:
            fake = self.generator(noise, training=True)
            g_loss = -tf.reduce_mean(self.critic(fake, training=True))
        gen_gradient = tape.gradient(g_loss, self.generator.trainable_variables)
        self.g_optimizer.apply_gradients(zip(gen_gradient, self.generator.trainable_variables))
        return g_loss

    def fit(self, data, steps):
        batches = iter(data)
        for step in range(steps):
            for _ in range(self.c_steps):
                c_loss = self.train_critic(next(batches))
            g_loss = self.train_generator()
            if step % 10 == 0:
                tf.print("step", step, "critic", c_loss, "generator", g_loss)


keras.utils.set_random_seed(5)
points = ring(512, np.random.RandomState(5))
dataset = tf.data.Dataset.from_tensor_slices(points).repeat().shuffle(512, seed=3).batch(BATCH)
dataset = dataset.prefetch(tf.data.experimental.AUTOTUNE)

wgan = WGAN(get_critic(), get_generator(), LATENT, CRITIC_STEPS, GP_WEIGHT)
wgan.fit(dataset, STEPS)

weights = np.concatenate(
    [w.ravel() for w in wgan.generator.get_weights() + wgan.critic.get_weights()]
)
print("weights %.6f" % np.abs(weights).sum())
