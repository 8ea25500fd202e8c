"""Which API a name is, traps first: shadowing, rebinding, and overwritten APIs."""

from __future__ import annotations

import ast
import textwrap

import pytest

from analysis_helpers import expression, facts


def path(text: str, mark: str = "here") -> str | None:
    """The dotted path of what is called, or else evaluated, on the marked line."""
    found = facts(text)
    expr = expression(found, mark)
    return found.names.dotted(expr.func if isinstance(expr, ast.Call) else expr)


def symbol(text: str, mark: str = "here") -> str | None:
    found = facts(text)
    expr = expression(found, mark)
    return found.names.tf(expr.func if isinstance(expr, ast.Call) else expr)


# ---- traps -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "tf.Session()  # here\n",
        "from . import tensorflow as tf\ntf.Session()  # here\n",
        "from .tensorflow import Session\nSession()  # here\n",
        "import tensorflow as tf\nimport fake as tf\ntf.Session()  # here\n",
        "import tensorflow as tf\ndef f(tf):\n    tf.Session()  # here\n",
        "import tensorflow as tf\ndef f(*tf):\n    tf.Session()  # here\n",
        "import tensorflow as tf\ndef g():\n    tf = 1\n    tf.Session()  # here\n",
        "import tensorflow as tf\nfor tf in modules:\n    tf.Session()  # here\n",
        "import tensorflow as tf\nwith fake() as tf:\n    tf.Session()  # here\n",
        "import tensorflow as tf\ntf = wrap(tf)\ntf.Session()  # here\n",
        "import tensorflow as tf\ntf += 1\ntf.Session()  # here\n",
        "import tensorflow as tf\ndel tf\ntf.Session()  # here\n",
        "import tensorflow as tf\nclass tf:\n    pass\ntf.Session()  # here\n",
        "import tensorflow as tf\ndef g():\n    global tf\n    tf = 1\ntf.Session()  # here\n",
        "import tensorflow as tf\nmatch x:\n    case tf:\n        tf.Session()  # here\n",
        "tf = tf.compat.v1\ntf.Session()  # here\n",
        "import tensorflow as tf\n[tf := 1 for i in y]\ntf.Session()  # here\n",
    ],
)
def test_what_is_not_surely_tensorflow_is_nothing(text: str) -> None:
    assert path(text) is None
    assert symbol(text) is None


@pytest.mark.parametrize(
    "patch",
    [
        "tf.Session = Fake",
        "tf.Session: type = Fake",
        "tf.Session, other = Fake, 1",
        "setattr(tf, 'Session', Fake)",
        "setattr(tf.compat.v1, 'Session', Fake)",
        "delattr(tf, 'Session')",
        "del tf.Session",
        "tf.compat.v1.Session = Fake",
        "import tensorflow\ntensorflow.Session = Fake",
        "def install():\n    tf.Session = Fake",
        "for tf.Session in fakes: pass",
        "with fake() as tf.Session: pass",
    ],
)
def test_an_api_that_the_file_overwrites_is_no_longer_that_api(patch: str) -> None:
    found = facts(f"import tensorflow as tf\n{patch}\ntf.Session()  # here\n")
    call = expression(found)
    assert isinstance(call, ast.Call)
    assert found.names.dotted(call.func) is None


def test_overwriting_an_api_reaches_every_spelling_of_it() -> None:
    text = """
    import tensorflow as tf
    from tensorflow.compat.v1 import Session
    tf.Session = Fake
    Session()  # here
    """
    assert symbol(text) is None


def test_overwriting_a_module_takes_all_in_it() -> None:
    text = "import tensorflow as tf\ntf.nn = Fake\ntf.nn.relu(x)  # here\ntf.nnx(1)  # other\n"
    assert symbol(text) is None
    assert symbol(text, "other") == "nnx"


def test_overwriting_something_else_with_that_name_is_harmless() -> None:
    text = "import tensorflow as tf\nself.Session = Fake\nobj.tf = 1\ntf.Session()  # here\n"
    assert symbol(text) == "Session"


