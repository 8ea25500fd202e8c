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
SUMMARY_WRITERS = frozenset(
    {"summary.FileWriter", "train.SummaryWriter", "summary.FileWriterCache"}
)
