"""Whether a text is Python that this interpreter reads, and in one clear line why not."""

from __future__ import annotations

import ast
import re
import symtable
import warnings

_PYTHON_2 = re.compile(
    r"""^\s*(print|exec)\s+[^\s=(.,:\[]      # print "x"
      | ^\s*print\s*>>                       # print >>stream
      | ^\s*raise\s+[\w.]+\s*,               # raise E, "x"
      | ^\s*except\s+[\w.()\s,]+,\s*\w+\s*:  # except E, e:
      | <>                                   # a <> b
      | `                                    # `x`
      | \b0[0-7]+\b | \b\d+[lL]\b            # 0777, 10L
      | \b[uU][rR]["']                       # ur"x"
    """,
    re.VERBOSE,
)
_PYTHON_2_MESSAGES = (
    "Missing parentheses in call to 'print'",
    "Missing parentheses in call to 'exec'",
    "multiple exception types must be parenthesized",
    "leading zeros in decimal integer literals",
)


class NotPython(Exception):  # noqa: N818
    """The text cannot be read as Python; says on which line and what to do."""


def parse(text: str) -> ast.Module:
    """The tree of a text, or `NotPython`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotPython(_reason(error, text)) from error


def levels(text: str) -> int:
    """How deep the tree of a text is, for those who go through it by recursion."""
    level: list[ast.AST] = [parse(text)]
    deep = 0
    while level:
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        deep += 1
    return deep


def check(text: str) -> None:
    """Raises `NotPython` as `parse` does, in half the time: it makes no tree."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            symtable.symtable(text, "<text>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotPython(_reason(error, text)) from error


def check_result(text: str) -> None:
    """Raises `NotPython` where the compiler would refuse what a rewrite made."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<text>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotPython(_reason(error, text)) from error


def _reason(error: Exception, text: str) -> str:
    if isinstance(error, (RecursionError, MemoryError)):
        return "nested too deeply to be read; break the longest expression up or exclude the file"
    if "\0" in text:
        return "contains a null byte, so it is not Python source; exclude it"
    if not isinstance(error, SyntaxError) or error.lineno is None:
        return f"cannot be read as Python: {error}"
    where = f"line {error.lineno}"
    if isinstance(error, TabError):
        return f"{where}: tabs and spaces are mixed in the indentation; indent with one of them"
    if _is_python_2(error, text):
        return f"{where}: Python 2 syntax ({error.msg}); convert it to Python 3 first, as 2to3 does"
    return f"{where}: syntax error: {error.msg}"


def _is_python_2(error: SyntaxError, text: str) -> bool:
    if error.msg.startswith(_PYTHON_2_MESSAGES):
        return True
    lines = re.split(r"\r\n|\r|\n", text)
    number = error.lineno or 1
    return number <= len(lines) and _PYTHON_2.search(lines[number - 1]) is not None