def test_a_shadowed_builtin_is_no_builtin() -> None:
    assert path("def print(x): pass\nprint(1)  # here\n") is None
    assert path("print = other\nprint(1)  # here\n") is None
    assert path("def f(len):\n    len(1)  # here\n") is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from numpy import *\nsum(x)  # here\n", None),
        ("from numpy import *\nlen(x)  # here\n", "builtins.len"),
        ("from math import *\npow(x, 2)  # here\n", None),
        ("from keras.backend import *\nmax(x)  # here\n", None),
        ("from keras.layers import *\nsum(x)  # here\n", "builtins.sum"),
    ],
)
def test_a_star_may_bring_another_builtin(text: str, found: str | None) -> None:
    assert path(text) == found


def test_a_builtin_by_another_name_is_not_taken_for_it() -> None:
    assert path("show = print\nshow(1)  # here\n") is None


def test_imports_that_disagree_are_nothing() -> None:
    text = """
    try:
        import tensorflow as tf
    except ImportError:
        tf = None
    tf.Session()  # here
    """
    assert path(text) is None


def test_an_attribute_of_a_call_or_an_object_is_no_api() -> None:
    text = "import tensorflow as tf\nget(tf).Session()  # here\nself.tf.Session()  # other\n"
    assert path(text) is None
    assert path(text, "other") is None


def test_names_that_are_bound_to_each_other_are_nothing() -> None:
    assert path("a = b\nb = a\na.c()  # here\n") is None


def test_another_library_by_tensorflows_name_is_that_library() -> None:
    text = "import fake as tf\ntf.Session()  # here\n"
    assert path(text) == "fake.Session"
    assert symbol(text) is None


def test_a_library_whose_name_only_begins_like_tensorflow_is_another() -> None:
    text = "import tensorflow_hub as hub\nhub.Module(1)  # here\n"
    assert path(text) == "tensorflow_hub.Module"
    assert symbol(text) is None


# ---- every way that TensorFlow comes in --------------------------------------------------------


@pytest.mark.parametrize(
    ("imports", "call", "expected"),
    [
        ("import tensorflow as tf", "tf.Session", "Session"),
        ("import tensorflow", "tensorflow.Session", "Session"),
        ("import tensorflow as tf", "tf.compat.v1.Session", "Session"),
        ("import tensorflow as tf", "tf.compat.v2.function", "function"),
        ("import tensorflow.compat.v1 as tf", "tf.Session", "Session"),
        ("import tensorflow.compat.v1", "tensorflow.compat.v1.Session", "Session"),
        ("from tensorflow import compat", "compat.v1.Session", "Session"),
        ("from tensorflow.compat import v1 as tf", "tf.Session", "Session"),
        ("from tensorflow.compat import v1", "v1.Session", "Session"),
        ("from tensorflow.compat.v1 import Session", "Session", "Session"),
        ("from tensorflow import Session as S", "S", "Session"),
        ("import tensorflow as tf\ntf = tf.compat.v1", "tf.Session", "Session"),
        ("import tensorflow as tf\ntf1 = tf.compat.v1", "tf1.Session", "Session"),
        ("import tensorflow as tf\nnn = tf.nn", "nn.relu", "nn.relu"),
        ("import tensorflow as tf\nrelu = tf.nn.relu", "relu", "nn.relu"),
        ("from tensorflow import nn", "nn.relu", "nn.relu"),
        ("import tensorflow.nn as N", "N.relu", "nn.relu"),
        ("import tensorflow.contrib.slim as slim", "slim.conv2d", "contrib.slim.conv2d"),
        ("from tensorflow.contrib import slim", "slim.conv2d", "contrib.slim.conv2d"),
        ("import tensorflow as tf\nslim = tf.contrib.slim", "slim.conv2d", "contrib.slim.conv2d"),
        ("from tensorflow import keras", "keras.Model", "keras.Model"),
        ("import tensorflow.keras as K", "K.layers.Dense", "keras.layers.Dense"),
        ("from tensorflow.keras.layers import Dense", "Dense", "keras.layers.Dense"),
        ("import keras", "keras.layers.Dense", "keras.layers.Dense"),
        ("import keras as k", "k.Model", "keras.Model"),
        ("from keras.layers import Dense as D", "D", "keras.layers.Dense"),
        ("from keras import backend as K", "K.mean", "keras.backend.mean"),
        (
            (
                "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n"
                "    import tensorflow as tf"
            ),
            "tf.Session",
            "Session",
        ),
        (
            "try:\n    from tensorflow import keras\nexcept ImportError:\n    import keras",
            "keras.Model",
            "keras.Model",
        ),
        ("def f():\n    global tf\n    import tensorflow as tf", "tf.Session", "Session"),
    ],
)
def test_every_spelling_leads_to_the_same_symbol(imports: str, call: str, expected: str) -> None:
    assert symbol(f"{imports}\n{call}(1)  # here\n") == expected


