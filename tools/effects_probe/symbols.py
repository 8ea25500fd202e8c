"""The public symbols of an API, what they are, and what parameters they have."""

import functools
import inspect
import re

import tensorflow as tf

from . import setting
from .maker import Maker
from .setting import TF2, outside, v1

UNSAFE_MODULES = re.compile(
    r"^(app|flags|logging|gfile|test|sysconfig|profiler|distribute|tpu|lite|estimator|saved_model|"
    r"python_io|config|resource_loader|version|mlir|autodiff|experimental|compat|contrib|raw_ops|"
    r"graph_util|user_ops|spectral_|xla|types|__internal__|internal|keras\.datasets|keras\.applications|"
    r"keras\.preprocessing|keras\.utils|keras\.wrappers|keras\.estimator|keras\.experimental|"
    r"keras\.models|keras\.callbacks|keras\.ops|keras\.tree|keras\.distribution|keras\.export|"
    r"keras\.visualization|keras\.quantizers|keras\.legacy|keras\._.*|io\.gfile|data\.experimental\.service|"
    r"debugging\.experimental|summary\.experimental|train\.experimental|nn\.experimental_|"
    r"keras\.src|keras\.dtype_policies|keras\.saving|keras\.tools|feature_column|manip_|"
    r"keras\.mixed_precision|keras\.remat|security|tools|examples|ragged_|"
    r"metrics_|losses_)(\.|$)"
)
UNSAFE_NAMES = re.compile(
    r"(^|\.)(enable_|disable_)|(^|\.)(reset_default_graph|start_queue_runners|load_library|load_op_library|"
    r"load_file_system_library|.*Session.*|Server|Supervisor|Coordinator|LooperThread|SessionManager|"
    r"ClusterSpec|Scaffold|.*Creator|SyncReplicasOptimizer|replica_device_setter|.*Hook|FileWriter.*|"
    r"create_file_writer|import_graph_def|import_meta_graph|export_meta_graph|write_graph|train|"
    r"basic_train_loop|checkpoints_iterator|summary_iterator|set_.*_policy|trace_on|trace_off|trace_export|"
    r"start_.*server|init_scope|assert_no_new_.*|LogMessage|keras_.*|clear_session|set_session|set_floatx|"
    r"set_epsilon|set_image_data_format|set_learning_phase|set_backend|config|dispatch_for.*|"
    r"register_.*|RegisterGradient|unregister_.*|run_functions_eagerly|set_.*|load_model|save_model|"
    # What arg_scoped_arguments answers depends on the address of its argument.
    r"evaluation_loop|evaluate_once|wait_for_new_checkpoint|train_step|learning_loop|"
    r"arg_scoped_arguments)$"
)
CONTRIB = [
    "layers",
    "slim",
    "rnn",
    "framework",
    "metrics",
    "losses",
    "seq2seq",
    "distributions_",
    "data",
    "opt",
    "summary",
]
METHODS_SKIPPED = re.compile(
    r"^(from_config|get_config|from_proto|to_proto|from_torch|mro|with_traceback|add_note|register|"
    r"from_value|run|eval|save|restore|export.*|load.*|save_.*|with_name_scope|summary|fit|"
    r"evaluate|predict.*|train_on_batch|test_on_batch|close|create_threads|__.*)$"
)
LAYER_METHODS = frozenset(
    [
        "__call__",
        "zero_state",
        "compute_mask",
        "update_state",
        "result",
        "reset_state",
        "reset_states",
    ]
)


def ready_made(cls):
    """Classes whose objects come from elsewhere than their constructor."""
    if cls in (tf.data.Dataset, v1.data.Dataset):
        return "dataset"
    if inspect.isclass(cls) and cls.__name__ in ("Iterator", "IteratorBase", "OwnedIterator"):
        return "iterator"
    if cls is tf.SparseTensor:
        return "sparse"
    if cls is getattr(tf, "RaggedTensor", None):
        return "ragged"
    return None


class Symbol(object):
    """A function, a class's constructor, or a method of a class."""

    def __init__(self, path, target, owner=None, method=None):
        self.path, self.target, self.owner, self.method = path, target, owner, method

    def build(self, arguments):
        ready = ready_made(self.owner)
        if ready:
            return Maker().made(ready)
        with outside():
            return self.owner(**arguments)

    def call(self, owner, positional, keyword):
        if self.owner is None:
            if inspect.isclass(self.target):
                with outside():
                    return self.target(*positional, **keyword)
            return self.target(*positional, **keyword)
        return getattr(owner, self.method)(*positional, **keyword)


