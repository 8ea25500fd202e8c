"""Bends a script at random: into what its owner might have written as well, or what nobody would.

A bend looks at a value, changes one, leaves a turn, puts statements under an `if` or a `try`, makes
a step twice or not at all. Most of them a rewrite has to respect or to refuse. What a name is
(`Kinds`) is known from a run of the script, so that a variable is assigned to and a model frozen.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

Kinds = Mapping[str, Sequence[str]]
"""The names of the module as a script left them, each with the classes that its value is of."""

_AT_THE_TOP = (ast.Import, ast.ImportFrom)
_LOOPS = (ast.For, ast.While)
_FIRST = """
history_ = []
flag_ = True
def noisy_(function_):
    def inner_(*a_, **k_):
        print('called')
        return function_(*a_, **k_)
    return inner_
"""
_LAST = "print('history', len(history_), [np.sum(one_) for one_ in history_])"
_LOOKS = (
    "print('seen', {0})", "print('seen', '%s' % ({0},))", "print(type({0}).__name__)",
    "seen_ = {0}", "print(np.sum({0}))", "assert {0} is not None", "history_.append({0})",
    "print(len({0}))", "print(isinstance({0}, np.ndarray))", "print(float(np.sum({0})) > 0.5)",
)  # fmt: skip
_OF_KIND = {
    "ndarray": (
        "{0}[...] = {0} * 0.9", "{0} *= 2", "{0} = {0} * 0.5", "{0}[0] = 0", "{0}.sort()",
        "np.random.shuffle({0})", "{0} = {0}[::-1]", "{0} = {0}[:-1]", "{0}.fill(0.5)",
        "view_ = {0}[:2]\nview_ += 1", "np.add({0}, 1, out={0}, casting='unsafe')", "del {0}",
        "{0} = list({0})", "{0} = {0}.astype(np.float64)", "{0}.setflags(write=False)",
    ),
    "int": ("{0} = {0} * 2", "{0} += 1", "{0} = {0} // 2", "{0} = -{0}", "{0} = np.int64({0})"),
    "float": ("{0} = {0} * 2", "{0} += 1", "{0} = np.float32({0})", "{0} = -{0}"),
    "list": (
        "{0}.clear()", "{0}.append({0}[0])", "{0}.reverse()", "{0} = {0}[:1]", "{0}.pop()",
        "{0} = {0} + {0}", "{0} = tuple({0})",
    ),
    "dict": ("{0}.clear()", "{0} = dict({0})", "{0}.update({0})"),
    "function": ("print({0}.__name__)", "calls_ = [{0}]", "{0} = noisy_({0})", "{0}.count_ = 1"),
}  # fmt: skip
_OF_GRAPHS = {
    "Variable": (
        "sess.run(tf.assign({0}, {0} * 0.9))", "sess.run({0}.initializer)",
        "sess.run({0}.assign_add({0} * 0.1))", "print(sess.run({0}).sum())",
        "keep_ = sess.run({0})", "{0} = {0} + 1",
    ),
    "Tensor": (
        "print(np.sum(sess.run({0})))", "{0} = tf.identity({0})", "{0} = {0} * 1",
        "{0} = tf.stop_gradient({0})", "{0} = tf.py_func(lambda a_: a_, [{0}], {0}.dtype)",
        "{0} = tf.cond(tf.constant(True), lambda: {0}, lambda: {0})",
        "with tf.control_dependencies([{0}]):\n    {0} = tf.identity({0})",
    ),
    "": (
        "print(len(tf.get_default_graph().get_operations()))", "new_ = tf.constant(1.0) + 1",
        "tf.get_default_graph().finalize()", "tf.add_to_collection('losses', tf.constant(1.0))",
        "print(tf.constant(2.0).name)", "tf.set_random_seed(3)", "np.random.seed(1)",
        "sess.run(tf.global_variables_initializer())", "tf.reset_default_graph()",
        "tf.train.Saver().save(sess, './kept_')", "print(sess.graph is tf.get_default_graph())",
    ),
}  # fmt: skip
_EAGER = {
    "BaseResourceVariable": (
        "{0}.assign({0} * 0.9)", "{0}.assign_add(tf.ones_like({0}) * 0.01)",
        "{0} = tf.Variable({0} + 0)", "keep_ = {0}.numpy()",
    ),
    "Model": (
        "{0}.trainable = False", "{0}.trainable = not {0}.trainable", "print(len({0}.losses))",
        "{0}.set_weights([w_ * 0.9 for w_ in {0}.get_weights()])", "{0}.compile('sgd', 'mse')",
        "for layer_ in {0}.layers[:1]:\n    layer_.trainable = False", "{0}.extra_ = 1",
        "{0} = tf.keras.models.clone_model({0})", "{0}.layers[0].activation = tf.nn.relu",
        "{0}.save_weights('kept_.weights.h5')", "{0}.add(tf.keras.layers.Dense(1))",
    ),
    "BaseOptimizer": (
        "{0}.learning_rate = 0.001", "{0}.learning_rate.assign(0.002)", "{0}.clipnorm = 0.01",
        "{0} = tf.keras.optimizers.SGD(0.01)", "print(int({0}.iterations))",
        "{0}.iterations.assign(0)", "{0}.weight_decay = 0.1",
    ),
    "Metric": (
        "{0}.reset_state()", "print(float({0}.result()))", "{0} = tf.keras.metrics.Mean()",
    ),
    "DatasetV2": (
        "{0} = {0}.take(3)", "{0} = {0}.shuffle(10)", "{0} = {0}.repeat(2)", "{0} = list({0})",
        "for first_ in {0}:\n    break", "{0} = iter({0})", "{0} = {0}.prefetch(1)",
    ),
    "": (
        "tf.random.set_seed(2)", "np.random.seed(3)", "tf.config.run_functions_eagerly(True)",
        "tf.keras.backend.clear_session()", "print(float(tf.random.uniform([])))",
        "tf.keras.backend.set_floatx('float64')", "tf.print('here')",
        "tf.keras.mixed_precision.set_global_policy('mixed_float16')",
    ),
}  # fmt: skip
_INSTEAD = {
    "GradientDescentOptimizer": ("AdamOptimizer", "AdagradOptimizer", "RMSPropOptimizer"),
    "AdamOptimizer": ("GradientDescentOptimizer", "FtrlOptimizer"),
    "Adam": ("SGD", "Nadam", "RMSprop", "Adagrad", "Ftrl", "Adamax", "Lion", "AdamW"),
    "SGD": ("Adam", "Adagrad", "Nadam"),
    "Dropout": ("GaussianNoise", "AlphaDropout", "BatchNormalization"),
    "BatchNormalization": ("LayerNormalization", "UnitNormalization"),
    "LSTM": ("GRU", "SimpleRNN"),
    "GRU": ("LSTM",),
    "Mean": ("Sum",),
    "reduce_mean": ("reduce_sum", "reduce_max"),
    "trainable_variables": ("trainable_weights", "variables", "weights"),
    "global_variables": ("trainable_variables",),
}


@dataclass(frozen=True)
class _Block:
    """Statements that stand beside each other, and the loops around them in their function."""

    body: list[ast.stmt]
    loops: tuple[ast.For | ast.While, ...]


@dataclass
class Bender:
    """A script that bends are made in, one after the other."""

    text: str
    kinds: Kinds
    in_graph: bool
    seed: int
    made: list[str] = field(default_factory=list)
    """What was done, for those who look into it."""

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311
        self._tree = ast.parse(self.text)

    def bent(self, times: int) -> str | None:
        """The script with so many bends; None where what comes of it is not Python."""
        bends: list[Callable[[], str]] = [
            *[self._look] * 4, *[self._change] * 7, *[self._wrap] * 2, *[self._leave] * 2,
            *[self._copy] * 2, *[self._fetch] * 2 * self.in_graph, self._swap, self._drop,
            self._other_name, self._other_number, self._other_api, self._less, self._other_loop,
            self._decorate, self._in_function,
        ]  # fmt: skip
        self.made = [made for _ in range(times) if (made := self._random.choice(bends)())]
        self._tree.body[self._top : self._top] = ast.parse(_FIRST).body
        if "np" in self.kinds:
            self._tree.body += ast.parse(_LAST).body
        try:
            text = ast.unparse(ast.fix_missing_locations(self._tree)) + "\n"
            compile(text, "<bent>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return None
        return text if self.made else None

    # Places and names

    @property
    def _top(self) -> int:
        """Where the script begins, below its imports."""
        body = self._tree.body
        imports = [i for i, one in enumerate(body[:14]) if isinstance(one, _AT_THE_TOP)]
        return imports[-1] + 1 if imports else 0

    def _blocks(self, least: int = 1) -> list[_Block]:
        return [one for one in _blocks(self._tree, ()) if len(one.body) >= least]

    def _block(self, least: int = 1) -> _Block:
        """Any one, but rather one in a loop."""
        blocks = self._blocks(least)
        looped = [one for one in blocks if one.loops]
        return self._random.choice(looped if looped and self._random.random() < 0.7 else blocks)

    def _of(self, kind: str) -> list[str]:
        return sorted(name for name, kinds in self.kinds.items() if kind in kinds)

    def _insert(self, block: _Block, text: str) -> str:
        first = self._top if block.body is self._tree.body else 0
        place = self._random.randint(min(first, len(block.body)), len(block.body))
        block.body[place:place] = ast.parse(text).body
        return text

    def _conditions(self, block: _Block) -> list[str]:
        counts = [name for loop in block.loops for name in _set_by(loop)]
        found = [form.format(name) for name in counts for form in ("{0} % 2 == 0", "{0} > 1")]
        values = [name for one in block.body for name in _set_by(one)]
        return found + [f"np.sum({name}) > 0.6" for name in values] + ["len(history_) % 2 == 0"]

    # Bends; each says what it did, nothing where it found no place

    def _look(self) -> str:
        block = self._block()
        near = [name for one in (*block.body, *block.loops) for name in _set_by(one)]
        names = near if near and self._random.random() < 0.7 else _set_by(self._tree)
        if not names:
            return ""
        return self._insert(block, self._random.choice(_LOOKS).format(self._random.choice(names)))

    def _change(self) -> str:
        """A statement that changes something of a kind that the script has."""
        own = _OF_GRAPHS if self.in_graph else _EAGER
        found = [(one, name) for forms in (_OF_KIND, own) for kind, given in forms.items()
                 for name in (self._of(kind) if kind else [""])
                 for one in [self._random.choice(given)]]  # fmt: skip
        form, name = self._random.choice(found)
        return self._insert(self._block(), form.format(name))

    def _wrap(self) -> str:
        block = self._block()
        begin = self._random.randrange(len(block.body))
        end = self._random.randint(begin + 1, min(len(block.body), begin + 3))
        part = block.body[begin:end]
        condition = self._random.choice([*self._conditions(block), "flag_", "True"])
        form = self._random.choice(
            [f"if {condition}:\n    0", f"if {condition}:\n    0\nelse:\n    print('not')",
             "try:\n    0\nexcept Exception as error_:\n    print(type(error_).__name__)",
             "try:\n    0\nfinally:\n    print('ended')", "for once_ in range(1):\n    0",
             "for twice_ in range(2):\n    0", "with tf.name_scope('scope_'):\n    0"]
        )  # fmt: skip
        (around,) = ast.parse(form).body
        assert isinstance(around, (ast.If, ast.Try, ast.For, ast.With))
        around.body = part
        block.body[begin:end] = [around]
        return f"wrapped in {form}"

    def _leave(self) -> str:
        block = self._block()
        if not block.loops:
            return ""
        ways = ("break", "continue", "continue", "raise ValueError('stopped')", "raise SystemExit")
        condition = self._random.choice(self._conditions(block))
        return self._insert(block, f"if {condition}:\n    {self._random.choice(ways)}")

    def _copy(self) -> str:
        block = self._block()
        one = self._random.choice(block.body)
        block.body.insert(self._random.randint(0, len(block.body)), copy.deepcopy(one))
        return "copied " + ast.unparse(one)

    def _swap(self) -> str:
        body = self._block(2).body
        place = self._random.randrange(len(body) - 1)
        body[place : place + 2] = body[place + 1], body[place]
        return "swapped " + ast.unparse(body[place])

    def _drop(self) -> str:
        body = self._block(2).body
        return "dropped " + ast.unparse(body.pop(self._random.randrange(len(body))))

    def _fetch(self) -> str:
        """One of the runs once more beside it, of something else."""
        names = self._of("Tensor") + self._of("Variable") + self._of("Operation")
        runs = [
            (block, one, call)
            for block in self._blocks()
            for one in block.body
            if isinstance(one, (ast.Assign, ast.Expr))
            for call in ast.walk(one)
            if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "run" and call.args
        ]
        if not runs or not names:
            return ""
        block, one, call = self._random.choice(runs)
        new = copy.deepcopy(call)
        new.args[0] = ast.Name(self._random.choice(names), ast.Load())
        form = self._random.choice(["print('got', np.sum({0}))", "got_ = {0}", "{0}"])
        text = form.format(ast.unparse(new))
        place = block.body.index(one) + self._random.choice([0, 1])
        block.body[place:place] = ast.parse(text).body
        return text

    def _other_name(self) -> str:
        """Another value of the same kind, where one is read."""
        reads = [
            one
            for one in ast.walk(self._tree)
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load) and one.id in self.kinds
        ]
        read = self._random.choice(reads) if reads else None
        if read is None or not self.kinds[read.id]:
            return ""
        before = read.id
        read.id = self._random.choice(self._of(self.kinds[read.id][0]))
        return f"{read.id} in place of {before}" if read.id != before else ""

    def _other_number(self) -> str:
        numbers = [
            one
            for one in ast.walk(self._tree)
            if isinstance(one, ast.Constant) and type(one.value) in (int, float)
        ]
        if not numbers:
            return ""
        number = self._random.choice(numbers)
        before = number.value
        assert isinstance(before, (int, float))
        number.value = self._random.choice([0, 1, 2, 3, before * 2, before + 1])
        return f"{number.value} in place of {before}"

    def _other_api(self) -> str:
        found = [
            one
            for one in ast.walk(self._tree)
            if isinstance(one, ast.Attribute) and one.attr in _INSTEAD
        ]
        if not found:
            return ""
        one = self._random.choice(found)
        before, one.attr = one.attr, self._random.choice(_INSTEAD[one.attr])
        return f"{one.attr} in place of {before}"

    def _less(self) -> str:
        calls = [one for one in ast.walk(self._tree) if isinstance(one, ast.Call) and one.keywords]
        if not calls:
            return ""
        given = self._random.choice(calls).keywords
        return f"without {given.pop(self._random.randrange(len(given))).arg}"

    def _other_loop(self) -> str:
        loops = [
            one
            for one in ast.walk(self._tree)
            if isinstance(one, ast.For) and getattr(one.iter, "func", None) is not None
        ]
        if not loops:
            return ""
        loop = self._random.choice(loops)
        forms = ("list({0})", "iter({0})", "reversed(list({0}))", "[k_ for k_ in {0}][1:]")
        form = self._random.choice(forms).format(ast.unparse(loop.iter))
        loop.iter = ast.parse(form, mode="eval").body
        loop.orelse += ast.parse("print('all')").body
        return f"over {form}"

    def _decorate(self) -> str:
        functions = [one for one in ast.walk(self._tree) if isinstance(one, ast.FunctionDef)]
        if not functions:
            return ""
        decorator = "noisy_" if self.in_graph else self._random.choice(["noisy_", "tf.function"])
        function = self._random.choice(functions)
        function.decorator_list.insert(0, ast.parse(decorator, mode="eval").body)
        return f"@{decorator} of {function.name}"

    def _in_function(self) -> str:
        """All of the script in a function of its own."""
        body = self._tree.body[self._top :]
        if not body:
            return ""
        made = ast.parse("def main_():\n    0\nmain_()").body
        assert isinstance(made[0], ast.FunctionDef)
        made[0].body = body
        self._tree.body[self._top :] = made
        return "in a function"


def _blocks(node: ast.AST, loops: tuple[ast.For | ast.While, ...]) -> Iterator[_Block]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        loops = ()
    for name in ("body", "orelse", "finalbody", "handlers"):
        inner = getattr(node, name, None)
        if not isinstance(inner, list) or not inner:
            continue
        around = (*loops, node) if isinstance(node, _LOOPS) and name == "body" else loops
        if isinstance(inner[0], ast.stmt):
            yield _Block(inner, around)
        for one in inner:
            yield from _blocks(one, around)


def _set_by(node: ast.AST) -> list[str]:
    """The names that a piece of a script sets."""
    return [
        one.id
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    ]
