"""Lists in which gradients are summed over several turns of a loop, and where that goes wrong.

An accumulator is a name, or an attribute of `self`, that is bound to zeros, that something is added
to, and that an optimizer applies. All places that use it are looked at; where one of them is not
understood, nothing is said about it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.accumulator_code import AccumulatorCode, Deed, Held, text_of
from tfrewrite.analysis.program.scopes import COMPREHENSIONS, Binding, How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.program.periods import Turn
    from tfrewrite.analysis.program.scopes import Scope

_ASSIGNS = (ast.Assign, ast.AnnAssign)
_APPLYING = frozenset({"apply_gradients", "apply"})
_SAME_LIST = ("trainable_variables", "trainable_weights", "variables", "weights")
_MAX_DEPTH = 6


@dataclass(frozen=True, eq=False)
class Reading:
    """A call that applies gradients, and the statement that reads the accumulator for it."""

    call: ast.Call
    at: ast.stmt


@dataclass(eq=False)
class Accumulator:
    """What holds sums of gradients, with all that is done with it."""

    name: str
    home: Scope | ast.ClassDef
    many: bool
    made: list[Binding]
    """Where it is bound to zeros."""
    deeds: dict[Deed, list[ast.stmt]] = field(default_factory=dict)
    readings: list[Reading] = field(default_factory=list)
    others: list[Held] = field(default_factory=list)
    """Where it is used in a way that is not understood."""

    def of(self, deed: Deed) -> list[ast.stmt]:
        return self.deeds.get(deed, [])


class Accumulators:
    """Finds them, and answers what is done with them."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._names = facts.names
        self._flow = facts.flow
        self._own = facts.own_calls
        self._classes = facts.classes
        self._periods = facts.periods
        self._code = AccumulatorCode(facts)

    @cached_property
    def all(self) -> list[Accumulator]:
        """Every accumulator that an optimizer applies, in the order of the text."""
        applies = [
            call
            for call in self._source.all(ast.Call)
            if isinstance(call.func, ast.Attribute) and call.func.attr in _APPLYING and call.args
        ]
        if not applies:
            return []
        found = list(self._candidates())
        for call in applies:
            for name, at in self._sources(call.args[0], self._source.statement(call)):
                for one in found:
                    if one.name == text_of(name) and self._home(name) is one.home:
                        one.readings.append(Reading(call, at))
        found = [one for one in found if one.readings]
        for one in found:
            self._look_at_uses(one)
        return sorted(found, key=lambda one: self._source.span(_statement(one.made[0])))

    def _candidates(self) -> Iterator[Accumulator]:
        made: dict[tuple[str, Scope | ast.ClassDef], list[Binding]] = {}
        for scope in self._scopes.all():
            for name, bindings in scope.bindings.items():
                plain = [one for one in bindings if isinstance(one.node, _ASSIGNS)]
                made[name, scope] = [one for one in plain if one.how is How.ASSIGN]
        for node in self._source.all(ast.Assign):
            target = node.targets[0]
            home = self._home(target) if isinstance(target, ast.Attribute) else None
            text = text_of(target)
            if home is not None and text is not None and len(node.targets) == 1:
                binding = Binding(text, How.ASSIGN, node, node.value)
                made.setdefault((text, home), []).append(binding)
        for (name, home), bindings in made.items():
            many = [one for one in bindings if self._code.many_zeros(one.value)]
            single = [one for one in bindings if self._code.zero(one.value)]
            if bool(many) != bool(single):
                yield Accumulator(name, home, many=bool(many), made=many or single)

    def _home(self, held: ast.expr) -> Scope | ast.ClassDef | None:
        """The scope of a name, or the class whose object an attribute belongs to."""
        if isinstance(held, ast.Name):
            return self._scopes.of(held).owner(held.id)
        if isinstance(held, ast.Attribute) and isinstance(held.value, ast.Name):
            cls = self._classes.of_self(held.value)
            methods = (held.attr, "__setattr__", "__getattr__", "__getattribute__")
            if cls is not None and not any(self._classes.method(cls, one) for one in methods):
                return cls
        return None

    def _sources(
        self, expr: ast.expr, at: ast.stmt, depth: int = 0
    ) -> Iterator[tuple[Held, ast.stmt]]:
        """What applied gradients are read from, and the statements that read it."""
        for name in self._code.made_of(expr):
            yield name, at
            values = self._values(name) if isinstance(name, ast.Name) else None
            if values is None or depth > _MAX_DEPTH:
                continue
            for value in values:
                yield from self._sources(value, self._source.statement(value), depth + 1)

    def _values(self, name: ast.Name) -> list[ast.expr] | None:
        """What a name may hold, where each of its values is a plain one."""
        reaching = self._flow.reaching(name)
        values = [
            one.value
            for one in reaching
            if one.value is not None
            and (one.how is How.ASSIGN or (one.how is How.UNPACK and one.index == 0))
        ]
        return values if values and len(values) == len(reaching) else None

    def _look_at_uses(self, one: Accumulator) -> None:
        read = {reading.at for reading in one.readings}
        for name in self._uses(one):
            statement, deed = self._unit(name, one)
            if self._home(name) is not one.home:
                one.others.append(name)
                continue
            if deed is not Deed.OTHER:
                known = one.deeds.setdefault(deed, [])
                if statement not in known:
                    known.append(statement)
            elif statement not in read:
                one.others.append(name)
        for statements in one.deeds.values():
            statements.sort(key=self._source.span)

    def _uses(self, one: Accumulator) -> Iterator[Held]:
        """Every use of its name; for an attribute those of all objects, which may be the same."""
        if isinstance(one.home, ast.ClassDef):
            attr = one.name.rpartition(".")[2]
            yield from (use for use in self._source.all(ast.Attribute) if use.attr == attr)
            return
        for name in self._source.all(ast.Name):
            if name.id == one.name and self._home(name) is one.home:
                yield name

    def _unit(self, name: Held, one: Accumulator) -> tuple[ast.stmt, Deed]:
        """The statement that a use belongs to: the loop over the tensors, where it is in one."""
        statement = self._source.statement(name)
        outer: ast.AST | None = statement
        for _ in range(3):
            if isinstance(outer, ast.For):
                deed = self._code.deed(outer, one.name, many=one.many)
                if deed is not Deed.OTHER:
                    return outer, deed
            outer = self._source.parent(outer) if outer is not None else None
        return statement, self._code.deed(statement, one.name, many=one.many)

    def holds_tensors(self, one: Accumulator) -> bool:
        """Whether its zeros are tensors, which nothing changes in place."""
        return all(self._code.is_tensors(binding.value) for binding in one.made)

    def is_seen(self, one: Accumulator, turn: ast.AST | None) -> bool:
        """Whether all that is done with it, in a turn or anywhere, is known and in one function."""
        if any(turn is None or self._periods.inside(use, turn) for use in one.others):
            return False
        made = [_statement(binding) for binding in one.made]
        places: list[ast.AST] = [*(reading.call for reading in one.readings), *one.others]
        for statements in one.deeds.values():
            places += [statement for statement in statements if statement not in made]
        return len({self._source.function(place) for place in places}) == 1

    def is_fresh(self, total: ast.stmt, one: Accumulator, turn: Turn) -> bool:
        """Whether what a statement adds comes from its own turn, as far as is seen."""
        stack: list[ast.AST] = [total]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "gradient":
                if self._is_carried_on(node, turn):
                    return False
                continue
            stack += self._source.children(node)
            if isinstance(node, ast.Attribute) and self._is_set_in(node, one, turn):
                return False
            if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
                continue
            if node.id == one.name or self._names.dotted(node) is not None:
                continue
            if any(self._is_carried(each, turn, 0) for each in self._flow.reaching(node)):
                return False
        return True

    def _is_set_in(self, read: ast.Attribute, one: Accumulator, turn: Turn) -> bool:
        """Whether an attribute gets a value in each turn, which may be of the turn before."""
        return text_of(read) != one.name and any(
            other.attr == read.attr and not isinstance(other.ctx, ast.Load)
            for other in ast.walk(turn)
            if isinstance(other, ast.Attribute)
        )

    def _is_carried_on(self, gradient: ast.Call, turn: Turn) -> bool:
        """Whether a tape records from turn to turn."""
        tape = gradient.func.value if isinstance(gradient.func, ast.Attribute) else gradient
        opened = self._flow.reaching(tape) if isinstance(tape, ast.Name) else []
        return any(not self._periods.inside(each.node, turn) for each in opened)

    def _is_carried(self, binding: Binding, turn: Turn, depth: int) -> bool:
        """Whether a value may hold something of the turns before."""
        value = binding.value
        if binding.how is How.AUGMENT or depth > _MAX_DEPTH:
            return True
        if binding.how not in (How.ASSIGN, How.UNPACK) or value is None:
            return False
        if not self._periods.inside(binding.node, turn):
            return False
        if isinstance(value, ast.Call) and getattr(value.func, "attr", "") == "gradient":
            return self._is_carried_on(value, turn)
        if isinstance(value, (ast.Call, ast.Name, ast.Attribute)):
            return False
        names = self._code.made_of(value)
        plain = [name for name in names if isinstance(name, ast.Name)]
        return not plain or any(
            self._is_carried(each, turn, depth + 1)
            for name in plain
            for each in self._flow.reaching(name)
        )

    def has_steady_share(self, reading: Reading, turn: Turn) -> bool:
        """Whether what is applied is not divided by a count, as a mean that goes on is."""
        for node in [*ast.walk(reading.at), *ast.walk(reading.call)]:
            if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.Mult)):
                for name in ast.walk(node):
                    if isinstance(name, ast.Name) and self._is_own(name):
                        if self._periods.changes(name, turn):
                            return False
        return True

    def _is_own(self, name: ast.Name) -> bool:
        """Whether it is no name of a comprehension."""
        owner = self._scopes.of(name).owner(name.id)
        return owner is not None and not isinstance(owner.node, COMPREHENSIONS)

    # Lists that become longer

    def extensions(self, one: Accumulator) -> Iterator[tuple[ast.stmt, ast.expr]]:
        """Where `accumulator + gradients` joins two lists, of which the zeros are applied."""
        if isinstance(one.home, ast.ClassDef) or not one.many:
            return
        bindings = one.home.bindings.get(one.name, [])
        added = {each: self._added(each, one) for each in bindings if each not in one.made}
        if not all(added.values()):
            return  # it may be an array by now, to which `+` adds
        for binding, value in added.items():
            if value is not None and self._is_list(value):
                if any(self._zeros_alone(reading, one) for reading in one.readings):
                    yield _statement(binding), value

    def _added(self, binding: Binding, one: Accumulator) -> ast.expr | None:
        match binding.node:
            case ast.AugAssign(op=ast.Add(), value=value):
                return value
            case ast.Assign(value=ast.BinOp(left=ast.Name(id=name), op=ast.Add(), right=right)):
                return right if name == one.name else None
        return None

    def _zeros_alone(self, reading: Reading, one: Accumulator) -> bool:
        """Whether the variables are as many as the zeros at the start of the list."""
        match reading.call.args[0]:
            case ast.Call(args=[ast.Name(id=name), partner]) if name == one.name:
                pass
            case _:
                return False
        overs = {self._same(made.value.generators[0].iter) for made in one.made
                 if isinstance(made.value, ast.ListComp)}  # fmt: skip
        return len(overs) == 1 and self._same(partner) in overs

    def _same(self, expr: ast.expr) -> str:
        """A text for a list of variables, the same for one list by several names."""
        if isinstance(expr, ast.Name):
            bindings = self._scopes.bindings(expr)
            if len(bindings) == 1 and isinstance(bindings[0].value, ast.Attribute):
                return ast.unparse(bindings[0].value)
        return ast.unparse(expr)

    def _is_list(self, expr: ast.expr, depth: int = 0) -> bool:
        """Whether a value is a list of gradients, and no tensor or array."""
        if depth > _MAX_DEPTH:
            return False
        match expr:
            case ast.Name():
                values = self._flow.reaching(expr)
                return bool(values) and all(self._holds_list(one, depth) for one in values)
            case ast.ListComp() | ast.List():
                return True
            case ast.Call(func=ast.Attribute(value=tape, attr="gradient"), args=[_, wanted, *_]):
                return self._is_tape(tape) and self._is_list_of_variables(wanted)
        return False

    def _holds_list(self, binding: Binding, depth: int) -> bool:
        value = binding.value
        if value is None or binding.how not in (How.ASSIGN, How.UNPACK):
            return False
        if isinstance(value, ast.Call):
            function = self._own.function(value)
            given = self._own.given_back(function) if function is not None else []
            if given and binding.how is How.UNPACK and binding.index is not None:
                parts = [
                    one.elts[binding.index]
                    for one in given
                    if isinstance(one, ast.Tuple) and len(one.elts) > binding.index
                ]
                return len(parts) == len(given) and all(
                    self._is_list(one, depth + 1) for one in parts
                )
            if given:
                return all(self._is_list(one, depth + 1) for one in given)
        return binding.how is How.ASSIGN and self._is_list(value, depth + 1)

    def _is_tape(self, expr: ast.expr) -> bool:
        if not isinstance(expr, ast.Name):
            return False
        made = [one.value for one in self._flow.reaching(expr)]
        return bool(made) and all(
            isinstance(one, ast.Call) and self._names.tf(one.func) == "GradientTape" for one in made
        )

    def _is_list_of_variables(self, expr: ast.expr) -> bool:
        match expr:
            case ast.List() | ast.Tuple():
                return True
            case ast.Attribute(attr=attr):
                return attr in _SAME_LIST
            case ast.Name():
                bindings = self._scopes.bindings(expr)
                value = bindings[0].value if len(bindings) == 1 else None
                plain = isinstance(value, (ast.List, ast.Attribute))
                return plain and value is not None and self._is_list_of_variables(value)
        return False


def _statement(binding: Binding) -> ast.stmt:
    assert isinstance(binding.node, ast.stmt)
    return binding.node
