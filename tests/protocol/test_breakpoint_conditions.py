"""Conditions of breakpoints: what they understand, what they refuse, and that they never raise."""

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstudio.protocol.breakpoint_conditions import MAX_LENGTH, NAMES, describe, holds, why_not
from gradstudio.protocol.messages.debugging import Condition
from gradstudio.protocol.messages.records import Summary

PLAIN = Summary(dtype="float32", shape=(2, 3), minimum=-3.0, maximum=2.0, mean=0.5, rms=2.0)
UNKNOWN = Summary(dtype="complex64", shape=(2,))

finite = st.floats(allow_nan=False, allow_infinity=False, width=32)
figures = st.none() | finite
summaries = st.none() | st.builds(
    Summary,
    dtype=st.just("float32"),
    shape=st.lists(st.integers(0, 9), max_size=4).map(tuple),
    minimum=figures,
    maximum=figures,
    mean=figures,
    rms=st.none() | st.floats(0, 1e30),
    nan=st.integers(0, 5),
    posinf=st.integers(0, 5),
    neginf=st.integers(0, 5),
)
numbers = st.integers(0, 10**40).map(str) | st.floats(0, 1e300).map(repr)
expressions = st.recursive(
    st.sampled_from(NAMES) | numbers,
    lambda inner: (
        st.builds(
            "({} {} {})".format,
            inner,
            st.sampled_from(["+", "-", "*", "/", "**", "<", "<=", ">", ">=", "==", "!=", "and", "or"]),
            inner,
        )
        | inner.map("(not {})".format)
        | inner.map("(-{})".format)
    ),
    max_leaves=12,
)


def expression(text: str, summary: Summary | None = PLAIN) -> bool:
    assert why_not(text) == ""
    return holds(Condition(kind="expression", text=text), summary)


def test_a_breakpoint_without_a_condition_needs_no_value() -> None:
    assert holds(Condition(), None)
    assert not holds(Condition(kind="not_finite"), None)


@pytest.mark.parametrize("counted", ["nan", "posinf", "neginf"])
def test_not_finite_holds_of_nan_and_of_either_infinity(counted: str) -> None:
    assert holds(Condition(kind="not_finite"), msgspec.structs.replace(PLAIN, **{counted: 1}))
    assert not holds(Condition(kind="not_finite"), PLAIN)


def test_above_and_below_are_of_the_largest_magnitude() -> None:
    assert holds(Condition(kind="above", number=2.5), PLAIN)
    assert not holds(Condition(kind="above", number=3.0), PLAIN)
    assert holds(Condition(kind="below", number=3.5), PLAIN)
    assert not holds(Condition(kind="below", number=3.0), PLAIN)


def test_an_infinity_is_above_everything() -> None:
    infinite = Summary(dtype="float32", shape=(2,), minimum=1.0, maximum=1.0, neginf=1)
    assert holds(Condition(kind="above", number=1e30), infinite)
    assert not holds(Condition(kind="below", number=1e30), infinite)


def test_shape_differs() -> None:
    assert not holds(Condition(kind="shape_differs", shape=(2, 3)), PLAIN)
    assert holds(Condition(kind="shape_differs", shape=(3, 2)), PLAIN)


def test_expressions_speak_of_the_figures_shown() -> None:
    assert expression("norm > 4.89 and norm < 4.9")
    assert expression("numel == 6 and ndim == 2 and nan == 0 and inf == 0")
    assert expression("-3 <= min < mean < max <= 2")
    assert expression("absmax ** 2 == 9")
    assert expression("max - min > 2 * rms or min > 0")
    assert not expression("not (rms > 1)")


def test_a_missing_figure_makes_a_comparison_false() -> None:
    for text in ("min > -1e30", "min == min", "norm >= 0", "1 / (numel - 2) > 0", "absmax < 1"):
        assert not expression(text, UNKNOWN)
    assert expression("ndim == 1", UNKNOWN)


def test_arithmetic_that_has_no_answer_is_missing() -> None:
    for text in ("1 / 0 > 0", "10 ** 1000 > 0", "(0 - 1) ** 0.5 > 0", "9" * 100 + " ** 9 > 0"):
        assert not expression(text)


@pytest.mark.parametrize(
    "text",
    ["", "   ", "norm >", "norm > 10; nan", "__import__('os')", "min.real", "max[0]", "size > 1", "'a' == 'a'",
     "True", "min if nan else max", "min in max", "numel // 2", "numel % 2 == 0", "~nan", "lambda: 1", "(x := 3)",
     "[1]", "f'{min}'", "1j > 0", "(" * 150 + "1" + ")" * 40, "nan " * MAX_LENGTH, "\0"],
)  # fmt: skip
def test_anything_else_is_refused_with_a_sentence(text: str) -> None:
    assert why_not(text).endswith(".")
    assert not holds(Condition(kind="expression", text=text), PLAIN)


@given(st.text(max_size=60))
def test_no_text_raises(text: str) -> None:
    if why_not(text):
        assert not holds(Condition(kind="expression", text=text), PLAIN)


@given(expressions.filter(lambda text: len(text) <= MAX_LENGTH), summaries)
def test_every_expression_has_an_answer_for_every_summary(text: str, summary: Summary | None) -> None:
    assert why_not(text) == ""
    assert holds(Condition(kind="expression", text=text), summary) in (True, False)


@given(st.floats(-1e6, 1e6), summaries)
def test_above_is_the_expression_that_says_so(number: float, summary: Summary | None) -> None:
    text = f"absmax > {number!r}"
    by_text = holds(Condition(kind="expression", text=text), summary)
    assert holds(Condition(kind="above", number=number), summary) == by_text


@given(summaries.filter(lambda summary: summary is not None and summary.rms is not None))
def test_norm_is_rms_by_the_root_of_the_count(summary: Summary) -> None:
    assert summary.rms is not None
    norm = summary.rms * math.sqrt(math.prod(summary.shape))
    assert expression(f"norm == {norm!r}", summary)


def test_a_condition_is_described_in_a_few_words() -> None:
    assert describe(Condition()) == "always"
    assert describe(Condition(kind="not_finite")) == "NaN or inf"
    assert describe(Condition(kind="above", number=10)) == "largest magnitude > 10"
    assert describe(Condition(kind="shape_differs", shape=(2, 3))) == "shape differs from (2, 3)"
    assert describe(Condition(kind="expression", text=" norm > 1 ")) == "norm > 1"
