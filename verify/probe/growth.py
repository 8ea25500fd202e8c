"""What a run accumulates over its steps: memory, nodes of graphs, traces of functions."""

import resource
import sys
import weakref

_PAGE = resource.getpagesize()


class Growth(object):
    """One entry a step of each."""

    def __init__(self, weights):
        self._weights = weights
        self._functions = []
        self.graph_nodes = []
        self.memory_mb = []

    def install(self, def_function):
        function = getattr(def_function, "Function", None)
        if function is None:
            return
        real, functions = function.__init__, self._functions

        def made(self, *arguments, **options):
            functions.append(weakref.ref(self))
            real(self, *arguments, **options)

        function.__init__ = made

    def note(self):
        graphs = {id(one.graph): one.graph for one in self._weights.open_sessions}
        self.graph_nodes.append(sum(_nodes(graph) for graph in graphs.values()))
        self.memory_mb.append(memory_mb())

    def retraces(self):
        """How often a function was traced again after its first time."""
        counts = [_traces(one()) for one in self._functions]
        return sum(count - 1 for count in counts if count > 1)


def memory_mb():
    """What the process holds in memory now; its peak, where there is no /proc."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * _PAGE / 1e6
    except (OSError, ValueError, IndexError):
        return peak_memory_mb()


def peak_memory_mb():
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


def _nodes(graph):
    for count in ("_last_id", "_version"):
        value = getattr(graph, count, None)
        if isinstance(value, int):
            return value
    return len(graph.get_operations())


def _traces(function):
    for name in ("experimental_get_tracing_count", "_get_tracing_count"):
        count = getattr(function, name, None)
        if count is not None:
            try:
                return int(count())
            except Exception:  # noqa: BLE001
                return 0
    return 0
