"""The graph that a script builds, traps first: ways on which a value is lost or becomes many."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import run, traced, with_graph
from tfrewrite.analysis.facts import Facts
from tfrewrite.analysis.graphs.nodes import Kind, Node, beneath, flags, plain

SESSION = "\nsess = tf.Session()\n"


def fetched(text: str) -> Node:
    """What the run on the marked line fetches; the session is made before the text."""
    found = with_graph(SESSION + text)
    return fetched_in(found)


def fetched_in(found: Facts, mark: str = "here") -> Node:
    run_found = run(found, mark)
    assert run_found is not None
    return found.graph.trace(run_found.fetches)


def symbols(root: Node) -> set[str]:
    return {node.symbol for node in beneath(root) if node.kind is Kind.OP}


def reasons(root: Node) -> list[str]:
    return [node.why for node in beneath(root) if node.kind is Kind.UNKNOWN]


def why(text: str) -> str:
    """The one reason why the value of the marked statement is not known."""
    (reason,) = reasons(traced(with_graph(text)))
    return reason


# ---- traps: what is not known, and why ---------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nowhere  # here", "`nowhere` is not bound in this file"),
        ("import other\nother.loss  # here", "`other.loss`"),
        ("f = lambda: loss\nf()  # here", "the call `f(...)`"),
        ("v = (lambda: loss)  # here", "a lambda"),
        ("tf.no_such_thing  # here", "`tf.no_such_thing`, whose effect is not known"),
        ("tf.no_such_thing(x)  # here", "`tf.no_such_thing`, whose effect is not known"),
        ("unknown(loss)  # here", "the call `unknown(...)`"),
        ("import other\nother.f(loss)  # here", "the call `other.f(...)`"),
        ("loss.no_such_method()  # here", "the call `loss.no_such_method(...)`"),
        ("np.sum(loss)  # here", "the call `np.sum(...)`"),
        ("loss.source  # here", "attribute `source` of `loss`"),
        ("v = {k: loss for k in range(3)}  # here", "`{k: loss for k in range(3)}`"),
        ("v = 0 < loss < 1  # here", "`0 < loss < 1`"),
        ("def f(v):\n    v  # here", "parameter `v` of `f`, which a caller gives"),
        ("def f(*v):\n    v  # here", "`v`, bound in line 13"),
        ("del loss\nloss  # here", "`loss`, bound in line 13"),
        ("with open('x') as v:\n    v  # here", "`v`, bound in line 13"),
        (
            "def f():\n    global v\n    v = loss\nv  # here",
            "`v`, which a function sets in line 15",
        ),
        ("def f():\n    yield loss\nf()  # here", "generator `f`"),
        ("@wrap\ndef f():\n    return loss\nf()  # here", "the call `f(...)`"),
        ("async def f():\n    return loss\nf()  # here", "the call `f(...)`"),
        ("def f():\n    return 1\ndef f():\n    return loss\nf()  # here", "the call `f(...)`"),
        ("fetches = [loss]\nother = fetches\nv = fetches  # here", "`fetches`, which is changed"),
    ],
)
def test_where_the_way_is_lost_the_reason_is_told(text: str, words: str) -> None:
    assert why(text + "\n").startswith(words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("self.other  # here", "attribute `other` of `Model`, which this file does not set"),
        ("self.train  # here", "method `train` of `Model`"),
        ("self.grown  # here", "`self.grown`, which is rebound"),
        ("self.looped  # here", "`self.looped`, which is rebound"),
        ("self.given  # here", "parameter `value` of `__init__`, which a caller gives"),
    ],
)
def test_an_attribute_that_is_not_known_tells_why(text: str, words: str) -> None:
    model = f"""
class Model:
    def __init__(self, value):
        self.given = value
        self.grown = loss
        self.grown += 1
        for self.looped in v: pass
    def train(self):
        {text}
"""
    assert words in reasons(traced(with_graph(model)))


def test_an_unknown_base_makes_attributes_unknown() -> None:
    text = """
class Model(Unknown):
    def __init__(self):
        self.loss = loss
    def train(self):
        self.loss  # here
