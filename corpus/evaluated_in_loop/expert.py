"""A network of two parts sorts patterns; how many it gets right is counted batch by batch."""

import numpy as np
import tensorflow as tf

EPOCHS = 3

tf.keras.utils.set_random_seed(5)
rng = np.random.RandomState(5)


def make_patterns(count):
    """Stripes of four directions with noise on them, in squares of eight by eight."""
    labels = rng.randint(0, 4, size=count)
    rows, columns = np.mgrid[0:8, 0:8]
    phases = np.stack([rows, columns, rows + columns, rows - columns])[labels]
    shift = rng.uniform(0, 2 * np.pi, size=[count, 1, 1])
    patterns = np.sin(phases * np.pi / 2 + shift) + rng.normal(scale=0.8, size=[count, 8, 8])
    return patterns.astype(np.float32), labels.astype(np.int32)


train_x, train_y = make_patterns(512)
test_x, test_y = make_patterns(1600)
train_db = tf.data.Dataset.from_tensor_slices((train_x, train_y)).shuffle(512, seed=5)
train_db = train_db.batch(64).prefetch(1)
test_db = tf.data.Dataset.from_tensor_slices((test_x, test_y)).batch(40).prefetch(1)

conv_net = tf.keras.Sequential([
    tf.keras.layers.Input([8, 8, 1]),
    tf.keras.layers.Conv2D(6, 3, activation="relu"),
    tf.keras.layers.Conv2D(8, 3, activation="relu"),
    tf.keras.layers.GlobalMaxPooling2D(),
])
fc_net = tf.keras.Sequential([
    tf.keras.layers.Input([8]),
    tf.keras.layers.Dense(16, activation="relu"),
    tf.keras.layers.Dense(4),
])
variables = conv_net.trainable_variables + fc_net.trainable_variables
optimizer = tf.keras.optimizers.Adam(0.01)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        logits = fc_net(conv_net(tf.reshape(x, [-1, 8, 8, 1])))
        loss = tf.reduce_mean(
            tf.keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True)
        )
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


@tf.function
def count_right(x, y):
    prob = tf.nn.softmax(fc_net(conv_net(tf.reshape(x, [-1, 8, 8, 1]))))
    pred = tf.argmax(prob, axis=1, output_type=tf.int32)
    return tf.math.count_nonzero(tf.equal(pred, y))


for epoch in range(EPOCHS):
    for x, y in train_db:
        loss = train_step(x, y)

    total_num = 0
    total_correct = 0
    for x, y in test_db:
        total_correct += int(count_right(x, y))
        total_num += x.shape[0]
    print(epoch, float(loss), total_correct / total_num)
