"""What of a script's output is a number to compare, and what is not."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrewrite.verify import printed
from tfrewrite.verify.printed import lines, same_shape


def numbers(text: str) -> list[float]:
    return [one.value for line in lines(text) for one in line.numbers]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("step 3: loss = 0.25", [3, 0.25]),
        ("loss=-1.5e-3, acc=.5", [-1.5e-3, 0.5]),
        ("[1. 2.5]", [1, 2.5]),
        ("layer2/W1 0.5", [0.5]),
        ("loss 0.5 (0.12 s)", [0.5]),
        ("loss 0.5, 12 ms/step", [0.5]),
        ("120 examples/sec loss 0.5", [0.5]),
        ("2016-01-02 10:11:12: loss 0.5", [0.5]),
        ("Elapsed time: 12.5, loss 0.5", [0.5]),
        ("took 3 loss 0.5", [0.5]),
        ("total_time 2.25 loss 0.5", [0.5]),
        ("time_step 3 loss 0.5", [3, 0.5]),
        ("time step 3 loss 0.5", [3, 0.5]),
        ("Time-step: 12 loss 0.5", [12, 0.5]),
        ("time step: 0.02 loss 0.5", [0.5]),
        ("mean 0.25 min 0.11 max 0.98", [0.25, 0.11, 0.98]),
        ("mean 0.25 min -1e-3", [0.25, -1e-3]),
        ("mean 0.25 min: 0.11", [0.25, 0.11]),
        ("took 2 min 30 s loss 0.5", [0.5]),
        ("after 2 min 30.5 sec: 0.5", [0.5]),
        ("0.9 s=0.3", [0.9, 0.3]),
        ("1 h 20 min loss 0.5", [0.5]),
        ("5 s 0.5", [0.5]),
        ("rate 0.1 eta 0.25", [0.1, 0.25]),
        ("ETA 12 loss 0.5", [0.5]),
        ("Thu Nov 19 08:16:05 loss 0.5", [0.5]),
        ("Monday, January 3 loss 0.5", [0.5]),
        ("Monitor value 3", [3]),
        ("Satisfied clauses 30", [30]),
        ("<object at 0x7f12ab> 4", [4]),
        ("10%|###  | 3\r100%|#####| loss 2", [100, 2]),
        ("", []),
    ],
)
def test_numbers(text: str, expected: list[float]) -> None:
    assert numbers(text) == expected


KERAS_3 = "\x1b[1m{}\x1b[0m \x1b[32m━━━━\x1b[0m\x1b[37m\x1b[0m \x1b[1m{}\x1b[0m {}"


@pytest.mark.parametrize(
    "bar",
    [
        KERAS_3.format("1/1", "0s", "116ms/step"),
        KERAS_3.format("32/313", "2s", "7ms/step"),
        "1/1 [==============================] - 0s 62ms/step",
        "\x08\x08\x08\r 5/32 [===>..........................] - 1s 21ms/step",
        KERAS_3.format("1/1", "0s", "116ms/step") + "\r" + KERAS_3.format("2/2", "1s", "90ms/step"),
    ],
)
def test_a_bar_that_shows_progress_alone_is_no_result(bar: str) -> None:
    assert [line.text for line in lines(f"loss 1\n{bar}\nloss 2")] == ["loss 1", "loss 2"]


@pytest.mark.parametrize(
    ("bar", "result"),
    [
        (KERAS_3.format("1/1", "0s", "116ms/step - loss: 0.5"), 0.5),
        ("4/4 [==============================] - 0s 62ms/step - loss: 0.25", 0.25),
        ("4/4 [==============================] - 0s 62ms/step 7", 7),
        ("4/4 right", 4),
        ("1/2 --", 2),
    ],
)
def test_a_bar_with_a_result_counts(bar: str, result: float) -> None:
    assert numbers(bar)[-1] == result


def test_not_a_number_is_one_to_compare() -> None:
    (line,) = lines("loss nan")
    assert line.numbers[0].text == "nan"


@pytest.mark.parametrize(
    ("text", "unit"),
    [("0.25", 0.01), ("3", 0.0), ("1.5e-3", 1e-4), ("12.", 0.0), ("2e3", 1e3), ("-1.25", 0.01)],
)
def test_the_unit_of_the_last_place(text: str, unit: float) -> None:
    ((number,),) = (line.numbers for line in lines(text))
    assert number.unit == pytest.approx(unit)


@pytest.mark.parametrize("text", ["5157e678", "3.5e-9999", "1e" + 5000 * "9", "0." + 5000 * "1"])
def test_a_number_beyond_all_numbers_has_no_last_place(text: str) -> None:
    ((number,),) = (line.numbers for line in lines(text))
    assert number.unit == 0.0


@given(st.text(alphabet="0123456789.eE+-: xnaif\r\n"))
def test_whatever_is_printed_can_be_read(text: str) -> None:
    for line in lines(text):
        assert all(math.isfinite(number.unit) for number in line.numbers)


def test_lines_that_say_the_same_have_the_same_shape() -> None:
    assert same_shape(lines("step 1 0.5\nend\n"), lines("step 2 0.75\nend\n"))
    assert not same_shape(lines("step 1\n"), lines("epoch 1\n"))
    assert not same_shape(lines("step 1\n"), lines("step 1\nstep 2\n"))


@pytest.mark.parametrize(
    ("word", "decimals", "digits"),
    [("3.24", 2, 3), ("-0.0012", 4, 2), ("1.50e-05", 2, 3), ("12", 0, 2), ("0.0", 1, 0)],
)
def test_the_digits_of_a_number(word: str, decimals: int, digits: int) -> None:
    assert (printed.decimals(word), printed.digits(word)) == (decimals, digits)


def test_the_last_place_of_a_number() -> None:
    assert printed.last_place(3.24, 9) == pytest.approx(1e-8)
    assert printed.last_place(0.0324, 3) == pytest.approx(1e-4)
    assert printed.last_place(0.0, 3) == 0.0
    assert printed.decimals("nan") is None
