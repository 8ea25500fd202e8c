"""A model in a class: Adam on clipped gradients, a rate fed anew each epoch, a Saver at the end."""

from __future__ import print_function

import os

import numpy as np
import tensorflow as tf


class Config(object):
    num_inputs = 10
    num_hidden = 24
    batch_size = 25
    max_epoch = 5
    learning_rate = 0.02
    lr_decay = 0.8
    max_grad_norm = 0.5


class Model(object):

    def __init__(self, config):
        self.inputs = tf.placeholder(tf.float32, [None, config.num_inputs], name='inputs')
        self.targets = tf.placeholder(tf.float32, [None], name='targets')
        self.lr = tf.placeholder(tf.float32, [], name='lr')
        init = tf.random_uniform_initializer(-0.3, 0.3)
        with tf.variable_scope('model', initializer=init):
            w1 = tf.get_variable('w1', [config.num_inputs, config.num_hidden])
            b1 = tf.get_variable('b1', [config.num_hidden])
            w2 = tf.get_variable('w2', [config.num_hidden, 1])
        hidden = tf.nn.elu(tf.nn.xw_plus_b(self.inputs, w1, b1))
        self.outputs = tf.squeeze(tf.matmul(hidden, w2), axis=1)
        self.cost = tf.reduce_mean(tf.square(self.outputs - self.targets))
        tvars = tf.trainable_variables()
        grads, self.norm = tf.clip_by_global_norm(
            tf.gradients(self.cost, tvars), config.max_grad_norm)
        optimizer = tf.train.AdamOptimizer(self.lr, epsilon=1e-8)
        self.train_op = optimizer.apply_gradients(zip(grads, tvars))


def make_data(config, count):
    inputs = np.random.normal(size=(count, config.num_inputs))
    targets = 2.0 * np.abs(inputs[:, 0]) + inputs[:, 1] * inputs[:, 2]
    return inputs.astype(np.float32), targets.astype(np.float32)


def run_epoch(sess, model, config, data, rate, epoch):
    inputs, targets = data
    costs, steps = 0.0, 0
    for start in range(0, len(inputs), config.batch_size):
        stop = start + config.batch_size
        cost = sess.run(model.cost, feed_dict={model.inputs: inputs[start:stop],
                                               model.targets: targets[start:stop]})
        sess.run(model.train_op, feed_dict={model.inputs: inputs[start:stop],
                                            model.targets: targets[start:stop], model.lr: rate})
        costs += cost
        steps += 1
        if steps % 5 == 0:
            norm = sess.run(model.norm, feed_dict={model.inputs: inputs[start:stop],
                                                   model.targets: targets[start:stop]})
            print('epoch %d step %d cost %.5f gradient norm %.4f' % (epoch, steps, cost, norm))
    return costs / steps


def main():
    np.random.seed(7)
    config = Config()
    train = make_data(config, 250)
    test = make_data(config, 80)
    model = Model(config)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for epoch in range(config.max_epoch):
            rate = config.learning_rate * config.lr_decay ** max(epoch - 1, 0)
            mean = run_epoch(sess, model, config, train, rate, epoch)
            print('epoch %d: rate %.4f mean cost %.6f' % (epoch, rate, mean))
        if not os.path.exists('save'):
            os.makedirs('save')
        saver.save(sess, os.path.join('save', 'model.ckpt'))
        cost = sess.run(model.cost, {model.inputs: test[0], model.targets: test[1]})
        print('test cost %.6f' % cost)


if __name__ == '__main__':
    main()
