"""What a run computes in any case, and whether a value may go from the values fetched with it.

A run computes what its fetches need and nothing else. Without one of them an operation that only
this one needed does not run: it draws no number, takes no element, and does not fail.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from tfrewrite.analysis.graphs.fetches import Fetch, is_harmless, is_setting
from tfrewrite.analysis.graphs.nodes import Kind, Node, beneath, flags, tensors
from tfrewrite.analysis.graphs.updates import (
    Update,
    read_before,
    run_with,
    surely_beneath,
    update_of,
)
from tfrewrite.analysis.obstacle import Obstacle

# Kernels that do not fail for any values of their inputs, shapes aside; measured with infinities,
# NaN, the smallest and the largest numbers (docs/measurements.md).
_NEVER_FAILING = frozenset(
    "Abs Add AddN AddV2 All Any ArgMax ArgMin AvgPool BatchMatMul BatchMatMulV2 BiasAdd Cast Ceil"
    " ConcatV2 Const Conv2D Cos Elu Equal Erf Exp ExpandDims Expm1 Floor Greater GreaterEqual"
    " Identity InTopK InTopKV2 IsFinite IsInf IsNan L2Loss LeakyRelu Less"
    " LessEqual Log Log1p LogSoftmax LogicalAnd LogicalNot LogicalOr MatMul Max MaxPool Maximum"
    " Mean MergeSummary Min Minimum Mul Neg NotEqual OneHot Pack Placeholder"
    " PlaceholderWithDefault Prod RealDiv Relu Relu6 Reshape Round Rsqrt ScalarSummary Selu"
    " Sigmoid Sign Sin SoftmaxCrossEntropyWithLogits Softmax Softplus Softsign Sqrt Square"
    " SquaredDifference Squeeze StopGradient Sub Sum Tanh Transpose".split()
)
# These are made of such kernels alone; a symbol that is called like its op is that op.
_MADE_OF_THEM = frozenset(
    "add cast clip_by_value concat constant divide exponential_decay get_global_step"
    " get_or_create_global_step global_norm multiply negative read_value scalar_mul"
    " sigmoid_cross_entropy_with_logits softmax_cross_entropy_with_logits"
    " softmax_cross_entropy_with_logits_v2 stack subtract summary.merge summary.scalar to_double"
    " to_float truediv Conv2D Dense Flatten MaxPooling2D average_pooling2d conv2d dense flatten"
    " max_pooling2d".split()
)
_MODULES = frozenset({"", "math", "nn", "layers", "summary", "train", "dtypes", "Variable"})
# Their other inputs say where and how much, and with some tensor there they fail.
_OF_ONE_TENSOR = frozenset(
    "All Any ArgMax ArgMin ConcatV2 ExpandDims Max Mean Min OneHot Prod Reshape Squeeze Sum"
    " Transpose".split()
)


@dataclass(frozen=True, eq=False)
class Company:
    """The values that stay in a run. `only_placeholders`: nothing that is fed cuts an edge."""

    roots: tuple[Node, ...]
    fed: frozenset[Node] | None
    """What is fed, where that is known."""
    only_placeholders: bool

    @cached_property
    def update(self) -> Update | None:
        """The only thing that stays and does more than to read, if it is a training step."""
        acting = [root for root in self.roots if not reads_only(root)]
        return update_of(acting[0]) if len(acting) == 1 else None

    @property
    def fetch(self) -> Fetch:
        return Fetch(self.roots, self.update)

    @cached_property
    def traced(self) -> bool:
        """Whether it is known what all that stays is made of."""
        return not any(node.kind in (Kind.UNKNOWN, Kind.INSTANCE) for node in beneath(*self.roots))

    @cached_property
    def computed(self) -> frozenset[Node]:
        """What runs in any case."""
        if not self.only_placeholders:
            return frozenset()
        found: set[Node] = set()
        for root in self.roots:
            update = update_of(root)
            found |= run_with(update) if update is not None else surely_beneath(root)
        return frozenset(found)

    def race(self) -> Obstacle | None:
        """What stays and is read at a moment that nothing fixes.

        Such a value may change with all that runs beside it.
        """
        acting = [root for root in self.roots if not reads_only(root)]
        if not acting or len(self.roots) == 1:
            return None
        if not self.traced:
            message = (
                "of the values that stay, one is not known and may be an update, which the"
                " others may be read before or after"
            )
            return Obstacle("races-with-update", message)
        others = [root for root in self.roots if root not in acting]
        update = self.update
        if len(acting) == 1 and all(_reads_nothing(root) for root in others):
            return None
        if update is None or not self.only_placeholders:
            message = "nothing fixes the order of what the values that stay write and read"
            return Obstacle("races-with-update", message)
        if all(read_before(root, update) for root in others):
            return None
        message = "nothing makes the update wait until the values that stay have been read"
        return Obstacle("races-with-update", message)

    def obstacle(self, root: Node, title: str) -> Obstacle | None:
        """Why a value cannot be left out, given what stays."""
        for node in beneath(root, stop=self.computed):
            if node not in self.computed:
                found = self._not_run(node, title)
                if found is not None:
                    return found
        return None

    def _not_run(self, node: Node, title: str) -> Obstacle | None:
        """What would be missed if an operation did not run."""
        found = untraced(node, title)
        if found is not None:
            return found
        if node.effect is None or is_setting(node):
            return None
        for flag, (reason, words) in _MISSED.items():
            if flag in node.effect.flags:
                return Obstacle(reason, f"`{title}` {words}")
        if node.effect.op == "Placeholder" and (self.fed is None or node not in self.fed):
            message = f"`{title}` needs a placeholder, and it is not known that it is fed"
            return Obstacle("may-fail", message)
        if node.effect.returns_tensor and _may_fail(node):
            message = f"`{title}` is made with `tf.{node.symbol}`, which may fail for some values"
            return Obstacle("may-fail", message)
        return None


_MISSED = {
    "iterates": ("iterator-beneath", "takes the next element, and nothing else here surely does"),
    "writes": ("writes-state", "writes variables or other state"),
    "host": ("host-effect-beneath", "runs Python code or prints"),
    "calls": ("fetch-not-traced", "calls a function whose effect is not known"),
    "collections": ("fetch-not-traced", "collects values from the whole graph"),
    "random": ("random-beneath", "draws random numbers, and nothing else here surely does"),
    "assert": ("may-fail", "checks its values, and fails if they are not as they should be"),
}


def untraced(node: Node, title: str) -> Obstacle | None:
    """Why it is not known what a value is made of."""
    if node.kind is Kind.UNKNOWN:
        return Obstacle("fetch-not-traced", f"`{title}` depends on {node.why}")
    if node.kind is Kind.INSTANCE or (node.kind is Kind.OBJECT and not is_harmless(node)):
        return Obstacle("fetch-not-traced", f"`{title}` depends on an object that is no tensor")
    return None


def acts(root: Node) -> bool:
    """Whether a value is fetched for what it does: an update, an assignment, a queue's op."""
    if update_of(root) is not None or root.symbol in ("group", "no_op", "py_func"):
        return True
    return any(
        node.effect is not None and ("host" in node.effect.flags or _writes(node.effect.flags))
        for node in beneath(root)
    )


