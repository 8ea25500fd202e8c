"""The marks at the loops of an instrumented script; without a probe they do nothing.

This folder is on the path of the script and of the processes that it starts, so it holds nothing
else.
"""

_watch = None


def watch(loops):
    """From now on, `loops` is told of every turn of a marked loop."""
    global _watch  # noqa: PLW0603  it is set once, before the script runs
    _watch = loops


def steps(iterable, loop):
    if _watch is None:
        return iterable
    return _watch.steps(iterable, loop)


def go(condition, loop):
    if _watch is None:
        return condition
    return _watch.go(condition, loop)


# AutoGraph, which reads these calls in a traced function, leaves the marks as they are.
for _mark in (steps, go):
    _mark.__dict__["autograph_info__"] = {}
