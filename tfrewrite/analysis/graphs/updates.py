"""Which loss an update minimises, and what is surely read before it writes.

TensorFlow runs what one `run` call asks for in any order that the graph's edges leave open. A value
that is fetched together with an update is the value before the update only if the edges say so.
They do where the update's gradient depends on a number (a *gate*: the input of the loss function,
such as the logits) that is computed from the same reads: an update of `w` cannot begin before the
gate's value is there, and that value needs all that lies beneath it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tfrewrite.analysis.effects import Effect
from tfrewrite.analysis.graphs.nodes import Kind, Node, beneath, plain

_MULTIPLYING = frozenset(
    "multiply truediv divide div realdiv floordiv scalar_mul matmul pow tensordot einsum where"
    " math.multiply math.divide math.scalar_mul math.pow linalg.matmul".split()
)
_MINIMIZE_ARGUMENTS = {"self", "loss", "global_step", "var_list", "name"}
_LOSS_ARGUMENTS = {
    "labels",
    "logits",
    "predictions",
    "onehot_labels",
    "multi_class_labels",
    "scope",
}
_CLIPS = frozenset({"clip_by_value", "clip_by_norm", "clip_by_average_norm"})
TRAINABLE = frozenset({"trainable_variables"})
_DERIVING = frozenset({"gradients", "hessians", "compute_gradients", "minimize", "apply_gradients"})


@dataclass(frozen=True, eq=False)
class Update:
    """A training step: an optimizer's update of variables along the gradient of a loss."""

    node: Node
    loss: Node


def update_of(node: Node) -> Update | None:
    """The update that a value is; None where it is anything else, or its loss cannot be told."""
    node = plain(node)
    if node.kind is not Kind.OP or not _is_optimizers(node):
        return None
    if node.symbol.endswith(".minimize"):
        loss = node.argument("loss")
        known = {key for key, _ in node.inputs} <= _MINIMIZE_ARGUMENTS
        return Update(node, plain(loss)) if loss is not None and known else None
    gradients = node.argument("grads_and_vars")
    loss = _differentiated(plain(gradients)) if gradients is not None else None
    return Update(node, plain(loss)) if loss is not None else None


def _is_optimizers(node: Node) -> bool:
    owner, _, method = node.symbol.rpartition(".")
    if method not in ("minimize", "apply_gradients"):
        return False
    return owner.startswith("train.") and owner.endswith("Optimizer") and "Sync" not in owner


def _differentiated(pairs: Node) -> Node | None:
    """The loss whose gradients, each with its own variable, are applied."""
    if pairs.symbol.endswith(".compute_gradients"):
        known = {key for key, _ in pairs.inputs} <= {"self", "loss", "var_list"}
        return pairs.argument("loss") if known else None
    if pairs.kind is not Kind.STRUCTURE:
        return None
    if isinstance(pairs.expr, (ast.ListComp, ast.GeneratorExp)):
        return _clipped_pairs(pairs)
    if isinstance(pairs.expr, ast.Call) and len(pairs.inputs) == 2:
        return _zipped(plain(pairs.inputs[0][1]), plain(pairs.inputs[1][1]), pairs.expr)
    return None


def _clipped_pairs(pairs: Node) -> Node | None:
    """`[(clip(g), v) for g, v in optimizer.compute_gradients(loss)]`."""
    comprehension = pairs.expr
    assert isinstance(comprehension, (ast.ListComp, ast.GeneratorExp))
    if len(comprehension.generators) != 1 or not isinstance(comprehension.elt, ast.Tuple):
        return None
    target = comprehension.generators[0].target
    names = [n.id for n in getattr(target, "elts", []) if isinstance(n, ast.Name)]
    elements = comprehension.elt.elts
    if len(names) != 2 or len(elements) != 2 or names[0] == names[1]:
        return None
    if not (isinstance(elements[1], ast.Name) and elements[1].id == names[1]):
        return None
    pair = plain(pairs.inputs[0][1])
    if pair.kind is not Kind.STRUCTURE or len(pair.inputs) != 2:
        return None
    return _from_pairs(plain(pair.inputs[0][1]), elements[0], names[0])


def _from_pairs(gradient: Node, written: ast.expr, name: str) -> Node | None:
    if gradient.symbol in _CLIPS and isinstance(written, ast.Call):
        first = written.args[0] if written.args else None
        if not (isinstance(first, ast.Name) and first.id == name):
            return None
        gradient = plain(gradient.inputs[0][1])
    elif not (isinstance(written, ast.Name) and written.id == name):
        return None
    source = plain(gradient.values[0]) if gradient.kind is Kind.ELEMENT else gradient
    if source.kind is Kind.OP and source.symbol.endswith(".compute_gradients"):
        return _differentiated(source)
    return None


