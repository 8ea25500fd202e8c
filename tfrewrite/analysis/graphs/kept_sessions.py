"""Whether one session can serve all turns of a loop where each turn opens a new one.

A new session has no values in its variables yet and begins all random streams anew. That makes no
difference where what is run in it only computes from what is fed, or from a checkpoint that each
turn restores and that stays what it is.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.fetches import fetch_of
from tfrewrite.analysis.graphs.nodes import Kind, flags
from tfrewrite.analysis.graphs.sessions import DEFAULT_SESSION
from tfrewrite.analysis.obstacle import Obstacle

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.opened_sessions import OpenedSession
    from tfrewrite.analysis.graphs.sessions import SessionRun
    from tfrewrite.analysis.program.hoisting import Place

# By their names, they write files or wait for those who do.
_WRITING = (
    "save", "write", "export", "copy", "move", "rename", "replace", "remove", "system", "popen",
    "call", "check_call", "check_output", "spawn", "sleep", "dump", "extract", "download", "tofile",
    "wait", "communicate", "pause", "unlink", "rmtree", "rmdir", "link", "symlink", "truncate",
)  # fmt: skip
# Modules through which files, the working directory and other programs are got at.
_OF_THE_SYSTEM = frozenset(
    "os shutil subprocess signal socket select urllib http ftplib zipfile tarfile asyncio pty"
    " multiprocessing sched queue webbrowser".split()
)
_READING = (
    "os.path.", "os.environ.", "os.listdir", "os.walk", "os.scandir", "os.stat", "os.getcwd",
    "os.getenv", "os.getpid", "os.cpu_count", "os.fspath", "urllib.parse.",
)  # fmt: skip
_ASKING_FOR_FILES = frozenset(
    "exists isfile is_file isdir is_dir Exists IsDirectory checkpoint_exists".split()
)


@dataclass(frozen=True, eq=False)
class Restore:
    """A statement that gives the variables of a session the values of a checkpoint."""

    statement: ast.Expr
    saver: ast.expr
    session: ast.expr
    path: ast.expr


def restores(opened: OpenedSession) -> list[Restore]:
    """The checkpoints that are restored in a session, where it is opened."""
    found = []
    for statement in opened.block:
        match statement:
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(value=saver, attr="restore"),
                    args=[ast.Name() as session, path],
                    keywords=[],
                )
            ) if session in opened.uses:
                found.append(Restore(statement, saver, session, path))
    return found


def operands(facts: Facts, opened: OpenedSession) -> list[ast.expr]:
    """What has to be there before the loop, and to stay, for the session to be opened there."""
    given = [keyword.value for keyword in opened.call.keywords]
    needed = [value for value in given if not _is_literal(facts, value)]
    for restore in restores(opened):
        needed += [restore.saver]
        if not _is_flag(facts, restore.path, opened.call):
            needed += [restore.path]
    return needed


def obstacle(facts: Facts, opened: OpenedSession, place: Place) -> Obstacle | None:
    """Why one session cannot serve all turns of the loop at a place."""
    body = facts.opened_sessions.reached(opened.block)
    return (
        _dynamic(facts)
        or _arguments(facts, opened, place.before)
        or _other_uses(facts, opened)
        or _restoring(facts, opened, place.before)
        or _building(facts, opened, body)
        or _running(facts, opened, body)
        or _graphs(facts, place.before)
    )


def _dynamic(facts: Facts) -> Obstacle | None:
    if not facts.dynamics.obstacle:
        return None
    return Obstacle("dynamic-code", facts.dynamics.obstacle)


# The session


def _arguments(facts: Facts, opened: OpenedSession, loop: ast.stmt) -> Obstacle | None:
    """Why a session made from the same arguments may be another one, or say something."""
    if opened.call.args or any(k.arg not in ("config", "graph") for k in opened.call.keywords):
        return Obstacle("session-arguments", "it is not known what its arguments make of it")
    config = next((k.value for k in opened.call.keywords if k.arg == "config"), None)
    if config is not None and facts.graph_readers.logging_placement:
        message = "`log_device_placement` prints where the ops are for each session"
        return Obstacle("session-arguments", message)
    names = {config.id} if isinstance(config, ast.Name) else set()
    for node in ast.walk(loop):
        if isinstance(node, ast.Name) and node.id in names and node is not config:
            return Obstacle("session-arguments", f"line {node.lineno} may change its configuration")
    return None


def _other_uses(facts: Facts, opened: OpenedSession) -> Obstacle | None:
    """What else is done with the session than to run in it and to restore."""
    ours = {restore.session for restore in restores(opened)}
    for run in facts.opened_sessions.runs(opened):
        if run.direct and isinstance(run.call.func, ast.Attribute):
            ours.add(run.call.func.value)
        ours |= {keyword.value for keyword in run.call.keywords if keyword.arg == "session"}
    for use in opened.uses:
        if use not in ours:
            message = f"line {use.lineno} does something else with `{use.id}` than to run in it"
            return Obstacle("session-used", message)
    return None


# What is restored


def _restoring(facts: Facts, opened: OpenedSession, loop: ast.stmt) -> Obstacle | None:
    found = restores(opened)
    if not found:
        return None
    if [restore.statement for restore in found] != opened.block[: len(found)]:
        message = f"line {found[-1].statement.lineno} restores, but not before all else"
        return Obstacle("restored-late", message)
    for restore in found:
        saver = facts.graph.trace(restore.saver)
        if saver.kind is not Kind.OBJECT or saver.symbol != "train.Saver":
            text = facts.source.segment(restore.saver)
            return Obstacle("restored-late", f"it is not known what `{text}` restores")
    for outer in facts.flow.enclosing(opened.call):
        if isinstance(outer, ast.Try):
            message = f"the `try` of line {outer.lineno} sees an error of restoring"
            return Obstacle("error-caught", message)
        if outer is loop:
            break
    return _rewritten(facts, loop)


def _rewritten(facts: Facts, loop: ast.stmt) -> Obstacle | None:
    """What may write another checkpoint at the same path while the loop goes on."""
    nodes = facts.opened_sessions.reached([loop])
    for call in (node for node in nodes if isinstance(node, ast.Call)):
        if _may_write(facts, call):
            text = ast.unparse(call.func)
            message = (
                f"`{text}` in line {call.lineno} may write the checkpoint, wait for it, or go to"
                " another directory"
            )
            return Obstacle("checkpoint-may-change", message)
        if _awaits(facts, call, loop):
            text = ast.unparse(call)
            message = f"`{text}` in line {call.lineno} asks in each turn whether it is there by now"
            return Obstacle("checkpoint-may-change", message)
    unknown = facts.building.first_op(node for node in nodes if isinstance(node, ast.Call))
    if unknown is not None:
        text = facts.source.segment(unknown).splitlines()[0]
        message = f"it is not known whether `{text}` in line {unknown.lineno} writes the checkpoint"
        return Obstacle("checkpoint-may-change", message)
    return None


def _may_write(facts: Facts, call: ast.Call) -> bool:
    """Whether a call, by what it is called, writes files, waits, or moves to another directory."""
    path = facts.names.dotted(call.func) or ""
    if path == "builtins.open":
        return not _opens_to_read(call)
    if path == "builtins.input" or path.partition(".")[0] in _OF_THE_SYSTEM:
        return not path.startswith(_READING)
    name = getattr(call.func, "attr", getattr(call.func, "id", "")).lower()
    return any(part.startswith(_WRITING) for part in name.split("_"))


def _awaits(facts: Facts, call: ast.Call, loop: ast.stmt) -> bool:
    """Whether a call asks for a file that is the same one in each turn, as for the checkpoint."""
    if getattr(call.func, "attr", getattr(call.func, "id", "")) not in _ASKING_FOR_FILES:
        return False
    names = [node for node in ast.walk(call) if isinstance(node, ast.Name)]
    found = [facts.hoisting.unsure(name, loop) for name in names]
    return all(one is None or one.reason != "rebound-in-loop" for one in found)


def _opens_to_read(call: ast.Call) -> bool:
    mode = [one.value for one in call.keywords if one.arg == "mode"] or call.args[1:2]
    text = mode[0].value if mode and isinstance(mode[0], ast.Constant) else "r" if not mode else ""
    return isinstance(text, str) and text.startswith("r") and "+" not in text


# What is run


def _building(facts: Facts, opened: OpenedSession, body: list[ast.AST]) -> Obstacle | None:
    """What makes ops, for which the graph is the default one no more, or what is not known."""
    of_graph = any(keyword.arg == "graph" for keyword in opened.call.keywords)
    found = facts.building.first_op(node for node in body if of_graph or isinstance(node, ast.Call))
    if found is not None:
        text = facts.source.segment(found).splitlines()[0]
        message = f"`{text}` in line {found.lineno} makes ops in each turn, or may do anything"
        return Obstacle("builds-ops", message)
    for node in body:
        if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)):
            message = f"line {node.lineno} leaves the session open while others run"
            return Obstacle("generator", message)
    return None


def _running(facts: Facts, opened: OpenedSession, body: list[ast.AST]) -> Obstacle | None:
    ours = facts.opened_sessions.runs(opened)
    calls = {run.call for run in ours}
    for node in body:
        if isinstance(node, ast.Call) and node in facts.sessions.runs and node not in calls:
            return Obstacle("run-elsewhere", f"line {node.lineno} runs the graph as well")
    for run in ours:
        found = _keeping_state(facts, opened, run)
        if found is not None:
            return found
    return None


def _keeping_state(facts: Facts, opened: OpenedSession, run: SessionRun) -> Obstacle | None:
    """What a run leaves in the session, or finds there from an earlier turn."""
    line = run.call.lineno
    if run.session not in (opened.name, DEFAULT_SESSION):
        return Obstacle("run-elsewhere", f"line {line} runs in `{run.session}`")
    if run.options:
        return Obstacle("run-options", f"line {line} asks for options or metadata of its own")
    text = ast.unparse(run.fetches)
    fetch = fetch_of(facts.graph.trace(run.fetches), text)
    if fetch.trouble in ("fetch-not-traced", "update-not-traced"):
        return Obstacle("fetch-not-traced", f"in line {line} {fetch.message}")
    if not fetch.reads_only:
        message = fetch.message or f"`{text}` updates variables"
        return Obstacle("keeps-state", f"in line {line} {message}; a new session begins anew")
    if flags(*fetch.roots) & {"reads", "creates"} and not restores(opened):
        message = f"`{text}` in line {line} reads variables that no checkpoint gives their values"
        return Obstacle("keeps-state", message)
    return None


def _graphs(facts: Facts, loop: ast.stmt) -> Obstacle | None:
    """What makes another graph the default one while the loop goes on."""
    for node in facts.opened_sessions.reached([loop]):
        if isinstance(node, ast.Call) and facts.graph_readers.enters_graph(node):
            return Obstacle("graph-changes", f"line {node.lineno} changes the default graph")
        if not isinstance(node, (ast.Name, ast.Attribute)):
            continue
        if facts.names.tf(node) in ("Graph", "reset_default_graph"):
            return Obstacle("graph-changes", f"line {node.lineno} changes the default graph")
    return None


def _is_literal(facts: Facts, value: ast.expr) -> bool:
    """Whether a configuration is written where it is used, out of constants."""
    match value:
        case ast.Constant():
            return True
        case ast.Attribute():
            return facts.names.tf(value) is not None
        case ast.Call(func=func, args=[], keywords=keywords):
            known = facts.names.tf(func) is not None
            return known and all(k.arg and _is_literal(facts, k.value) for k in keywords)
        case ast.Dict(keys=keys, values=values):
            return all(key is not None and _is_literal(facts, key) for key in keys) and all(
                _is_literal(facts, one) for one in values
            )
    return False


def _is_flag(facts: Facts, path: ast.expr, call: ast.Call) -> bool:
    """Whether a path is a flag, and no loop gives flags other values."""
    symbol = facts.names.tf(path)
    if symbol is None or ".FLAGS." not in symbol:
        return False
    return not any(
        facts.settings.parsed_anew(facts.afterwards.within(loop))
        for loop in facts.hoisting.loops(call)
    )
