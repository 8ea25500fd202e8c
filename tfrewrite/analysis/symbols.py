"""The few TensorFlow symbols that the analysis itself has to know by name.

What a symbol *does* is measured (`effects.json`); here stand those that say what a thing *is*.
"""

VARIABLES = frozenset({"Variable", "get_variable", "contrib.framework.get_variable"})
CONFIGURATION = frozenset({"app.flags.FLAGS", "flags.FLAGS"})
# Loaders of arrays, which build no graph.
DATASETS = ("examples.tutorials.", "keras.datasets.", "contrib.learn.datasets.")
PLAIN_SESSIONS = frozenset({"Session", "InteractiveSession"})
# Their hooks see every run, so the number of runs matters.
HOOKED_SESSIONS = frozenset(
    {
        "train.MonitoredSession",
        "train.MonitoredTrainingSession",
        "train.SingularMonitoredSession",
    }
)
SESSIONS = PLAIN_SESSIONS | HOOKED_SESSIONS
# Their constructors close the graph: an op that is made later raises.
CLOSING_GRAPH = HOOKED_SESSIONS | {"train.Supervisor"}
SUMMARY_WRITERS = frozenset(
    {"summary.FileWriter", "train.SummaryWriter", "summary.FileWriterCache"}
)

# Their first argument is Python that a run of the graph calls.
PYTHON_OPS = ("py_func", "numpy_function", "py_function")
# Methods of Keras models that run what the model is made of.
KERAS_RUNS = (
    "fit", "fit_generator", "evaluate", "predict", "train_on_batch", "test_on_batch",
    "predict_on_batch",
)  # fmt: skip

# Iterators of a graph: `get_next` makes an op that takes the next element when it is run.
GRAPH_ITERATORS = frozenset(
    "make_one_shot_iterator make_initializable_iterator from_structure from_string_handle".split()
)
# Libraries within TensorFlow that know no graph.
BUILDING_NOTHING = (
    "app.", "errors.", "flags.", "gfile.", "io.gfile.", "logging.", "train.latest_checkpoint",
    "train.get_checkpoint_state", "train.Coordinator", "Summary", "ConfigProto", "GPUOptions",
)  # fmt: skip
# Objects whose methods work on a graph that is finalized (measured on 1.15.5 and 2.21).
HOLDING_NO_OPS = frozenset({"train.Saver", "train.Coordinator", "Summary", "ConfigProto"})
# What they say is read once, when a session is made.
SETTINGS = frozenset({"ConfigProto", "GPUOptions", "OptimizerOptions", "GraphOptions"})
