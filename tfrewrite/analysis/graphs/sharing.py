"""What merged runs share, and whether TensorFlow then computes it in another way, or fails.

The graph optimizer looks at all that one run fetches. What it folds, fuses and regroups for one
value therefore depends on the values beside it (docs/measurements.md).
"""

from __future__ import annotations

import ast
from itertools import combinations, permutations

from tfrewrite.analysis.graphs.fetches import Fetch
from tfrewrite.analysis.graphs.nodes import COLLECTED, Kind, Node, beneath, plain, tensors


def may_round(fetches: list[Fetch]) -> bool:
    """Whether merging runs may change the last bit of a value.

    Chains of arithmetic are folded, and an activation is fused with what it is applied to, only
    where nobody else uses the link between. So a link that is used otherwise by another of the
    merged runs may be computed in another way. A sum of a list is regrouped where the shapes of
    what is fed are known, which another run may tell.
    """
    if any(fetch.update is not None for fetch in fetches):
        return True
    if any(_regroups(first, second) for first, second in permutations(fetches, 2)):
        return True
    if any(_may_hold_less(fetch) for fetch in fetches):
        return True
    uses = [_uses(fetch) for fetch in fetches]
    for first, second in combinations(uses, 2):
        for link in first.keys() & second.keys():
            users = first[link] | second[link]
            if first[link] != second[link] and not users <= _STABLE_USERS:
                return True
    return False


def _may_hold_less(fetch: Fetch) -> bool:
    """Whether a run may need less than what lies beneath what it fetches."""
    return any(node.symbol == COLLECTED for node in beneath(*fetch.roots))


_SUMS = frozenset({"add_n", "accumulate_n", "gradients"})


def _regroups(fetch: Fetch, other: Fetch) -> bool:
    """Whether a run sums a list with something fed in it, and the other run has a feed in common.

    An op that tells the rank of one fed tensor tells that of the whole list. Then sums in the list
    are dissolved into it, and all terms are added in another order.
    """
    if not _fed(*fetch.roots) & _fed(*other.roots):
        return False
    return sums_what_is_fed(*fetch.roots)


def sums_what_is_fed(*roots: Node) -> bool:
    """Whether a list with something fed in it is summed, in an order that shapes may change."""
    return any(_sums_a_list(node) and _fed(node) for node in beneath(*roots))


def _sums_a_list(node: Node) -> bool:
    if node.effect is not None and node.effect.op == "AddN":
        return True
    return node.symbol.rpartition(".")[2] in _SUMS


def _fed(*roots: Node) -> set[Node]:
    """What comes from outside the graph, as far as that can be told."""
    return {node for node in beneath(*roots) if node.kind is Kind.OP and not tensors(node)}


_FETCHED = "fetched"
# Operations that are neither folded into their operand nor fused with it.
_STABLE_OPS = frozenset(
    "ArgMax ArgMin Mean Sum Max Min Prod Equal NotEqual Greater GreaterEqual Less LessEqual Cast"
    " MatMul BatchMatMul BatchMatMulV2 Conv2D InTopK InTopKV2 OneHot ScalarSummary Softmax"
    " SparseSoftmaxCrossEntropyWithLogits SoftmaxCrossEntropyWithLogits".split()
)
_STABLE_SYMBOLS = frozenset(
    "cast layers.dense layers.conv2d nn.softmax_cross_entropy_with_logits"
    " nn.softmax_cross_entropy_with_logits_v2".split()
)
_STABLE = "stable"
_STABLE_USERS = frozenset({_STABLE})


def _uses(fetch: Fetch) -> dict[str, frozenset[str]]:
    """Each computed value of a run, by what it is, with those that use it.

    Values are told apart by what they are made of, since equal operations become one.
    """
    names: dict[Node, str] = {}
    found: dict[str, set[str]] = {}
    for root in fetch.roots:
        found.setdefault(_structure(root, names, ()), set()).add(_FETCHED)
    for node in beneath(*fetch.roots):
        user = _structure(node, names, ())
        for value in map(plain, node.values):
            if value.kind in (Kind.OP, Kind.ELEMENT, Kind.CHOICE) and tensors(value):
                use = _STABLE if _is_stable(node) else user
                found.setdefault(_structure(value, names, ()), set()).add(use)
    return {link: frozenset(users) for link, users in found.items()}


def _is_stable(node: Node) -> bool:
    if node.symbol in _STABLE_SYMBOLS:
        return not any(key in ("activation", "2", "3") for key, _ in node.inputs)
    return node.effect is not None and node.effect.op in _STABLE_OPS


