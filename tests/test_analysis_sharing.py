"""What merged runs share, traps first: what is then computed otherwise, and what fails."""

from __future__ import annotations

import pytest

from analysis_helpers import expression, with_graph
from tfrewrite.analysis.facts import Facts
from tfrewrite.analysis.graphs.fetches import Fetch, fetch_of
from tfrewrite.analysis.graphs.sharing import fails_together, may_round


def fetch_in(found: Facts, mark: str) -> Fetch:
    expr = expression(found, mark)
    return fetch_of(found.graph.trace(expr), found.source.segment(expr))


def fetches(first: str, second: str, before: str) -> list[Fetch]:
    found = with_graph(f"{before}\nv = {first}  # first\nv = {second}  # second\n")
    return [fetch_in(found, "first"), fetch_in(found, "second")]


def rounds(first: str, second: str, before: str = "") -> bool:
    """Whether merging runs of two expressions may change a last bit."""
    return may_round(fetches(first, second, before))


def fails(first: str, second: str, before: str) -> bool:
    """Whether one run of two expressions fails; it must not matter which of them is the first."""
    one, other = fetches(first, second, before)
    assert fails_together(one, other) is fails_together(other, one)
    return fails_together(one, other)


# ---- sums of a list ------------------------------------------------------------------------------

FED = "z = tf.placeholder(tf.float32)\nu = tf.placeholder(tf.float32)"


@pytest.mark.parametrize(
    "value",
    [
        "1.7 - tf.add_n([z + u, u, z])",
        "tf.add_n([tf.tanh(z), u, z])",
        "tf.reduce_mean(tf.math.add_n([u, z + u]))",
        "tf.accumulate_n([z + u, u, z])",
        "tf.gradients(u * z, [z])",
        "tf.add_n([u * i for i in range(9)]) + z",
    ],
)
def test_a_list_with_something_fed_may_be_summed_in_another_order(value: str) -> None:
    assert rounds(value, "tf.matmul(z, w)", FED)
    assert rounds("tf.matmul(z, w)", value, FED)


def test_a_sum_may_be_regrouped_by_what_tells_its_shape() -> None:
    before = f"{FED}\nsum_of_all = tf.add_n([z + u, u, z])"
    assert rounds("tf.reduce_mean(sum_of_all)", "tf.argmax(sum_of_all, 1)", before)


def test_sums_of_variables_or_beside_another_feed_stay() -> None:
    decay = "tf.reduce_mean(z) + tf.add_n([tf.nn.l2_loss(w), tf.nn.l2_loss(b), tf.nn.l2_loss(w)])"
    assert not rounds(decay, "tf.matmul(z, w)", FED)
    assert not rounds("tf.add_n([u, u + 1, u])", "tf.matmul(z, w)", FED)


# ---- runs that fail ------------------------------------------------------------------------------

LAYER = """
z = tf.placeholder(tf.float32, [None, 8, 8, 3])
k = tf.Variable(tf.zeros([3, 3, 3, 4]))
c = tf.Variable(tf.zeros([4]))
raw = tf.nn.conv2d(z, k, strides=[1, 1, 1, 1], padding="SAME")
h = {biased}
activation = tf.keras.layers.LeakyReLU()
"""


@pytest.mark.parametrize(
    "biased",
    [
        "tf.nn.bias_add(raw, c)",
        "raw + c",
        "tf.layers.conv2d(z, 4, 3)",
        "tf.layers.conv3d(z, 4, 3)",
        "tf.nn.fused_batch_norm(raw, c, c, mean=c, variance=c, is_training=False)[0]",
        "tf.layers.batch_normalization(raw)",
        "0\nh, _, _ = tf.nn.fused_batch_norm(raw, c, c, mean=c, variance=c, is_training=False)",
    ],
)
@pytest.mark.parametrize(
    "activated",
    [
        "tf.nn.leaky_relu(h)",
        "tf.nn.leaky_relu(h, alpha=0.3)",
        "tf.maximum(0.2 * h, h)",
        "tf.maximum(h, h * 0.2)",
        "h * tf.sigmoid(h)",
        "h * tf.tanh(tf.nn.softplus(h))",
        "tf.nn.swish(h)",
        "activation(h)",
        "tf.reduce_mean(tf.tanh(tf.nn.leaky_relu(h)))",
    ],
)
def test_a_value_that_is_fused_away_cannot_be_fetched(biased: str, activated: str) -> None:
    assert fails("h", activated, LAYER.format(biased=biased))


def test_a_value_that_is_computed_again_is_the_same_value() -> None:
    layer = LAYER.format(biased="tf.nn.bias_add(raw, c)")
    assert fails("tf.nn.bias_add(raw, c)", "tf.nn.leaky_relu(h)", layer)


