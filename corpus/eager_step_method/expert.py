"""Q-learning on recorded transitions: the step is a method, the target network is copied."""

import numpy as np
import tensorflow as tf

STEPS = 60
BATCH = 32

tf.keras.utils.set_random_seed(11)
rng = np.random.RandomState(11)
states = tf.constant(rng.normal(size=(256, 6)), tf.float32)
next_states = tf.constant(rng.normal(size=(256, 6)), tf.float32)
actions = tf.constant(rng.randint(0, 3, size=(256,)), tf.int32)
rewards = tf.constant(rng.normal(size=(256,)), tf.float32)


def build():
    return tf.keras.Sequential(
        [
            tf.keras.layers.Input((6,)),
            tf.keras.layers.Dense(32, activation="tanh"),
            tf.keras.layers.Dense(32, activation="tanh"),
            tf.keras.layers.Dense(3),
        ]
    )


class Agent:
    def __init__(self, rate, discount):
        self.online = build()
        self.target = build()
        self.optimizer = tf.keras.optimizers.RMSprop(rate)
        self.loss = tf.keras.losses.Huber()
        self.discount = discount

    @tf.function(input_signature=[tf.TensorSpec((), tf.int32)])
    def learn(self, start):
        # The rows are taken in the graph, too.
        rows = start + tf.range(BATCH)
        state, action = tf.gather(states, rows), tf.gather(actions, rows)
        reward, following = tf.gather(rewards, rows), tf.gather(next_states, rows)
        best = tf.reduce_max(self.target(following), axis=1)
        wanted = reward + self.discount * best
        with tf.GradientTape() as tape:
            values = self.online(state)
            chosen = tf.reduce_sum(values * tf.one_hot(action, 3), axis=1)
            loss = self.loss(wanted, chosen)
        variables = self.online.trainable_variables
        gradients = tape.gradient(loss, variables)
        self.optimizer.apply_gradients(zip(gradients, variables))
        return loss

    @tf.function
    def copy(self):
        for old, new in zip(self.target.variables, self.online.variables):
            old.assign(new)


agent = Agent(0.002, 0.95)
agent.copy()

for step in range(STEPS):
    loss = agent.learn(tf.constant(step % 8 * BATCH))
    if step % 20 == 0:
        agent.copy()
        print(step, float(loss))

weights = np.concatenate([v.numpy().ravel() for v in agent.online.variables])
print(float(np.linalg.norm(weights)))
