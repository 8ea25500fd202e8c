"""What a file's classes are and hold, traps first: whatever the text does not show is not known."""

from __future__ import annotations

import ast

import pytest

from analysis_helpers import class_, expression, facts, function, use
from tfrewrite.analysis.facts import Facts
from tfrewrite.analysis.program.names import Names


def stored(text: str, attribute: str = "loss", cls: str = "Model") -> list[str] | None:
    """What may be stored in an attribute, as text, in the order of the lines."""
    found = facts(text)
    stores = found.classes.stores(class_(found, cls), attribute)
    if stores is None:
        return None
    told = sorted(stores, key=lambda store: store.target.lineno)
    return [ast.unparse(store.value) if store.value else "?" for store in told]


def owner_of_self(found: Facts, name: str = "self") -> ast.ClassDef | None:
    return found.classes.of_self(use(found, name))


MODEL = """
class Model:
    def __init__(self):
        self.loss = 1
"""


# ---- traps: stores that make an attribute unknown ----------------------------------------------


@pytest.mark.parametrize(
    "more",
    [
        "setattr(model, name, 2)",
        "model.__dict__['loss'] = 2",
        "model.__dict__.update(loss=2)",
        "object.__setattr__(model, 'loss', 2)",
        "vars(model)['loss'] = 2",
        "exec('model.loss = 2')",
        "eval('f(model)')",
    ],
)
def test_a_file_that_sets_attributes_unseen_hides_all_of_them(more: str) -> None:
    assert stored(MODEL) == ["1"]
    assert stored(MODEL + more + "\n") is None
    assert facts(MODEL + more + "\n").classes.dynamic


@pytest.mark.parametrize(
    "head",
    [
        "class Model(Unknown):",
        "class Model:\n    def __new__(cls): return other\n",
        "class Model:\n    def __init_subclass__(cls): pass\n",
        "class Model(tf.keras.Model):",
        "class Model(metaclass=Meta):",
        "class Model(make_base()):",
        "@decorate\nclass Model:",
    ],
)
def test_a_class_of_unknown_making_holds_nothing_known(head: str) -> None:
    text = MODEL.replace("class Model:", head)
    assert stored(text) is None
    found = facts(text)
    assert found.classes.family(class_(found, "Model")) is None
    assert found.classes.method(class_(found, "Model"), "__init__") is None


@pytest.mark.parametrize("hook", ["__getattr__", "__getattribute__", "__setattr__", "__slots__"])
def test_a_class_with_hooks_holds_nothing_known(hook: str) -> None:
    assert stored(MODEL + f"    def {hook}(self, *a): pass\n") is None


@pytest.mark.parametrize(
    "member", ["loss = 2", "loss: int = 2", "def loss(self): pass", "class loss: pass"]
)
def test_an_attribute_that_the_class_has_too_is_not_known(member: str) -> None:
    assert stored(MODEL + f"    {member}\n") is None


def test_an_annotation_in_the_class_gives_no_value() -> None:
    assert stored(MODEL + "    loss: int\n") == ["1"]


def test_a_class_whose_name_is_bound_twice_is_not_known() -> None:
    assert stored(MODEL + "Model = wrap(Model)\n") is None


def test_a_store_from_outside_counts_whatever_the_object() -> None:
    assert stored(MODEL + "model.loss = 2\nother().loss = 3\n") == ["1", "2", "3"]


def test_a_store_by_another_class_of_its_own_self_does_not_count() -> None:
    more = "class Other:\n    def set(self):\n        self.loss = 2\n"
    assert stored(MODEL + more) == ["1"]


def test_a_store_in_a_base_or_a_subclass_counts() -> None:
    text = """
    class Base:
        def set(self):
            self.loss = 1
    class Model(Base):
        def set_model(self):
            self.loss = 2
    class Child(Model):
        def set_child(self):
            self.loss = 3
    class Sibling(Base):
        def set_sibling(self):
            self.loss = 4
    """
    assert stored(text) == ["1", "2", "3"]


@pytest.mark.parametrize(
    "statement",
    [
        "for self.loss in v: pass",
        "with v as self.loss: pass",
        "del self.loss",
        "*self.loss, b = v",
        "b, (self.loss, c) = v",
        "self.loss: int",
    ],
)
def test_a_value_that_cannot_be_told_is_none(statement: str) -> None:
    assert stored(MODEL + f"        {statement}\n") == ["1", "?"]


def test_a_value_beside_a_starred_one_has_no_position() -> None:
    found = facts("class A:\n    def f(self):\n        *self.rest, self.last = v\n")
    stores = found.classes.stores(class_(found, "A"), "last") or []
    assert [(s.index, s.value) for s in stores] == [(None, None)]


def test_an_augmented_store_says_so() -> None:
    found = facts(MODEL + "        self.loss += 2\n")
    stores = found.classes.stores(class_(found, "Model"), "loss") or []
    assert sorted(s.augmented for s in stores) == [False, True]


# ---- traps: what is no self --------------------------------------------------------------------


@pytest.mark.parametrize(
    "method",
    [
        "@staticmethod\n    def f(self):",
        "@classmethod\n    def f(self):",
        "def f(other, self):",
        "def f(*self):",
        "def f(other, *, self):",
    ],
)
def test_not_every_parameter_of_a_method_is_self(method: str) -> None:
    found = facts(f"class A:\n    {method}\n        return self  # here\n")
    assert owner_of_self(found) is None


