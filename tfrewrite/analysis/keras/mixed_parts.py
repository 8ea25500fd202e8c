"""What of a program was not tried in half precision: layers, optimizers, and the rest of it.

What is named here was trained with `fit` under `mixed_float16`, with its gradients scaled by
`compile`, on 2.10, 2.15 and 2.21, and gave the same but for the precision.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from tfrewrite.analysis.keras import keras_things
from tfrewrite.analysis.keras.keras_models import Sort
from tfrewrite.analysis.keras.layer_uses import LAYERS
from tfrewrite.analysis.obstacle import Obstacle

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts

_KNOWN = frozenset(
    "Dense Conv1D Conv2D Conv2DTranspose MaxPooling1D MaxPooling2D MaxPool2D AveragePooling2D"
    " GlobalAveragePooling1D GlobalAveragePooling2D GlobalMaxPooling1D GlobalMaxPooling2D Flatten"
    " Reshape BatchNormalization LayerNormalization Activation ReLU LeakyReLU Softmax Embedding"
    " LSTM GRU Bidirectional Dropout Add Concatenate add concatenate Input InputLayer"
    " ZeroPadding2D UpSampling2D".split()
)
_OPTIONS = frozenset(
    "name trainable units filters kernel_size strides padding data_format dilation_rate activation"
    " use_bias kernel_initializer bias_initializer kernel_regularizer bias_regularizer"
    " kernel_constraint bias_constraint input_shape input_dim batch_input_shape batch_size shape"
    " batch_shape pool_size rate seed axis momentum epsilon center scale beta_initializer"
    " gamma_initializer moving_mean_initializer moving_variance_initializer output_dim"
    " input_length mask_zero embeddings_initializer embeddings_regularizer return_sequences"
    " recurrent_activation recurrent_initializer recurrent_regularizer unit_forget_bias dropout"
    " recurrent_dropout target_shape size interpolation alpha negative_slope layer merge_mode"
    " inputs".split()
)
_SMALL = 8
_NEWEST = (2, 21)
_WORD = "mixed_precision"
_MOST_BY_PLACE = 4
_TYPES = frozenset({"float32", "int32", "int64"})
_OPTIMIZERS = frozenset({"SGD", "Adam", "RMSprop"})
_BY_NAME = frozenset(name.lower() for name in _OPTIMIZERS)
_OPTIMIZER_PACKAGES = frozenset({"keras.optimizers", "optimizers", "keras.optimizers.legacy"})
_OPTIMIZER_OPTIONS = frozenset(
    "learning_rate lr decay momentum nesterov beta_1 beta_2 epsilon amsgrad rho centered clipnorm"
    " clipvalue global_clipnorm weight_decay name".split()
)
_COMPILED_WITH = frozenset("optimizer loss metrics loss_weights weighted_metrics".split())
# Their attributes go to the optimizer that is given, in Keras 2 and 3.
_OF_OPTIMIZERS = frozenset({"learning_rate", "lr", "iterations"})
_GRADIENTS = frozenset(
    "GradientTape ForwardAccumulator gradients hessians apply_gradients compute_gradients"
    " get_gradients get_updates minimize".split()
)
_SAVING = frozenset("save_model Checkpoint CheckpointManager Saver BackupAndRestore".split())
_CHECKING = frozenset("enable_check_numerics check_numerics assert_all_finite".split())


class MixedParts:
    """Questions about all that a file trains with."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._names = facts.names
        self._classes = facts.classes

    @cached_property
    def asked_for(self) -> bool:
        """Whether the file has to do with mixed precision already, in whatever way."""
        words = [node.id for node in self._source.all(ast.Name)]
        words += [node.attr for node in self._source.all(ast.Attribute)]
        words += [node.name for node in self._source.all(ast.alias)]
        words += [node.module or "" for node in self._source.all(ast.ImportFrom)]
        texts = [node.value for node in self._source.all(ast.Constant)]
        words += [text for text in texts if isinstance(text, str)]
        return any(_WORD in word.lower() for word in words)

    @cached_property
    def obstacle(self) -> Obstacle | None:
        """The first thing that was not tried, or does not go with half precision."""
        return (
            self._words()
            or self._floats()
            or next(filter(None, map(self._layer, self._calls)), None)
            or next(filter(None, map(self._optimizer, self._calls)), None)
            or next(filter(None, map(self._compiled, self._facts.eager_runs.compiles)), None)
            or self._optimizer_read()
            or self._loaded()
            or next(filter(None, map(self._saved, self._calls)), None)
        )

    @cached_property
    def _calls(self) -> list[ast.Call]:
        return sorted(self._source.all(ast.Call), key=self._source.span)

    def _words(self) -> Obstacle | None:
        nodes = [(node.lineno, node.id) for node in self._source.all(ast.Name)]
        nodes += [(node.lineno, node.attr) for node in self._source.all(ast.Attribute)]
        nodes += [(node.lineno, node.name) for node in self._source.all(ast.alias)]
        for line, word in sorted(nodes):
            if word in _GRADIENTS:
                message = f"gradients are taken or applied in line {line}, and not scaled by itself"
                return Obstacle("own-loop", message)
            if word in _CHECKING:
                message = f"`{word}` in line {line} stops where a scaled gradient is infinite"
                return Obstacle("numbers-checked", message)
        return None

    def _floats(self) -> Obstacle | None:
        for call in self._classes.calls("set_floatx"):
            given = call.args[0] if call.args else None
            if not isinstance(given, ast.Constant) or given.value != "float32":
                message = f"line {call.lineno} has the model compute in another precision"
                return Obstacle("precision-policy", message)
        return None

    def _layer(self, call: ast.Call) -> Obstacle | None:
        symbol = self._names.tf(call.func) or ""
        line = call.lineno
        if symbol.startswith("keras.applications."):
            return Obstacle("several-models", f"line {line} makes a model of its own")
        if not symbol.startswith(LAYERS) and symbol not in keras_things.INPUTS:
            return None
        name = symbol.rpartition(".")[2]
        if name not in _KNOWN:
            return Obstacle("layer-not-known", f"`{name}` in line {line} was not tried")
        if len(call.args) > (1 if symbol in keras_things.INPUTS else _MOST_BY_PLACE):
            message = f"the arguments of the `{name}` in line {line} have no names"
            return Obstacle("layer-not-known", message)
        for option in call.keywords:
            if option.arg in ("dtype", None) and not self._is_input_type(symbol, option):
                return Obstacle("own-types", f"the layer of line {line} has a type of its own")
            if option.arg not in _OPTIONS | {"dtype"}:
                message = f"`{option.arg}` of the `{name}` in line {line} was not tried"
                return Obstacle("layer-not-known", message)
        if "Average" in name and not self._is_small(call, name):
            message = f"the sums that line {line} makes for its averages may become infinite"
            return Obstacle("sums-too-large", message)
        if name == "Embedding" and not self._is_given_inputs(call):
            message = f"line {line} looks words up by numbers that may be rounded before"
            return Obstacle("layer-not-known", message)
        return None

    def _is_small(self, pooling: ast.Call, name: str) -> bool:
        """Whether averages are of few numbers, or summed up in single precision.

        Measured on a CPU: averages of 255 over 100 by 100 are infinite. Those over whole images are
        so on 2.15, and right on 2.21.
        """
        if name.startswith("Global"):
            return self._is_newest
        given = [k.value for k in pooling.keywords if k.arg == "pool_size"] or pooling.args[:1]
        sizes = [node for value in given for node in ast.walk(value) if isinstance(node, ast.expr)]
        numbers = [node.value for node in sizes if isinstance(node, ast.Constant)]
        plain = all(isinstance(node, (ast.Constant, ast.Tuple, ast.List)) for node in sizes)
        return plain and all(isinstance(one, int) and one <= _SMALL for one in numbers)

    def _is_given_inputs(self, layer: ast.Call) -> bool:
        """Whether a layer is the first behind inputs that are written out.

        Numbers of words are often float32. An `Embedding` takes them as they are; any other layer
        rounds them to 11 bits, and above 2,048 they become those of other words. So does a
        `Sequential` of Keras 3 that is not told its inputs: they get the type of its first layer.
        """
        parent = self._source.parent(layer)
        if isinstance(parent, ast.Call) and parent.func is layer:
            return len(parent.args) == 1 and self._is_input(parent.args[0])
        if isinstance(parent, (ast.List, ast.Tuple)):
            first = parent.elts[: parent.elts.index(layer)]
            return bool(first) and all(map(self._is_input, first))
        if isinstance(parent, ast.Call) and getattr(parent.func, "attr", "") == "add":
            adding = [c for c in self._calls if getattr(c.func, "attr", "") == "add"]
            before = [one for call in adding[: adding.index(parent)] for one in call.args]
            home = self._source.position(self._source.statement(parent))[0]
            made = self._facts.mixed_types.models[0]
            same = home is self._source.position(self._source.statement(made))[0]
            return same and bool(before) and all(map(self._is_input, before))
        return False

    def _is_input(self, expr: ast.expr) -> bool:
        if isinstance(expr, ast.Name):
            values = [binding.value for binding in self._facts.scopes.bindings(expr)]
            return bool(values) and all(
                isinstance(one, ast.Call) and self._is_input(one) for one in values
            )
        made = self._names.tf(expr.func) if isinstance(expr, ast.Call) else None
        return made in keras_things.INPUTS

    def _is_input_type(self, symbol: str, option: ast.keyword) -> bool:
        """Whether a type of data is named, which is the same in each precision."""
        if symbol not in keras_things.INPUTS or option.arg is None:
            return False
        value = option.value
        named = value.value if isinstance(value, ast.Constant) else self._names.tf(value)
        return named in _TYPES

    def _optimizer(self, call: ast.Call) -> Obstacle | None:
        symbol = self._names.tf(call.func) or ""
        package, _, name = symbol.rpartition(".")
        if not symbol.startswith(("keras.optimizers.", "optimizers.")) or "schedules" in package:
            return None
        known = name in _OPTIMIZERS and package in _OPTIMIZER_PACKAGES
        unknown = {option.arg for option in call.keywords} - _OPTIMIZER_OPTIONS
        if known and not unknown:
            return None
        what = min(one or "**" for one in unknown) if known else symbol
        message = f"`{what}` in line {call.lineno} was not tried with gradients that are scaled"
        return Obstacle("optimizer-not-known", message)

    def _loaded(self) -> Obstacle | None:
        """Weights that are loaded before the first step.

        Measured on 2.15: those of a `.weights.h5` file raise an error where the optimizer scales
        and has no variables yet. On 2.21 they are loaded.
        """
        if self._is_newest:
            return None
        for call in self._classes.calls("load_weights"):
            message = f"line {call.lineno} loads weights, which may fail before 2.21"
            return Obstacle("weights-loaded", message)
        return None

    @property
    def _is_newest(self) -> bool:
        target = self._facts.target_tf
        return target is not None and target >= _NEWEST

    def _saved(self, call: ast.Call) -> Obstacle | None:
        """A model that is saved with its policy, which holds wherever it is loaded.

        Measured on 2.21: one from a `.keras` file goes on training without a scale, one from an
        `.h5` file raises an error, and a `Checkpoint` of single precision does not match.
        """
        symbol = self._names.tf(call.func)
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if symbol is not None:
            saves = symbol.rpartition(".")[2] in _SAVING or symbol.startswith("saved_model.")
            weights = next((k.value for k in call.keywords if k.arg == "save_weights_only"), None)
            if symbol.endswith(".ModelCheckpoint"):
                saves = not (isinstance(weights, ast.Constant) and weights.value is True)
        elif name in ("save", "export") and self._names.dotted(call.func) is None:
            assert isinstance(call.func, ast.Attribute)
            saves = self._facts.keras_models.sort(call.func.value) is not Sort.OTHER
        else:
            return None
        if not saves:
            return None
        message = f"`{ast.unparse(call.func)}` in line {call.lineno} may save more than weights"
        return Obstacle("model-saved", f"{message}: what is loaded would keep the policy")

    def _compiled(self, call: ast.Call) -> Obstacle | None:
        for option in call.keywords:
            value = option.value
            off = isinstance(value, ast.Constant) and value.value is False
            if option.arg not in _COMPILED_WITH and not (option.arg == "jit_compile" and off):
                message = f"`{option.arg or '**'}` of `compile` in line {call.lineno} was not tried"
                return Obstacle("other-settings", message)
        given = [option.value for option in call.keywords if option.arg == "optimizer"]
        if any(not self._is_fresh(one, call) for one in given or call.args[:1]):
            message = (
                f"the optimizer of line {call.lineno} may have a scale already, or was not tried"
            )
            return Obstacle("optimizer-not-known", message)
        return None

    def _is_fresh(self, optimizer: ast.expr, compiling: ast.Call) -> bool:
        """Whether an optimizer is made anew for each time that a model is compiled.

        Measured on 2.15: one that has a scale already is not given a second one, but an error.
        """
        if isinstance(optimizer, ast.Constant):
            return str(optimizer.value).lower() in _BY_NAME
        if not isinstance(optimizer, ast.Name):
            return isinstance(optimizer, ast.Call)
        bindings = self._facts.scopes.bindings(optimizer)
        given = [
            use
            for use in self._facts.scopes.uses(optimizer)
            if not isinstance(self._source.parent(use), ast.Attribute)
        ]
        return (
            len(bindings) == 1
            and isinstance(bindings[0].value, (ast.Call, ast.Constant))
            and self._is_fresh(bindings[0].value, compiling)
            and given == [optimizer]
            and self._loops(bindings[0].value) == self._loops(compiling)
        )

    def _loops(self, node: ast.AST) -> list[ast.AST]:
        """The loops and the function that something stands in."""
        around = (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.Lambda, ast.comprehension)
        return [outer for outer in self._source.ancestors(node) if isinstance(outer, around)]

    def _optimizer_read(self) -> Obstacle | None:
        """What a model's optimizer is asked for, which is another object then."""
        for node in sorted(self._source.all(ast.Attribute), key=self._source.span):
            if node.attr != "optimizer" or self._names.dotted(node) is not None:
                continue
            if self._facts.keras_models.sort(node.value) is Sort.OTHER:
                continue
            parent = self._source.parent(node)
            asked = parent.attr if isinstance(parent, ast.Attribute) else ""
            if asked not in _OF_OPTIMIZERS:
                message = (
                    f"`{ast.unparse(node)}` in line {node.lineno} would be the one that scales"
                )
                return Obstacle("optimizer-not-known", message)
        return None
