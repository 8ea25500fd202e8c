"""Which objects are Keras models."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import facts, marked
from tfrewrite.analysis.keras.keras_models import Sort

HEAD = """\
import tensorflow as tf
import pickle
from sklearn.svm import SVC
from tensorflow import keras
from tensorflow.keras import Model, Sequential
from tensorflow.keras.applications import VGG16
from keras.models import load_model
"""


def sort(expression: str, before: str = "", head: str = HEAD) -> Sort:
    found = facts(f"{head}{before}\nresult = {expression}  # here\n")
    statement = marked(found, "here")
    assert isinstance(statement, ast.Assign)
    return found.keras_models.sort(statement.value)


@pytest.mark.parametrize(
    "expression",
    [
        "Sequential([a])",
        "tf.keras.Sequential()",
        "tf.compat.v2.keras.models.Model(i, o)",
        "Model(inputs=i, outputs=o)",
        "load_model('net.keras')",
        "keras.models.clone_model(other)",
        "VGG16(weights=None)",
        "Sequential() if a else load_model(b)",
    ],
)
def test_what_makes_models(expression: str) -> None:
    assert sort(expression) is Sort.KERAS
    assert sort("model", f"model = {expression}") is Sort.KERAS


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("SVC()", Sort.OTHER),
        ("pickle.load(f)", Sort.OTHER),
        ("[Sequential()]", Sort.OTHER),
        ("keras.layers.Dense(3)", Sort.UNKNOWN),
        ("tf.saved_model.load('net')", Sort.UNKNOWN),
        ("build()", Sort.UNKNOWN),
        ("models[0]", Sort.UNKNOWN),
        ("Sequential() if a else SVC()", Sort.UNKNOWN),
    ],
)
def test_what_makes_others(expression: str, expected: Sort) -> None:
    assert sort(expression) is expected


def test_names() -> None:
    assert (
        sort("m", "m = None\nif a:\n    m = Sequential()\nelse:\n    m = Model(i, o)") is Sort.KERAS
    )
    assert sort("m", "m = Sequential()\nif a:\n    m = SVC()") is Sort.UNKNOWN
    assert sort("m", "m = Sequential()\nm = SVC()") is Sort.OTHER
    assert sort("m", "from nets import m") is Sort.UNKNOWN
    assert sort("b", "a, b = SVC(), Sequential()") is Sort.KERAS
    assert sort("Sequential()", "def Sequential():\n    return SVC()") is Sort.UNKNOWN


def test_builders() -> None:
    build = "def build():\n    m = Sequential()\n    return m\n"
    assert sort("build()", build) is Sort.KERAS
    assert sort("build()", f"@cached\n{build}") is Sort.UNKNOWN
    pair = "def pair():\n    return SVC(), Sequential()\na, b = pair()\n"
    assert sort("a", pair) is Sort.OTHER
    assert sort("b", pair) is Sort.KERAS
    assert sort("f()", "def f():\n    return f()\n") is Sort.UNKNOWN


AGENT = """\
class Agent:
    def __init__(self, other):
        self.model = self.build()
        self.target = self.build()
        self.other = other
        self.brain = Brain()

    def build(self):
        model = Sequential()
        return model

class Brain:
    def __init__(self):
        self.actor, self.critic = self.build()

    def build(self):
        return Sequential(), SVC()

agent = Agent(Sequential())
"""


def test_attributes() -> None:
    assert sort("agent.model", AGENT) is Sort.KERAS
    assert sort("agent.other", AGENT) is Sort.KERAS
    assert sort("agent.other", f"{AGENT}Agent(SVC())\n") is Sort.UNKNOWN
    assert sort("agent.other", f"{AGENT}Agent(*many)\n") is Sort.UNKNOWN
    assert sort("agent.brain.actor", AGENT) is Sort.KERAS
    assert sort("agent.brain.critic", AGENT) is Sort.OTHER
    assert sort("agent.nothing", AGENT) is Sort.UNKNOWN
    assert sort("agent", AGENT) is Sort.OTHER
    assert sort("agent.model", f"{AGENT}agent.model = make()\n") is Sort.UNKNOWN
    assert sort("agent.model", f"{AGENT}setattr(agent, name, 1)\n") is Sort.UNKNOWN


def test_classes_of_the_file() -> None:
    net = "class Net(Model):\n    pass\nclass Deep(Net):\n    pass\n"
    assert sort("Net()", net) is Sort.KERAS
    assert sort("Deep()", net) is Sort.KERAS
    assert sort("Net()", "class Net(Model, Mixin):\n    pass\n") is Sort.UNKNOWN
    assert sort("Net()", "class Net(Base):\n    pass\n") is Sort.UNKNOWN
    assert sort("Net()", "class Net:\n    pass\n") is Sort.OTHER


def reason(text: str) -> str:
    obstacle = facts(HEAD + text).keras_models.obstacle
    return obstacle.reason if obstacle is not None else ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("exec(code)", "dynamic-code"),
        ("from helpers import *", "dynamic-code"),
        ("import os\nos.environ['KERAS_BACKEND'] = 'jax'", "other-backend"),
        ("model.predict_step = f", "dynamic-code"),
        ("strategy = tf.distribute.TPUStrategy()", "distributed"),
        ("with strategy.scope():\n    pass", "distributed"),
        ("from keras.utils import multi_gpu_model", "distributed"),
        ("sess = tf.compat.v1.Session()", "graph-mode"),
        ("model.compile(run_eagerly=debug)", "runs-eagerly"),
        ("model.run_eagerly = True", "runs-eagerly"),
        ("class Net(Model):\n    def call(self, x):\n        print(x)", "traced-effects"),
        ("class Net(Model):\n    def call(self, x):\n        self.n += 1", "traced-effects"),
        ("class Net(Model):\n    def call(self, x):\n        seen.append(x)", "traced-effects"),
        ("model.compile(**settings)", "steps-per-execution"),
        ("keras.backend.set_floatx('float16')", "precision-policy"),
        ("f = lambda x: keras.backend.random_normal(x)", "random-in-model"),
        (
            "class Noise(Layer):\n    def call(self, x):\n        return tf.nn.dropout(x, 1)",
            "random-in-model",
        ),
    ],
)
def test_what_makes_models_unlike_others(text: str, expected: str) -> None:
    assert reason(text) == expected


def test_methods_of_its_own() -> None:
    def found(model: str) -> bool:
        text = (
            "class Net(Model):\n    def predict(self, x):\n        pass\n"
            "class Deep(Net):\n    pass\nclass Plain(Model):\n    pass\n"
            "class Tool:\n    def predict(self, x):\n        pass\n"
        )
        made = facts(f"{HEAD}{text}net = {model}\nnet.predict(x)  # here\n")
        statement = marked(made, "here")
        assert isinstance(statement, ast.Expr)
        call = statement.value
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Attribute)
        return made.keras_models.own_method(call.func.value) is not None

    assert found("Net()")
    assert found("Deep()")
    assert found("load_model(path)")
    assert not found("Plain()")
    assert not found("Sequential()")


@pytest.mark.parametrize(
    "text",
    [
        "import os\nos.environ['KERAS_BACKEND'] = 'tensorflow'",
        "keras.backend.set_floatx('float64')",
        "import requests\ns = requests.Session()",
        "class Net(Model):\n    def call(self, x):\n        return x",
        "class Env(gym.Env):\n    def fit(self):\n        pass",
        "def noise():\n    return tf.random.normal([3])\nnoise()",
        "x = tf.random.normal([3])",
        "model.compile(loss='mse')",
    ],
)
def test_what_is_nothing_special(text: str) -> None:
    assert reason(text) == ""
