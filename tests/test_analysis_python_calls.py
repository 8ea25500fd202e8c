"""What ordinary calls do, traps first: calls that look harmless and are not."""

from __future__ import annotations

import ast

import pytest

from tfrewrite.analysis.program.python_calls import (
    CONSUMING,
    CallEffect,
    effect_of_method,
    effect_of_path,
    gives_data,
    writes_to_argument,
)


def writes(text: str, path: str | None = None) -> bool:
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    return writes_to_argument(call, path)


# ---- traps -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "builtins.map",
        "builtins.filter",
        "builtins.exec",
        "builtins.eval",
        "builtins.open",
        "builtins.input",
        "builtins.next",
        "builtins.iter",
        "builtins.setattr",
        "builtins.super",
        "builtins.no_such_thing",
        "numpy.vectorize",
        "numpy.apply_along_axis",
        "numpy.fromfunction",
        "numpy.load",
        "numpy.save",
        "numpy.savetxt",
        "numpy.add.at",
        "numpy.lib.format.open_memmap",
        "numpy.testing.assert_equal",
        "os.remove",
        "random._inst.shuffle",
        "sys.stdout._write",
        "os.pathological",
        "mathematics.floor",
        "pickle.dump",
        "scipy.misc.imsave",
        "tensorflow.Session",
    ],
)
def test_what_is_not_surely_harmless_is_unknown(path: str) -> None:
    assert effect_of_path(path) is CallEffect.UNKNOWN


@pytest.mark.parametrize(
    "path",
    ["random.shuffle", "numpy.random.shuffle", "numpy.copyto", "numpy.put", "numpy.fill_diagonal"],
)
def test_shuffling_in_place_is_no_mere_draw(path: str) -> None:
    assert effect_of_path(path) is CallEffect.MUTATES


@pytest.mark.parametrize(
    "path",
    [
        "random.random",
        "numpy.random.rand",
        "numpy.random.permutation",
        "time.time",
        "datetime.datetime.now",
        "logging.info",
        "builtins.print",
        "matplotlib.pyplot.plot",
    ],
)
def test_draws_clocks_and_printing_are_not_pure(path: str) -> None:
    assert effect_of_path(path) is CallEffect.HOST


@pytest.mark.parametrize("name", ["append", "sort", "pop", "update", "fill", "setdefault", "add"])
def test_methods_that_change_their_receiver(name: str) -> None:
    assert effect_of_method(name) is CallEffect.MUTATES


@pytest.mark.parametrize(
    "name", ["next_batch", "write", "close", "__next__", "send", "run", "byteswap"]
)
def test_methods_that_may_do_anything(name: str) -> None:
    assert effect_of_method(name) is CallEffect.UNKNOWN


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("np.add(a, b, out=c)", "numpy.add"),
        ("np.add(a, b, c)", "numpy.add"),
        ("np.exp(a, b)", "numpy.exp"),
        ("np.exp(a, self.b)", "numpy.exp"),
        ("np.exp(a, b[0])", "numpy.exp"),
        ("np.mean(a, None, dtype, out)", "numpy.mean"),
        ("np.dot(a, b, c)", "numpy.dot"),
        ("np.clip(a, 0, 1, b)", "numpy.clip"),
        ("np.sum(a, **options)", "numpy.sum"),
        ("sorted(a, key=f)", "builtins.sorted"),
        ("max(a, key=f)", "builtins.max"),
        ("a.mean(0, out=b)", None),
        ("a.mean(0, None, b)", None),
        ("a.dot(b, c)", None),
        ("a.round(2, b)", None),
    ],
)
def test_a_result_may_be_written_to_an_argument(text: str, path: str | None) -> None:
    assert writes(text, path)


# ---- the rest ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("np.add(a, b)", "numpy.add"),
        ("np.exp(a)", "numpy.exp"),
        ("np.mean(a, 0)", "numpy.mean"),
        ("np.mean(a, axis=b)", "numpy.mean"),
        ("np.clip(a, 0, 1)", "numpy.clip"),
        ("np.where(a, b, c)", "numpy.where"),
        ("np.linspace(a, b, c)", "numpy.linspace"),
        ("np.random.normal(a, b, c)", "numpy.random.normal"),
        ("sorted(a, reverse=True)", "builtins.sorted"),
        ("max(a, b, c)", "builtins.max"),
        ("a.mean(b)", None),
        ("a.mean(0, 1)", None),
        ("a.format(b, c, d)", None),
    ],
)
def test_most_calls_write_to_no_argument(text: str, path: str | None) -> None:
    assert not writes(text, path)


@pytest.mark.parametrize(
    "path",
    [
        "builtins.len",
        "builtins.float",
        "math.sqrt",
        "numpy.mean",
        "os.path.join",
    ],
)
def test_pure_calls(path: str) -> None:
    assert effect_of_path(path) is CallEffect.PURE


@pytest.mark.parametrize("name", ["format", "mean", "astype", "items", "strip", "get"])
def test_pure_methods(name: str) -> None:
    assert effect_of_method(name) is CallEffect.PURE


def test_what_loops_over_its_arguments_is_pure_otherwise() -> None:
    assert {effect_of_path(path) for path in CONSUMING} == {CallEffect.PURE}


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("numpy.zeros", True),
        ("cv2.imread", True),
        ("random", True),
        ("builtins.len", False),
        ("numpy_ml.layer", False),
        ("tensorflow.zeros", False),
        ("model.loss", False),
    ],
)
def test_which_libraries_give_data(
    path: str,
    data: bool,  # noqa: FBT001
) -> None:
    assert gives_data(path) is data
