"""Which combinations of sample arguments to try for a symbol, and in which order."""

import inspect
import itertools
import re

import numpy as np

from .samples import F0, F44, IDLE, IMAGE, SEQ, TENSOR_LIKE, TENSORS, VOLUME, candidates
from .symbols import signature

BASE_TRIES = 160


def combinations(names_and_values):
    """The product of the candidates: equal picks first (x and y alike), then by distance."""
    names = [n for n, _ in names_and_values]
    lists = [v for _, v in names_and_values]
    if not lists:
        return [{}]
    out = []
    longest = max(len(v) for v in lists)
    if len(lists) > 1:
        for i in range(longest):
            out.append(tuple(min(i, len(v) - 1) for v in lists))
    limits = [min(len(v), 9) for v in lists]
    if len(lists) == 1:
        limits = [len(lists[0])]
    elif len(lists) > 3:
        limits = [min(n, 4) for n in limits]
    while np.prod(limits) > 20000:
        limits[limits.index(max(limits))] -= 1
    product = sorted(
        itertools.product(*[range(n) for n in limits]), key=lambda t: (sum(t), max(t), t)
    )
    out.extend(product)
    unique, seen = [], set()
    for picks in out:
        if picks not in seen:
            seen.add(picks)
            unique.append({n: v[p] for n, v, p in zip(names, lists, picks)})
    return unique


# What convolutions and pooling want of several arguments at once.
FAMILIES = [
    {"x": IMAGE, "filter": "f:2,2,3,4", "window": "=[1, 2, 2, 1]", "stride": "=[1, 1, 1, 1]"},
    {
        "x": VOLUME,
        "filter": "f:2,2,2,3,4",
        "window": "=[1, 2, 2, 2, 1]",
        "stride": "=[1, 1, 1, 1, 1]",
    },
    {"x": SEQ, "filter": "f:3,4,4", "window": "=2", "stride": "=1"},
    {"x": IMAGE, "filter": "f:2,2,3", "window": "=[2, 2]", "stride": "=[1, 1, 1, 1]"},
    {"x": "f:2,4,4,4", "filter": "f:2,2,3,4", "window": "=2", "stride": "=[1, 2, 2, 1]"},
    {"x": "f:2,3,3,3,4", "filter": "f:2,2,2,3,4", "window": "=2", "stride": "=[1, 2, 2, 2, 1]"},
]
ROLES = {
    "input": "x",
    "value": "x",
    "inputs": "x",
    "filter": "filter",
    "filters": "filter",
    "kernel": "filter",
    "ksize": "window",
    "ksizes": "window",
    "sizes": "window",
    "strides": "stride",
    "stride": "stride",
}
SHAPES = {"f:2,4,4,4": "=[2, 8, 8, 3]", "f:2,3,3,3,4": "=[2, 6, 6, 6, 3]"}

# Parameters that begin like this want these.
TOGETHER = [
    {"logits": "f:6,2,4", "targets": "i:6,2", "weights": "f:6,2"},
    {"input": F44, "shift": "=1", "axis": "=0"},
    {"names": "=['probe']", "value": F44},
]


def families(params, prefix):
    names = [n for n, _, _ in params]
    if "labels" in names and "sequence_length" in names:
        roles = {"labels": "@sparse_labels", "sequence_length": "i:2"}
        return [
            dict({prefix + n: t for n, t in roles.items()}, **{prefix + logits: "f:6,2,4"})
            for logits in ("inputs", "logits")
            if logits in names
        ]
    for known in TOGETHER:
        if names[: len(known)] == list(known):
            return [{prefix + n: t for n, t in known.items()}]
    if "padding" not in names or "kernel_size" in names or not {"strides", "stride"} & set(names):
        return []
    out = []
    for family in FAMILIES:
        tokens = {}
        for name, has, default in params:
            role = ROLES.get(name)
            if role and not (has and default is not None):
                doubled = any(ROLES.get(k.replace(prefix, "", 1)) == role for k in tokens)
                if not doubled:
                    tokens[prefix + name] = family[role]
            elif name == "padding":
                tokens[prefix + name] = "='SAME'"
            elif name == "output_shape" and family["x"] in SHAPES:
                tokens[prefix + name] = SHAPES[family["x"]]
            elif name == "dilations" and not has:
                tokens[prefix + name] = family["stride"]
            elif name == "rates" or name == "rate" and not has:
                tokens[prefix + name] = "=2" if name == "rate" else family["stride"]
            elif not has:
                tokens[prefix + name] = (candidates(name) or TENSORS)[0]
        out.append(tokens)
    return out