def test_tensorflow_imported_in_a_function_is_known_there_only() -> None:
    text = """
    def f():
        import tensorflow as tf
        tf.Session()  # here
    tf.Session()  # outside
    """
    assert symbol(text) == "Session"
    assert symbol(text, "outside") is None


def test_other_libraries_keep_their_path() -> None:
    assert path("import numpy as np\nnp.random.rand(1)  # here\n") == "numpy.random.rand"
    assert symbol("import numpy as np\nnp.random.rand(1)  # here\n") is None
    assert path("from os import path as p\np.join(1)  # here\n") == "os.path.join"
    assert path("len(x)  # here\n") == "builtins.len"


def test_the_module_itself() -> None:
    found = facts("import tensorflow.compat.v1 as tf\nuse = tf  # here\nother = tf.nn  # nn\n")
    assert found.names.is_tf_module(expression(found))
    assert not found.names.is_tf_module(expression(found, "nn"))


# ---- what the whole file is told ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "alias"),
    [
        ("import tensorflow as tf\n", "tf"),
        ("import tensorflow.compat.v1 as flow\n", "flow"),
        ("import tensorflow\n", "tensorflow"),
        ("import numpy as np\nimport tensorflow as tf\ntf = tf.compat.v1\n", "tf"),
        ("import tensorflow as tf\ntf = 1\n", None),
        ("from tensorflow import nn\n", None),
        ("def f():\n    import tensorflow as tf\n", None),
    ],
)
def test_the_name_by_which_the_whole_file_can_say_tensorflow(text: str, alias: str | None) -> None:
    assert facts(text).names.alias == alias


def test_the_generation_that_an_import_asks_for() -> None:
    assert facts("import tensorflow.compat.v1 as tf\n").names.version == "1"
    assert facts("from tensorflow.compat.v1 import nn\n").names.version == "1"
    assert facts("import tensorflow as tf\n").names.version is None


def test_a_name_is_read_only_where_it_is_loaded() -> None:
    found = facts("a = b\ndel c\n_ = d.e\n")
    assert found.names.read == {"b", "d"}


# ---- new names ---------------------------------------------------------------------------------


def test_a_new_name_never_collides() -> None:
    text = textwrap.dedent("""
        loss_value = 1
        def f(loss_value_2): pass
        obj.loss_value_3
        "loss_value_4"
    """)
    fresh = facts(text).names.fresh
    assert fresh("loss_value") == "loss_value_5"
    assert fresh("cost_value") == "cost_value"


def test_a_word_of_a_comment_is_no_name() -> None:
    assert facts("x = 1  # over all batches\n").names.fresh("batches") == "batches"


def test_a_word_of_a_comment_is_free() -> None:
    text = "for batch in x:  # over all batches\n    print('no # batches_2')\n"
    assert facts(text).names.fresh("batches") == "batches"
    assert facts(text).names.fresh("batches_2") == "batches_2_2"


def test_a_new_name_is_no_builtin_and_no_name_already_taken() -> None:
    fresh = facts("").names.fresh
    assert fresh("sum") == "sum_2"
    assert fresh("results", {"results", "results_2"}) == "results_3"


def test_a_new_name_knows_letters_beyond_ascii() -> None:
    assert facts("größe_value = 1\n").names.fresh("größe_value") == "größe_value_2"


def test_a_part_of_a_longer_name_is_no_collision() -> None:
    assert facts("my_loss_value_here = 1\n").names.fresh("loss_value") == "loss_value"
