"""An agent that learns to hold a drifting point, with a replay memory and noise that fades."""

import numpy as np
import tensorflow as tf

EPISODES = 4
STEPS = 60
BATCH = 32


class Agent:
    def __init__(self):
        self.actor = tf.keras.Sequential(
            [tf.keras.Input((4,)), tf.keras.layers.Dense(24, "tanh"), tf.keras.layers.Dense(2)]
        )
        self.critic = tf.keras.Sequential(
            [tf.keras.Input((6,)), tf.keras.layers.Dense(24, "tanh"), tf.keras.layers.Dense(1)]
        )
        self.actor_optimizer = tf.keras.optimizers.Adam(0.002)
        self.critic_optimizer = tf.keras.optimizers.Adam(0.01)
        self.memory = np.zeros((EPISODES * STEPS, 7), np.float32)
        self.steps = 0
        self.noise = 0.5
        self.losses = []

    def act(self, state):
        self.noise = max(0.05, self.noise * 0.99)
        action = self.actor(state[None])[0].numpy()
        return np.clip(action + np.random.normal(size=2) * self.noise, -1.0, 1.0)

    def learn(self):
        rows = np.random.randint(0, self.steps, size=BATCH)
        states = tf.convert_to_tensor(self.memory[rows, :4])
        moves = tf.convert_to_tensor(self.memory[rows, 4:6])
        rewards = tf.convert_to_tensor(self.memory[rows, 6:])
        with tf.GradientTape() as tape:
            values = self.critic(tf.concat([states, moves], axis=1))
            loss = tf.reduce_mean(tf.square(rewards - values))
        gradients = tape.gradient(loss, self.critic.trainable_variables)
        self.critic_optimizer.apply_gradients(zip(gradients, self.critic.trainable_variables))
        self.losses.append(float(loss))
        with tf.GradientTape() as tape:
            chosen = self.actor(states)
            cost = tf.reduce_mean(tf.square(states[:, :2] + chosen))
        gradients = tape.gradient(cost, self.actor.trainable_variables)
        self.actor_optimizer.apply_gradients(zip(gradients, self.actor.trainable_variables))
        return cost.numpy()

    def run(self):
        for episode in range(EPISODES):
            state = np.random.normal(size=4).astype(np.float32)
            total = 0.0
            for step in range(STEPS):
                move = self.act(state)
                reward = -float(np.sum(np.square(state[:2] + move)))
                self.memory[self.steps] = np.concatenate([state, move, [reward]])
                self.steps += 1
                drift = np.random.normal(size=4) * 0.1
                state = (state * 0.9 + drift).astype(np.float32)
                total += reward
                if self.steps > BATCH:
                    cost = self.learn()
            print(episode, total, float(cost), self.losses[-1])


def main():
    tf.keras.utils.set_random_seed(3)
    agent = Agent()
    agent.run()
    weights = agent.actor.get_weights() + agent.critic.get_weights()
    print(float(np.linalg.norm(np.concatenate([one.ravel() for one in weights]))))


if __name__ == "__main__":
    main()
