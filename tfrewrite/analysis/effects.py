"""What each public TensorFlow symbol does to state, as measured on TensorFlow itself.

The table (`effects.json`) is made by `tools/generate_effects.py`, which builds every symbol with
sample arguments and looks at the ops beneath the result; `docs/effects.md` says how. A symbol that
is not in the table could not be probed: nothing is known of it, and a rule refuses.

Symbols are dotted paths without the alias of TensorFlow: `nn.dropout`,
`train.AdamOptimizer.minimize`, `layers.Dense.__call__`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

Version = Literal["1", "2"]

GradientKind = Literal["none", "constant", "value"]
"""How the gradient with respect to one argument depends on that argument.

`none`: no gradient flows. `value`: it cannot be computed before the argument's value is there.
`constant`: it may be computed without.
"""

_WEAKNESS: Mapping[GradientKind, int] = {"none": 0, "constant": 1, "value": 2}

# Names that Keras had before 3 for functions of losses, and those that 2.21 has them under: on 2.15
# both are the same object.
_BEFORE_KERAS_3: Mapping[str, str] = {
    f"{module}.{old}": f"{module}.{new}"
    for module in ("keras.losses", "keras.metrics", "losses", "metrics")
    for old, new in (
        ("mean_squared_error", "MSE"),
        ("mean_absolute_error", "MAE"),
        ("mean_absolute_percentage_error", "MAPE"),
        ("mean_squared_logarithmic_error", "MSLE"),
        ("kullback_leibler_divergence", "KLD"),
        ("kl_divergence", "KLD"),
        ("log_cosh", "logcosh"),
    )
}

_RUNS_IMPURE = frozenset({"random", "writes", "iterates", "host", "calls", "collections"})
_BUILDS_STATE = frozenset({"creates", "registers", "collections"})


@dataclass(frozen=True)
class Effect:
    """What happens when a symbol is called, and when what it returned is run.

    `flags` are explained in docs/effects.md. `op` is the type of the op that makes the result,
    where every call makes the same. `alias`: the result may be its input's own buffer, so that
    reading it later reads the variable later. `gradient` maps an argument's name to how the
    gradient with respect to it depends on its value; `*` stands for the trainable variables that
    the call makes, `0` for `*args`. `completes` names the arguments whose gradient comes after each
    use of the argument beneath the result. `callables` names the arguments through which a function
    of the caller comes in: what *that* does is not part of this effect.
    """

    flags: frozenset[str]
    op: str | None = None
    alias: bool = False
    gradient: Mapping[str, GradientKind] = field(default_factory=dict, hash=False)
    completes: frozenset[str] = frozenset()
    callables: frozenset[str] = frozenset()
    parameters: tuple[str, ...] = ()
    """The names of the parameters by position, without `self`."""

    @property
    def pure(self) -> bool:
        """Running the result changes nothing, draws nothing, and cannot hide something that does.

        It may read variables (`reads`), so it is not constant, and it may raise (`asserts`).
        """
        return not self.flags & _RUNS_IMPURE

    @property
    def stateless(self) -> bool:
        """Pure, and reads no variable: the same feed gives the same result."""
        return self.pure and not self.flags & {"reads", "creates"}

    @property
    def leaves_no_trace(self) -> bool:
        """Calling it adds its own ops to the graph, and neither variables nor collections."""
        return not self.flags & _BUILDS_STATE

    @property
    def random(self) -> bool:
        return "random" in self.flags

    @property
    def reads(self) -> bool:
        return "reads" in self.flags

    @property
    def writes(self) -> bool:
        return "writes" in self.flags

    @property
    def iterates(self) -> bool:
        return "iterates" in self.flags

    @property
    def creates(self) -> bool:
        return "creates" in self.flags

    @property
    def host(self) -> bool:
        return "host" in self.flags

    @property
    def asserts(self) -> bool:
        return "assert" in self.flags

    @property
    def collections(self) -> bool:
        return "collections" in self.flags

    @property
    def registers(self) -> bool:
        return "registers" in self.flags

    @property
    def calls(self) -> bool:
        return "calls" in self.flags

    @property
    def returns_tensor(self) -> bool:
        return "not-tensor" not in self.flags

    def waits_for(self, argument: str) -> bool:
        """Is the gradient with respect to this argument sure to come after the argument's value?"""
        return self.gradient.get(argument) == "value"

    def with_flags_of(self, other: Effect | None) -> Effect:
        """The same, doing what the other does as well."""
        return self if other is None else replace(self, flags=self.flags | other.flags)

    def either(self, other: Effect) -> Effect:
        """What holds when it is not known which of the two is called."""
        flags = self.flags | other.flags
        if self.returns_tensor or other.returns_tensor:
            flags -= {"not-tensor"}
        gradient: dict[str, GradientKind] = {
            name: min(kind, other.gradient[name], key=lambda k: _WEAKNESS[k])
            for name, kind in self.gradient.items()
            if name in other.gradient
        }
        return Effect(
            flags=flags,
            op=self.op if self.op == other.op else None,
            alias=self.alias or other.alias,
            gradient=gradient,
            completes=frozenset(
                name for name in self.completes & other.completes if gradient.get(name) == "value"
            ),
            callables=self.callables | other.callables,
            parameters=_common_start(self.parameters, other.parameters),
        )


