"""Options that only compiled code heeds."""

from __future__ import annotations

import pytest

from analysis_helpers import facts
from tfrewrite.analysis.traces.graph_options import graph_option


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("tf.config.optimizer.set_jit(True)", "set_jit"),
        ("tf.config.optimizer.set_jit('autoclustering')", "set_jit"),
        ("tf.config.optimizer.set_jit(enabled=flag)", "set_jit"),
        ("tf.config.optimizer.set_experimental_options({'auto_mixed_precision': True})", "options"),
        ("tf.config.optimizer.set_experimental_options(options)", "options"),
        ("os.environ['TF_XLA_FLAGS'] = '--tf_xla_auto_jit=2'", "auto_jit"),
        ("os.environ['TF_ENABLE_AUTO_MIXED_PRECISION'] = '1'", "MIXED_PRECISION"),
        ("tf.config.optimizer.set_jit(False)", ""),
        ("tf.config.optimizer.set_experimental_options({'layout_optimizer': False})", ""),
        ("os.environ['TF_CPP_MIN_LOG_LEVEL'] = '2'", ""),
        ("tf.config.optimizer.get_jit()", ""),
    ],
)
def test_what_is_set(text: str, named: str) -> None:
    found = graph_option(facts(f"import os\nimport tensorflow as tf\n{text}\n"))
    assert (named in found and "line 3" in found) if named else found == ""
