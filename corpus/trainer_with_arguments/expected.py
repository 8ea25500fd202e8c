"""A trainer class: arguments, metrics, a log, decay of the rate by hand."""

import argparse
import os
import tempfile

import numpy as np
import tensorflow as tf


def parse_args():
    parser = argparse.ArgumentParser(description="train a small residual network")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--weight-decay", type=float, default=1e-4)
    parser.add_argument("--log-every", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


class ConvBlock(tf.keras.layers.Layer):
    def __init__(self, filter_num, stride=1):
        super(ConvBlock, self).__init__()
        self.conv = tf.keras.layers.Conv2D(filter_num, (3, 3), strides=stride, padding="same")
        self.bn = tf.keras.layers.BatchNormalization()

    def call(self, inputs, training=None):
        x = self.conv(inputs)
        x = self.bn(x, training=training)
        return tf.nn.relu(x)


class ResNet(tf.keras.Model):
    """One residual block between two that halve the picture."""

    def __init__(self, num_classes):
        super(ResNet, self).__init__()
        self.stem = ConvBlock(4, stride=2)
        self.block1 = ConvBlock(4)
        self.block2 = ConvBlock(4)
        self.down = ConvBlock(8, stride=2)
        self.avgpool = tf.keras.layers.GlobalAveragePooling2D()
        self.fc = tf.keras.layers.Dense(num_classes)

    def call(self, inputs, training=None):
        x = self.stem(inputs, training=training)
        residual = x
        x = self.block1(x, training=training)
        x = self.block2(x, training=training)
        x = tf.keras.layers.add([residual, x])
        x = self.down(x, training=training)
        return self.fc(self.avgpool(x))


class Trainer:
    def __init__(self, args, model, log_dir):
        self.args = args
        self.weight_decay = args.weight_decay
        self.model = model
        self.optimizer = tf.keras.optimizers.SGD(args.lr, momentum=0.9)
        self.loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.train_loss = tf.keras.metrics.Mean(name="train_loss")
        self.train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="train_accuracy")
        self.test_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="test_accuracy")
        self.log = open(os.path.join(log_dir, "loss.csv"), "w")
        self.global_step = 0

    @tf.function
    def train_step(self, images, labels):
        with tf.GradientTape() as tape:
            predictions = self.model(images, training=True)
            loss = self.loss_object(labels, predictions)
            l2 = tf.add_n(
                [tf.nn.l2_loss(v) for v in self.model.trainable_variables if "bias" not in v.name]
            )
            total = loss + self.weight_decay * l2
        gradients = tape.gradient(total, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
        self.train_loss(loss)
        self.train_accuracy(labels, predictions)

    @tf.function
    def test_step(self, images, labels):
        predictions = self.model(images, training=False)
        self.test_accuracy(labels, predictions)

    def train(self, train_ds, test_ds):
        for epoch in range(self.args.epochs):
            self.train_loss.reset_state()
            self.train_accuracy.reset_state()
            self.test_accuracy.reset_state()
            for images, labels in train_ds:
                self.train_step(images, labels)
                self.global_step += 1
                if self.global_step % self.args.log_every == 0:
                    mean = float(self.train_loss.result())
                    self.log.write("{},{:.5f}\n".format(self.global_step, mean))
            for images, labels in test_ds:
                self.test_step(images, labels)
            print(
                "epoch {} loss {:.4f} train {:.4f} test {:.4f}".format(
                    epoch + 1,
                    float(self.train_loss.result()),
                    float(self.train_accuracy.result()),
                    float(self.test_accuracy.result()),
                )
            )
            # halve the rate
            self.optimizer.learning_rate.assign(self.args.lr * 0.5 ** (epoch + 1))


def make_blobs(count, seed):
    """Bright squares in one of four corners."""
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, 4, size=count)
    images = rng.normal(scale=0.3, size=(count, 10, 10, 1)).astype("float32")
    for image, label in zip(images, labels):
        row, column = 5 * (label // 2), 5 * (label % 2)
        image[row : row + 4, column : column + 4] += 1.0
    return images, labels.astype("int64")


def main():
    args = parse_args()
    tf.keras.utils.set_random_seed(args.seed)
    train_ds = tf.data.Dataset.from_tensor_slices(make_blobs(256, 1)).shuffle(256, seed=args.seed)
    train_ds = train_ds.batch(args.batch_size).prefetch(tf.data.experimental.AUTOTUNE)
    test_ds = tf.data.Dataset.from_tensor_slices(make_blobs(64, 2)).batch(args.batch_size).prefetch(tf.data.experimental.AUTOTUNE)
    model = ResNet(num_classes=4)
    trainer = Trainer(args, model, tempfile.mkdtemp())
    trainer.train(train_ds, test_ds)
    print("weights %.6f" % sum(float(np.abs(w).sum()) for w in model.get_weights()))


if __name__ == "__main__":
    main()
