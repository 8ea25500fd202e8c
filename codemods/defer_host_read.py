"""TFR206 defer-host-read."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.host_reads import Collected, Deferred
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.edits import InsertBefore, RemoveStatement, ReplaceExpression
from tfrewrite.model import Contract, Refusal, Rewrite, Site
from tfrewrite.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.eager.host_reads import Read
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.edits import Edit

_BECAUSE = (
    "nothing changes what a tensor holds, reading it cannot fail, and nobody looks at the value"
    " before"
)


class DeferHostRead(Rule):
    """Reads a tensor for Python where the value is looked at, and not in each turn of a loop.

    ## Why it is slow
    `float(loss)` and `loss.numpy()` wait until the tensor is there, and copy it to the host. On a
    GPU nothing is prepared meanwhile for the next step. On a CPU there is next to nothing to wait
    for: there compiled steps took no measurably longer with a read in each turn than without. GPUs
    were not measured.

    ## Before
    ```python
    for step, (x, y) in enumerate(dataset):
        loss = train_step(x, y)
        loss_value = float(loss)
        if step % 100 == 0:
            print(step, loss_value)
    ```

    ## After
    ```python
    for step, (x, y) in enumerate(dataset):
        loss = train_step(x, y)
        if step % 100 == 0:
            loss_value = float(loss)
            print(step, loss_value)
    ```
    A list of losses that is looked at after the loop gets the tensors, and
    `losses = [float(loss) for loss in losses]` stands behind the loop.

    ## Contract
    `exact`: the same tensors are read by the same call, and what is made of the numbers is done in
    the same order and type.

    ## Refuses
    What is not known to be a tensor of one number (`tensor-unknown`): a variable changes, and
    `float` of several numbers fails. `.numpy()` alone may be of any tensor. A list that may grow
    long (`keeps-many`): it would keep all tensors, and is only taken where it begins anew in each
    epoch, or where the loop says that it makes 10,000 turns or fewer. A sum (`summed`): tensors
    are added in float32 and Python's numbers in float64, so that another sum would come out.

    Nothing is said where the value is looked at in each turn: printed, compared, shown by a
    progress bar; nor of what runs in a trace, where reading fails.

    ## When it does not help
    On a CPU.
    """

    code = "TFR206"
    name = "defer-host-read"
    contracts = (Contract.EXACT,)
    triggers = ((b"tensorflow", b"keras"), (b".numpy()", b"float("), (b"for ", b"while "))
    reasons = {
        "tensor-unknown": "It is not known to be a tensor, or one of a single number.",
        "keeps-many": "The list would keep all tensors of a long loop.",
        "summed": "A sum of tensors is another number than a sum of what they hold.",
        "dynamic-code": "The file changes names, attributes or classes unseen.",
    }

    def sites(self, facts: Facts) -> Iterator[Site]:
        if not facts.source.calls_in_loop(("float", "numpy", "item")):
            return
        for read in facts.host_reads.all():
            found = facts.host_reads.fate(read)
            if found is None:
                continue
            if facts.dynamics.obstacle_in_eager_code:
                found = Obstacle("dynamic-code", facts.dynamics.obstacle_in_eager_code)
            span = facts.source.span(read.expr)
            if isinstance(found, Obstacle):
                yield Refusal(span, found.reason, found.message)
            else:
                yield Rewrite(span, _message(facts, found), _BECAUSE, Contract.EXACT,
                              _edits(facts, found))  # fmt: skip


def _message(facts: Facts, found: Deferred | Collected) -> str:
    text = facts.source.in_one_line(found.read.expr)
    if isinstance(found, Deferred):
        line = found.block.lineno
        return f"read `{text}` under the `if` of line {line}, which alone looks at `{found.name}`"
    return f"collect tensors in `{found.name}`, and read them behind the loop"


def _edits(facts: Facts, found: Deferred | Collected) -> tuple[Edit, ...]:
    read = found.read
    inner = facts.source.segment(read.tensor)
    kept = ReplaceExpression(facts.source.span(read.expr), inner)
    if isinstance(found, Collected):
        one = read.tensor.id if isinstance(read.tensor, ast.Name) else facts.names.fresh("tensor")
        text = f"{found.name} = [{_read_of(read, one)} for {one} in {found.name}]"
        return (kept, InsertBefore(facts.source.span(found.after), text))
    place = facts.source.span(found.place)
    if found.moves:
        whole = facts.source.in_one_line(read.statement)
        removed = RemoveStatement(facts.source.span(read.statement), place, moved=True)
        return (InsertBefore(place, whole), removed)
    return (kept, InsertBefore(place, f"{found.name} = {_read_of(read, found.name)}"))


def _read_of(read: Read, name: str) -> str:
    """The same read, of a tensor that has a name."""

    def text(expr: ast.expr) -> str:
        match expr:
            case ast.Call(func=func, args=[inner]) if expr is not read.tensor:
                return f"{ast.unparse(func)}({text(inner)})"
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if expr is not read.tensor:
                return f"{text(owner)}.{method}()"
        return name

    return text(read.expr)
