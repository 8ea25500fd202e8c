"""Pins what is random, so that a rewrite which moves nothing but ops draws the same numbers.

An op without a seed of its own gets one from its place among the random ops of its graph, and not
from how many other ops there are. In eager mode, and in functions traced from there, a draw is told
by the number of draws before it, so that a step draws the same before and after it is compiled.
Seeds that the script gives itself are never touched.
"""

import random
import sys
import weakref

from .own_code import is_own

PIN = 1618033988
"""As the first of two seeds: this draw is to be counted."""
_MAXINT32 = 2**31 - 1


def pin_python(seed, tree):
    """Before anything of the script runs. Generators without a seed get one in turn."""
    import numpy as np

    real_random = random.Random
    random.seed(seed)
    np.random.seed(seed)
    counts = {True: seed, False: seed + 1000000}

    def given(own):
        """A seed: what libraries make for themselves does not move those of the script."""
        if own is not None:
            return own
        of_script = is_own(sys._getframe(2), tree)
        counts[of_script] += 1
        return counts[of_script]

    class RandomState(np.random.RandomState):
        """As numpy's, with a seed in any case."""

        def __init__(self, seed=None):
            super(RandomState, self).__init__(given(seed))

    class Random(real_random):
        """As Python's, with a seed in any case."""

        def __new__(cls, *arguments, **named):
            # From Python 3.11 on nothing seeds a generator but its own `__init__`.
            made = super(Random, cls).__new__(cls)
            real_random.seed(made, seed if arguments or named else given(None))
            return made

        def __init__(self, x=None):
            if x is not None:
                real_random.__init__(self, x)

    real_rng = getattr(np.random, "default_rng", None)

    def default_rng(seed=None):
        return real_rng(given(seed))

    RandomState.__module__, Random.__module__ = "numpy.random", "random"
    np.random.RandomState = RandomState
    random.Random = Random
    if real_rng is not None:
        np.random.default_rng = default_rng


class Seeds(object):
    """What stands in for TensorFlow's `get_seed`, and for the ops that draw."""

    def __init__(self, seed, tf, weights):
        self._seed = seed
        self._tf = tf
        self._weights = weights
        self._real = tf.random_seed.get_seed
        self._counts = weakref.WeakKeyDictionary()
        self._counter = None

    def install(self):
        tf = self._tf
        tf.random_seed.get_seed = self.get_seed
        if tf.gen_stateless is not None:
            for name, stateless in (
                ("random_standard_normal", "stateless_random_normal"),
                ("random_uniform", "stateless_random_uniform"),
                ("truncated_normal", "stateless_truncated_normal"),
            ):
                self._replace(name, self._floats(getattr(tf.gen_stateless, stateless)))
            self._replace("random_uniform_int", self._integers)
            self._replace("multinomial", self._multinomial)
        if tf.context.executing_eagerly():
            tf.set_seed(self._seed)

    def get_seed(self, op_seed):
        """Under another seed than the first a graph with a seed of its own draws others, too."""
        if op_seed is not None:
            return self._real(op_seed)
        if self._is_of_eager_time():
            return PIN, 1
        graph = self._tf.ops.get_default_graph()
        number = self._counts.get(graph, 0)
        self._counts[graph] = number + 1
        own = getattr(graph, "seed", None)
        base = self._seed if own is None else own + (self._seed - 1) * 7919
        return base % _MAXINT32, (number * 7919 + 12345) % _MAXINT32

    def _is_of_eager_time(self):
        """Whether this draw is made eagerly, or in a function that was traced from there."""
        tf = self._tf
        if tf.gen_stateless is None:
            return False
        if tf.context.executing_eagerly():
            return True
        graph = tf.ops.get_default_graph()
        if not getattr(graph, "building_function", False):
            return False
        while getattr(graph, "building_function", False):
            # What a pipeline draws in its own threads has no place among the draws of a step.
            if "Dataset_" in getattr(graph, "name", ""):
                return False
            graph = graph.outer_graph
        return bool(tf.ops.executing_eagerly_outside_functions())

    def _replace(self, name, counted):
        module = self._tf.gen_random
        real = getattr(module, name, None)
        if real is None:
            return

        def draw(*arguments, **options):
            seed = options.get("seed", 0)
            if seed != PIN:
                return real(*arguments, **options)
            rest = {key: value for key, value in options.items() if key not in ("seed", "seed2")}
            return counted(*arguments, **rest)

        draw.__name__, draw.__doc__ = name, real.__doc__
        setattr(module, name, draw)

    def _floats(self, stateless):
        def draw(shape, dtype, name=None):
            return stateless(shape, self._next(), dtype=dtype, name=name)

        return draw

    def _integers(self, shape, minval, maxval, name=None):
        op = self._tf.gen_stateless.stateless_random_uniform_int
        return op(shape, self._next(), minval, maxval, name=name)

    def _multinomial(self, logits, num_samples, output_dtype=None, name=None):
        op = self._tf.gen_stateless.stateless_multinomial
        options = {} if output_dtype is None else {"output_dtype": output_dtype}
        return op(logits, num_samples, self._next(), name=name, **options)

    def _next(self):
        """The seed of this draw. The count is a variable, so that a compiled step counts, too."""
        tf = self._tf
        if self._counter is None:
            with tf.ops.init_scope():
                self._counter = tf.module.Variable(
                    [self._seed, 0], dtype="int64", trainable=False, name="tfrewrite_draws"
                )
            self._weights.disown(self._counter)
        self._counter.assign_add([0, 1])
        return self._counter.read_value()