def is_module(value):
    return inspect.ismodule(value) or type(value).__name__.endswith(("ModuleWrapper", "LazyLoader"))


def enumerate_api():
    """{dotted path: kind} where kind is function, class, method or value; and what is not called."""
    root = v1 if (setting.API == 1 and TF2) else tf
    found, unsafe, first, same = {}, {}, {}, {}
    seen_modules = set()

    def walk(module, prefix, depth):
        if depth > 5 or id(module) in seen_modules:
            return
        seen_modules.add(id(module))
        for name in sorted(dir(module)):
            if name.startswith("_"):
                continue
            path = prefix + name
            try:
                value = getattr(module, name)
            except Exception:
                continue
            if is_module(value):
                try:
                    origin = getattr(value, "__name__", "")
                    dir(value)
                except Exception:
                    continue
                if (
                    "tensorflow" not in origin
                    and "keras" not in origin
                    and "LazyLoader" not in type(value).__name__
                ):
                    continue
                if setting.API == 1 and TF2 and path.startswith("keras"):
                    continue
                if UNSAFE_MODULES.match(path):
                    if not re.match(
                        r"^(compat|contrib|raw_ops|user_ops|experimental|mlir|types|version|xla)",
                        path,
                    ):
                        mark(value, path + ".", 0)
                    continue
                if re.search(r"\.python\.(?!keras\.api)", origin) and not path.startswith(
                    "contrib."
                ):
                    continue
                if path.startswith("contrib.") and path.count(".") > 1:
                    continue
                walk(value, path + ".", depth + 1)
            else:
                add(path, value)

    def mark(module, prefix, depth):
        for name in sorted(dir(module)):
            if name.startswith("_"):
                continue
            try:
                value = getattr(module, name)
            except Exception:
                continue
            if is_module(value):
                if setting.API == 1 and TF2 and "keras" in prefix + name:
                    continue
                if depth < 2 and (
                    "tensorflow" in getattr(value, "__name__", "")
                    or "keras" in getattr(value, "__name__", "")
                ):
                    mark(value, prefix + name + ".", depth + 1)
            elif callable(value):
                unsafe[prefix + name] = "function"

    def add(path, value):
        if not callable(value):
            found[path] = "value"
            return
        if UNSAFE_NAMES.search(path):
            unsafe[path] = "function"
            return
        if id(value) in first:
            same[path] = first[id(value)]
            return
        first[id(value)] = path
        if inspect.isclass(value):
            if (
                issubclass(value, BaseException)
                or "Proto" in type(value).__name__
                or type(value).__name__ == "GeneratedProtocolMessageType"
                or type(value).__name__ == "MessageMeta"
            ):
                found[path] = "value"
                return
            if issubclass(value, type(tf.float32)) or issubclass(value, tf.TensorShape):
                found[path] = "class"
                return
            found[path] = "class"
            for method in methods_of(value):
                if inherited_dataset_method(value, method):
                    same[path + "." + method] = "data.Dataset." + method
                else:
                    found[path + "." + method] = "method"
            for name in dir(value):
                if not name.startswith("_") and isinstance(getattr(value, name, None), str):
                    found[path + "." + name] = "value"
            for method in ("run", "eval", "load", "save", "restore"):
                if callable(getattr(value, method, None)):
                    unsafe[path + "." + method] = "method"
        else:
            found[path] = "function"

    walk(root, "", 0)
    if not TF2:
        for name in CONTRIB:
            module = getattr(tf.contrib, name, None)
            if module is not None:
                walk(module, "contrib.%s." % name, 1)
    return found, unsafe, same


def inherited_dataset_method(cls, method):
    base = v1.data.Dataset if setting.API == 1 else tf.data.Dataset
    if not issubclass(cls, tf.data.Dataset) or cls in (tf.data.Dataset, v1.data.Dataset):
        return False
    return getattr(cls, method, None) is getattr(base, method, False) or method == "range"


def base_methods():
    bases = [tf.keras.layers.Layer, tf.Module] if hasattr(tf, "Module") else [tf.keras.layers.Layer]
    return bases