def test_a_rebound_self_is_no_self() -> None:
    text = "class A:\n    def f(self):\n        self = other()\n        return self  # here\n"
    assert owner_of_self(facts(text)) is None


def test_the_first_parameter_of_a_function_is_no_self() -> None:
    assert owner_of_self(facts("def f(self):\n    return self  # here\n")) is None
    text = "class A:\n    def m(self):\n        def f(self):\n            return self  # here\n"
    assert owner_of_self(facts(text)) is None
    assert owner_of_self(facts("class A:\n    f = lambda self: self  # here\n")) is None


def test_self_is_the_same_in_a_function_within_the_method_and_by_another_name() -> None:
    text = "class A:\n    def m(this):\n        return lambda: this  # here\n"
    found = facts(text)
    assert owner_of_self(found, "this") is class_(found, "A")


# ---- traps: code behind attributes and operators -------------------------------------------------


def test_every_decorated_method_counts_as_a_property() -> None:
    text = """
    class A:
        @property
        def loss(self): pass
        @lazy
        def cost(self): pass
        def plain(self): pass
    """
    assert facts(text).classes.properties == {"loss", "cost"}


@pytest.mark.parametrize(
    ("method", "overloads"),
    [
        ("__add__", True),
        ("__str__", True),
        ("__iter__", True),
        ("__getitem__", True),
        ("__eq__", True),
        ("__init__", False),
        ("__call__", False),
        ("__enter__", False),
        ("train", False),
    ],
)
def test_which_methods_change_what_operators_do(
    method: str,
    overloads: bool,  # noqa: FBT001
) -> None:
    assert facts(f"class A:\n    def {method}(self): pass\n").classes.overloads is overloads


# ---- what is known -------------------------------------------------------------------------------


def test_a_class_is_known_by_its_name_alone() -> None:
    found = facts("class A: pass\nclass B: pass\nB = 1\nA  # a\nB  # b\nx.A  # attribute\n")
    assert found.classes.defined(expression(found, "a")) is class_(found, "A")
    assert found.classes.defined(expression(found, "b")) is None
    assert found.classes.defined(expression(found, "attribute")) is None


def test_a_family_is_the_class_and_its_bases_nearest_first() -> None:
    found = facts("class A(object): pass\nclass B(A): pass\nclass C(B): pass\n")
    family = found.classes.family(class_(found, "C")) or []
    assert [cls.name for cls in family] == ["C", "B", "A"]


def test_a_class_named_as_its_own_base_is_not_known() -> None:
    found = facts("class A(A): pass\n")
    assert found.classes.family(class_(found, "A")) is None


def test_the_nearest_method_is_the_one_that_runs() -> None:
    text = """
    class A:
        def f(self): return 1
        def g(self): return 2
    class B(A):
        def f(self): return 3
    """
    found = facts(text)
    nearest = found.classes.method(class_(found, "B"), "f")
    assert nearest is class_(found, "B").body[0]
    assert found.classes.method(class_(found, "B"), "g") is function(found, "g")
    assert found.classes.method(class_(found, "B"), "h") is None


def test_a_store_knows_its_value_position_and_method() -> None:
    text = """
    class A:
        def build(self):
            self.first, self.second = make()
    a.third = value
    """
    found = facts(text)
    cls = class_(found, "A")
    (second,) = found.classes.stores(cls, "second") or []
    assert (second.index, second.owner) == (1, cls)
    assert second.method is function(found, "build")
    (third,) = found.classes.stores(cls, "third") or []
    assert (third.index, third.owner, third.method) == (None, None, None)


def test_an_attribute_that_nobody_sets_has_no_stores() -> None:
    assert stored(MODEL, "other") == []


def test_every_making_of_an_object_and_every_read_of_an_attribute() -> None:
    found = facts(MODEL + "a = Model()\nb = f(Model(1))\nc = Other()\na.loss, b.loss\na.loss = 2\n")
    assert len(found.classes.instantiations(class_(found, "Model"))) == 2
    assert len(found.classes.reads("loss")) == 2
    assert found.classes.reads("cost") == []


@pytest.mark.parametrize(
    "text",
    ["'loss'", "name", "'lo%s' % rest", "f'l{rest}'", "'{}'.format(name)", "'l' + rest"],
)
def test_an_attribute_may_be_read_by_a_text(text: str) -> None:
    assert facts(f"import operator\na = getattr(model, {text})\n").classes.read_by_text("loss")
    assert facts(f"a = attrgetter({text})(model)\n").classes.read_by_text("loss")


@pytest.mark.parametrize("text", ["getattr(model, 'net')", "getattr(np, name)", "print('loss')"])
def test_other_texts_read_other_attributes(text: str) -> None:
    found = facts(f"import numpy as np\na = {text}\nb = getattr(model, 'layer%d' % i)\n")
    assert not found.classes.read_by_text("loss")


def test_a_setattr_of_the_files_own_is_not_the_builtin() -> None:
    text = MODEL + "def setattr(a, b): pass\nsetattr(model, 'x')\n"
    assert isinstance(facts(text).names, Names)
    assert not facts(text).classes.dynamic