"""
    assert why(text) == "attribute `loss` of `Model`, which this file does not set"


# ---- traps: several values for one name --------------------------------------------------------


def test_a_value_that_depends_on_the_way_taken_is_both() -> None:
    root = fetched("v = loss\nif flag:\n    v = tf.random_normal([])\nsess.run(v)  # here\n")
    assert root.kind is Kind.CHOICE
    assert "random" in flags(root)


def test_a_conditional_expression_and_an_or_are_both() -> None:
    noise = "tf.random_normal([])"
    assert "random" in flags(fetched(f"sess.run(loss if flag else {noise})  # here\n"))
    assert "random" in flags(fetched(f"v = flag or {noise}\nsess.run(v)  # here\n"))


def test_a_name_rebound_in_a_loop_leads_to_itself_and_ends() -> None:
    root = fetched("v = x\nfor i in range(3):\n    v = tf.nn.relu(v)\nsess.run(v)  # here\n")
    assert {"nn.relu", "placeholder"} <= symbols(root)


def test_what_is_made_in_a_loop_is_many() -> None:
    root = fetched("for i in range(3):\n    v = tf.nn.relu(x)\nsess.run(v)  # here\n")
    assert root.symbol == "nn.relu"
    assert root.many


def test_what_is_made_in_a_comprehension_is_many() -> None:
    root = fetched("v = [tf.nn.relu(x) for i in range(3)]\nsess.run(v)  # here\n")
    assert all(node.many for node in root.values)


def test_a_variable_made_in_a_loop_is_many() -> None:
    root = fetched("for i in range(3):\n    v = tf.Variable(1.0)\nsess.run(v)  # here\n")
    assert (root.kind, root.many) == (Kind.VARIABLE, True)


def test_what_a_function_makes_that_a_loop_calls_is_many() -> None:
    text = "def f():\n    return tf.nn.relu(x)\nfor i in v:\n    r = f()\nsess.run(r)  # here\n"
    assert fetched(text).many


def test_each_call_of_a_function_makes_another_value() -> None:
    text = """
def f(v):
    return tf.nn.relu(v)
first = f(x)
second = f(w)
sess.run([first, second, first])  # here
"""
    first, second, again = (plain(node) for node in fetched(text).values)
    assert first is not second
    assert first is again
    assert not first.many
    assert plain(first.values[0]).symbol == "placeholder"
    assert plain(second.values[0]).kind is Kind.VARIABLE


def test_augmented_assignment_joins_the_old_value_with_the_new() -> None:
    root = fetched("v = x\nv += tf.random_normal([])\nsess.run(v)  # here\n")
    assert root.symbol == "add"
    assert {"placeholder", "random_normal"} <= symbols(root)


def test_a_binding_by_nonlocal_in_another_function_is_not_followed() -> None:
    text = """
def outer():
    v = loss
    def change():
        nonlocal v
        v = tf.random_normal([])
    change()
    return sess.run(v)  # here
"""
    assert reasons(fetched(text)) == ["`v`, which a function sets in line 20"]


def test_every_return_of_a_function_may_be_the_one() -> None:
    text = """
def f():
    if flag:
        return loss
    return tf.random_normal([])
sess.run(f())  # here
"""
    assert "random" in flags(fetched(text))


def test_a_function_without_a_return_gives_none() -> None:
    assert fetched("def f():\n    loss\nsess.run(f())  # here\n").kind is Kind.CONSTANT


def test_recursion_ends_in_the_unknown() -> None:
    text = "def f(v):\n    return f(tf.nn.relu(v))\nsess.run(f(x))  # here\n"
    assert reasons(fetched(text)) == ["the call `f(...)`"]


# ---- traps: containers -------------------------------------------------------------------------


def test_what_a_loop_appends_lies_beneath_a_list() -> None:
    text = """
fetches = [loss]
for i in range(3):
    fetches.append(tf.random_normal([]))
sess.run(fetches)  # here
"""
    root = fetched(text)
    assert "random" in flags(root)
    assert root.values[-1].many


def test_what_a_function_appends_to_a_global_list_lies_beneath_it() -> None:
    text = """
fetches = [loss]
def add():
    fetches.append(tf.random_normal([]))
