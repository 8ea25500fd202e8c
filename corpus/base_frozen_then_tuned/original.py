"""Transfer learning: a frozen base with a new head, then fine-tuning of its last layers."""

import os
import tempfile

import numpy as np
import tensorflow as tf

IMG_SIZE = 16
BATCH_SIZE = 16
CLASSES = 3
AUTOTUNE = tf.data.experimental.AUTOTUNE


def write_images(folder, count, seed):
    """One PNG per picture; the class is the direction of its stripes."""
    rng = np.random.RandomState(seed)
    rows, columns = np.mgrid[0:24, 0:24]
    paths, labels = [], []
    for number in range(count):
        label = number % CLASSES
        wave = (rows, columns, rows + columns)[label]
        picture = 127 + 90 * np.sin(wave * 0.9 + rng.uniform(0, 6)) + rng.normal(size=(24, 24)) * 20
        picture = np.clip(picture, 0, 255).astype(np.uint8)
        path = os.path.join(folder, "%04d.png" % number)
        tf.io.write_file(path, tf.io.encode_png(np.repeat(picture[..., None], 3, axis=-1)))
        paths.append(path)
        labels.append(label)
    return paths, labels


def preprocess_image(image):
    image = tf.image.decode_png(image, channels=3)
    image = tf.image.resize(image, [IMG_SIZE, IMG_SIZE])
    image /= 255.0  # normalize to [0,1] range
    return image


def load_and_preprocess_from_path_label(path, label):
    image = tf.io.read_file(path)
    return preprocess_image(image), label


def build_base():
    """Stands for the network with weights from elsewhere."""
    inputs = tf.keras.Input((IMG_SIZE, IMG_SIZE, 3))
    x = tf.keras.layers.Conv2D(8, 3, strides=2, padding="same", name="conv1")(inputs)
    x = tf.keras.layers.BatchNormalization(name="bn1")(x)
    x = tf.keras.layers.ReLU()(x)
    x = tf.keras.layers.Conv2D(16, 3, strides=2, padding="same", name="conv2")(x)
    x = tf.keras.layers.BatchNormalization(name="bn2")(x)
    x = tf.keras.layers.ReLU()(x)
    return tf.keras.Model(inputs, x, name="base")


tf.keras.utils.set_random_seed(21)
folder = tempfile.mkdtemp()
all_image_paths, all_image_labels = write_images(folder, 96, seed=21)

ds = tf.data.Dataset.from_tensor_slices((all_image_paths, all_image_labels))
image_label_ds = ds.map(load_and_preprocess_from_path_label, num_parallel_calls=AUTOTUNE)
train_ds = image_label_ds.batch(BATCH_SIZE).prefetch(buffer_size=AUTOTUNE)

base_model = build_base()
base_model.trainable = False
model = tf.keras.Sequential(
    [
        tf.keras.Input((IMG_SIZE, IMG_SIZE, 3)),
        base_model,
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(CLASSES),
    ]
)
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
train_acc_metric = tf.keras.metrics.SparseCategoricalAccuracy()


def run_epochs(optimizer, epochs, name):
    for epoch in range(epochs):
        for step, (x_batch_train, y_batch_train) in enumerate(train_ds):
            with tf.GradientTape() as tape:
                # base_model is called in inference mode as long as it is frozen
                logits = model(x_batch_train, training=True)
                loss_value = loss_fn(y_batch_train, logits)
            grads = tape.gradient(loss_value, model.trainable_weights)
            optimizer.apply_gradients(zip(grads, model.trainable_weights))
            train_acc_metric.update_state(y_batch_train, logits)
            if step % 3 == 0:
                print("%s %d step %d loss %.5f" % (name, epoch, step, float(loss_value)))
        train_acc = train_acc_metric.result()
        print("Training acc over epoch: %.4f" % (float(train_acc),))
        train_acc_metric.reset_state()


run_epochs(tf.keras.optimizers.Adam(0.01), 3, "head")

# Fine-tuning: the last convolution learns, too
base_model.trainable = True
for layer in base_model.layers:
    if layer.name != "conv2":
        layer.trainable = False
print("trainable:", len(model.trainable_weights))
run_epochs(tf.keras.optimizers.Adam(1e-4), 2, "fine")

print("weights %.6f" % sum(float(np.abs(w).sum()) for w in model.get_weights()))
