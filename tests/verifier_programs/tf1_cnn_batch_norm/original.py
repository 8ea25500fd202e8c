"""A convolutional network with batch normalisation on small pictures of bars."""
import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_float('learning_rate', 0.05, 'Initial learning rate.')
flags.DEFINE_integer('batch_size', 24, 'Batch size.')
flags.DEFINE_integer('num_epochs', 4, 'How often all pictures are seen.')
FLAGS = flags.FLAGS

IMAGE_SIZE = 10
BN_MOMENTUM = 0.9
BN_EPSILON = 1e-3


def make_bars(rng, count):
    """Pictures of one vertical, horizontal or diagonal bar, and much noise."""
    images = rng.normal(scale=0.6, size=(count, IMAGE_SIZE, IMAGE_SIZE, 1))
    labels = rng.randint(0, 3, size=count)
    for image, label in zip(images, labels):
        where = rng.randint(1, IMAGE_SIZE - 1)
        if label == 0:
            image[:, where] += 1.5
        elif label == 1:
            image[where] += 1.5
        else:
            image[np.arange(IMAGE_SIZE), np.arange(IMAGE_SIZE)] += 1.5
    return images.astype(np.float32), labels.astype(np.int64)


def conv_block(net, filters, is_training, name):
    with tf.variable_scope(name):
        net = tf.layers.conv2d(net, filters, 3, padding='same', use_bias=False)
        net = tf.layers.batch_normalization(
            net, momentum=BN_MOMENTUM, epsilon=BN_EPSILON, training=is_training, fused=True)
        net = tf.nn.relu(net)
        return tf.layers.max_pooling2d(net, 2, 2)


def inference(images, is_training):
    net = conv_block(images, 6, is_training, 'conv1')
    net = conv_block(net, 8, is_training, 'conv2')
    net = tf.layers.flatten(net)
    return tf.layers.dense(net, 3, name='logits')


def main(_):
    rng = np.random.RandomState(42)
    train_images, train_labels = make_bars(rng, 288)
    valid_images, valid_labels = make_bars(rng, 96)

    images = tf.placeholder(tf.float32, [None, IMAGE_SIZE, IMAGE_SIZE, 1])
    labels = tf.placeholder(tf.int64, [None])
    is_training = tf.placeholder(tf.bool, [])

    logits = inference(images, is_training)
    loss = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))

    update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(update_ops):
        train_op = tf.train.GradientDescentOptimizer(FLAGS.learning_rate).minimize(loss)

    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    num_batches = len(train_images) // FLAGS.batch_size
    for epoch in range(FLAGS.num_epochs):
        shuffled = rng.permutation(len(train_images))
        for i in range(num_batches):
            index = shuffled[i * FLAGS.batch_size:(i + 1) * FLAGS.batch_size]
            feed_dict = {images: train_images[index], labels: train_labels[index],
                         is_training: True}
            train_loss = sess.run(loss, feed_dict=feed_dict)
            sess.run(train_op, feed_dict=feed_dict)
            if i % 4 == 0:
                print('epoch %d batch %d: loss = %.5f' % (epoch, i, train_loss))

        feed_dict = {images: valid_images, labels: valid_labels, is_training: False}
        valid_loss = sess.run(loss, feed_dict=feed_dict)
        valid_accuracy = sess.run(accuracy, feed_dict=feed_dict)
        print('epoch %d: validation loss = %.5f, accuracy = %.3f'
              % (epoch, valid_loss, valid_accuracy))
    sess.close()


if __name__ == '__main__':
    tf.app.run()
