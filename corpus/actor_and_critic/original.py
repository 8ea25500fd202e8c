"""Advantage actor-critic on a cart that must be kept in the middle, one update per step."""

import argparse

import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Dense, Input

parser = argparse.ArgumentParser()
parser.add_argument("--gamma", type=float, default=0.95)
parser.add_argument("--actor_lr", type=float, default=0.002)
parser.add_argument("--critic_lr", type=float, default=0.005)
parser.add_argument("--episodes", type=int, default=2)
args = parser.parse_args()


class Cart:
    """A cart on a track of ten metres, pushed to the left or the right."""

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def reset(self):
        self.state = self.rng.uniform(-0.5, 0.5, size=2)
        self.time = 0
        return self.state.copy()

    def step(self, action):
        position, speed = self.state
        speed += 0.3 if action == 1 else -0.3
        self.state = np.array([position + 0.2 * speed, speed])
        self.time += 1
        done = abs(self.state[0]) > 2.0 or self.time >= 20
        return self.state.copy(), 1.0 - abs(self.state[0]), done


class Actor:
    def __init__(self, state_dim, action_dim):
        self.state_dim = state_dim
        self.action_dim = action_dim
        self.model = self.create_model()
        self.opt = tf.keras.optimizers.Adam(args.actor_lr)

    def create_model(self):
        return tf.keras.Sequential(
            [
                Input((self.state_dim,)),
                Dense(32, activation="relu"),
                Dense(16, activation="relu"),
                Dense(self.action_dim, activation="softmax"),
            ]
        )

    def compute_loss(self, actions, logits, advantages):
        ce_loss = tf.keras.losses.SparseCategoricalCrossentropy()
        actions = tf.cast(actions, tf.int32)
        policy_loss = ce_loss(actions, logits, sample_weight=tf.stop_gradient(advantages))
        return policy_loss

    def train(self, states, actions, advantages):
        with tf.GradientTape() as tape:
            logits = self.model(states, training=True)
            loss = self.compute_loss(actions, logits, advantages)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss


class Critic:
    def __init__(self, state_dim):
        self.state_dim = state_dim
        self.model = self.create_model()
        self.opt = tf.keras.optimizers.Adam(args.critic_lr)

    def create_model(self):
        return tf.keras.Sequential(
            [
                Input((self.state_dim,)),
                Dense(32, activation="relu"),
                Dense(16, activation="relu"),
                Dense(1, activation="linear"),
            ]
        )

    def compute_loss(self, v_pred, td_targets):
        mse = tf.keras.losses.MeanSquaredError()
        return mse(td_targets, v_pred)

    def train(self, states, td_targets):
        with tf.GradientTape() as tape:
            v_pred = self.model(states, training=True)
            loss = self.compute_loss(v_pred, tf.stop_gradient(td_targets))
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss


class Agent:
    def __init__(self, env):
        self.env = env
        self.state_dim = 2
        self.action_dim = 2
        self.actor = Actor(self.state_dim, self.action_dim)
        self.critic = Critic(self.state_dim)

    def td_target(self, reward, next_state, done):
        if done:
            return reward
        v_value = self.critic.model.predict(next_state, verbose=0)
        return np.reshape(reward + args.gamma * v_value[0], [1, 1])

    def advantage(self, td_targets, baselines):
        return td_targets - baselines

    def train(self, max_episodes):
        for ep in range(max_episodes):
            episode_reward, done = 0, False
            state = self.env.reset()
            while not done:
                state = np.reshape(state, [1, self.state_dim])
                probs = self.actor.model.predict(state, verbose=0)
                action = int(self.env.rng.rand() < probs[0][1])
                next_state, reward, done = self.env.step(action)

                action = np.reshape(action, [1, 1])
                next_state = np.reshape(next_state, [1, self.state_dim])
                reward = np.reshape(reward, [1, 1])

                td_target = self.td_target(reward * 0.1, next_state, done)
                advantage = self.advantage(td_target, self.critic.model.predict(state, verbose=0))
                actor_loss = self.actor.train(state, action, advantage)
                critic_loss = self.critic.train(state, td_target)

                episode_reward += reward[0][0]
                state = next_state[0]
            print("EP{} EpisodeReward={:.4f}".format(ep, episode_reward))
            print("   losses {:.5f} {:.5f}".format(float(actor_loss), float(critic_loss)))


def main():
    tf.keras.utils.set_random_seed(3)
    agent = Agent(Cart(3))
    agent.train(args.episodes)
    weights = agent.actor.model.get_weights() + agent.critic.model.get_weights()
    print("weights %.6f" % sum(float(np.abs(w).sum()) for w in weights))


if __name__ == "__main__":
    main()
