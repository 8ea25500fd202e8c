"""Functions of the file that make the dict a run is fed with."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.analysis.batches.feed_entries import conditions, fills, put_by

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

Held = dict[str, tuple[ast.expr, ast.expr | None]]
"""By the text of its key, each key and its value; none where that depends on the way taken."""

# What gives the same twice, and does nothing else.
_PLAIN = (
    ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.BinOp,
    ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.operator, ast.unaryop, ast.boolop,
    ast.cmpop, ast.expr_context,
)  # fmt: skip


@dataclass(frozen=True)
class MadeFeed:
    """A call that gives a dict, and what that holds, seen from the call."""

    call: ast.Call
    made: tuple[ast.expr, ...]
    """The keys whose values the function makes."""
    named: tuple[tuple[ast.expr, ast.expr], ...]
    """The keys whose values have a name where it is called: numbers, and what it is given."""


class FeedHelpers:
    """Looks into them."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._classes = facts.classes
        self._own = facts.own_calls

    def made(self, call: ast.expr) -> MadeFeed | None:
        """The dict that a call gives, if all its keys can be named where the call stands."""
        function = self._own.function(call) if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or not isinstance(function, ast.FunctionDef):
            return None
        if any(isinstance(one, ast.Starred) for one in call.args):
            return None
        if any(keyword.arg is None for keyword in call.keywords) or self._replaced(call):
            return None
        look = _Look(self._facts, call, function)
        made: list[ast.expr] = []
        named: list[tuple[ast.expr, ast.expr]] = []
        for key, value in look.held():
            outside = look.outside(key)
            if outside is None:
                return None
            name = look.outside(value) if value is not None else None
            if name is None:
                made.append(outside)
            else:
                named.append((outside, name))
        if not made and not (named and look.only_gives()):
            return None
        return MadeFeed(call, tuple(made), tuple(named))

    def _replaced(self, call: ast.Call) -> bool:
        """Whether the method of a subclass may be called instead."""
        match call.func:
            case ast.Attribute(value=ast.Name() as owner, attr=name):
                cls = self._classes.of_self(owner)
                return cls is not None and self._classes.replaced(cls, name)
        return False


