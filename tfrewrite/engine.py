"""One file in, one outcome out: reads it, asks the rules, composes their edits, writes it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfrewrite import syntax, textfile
from tfrewrite.discovery import is_notebook
from tfrewrite.exemptions import MARK
from tfrewrite.frame import Frame
from tfrewrite.model import DEFAULT_CONTRACTS, Contract, Outcome, Status
from tfrewrite.policy import Chooser, Policy, asked
from tfrewrite.rewriting import Rewriting, RewritingError, described

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfrewrite.rule import Rule

LARGEST = 800_000
"""Bytes above which a file is data, not a script; its tree would take several hundred MB."""

LARGEST_NOTEBOOK = 64_000_000
"""Bytes of a notebook, most of which are its outputs; its code is held to `LARGEST`."""

_HEAD = 2_000
_GENERATED = b"@" + b"generated"


def rewrite_text(
    text: str,
    rules: Sequence[type[Rule]],
    *,
    allowed: Iterable[Contract] = DEFAULT_CONTRACTS,
    target_tf: tuple[int, ...] | None = None,
    path: str = "case.py",
) -> Outcome:
    """What the rules make of a text; `after` holds the result. Never raises."""
    return _rewritten(text, path, Policy(tuple(rules), frozenset(allowed), target_tf), None)


def handle(
    path: str,
    policy: Policy,
    *,
    named: bool = True,
    choose: Chooser | None = None,
) -> Outcome:
    """Handles a file, and rewrites it in place where the policy says so. Never raises.

    `named` tells that the user named this very file; one that was come across in a directory is
    left out where it is marked as generated.
    """
    try:
        data = textfile.read(path)
    except textfile.TextFileError as error:
        return Outcome(path, Status.FAILED, error=str(error))
    return handle_bytes(data, path, policy, named=named, choose=choose)


def handle_bytes(
    data: bytes,
    path: str,
    policy: Policy,
    *,
    named: bool = True,
    choose: Chooser | None = None,
) -> Outcome:
    """As `handle`, of a file that was read already."""
    if not named and _GENERATED in data[:_HEAD]:
        return Outcome(path, Status.SKIPPED, error="marked as generated; name it to have it read")
    notebook = is_notebook(path) or _is_piped_notebook(path, data)
    if len(data) > (LARGEST_NOTEBOOK if notebook else LARGEST):
        return _too_large(path, len(data))
    if notebook:
        return _notebook(data, path, policy, choose)
    try:
        file = textfile.decode(data)
        if not asked(data, policy.rules) and MARK.encode() not in data:
            syntax.check(file.text)
            return Outcome(path, Status.UNCHANGED)
        outcome = replace(
            _rewritten(file.text, path, policy, choose),
            encoding="utf-8-sig" if file.bom else file.encoding,
        )
        return _kept(outcome, file, policy)
    except (textfile.TextFileError, syntax.NotPython) as error:
        return Outcome(path, Status.FAILED, error=str(error))


def _notebook(data: bytes, path: str, policy: Policy, choose: Chooser | None) -> Outcome:
    """As `handle_bytes`, of the cells of a notebook."""
    # Most runs see no notebook.
    from tfrewrite.notebooks.notebook import LeftAlone, NotANotebook, Notebook  # noqa: PLC0415
    from tfrewrite.notebooks.outcomes import by_cell, of_notebook  # noqa: PLC0415

    try:
        file = textfile.decode_json(data)
        notebook = Notebook.read(file.text)
        text = notebook.text
        if len(text) > LARGEST:
            return _too_large(path, len(text))
        if not asked(text.encode(errors="replace"), policy.rules) and MARK not in text:
            return Outcome(path, Status.UNCHANGED)
        choose = choose and by_cell(notebook, choose)
        outcome = _rewritten(text, path, policy, choose, notebook)
        if outcome.status is Status.FAILED:
            return replace(outcome, before=file.text, after=file.text)
        outcome = replace(
            of_notebook(notebook, outcome), encoding="utf-8-sig" if file.bom else file.encoding
        )
        return _kept(outcome, file, policy)
    except LeftAlone as reason:
        return Outcome(path, Status.SKIPPED, error=str(reason))
    except (textfile.TextFileError, syntax.NotPython, NotANotebook) as error:
        return Outcome(path, Status.FAILED, error=str(error))


def _is_piped_notebook(path: str, data: bytes) -> bool:
    """Whether what comes without a name is a notebook; no script is a dictionary of such a key."""
    return path == "<stdin>" and data.lstrip()[:1] == b"{" and b'"nbformat"' in data


def _too_large(path: str, size: int) -> Outcome:
    return Outcome(path, Status.SKIPPED, error=f"{size:,} bytes are more than a script has")


def _kept(outcome: Outcome, file: textfile.TextFile, policy: Policy) -> Outcome:
    """Writes what was rewritten, where the policy says so."""
    if not policy.write or outcome.status is not Status.WOULD_REWRITE:
        return outcome
    textfile.write(outcome.path, file, outcome.after)
    findings = tuple(replace(one, applied=bool(one.touched)) for one in outcome.findings)
    return replace(outcome, status=Status.REWRITTEN, findings=findings)


def _rewritten(
    text: str,
    path: str,
    policy: Policy,
    choose: Chooser | None,
    frame: Frame | None = None,
) -> Outcome:
    try:
        return Rewriting(text, path, policy, choose, frame).outcome()
    except (syntax.NotPython, RewritingError) as error:
        reason = str(error)
    except RecursionError:
        reason = "nested too deeply to be analysed; exclude it, or break its longest expression up"
    except Exception as error:  # noqa: BLE001  a bug in one place must not stop all other files
        reason = f"{described(error)}; this is a bug in tfrewrite, please report it with the file"
    return Outcome(path, Status.FAILED, error=reason, before=text, after=text)
