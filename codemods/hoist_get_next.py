"""TFR104 hoist-get-next."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.graphs.next_elements import Origin
from tfrewrite.analysis.graphs.sessions import SessionKind
from tfrewrite.analysis.obstacle import Obstacle
from tfrewrite.analysis.program.hoisting import Place
from tfrewrite.model import Contract, Refusal, Rewrite, Site
from tfrewrite.rule import Rule
from tfrewrite.writing.draws import changed_draws
from tfrewrite.writing.hoisted import hoisted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.graphs.next_elements import Element

_OP = "IteratorGetNext"


class HoistGetNext(Rule):
    """Calls `iterator.get_next()` once before a session loop and not in each turn of it.

    ## Why it is slow
    In a graph, `get_next()` takes nothing: it makes an op that takes the next element each time
    that it is run. Called in a loop it makes a new op in each turn. The session has to take in the
    changed graph before each run, so that every step costs much more than one without, and more
    with every step; memory grows with it. TensorFlow warns of it after 32 calls.

    ## Before
    ```python
    for step in range(1000):
        images, labels = iterator.get_next()
        image_batch, label_batch = sess.run([images, labels])
    ```

    ## After
    ```python
    images, labels = iterator.get_next()
    for step in range(1000):
        image_batch, label_batch = sess.run([images, labels])
    ```
    It goes to just before the outermost loop in which the iterator stays the same, and not out of
    a `with` block. Each call keeps an op of its own, so that which run takes which element stays.

    ## Contract
    - `exact`: an element is taken by each run of the op, whichever op that is, and the runs stay.
    - `resampled`: the graph has a seed, and random ops without one of their own may be made in the
      loop or after it. On 1.15 they have their seeds from the number of ops made before. Not so on
      2.21: with `target-tf` 2.21 or later the site is `exact`.

    TensorFlow's warning comes no more, which is an error in a script that makes errors of warnings.

    ## Refuses
    What is fetched as it is is all that leaves the loop. Where ops are built on the element in the
    loop, or it is kept (`used-otherwise`), two turns may be run together, and then one op takes
    one element where two took two; and the graph would grow on by those ops anyway. Two calls of
    one iterator that are fetched by one run (`two-in-one-run`) race for the elements. The iterator
    must be known to be one of a graph (`iterator-unknown`), since in eager mode `get_next()` takes
    the element itself (`eager-mode`), and to be there before the loop (`operand-not-sure`) and all
    through it (`rebound-in-loop`, `made-in-loop`). Under a `with` inside the loop
    (`scope-in-loop`) and in a generator (`generator`), names, devices and control dependencies
    come from there. What lists, counts, names or looks up ops, also by printing an exception
    (`graph-read`), or closes the graph (`graph-finalized`) would notice.

    ## When it does not help
    Where the loop makes few turns, or where it goes on making other ops, as in
    `sess.run(tf.add(x, y))`: those must leave the loop as well.
    """

    code = "TFR104"
    name = "hoist-get-next"
    contracts = (Contract.EXACT, Contract.RESAMPLED)
    triggers = ((b"tensorflow",), (b".get_next(",))
    reasons = {
        "used-otherwise": "More is done with the element than to fetch it: ops are built on it.",
        "two-in-one-run": "One run takes two elements, and their order is left to chance.",
        "iterator-unknown": "It is not known what the iterator is, or what its get_next does.",
        "made-in-loop": "The iterator is made anew in the loop, and begins anew.",
        "operand-not-sure": "It is not sure that the iterator is there before the loop.",
        "rebound-in-loop": "The iterator gets another value in the loop.",
        "scope-in-loop": "It is called under a `with` inside the loop.",
        "generator": "What resumes the generator may change the scopes that the op is made in.",
        "hooked-session": "The session closes its graph, so that making an op raises.",
        "eager-mode": "Outside of a graph get_next() takes the element itself.",
        "graph-read": "The file lists, counts or looks up the ops of the graph, or shows names.",
        "graph-finalized": "The graph is closed, and making an op raises.",
        "graph-changes": "The default graph is another one in the meantime.",
        "dynamic-code": "The file changes names, attributes or classes unseen.",
    }

    def sites(self, facts: Facts) -> Iterator[Site]:
        taken: set[str] = set()
        elements = [one for one in facts.next_elements.all() if _is_outline(facts, one)]
        for element in elements:
            found = _forbidden(facts, element, elements) or _place(facts, element)
            if isinstance(found, Obstacle):
                yield Refusal(facts.source.span(element.call), found.reason, found.message)
            else:
                yield _rewrite(facts, element, found, taken)


def _is_outline(facts: Facts, element: Element) -> bool:
    """Whether a call is made in each turn of a loop that runs what it gives.

    Where a loop builds towers of a model, each with a batch of its own, nothing is run.
    """
    origin = facts.next_elements.origin(element.iterator)
    loops = facts.hoisting.loops(element.call)
    if not loops or origin is Origin.OTHER:
        return False
    if isinstance(facts.scopes.of(element.call).node, ast.ClassDef):
        return False  # a new name there is an attribute
    if isinstance(facts.source.function(element.call), ast.Lambda):
        return False  # there is no statement to put before it
    if origin is Origin.UNKNOWN or not any(_has_runs(facts, loop) for loop in loops):
        return bool(element.built.runs)
    return bool(element.built.uses)


def _has_runs(facts: Facts, loop: ast.AST) -> bool:
    return any(loop in facts.source.ancestors(call) for call in facts.sessions.runs)


def _forbidden(facts: Facts, element: Element, all_of_them: list[Element]) -> Obstacle | None:
    """What speaks against moving a call, wherever to."""
    text = facts.source.segment(element.iterator)
    if facts.dynamics.obstacle:
        return Obstacle("dynamic-code", facts.dynamics.obstacle)
    if facts.next_elements.origin(element.iterator) is Origin.UNKNOWN:
        message = f"it is not known what `{text}` is, and so what its `get_next()` does"
        return Obstacle("iterator-unknown", message)
    if isinstance(element.iterator, ast.Call):
        message = f"`{text}` makes a new iterator in each turn, which gives its first element"
        return Obstacle("made-in-loop", message)
    if element.built.elsewhere is not None:
        line = getattr(element.built.elsewhere, "lineno", element.call.lineno)
        message = (
            f"line {line} does more with the element than to fetch it; build what is built on it"
            " before the loop, together with the call"
        )
        return Obstacle("used-otherwise", message)
    for run in element.built.runs:
        if run.kind is SessionKind.HOOKED:
            message = f"`{run.session}` closes its graph, and making an op raises"
            return Obstacle("hooked-session", message)
    told = facts.graph_readers.told(element.built.runs)
    if told is not None:
        return told
    rival = _rival(element, all_of_them)
    if rival is not None:
        message = f"the element of line {rival.call.lineno} is fetched by the same run"
        return Obstacle("two-in-one-run", message)
    for run in element.built.runs:
        if facts.next_elements.takes_two(run):
            message = f"the run of line {run.call.lineno} takes another element of `{text}`"
            return Obstacle("two-in-one-run", message)
    return facts.hoisting.resumed(element.call)


def _rival(element: Element, all_of_them: list[Element]) -> Element | None:
    for other in all_of_them:
        if other is not element and set(other.built.runs) & set(element.built.runs):
            if ast.dump(other.iterator) == ast.dump(element.iterator):
                return other
    return None


def _place(facts: Facts, element: Element) -> Place | Obstacle:
    place = facts.hoisting.place(element.call, [element.iterator])
    if isinstance(place, Obstacle):
        return place
    seen = facts.graph_readers.obstacle(_OP, place.before)
    return seen or facts.op_names.shown_alike(place.before, element.call) or place


def _rewrite(facts: Facts, element: Element, place: Place, taken: set[str]) -> Rewrite:
    edits = hoisted(facts, element.built, place.before, _title(element.iterator), taken)
    changes = changed_draws(facts, place.before)
    text = facts.source.segment(element.iterator)
    return Rewrite(
        facts.source.span(element.call),
        f"call `{text}.get_next()` once, before the loop of line {place.before.lineno}",
        "each run of the op takes the next element, and all that is done with it is to run it",
        Contract.RESAMPLED if changes else Contract.EXACT,
        edits,
        changes=changes,
    )


def _title(iterator: ast.expr) -> str:
    """What the element of an iterator is called: `next_train_element` for `train_iterator`."""
    name = iterator.attr if isinstance(iterator, ast.Attribute) else ""
    name = iterator.id if isinstance(iterator, ast.Name) else name
    words = [word for word in name.strip("_").lower().split("_") if word]
    words = [word for word in words if word not in ("iterator", "iter", "it", "itr", "dataset")]
    described = [word for word in words if word.isalpha() and len(word) > 1]
    return "_".join(["next", *described, "element"])