def test_the_convolution_itself_is_fused_away_too() -> None:
    layer = LAYER.format(biased="tf.nn.bias_add(raw, c)")
    assert fails("raw", "h * tf.sigmoid(h)", layer)
    assert fails("[loss, raw]", "[accuracy, tf.reduce_mean(tf.nn.swish(h))]", layer)


@pytest.mark.parametrize(
    "activated",
    [
        "tf.nn.relu(h)",
        "tf.nn.relu6(h)",
        "tf.nn.elu(h)",
        "tf.nn.selu(h)",
        "tf.tanh(h)",
        "tf.sigmoid(h)",
        "tf.nn.softplus(h)",
        "tf.exp(h)",
        "tf.nn.leaky_relu(tf.nn.relu(h))",
        "tf.nn.leaky_relu(tf.layers.conv2d(h, 4, 3))",
        "tf.layers.conv2d(h, 4, 3) * tf.sigmoid(tf.layers.conv2d(h, 4, 3))",
        "tf.maximum(h, 0.0)",
        "h * c",
    ],
)
def test_other_activations_do_not_fail(activated: str) -> None:
    assert not fails("h", activated, LAYER.format(biased="tf.nn.bias_add(raw, c)"))


def test_what_has_a_user_of_its_own_does_not_fail() -> None:
    layer = LAYER.format(biased="tf.nn.bias_add(raw, c)")
    assert not fails("tf.reduce_mean(h)", "tf.nn.leaky_relu(h)", layer)


@pytest.mark.parametrize(
    "raw",
    [
        "tf.matmul(x, w)",
        "tf.nn.depthwise_conv2d(z, k, [1, 1, 1, 1], 'SAME')",
        "tf.layers.conv2d_transpose(z, 4, 3)",
        "tf.abs(z)",
    ],
)
def test_without_a_convolution_nothing_fails(raw: str) -> None:
    layer = LAYER.format(biased=f"tf.nn.bias_add({raw}, c)")
    assert not fails("h", "tf.nn.leaky_relu(h)", layer)


# ---- links ---------------------------------------------------------------------------------------


def test_a_fetch_beneath_another_may_be_folded_in_another_way() -> None:
    assert rounds("small", "small * 0.01", "small = x / 20")


def test_a_link_that_is_used_in_another_way_may_be_folded() -> None:
    # Written twice, they become one operation.
    fed = "z = tf.placeholder(tf.float32)"
    assert rounds("(z + 1) - 2", "(z + 1) * 2", fed)
    assert rounds("tf.nn.relu(z + 1)", "tf.reduce_max(z + 1)", fed)


def test_a_fed_value_is_no_link() -> None:
    fed = "z = tf.placeholder(tf.float32)"
    assert not rounds("tf.matmul(z, z)", "(z / 20) * 0.01", fed)


def test_values_that_share_nothing_do_not_round() -> None:
    fed = "z = tf.placeholder(tf.float32)\nu = tf.placeholder(tf.float32)"
    assert not rounds("(z + 1) * 2", "(u + 1) * 2", fed)


def test_shared_inputs_without_chains_do_not_round() -> None:
    fed = "z = tf.placeholder(tf.float32)"
    assert not rounds("tf.matmul(z, z)", "tf.reduce_max(z)", fed)
    assert not rounds("z + 1", "tf.matmul(z, z)", fed)


def test_one_run_alone_does_not_round() -> None:
    found = with_graph("v = (x / 20) * 0.01  # here\n")
    assert not may_round([fetch_in(found, "here")])


# ---- merged summaries, of which there may be fewer ---------------------------------------------

CONVOLVED = """\
image = tf.reshape(x, [-1, 2, 2, 2])
def net(image):
    conv = tf.layers.conv2d(image, 2, 1)
    tf.summary.histogram("active", tf.nn.leaky_relu(conv))
    return conv
conv = net(image)
"""


def with_summaries(first: str, before: str) -> list[Fetch]:
    found = with_graph(f"{before}v = {first}  # first\nv = tf.summary.merge_all()  # second\n")
    merged = found.collected_summaries.followed(found.graph.trace(expression(found, "second")))
    return [fetch_in(found, "first"), fetch_of(merged, "merged")]


@pytest.mark.parametrize("first", ["accuracy", "loss", "tf.reduce_max(w)"])
def test_merged_summaries_may_share_otherwise_than_is_seen(first: str) -> None:
    first_run, merged = with_summaries(first, "tf.summary.scalar('a', accuracy)\n")
    assert merged.reads_only
    assert may_round([first_run, merged])


def test_what_a_summary_shows_may_be_fused_away() -> None:
    first_run, merged = with_summaries("conv", CONVOLVED)
    assert fails_together(first_run, merged)
    assert fails_together(merged, first_run)
    other, merged = with_summaries("tf.reduce_max(w)", CONVOLVED)
    assert not fails_together(other, merged)
