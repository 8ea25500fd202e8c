"""What XLA compiles, and what of it draws other random numbers than TensorFlow's own kernels.

Tried one by one, with gradients, under `jit_compile=True` on a CPU with 2.10, 2.15 and 2.21: what
is named here compiled in all of them that have it, and gave the same values but for rounding.
What is not named is not known. What has a shape that only its values tell (`tf.where` with one
argument, `tf.boolean_mask`, `tf.unique`) is left out though 2.21 compiles some of it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tfrewrite.analysis.eager.abstract_values import Thing, parts
from tfrewrite.analysis.keras import keras_things
from tfrewrite.analysis.obstacle import Obstacle

if TYPE_CHECKING:
    from tfrewrite.analysis.facts import Facts
    from tfrewrite.analysis.keras.trained_models import Trained
    from tfrewrite.analysis.traces.trace import Trace

_OPS = frozenset(
    "cast concat stack expand_dims squeeze identity stop_gradient transpose argmax argmin one_hot"
    " matmul linalg.matmul clip_by_value clip_by_norm clip_by_global_norm zeros_like ones_like"
    " square sqrt exp abs sigmoid tanh reshape zeros ones fill gather gather_nd maximum minimum add"
    " subtract multiply divide pow sign round floor convert_to_tensor tile pad split unstack"
    " reverse norm linalg.norm add_n equal not_equal less less_equal greater greater_equal eye"
    " broadcast_to shape size rank constant negative slice where range logical_and logical_or"
    " logical_not sin cos tensordot einsum reduce_mean reduce_sum reduce_max reduce_min"
    " reduce_prod reduce_all reduce_any reduce_logsumexp"
    " math.log math.pow math.reduce_std math.reduce_variance math.cumsum math.softplus math.log1p"
    " math.divide_no_nan math.rsqrt math.is_nan math.l2_normalize math.erf math.floormod math.exp"
    " math.square math.sqrt math.abs math.reduce_mean math.reduce_sum math.reduce_max"
    " math.reduce_min math.add math.subtract math.multiply math.divide math.maximum math.minimum"
    " math.sigmoid math.tanh math.equal math.less math.greater math.argmax math.argmin math.sign"
    " math.floor math.round math.negative math.reduce_logsumexp math.logical_and math.logical_or"
    " nn.relu nn.leaky_relu nn.elu nn.gelu nn.selu nn.swish nn.softmax nn.log_softmax nn.sigmoid"
    " nn.tanh nn.l2_loss nn.moments nn.sparse_softmax_cross_entropy_with_logits"
    " nn.softmax_cross_entropy_with_logits nn.sigmoid_cross_entropy_with_logits"
    " nn.weighted_cross_entropy_with_logits nn.bias_add nn.embedding_lookup nn.batch_normalization"
    " nn.l2_normalize nn.conv2d nn.conv2d_transpose nn.max_pool2d nn.avg_pool2d nn.dropout"
    " nn.softplus"
    " random.normal random.uniform random.truncated_normal random.stateless_uniform"
    " random.stateless_normal random.stateless_truncated_normal"
    " image.rgb_to_grayscale image.flip_left_right".split()
)
_LAYERS = frozenset(
    "Dense Conv1D Conv2D Conv2DTranspose DepthwiseConv2D SeparableConv2D MaxPooling1D MaxPooling2D"
    " MaxPool1D MaxPool2D AveragePooling2D AvgPool2D GlobalAveragePooling1D GlobalAveragePooling2D"
    " GlobalMaxPooling1D GlobalMaxPooling2D GlobalAvgPool2D GlobalMaxPool2D UpSampling2D"
    " ZeroPadding2D Cropping2D Flatten Reshape Permute RepeatVector BatchNormalization"
    " LayerNormalization Activation ReLU LeakyReLU PReLU ELU Softmax Embedding LSTM GRU SimpleRNN"
    " Bidirectional TimeDistributed Dropout SpatialDropout2D GaussianNoise GaussianDropout Add"
    " Concatenate Multiply Average Maximum Subtract Dot add concatenate multiply average maximum"
    " subtract dot Input InputLayer Rescaling".split()
)
_LOSSES = frozenset(
    "BinaryCrossentropy CategoricalCrossentropy CategoricalHinge CosineSimilarity Hinge Huber"
    " KLDivergence LogCosh MeanAbsoluteError MeanAbsolutePercentageError MeanSquaredError"
    " MeanSquaredLogarithmicError Poisson SparseCategoricalCrossentropy SquaredHinge".split()
)
_METRICS = _LOSSES | frozenset(
    "Mean Sum Accuracy BinaryAccuracy CategoricalAccuracy SparseCategoricalAccuracy Precision"
    " Recall RootMeanSquaredError".split()
)
_OPTIMIZERS = frozenset("SGD Adam RMSprop Adagrad Adadelta Adamax Nadam AdamW".split())
# The losses of Keras as functions.
_FUNCTIONS = frozenset(
    "binary_crossentropy categorical_crossentropy sparse_categorical_crossentropy"
    " mean_squared_error mean_absolute_error mse mae MSE MAE".split()
)
_SCHEDULES = frozenset(
    "ExponentialDecay PiecewiseConstantDecay PolynomialDecay InverseTimeDecay CosineDecay".split()
)
_OBJECTS = _OPTIMIZERS | _METRICS | _SCHEDULES
# What stands for one of these as a text in `compile`.
_BY_NAME = {name.lower().replace("_", "") for name in _OBJECTS | _FUNCTIONS} | {"acc", "accuracy"}
_PACKAGES = frozenset({"losses", "metrics", "optimizers", "schedules"})
_DRAWING = ("random.", "nn.dropout")
# The shapes of batches differ, and each is compiled by itself.
_VARYING = frozenset(
    "padded_batch bucket_by_sequence_length dense_to_ragged_batch ragged_batch"
    " group_by_window".split()
)
_ACTIVATIONS = frozenset(
    "relu elu selu gelu sigmoid tanh softmax softplus softsign swish exponential linear"
    " hard_sigmoid".split()
)
_SPREADING = (
    "device",
    "distribute.",
    "debugging.enable_check_numerics",
    "config.set_logical_device",
)


class Xla:
    """Questions about code that XLA is to compile."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._source = facts.source
        self._names = facts.names
        self._scopes = facts.scopes

    def obstacle(self, trace: Trace) -> Obstacle | None:
        """What in a traced function XLA does not compile, or is not known to compile."""
        for symbol, line in trace.symbols:
            if not _is_known(symbol):
                message = f"it is not known that XLA compiles `tf.{symbol}` in line {line}"
                return Obstacle("not-for-xla", message)
        if trace.shapeless:
            message = f"{trace.shapeless} has a shape that depends on values; XLA needs it fixed"
            return Obstacle("needs-static-shape", message)
        for thing in trace.things:
            if not _is_known_thing(thing.kind, thing.symbol):
                symbol = thing.symbol or f"a {thing.kind}"
                message = f"it is not known that XLA compiles `{symbol}`"
                return Obstacle("not-for-xla", message)
        return self.whole_file

    def of_fit(self, one: Trained) -> Obstacle | None:
        """What in the step that `fit` makes of a model XLA is not known to compile."""
        given = [*one.compiling.args, *one.options.values()]
        for value in given:
            for part in ast.walk(value):
                unknown = self._unknown_part(part)
                if unknown:
                    message = (
                        f"it is not known that XLA compiles `{unknown}` in line {value.lineno}"
                    )
                    return Obstacle("not-for-xla", message)
        return self.whole_file

    def _unknown_value(self, part: ast.AST, seen: frozenset[str]) -> str:
        """The same for what a name stands for."""
        if not isinstance(part, ast.Name) or part.id in seen:
            return ""
        values = [binding.value for binding in self._scopes.bindings(part)]
        inner = [node for value in values if value is not None for node in ast.walk(value)]
        found = (self._unknown_part(node, seen | {part.id}) for node in inner)
        return next(filter(None, found), "")

    def _unknown_part(self, part: ast.AST, seen: frozenset[str] = frozenset()) -> str:
        """What a part of the arguments of `compile` names that was not tried; empty if nothing."""
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            return "" if part.value.lower().replace("_", "") in _BY_NAME else part.value
        if not isinstance(part, (ast.Name, ast.Attribute)):
            return ""
        symbol = self._names.tf(part)
        if symbol is None:
            return self._unknown_value(part, seen)
        name = symbol.rpartition(".")[2]
        package = symbol in ("", "keras", "losses", "metrics", "optimizers") or name in _PACKAGES
        return "" if package or name in _OBJECTS | _FUNCTIONS else symbol

    @property
    def fit_draws(self) -> bool:
        """Whether a model of the file may draw random numbers in its steps."""
        for call in self._source.all(ast.Call):
            symbol = self._names.tf(call.func) or ""
            options = [keyword.arg or "" for keyword in call.keywords]
            if keras_things.draws(symbol, options):
                return True
        return False

    @property
    def whole_file(self) -> Obstacle | None:
        """What no part of a file may use whose models XLA is to compile."""
        for call in sorted(self._source.all(ast.Call), key=self._source.span):
            symbol = self._names.tf(call.func) or ""
            layer = symbol.removeprefix("keras.layers.")
            if symbol.startswith("keras.applications."):
                unknown = symbol if symbol.rpartition(".")[2][:1].isupper() else ""
            elif symbol.startswith("keras.layers."):
                unknown = layer if layer not in _LAYERS else self._other_activation(call, layer)
            else:
                unknown = symbol if self._is_part_of_model(call, symbol) else ""
            if unknown:
                message = f"it is not known that XLA compiles `{unknown}` in line {call.lineno}"
                return Obstacle("not-for-xla", message)
            if symbol.startswith(_SPREADING):
                message = (
                    f"`{ast.unparse(call.func)}` in line {call.lineno} places ops or checks them"
                )
                return Obstacle("not-for-xla", message)
        return None

    def _other_activation(self, call: ast.Call, layer: str) -> str:
        """The activation of a layer, if it was not tried.

        Functions of the file are looked at where they are traced.
        """
        given = [k.value for k in call.keywords if "activation" in (k.arg or "")]
        given += call.args[:1] if layer == "Activation" else call.args[1:]
        for value in given:
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                if value.value not in _ACTIVATIONS | {"same", "valid", "causal"}:
                    return value.value
            symbol = self._names.tf(value)
            name = (symbol or "").rpartition(".")[2]
            if symbol is not None and not (symbol in _OPS or name in _ACTIVATIONS):
                return symbol
        return ""

    def _is_part_of_model(self, call: ast.Call, symbol: str) -> bool:
        """Whether a call computes what was not tried, or draws, with a tensor of a model."""
        if not symbol or symbol in keras_things.MODELS | keras_things.SEQUENTIAL:
            return False
        if symbol in _OPS and not symbol.startswith(_DRAWING):
            return False
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        values = [part for one in given for part in parts(self._facts.eager_values.value(one))]
        return any(isinstance(value, Thing) and value.kind == "symbolic" for value in values)

    @property
    def shapes_vary(self) -> Obstacle | None:
        """Batches of many shapes, each of which would be compiled by itself."""
        for call in sorted(self._source.all(ast.Call), key=self._source.span):
            if isinstance(call.func, ast.Attribute) and call.func.attr in _VARYING:
                message = (
                    f"`{call.func.attr}` in line {call.lineno} gives batches of many shapes, and"
                    " each would be compiled"
                )
                return Obstacle("shape-varies", message)
        return None

    def draws(self, trace: Trace) -> bool:
        """Whether random numbers are drawn; with XLA all are others, also from a generator."""
        named = any(symbol.startswith(_DRAWING) for symbol, _ in trace.symbols)
        return bool(trace.draws) or trace.layers_draw or trace.generators or named


def _is_known(symbol: str) -> bool:
    if symbol in _OPS:
        return True
    for prefix in ("keras.losses.", "losses."):
        if symbol.startswith(prefix):
            name = symbol.removeprefix(prefix)
            return name in _LOSSES or name in _FUNCTIONS
    return False


_KNOWN_THINGS = {
    "loss": _LOSSES,
    "metric": _METRICS,
    "optimizer": _OPTIMIZERS,
    "layer": _LAYERS,
}


def _is_known_thing(kind: str, symbol: str) -> bool:
    known = _KNOWN_THINGS.get(kind)
    if known is not None:
        return symbol.rpartition(".")[2] in known
    if kind == "model":
        return symbol in keras_things.MODELS | keras_things.SEQUENTIAL or not symbol.startswith(
            "keras."
        )
    return kind in ("variable", "generator", "setting", "schedule", "tape")
