"""The variables of a script, wherever they live: what they are after a step, and at the end.

In graph mode a variable has a value in each session; in eager mode it has one of its own. Reading
adds nothing to a graph: the tensor through which a variable is read was made with the variable.
"""

import collections
import gc
import hashlib
import threading
import weakref

import numpy as np

_NUMBER = " in session %d"
_PORTION = 1 << 24
"""So many bytes of variables are read from a session at once, unless a single one has more."""
_AT_ONCE = 1 << 20
_KEPT = 4
"""So many sessions are kept from being collected. One that a script makes and forgets has weights
for as long as anything refers to it, and a rewrite may well do so."""


class Weights(object):
    """All variables, told by their names and, where names repeat, by the order of their making."""

    def __init__(self, recorder):
        self._recorder = recorder
        self._eager = []
        self._sessions = []
        self._kept = collections.deque(maxlen=_KEPT)
        self._names = {}
        self._own = {}
        self._digests = {}
        self._seen = set()
        self._ended = set()
        self.run = None
        """The session's own `run`, without an observer."""

    # What there is.

    def made(self, variable):
        """A variable was made; only those that are not part of a graph are kept here."""
        if getattr(variable, "_in_graph_mode", False):
            return
        name = _name(variable)
        count = self._names[name] = self._names.get(name, 0) + 1
        self._eager.append(
            (weakref.ref(variable), name if count == 1 else "%s (%d)" % (name, count))
        )

    @property
    def forgotten(self):
        """The names of those that were made, and that nothing refers to any more."""
        return [name for reference, name in self._eager if reference() is None]

    def disown(self, variable):
        """A variable that is none of the script's: the probe's own, or one that Keras counts with.

        It is kept, so that no other gets its id.
        """
        self._own[id(variable)] = variable

    def used(self, session):
        if not any(one() is session for one in self._sessions):
            self._sessions.append(weakref.ref(session))
            self._kept.append(session)

    @property
    def open_sessions(self):
        alive = [one() for one in self._sessions]
        return [one for one in alive if one is not None and not getattr(one, "_closed", False)]

    # What they are.

    def changed(self):
        """Whether a trainable variable is another than when this was asked last.

        In a session that is new, what an earlier one had as well is no change.
        """
        changed = False
        for name, value, _ in self.values(trainable=True):
            digest = _digest(value)
            known = self._digests.get(name)
            if known is None:
                changed = changed or (_without_number(name), digest) not in self._seen
            else:
                changed = changed or known != digest
            self._digests[name] = digest
            self._seen.add((_without_number(name), digest))
        return changed

    def forget_garbage(self):
        """Variables that nobody can reach any more would be there, or not, by chance."""
        if self._eager:
            gc.collect()

    def record(self, kind, loop=None):
        """Returns whether there are any."""
        found = False
        for name, value, trained in self.values():
            self._recorder.value(kind, name, value, loop=loop, trained=trained)
            found = True
        return found

    def record_end(self, session=None):
        """The values at the end: of a session when it is closed, of all others at the very end.

        A session that ends with the very values of an earlier one, as each does that only restores
        the same checkpoint, counts once.
        """
        if session is None:
            self.forget_garbage()
            self._record_final(self._of_eager(False))
        for one in [session] if session is not None else self.open_sessions:
            whole = frozenset(
                (_without_number(name), _digest(value))
                for name, value, _ in self._of_session(one, False)
            )
            if whole and whole in self._ended:
                self._sessions = [other for other in self._sessions if other() is not one]
                continue
            self._ended.add(whole)
            self._record_final(self._of_session(one, False))

    def _record_final(self, pairs):
        for name, value, trained in pairs:
            self._recorder.value("final", name, value, at_end=True, trained=trained)

    def values(self, trainable=False):
        """One after another, since all of them together may be as large as the model is."""
        for one in self._of_eager(trainable):
            yield one
        for session in self.open_sessions:
            for one in self._of_session(session, trainable):
                yield one

    def _of_eager(self, trainable):
        for reference, name in self._eager:
            variable = reference()
            if variable is None or id(variable) in self._own:
                continue
            if trainable and not _is_trainable(variable):
                continue
            try:
                yield name, variable.numpy(), _is_trainable(variable)
            except Exception:  # noqa: BLE001, S112  it has no value yet, or is none of numbers
                continue

    def _of_session(self, session, trainable):
        number = self._number(session)
        for variables in _portions(self.in_graph(session.graph, trainable)):
            try:
                values = self.run(session, variables)
            except Exception:  # noqa: BLE001  some have no value yet
                values = [self._value(session, one) for one in variables]
            for variable, value in zip(variables, values):
                if value is not None:
                    yield _name(variable) + number, value, True

    def in_graph(self, graph, trainable=False):
        """The variables of a graph, each once, in the order of their making."""
        kinds = ["trainable_variables"] if trainable else ["variables", "local_variables"]
        found = []
        for kind in kinds:
            found += [one for one in graph.get_collection(kind) if _is_readable(one)]
        if not found and trainable:
            found = [one for one in graph.get_collection("variables") if _is_readable(one)]
        return list({id(one): one for one in found}.values())

    def _value(self, session, variable):
        try:
            return self.run(session, variable)
        except Exception:  # noqa: BLE001
            return None

    def _number(self, session):
        """Which session it is, where there are several over graphs with the same names."""
        for number, one in enumerate(self._sessions):
            if one() is session:
                return _NUMBER % (number + 1) if number else ""
        return ""