class _Look:
    """A look into a function from one of its calls."""

    def __init__(self, facts: Facts, call: ast.Call, function: ast.FunctionDef) -> None:
        self._source = facts.source
        self._scopes = facts.scopes
        self._classes = facts.classes
        self._own = facts.own_calls
        self._call = call
        self._function = function

    # The dict

    def held(self) -> list[tuple[ast.expr, ast.expr | None]]:
        """What the dict holds that the function gives back; nothing where that is not known."""
        last = self._function.body[-1]
        value = last.value if isinstance(last, ast.Return) else None
        if value is None or self._own.returned(self._function) != [value]:
            return []
        begun = self._begun(value)
        written = begun.value if isinstance(begun, ast.Assign) else value
        if not isinstance(written, ast.Dict) or None in written.keys:
            return []
        pairs = zip(written.keys, written.values, strict=True)
        held: Held | None = {ast.dump(key): (key, one) for key, one in pairs if key is not None}
        if begun is not None:
            held = self._filled(held or {}, self._filling(begun))
        return list((held or {}).values())

    def _begun(self, given: ast.expr) -> ast.Assign | None:
        """The statement that makes the dict, where it has a name and nothing else is done to it."""
        bindings = self._scopes.bindings(given) if isinstance(given, ast.Name) else []
        node = bindings[0].node if len(bindings) == 1 else None
        if not isinstance(node, ast.Assign) or node not in self._function.body:
            return None
        if len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            return None
        assert isinstance(given, ast.Name)
        filling = self._filling(node)
        for use in self._scopes.uses(given):
            if use is not given and not any(one in filling for one in self._source.ancestors(use)):
                return None
        return node

    def _filling(self, begun: ast.Assign) -> list[ast.stmt]:
        """The statements that put more into it."""
        target = begun.targets[0]
        assert isinstance(target, ast.Name)
        block = self._function.body
        return [one for one in block[block.index(begun) + 1 :] if fills(one, target.id)]

    def _filled(self, held: Held, statements: list[ast.stmt]) -> Held | None:
        """What a dict holds when it has been filled; none where a key may be left out."""
        for statement in statements:
            if not isinstance(statement, ast.If):
                held = held | {ast.dump(one.key): (one.key, one.value) for one in put_by(statement)}
                continue
            truth = self._truth(statement.test)
            ways = [statement.body] if truth is not False else []
            ways += [statement.orelse] if truth is not True else []
            filled = [self._filled(held, way) for way in ways]
            first, last = filled[0], filled[-1]
            if first is None or last is None or set(first) != set(last):
                return None
            held = {
                key: pair if last[key] == pair else (pair[0], None) for key, pair in first.items()
            }
        return held

    def only_gives(self) -> bool:
        """Whether a call does nothing but to give the dict, so that it may be left out."""
        *before, last = self._function.body
        value = last.value if isinstance(last, ast.Return) else None
        begun = self._begun(value) if value is not None else None
        filling = self._filling(begun) if begun is not None else []
        evaluated = [*self._call.args, *(keyword.value for keyword in self._call.keywords)]
        evaluated += _parts(begun.value if begun is not None else value)
        for statement in before:
            if statement in filling:
                evaluated += conditions(statement)
                evaluated += [part for one in put_by(statement) for part in (one.key, one.value)]
            elif statement is not begun and not _is_docstring(statement):
                return False
        return self._can_be_called() and all(map(self._plain, evaluated))

    def _can_be_called(self) -> bool:
        """Whether the call gives each parameter something, and only once."""
        parameters = self._function.args
        method = isinstance(self._source.parent(self._function), ast.ClassDef)
        names = [one.arg for one in parameters.args][1 if method else 0 :]
        others = zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True)
        needed = names[: max(len(names) - len(parameters.defaults), 0)]
        needed += [one.arg for one, default in others if default is None]
        names += [one.arg for one in parameters.kwonlyargs]
        given = names[: len(self._call.args)]
        given += [str(keyword.arg) for keyword in self._call.keywords]
        return (
            not (parameters.posonlyargs or parameters.vararg or parameters.kwarg)
            and len(self._call.args) <= len(names) - len(parameters.kwonlyargs)
            and len(set(given)) == len(given)
            and set(needed) <= set(given) <= set(names)
        )

    # What stands for its parts

    def outside(self, part: ast.expr) -> ast.expr | None:
        """What stands for a part of the dict where the function is called."""
        if isinstance(part, ast.IfExp):
            truth = self._truth(part.test)
            return None if truth is None else self.outside(part.body if truth else part.orelse)
        if isinstance(part, ast.Constant):
            return part
        root = part
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or not self._plain(part):
            return None
        if self._classes.of_self(root) is not None:
            return part if self._is_receiver(root) else None
        owner = self._scopes.of(root).owner(root.id)
        if owner is None:
            return None
        if owner.node is not self._function:
            seen = self._scopes.of(self._call).owner(root.id) is owner
            return part if seen else None
        return self._argument(root) if part is root else None

    def _argument(self, name: ast.Name) -> ast.expr | None:
        """What the call gives for a parameter that stays what it is."""
        bindings = self._scopes.bindings(name)
        if len(bindings) != 1 or not isinstance(bindings[0].node, ast.arg):
            return None
        given, default = self._own.argument(self._call, bindings[0]), bindings[0].value
        if given is None:
            return default if isinstance(default, ast.Constant) else None
        return given if self._plain(given) else None

    def _is_receiver(self, name: ast.Name) -> bool:
        """Whether the `self` of the function is the object that the code of the call calls so."""
        match self._call.func:
            case ast.Attribute(value=ast.Name(id=called) as owner) if called == name.id:
                return self._classes.of_self(owner) is self._classes.of_self(name)
        return False

    def _truth(self, test: ast.expr) -> bool | None:
        """How a test turns out in this call, where that is known."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                truth = self._truth(operand)
                return None if truth is None else not truth
            case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as op], comparators=[other]):
                given = self.outside(left)
                if not isinstance(given, ast.Constant) or not _is_none(other):
                    return None
                return (given.value is None) == isinstance(op, ast.Is)
        given = self.outside(test)
        return bool(given.value) if isinstance(given, ast.Constant) else None

    def _plain(self, expr: ast.expr) -> bool:
        """Whether an expression gives the same twice, and does nothing else."""
        operators = self._classes.overloads or "__getitem__" in self._classes.magic
        return all(
            isinstance(node, _PLAIN)
            and not (isinstance(node, ast.Attribute) and self._classes.runs_code(node))
            and not (operators and isinstance(node, (ast.BinOp, ast.Compare, ast.Subscript)))
            for node in ast.walk(expr)
        )


def _parts(written: ast.expr | None) -> list[ast.expr]:
    """The keys and values of a dict that is written out."""
    assert isinstance(written, ast.Dict)
    return [*filter(None, written.keys), *written.values]


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_none(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and part.value is None
