"""A variational autoencoder: the model is a subclass with encode, reparameterize and decode."""

import numpy as np
import tensorflow as tf

EPOCHS = 4
BATCH = 32
LATENT = 2
SIZE = 8


class CVAE(tf.keras.Model):
    """Encoder to mean and log variance, decoder to logits."""

    def __init__(self, latent_dim, generator):
        super(CVAE, self).__init__()
        self.latent_dim = latent_dim
        self.stream = generator
        self.encoder = tf.keras.Sequential(
            [
                tf.keras.layers.InputLayer((SIZE, SIZE, 1)),
                tf.keras.layers.Conv2D(8, 3, strides=(2, 2), activation="relu"),
                tf.keras.layers.Flatten(),
                tf.keras.layers.Dense(latent_dim + latent_dim),
            ]
        )
        self.decoder = tf.keras.Sequential(
            [
                tf.keras.layers.InputLayer((latent_dim,)),
                tf.keras.layers.Dense(4 * 4 * 8, activation=tf.nn.relu),
                tf.keras.layers.Reshape((4, 4, 8)),
                tf.keras.layers.Conv2DTranspose(8, 3, strides=2, padding="same", activation="relu"),
                tf.keras.layers.Conv2DTranspose(1, 3, strides=1, padding="same"),
            ]
        )

    def sample(self, eps):
        return self.decode(eps, apply_sigmoid=True)

    def encode(self, x):
        mean, logvar = tf.split(self.encoder(x), num_or_size_splits=2, axis=1)
        return mean, logvar

    def reparameterize(self, mean, logvar):
        eps = self.stream.normal(shape=tf.shape(mean))
        return eps * tf.exp(logvar * 0.5) + mean

    def decode(self, z, apply_sigmoid=False):
        logits = self.decoder(z)
        if apply_sigmoid:
            probs = tf.sigmoid(logits)
            return probs
        return logits


def log_normal_pdf(sample, mean, logvar, raxis=1):
    log2pi = tf.math.log(2.0 * np.pi)
    return tf.reduce_sum(
        -0.5 * ((sample - mean) ** 2.0 * tf.exp(-logvar) + logvar + log2pi), axis=raxis
    )


def compute_loss(model, x):
    mean, logvar = model.encode(x)
    z = model.reparameterize(mean, logvar)
    x_logit = model.decode(z)
    cross_ent = tf.nn.sigmoid_cross_entropy_with_logits(logits=x_logit, labels=x)
    logpx_z = -tf.reduce_sum(cross_ent, axis=[1, 2, 3])
    logpz = log_normal_pdf(z, 0.0, 0.0)
    logqz_x = log_normal_pdf(z, mean, logvar)
    return -tf.reduce_mean(logpx_z + logpz - logqz_x)


@tf.function
def compiled_step(model, x):
    with tf.GradientTape() as tape:
        loss = compute_loss(model, x)
    gradients = tape.gradient(loss, model.trainable_variables)
    return loss, gradients


@tf.function
def compiled_update(optimizer, gradients, model):
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))


def train_step(model, x, optimizer):
    """Executes one training step and returns the loss."""
    loss, gradients = compiled_step(model, x)
    compiled_update(optimizer, gradients, model)
    return loss


def make_bars(count, rng):
    images = np.zeros((count, SIZE, SIZE, 1), np.float32)
    for image in images:
        if rng.rand() < 0.5:
            image[rng.randint(SIZE)] = 1.0
        else:
            image[:, rng.randint(SIZE)] = 1.0
    return images


tf.keras.utils.set_random_seed(1)
rng = np.random.RandomState(1)
train_images = make_bars(256, rng)
test_images = make_bars(64, rng)
train_dataset = tf.data.Dataset.from_tensor_slices(train_images).shuffle(256, seed=2)
train_dataset = train_dataset.batch(BATCH).prefetch(2)
test_dataset = tf.data.Dataset.from_tensor_slices(test_images).batch(BATCH).prefetch(2)

optimizer = tf.keras.optimizers.Adam(1e-3)
model = CVAE(LATENT, tf.random.Generator.from_seed(9))


@tf.function
def forward_step(test_x):
    return compute_loss(model, test_x)


for epoch in range(1, EPOCHS + 1):
    for train_x in train_dataset:
        train_step(model, train_x, optimizer)

    loss = tf.keras.metrics.Mean()
    for test_x in test_dataset:
        loss(forward_step(test_x))
    elbo = -loss.result()
    print("Epoch: {}, Test set ELBO: {:.4f}".format(epoch, float(elbo)))

picture = model.sample(tf.zeros((1, LATENT)))
print("brightness %.5f" % float(tf.reduce_mean(picture)))
weights = np.concatenate([w.ravel() for w in model.get_weights()])
print("weights %.6f" % np.abs(weights).sum())
