"""Who binds which name: Python's scopes, with every binding of every name in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import cast

from tfrewrite.analysis.program.source import Source

ScopeNode = (
    ast.Module
    | ast.FunctionDef
    | ast.AsyncFunctionDef
    | ast.Lambda
    | ast.ClassDef
    | ast.ListComp
    | ast.SetComp
    | ast.DictComp
    | ast.GeneratorExp
)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_OPENING = frozenset(
    (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, *COMPREHENSIONS)
)
# Most nodes of a tree are these. They hold nothing and bind nothing.
_LEAVES = frozenset((ast.Name, ast.Constant))
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class How(Enum):
    """In which way a name gets its value."""

    ASSIGN = "assign"  # name = value, name: T = value, (name := value)
    UNPACK = "unpack"  # name, other = value
    AUGMENT = "augment"  # name += value
    LOOP = "loop"  # for name in value, also in a comprehension
    WITH = "with"  # with value as name
    IMPORT = "import"
    PARAMETER = "parameter"
    FUNCTION = "function"
    CLASS = "class"
    OTHER = "other"  # del, except ... as name, match patterns, type parameters


@dataclass(frozen=True, eq=False)
class Binding:
    """One place where a name gets a value.

    `value` is the expression that the value comes from: the value itself for `ASSIGN` and
    `AUGMENT`, the thing unpacked for `UNPACK` (with `index` the position in it, where it has
    one), the iterable for `LOOP`, the manager for `WITH`, the default for `PARAMETER`.
    """

    name: str
    how: How
    node: ast.AST
    value: ast.expr | None = None
    index: int | None = None
    path: str = ""


@dataclass(eq=False)
class Scope:
    """One scope of the program: the names bound in it, and what is around it."""

    node: ScopeNode
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    elsewhere: dict[str, Scope] = field(default_factory=dict)
    """Names that `global` or `nonlocal` moves to another scope."""
    binders: list[ast.AST] = field(default_factory=list)
    """The nodes evaluated in this scope that may bind names, in the order of the text."""

    @property
    def star_imports(self) -> list[ast.ImportFrom]:
        return [
            node
            for node in self.binders
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
        ]

    def owner(self, name: str) -> Scope | None:
        """The scope that a name belongs to when it is used in this one."""
        if name in self.elsewhere:
            return self.elsewhere[name]
        if name in self.bindings:
            return self
        scope = self.parent
        while scope is not None:
            if not isinstance(scope.node, ast.ClassDef):
                if name in scope.elsewhere:
                    return scope.elsewhere[name]
                if name in scope.bindings:
                    return scope
            scope = scope.parent
        return None


class Scopes:
    """All scopes of a file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.module = Scope(source.tree, None)
        self._scopes: dict[ast.AST, Scope] = {source.tree: self.module}
        self._home: dict[ast.AST, Scope] = {}
        self._open()
        self._declare()
        self._fill()

    def of(self, node: ast.AST) -> Scope:
        """The scope that a node is evaluated in."""
        return self._home.get(node, self.module)

    def inside(self, node: ScopeNode) -> Scope:
        """The scope that a module, function, class or comprehension opens."""
        return self._scopes[node]

    def all(self) -> Iterator[Scope]:
        yield from self._scopes.values()

    def bindings(self, name: ast.Name) -> list[Binding]:
        """Every binding of the variable that a name stands for; empty for builtins."""
        owner = self.of(name).owner(name.id)
        return owner.bindings.get(name.id, []) if owner else []

    def function(self, name: ast.Name) -> ast.FunctionDef | None:
        """The function of the file that a name stands for, if it is bound to nothing else."""
        bindings = self.bindings(name)
        if len(bindings) == 1 and isinstance(bindings[0].node, ast.FunctionDef):
            return bindings[0].node
        return None

    def uses(self, name: ast.Name) -> list[ast.Name]:
        """Every place of the file that reads the variable that a name stands for."""
        owner = self.of(name).owner(name.id)
        same = self._loads.get(name.id, [])
        return [use for use in same if self.of(use).owner(use.id) is owner]

    @cached_property
    def _loads(self) -> dict[str, list[ast.Name]]:
        found: dict[str, list[ast.Name]] = {}
        for node in self.source.all(ast.Name):
            if isinstance(node.ctx, ast.Load):
                found.setdefault(node.id, []).append(node)
        return found

    def _open(self) -> None:
        """Finds every scope, and for each node the scope that it is evaluated in."""
        children = self.source.children
        stack = [(node, self.module) for node in reversed(children(self.source.tree))]
        while stack:
            node, scope = stack.pop()
            self._home[node] = scope
            kind = type(node)
            if kind in _BINDERS:
                scope.binders.append(node)
            if kind in _OPENING:
                stack += self._opened(cast("ScopeNode", node), scope)
                continue
            for child in reversed(children(node)):
                if type(child) in _LEAVES:
                    self._home[child] = scope
                else:
                    stack.append((child, scope))

    def _opened(self, node: ScopeNode, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
        """What is evaluated in the scope that a node opens, and around it; the last comes first."""
        children = self.source.children
        inner = self._scopes[node] = Scope(node, scope)
        outside = _outside_parts(node)
        for part in reversed(outside):
            yield part, scope
        for child in reversed(children(node)):
            if isinstance(child, (ast.arguments, ast.comprehension)):
                self._home[child] = inner
                for part in reversed(children(child)):
                    if part not in outside:
                        yield part, inner
            elif child not in outside:
                yield child, inner

    def _declare(self) -> None:
        """Honours `global` and `nonlocal` before any binding is filed."""
        for scope in self._scopes.values():
            for node in scope.binders:
                if isinstance(node, ast.Global):
                    scope.elsewhere.update(dict.fromkeys(node.names, self.module))
                elif isinstance(node, ast.Nonlocal):
                    for name in node.names:
                        scope.elsewhere[name] = self._enclosing_function(scope, name)

    def _enclosing_function(self, scope: Scope, name: str) -> Scope:
        outer = scope.parent
        while outer is not None and outer.parent is not None:
            if not isinstance(outer.node, ast.ClassDef) and any(
                name == bound.name for bound in _bindings_in(outer)
            ):
                return outer.elsewhere.get(name, outer)
            outer = outer.parent
        return self.module

    def _fill(self) -> None:
        for scope in self._scopes.values():
            for binding in _bindings_in(scope):
                home = scope.elsewhere.get(binding.name, scope)
                if isinstance(binding.node, ast.NamedExpr):
                    while isinstance(home.node, COMPREHENSIONS) and home.parent is not None:
                        home = home.parent
                    home = home.elsewhere.get(binding.name, home)
                home.bindings.setdefault(binding.name, []).append(binding)


def _outside_parts(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        defaults = [d for d in node.args.kw_defaults if d is not None]
        returns = [node.returns] if node.returns else []
        return [*node.decorator_list, *node.args.defaults, *defaults, *returns]
    if isinstance(node, ast.Lambda):
        return [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
    if isinstance(node, ast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    if isinstance(node, COMPREHENSIONS):
        return [node.generators[0].iter]
    return []


_BINDERS = frozenset((
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.For, ast.AsyncFor, ast.With,
    ast.AsyncWith, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef,
    ast.ExceptHandler, ast.Delete, ast.MatchAs, ast.MatchStar, ast.MatchMapping, ast.Global,
    ast.Nonlocal,
))  # fmt: skip


def _bindings_in(scope: Scope) -> Iterator[Binding]:
    node = scope.node
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        yield from _parameters(node)
    if isinstance(node, COMPREHENSIONS):
        for generator in node.generators:
            yield from _targets(generator.target, How.LOOP, generator.iter, generator.target)
    for binder in scope.binders:
        yield from _bindings_of(binder)


def _parameters(function: Function) -> Iterator[Binding]:
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    defaults += arguments.defaults
    for index, (parameter, default) in enumerate(zip(positional, defaults, strict=True)):
        yield Binding(parameter.arg, How.PARAMETER, parameter, default, index)
    for parameter, keyword_default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield Binding(parameter.arg, How.PARAMETER, parameter, keyword_default)
    for variadic in (arguments.vararg, arguments.kwarg):
        if variadic is not None:
            yield Binding(variadic.arg, How.OTHER, variadic)


def _bindings_of(node: ast.AST) -> Iterator[Binding]:
    """The bindings that one node makes by itself."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _targets(target, How.ASSIGN, value, node)
        case ast.AnnAssign(target=ast.Name(id=name), value=value):
            yield Binding(name, How.ASSIGN if value else How.OTHER, node, value)
        case ast.AugAssign(target=ast.Name(id=name), value=value):
            yield Binding(name, How.AUGMENT, node, value)
        case ast.NamedExpr(target=ast.Name(id=name), value=value):
            yield Binding(name, How.ASSIGN, node, value)
        case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
            yield from _targets(target, How.LOOP, value, node)
        case ast.With(items=items) | ast.AsyncWith(items=items):
            for item in items:
                if item.optional_vars is not None:
                    yield from _targets(item.optional_vars, How.WITH, item.context_expr, node)
        case ast.Import(names=aliases):
            for alias in aliases:
                name = alias.asname or alias.name.partition(".")[0]
                path = alias.name if alias.asname else name
                yield Binding(name, How.IMPORT, node, path=path)
        case ast.ImportFrom(module=module, names=aliases, level=level):
            for alias in aliases:
                if alias.name != "*":
                    path = "." * level + ".".join(filter(None, [module, alias.name]))
                    yield Binding(alias.asname or alias.name, How.IMPORT, node, path=path)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield Binding(name, How.FUNCTION, node)
        case ast.ClassDef(name=name):
            yield Binding(name, How.CLASS, node)
        case ast.ExceptHandler(name=str(name)):
            yield Binding(name, How.OTHER, node)
        case ast.Delete(targets=targets):
            for target in targets:
                if isinstance(target, ast.Name):
                    yield Binding(target.id, How.OTHER, node)
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield Binding(name, How.OTHER, node)
        case ast.MatchMapping(rest=str(name)):
            yield Binding(name, How.OTHER, node)


def _targets(
    target: ast.expr, how: How, value: ast.expr, node: ast.AST, *, flat: bool = True
) -> Iterator[Binding]:
    """The bindings of an assignment's target; `index` is given for flat unpacking only."""
    if isinstance(target, ast.Name):
        yield Binding(target.id, how, node, value)
        return
    nested = How.UNPACK if how is How.ASSIGN else how
    if isinstance(target, (ast.Tuple, ast.List)):
        starred = any(isinstance(element, ast.Starred) for element in target.elts)
        for position, element in enumerate(target.elts):
            if isinstance(element, ast.Name) and flat and not starred:
                yield Binding(element.id, nested, node, value, position)
            else:
                yield from _targets(element, nested, value, node, flat=False)
    elif isinstance(target, ast.Starred):
        yield from _targets(target.value, nested, value, node, flat=False)


def path_in(binding: Binding) -> tuple[int, ...]:
    """Where in the target of an assignment or a loop a name stands: (1, 0) for x in `i, (x, y)`."""
    node = binding.node
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        targets = [node.target]
    elif isinstance(node, (ast.Name, ast.Tuple, ast.List)):  # of a comprehension
        targets = [node]
    for target in targets:
        found = _find(target, binding.name)
        if found is not None:
            return found
    return ()


def _find(target: ast.expr, name: str) -> tuple[int, ...] | None:
    if isinstance(target, ast.Name):
        return () if target.id == name else None
    if isinstance(target, (ast.Tuple, ast.List)):
        for position, element in enumerate(target.elts):
            found = _find(element, name)
            if found is not None:
                return (position, *found)
    if isinstance(target, ast.Starred):
        return _find(target.value, name)
    return None
