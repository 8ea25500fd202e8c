"""What makes a notebook more than a script of its cells, so that nothing in it is rewritten."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from tfrewrite import syntax
from tfrewrite.notebooks.code import Code
from tfrewrite.notebooks.ipython import is_harmless

_SHOWN_BEFORE = re.compile(r"_{1,3}|_\d+|_i{1,3}|_i\d+|Out|In|_oh|_ih|_dh")
_SHELL = "get_ipython"
_RUNNING = frozenset(
    "run_cell run_cell_async run_code run_ast_nodes run_line_magic run_cell_magic magic ex push"
    " reset safe_execfile safe_execfile_ipy del_var drop_by_id user_ns user_global_ns events"
    " set_custom_exc set_hook ast_transformers input_transformers_post"
    " input_transformers_cleanup".split()
)
_SHOWING_ALL = "ast_node_interactivity"
_RAISES = "raises-exception"


@dataclass(frozen=True)
class Asked:
    """A cell by its number, and the tags that its owner gave it."""

    number: int
    code: Code
    tags: Sequence[str]


def obstacle_in(cells: Sequence[Asked], tag: str) -> str:
    """The first that there is, in words; empty where there is none. `tag` marks what is ours."""
    for cell in cells:
        if _RAISES in cell.tags:
            return f"cell {cell.number} is there to fail, and how far it is run is not known"
        if _SHOWING_ALL in cell.code.original:
            return f"`{_SHOWING_ALL}` in cell {cell.number} changes what cells show"
        if cell.code.changes_names:
            does = "may change what any name means" if cell.code.is_magic else "is not analysed"
            return f"{cell.code.changes_names} in cell {cell.number} {does}"
    trees = [(cell, list(ast.walk(syntax.parse(cell.code.python)))) for cell in cells]
    names = [node for _, nodes in trees for node in nodes if isinstance(node, ast.Name)]
    bound = {name.id for name in names if not isinstance(name.ctx, ast.Load)}
    for cell, nodes in trees:
        for name in nodes:
            if isinstance(name, ast.Name) and name.id not in bound:
                if _SHOWN_BEFORE.fullmatch(name.id):
                    return (
                        f"`{name.id}` in cell {cell.number} is what IPython makes of earlier cells"
                    )
        if _SHELL in cell.code.original:
            running = _running(nodes, tag)
            if running:
                return f"`{running}` in cell {cell.number} may change what any name means"
    return ""


def _running(nodes: Sequence[ast.AST], tag: str) -> str:
    """What the shell is told to run, where it may be anything."""
    harmless: set[ast.AST] = set()
    for node in nodes:
        match node:
            case ast.Call(func=called, args=[ast.Constant(value=str(first)), *more]):
                words = [first]
                if more and isinstance(more[0], ast.Constant):
                    words.append(str(more[0].value))
                if first.startswith(tag) or is_harmless(" ".join(words)):
                    harmless.add(called)
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in _RUNNING and node not in harmless:
            return node.attr
    return ""