def reads_only(root: Node) -> bool:
    """Whether it is known that a value neither writes nor has an effect outside the graph."""
    for node in beneath(root):
        if node.kind in (Kind.UNKNOWN, Kind.INSTANCE):
            return False
        if node.effect is not None:
            found = node.effect.flags
            if found & {"host", "calls", "collections"} or _writes(found):
                return False
    return True


def changes_nothing(root: Node) -> bool:
    """Whether a value is a tensor, and running it surely leaves no trace."""
    tensor = root.kind in (Kind.OP, Kind.VARIABLE, Kind.ELEMENT, Kind.CHOICE)
    return tensor and reads_only(root) and not flags(root) & {"random", "iterates"}


def _reads_nothing(root: Node) -> bool:
    return not any(
        node.kind is Kind.VARIABLE
        or (node.effect is not None and node.effect.flags & {"reads", "creates"})
        for node in beneath(root)
    )


def _writes(flags: Collection[str]) -> bool:
    return "writes" in flags and "iterates" not in flags


def _may_fail(node: Node) -> bool:
    """Whether an operation may fail for some values of what goes into it."""
    assert node.effect is not None
    owner, _, name = node.symbol.removesuffix(".__call__").rpartition(".")
    op = node.effect.op or ""
    if owner not in _MODULES:
        return True
    if name in _MADE_OF_THEM or f"{owner}.{name}" in _MADE_OF_THEM:
        return name == "concat" and len(tensors(node)) > 1
    if op not in _NEVER_FAILING or not _is_called_like(name, op):
        return True
    return op in _OF_ONE_TENSOR and len(tensors(node)) > 1


def _is_called_like(name: str, op: str) -> bool:
    """Whether a function is called like an op type, and so makes this one op."""
    plain_name = name.removeprefix("reduce_").replace("_", "").lower()
    return plain_name in (op.lower(), op.lower().removesuffix("v2"))
