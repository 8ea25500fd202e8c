"""Sees what a script runs in sessions: each value that it fetches, by the name of its tensor."""

import threading


class SessionObserver(object):
    """Stands between the script and `Session.run`; what runs within a run is not seen.

    `before` is None or holds names of tensors. Where a run is about to change weights, these are
    computed with its feed first and recorded too: what the script would have read before the
    update. Values of such a run are marked.
    """

    def __init__(self, recorder, weights, loops, nudges=None, before=None):
        self._recorder = recorder
        self._weights = weights
        self._loops = loops
        self._nudges = nudges
        self._before = before
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
        with _Inside(self._inside):
            self._weights.used(session)
            if self._nudges is not None:
                self._nudges.before_run(session)
            updates = self._before is not None and self._changes_weights(session.graph, fetches)
            if updates:
                self._record_before(session, feed)
            value = real()
            self._loops.worked = True
            for name, one in _flat(fetches, value):
                self._recorder.value("fetched", name, one, of_update=updates)
            return value

    def _record_before(self, session, feed):
        for name in self._before:
            try:
                value = self._run(session, session.graph.get_tensor_by_name(name), feed)
            except Exception:  # noqa: BLE001, S112  not to be had from this feed
                continue
            self._recorder.value("before", name, value)

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
        name = _name(fetches)
        for number, part in enumerate(value):
            if part is not None:
                yield "%s[%d]" % (name, number), part
    else:
        yield _name(fetches), value


def _name(fetch):
    try:
        return str(getattr(fetch, "name", None) or fetch)
    except Exception:  # noqa: BLE001
        return type(fetch).__name__
