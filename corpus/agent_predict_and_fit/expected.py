"""An agent that learns a walk on a line, one remembered step at a time."""

import random
from collections import deque

import numpy as np
import tensorflow as tf
from tensorflow import keras

EPISODES = 2
STEPS = 6
BATCH = 3


class Line:
    """Nine places, with a reward at the right end."""

    def reset(self):
        self.place = 4
        return self._seen()

    def step(self, action):
        self.place = min(8, max(0, self.place + (1 if action else -1)))
        done = self.place in (0, 8)
        return self._seen(), float(self.place == 8), done

    def _seen(self):
        return np.array([self.place / 8.0, 1.0 - self.place / 8.0])


def predict_one_batch(model, x, batch_size=None, **options):
    """The same as `model.predict`, without the pipeline that it builds in each call."""
    one_batch = type(x) is np.ndarray and x.ndim > 1 and 0 < len(x) <= (batch_size or 32)
    if one_batch and x.dtype in (np.float32, np.float64, np.int32, np.int64, np.uint8):
        return model.predict_on_batch(x)
    return model.predict(x, batch_size=batch_size, **options)


def fit_one_row(model, x, y, **options):
    """The same as `model.fit`, without the pipeline that it builds in each call."""
    numbers = (np.float32, np.float64, np.int32, np.int64, np.uint8)
    arrays = all(type(a) is np.ndarray and a.dtype in numbers for a in (x, y))
    if arrays and x.shape[:1] == y.shape[:1] == (1,):
        model.train_on_batch(x, y)
    else:
        model.fit(x, y, **options)


class Agent:
    def __init__(self, state_size, action_size):
        self.state_size = state_size
        self.action_size = action_size
        self.memory = deque(maxlen=200)
        self.gamma = 0.9
        self.epsilon = 0.5
        self.model = self._build_model()

    def _build_model(self):
        model = keras.Sequential()
        model.add(keras.layers.Input((self.state_size,)))
        model.add(keras.layers.Dense(24, activation="relu"))
        model.add(keras.layers.Dense(24, activation="relu"))
        model.add(keras.layers.Dense(self.action_size, activation="linear"))
        model.compile(loss="mse", optimizer=keras.optimizers.Adam(0.01))
        return model

    def remember(self, state, action, reward, next_state, done):
        self.memory.append((state, action, reward, next_state, done))

    def act(self, state):
        if np.random.rand() <= self.epsilon:
            return random.randrange(self.action_size)
        values = self.model.predict_on_batch(state)
        return np.argmax(values[0])

    def replay(self, batch_size):
        minibatch = random.sample(self.memory, batch_size)
        for state, action, reward, next_state, done in minibatch:
            target = reward
            if not done:
                best = np.amax(predict_one_batch(self.model, next_state, verbose=0)[0])
                target = reward + self.gamma * best
            target_f = predict_one_batch(self.model, state, verbose=0)
            # Only the action that was taken learns.
            target_f[0][action] = target
            fit_one_row(self.model, state, target_f, epochs=1, verbose=0)


random.seed(3)
np.random.seed(3)
tf.random.set_seed(3)

line = Line()
agent = Agent(2, 2)
for episode in range(EPISODES):
    state = np.reshape(line.reset(), [1, 2])
    total = 0.0
    for step in range(STEPS):
        action = agent.act(state)
        seen, reward, done = line.step(action)
        next_state = np.reshape(seen, [1, 2])
        agent.remember(state, action, reward, next_state, done)
        state = next_state
        total += reward
        if len(agent.memory) >= BATCH:
            agent.replay(BATCH)
        if done:
            break
    print("episode %d reward %.1f" % (episode, total))

print("weights %.9f" % sum(float(np.abs(w).sum()) for w in agent.model.get_weights()))