def _structure(node: Node, names: dict[Node, str], above: tuple[Node, ...]) -> str:
    """What a value is made of, as text; the same for two values that are computed alike."""
    node = plain(node)
    if node in above:
        return f"loop {id(node)}"
    if node not in names:
        if node.kind is Kind.CONSTANT:
            names[node] = ast.dump(node.expr)
        elif node.kind is Kind.VARIABLE or not tensors(node):
            names[node] = f"{node.symbol} {id(node)}"
        else:
            inner = (*above, node)
            parts = [f"{key}={_structure(value, names, inner)}" for key, value in node.inputs]
            names[node] = str(hash((node.symbol, node.kind.value, *parts)))
    return names[node]


_ADDING = frozenset({"add", "identity", "batchnormalization"})


def fails_together(first: Fetch, second: Fetch) -> bool:
    """Whether one run of two, each of which works, would fail in TensorFlow 2.

    Its graph optimizer fuses a convolution, what is added to it and an activation that weighs the
    sum by itself (leaky ReLU, swish, mish), and drops the values between even if they are fetched.
    """
    for one, other in permutations((first, second)):
        between = _fused_away(other)
        structures = {_structure(value, {}, ()) for value in between}
        for root in map(plain, one.roots):
            if _structure(root, {}, ()) in structures:
                return True
            if _may_hold_less(other) and root.expr in {value.expr for value in between}:
                return True  # what summaries show may have been followed by another way
    return False


def _fused_away(fetch: Fetch) -> set[Node]:
    """The values between a convolution and an activation that weighs by itself."""
    return {
        value
        for node in beneath(*fetch.roots)
        for weighed in _weighed_by_itself(node)
        for value in _down_to_convolution(weighed)
    }


_WEIGHING_SYMBOLS = ("swish", "silu", "Activation.__call__")


def _weighed_by_itself(node: Node) -> set[Node]:
    """The values that an operation multiplies or compares with something made of them alone."""
    if node.kind is not Kind.OP or node.effect is None:
        return set()
    inputs = tensors(node)
    if node.effect.op == "LeakyRelu" or node.symbol.endswith(_WEIGHING_SYMBOLS):
        return set(inputs)
    if node.effect.op in ("Mul", "Maximum") and len(inputs) == 2:
        return _made_of(inputs[0]) & _made_of(inputs[1])
    return set()


def _made_of(node: Node) -> set[Node]:
    """A value and those that it alone is computed from, one operation of one tensor each."""
    found = {node}
    while not _convolves(node) and len(inputs := tensors(node)) == 1 and inputs[0] not in found:
        node = inputs[0]
        found.add(node)
    return found


def _down_to_convolution(node: Node) -> set[Node]:
    """A value, what it was before a bias or batch norm came to it, and the convolution beneath."""
    stack, found, convolution = [node], set(), False
    while stack:
        value = plain(stack.pop())
        if value in found:
            continue
        if _convolves(value):
            found.add(value)
            convolution = True
        elif _adds(value) or _is_part_of_batch_norm(value):
            found.add(value)
            stack += tensors(value)
    return found if convolution else set()


def _is_part_of_batch_norm(node: Node) -> bool:
    """Whether a value is one of the three that a fused batch norm gives, by index or unpacked."""
    inputs = tensors(node)
    return len(inputs) == 1 and "fused_batch_norm" in inputs[0].symbol


_NOT_FUSED = ("depthwise", "transpose", "1d")


def _convolves(node: Node) -> bool:
    name = node.symbol.removesuffix(".__call__").rpartition(".")[2].lower()
    if node.kind is not Kind.OP or "conv" not in name:
        return False
    return not any(kind in name for kind in _NOT_FUSED)


def _adds(node: Node) -> bool:
    if node.kind is not Kind.OP or node.effect is None:
        return False
    name = node.symbol.removesuffix(".__call__").rpartition(".")[2].lower()
    return node.effect.op == "BiasAdd" or name in _ADDING or "batch_norm" in name


def fails_alone(kept: Fetch, dropped: Fetch) -> bool:
    """Whether a run that works may fail in TensorFlow 2 without some of what it fetches.

    Its graph optimizer fuses a convolution, a batch norm and an activation, for some of which
    there is no kernel, unless somebody else uses a value between them.
    """
    links = {
        _structure(link, {}, ())
        for node in beneath(*kept.roots)
        for value in tensors(node)
        for link in _normed_convolution(value)
    }
    if any(node.kind in (Kind.UNKNOWN, Kind.INSTANCE) for node in beneath(*kept.roots)):
        links |= {_structure(node, {}, ()) for node in beneath(*dropped.roots) if _convolves(node)}
        kept = Fetch(())
    used, unused = _uses(dropped), _uses(kept)
    return any(used.get(link, frozenset()) - unused.get(link, frozenset()) for link in links)


def _normed_convolution(value: Node) -> set[Node]:
    """A batch norm upon a convolution with all that is between the two; empty for anything else."""
    found = _down_to_convolution(plain(value))
    normed = any(
        "batch_norm" in node.symbol.lower()
        or "batchnorm" in node.symbol.lower()
        or _is_part_of_batch_norm(node)
        for node in found
    )
    return found if normed else set()