KERAS_METHODS = LAYER_METHODS | frozenset(
    [
        "minimize",
        "apply_gradients",
        "apply",
        "compute_gradients",
        "get_updates",
        "get_gradients",
        "add_weight",
    ]
)
BARE = re.compile(
    r"Spec$|^(Graph|Operation|Tensor|VariableScope|GradientTape|EagerTensor|name_scope|Dimension)$"
)


def methods_of(cls):
    names = []
    if BARE.search(cls.__name__):
        return names
    keras = "keras" in cls.__module__
    layer = any(b in cls.__mro__ for b in base_methods())
    for name in sorted(dir(cls)):
        if name != "__call__" and (name.startswith("_") or METHODS_SKIPPED.match(name)):
            continue
        if (
            layer
            and name not in LAYER_METHODS
            and not any(
                name in vars(b)
                for b in cls.__mro__[:2]
                if "distribution" in b.__module__
                or "random" in b.__module__
                or "lookup" in b.__module__
            )
        ):
            continue
        if keras and name not in KERAS_METHODS:
            continue
        if (
            issubclass(cls, dict)
            or issubclass(cls, int)
            or issubclass(cls, tuple)
            and name != "__call__"
        ):
            continue
        value = getattr(cls, name, None)
        if name == "__call__" and not any("__call__" in vars(b) for b in cls.__mro__[:-1]):
            continue
        if callable(value) and not inspect.isclass(value):
            names.append(name)
    return names


def resolve(path):
    root = v1 if (setting.API == 1 and TF2) else tf
    parts, value, owner = path.split("."), root, None
    for index, part in enumerate(parts):
        owner, value = value, getattr(value, part)
        if inspect.isclass(owner):
            return Symbol(path, value, owner, part)
    return Symbol(path, value)


def defined(path):
    """`module:qualified name` of the Python function behind a symbol, for the static check."""
    try:
        target = resolve(path).target
        if inspect.isclass(target):
            return "%s:%s" % (target.__module__, target.__qualname__)
        from tensorflow.python.util import tf_decorator

        inner = tf_decorator.unwrap(target)[1]
        inner = inspect.unwrap(getattr(inner, "__func__", inner))
        return "%s:%s" % (inner.__module__, inner.__qualname__)
    except Exception:
        return ""


def positional_names(path):
    """The parameters' names by position, without `self`; for a Keras layer those of its `call`."""
    try:
        symbol = resolve(path)
        target = symbol.target
        if symbol.method == "__call__":
            for method in ("update_state", "call"):
                if hasattr(symbol.owner, method) and not signature(target)[0]:
                    target = getattr(symbol.owner, method)
        params, varargs = signature(target)
        spec_kwonly = full_spec(target.__init__ if inspect.isclass(target) else target).kwonlyargs
        return [n for n, _, _ in params if n not in (spec_kwonly or ())]
    except Exception:
        return []


def signature(target):
    """[(name, has default, default)], the name of *args if any."""
    if inspect.isclass(target):
        init = target.__init__
        if init is object.__init__ and target.__new__ is not object.__new__:
            init = target.__new__
        spec = full_spec(init)
        drop = True
        if spec.varargs and len(spec.args) < 2:
            # `def __init__(self, *args, **kwargs)` in front of a base class that says more.
            for base in target.__mro__[1:]:
                inner = vars(base).get("__init__")
                if inner is not None and len(full_spec(inner).args) > 1:
                    spec = full_spec(inner)
                    break
    else:
        spec = full_spec(target)
        drop = inspect.ismethod(target)
    arguments = list(spec.args)
    defaults = dict(
        zip(arguments[len(arguments) - len(spec.defaults or ()) :], spec.defaults or ())
    )
    if arguments and (drop or arguments[0] in ("self", "cls")):
        arguments = arguments[1:]
    out = [(a, a in defaults, defaults.get(a)) for a in arguments]
    for name in spec.kwonlyargs or ():
        out.append(
            (name, name in (spec.kwonlydefaults or {}), (spec.kwonlydefaults or {}).get(name))
        )
    return out, spec.varargs


def full_spec(target):
    from tensorflow.python.util import tf_inspect

    if isinstance(target, functools.partial):
        return full_spec(target.func)

    try:
        spec = tf_inspect.getfullargspec(target)
    except Exception:
        spec = inspect.getfullargspec(target)
    wrapped = getattr(target, "__wrapped__", None)
    if wrapped is not None and spec.varargs and not spec.args:
        spec = inspect.getfullargspec(wrapped)
    return spec
