"""Sees what a script runs in sessions: each value that it fetches, by the name of its tensor."""

import threading


class SessionObserver(object):
    """Stands between the script and `Session.run`; what runs within a run is not seen.

    `early` is None, or tells by the names of tensors which of the times that each is fetched the
    script is to be given the value of before the last update. Values that are fetched together with
    an update are marked as such.
    """

    def __init__(self, recorder, weights, loops, traffic, nudges=None, early=None):
        self._recorder = recorder
        self._traffic = traffic
        self._weights = weights
        self._loops = loops
        self._nudges = nudges
        self._early = early
        self._values = {}
        self._times = {}
        self._inside = threading.local()
        self._updates = {}

    def install(self, session_module):
        base = session_module.BaseSession
        self._run = base.run
        weights = self._weights
        weights.run = self._unobserved
        observer = self

        def run(session, fetches, feed_dict=None, options=None, run_metadata=None):
            def real():
                return observer._run(session, fetches, feed_dict, options, run_metadata)

            return observer._observed(session, fetches, feed_dict, real)

        def make_callable(session, fetches, feed_list=None, accept_options=False):
            call = observer._make_callable(session, fetches, feed_list, accept_options)

            def observed(*arguments, **options):
                feed = dict(zip(feed_list or (), arguments))
                return observer._observed(
                    session, fetches, feed, lambda: call(*arguments, **options)
                )

            return observed

        def partial_run(session, handle, fetches, feed_dict=None):
            def real():
                return observer._partial_run(session, handle, fetches, feed_dict)

            return observer._observed(session, fetches, None, real)

        def close(session):
            if not getattr(session, "_closed", False) and not observer._is_inside():
                with _Inside(observer._inside):
                    weights.record_end(session)
            return observer._close(session)

        self._make_callable, self._partial_run = base.make_callable, base.partial_run
        self._close = base.close
        base.run, base.make_callable = run, make_callable
        base.partial_run, base.close = partial_run, close

    def _is_inside(self):
        return getattr(self._inside, "depth", 0) > 0

    def _unobserved(self, session, fetches, feed_dict=None):
        with _Inside(self._inside):
            return self._run(session, fetches, feed_dict)

    def _observed(self, session, fetches, feed, real):
        if self._is_inside():
            return real()
        with _Inside(self._inside), self._traffic.around():
            self._weights.used(session)
            if self._nudges is not None:
                self._nudges.before_run(session)
            updates = self._early is not None and self._changes_weights(session.graph, fetches)
            if updates:
                self._read_early(session, feed)
            value = self._traffic.through(feed, real)
            self._loops.worked = True
            if self._early:
                value = self._with_early_values(fetches, value, feed, updates)
            for name, one in _flat(fetches, value):
                self._recorder.value("fetched", name, one, of_update=updates)
            return value

    def _read_early(self, session, feed):
        """Keeps what the tensors are before an update, for those who read with the same feed."""
        for name in self._early:
            try:
                value = self._run(session, session.graph.get_tensor_by_name(name), feed)
            except Exception:  # noqa: BLE001, S112  not to be had from this feed
                continue
            self._values[name] = (feed, value)

    def _with_early_values(self, fetches, value, feed, updates):
        """What the run gave, with the values of before the update where these are asked for."""

        def chosen(name, own):
            if name not in self._early:
                return own
            times = self._times[name] = self._times.get(name, 0) + 1
            wanted = self._early[name]
            if updates or times > len(wanted) or not wanted[times - 1]:
                return own
            its_feed, kept = self._values.get(name, (None, own))
            return kept if _same_feed(its_feed, feed) else own

        return _mapped(fetches, value, chosen)

    def _changes_weights(self, graph, fetches):
        return any(self._is_update(graph, one) for one in _leaves(fetches))

    def _is_update(self, graph, fetch):
        """Whether an op that writes a trainable variable lies beneath what is fetched."""
        try:
            element = graph.as_graph_element(fetch)
        except (TypeError, ValueError, KeyError):
            return False
        start = getattr(element, "op", element)
        if start.name not in self._updates:
            written = {one.name.split(":")[0] for one in self._weights.in_graph(graph, True)}
            self._updates[start.name] = _writes(start, written)
        return self._updates[start.name]


class _Inside(object):
    def __init__(self, local):
        self._local = local

    def __enter__(self):
        self._local.depth = getattr(self._local, "depth", 0) + 1

    def __exit__(self, *error):
        self._local.depth -= 1


def _writes(start, names):
    seen = {start}
    waiting = [start]
    while waiting:
        op = waiting.pop()
        applies = op.type.startswith(
            ("Assign", "Apply", "ResourceApply", "Scatter", "ResourceScatter")
        )
        applies = applies or op.type.startswith(("SparseApply", "ResourceSparseApply"))
        if applies and op.inputs and op.inputs[0].op.name in names:
            return True
        for before in [one.op for one in op.inputs] + list(op.control_inputs):
            if before not in seen:
                seen.add(before)
                waiting.append(before)
    return False


def _leaves(fetches):
    if isinstance(fetches, (list, tuple)):
        for one in fetches:
            for leaf in _leaves(one):
                yield leaf
    elif isinstance(fetches, dict):
        for one in fetches.values():
            for leaf in _leaves(one):
                yield leaf
    else:
        yield fetches


def _flat(fetches, value):
    """The values that a run gave, each with the name of what was fetched; updates give None."""
    if value is None:
        return
    if isinstance(fetches, (list, tuple)) and isinstance(value, (list, tuple)):
        for one, its in zip(fetches, value):
            for pair in _flat(one, its):
                yield pair
    elif isinstance(fetches, dict) and isinstance(value, dict):
        for key in fetches:
            if key in value:
                for pair in _flat(fetches[key], value[key]):
                    yield pair
    elif isinstance(value, tuple):
        name = _known_as(fetches)
        for number, part in enumerate(value):
            if part is not None:
                yield "%s[%d]" % (name, number), part
    else:
        yield _known_as(fetches), value


def _known_as(fetch):
    """What a fetched value is called; that of an assignment after the variable.

    A script that makes an op for each assignment has one number more in each name.
    """
    op = getattr(fetch, "op", None)
    if getattr(op, "type", "") in ("Assign", "AssignAdd", "AssignSub") and len(op.inputs) > 0:
        return "%s of %s" % (op.type, op.inputs[0].name)
    return _name(fetch)


def _mapped(fetches, value, change):
    """The same structure with other values."""
    if isinstance(fetches, (list, tuple)) and isinstance(value, (list, tuple)):
        parts = [_mapped(one, its, change) for one, its in zip(fetches, value)]
        if isinstance(value, tuple):
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        return parts
    if isinstance(fetches, dict) and isinstance(value, dict):
        return type(value)((key, _mapped(fetches[key], value[key], change)) for key in value)
    if value is None or isinstance(value, tuple):
        return value
    return change(_name(fetches), value)


def _same_feed(one, other):
    """Whether two runs are fed the very same objects."""
    ours, theirs = _objects(one), _objects(other)
    return ours is not None and ours == theirs


def _objects(feed):
    try:
        return {_name(key): id(value) for key, value in dict(feed or {}).items()}
    except (TypeError, ValueError):
        return None


def _name(fetch):
    try:
        return str(getattr(fetch, "name", None) or fetch)
    except Exception:  # noqa: BLE001
        return type(fetch).__name__
