"""Follows the loop that Keras runs itself: a batch of `fit` is a step like a turn of any loop."""

import sys

LOOP = -1
"""The number of this loop; those of the script count from 1."""


_COUNTERS = {
    "_init_batch_counters": ("_train_counter", "_test_counter", "_predict_counter"),
    "_configure_steps_per_execution": ("_steps_per_execution",),
}
"""The variables in which Keras 2 counts batches or keeps a setting, by what makes them."""


def install(loops, recorder=None, weights=None):
    """Puts a callback into every `fit`, and notes what `fit` and `evaluate` return."""
    for model, callback in _kinds():
        if weights is not None:
            _leave_out_counters(model, weights)
        _install(model, callback, loops, recorder)


def _leave_out_counters(model, weights):
    """What Keras counts for itself is no weight; `predict_on_batch` does not begin it anew."""
    if "_tfrewrite_followed" in model.__dict__:
        return
    for method, names in _COUNTERS.items():
        if hasattr(model, method):
            setattr(model, method, _disowning(getattr(model, method), names, weights))


def _disowning(real, names, weights):
    def making(self, *arguments, **options):
        real(self, *arguments, **options)
        for name in names:
            if hasattr(self, name):
                weights.disown(getattr(self, name))

    return making


def _kinds():
    """Keras as it is there: its own package, or the part of TensorFlow."""
    found = []
    for name in ("keras", "tf_keras", "tensorflow.python.keras", "tensorflow_core.python.keras"):
        module = sys.modules.get(name)
        models = sys.modules.get(name + ".models") or getattr(module, "models", None)
        callbacks = sys.modules.get(name + ".callbacks") or getattr(module, "callbacks", None)
        if hasattr(models, "Model") and hasattr(callbacks, "Callback"):
            if not any(models.Model is model for model, _ in found):
                found.append((models.Model, callbacks.Callback))
    return found


def _install(model, base, loops, recorder):
    if "_tfrewrite_followed" in model.__dict__:
        return
    model._tfrewrite_followed = True

    class Follower(base):
        """Tells the loops of every batch, and ends the training when they have enough.

        With `steps_per_execution` there is one beginning and one end for several batches.
        """

        def on_train_batch_begin(self, batch, logs=None):
            self._first = batch
            loops.begin_batch(LOOP)

        def on_train_batch_end(self, batch, logs=None):
            if not loops.batch(LOOP, batch - self._first + 1):
                self.model.stop_training = True

        # What these were called before TensorFlow 2.
        def on_batch_begin(self, batch, logs=None):
            pass

        def on_batch_end(self, batch, logs=None):
            pass

    def following(real):
        def fit(self, *arguments, **options):
            given = options.get("callbacks")
            if given is None or isinstance(given, (list, tuple)):
                options["callbacks"] = list(given or ()) + [Follower()]
            history = real(self, *arguments, **options)
            if recorder is not None:
                for name, values in sorted(getattr(history, "history", {}).items()):
                    recorder.value("read", "history " + name, values)
            return history

        fit.__name__, fit.__doc__ = real.__name__, real.__doc__
        return fit

    def noting(real, name):
        def evaluate(self, *arguments, **options):
            value = real(self, *arguments, **options)
            if recorder is not None and not isinstance(value, dict):
                recorder.value("read", name, value)
            return value

        evaluate.__name__, evaluate.__doc__ = real.__name__, real.__doc__
        return evaluate

    model.fit = following(model.fit)
    model.evaluate = noting(model.evaluate, "evaluate")