sess.run(fetches)  # here
"""
    assert "random" in flags(fetched(text))


def test_what_is_stored_under_a_key_lies_beneath_a_dict() -> None:
    text = "d = {}\nd['noise'] = tf.random_normal([])\nsess.run(d)  # here\n"
    assert "random" in flags(fetched(text))


def test_an_entry_of_a_dict_that_grows_may_be_any() -> None:
    text = "d = {'a': loss}\nd[key] = tf.random_normal([])\nsess.run(d['a'])  # here\n"
    assert "random" in flags(fetched(text))


def test_an_element_at_an_unknown_position_may_be_any() -> None:
    for index in ("i", "-1", "1:", "'a'"):
        text = f"v = [tf.random_normal([]), loss]\nsess.run(v[{index}])  # here\n"
        assert "random" in flags(fetched(text)), index


def test_a_position_after_a_starred_element_may_be_any() -> None:
    text = "v = [*other, loss, tf.random_normal([])]\nsess.run(v[1])  # here\n"
    root = fetched(text)
    assert "random" in flags(root)
    assert reasons(root) == ["`other` is not bound in this file"]


def test_unpacking_with_a_star_may_give_any() -> None:
    text = "*some, last = [tf.random_normal([]), loss]\nsess.run(last)  # here\n"
    assert "random" in flags(fetched(text))


def test_a_loop_over_a_list_may_be_at_any() -> None:
    text = "for v in [loss, tf.random_normal([])]:\n    sess.run(v)  # here\n"
    assert "random" in flags(fetched(text))


def test_the_position_in_a_loops_target_is_not_one_in_its_iterable() -> None:
    text = "for n, v in [('a', loss), ('b', tf.random_normal([]))]:\n    sess.run(v)  # here\n"
    assert "random" in flags(fetched(text))


def test_a_list_that_an_attribute_holds_grows_from_every_method() -> None:
    text = """
class Model:
    def __init__(self):
        self.fetches = [loss]
    def add(self):
        self.fetches.append(tf.random_normal([]))
    def train(self):
        sess.run(self.fetches)  # here
"""
    assert "random" in flags(fetched(text))


def test_lists_that_are_joined_keep_what_both_hold() -> None:
    text = "v = [loss] + [tf.random_normal([])]\nsess.run(v)  # here\n"
    root = fetched(text)
    assert root.kind is Kind.STRUCTURE
    assert "random" in flags(root)


# ---- traps: control dependencies ---------------------------------------------------------------


def test_a_control_dependency_lies_beneath_what_is_made_in_its_block() -> None:
    text = """
with tf.control_dependencies([tf.random_normal([])]):
    v = tf.identity(loss)
    with tf.name_scope("inner"):
        deep = tf.identity(loss)
after = tf.identity(loss)
sess.run([v, deep])  # here
sess.run(after)  # after
"""
    found = with_graph(SESSION + text)
    structure = fetched_in(found)
    assert ["random" in flags(node) for node in structure.values] == [True, True]
    assert "random" not in flags(fetched_in(found, "after"))


def test_a_value_made_before_the_block_does_not_wait() -> None:
    text = """
with tf.control_dependencies([tf.random_normal([])]):
    v = loss
sess.run(v)  # here
"""
    assert "random" not in flags(fetched(text))


def test_a_graphs_own_control_dependencies_count_too() -> None:
    text = """
with tf.get_default_graph().control_dependencies([tf.random_normal([])]):
    v = tf.identity(loss)
sess.run(v)  # here
"""
    assert "random" in flags(fetched(text))


def test_a_control_dependency_around_a_call_reaches_into_the_function() -> None:
    text = """
def inner():
    return tf.identity(loss)
def outer():
    return inner()
with tf.control_dependencies([tf.random_normal([])]):
    v = outer()
sess.run(v)  # here
"""
    assert "random" in flags(fetched(text))


def test_a_control_dependency_around_a_definition_does_not_count() -> None:
    text = """
with tf.control_dependencies([tf.random_normal([])]):
    def f():
        return tf.identity(loss)
