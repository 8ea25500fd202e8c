"""TFR101: noise that comes into a fetch by a list that is handed on, or by code that others run."""

from __future__ import annotations

import textwrap

from rulebench import Case, bench, refuses, rewrites
from tfrewrite.codemods.merge_session_runs import MergeSessionRuns

GRAPH = """\
import numpy as np
import tensorflow as tf

x = tf.placeholder(tf.float32, [None, 3])
w = tf.Variable(tf.ones([3, 1]))
clean = tf.reduce_mean(tf.matmul(x, w))
noisy = clean + tf.random_uniform([])
count_op = w.assign_add(tf.ones([3, 1]))


def fill(held):
    held.append(noisy)


"""
RUNS = """
sess = tf.Session()
for batch in batches:
    a = sess.run(one, {x: batch})
    b = sess.run(other, {x: batch})
"""


def of(made: str, value: str, runs: str = RUNS) -> str:
    """Two runs, both of which fetch what is made of a value."""
    fetched = f"one = {value} + 1.0\nother = {value} * 2.0"
    return f"{GRAPH}{textwrap.dedent(made).strip()}\n{fetched}{runs}"


def of_model(body: str, made: str, value: str = "model.net(x)", before: str = "") -> str:
    """The same of what a class makes."""
    cls = f"class Model:\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n\n\n"
    return of(textwrap.dedent(before) + cls + textwrap.dedent(made), value)


OWN = ("crlf", "tabs")
LISTS = {
    "get": "held.get('g').append(noisy)",
    "its values": "for part in held.values():\n    part.append(noisy)",
    "its items": "for name, part in held.items():\n    part.append(noisy)",
    "a list of its values": "list(held.values())[0].append(noisy)",
    "two names at once": "part, number = held['g'], 1\npart.append(noisy)",
    "one name or another": "part = held['g'] if held else []\npart.append(noisy)",
    "one name or nothing": "part = held['g'] or []\npart.append(noisy)",
    "a function": "fill(held['g'])",
    "a lambda": "add = lambda part: part.append(noisy)\nadd(held['g'])",
    "a default": "def more(part=held['g']):\n    part.append(noisy)\nmore()",
    "a copy, which holds the same lists": "held.copy()['g'].append(noisy)",
    "what a function returns": "def get():\n    return held['g']\nget().append(noisy)",
    "all of it, returned": "def get():\n    return held\nget()['g'].append(noisy)",
    "all of it, returned with a name": "def get():\n    return held, 1\n"
    "all, number = get()\nall['g'].append(noisy)",
}
CALLS = {
    "under another name": ("def make(self):", "run = model.make", "run()"),
    "by its name as a text": ("def make(self):", "pass", "getattr(model, 'make')()"),
    "by calling the object": ("def __call__(self):", "pass", "model()"),
    "by reading a property": ("@property\n    def make(self):", "pass", "model.make"),
    "by an attribute": ("def make(self):", "model.later = model.make", "model.later()"),
}

