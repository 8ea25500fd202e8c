"""Whether a loop takes one batch in each turn, and its turns are known before it begins."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.statement_names import names_in, read_in

if TYPE_CHECKING:
    from tfrewrite.analysis.batches.fed_batches import FedBatch
    from tfrewrite.analysis.facts import Facts

# What may stand between a run and its statement, so that it is run whenever the statement is.
_ALWAYS = (ast.Tuple, ast.List, ast.Subscript, ast.BinOp, ast.Starred, ast.Call, ast.keyword)


class FedLoops:
    """Looks at the shape of loops that feed batches."""

    def __init__(self, facts: Facts) -> None:
        self._source = facts.source
        self._flow = facts.flow

    def obstacle(self, batch: FedBatch) -> Obstacle | None:
        """Whether the loop takes one batch in each turn, and its turns are known beforehand."""
        loop, statement = batch.loop, batch.statement
        if isinstance(loop, ast.AsyncFor) or loop.orelse:
            return Obstacle("loop-not-counted", f"the loop of line {loop.lineno} has an `else`")
        if isinstance(loop, ast.While):
            message = (
                f"the loop of line {loop.lineno} is a `while`, whose turns are not known before it"
                " begins: count them with `for`"
            )
            return Obstacle("loop-not-counted", message)
        stored = [node for node in ast.walk(loop.target) if isinstance(node, ast.expr)]
        for one in stored:
            if isinstance(one, (ast.Attribute, ast.Subscript)):
                text = ast.unparse(one)
                message = f"the loop of line {loop.lineno} sets `{text}`, which others may hold"
                return Obstacle("batch-changes-state", message)
        own = names_in(loop.target)
        if own & read_in(loop.iter):
            message = f"the loop of line {loop.lineno} goes over what its own names stood for"
            return Obstacle("source-consumed", message)
        function = self._source.function(loop)
        if any(
            isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await))
            and self._source.function(node) is function
            for node in (ast.walk(function) if function is not None else ())
        ):
            message = "others run between the turns of a loop in a generator"
            return Obstacle("not-each-turn", message)
        if statement not in loop.body:
            message = f"the run of line {statement.lineno} is not made in each turn of the loop"
            return Obstacle("not-each-turn", message)
        if isinstance(statement, (ast.Assign, ast.Expr, ast.AugAssign, ast.AnnAssign)):
            around = self._between(batch.run.call, statement)
        else:
            around = statement
        if around is not None:
            message = f"the run of line {statement.lineno} is not a statement, or is made under one"
            return Obstacle("not-each-turn", message)
        if batch.filed is not None and batch.filed not in loop.body:
            message = f"line {batch.filed.lineno} makes the dict under another statement"
            return Obstacle("not-each-turn", message)
        for earlier in loop.body[: loop.body.index(statement)]:
            for node in ast.walk(earlier):
                if isinstance(node, ast.Continue) and self._flow.loop(node) is loop:
                    message = f"line {node.lineno} may leave the turn before the run"
                    return Obstacle("not-each-turn", message)
        return None

    def _between(self, call: ast.Call, statement: ast.stmt) -> ast.AST | None:
        for outer in self._source.ancestors(call):
            if outer is statement:
                return None
            if not isinstance(outer, _ALWAYS):
                return outer
        return None