v = f()
sess.run(v)  # here
"""
    assert "random" not in flags(fetched(text))


# ---- what is followed --------------------------------------------------------------------------


def test_a_loss_is_followed_to_its_variables_and_placeholders() -> None:
    root = fetched("sess.run(loss)  # here\n")
    assert root.symbol == "reduce_mean"
    assert sum(node.kind is Kind.VARIABLE for node in beneath(root)) == 2
    assert flags(root) >= {"reads"}
    assert not flags(root) & {"random", "writes"}
    assert reasons(root) == []


def test_arguments_have_the_names_of_their_parameters() -> None:
    call = traced(with_graph("v = tf.matmul(x, w, transpose_b=True)  # here\n"))
    assert [key for key, _ in call.inputs] == ["a", "b", "transpose_b"]


def test_what_initialises_a_variable_is_not_beneath_it() -> None:
    root = traced(with_graph("v = w  # here\n"))
    assert list(beneath(root)) == [root]


@pytest.mark.parametrize(
    ("expression", "symbol"),
    [
        ("x + w", "add"),
        ("x - 1", "subtract"),
        ("2 * x", "multiply"),
        ("x / 2", "truediv"),
        ("x ** 2", "pow"),
        ("x @ w", "matmul"),
        ("-x", "negative"),
        ("x > 0", "greater"),
        ("x[0]", "strided_slice"),
        ("x[:, i]", "strided_slice"),
        ("w.assign(x)", "Variable.assign"),
        ("(v := tf.nn.relu(x))", "nn.relu"),
    ],
)
def test_operators_and_methods_are_operations(expression: str, symbol: str) -> None:
    root = traced(with_graph(f"v = {expression}  # here\n"))
    assert (root.kind, root.symbol) == (Kind.OP, symbol)


@pytest.mark.parametrize(
    "expression",
    [
        "1 + 2",
        "'a' * 3",
        "f'{x}'",
        "np.zeros([2, 3])",
        "np.zeros([2, 3])[0]",
        "np.random.rand(3).mean()",
        "len([1])",
        "x.shape",
        "x.get_shape()",
        "x.name",
        "tf.float32",
        "int('3')",
    ],
)
def test_python_values_are_constants(expression: str) -> None:
    assert traced(with_graph(f"v = {expression}  # here\n")).kind is Kind.CONSTANT


def test_an_object_is_no_tensor() -> None:
    for expression in ("optimizer", "tf.train.Saver()", "tf.Session()", "tf.layers.Dense(3)"):
        root = traced(with_graph(f"v = {expression}  # here\n"))
        assert root.kind is Kind.OBJECT, expression


def test_calling_a_layer_object_gives_a_tensor() -> None:
    root = traced(with_graph("layer = tf.layers.Dense(3)\nv = layer(x)  # here\n"))
    assert (root.kind, root.symbol) == (Kind.OP, "layers.Dense.__call__")


def test_the_results_of_a_call_that_gives_several_are_its_elements() -> None:
    text = "mean, variance = tf.nn.moments(x, [0])\nsess.run([mean, variance, mean])  # here\n"
    mean, variance, again = (plain(node) for node in fetched(text).values)
    assert mean.kind is Kind.ELEMENT
    assert (mean.inputs[0][0], variance.inputs[0][0]) == ("0", "1")
    assert mean is again
    assert plain(mean.values[0]) is plain(variance.values[0])


def test_a_literal_is_unpacked_exactly() -> None:
    text = "first, second = loss, tf.random_normal([])\nsess.run(first)  # here\n"
    assert fetched(text).symbol == "reduce_mean"


def test_a_literal_is_indexed_exactly() -> None:
    assert fetched("v = [x, loss]\nsess.run(v[1])  # here\n").symbol == "reduce_mean"
    assert fetched("v = {'a': x, 'b': loss}\nsess.run(v['b'])  # here\n").symbol == "reduce_mean"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("f(loss, x)", ["reduce_mean", "placeholder"]),
        ("f(b=loss, a=x)", ["placeholder", "reduce_mean"]),
        ("f(x)", ["placeholder", "truncated_normal"]),
        ("f(loss, b=x)", ["reduce_mean", "placeholder"]),
    ],
)
def test_arguments_and_defaults_reach_the_parameters(call: str, expected: list[str]) -> None:
    text = f"""
noise = tf.truncated_normal([])
def f(a, b=noise):
    return a, b
sess.run({call})  # here
"""
    root = plain(fetched(text))
    assert [plain(node).symbol for node in root.values] == expected


def test_keyword_only_defaults_reach_the_parameters() -> None:
    text = "def f(*, a=loss):\n    return a\nsess.run(f())  # here\n"
    assert fetched(text).symbol == "reduce_mean"


@pytest.mark.parametrize("call", ["f(*args)", "f(**options)", "f()"])
def test_arguments_that_are_hidden_are_not_known(call: str) -> None:
    text = f"def f(a):\n    return a\nsess.run({call})  # here\n"
    assert reasons(fetched(text)) == ["parameter `a` of `f`, which a caller gives"]


def test_methods_and_attributes_of_a_model_are_followed() -> None:
    text = """