TRAPS = [
    *[
        refuses(
            f"a list in a dict: {name}",
            of(f"held = {{'g': [clean]}}\n{code}", "tf.add_n(held['g'])"),
            reason="fetch-not-traced",
            shapes=OWN,
        )
        for name, code in LISTS.items()
    ],
    refuses(
        "a list in a dict that is empty at first",
        of("held = {'g': []}\nheld.get('g').append(noisy)", "tf.add_n(held['g'])"),
        reason="fetch-not-traced",
        shapes=OWN,
    ),
    refuses(
        "a list that a method returns",
        of_model(
            """
            def __init__(self):
                self.parts = [clean]

            def all(self):
                return self.parts
            """,
            "model = Model()\nmodel.all().append(noisy)",
            "tf.add_n(model.parts)",
        ),
        reason="fetch-not-traced",
        shapes=OWN,
    ),
    *[
        refuses(
            f"a list that is given to a method called {method}",
            of_model(
                f"def {method}(self, held):\n    held.append(noisy)",
                f"held = [clean]\nmodel = Model()\nmodel.{method}(held)",
                "tf.add_n(held)",
            ),
            reason="fetch-not-traced",
            shapes=OWN,
        )
        for method in ("run", "minimize")
    ],
    refuses(
        "a default that holds what an earlier call has put into it",
        of(
            "def first(part, held=[]):\n    held.append(part)\n    return held[0]\nfirst(noisy)",
            "first(clean)",
        ),
        reason="fetch-not-traced",
        shapes=OWN,
    ),
    refuses(
        "a method in the place of which an object has something else",
        of_model(
            """
            def __init__(self):
                self.net = add_noise

            def net(self, value):
                return tf.reduce_mean(value)

            def out(self):
                return self.net(x)
            """,
            "model = Model()",
            "model.out()",
            before="def add_noise(value):\n    return tf.reduce_mean(value) + noisy\n\n",
        ),
        reason="fetch-not-traced",
        shapes=OWN,
    ),
    *[
        refuses(
            f"a method that is run under control dependencies {name}",
            of_model(
                f"{head}\n        self.value = tf.identity(clean)".replace("\n    ", "\n"),
                f"model = Model()\n{before}\nwith tf.control_dependencies([count_op]):\n    {call}",
                "model.value",
            ),
            reason="fetch-not-traced",
            shapes=OWN,
        )
        for name, (head, before, call) in CALLS.items()
    ],
]


def shown(source: str, code: str) -> str:
    """The same with some code between the two runs."""
    return source.replace("    b =", f"    shown = {code}\n    b =")


# What the body of a class has under a name, and what runs it.
BODIES = {
    "a special method by another name": (
        "def tell(self):\n    return take()\n__repr__ = tell",
        "repr(model)",
    ),
    "a special method that is a lambda": ("__str__ = lambda self: take()", "str(model)"),
    "a property by another name": ("value = lazy(lambda self: take())", "model.value"),
    "a property with a type": ("value: int = property(lambda self: take())", "model.value"),
    "one of two": ("value, other = property(lambda self: take()), 1", "model.value"),
    "a property of a library": ("value = functools.cached_property(take)", "model.value"),
}
TAKING = """\
import functools
lazy = property


def take():
    return str(sess.run(count_op))


"""

TRAPS += [
    *[
        refuses(
            f"code of a class that is not written as a method: {name}",
            shown(of_model(body, "model = Model()", "clean", TAKING), code),
            reason="call-between",
            shapes=(),
        )
        for name, (body, code) in BODIES.items()
    ],
    refuses(
        "a method of an object that numpy asks for",
        shown(of_model("pass", "model = Model()\nmodel.mean = fill", "clean"), "np.mean(model)"),
        reason="call-between",
        shapes=(),
    ),
    refuses(
        "a class that is made by a call",
        of("Model = type('Model', (object,), {'__repr__': lambda self: 'm'})", "clean"),
        reason="dynamic-code",
        shapes=(),
    ),
]

MERGED = RUNS.replace("a = sess.run(one, ", "a, b = sess.run([one, other], ").replace(
    "    b = sess.run(other, {x: batch})\n", ""
)


def kept(name: str, made: str, value: str) -> Case:
    return rewrites(name, of(made, value), of(made, value, MERGED), contract="rounding", shapes=OWN)


REWRITES = [
    kept(
        "a dict of lists, each of which is only fetched and summed",
        "held = {'g': [clean], 'd': []}\nheld['d'] = [clean]\nprint(len(held['g']))",
        "tf.add_n(held['g'])",
    ),
    kept(
        "lists that a function makes and returns",
        "def build():\n    parts = []\n    parts.append(clean)\n    return parts, 1\n"
        "parts, number = build()",
        "tf.add_n(parts)",
    ),
    kept(
        "a list of pairs that is gone through",
        "pairs = [(clean, w)]\nfor part, variable in pairs:\n    print(variable)",
        "pairs[0][0]",
    ),
]

test_merge_session_runs_handed_on = bench(MergeSessionRuns, *TRAPS, *REWRITES)