def plan(target, prefix=""):
    """The base combinations to try, in order."""
    params, varargs = signature(target)
    required = [(n, candidates(n) or TENSORS) for n, has, _ in params if not has and n != "self"]
    optional = [(n, d) for n, has, d in params if has]
    named = [(prefix + n, v) for n, v in required]
    plans = families(params, prefix) + combinations(named)[:BASE_TRIES]
    if varargs and not prefix:
        extra = []
        for token in (
            "[f:4,4;f:4,4]",
            "[f:4,4]",
            "[@op;@op]",
            "[=5]",
            "[i:4;i:4]",
            "[@const;f:4]",
            "[f:4,4;f:2,4]",
            "[@identity]",
        ):
            for p in plans[:4]:
                q = dict(p)
                q["*" + varargs] = token
                extra.append(q)
        plans = (plans + extra) if not required else (extra[:6] + plans + extra[6:])
    # Keyword-only by convention (softmax_cross_entropy_with_logits) or by a deprecated alias.
    loose = [
        (prefix + n, candidates(n) or TENSORS)
        for n, d in optional
        if d is None and TENSOR_LIKE.match(n)
    ]
    plans = plans[:BASE_TRIES]
    sizes_ = sorted({len(loose)} | set(range(1, min(len(loose), 4) + 1)), reverse=True)
    for size in sizes_ if loose else ():
        for subset in itertools.combinations(loose, size):
            names = set(n for n, _ in subset)
            if names >= {"filter", "filters"} or names >= {"x", "inputs"}:
                continue
            plans = plans + combinations(named + list(subset))[: 60 if size == len(loose) else 24]
            if len(plans) > 4 * BASE_TRIES:
                break
    return plans, optional


def toggles(optional):
    """[(parameter, token)] to try, each on its own."""
    out = []
    for name, default in optional:
        if IDLE.match(name):
            continue
        found = candidates(name)
        if isinstance(default, bool):
            out.append((name, "=%r" % (not default)))
            if name in ("training", "is_training"):
                out.append((name, "b:"))
        elif default is None:
            if re.search(
                r"initializer$|regularizer$|constraint$|activation(_fn)?$|_fn$|_func$|^fn$|^func$",
                name,
            ):
                if re.search("initializer$", name):
                    out.append((name, "@initializer"))
                out.append((name, "@identity"))
                out.append((name, "@unary"))
            elif re.search(r"^(training|is_training)$", name):
                out.extend([(name, "=True"), (name, "=False"), (name, "b:")])
            elif found is not None:
                out.extend((name, token) for token in found[:3])
            elif re.search(r"num_|max_|min_", name):
                out.append((name, "=2"))
            else:
                out.extend((name, token) for token in ("=0.5", "=True", "=1", F44))
        elif isinstance(default, float):
            out.append((name, "=0.5"))
            out.append((name, F0))
        elif isinstance(default, int):
            out.append((name, "=%d" % (default + 1)))
        elif callable(default) and not inspect.isclass(default):
            out.append((name, "=None"))
            out.append((name, "@identity"))
        else:
            out.append((name, "=None"))
            if isinstance(default, str) and found:
                out.extend((name, token) for token in found[:2])
    return out
