"""Whether anybody could tell that a tensor is one object, where each turn of a loop made its own.

Nothing changes what a tensor holds. What may be seen is which object it is: by `is`, by a list or
an attribute that keeps it, by a tape that is asked for its gradient, and by whoever is not known.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Thing
from tfrewrite.analysis.effects import effect_of
from tfrewrite.analysis.program.scopes import How

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_ABOUT_IT = frozenset("shape dtype ndim device get_shape numpy".split())
_READING = frozenset(
    [
        *(
            f"builtins.{name}"
            for name in "float int bool len str repr print format isinstance".split()
        ),
        *(
            f"numpy.{name}"
            for name in "mean sum max min argmax argmin std var dot matmul prod isnan".split()
        ),
    ]
)
# They may give the very tensor that they are given.
_HANDING_ON = frozenset(
    "convert_to_tensor identity cast saturate_cast stop_gradient ensure_shape math.real math.conj"
    " nn.dropout keras.backend.cast keras.backend.stop_gradient".split()
)
_UNFIT = ("raw_ops.", "experimental.", "compat.")
_CALLED = frozenset({"model", "layer", "loss", "metric"})
_METHODS = {
    "metric": frozenset({"update_state"}),
    "variable": frozenset({"assign", "assign_add", "assign_sub"}),
}
_FORWARD = frozenset({"call", "__call__"})
_DISPLAYS = (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.Starred)


@dataclass
class Fate:
    """The places that use a tensor, and the first one that might tell which object it is."""

    home: ast.AST | None
    """The function that makes it."""
    uses: list[ast.AST] = field(default_factory=list)
    elsewhere: ast.AST | None = None


class TensorUses:
    """Follows tensors of eager code to their uses."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._names = facts.names
        self._scopes = facts.scopes
        self._flow = facts.flow
        self._own = facts.own_calls
        self._values = facts.eager_values
        self._compiled = facts.compiled_functions

    def fate(self, expr: ast.expr) -> Fate:
        """What becomes of the tensor that an expression makes."""
        fate = Fate(self._source.function(expr))
        self._use(expr, fate, set())
        return fate

    def _use(self, use: ast.expr, fate: Fate, seen: set[ast.AST]) -> None:
        fate.uses.append(use)
        if fate.elsewhere is None and not self._is_fit(use, fate, seen):
            fate.elsewhere = use

    def _is_fit(self, use: ast.expr, fate: Fate, seen: set[ast.AST]) -> bool:
        parent = self._source.parent(use)
        match parent:
            case ast.BinOp() | ast.UnaryOp() | ast.FormattedValue() | ast.Expr() | ast.Subscript():
                return True
            case ast.If(test=test) | ast.While(test=test) | ast.Assert(test=test) if test is use:
                return True
            case ast.For(iter=over) | ast.comprehension(iter=over):
                return over is use
            case ast.AugAssign(value=value):
                return value is use
            case ast.Compare(ops=operators):
                unlike = (ast.Is, ast.IsNot, ast.In, ast.NotIn)
                return not any(isinstance(one, unlike) for one in operators)
            case ast.IfExp() | ast.BoolOp() | ast.NamedExpr():
                self._use(parent, fate, seen)
                return not isinstance(parent, ast.NamedExpr) or self._bound(parent, fate, seen)
            case ast.Attribute(attr=attribute):
                return attribute in _ABOUT_IT and isinstance(parent.ctx, ast.Load)
            case ast.Return():
                # The next call makes another one.
                return self._source.function(use) is fate.home
            case ast.Assign(targets=targets, value=value) if value is use:
                plain = (ast.Name, ast.Tuple)  # a tensor that is unpacked gives new ones
                return all(isinstance(one, plain) for one in targets) and self._bound(
                    parent, fate, seen
                )
            case ast.AnnAssign(target=ast.Name(), value=value) if value is use:
                return self._bound(parent, fate, seen)
            case ast.Call() | ast.keyword():
                return self._given(use, parent, fate, seen)
        if isinstance(parent, _DISPLAYS):
            return self._in_display(parent) or self._listed(parent, use, fate, seen)
        return False

    def _bound(self, binder: ast.AST, fate: Fate, seen: set[ast.AST]) -> bool:
        """Follows the names that a statement binds a tensor to."""
        if binder in seen:
            return True
        seen.add(binder)
        if isinstance(self._scopes.of(binder).node, ast.ClassDef):
            return False
        for target in _targets(binder):
            for use in self._uses(target, binder):
                self._use(use, fate, seen)
        return True

    def _in_display(self, display: ast.AST) -> bool:
        """A list that goes into a call at once, which takes the tensors out of it again."""
        outer: ast.AST = display
        while isinstance(self._source.parent(outer), _DISPLAYS):
            parent = self._source.parent(outer)
            assert parent is not None
            outer = parent
        call = self._source.parent(outer)
        if isinstance(call, ast.keyword):
            call = self._source.parent(call)
        if not isinstance(call, ast.Call) or call.func is outer:
            return False
        return self._is_op(call) or self._runs_graph(call) or self._calls_thing(call)

    def _listed(self, display: ast.AST, use: ast.expr, fate: Fate, seen: set[ast.AST]) -> bool:
        """`h, c = tf.zeros([8]), tf.zeros([8])`, or a list of them that is only handed on."""
        statement = self._source.parent(display)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            uses = self._uses(target, statement)
            fate.uses += uses
            return all(self._takes_out(one, fate, seen) for one in uses)
        if not isinstance(target, ast.Tuple) or not isinstance(display, ast.Tuple):
            return False
        if len(target.elts) != len(display.elts):
            return False
        name = target.elts[display.elts.index(use)]
        starred = any(isinstance(one, ast.Starred) for one in (*target.elts, *display.elts))
        if starred or not isinstance(name, ast.Name):
            return False
        for one in self._uses(name, statement):
            self._use(one, fate, seen)
        return True

    def _takes_out(self, use: ast.Name, fate: Fate, seen: set[ast.AST]) -> bool:
        """Whether a list goes into a call, or is only asked for what is in it."""
        parent = self._source.parent(use)
        if isinstance(parent, ast.Subscript) and isinstance(parent.ctx, ast.Load):
            self._use(parent, fate, seen)
            return parent.value is use and isinstance(parent.slice, ast.Constant)
        call = self._source.parent(parent) if isinstance(parent, ast.keyword) else parent
        if not isinstance(call, ast.Call) or call.func is use:
            return False
        return self._is_op(call) or self._runs_graph(call) or self._calls_thing(call)

    def _uses(self, name: ast.Name, binder: ast.AST) -> list[ast.Name]:
        """The places that may see what a statement binds a name to."""
        return [
            use
            for use in self._scopes.uses(name)
            if any(one.node is binder for one in self._flow.reaching(use))
        ]

    def _given(self, use: ast.expr, parent: ast.AST, fate: Fate, seen: set[ast.AST]) -> bool:
        call = self._source.parent(parent) if isinstance(parent, ast.keyword) else parent
        if not isinstance(call, ast.Call) or call.func is use:
            return False
        if self._names.tf(call.func) in _HANDING_ON:
            self._use(call, fate, seen)
            return True
        if self._names.dotted(call.func) in _READING or self._is_op(call):
            return True
        if self._runs_graph(call) or self._calls_thing(call):
            return True
        parameter = self._own.parameter(call, use)
        function = self._own.function(call)
        if parameter is None or function is None or function.decorator_list:
            return False
        if parameter.node in seen or not isinstance(function, ast.FunctionDef):
            return parameter.node in seen
        seen.add(parameter.node)
        bindings = self._scopes.inside(function).bindings[parameter.name]
        if len(bindings) != 1 or parameter.how is not How.PARAMETER:
            return False
        for inner in self._own.uses(parameter):
            self._use(inner, fate, seen)
        return True

    def _is_op(self, call: ast.Call) -> bool:
        """Whether a call runs an op of TensorFlow on its arguments, and keeps none of them."""
        symbol = self._names.tf(call.func)
        if symbol is None or symbol.startswith(_UNFIT):
            return False
        if symbol in ("print", "Variable"):
            return True
        effect = effect_of(symbol, "2")
        return (
            effect is not None
            and effect.returns_tensor
            and effect.leaves_no_trace
            and not effect.host
            and not effect.calls
            and not effect.callables
        )

    def _runs_graph(self, call: ast.Call) -> bool:
        return self._compiled.runs(call) is not None and not self._compiled.eager

    def _calls_thing(self, call: ast.Call) -> bool:
        """Whether an object of Keras is called, or told a number."""
        func = call.func
        if self._is_keras(func, _CALLED):
            return True
        if not isinstance(func, ast.Attribute) or self._names.dotted(func) is not None:
            return False
        found = self._values.value(func.value)
        return isinstance(found, Thing) and func.attr in _METHODS.get(found.kind, frozenset())

    def _is_keras(self, func: ast.expr, kinds: frozenset[str]) -> bool:
        found = self._values.value(func)
        return isinstance(found, Thing) and found.kind in kinds and not found.code


def _targets(binder: ast.AST) -> list[ast.Name]:
    """The names that an assignment binds to its value as it is."""
    match binder:
        case ast.Assign(targets=targets):
            return [one for one in targets if isinstance(one, ast.Name)]
        case ast.AnnAssign(target=ast.Name() as target) | ast.NamedExpr(target=target):
            return [target]
    return []
