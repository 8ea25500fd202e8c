"""Deep Q-learning with a replay memory and a target network, on a small grid.

The agent walks from the left of the grid to a treasure on the right, with holes on the way.
"""

from __future__ import print_function

import numpy as np
import tensorflow as tf

np.random.seed(1)
tf.set_random_seed(1)


class Grid(object):
    """Four by four places. Actions: up, down, left, right."""

    holes = {(1, 1), (2, 3), (3, 0)}
    goal = (3, 3)
    n_actions = 4
    n_features = 2

    def reset(self):
        self.place = (0, 0)
        self.turns = 0
        return self.observation()

    def observation(self):
        return np.array(self.place, np.float32) / 3.0

    def step(self, action):
        row, column = self.place
        row += {0: -1, 1: 1}.get(action, 0)
        column += {2: -1, 3: 1}.get(action, 0)
        self.place = (min(max(row, 0), 3), min(max(column, 0), 3))
        self.turns += 1
        if self.place == self.goal:
            return self.observation(), 1.0, True
        if self.place in self.holes:
            return self.observation(), -1.0, True
        return self.observation(), 0.0, self.turns >= 20


class DeepQNetwork(object):
    def __init__(
        self,
        n_actions,
        n_features,
        learning_rate=0.01,
        reward_decay=0.9,
        e_greedy=0.9,
        replace_target_iter=30,
        memory_size=200,
        batch_size=16,
        e_greedy_increment=0.01,
    ):
        self.n_actions = n_actions
        self.n_features = n_features
        self.lr = learning_rate
        self.gamma = reward_decay
        self.epsilon_max = e_greedy
        self.replace_target_iter = replace_target_iter
        self.memory_size = memory_size
        self.batch_size = batch_size
        self.epsilon_increment = e_greedy_increment
        self.epsilon = 0.0

        # total learning step
        self.learn_step_counter = 0
        # initialize zero memory [s, a, r, s_]
        self.memory = np.zeros((self.memory_size, n_features * 2 + 2))
        self.memory_counter = 0

        # consist of [target_net, evaluate_net]
        self._build_net()
        self.sess = tf.Session()
        self.sess.run(tf.global_variables_initializer())
        self.cost_his = []

    def _build_net(self):
        self.s = tf.placeholder(tf.float32, [None, self.n_features], name="s")
        self.s_ = tf.placeholder(tf.float32, [None, self.n_features], name="s_")
        self.q_target = tf.placeholder(tf.float32, [None, self.n_actions], name="Q_target")

        def build_layers(s, c_names):
            w_initializer = tf.random_normal_initializer(0.0, 0.3)
            b_initializer = tf.constant_initializer(0.1)
            w1 = tf.get_variable(
                "w1", [self.n_features, 20], initializer=w_initializer, collections=c_names
            )
            b1 = tf.get_variable("b1", [1, 20], initializer=b_initializer, collections=c_names)
            l1 = tf.nn.relu(tf.matmul(s, w1) + b1)
            w2 = tf.get_variable(
                "w2", [20, self.n_actions], initializer=w_initializer, collections=c_names
            )
            b2 = tf.get_variable(
                "b2", [1, self.n_actions], initializer=b_initializer, collections=c_names
            )
            return tf.matmul(l1, w2) + b2

        with tf.variable_scope("eval_net"):
            c_names = ["eval_net_params", tf.GraphKeys.GLOBAL_VARIABLES]
            self.q_eval = build_layers(self.s, c_names)
        with tf.variable_scope("loss"):
            self.loss = tf.reduce_mean(tf.squared_difference(self.q_target, self.q_eval))
        with tf.variable_scope("train"):
            variables = tf.get_collection("eval_net_params")
            self._train_op = tf.train.RMSPropOptimizer(self.lr).minimize(
                self.loss, var_list=variables
            )
        with tf.variable_scope("target_net"):
            c_names = ["target_net_params", tf.GraphKeys.GLOBAL_VARIABLES]
            self.q_next = build_layers(self.s_, c_names)

    def store_transition(self, s, a, r, s_):
        # replace the old memory with new memory
        index = self.memory_counter % self.memory_size
        self.memory[index, :] = np.hstack((s, [a, r], s_))
        self.memory_counter += 1

    def choose_action(self, observation):
        observation = observation[np.newaxis, :]
        if np.random.uniform() < self.epsilon:
            actions_value = self.sess.run(self.q_eval, feed_dict={self.s: observation})
            return np.argmax(actions_value)
        return np.random.randint(0, self.n_actions)

    def _replace_target_params(self):
        t_params = tf.get_collection("target_net_params")
        e_params = tf.get_collection("eval_net_params")
        self.sess.run([tf.assign(t, e) for t, e in zip(t_params, e_params)])

    def learn(self):
        # check to replace target parameters
        if self.learn_step_counter % self.replace_target_iter == 0:
            self._replace_target_params()
            print("target_params_replaced", self.learn_step_counter)

        # sample batch memory from all memory
        filled = min(self.memory_counter, self.memory_size)
        batch_memory = self.memory[np.random.choice(filled, size=self.batch_size)]
        batch_s = batch_memory[:, : self.n_features]
        batch_s_ = batch_memory[:, -self.n_features :]

        q_next = self.sess.run(self.q_next, feed_dict={self.s_: batch_s_})
        q_eval = self.sess.run(self.q_eval, feed_dict={self.s: batch_s})

        # change q_target w.r.t q_eval's action
        q_target = q_eval.copy()
        batch_index = np.arange(self.batch_size, dtype=np.int32)
        eval_act_index = batch_memory[:, self.n_features].astype(int)
        reward = batch_memory[:, self.n_features + 1]
        q_target[batch_index, eval_act_index] = reward + self.gamma * np.max(q_next, axis=1)

        # train eval network
        _, cost = self.sess.run(
            [self._train_op, self.loss], feed_dict={self.s: batch_s, self.q_target: q_target}
        )
        self.cost_his.append(cost)

        # increasing epsilon
        self.epsilon = min(self.epsilon + self.epsilon_increment, self.epsilon_max)
        self.learn_step_counter += 1


def run_maze(env, agent, episodes):
    step = 0
    for episode in range(episodes):
        observation = env.reset()
        total = 0.0
        done = False
        while not done:
            action = agent.choose_action(observation)
            observation_, reward, done = env.step(action)
            agent.store_transition(observation, action, reward, observation_)
            if step > 40:
                agent.learn()
            total += reward
            observation = observation_
            step += 1
        print("episode", episode, "reward", total)


if __name__ == "__main__":
    env = Grid()
    agent = DeepQNetwork(env.n_actions, env.n_features)
    run_maze(env, agent, 30)
    print("mean cost", np.mean(agent.cost_his))
    weights = agent.sess.run(tf.get_collection("eval_net_params"))
    print("weights", sum(float(np.abs(w).sum()) for w in weights))