def _common_start(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(x for x, _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def effect_of(symbol: str, version: Version | None = None) -> Effect | None:
    """The effect of a symbol, or None where nothing is known of it.

    `version` "1" means tf.* of TensorFlow 1 and tf.compat.v1.* (the table holds for both), "2"
    means tf.* of TensorFlow 2. Without it the answer holds for every version that has the symbol.
    """
    for prefix, spelled in (("compat.v1.", "1"), ("compat.v2.", "2")):
        if symbol.startswith(prefix):
            return _lookup(symbol.removeprefix(prefix), "1" if spelled == "1" else "2")
    if version == "2":
        return _lookup(_BEFORE_KERAS_3.get(symbol, symbol), version)
    if version is not None:
        return _lookup(symbol, version)
    first, second = _lookup(symbol, "1"), _lookup(symbol, "2")
    if first is None or second is None:
        return first or second
    return first if first == second else first.either(second)


def symbols_of(version: Version) -> frozenset[str]:
    """Every symbol that the table has for a version of the interface."""
    bare = {symbol.removeprefix("v2:") for symbol in _symbols()}
    return frozenset(symbol for symbol in bare if _lookup(symbol, version) is not None)


def tensorflow_versions() -> Mapping[str, str]:
    """The TensorFlow releases that were measured, by API version."""
    versions: Mapping[str, str] = _table()["tensorflow"]
    return versions


@cache
def _lookup(symbol: str, version: Version) -> Effect | None:
    symbols = _symbols()
    entry = symbols.get("v2:" + symbol) if version == "2" else None
    if entry is None:
        entry = symbols.get(symbol)
        if entry is None or (version == "2" and entry.get("v") == "1"):
            return None
        if version == "1" and entry.get("v") == "2":
            return None
    return Effect(
        flags=frozenset(entry.get("flags", ())),
        op=entry.get("op"),
        alias=entry.get("alias", False),
        gradient=entry.get("gradient", {}),
        completes=frozenset(entry.get("completes", ())),
        callables=frozenset(entry.get("callables", ())),
        parameters=tuple(entry.get("parameters", ())),
    )


@lru_cache(maxsize=1)
def _symbols() -> dict[str, dict[str, Any]]:
    return {path: group["effect"] for group in _table()["effects"] for path in group["symbols"]}


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    text = (Path(__file__).parent / "effects.json").read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    if table["schema"] != 1:
        raise ValueError(
            f"effects.json has schema {table['schema']}, but this version reads 1: reinstall it"
        )
    return table


def gives_tensor(symbol: str) -> bool:
    """Whether what a symbol returns is made by ops: a tensor, and never an array."""
    effect = effect_of(symbol)
    return (
        effect is not None
        and effect.returns_tensor
        and not effect.flags & {"calls", "host"}
        and not symbol.startswith(("keras.backend.", "nest."))
    )
