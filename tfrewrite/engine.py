"""One file in, one outcome out: reads it, asks the rules, composes their edits, writes it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfrewrite import syntax, textfile
from tfrewrite.exemptions import MARK
from tfrewrite.model import DEFAULT_CONTRACTS, Contract, Outcome, Status
from tfrewrite.policy import Chooser, Policy, asked
from tfrewrite.rewriting import Rewriting, RewritingError, described

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tfrewrite.rule import Rule

LARGEST = 800_000
"""Bytes above which a file is data, not a script; its tree would take several hundred MB."""

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
    if len(data) > LARGEST:
        return Outcome(
            path, Status.SKIPPED, error=f"{len(data):,} bytes are more than a script has"
        )
    try:
        file = textfile.decode(data)
        if not asked(data, policy.rules) and MARK.encode() not in data:
            syntax.check(file.text)
            return Outcome(path, Status.UNCHANGED)
        outcome = replace(
            _rewritten(file.text, path, policy, choose),
            encoding="utf-8-sig" if file.bom else file.encoding,
        )
        if policy.write and outcome.status is Status.WOULD_REWRITE:
            textfile.write(path, file, outcome.after)
            outcome = _written(outcome)
    except (textfile.TextFileError, syntax.NotPython) as error:
        return Outcome(path, Status.FAILED, error=str(error))
    return outcome


def _rewritten(text: str, path: str, policy: Policy, choose: Chooser | None) -> Outcome:
    try:
        return Rewriting(text, path, policy, choose).outcome()
    except (syntax.NotPython, RewritingError) as error:
        reason = str(error)
    except RecursionError:
        reason = "nested too deeply to be analysed; exclude it, or break its longest expression up"
    except Exception as error:  # noqa: BLE001  a bug in one place must not stop all other files
        reason = f"{described(error)}; this is a bug in tfrewrite, please report it with the file"
    return Outcome(path, Status.FAILED, error=reason, before=text, after=text)


def _written(outcome: Outcome) -> Outcome:
    findings = tuple(replace(one, applied=bool(one.touched)) for one in outcome.findings)
    return replace(outcome, status=Status.REWRITTEN, findings=findings)
