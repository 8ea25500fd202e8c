"""All attempts at one symbol, and what they say together."""

import inspect
import typing

from . import setting
from .attempts import attempt, new_graph
from .gradients import WORST
from .maker import Maker
from .plans import BASE_TRIES, combinations, plan, toggles
from .samples import TENSORS, candidates
from .setting import Hang, outside
from .symbols import Symbol, ready_made, signature

BASE_KEPT = 3
TOGGLE_TRIES = 90


def probe(symbol):
    """What was seen of one symbol, or why nothing was."""
    tries, bases, errors = 0, [], {}
    if symbol.owner is None:
        plans, optional = plan(symbol.target)
    else:
        method = inspect.getattr_static(symbol.owner, symbol.method)
        static = isinstance(method, (staticmethod, classmethod))
        if ready_made(symbol.owner):
            built = [{}]
        elif not static:
            built = workable_constructor(symbol.owner, plan(symbol.owner, "self.")[0])
        if not static and built is None:
            return {"error": "the class could not be built"}
        if static:
            symbol = Symbol(symbol.path, getattr(symbol.owner, symbol.method))
            plans, optional = plan(symbol.target)
            built = [{}]
        else:
            plans, optional = plan(symbol.target)
        if symbol.method == "__call__" and hasattr(symbol.owner, "update_state"):
            plans = plan(symbol.owner.update_state)[0]
        elif (
            symbol.method == "__call__"
            and inspect.isclass(symbol.owner)
            and hasattr(symbol.owner, "call")
        ):
            _, inner = plan(symbol.owner.call)
            optional = optional + [o for o in inner if o[0] not in dict(optional)]
            required, _ = signature(symbol.owner.call)
            names = [n for n, has, _ in required if not has]
            outer = [n for n, has, _ in signature(symbol.target)[0] if not has]
            if symbol.target is not symbol.owner.call and not outer and names:
                # Keras 3: __call__(*args, **kwargs); ask the layer's own `call`.
                plans = combinations(
                    [
                        (
                            "*" + "args",
                            ["[%s]" % t for t in TENSORS if not t.startswith("[")]
                            + ["@one_list", "@one_list_seq", "@cell_args", "@two"],
                        )
                    ]
                )
            elif (
                symbol.target is not symbol.owner.call
                and names
                and set(names) - set(outer)
                and len(names) > len(outer)
            ):
                plans = (
                    combinations([(n, candidates(n) or TENSORS) for n in names])[:BASE_TRIES]
                    + plans
                )
        plans = [dict(c, **p) for p in plans for c in built[:2]]
        if symbol.owner is not None:
            own = [] if ready_made(symbol.owner) else plan(symbol.owner)[1]
            optional = optional + [("self." + n, d) for n, d in own]
    seen = []
    for tokens in plans:
        if tries >= 3 * BASE_TRIES or len(bases) >= BASE_KEPT:
            break
        tries += 1
        try:
            got = attempt(symbol, tokens)
        except Hang:
            raise
        except BaseException as error:
            if isinstance(error, (KeyboardInterrupt, MemoryError)):
                raise
            errors.setdefault(type(error).__name__, str(error)[:120])
            continue
        bases.append(tokens)
        seen.append(got)
    if not bases and setting.API == 1:
        for tokens in plans[:20]:
            try:
                seen.append(attempt(symbol, tokens, filled=True))
            except Hang:
                raise
            except Exception:
                continue
            bases.append(tokens)
            break
    elif setting.API == 1 and any(got.asks_graph for got in seen):
        for tokens in bases:
            try:
                seen.append(attempt(symbol, tokens, filled=True))
            except Hang:
                raise
            except Exception:
                continue
    if not bases:
        return {"error": "; ".join("%s: %s" % e for e in sorted(errors.items())[:2])}
    summary = merge(symbol, seen)
    base_ops = set(s.op for s in seen)
    toggled = 0
    stripped = [
        ("self." if n.startswith("self.") else "", n.replace("self.", "", 1), d)
        for n, d in optional
    ]
    extra = []
    by_prefix = {}
    for prefix, n, d in stripped:
        by_prefix.setdefault(prefix, []).append((n, d))
    pairs = [(p + n, t) for p in ("", "self.") for n, t in toggles(by_prefix.get(p, []))]
    training = [n for n, _ in pairs if n in ("training", "is_training")]
    for name, token in pairs:
        if toggled >= TOGGLE_TRIES:
            break
        choices = [dict(bases[0])]
        if training and name not in training:
            choices.append(dict(bases[0], **{training[0]: "=True"}))
        for base in choices:
            if name in base:
                continue
            toggled += 1
            try:
                got = attempt(
                    symbol, dict(base, **{name: token}), token in ("=True", "=False", "b:", "=None")
                )
            except Hang:
                raise
            except BaseException as error:
                if isinstance(error, (KeyboardInterrupt, MemoryError)):
                    raise
                continue
            extra.append(got)
    summary = merge(symbol, seen + extra)
    summary["op"] = base_ops.pop() if len(base_ops) == 1 else None
    required_names = set()
    for tokens in bases:
        required_names |= set(k for k, t in tokens.items() if "@" in t)
    called = set()
    for got in seen + extra:
        called |= got.callables
    given = set().union(*[got.required_calls for got in seen])
    if given:
        summary["flags"] = sorted(set(summary["flags"]) | {"calls"})
    # A symbol that can be had without a callable is not of unknown effect for that.
    if any(not got.required_calls for got in seen):
        summary["flags"] = sorted(
            set(summary["flags"]) - ({"calls"} if not unknown_bodies(seen) else set())
        )
    summary["callables"] = sorted(c.replace("self.", "") for c in called)
    summary["tries"] = tries + toggled
    summary["bases"] = bases
    return summary


def unknown_bodies(seen):
    return any("calls" in got.flags for got in seen)


def workable_constructor(cls, plans):
    """Up to two {self.parameter: token} with which the class can be built."""
    key = cls.__module__ + "." + cls.__name__ + str(id(cls))
    if key not in CONSTRUCTORS:
        good = []
        for tokens in plans[: BASE_TRIES // 2]:
            graph = new_graph()
            try:
                with graph.as_default(), outside():
                    maker = Maker()
                    cls(
                        **{
                            k.replace("self.", ""): maker.make(k, t)
                            for k, t in tokens.items()
                            if not k.startswith("*")
                        }
                    )
            except Hang:
                raise
            except Exception:
                continue
            good.append(tokens)
            if len(good) == 2:
                break
        CONSTRUCTORS[key] = good or None
    return CONSTRUCTORS[key]


CONSTRUCTORS: typing.Dict[str, typing.Any] = {}


def merge(symbol, seen):
    flags = set()
    for got in seen:
        flags |= got.flags
    if not all("not-tensor" in got.flags for got in seen):
        flags.discard("not-tensor")
    gradient, completes = {}, {}
    for got in seen:
        for parameter, (kind, complete) in got.gradient.items():
            if parameter in gradient:
                kind = min(kind, gradient[parameter], key=lambda k: WORST[k])
                complete = complete and completes[parameter]
            gradient[parameter], completes[parameter] = kind, complete
    clean = lambda p: "0" if p.startswith("*") and p != "*" else p.replace("self.", "")  # noqa: E731
    return {
        "flags": sorted(flags),
        "gradient": {clean(p): k for p, k in sorted(gradient.items())},
        "completes": sorted(clean(p) for p, c in completes.items() if c),
    }
