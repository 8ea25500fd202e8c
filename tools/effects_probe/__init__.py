"""Builds TensorFlow's public symbols with sample arguments and notes what stands beneath the result.

Runs inside the TensorFlow interpreter that is asked about (plain Python 3.6+, nothing imported but
the standard library, numpy and TensorFlow), is started by `generate_effects.py`, and by hand with
`PYTHONPATH=tools PYTHON -m effects_probe` and

    list  API OUT            every public symbol of that API, as JSON
    probe API SYMBOLS OUT    one JSON line per symbol, appended to OUT
    ops   API OUT            what the op registry says of each op

API is `1` (tf.* of TensorFlow 1, tf.compat.v1.* of TensorFlow 2; probed in a plain graph) or `2`
(tf.* of TensorFlow 2; probed in a FuncGraph, which is what tf.function traces into).

No symbol is classified by its name. What is chosen by hand is the *arguments* (by parameter name:
`samples.py`), the modules that are not safe to call blindly (`symbols.py`), and a handful of ops that
the registry calls stateful and whose state is nobody's (`registry.py`).
"""
