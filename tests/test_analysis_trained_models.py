"""Which models `fit` trains, and whether their steps are Keras' own."""

from __future__ import annotations

import pytest

from analysis_helpers import facts

HEAD = "import tensorflow as tf\nL = tf.keras.layers\n"
MODEL = "model = tf.keras.Sequential([L.Dense(3, input_shape=[2])])\n"
COMPILE = "model.compile('adam', loss='mse')\n"


def test_models_that_are_compiled_and_trained() -> None:
    found = facts(f"{HEAD}{MODEL}{COMPILE}model.fit(x, y)").trained_models
    (one,) = found.all
    assert list(one.options) == ["loss"]
    assert found.obstacle(one) is None
    assert [call.lineno for call in found.fits] == [5]


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}{MODEL}{COMPILE}model.predict(x)",
        f"{HEAD}{MODEL}model.fit(x, y)",
        "import re\nre.compile('a')\n",
        f"{HEAD}tree = []\ntree.compile()\ntree.fit(x)\n",
    ],
)
def test_others(text: str) -> None:
    assert not facts(text).trained_models.all


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"{HEAD}model.compile('adam')\nmodel.fit(x)", "model-not-seen"),
        (f"{HEAD}{MODEL}model.compile('adam', mine)\nmodel.fit(x)", "custom-code"),
        (f"{HEAD}{MODEL}model.compile('adam', run_eagerly=True)\nmodel.fit(x)", "runs-eagerly"),
        (
            f"{HEAD}{MODEL}{COMPILE}model.fit(x)\ntf.keras.wrappers.scikit_learn.Kept(make)",
            "model-not-seen",
        ),
        (
            f"{HEAD}{MODEL}{COMPILE}model.fit(x)".replace("as tf", "").replace(
                "import tensorflow", "import tensorflow.compat.v1 as tf"
            ),
            "graph-mode",
        ),
        (f"{HEAD}import other\n{MODEL}{COMPILE}model.fit(x)", "code-not-seen"),
    ],
)
def test_what_is_not_of_keras(text: str, reason: str) -> None:
    found = facts(text).trained_models
    obstacle = found.obstacle(found.all[0])
    assert obstacle is not None
    assert obstacle.reason == reason
