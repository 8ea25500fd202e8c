"""A file that concerns a rule has one of its strings, however it is written."""

from __future__ import annotations

import pytest

from analysis_helpers import facts
from tfrewrite.triggers import MAKES_FUNCTION

WAYS = [
    "import tensorflow as tf\n@tf.function\ndef step(): pass\n",
    "import tensorflow\nstep = tensorflow.compat.v2.function(lambda: 0)\n",
    "import tensorflow as tf\nf = tf.function\nstep = f(lambda: 0)\n",
    "from tensorflow import function\n@function\ndef step(): pass\n",
    "from tensorflow import Variable, function\n@function\ndef step(): pass\n",
    "from tensorflow import (\n    Variable,\n    function,\n)\n@function()\ndef step(): pass\n",
    "from tensorflow import function as compiled\n@compiled\ndef step(): pass\n",
]


def holds(text: str) -> bool:
    return any(string in text.encode() for string in MAKES_FUNCTION)


def test_a_function_in_words_is_none() -> None:
    assert not holds("import tensorflow as tf\n# The loss function of a functional model\n")


@pytest.mark.parametrize("text", WAYS)
def test_what_makes_a_function_is_seen(text: str) -> None:
    assert facts(text).compiled_functions.all
    assert holds(text)
