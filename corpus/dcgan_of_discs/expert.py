"""DCGAN on small pictures of discs: noise drawn in numpy, one function for both updates."""

import os
import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

BUFFER_SIZE = 192
BATCH_SIZE = 16
EPOCHS = 2
NOISE_DIM = 16
SIDE = 12


def make_discs(count, seed=0):
    """Grey discs of several sizes, between -1 and 1."""
    rng = np.random.RandomState(seed)
    rows, columns = np.mgrid[0:SIDE, 0:SIDE]
    images = []
    for _ in range(count):
        row, column = rng.uniform(4, SIDE - 4, size=2)
        radius = rng.uniform(2, 4)
        inside = (rows - row) ** 2 + (columns - column) ** 2 < radius**2
        images.append(inside.astype("float32"))
    images = np.stack(images)[..., np.newaxis]
    return (images - 0.5) / 0.5


def make_generator_model():
    model = tf.keras.Sequential()
    model.add(layers.Dense(3 * 3 * 16, use_bias=False, input_shape=(NOISE_DIM,)))
    model.add(layers.BatchNormalization())
    model.add(layers.LeakyReLU())

    model.add(layers.Reshape((3, 3, 16)))
    model.add(layers.Conv2DTranspose(8, (5, 5), strides=(2, 2), padding="same", use_bias=False))
    model.add(layers.BatchNormalization())
    model.add(layers.LeakyReLU())

    model.add(layers.Conv2DTranspose(1, (5, 5), strides=(2, 2), padding="same", activation="tanh"))
    assert model.output_shape == (None, SIDE, SIDE, 1)
    return model


def make_discriminator_model():
    model = tf.keras.Sequential()
    model.add(layers.Conv2D(8, (5, 5), strides=(2, 2), padding="same", input_shape=[SIDE, SIDE, 1]))
    model.add(layers.LeakyReLU())
    model.add(layers.Conv2D(16, (5, 5), strides=(2, 2), padding="same"))
    model.add(layers.LeakyReLU())
    model.add(layers.Flatten())
    model.add(layers.Dense(1))
    return model


np.random.seed(42)
tf.random.set_seed(42)

train_images = make_discs(BUFFER_SIZE)
train_dataset = (
    tf.data.Dataset.from_tensor_slices(train_images)
    .shuffle(BUFFER_SIZE, seed=1)
    .batch(BATCH_SIZE)
    .prefetch(tf.data.AUTOTUNE)
)

generator = make_generator_model()
discriminator = make_discriminator_model()

cross_entropy = tf.keras.losses.BinaryCrossentropy(from_logits=True)
generator_optimizer = tf.keras.optimizers.Adam(1e-4)
discriminator_optimizer = tf.keras.optimizers.Adam(1e-4)


def discriminator_loss(real_output, fake_output):
    real_loss = cross_entropy(tf.ones_like(real_output), real_output)
    fake_loss = cross_entropy(tf.zeros_like(fake_output), fake_output)
    total_loss = real_loss + fake_loss
    return total_loss


def generator_loss(fake_output):
    return cross_entropy(tf.ones_like(fake_output), fake_output)


@tf.function(
    input_signature=[
        tf.TensorSpec((BATCH_SIZE, NOISE_DIM), tf.float32),
        tf.TensorSpec((BATCH_SIZE, SIDE, SIDE, 1), tf.float32),
    ]
)
def train_step(noise, images):
    with tf.GradientTape() as gen_tape, tf.GradientTape() as disc_tape:
        generated_images = generator(noise, training=True)

        real_output = discriminator(images, training=True)
        fake_output = discriminator(generated_images, training=True)

        gen_loss = generator_loss(fake_output)
        disc_loss = discriminator_loss(real_output, fake_output)

    gradients_of_generator = gen_tape.gradient(gen_loss, generator.trainable_variables)
    gradients_of_discriminator = disc_tape.gradient(disc_loss, discriminator.trainable_variables)

    generator_optimizer.apply_gradients(zip(gradients_of_generator, generator.trainable_variables))
    discriminator_optimizer.apply_gradients(
        zip(gradients_of_discriminator, discriminator.trainable_variables)
    )
    return gen_loss, disc_loss


def summarize_images(model, epoch, test_input):
    # training is False, so that the layers run in inference mode (batchnorm)
    predictions = model(test_input, training=False)
    bright = tf.reduce_mean(predictions * 0.5 + 0.5)
    print("  brightness after epoch {}: {:.4f}".format(epoch, float(bright)))


def train(dataset, epochs):
    seed = np.random.normal(size=(8, NOISE_DIM)).astype("float32")
    for epoch in range(epochs):
        start = time.time()
        gen_losses, disc_losses = [], []
        for image_batch in dataset:
            noise = np.random.normal(size=(BATCH_SIZE, NOISE_DIM)).astype("float32")
            gen_loss, disc_loss = train_step(noise, image_batch)
            gen_losses.append(gen_loss)
            disc_losses.append(disc_loss)
        summarize_images(generator, epoch + 1, seed)
        print("epoch %d: G %.5f D %.5f" % (epoch + 1, np.mean(gen_losses), np.mean(disc_losses)))
        assert time.time() - start < 600


train(train_dataset, EPOCHS)
weights = np.concatenate([w.ravel() for w in generator.get_weights() + discriminator.get_weights()])
print("weights %.6f" % np.abs(weights).sum())