class Model:
    def __init__(self, inputs):
        self.inputs = inputs
        self.build(3)
    def build(self, units):
        self.logits = self.dense(self.inputs)
        self.loss, self.other = tf.reduce_mean(self.logits), units
    def dense(self, value):
        return tf.nn.relu(value)
    @property
    def cost(self):
        return tf.square(self.loss)
model = Model(x)
sess.run([model.loss, model.cost, model.other])  # here
"""
    loss, cost, other = (plain(node) for node in fetched(text).values)
    assert symbols(loss) == {"reduce_mean", "nn.relu", "placeholder"}
    assert cost.symbol == "square"
    assert other.kind is Kind.CONSTANT
    assert not any(node.many for node in beneath(loss))


def test_two_objects_of_a_class_hold_different_values() -> None:
    text = """
class Model:
    def __init__(self, inputs):
        self.loss = tf.reduce_mean(inputs)
first = Model(x)
second = Model(tf.random_normal([]))
sess.run(first.loss)  # here
"""
    assert "random" not in flags(fetched(text))


def test_self_may_be_any_of_the_objects_made() -> None:
    text = """
class Model:
    def __init__(self, inputs):
        self.loss = tf.reduce_mean(inputs)
    def train(self):
        sess.run(self.loss)  # here
first = Model(x)
second = Model(tf.random_normal([]))
"""
    root = fetched(text)
    assert "random" in flags(root)
    assert root.many


def test_a_method_that_is_called_twice_makes_many() -> None:
    text = """
class Model:
    def __init__(self):
        self.build()
        self.build()
    def build(self):
        self.loss = tf.reduce_mean(x)
sess.run(Model().loss)  # here
"""
    assert fetched(text).many


BUILT = """
class Model:
    def build(self, value):
        self.loss = tf.reduce_mean(value)
model = Model()
"""


def test_a_method_that_is_called_from_outside_takes_what_it_is_given_there() -> None:
    root = fetched(BUILT + "model.build(x)\nsess.run(model.loss)  # here\n")
    assert reasons(root) == []
    assert not root.many


@pytest.mark.parametrize(
    "calls",
    ["other = model\nother.build(x)", "def build():\n    model.build(x)\nbuild()"],
)
def test_a_method_that_is_called_from_elsewhere_takes_unknown_arguments(calls: str) -> None:
    root = fetched(f"{BUILT}{calls}\nsess.run(model.loss)  # here\n")
    assert reasons(root) == ["parameter `value` of `build`, which a caller gives"]
    assert root.many


def test_the_session_of_a_with_statement_is_an_object() -> None:
    root = traced(with_graph("with tf.Session() as s:\n    v = s  # here\n"))
    assert (root.kind, root.symbol) == (Kind.OBJECT, "Session")


def test_tracing_the_same_expression_twice_gives_the_same_node() -> None:
    found = with_graph("v = tf.nn.relu(x)  # here\n")
    assert traced(found) is traced(found)
    assert isinstance(traced(found).expr, ast.Call)


def test_a_list_of_python_functions_results_is_a_structure() -> None:
    for call in ("list([loss])", "tuple([loss])", "zip([loss], [x])", "sorted([loss])"):
        root = traced(with_graph(f"v = {call}  # here\n"))
        assert root.kind is Kind.STRUCTURE, call
        assert "reduce_mean" in symbols(root), call


def test_the_values_of_a_dict_are_its_entries() -> None:
    root = fetched("d = {'a': loss}\nsess.run(list(d.values()))  # here\n")
    assert "reduce_mean" in symbols(root)


def test_command_line_flags_are_python_values() -> None:
    assert traced(with_graph("v = tf.app.flags.FLAGS  # here\n")).kind is Kind.CONSTANT


def test_names_of_other_modules_are_not_guessed() -> None:
    root = traced(with_graph("from model import total\nv = total + loss  # here\n"))
    assert reasons(root) == ["`model.total`"]