def _zipped(gradients: Node, variables: Node, expr: ast.Call) -> Node | None:
    """`zip(tf.gradients(loss, v), v)`, the gradients clipped by their global norm or not."""
    if not (isinstance(expr.func, ast.Name) and expr.func.id == "zip"):
        return None
    if gradients.kind is Kind.ELEMENT:
        (index, clip), *_ = gradients.inputs
        clip = plain(clip)
        if index != "0" or clip.symbol != "clip_by_global_norm":
            return None
        gradients = plain(clip.inputs[0][1])
    if gradients.symbol != "gradients" or len(gradients.inputs) != 2:
        return None
    to = plain(gradients.inputs[1][1])
    both_all = to.symbol in TRAINABLE and variables.symbol in TRAINABLE
    same = to is variables or (both_all and not to.inputs and not variables.inputs)
    return gradients.argument("ys") if same else None


def read_before(fetch: Node, update: Update) -> bool:
    """Whether every read of a variable beneath a fetch surely happens before the update writes."""
    if any(node.many or node.kind is Kind.INSTANCE for node in _on_the_way(update.loss)):
        return False
    step = update.node.argument("global_step")
    if step is not None and plain(step).kind is not Kind.CONSTANT:
        if plain(step).kind is not Kind.VARIABLE or plain(step) in set(beneath(fetch)):
            return False
    safe = _computed_before(update.loss)
    stack, seen = [plain(fetch)], set()
    while stack:
        node = plain(stack.pop())
        if node in seen or node in safe:
            continue
        seen.add(node)
        if node.kind is Kind.VARIABLE or (node.effect and node.effect.flags & {"reads", "creates"}):
            return False
        stack += [*node.values, *node.controls]
    return True


def _on_the_way(loss: Node) -> Iterator[Node]:
    return (node for node in beneath(loss) if node.kind is not Kind.CONSTANT)


def _computed_before(loss: Node) -> frozenset[Node]:
    """Values that an update along the gradient of `loss` has to wait for.

    A value on the way of the gradient below a gate is one, if all variables beneath that value get
    a gradient through that very gate: whichever of them is written then waits for the gate, and
    the gate waits for this value.
    """
    safe: set[Node] = set()
    for gate in _gates(loss):
        if _computes(gate):
            reached = _differentiable_from(gate)
            safe |= {
                node
                for node in reached
                if _computes(node)
                and all(part in reached for part in beneath(node) if _reads_a_variable(part))
            }
    return frozenset(safe)


def _gates(loss: Node) -> Iterator[Node]:
    """The inputs of the loss on whose value its gradient depends, and that nothing can remove."""
    stack, seen = [plain(loss)], set()
    while stack:
        node = plain(stack.pop())
        if node in seen or node.kind is not Kind.OP or node.effect is None or node.many:
            continue
        seen.add(node)
        for key, value in node.inputs:
            slope = node.effect.gradient.get(key, "none")
            if slope == "none" or not _factor_kept(node, key):
                continue
            if slope == "value":
                yield plain(value)
            else:
                stack.append(value)


def _differentiable_from(gate: Node) -> set[Node]:
    """The nodes that get a gradient through the gate, on edges that surely are in the graph."""
    reached: set[Node] = set()
    seen: set[Node] = set()
    stack = [gate]
    while stack:
        node = plain(stack.pop())
        if node in seen:
            continue
        seen.add(node)
        if node.effect is None or "creates" not in node.effect.flags or _trains(node.effect):
            reached.add(node)
        if node.kind is Kind.STRUCTURE:
            stack += node.values
        elif node.kind is Kind.OP and node.effect is not None:
            for key, value in node.inputs:
                if node.effect.gradient.get(key, "none") != "none" and _factor_kept(node, key):
                    stack.append(value)
    return reached


def _trains(effect: Effect) -> bool:
    """Whether the variables that a layer makes get a gradient through its result."""
    return effect.gradient.get("*", "none") != "none"


def _factor_kept(node: Node, key: str) -> bool:
    """Whether the gradient for one input cannot be folded away by a constant factor of zero."""
    for other, value in node.inputs:
        if other in (key, "self"):
            continue
        value = plain(value)
        if node.symbol.startswith("losses.") and other not in _LOSS_ARGUMENTS:
            return False
        if node.symbol in _MULTIPLYING and not _not_zero(value):
            return False
        if value.kind is Kind.OP and not _depends_on_a_run(value):
            return False
    return True


def _not_zero(factor: Node) -> bool:
    if factor.kind is Kind.CONSTANT:
        literal = factor.expr
        if isinstance(literal, ast.UnaryOp):
            literal = literal.operand
        number = literal.value if isinstance(literal, ast.Constant) else None
        return isinstance(number, (int, float)) and number != 0
    return _depends_on_a_run(factor)


def _depends_on_a_run(value: Node) -> bool:
    """Whether a value is known only when the graph runs, and no constant takes part in it as 0."""
    some = False
    for node in beneath(value):
        some = some or _reads_a_variable(node) or node.symbol.startswith("placeholder")
        if node.symbol in _MULTIPLYING and any(
            plain(factor).kind is Kind.CONSTANT and not _not_zero(plain(factor))
            for factor in node.values
        ):
            return False
        if node.kind is Kind.OP and not node.inputs and not node.symbol.startswith("placeholder"):
            return False
        if "zeros" in node.symbol:
            return False
    return some


