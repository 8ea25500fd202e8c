"""Logistic regression with one hidden layer; momentum, a rate that decays, averaged weights."""
import numpy as np
import tensorflow as tf

NUM_EXAMPLES = 400
NUM_LABELS = 5
BATCH_SIZE = 40
NUM_EPOCHS = 5
WEIGHT_DECAY = 5e-4
AVERAGE_DECAY = 0.95


def fake_data(num_examples):
    """Random pictures of 6 x 6 in which a stripe tells the label."""
    data = np.random.uniform(-0.5, 0.5, (num_examples, 36)).astype(np.float32)
    labels = np.random.randint(NUM_LABELS, size=num_examples)
    for i in range(num_examples):
        data[i, labels[i] * 6:labels[i] * 6 + 6] += 0.4
    return data, labels.astype(np.int64)


def error_rate(predictions, labels):
    return 100.0 - 100.0 * np.sum(np.argmax(predictions, 1) == labels) / float(len(predictions))


train_data, train_labels = fake_data(NUM_EXAMPLES)
validation_data, validation_labels = fake_data(100)

data_node = tf.placeholder(tf.float32, shape=(None, 36))
labels_node = tf.placeholder(tf.int64, shape=(None,))
fc1_weights = tf.Variable(tf.truncated_normal([36, 20], stddev=0.1))
fc1_biases = tf.Variable(tf.constant(0.1, shape=[20]))
fc2_weights = tf.Variable(tf.truncated_normal([20, NUM_LABELS], stddev=0.1))
fc2_biases = tf.Variable(tf.constant(0.1, shape=[NUM_LABELS]))

hidden = tf.nn.relu(tf.matmul(data_node, fc1_weights) + fc1_biases)
logits = tf.matmul(hidden, fc2_weights) + fc2_biases
loss = tf.reduce_mean(
    tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels_node, logits=logits))
regularizers = tf.nn.l2_loss(fc1_weights) + tf.nn.l2_loss(fc2_weights)
loss += WEIGHT_DECAY * regularizers

batch = tf.Variable(0, trainable=False, dtype=tf.float32)
learning_rate = tf.train.exponential_decay(
    0.1,                 # Base learning rate.
    batch * BATCH_SIZE,  # Current index into the data.
    NUM_EXAMPLES,        # Decay step.
    0.95)                # Decay rate.
optimizer = tf.train.MomentumOptimizer(learning_rate, 0.9).minimize(loss, global_step=batch)
averages = tf.train.ExponentialMovingAverage(AVERAGE_DECAY)
with tf.control_dependencies([optimizer]):
    train_op = averages.apply(tf.trainable_variables())
prediction = tf.nn.softmax(logits)

with tf.Session() as sess:
    tf.global_variables_initializer().run()
    for step in range(NUM_EPOCHS * NUM_EXAMPLES // BATCH_SIZE):
        offset = (step * BATCH_SIZE) % (NUM_EXAMPLES - BATCH_SIZE)
        feed_dict = {data_node: train_data[offset:offset + BATCH_SIZE],
                     labels_node: train_labels[offset:offset + BATCH_SIZE]}
        sess.run(train_op, feed_dict=feed_dict)
        if step % 10 == 0:
            l = sess.run(loss, feed_dict=feed_dict)
            lr = sess.run(learning_rate, feed_dict=feed_dict)
            predictions = sess.run(tf.nn.softmax(logits), feed_dict=feed_dict)
            print('Step %d (epoch %.2f)' % (step, float(step) * BATCH_SIZE / NUM_EXAMPLES))
            print('Minibatch loss: %.5f, learning rate: %.6f' % (l, lr))
            print('Minibatch error: %.1f%%' % error_rate(
                predictions, train_labels[offset:offset + BATCH_SIZE]))

    # The averaged weights are those to keep.
    for variable in tf.trainable_variables():
        sess.run(variable.assign(averages.average(variable)))
    predictions = sess.run(prediction, feed_dict={data_node: validation_data})
    print('Validation error: %.1f%%' % error_rate(predictions, validation_labels))
    print('Mean confidence: %.6f' % np.mean(np.max(predictions, axis=1)))
