"""A compiled step that gets its model and its optimizer as arguments: nothing is left to do."""

import numpy as np
import tensorflow as tf

EPOCHS = 3

tf.keras.utils.set_random_seed(17)
rng = np.random.RandomState(17)
readings = rng.normal(size=(96, 10)).astype(np.float32)
kinds = (readings[:, 0] > 0).astype(np.int64)
data = tf.data.Dataset.from_tensor_slices((readings, kinds)).batch(32)
data = data.prefetch(tf.data.AUTOTUNE)

classifier = tf.keras.Sequential([tf.keras.Input((10,)), tf.keras.layers.Dense(2)])
descent = tf.keras.optimizers.SGD(0.1)


@tf.function
def learn(x, kind, net, rule):
    with tf.GradientTape() as tape:
        errors = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=kind, logits=net(x))
        error = tf.reduce_mean(errors)
    slopes = tape.gradient(error, net.trainable_weights)
    rule.apply_gradients(zip(slopes, net.trainable_weights))
    return error


for epoch in range(EPOCHS):
    for x, kind in data:
        error = learn(x, kind, classifier, descent)
    print(epoch, round(float(error), 5))

weights = np.concatenate([v.numpy().ravel() for v in classifier.variables])
print(float(np.linalg.norm(weights)))