def _computes(node: Node) -> bool:
    """Whether a value is a tensor of its own, not a view of a variable's memory."""
    return node.kind is Kind.OP and node.effect is not None and not node.effect.alias


def _reads_a_variable(node: Node) -> bool:
    if node.kind is Kind.VARIABLE:
        return True
    return node.effect is not None and bool(node.effect.flags & {"reads", "creates"})


def derives(node: Node) -> bool:
    """Whether a value is made of derivatives, which may need little of what they are of."""
    return node.kind is Kind.OP and node.symbol.rpartition(".")[2] in _DERIVING


def surely_beneath(root: Node, within: frozenset[Node] = frozenset()) -> frozenset[Node]:
    """The values that surely are computed for a value, whatever the way that the program takes.

    `within` are the updates that are being looked into, each of which might lie beneath itself.
    """
    found: set[Node] = set()
    stack, seen = [root], set(within)
    while stack:
        node = plain(stack.pop())
        if node in seen:
            continue
        seen.add(node)
        if derives(node):
            update = update_of(node)
            found |= run_with(update, within) if update is not None else frozenset()
        elif node.kind is Kind.STRUCTURE and _is_complete(node):
            stack += node.values
        elif node.kind in (Kind.OP, Kind.VARIABLE) or _is_known_result(node):
            if not node.many:
                found.add(node)
            if _uses_its_inputs(node):
                stack += [*node.values, *node.controls]
    return frozenset(found)


def _is_known_result(node: Node) -> bool:
    """Whether a value is a certain one of the results of one operation, not of several."""
    if node.kind is not Kind.ELEMENT or node.inputs[0][0] == "None":
        return False
    source = plain(node.values[0])
    return source.kind is Kind.OP and source.effect is not None and source.effect.op is not None


def _is_complete(structure: Node) -> bool:
    """Whether all elements of a structure are in it in any case."""
    literal = isinstance(structure.expr, (ast.List, ast.Tuple))
    elements = getattr(structure.expr, "elts", ())
    return literal and len(elements) == len(structure.inputs)


def _uses_its_inputs(node: Node) -> bool:
    """Whether an operation runs all that goes into it, not just its shape or a part of it."""
    if node.kind is Kind.ELEMENT:
        return True
    if node.effect is None or "calls" in node.effect.flags:
        return False
    given = [plain(value) for key, value in node.inputs if key in node.effect.callables]
    if any(value.kind not in (Kind.OBJECT, Kind.CONSTANT) for value in given):
        return False  # a function of the script may use its argument or not
    return node.effect.op != "Const" and not node.symbol.endswith(("_like", "shape_n"))


def run_with(update: Update, within: frozenset[Node] = frozenset()) -> frozenset[Node]:
    """The values that an update has to compute: those that the gradient of its loss depends on."""
    found: set[Node] = set()
    chosen = _chosen(update)
    within |= {update.node}
    stack, seen = [plain(update.loss)], set()
    while stack:
        node = plain(stack.pop())
        if node in seen or node.kind is not Kind.OP or node.effect is None or node.many:
            continue
        seen.add(node)
        for key, value in node.inputs:
            slope = node.effect.gradient.get(key, "none")
            if slope == "none" or not _factor_kept(node, key) or not _has_trained(value, chosen):
                continue
            if key in node.effect.completes:
                found |= surely_beneath(node, within)
            if slope == "value":
                found |= surely_beneath(value, within)
            else:
                stack.append(value)
    return frozenset(found)


def _chosen(update: Update) -> frozenset[Node] | None:
    """The variables that an update surely is of; None where it is of all that can be trained."""
    makers = [
        node
        for node in beneath(update.node)
        for loss in (node.argument("loss"), node.argument("ys"))
        if derives(node) and loss is not None and plain(loss) is plain(update.loss)
    ]
    lists = [node.argument("var_list") or node.argument("xs") for node in makers]
    given = [plain(variables) for variables in lists if variables is not None]
    if makers and all(one.symbol in TRAINABLE and not one.inputs for one in given):
        return None
    if len(given) != 1 or given[0].kind is not Kind.STRUCTURE or not _is_complete(given[0]):
        return frozenset()
    variables = frozenset(map(plain, given[0].values))
    single = all(one.kind is Kind.VARIABLE and not one.many for one in variables)
    return variables if single else frozenset()


def _has_trained(value: Node, chosen: frozenset[Node] | None) -> bool:
    """Whether the gradient goes through a value to a variable that surely is trained."""
    reached = _differentiable_from(plain(value))
    if chosen is not None:
        return bool(reached & chosen)
    return any(_is_trained(node) for node in reached if isinstance(node.expr, ast.Call))


def _is_trained(node: Node) -> bool:
    """Whether a variable, or a layer that makes some, is trainable as it is by default."""
    assert isinstance(node.expr, ast.Call)
    if {keyword.arg for keyword in node.expr.keywords} & {"trainable", None}:
        return False
    if node.kind is Kind.VARIABLE:
        return len(node.expr.args) < (2 if node.symbol == "Variable" else 5)
    return node.effect is not None and "creates" in node.effect.flags and _trains(node.effect)