def _digest(value):
    array = np.ascontiguousarray(value)
    # A copy of what is large would be as large.
    data = array.tobytes() if array.nbytes < _PORTION else array.reshape(-1).view(np.uint8)
    return hashlib.blake2b(data, digest_size=16).digest()


def _portions(variables):
    """What is fetched at once: all, but for a model that is large."""
    portion, taken = [], 0
    for one in variables:
        size = _size(one)
        if portion and taken + size > _PORTION:
            yield portion
            portion, taken = [], 0
        portion.append(one)
        taken += size
    if portion:
        yield portion


def _size(variable):
    """In bytes, as far as that is known before it is fetched."""
    try:
        return int(np.prod(variable.shape.as_list())) * variable.dtype.size
    except (AttributeError, TypeError, ValueError):
        return 0


def _without_number(name):
    """The name of a variable, whichever session it is of."""
    return name.split(_NUMBER[: -len("%d")])[0]


class Nudges(object):
    """Moves the weights by one unit in the last place, up or down: at first, and after each step.

    So rounding does it. Moved at first only, a chaotic program may happen to stay on its way. With
    a `part`, they are moved by that part of themselves, and at first only: where layers compute in
    a lower precision, the weights that are trained keep theirs.
    """

    def __init__(self, weights, asked):
        self._weights = weights
        self._random = np.random.RandomState(asked["seed"])
        self._part = asked["part"]
        self._done = set()
        self._lock = threading.Lock()

    def made(self, variable):
        """In eager mode, where a variable has its value from the beginning."""
        if not _is_trainable(variable) or getattr(variable, "_in_graph_mode", False):
            return
        try:
            variable.assign(self.nudged(variable.numpy()))
        except Exception:  # noqa: BLE001  made in a traced function: it gets its value later
            return

    def begin(self):
        """Before a step; the first time for what was loaded after it had been made."""
        for reference, _ in self._weights._eager:
            variable = reference()
            if variable is not None and id(variable) not in self._weights._own:
                self.made(variable)

    def step(self):
        if self._part:
            return
        self.begin()
        for session in self._weights.open_sessions:
            self._done.discard(id(session))
            self.before_run(session)

    def before_run(self, session):
        """In graph mode: as soon as all weights of a session have values."""
        with self._lock:
            if id(session) in self._done:
                return
            variables = self._weights.in_graph(session.graph, trainable=True)
            try:
                self._require_values(session, variables)
            except Exception:  # noqa: BLE001  not all are there yet
                return
            if not variables:
                return
            self._done.add(id(session))
            for portion in _portions(variables):
                for variable, value in zip(portion, self._weights.run(session, portion)):
                    if value.dtype.kind == "f":
                        fed = variable.initializer.inputs[1]
                        self._weights.run(
                            session, variable.initializer, feed_dict={fed: self.nudged(value)}
                        )

    def _require_values(self, session, variables):
        """Raises where one of them has none yet."""
        for portion in _portions(variables):
            self._weights.run(session, portion)

    def nudged(self, value):
        if value.dtype.kind != "f":
            return value
        moved = np.array(value).reshape(-1)
        for start in range(0, moved.size, _AT_ONCE):
            part = moved[start : start + _AT_ONCE]
            up = self._random.randint(0, 2, part.shape).astype(bool)
            if self._part:
                part *= np.where(up, 1 + self._part, 1 - self._part).astype(part.dtype)
                continue
            away = np.where(up, np.array(np.inf, part.dtype), np.array(-np.inf, part.dtype))
            part[:] = np.nextafter(part, away)
        return moved.reshape(value.shape)


def _name(variable):
    name = getattr(variable, "name", None) or getattr(variable, "_shared_name", "variable")
    return str(name)


def _is_trainable(variable):
    return bool(getattr(variable, "trainable", True))


def _is_readable(variable):
    return hasattr(variable, "dtype") and hasattr(variable, "initializer")
