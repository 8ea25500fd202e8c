"""The parts of TensorFlow that the probe stands in, wherever this version keeps them."""

import importlib
import importlib.util


class Parts(object):
    """TensorFlow's own modules. `gen_stateless` is None where it cannot be used."""

    def __init__(self, module):
        self.module = module
        self.version = getattr(module, "__version__", "") or module.version.VERSION
        self.ops = _part("framework.ops")
        self.random_seed = _part("framework.random_seed")
        self.context = _part("eager.context")
        self.session = _part("client.session")
        self.def_function = _part("eager.polymorphic_function.polymorphic_function") or _part(
            "eager.def_function"
        )
        self.resource_variables = _part("ops.resource_variable_ops")
        self.gen_random = _part("ops.gen_random_ops")
        self.gen_stateless = _part("ops.gen_stateless_random_ops")
        self.datasets = _part("data.ops.dataset_ops")
        self.execution = _part("pywrap_tfe") or _part("pywrap_tensorflow", None)

    def set_seed(self, seed):
        random = getattr(self.module, "random", None)
        setter = getattr(random, "set_seed", None) or self.module.set_random_seed
        setter(seed)


def _part(name, default=None):
    for root in ("tensorflow.python.", "tensorflow_core.python."):
        if _is_there(root + name):
            return importlib.import_module(root + name)
    return default


def _is_there(name):
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
