"""What a run fetches: whether it only reads, whether it updates, and which arrays it gets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tfrewrite.analysis.effects import Effect, effect_of
from tfrewrite.analysis.graphs.nodes import Kind, Node, beneath, flags, plain, tensors
from tfrewrite.analysis.graphs.updates import TRAINABLE, Update, update_of


@dataclass(frozen=True, eq=False)
class Fetch:
    """The values that one run asks for. `trouble` is empty where all of them only read."""

    roots: tuple[Node, ...]
    update: Update | None = None
    trouble: str = ""
    message: str = ""

    @property
    def reads_only(self) -> bool:
        return not self.trouble and self.update is None


_TROUBLES = {
    "random": ("random-beneath", "draws random numbers: once where it was drawn twice"),
    "iterates": ("iterator-beneath", "takes the next element of an iterator or queue at each run"),
    "writes": ("writes-state", "writes variables or other state at each run"),
    "host": ("host-effect-beneath", "runs Python code or prints at each run"),
    "calls": ("fetch-not-traced", "calls a function whose effect is not known"),
    "collections": ("fetch-not-traced", "collects values from the whole graph"),
}


_DRAWS = ("random-beneath", "iterator-beneath")


def fetch_of(value: Node, title: str) -> Fetch:
    """Describes the fetches of one run, which messages call by `title`."""
    roots = leaves(value)
    updates = [(root, update_of(root)) for root in roots]
    update = next((found for _, found in updates if found is not None), None)
    for root, found in updates:
        if found is None:
            trouble = _trouble_beneath(root, title)
            # What is drawn beside an update is drawn once, merged or not.
            drawn = update is not None and trouble is not None and trouble[0] in _DRAWS
            if trouble is not None and not drawn:
                return Fetch(roots, update, *trouble)
    if sum(found is not None for _, found in updates) > 1:
        return Fetch(roots, update, "two-updates", "makes more than one update")
    if update is not None:
        trouble = _trouble_of_update(update)
        if trouble is not None:
            return Fetch(roots, update, *trouble)
    return Fetch(roots, update)


def leaves(value: Node) -> tuple[Node, ...]:
    """The single values of a nested structure that is fetched."""
    value = plain(value)
    if value.kind is Kind.STRUCTURE and value.inputs:
        return tuple(leaf for part in value.values for leaf in leaves(part))
    return (value,)


def _trouble_beneath(root: Node, title: str) -> tuple[str, str] | None:
    """Why fetching a value is more than reading: a reason id with its words."""
    for node in beneath(root):
        if node.kind is Kind.UNKNOWN:
            return "fetch-not-traced", f"`{title}` depends on {node.why}"
        if node.kind is Kind.INSTANCE:
            return "fetch-not-traced", f"`{title}` depends on an object that is no tensor"
        if "collection" in node.symbol or "global_step" in node.symbol:
            return "fetch-not-traced", f"`{title}` collects values from the whole graph"
    if root.kind in (Kind.CONSTANT, Kind.OBJECT, Kind.STRUCTURE):
        return "fetch-not-traced", f"it cannot be told which tensor `{title}` is"
    found = flags(root)
    for flag, (reason, words) in _TROUBLES.items():
        if flag in found:
            return reason, f"`{title}` {words}"
    for node in beneath(root):
        if node.kind is Kind.OBJECT and not is_harmless(node):
            return "fetch-not-traced", f"`{title}` depends on an object of `tf.{node.symbol}`"
    if _buffer(root).symbol.startswith("placeholder"):
        return "fetch-not-traced", f"`{title}` is what is fed, and may be the fed array itself"
    return None


_HARMLESS = ("initializer", "regularizer", "constraint", "optimizer", "tensorshape", "dimension")


def is_harmless(node: Node) -> bool:
    """Whether an object says how to build something, or does no more than its effect tells."""
    if node.effect is not None and node.effect.returns_tensor:
        return True  # a function that is passed on
    if is_setting(node):
        return True
    return effect_of(f"{node.symbol}.__call__", "1") is not None


def is_setting(node: Node) -> bool:
    """Whether an object says how something is built or trained, and does not run with it."""
    known = any(word in node.symbol.lower() for word in _HARMLESS)
    return node.kind is Kind.OBJECT and known


def _buffer(node: Node) -> Node:
    """The value whose memory a value may be a view of."""
    seen: set[Node] = set()
    while node.effect is not None and node.effect.alias and node not in seen:
        seen.add(node)
        inputs = tensors(node)
        if len(inputs) != 1:
            break
        node = inputs[0]
    return plain(node)


def checks_beneath(fetch: Fetch) -> bool:
    """Whether a fetch is made to fail where a value is not as it should be.

    A histogram does for what is no finite number.
    """
    return any(
        node.effect is not None
        and (node.effect.op == "HistogramSummary" or _is_check(node.symbol, node.effect))
        for node in beneath(*fetch.roots)
    )


def _is_check(symbol: str, effect: Effect) -> bool:
    name = symbol.rpartition(".")[2].lower()
    return "assert" in effect.flags and name.startswith(("assert", "check", "verify"))


def share_a_result(first: Fetch, second: Fetch) -> bool:
    """Whether two runs may get one and the same array if they are made one."""
    own = set().union(*(_buffers(root) for root in first.roots))
    other = set().union(*(_buffers(root) for root in second.roots))
    unsure = any(node.kind in (Kind.CHOICE, Kind.ELEMENT) for node in own | other)
    return bool(own & other) or (unsure and _overlap(first, second))


# Of these, some give back an input as it is, or the same tensor at each call.
_PASSING_ON = (
    "add_n", "accumulate_n", "math.add_n", "math.accumulate_n", "image.", "keras.backend.",
    "Variable.",
)  # fmt: skip


# The op differs with the arguments, but it is always a new one.
_OF_ITS_OWN = frozenset(
    "add math.add split nn.top_k math.top_k nn.moments reduce_logsumexp math.reduce_logsumexp"
    " nn.sigmoid_cross_entropy_with_logits nn.convolution layers.dense layers.conv2d"
    " layers.conv2d_transpose layers.batch_normalization".split()
)


def _buffers(root: Node) -> set[Node]:
    """The tensors that a value may be, through what may give back what it is given.

    An operation makes a tensor of its own, whose array is a copy even where the memory is shared.
    """
    found: set[Node] = set()
    stack = [root]
    while stack:
        node = plain(stack.pop())
        if node in found:
            continue
        found.add(node)
        effect = node.effect
        own = effect is not None and (effect.op is not None or node.symbol in _OF_ITS_OWN)
        passes = effect is not None and (not own or node.symbol.startswith(_PASSING_ON))
        if passes or node.kind is Kind.STRUCTURE:
            stack += tensors(node)
    return found


def _overlap(first: Fetch, second: Fetch) -> bool:
    reach = set(beneath(*first.roots)), set(beneath(*second.roots))
    return any(root in reach[1] for root in first.roots) or any(
        root in reach[0] for root in second.roots
    )


def _trouble_of_update(update: Update) -> tuple[str, str] | None:
    """What runs along with an update, beside its own writing, and might write too."""
    for node in _running_with(update.node):
        if node.kind is Kind.UNKNOWN:
            return "update-not-traced", f"the update depends on {node.why}"
        if node.effect is None or node.kind is Kind.OBJECT or node.symbol.endswith(_OF_OPTIMIZERS):
            continue
        if node.symbol in TRAINABLE:
            continue  # which variables there are is known when the graph is built
        found = node.effect.flags & {"writes", "calls", "host", "collections"}
        if found and "iterates" not in node.effect.flags:
            return "update-not-traced", f"the update comes with `tf.{node.symbol}`, which may write"
    return None


_OF_OPTIMIZERS = (".minimize", ".apply_gradients", ".compute_gradients", "gradients")
_NOT_RUN = ("var_list", "xs")  # says which variables to update; nothing of it runs


def _running_with(root: Node) -> Iterator[Node]:
    """What has to run for a value, without what only chooses the variables to update."""
    seen: set[Node] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            yield node
            stack += [value for key, value in node.inputs if key not in _NOT_RUN]
            stack += node.controls
