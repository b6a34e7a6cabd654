"""How numbers are written on a card."""

import math

import pytest

from gradstudio.protocol.messages.records import PlainRecord, Summary, TupleRecord
from gradstudio.scene import value_format as f


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (8.0, "8"),
        (0.5, "0.5"),
        (0.10000000149011612, "0.1"),
        (2.3714285, "2.371"),
        (33.333333, "33.33"),
        (0.99999, "1.000"),
        (1e-5, "1.00e-5"),
        (12345.678, "1.23e4"),
        (-0.0001, "-0.0001"),
        (0.0, "0"),
        (3, "3"),
        (1234567, "1234567"),
        (9007199254740993, "9.007e15"),
        (True, "True"),
        (math.nan, "NaN"),
        ("nan", "NaN"),
        ("-inf", "−∞"),
        (math.inf, "∞"),
        ([1.0, -2.5], "1-2.5j"),
        ([0.0, 1.0], "0+1j"),
        (None, "None"),
    ],
)
def test_numbers_keep_four_digits_and_integers_gain_no_point(value: object, text: str) -> None:
    assert f.number(value) == text


def test_a_scalar_s_shape_is_empty_brackets() -> None:
    assert f.shape(()) == "[]"
    assert f.shape((2, 3)) == "[2, 3]"


@pytest.mark.parametrize(
    ("shape", "written"),
    [((), True), ((10,), True), ((11,), False), ((4, 4), True), ((5, 4), False), ((0, 3), False), ((1, 2, 2), False)],
)
def test_small_tensors_are_written_out(shape: tuple[int, ...], written: bool) -> None:
    assert f.has_all_elements(shape) is written


def test_what_is_not_finite_is_said_with_its_share() -> None:
    summary = Summary(dtype="float32", shape=(10, 20), nan=66, posinf=2)
    assert f.oddities(summary) == "33 % NaN, 1 % +∞"
    assert f.oddities(Summary(dtype="float32", shape=(3,), nan=1)) == "1 NaN"
    assert f.oddities(Summary(dtype="float32", shape=(3,))) == ""


def test_the_norm_follows_from_the_rms() -> None:
    assert f.norm(Summary(dtype="float32", shape=(4,), rms=1.5)) == "3"


def test_a_sampled_range_is_marked() -> None:
    summary = Summary(dtype="float32", shape=(4096, 8192), minimum=-1.0, maximum=2.5, sampled=True)
    assert f.extent(summary) == "~-1 … 2.5"
    assert f.extent(Summary(dtype="int64", shape=(30,), minimum=0, maximum=0)) == "all 0"


def test_plain_values_are_one_line() -> None:
    assert f.one_line_value(PlainRecord(what="number", class_name="float", value=0.25)) == "0.25"
    pair = TupleRecord(class_name="tuple", length=2, items=(PlainRecord(what="number", class_name="int", value=2),) * 2)
    assert f.one_line_value(pair) == "(2, 2)"
    half = PlainRecord(what="number", class_name="float", value=0.5)
    assert f.one_line_value(TupleRecord(class_name="list", length=1, items=(half,))) == "[0.5]"
    assert f.one_line_value(TupleRecord(class_name="tuple", length=1, items=(half,))) == "(0.5,)"
    assert f.one_line_value(TupleRecord(class_name="list", length=0)) == "[]"
    many = TupleRecord(class_name="list", length=2000, items=(half,) * 64)
    assert f.one_line_value(many) == "2,000 items: 0.5, 0.5, 0.5, 0.5, …"


def test_sizes_have_binary_units() -> None:
    assert f.size(512) == "512 B"
    assert f.size(1536) == "1.5 KiB"


def test_columns_have_equal_decimals() -> None:
    matrix = Summary(dtype="float32", shape=(2, 2), value=[[0.5, -12.25], [1.0, 3.0]])
    assert f.cells(matrix, 5) == (("0.5", "-12.25"), ("1.0", "3.00"))
    vector = Summary(dtype="float32", shape=(3,), value=[0.123456, -1.5, 20.0])
    assert f.cells(vector, 5, 3) == (("0.12", "-1.50", "20.00"),)
    whole = Summary(dtype="float32", shape=(6,), value=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert f.cells(whole, 5) == (("1", "2", "3", "4", "5"), ("6",))


def test_numbers_below_a_hundred_keep_a_digit_behind_the_point_where_room_is_short() -> None:
    matrix = Summary(dtype="float32", shape=(2, 2), value=[[-1.9, -0.4], [-12.1, 0.3]])
    assert f.cells(matrix, 5, 2) == (("-1.9", "-0.4"), ("-12.1", "0.3"))


@pytest.mark.parametrize("digits", [4, 3])
def test_a_column_that_is_rounded_keeps_two_decimals_or_says_so(digits: int) -> None:
    vector = Summary(dtype="float32", shape=(2,), value=[-3.25, 1234.5])
    assert f.cells(vector, 5, digits) == (("-3.25", "1234.50"),)
    coarse = f.cells(vector, 5, 2)
    assert f.are_coarse(vector, coarse, 2) and not f.are_coarse(vector, f.cells(vector, 5, digits), digits)
    exact = Summary(dtype="float32", shape=(2,), value=[-3.0, 12.5])
    assert not f.are_coarse(exact, f.cells(exact, 5, 2), 2)


def test_a_range_has_shorter_wordings() -> None:
    summary = Summary(dtype="float32", shape=(64, 64), minimum=-0.0154321, maximum=0.0153456)
    assert f.extents(summary) == ("-0.0154 … 0.0153", "-0.0154…0.0153", "≈-0.015…0.015")


def test_no_wording_of_a_range_or_a_norm_has_a_single_digit() -> None:
    summary = Summary(dtype="float32", shape=(64, 64), minimum=0.0035, maximum=1.69, rms=0.0566 / 64)
    for words in f.extents(summary):
        least, most = (float(text) for text in words.removeprefix("≈").replace("…", " ").split())
        assert least == pytest.approx(0.0035, rel=0.05) and most == pytest.approx(1.69, rel=0.05)
    assert f.norm_words(summary) == "‖∇‖ 0.0566"


def test_where_all_are_equal_a_sign_says_so_before_a_digit_is_left_out() -> None:
    equal = Summary(dtype="float32", shape=(5, 2), minimum=0.1, maximum=0.1, rms=0.1)
    assert f.extents(equal) == ("all 0.1", "≡0.1")
    equal = Summary(dtype="float32", shape=(3,), minimum=0.0154, maximum=0.0154, rms=0.0154)
    assert f.extents(equal) == ("all 0.0154", "≡0.0154")


@pytest.mark.parametrize("digits", [4, 3, 2])
def test_what_is_not_zero_is_not_written_as_zero(digits: int) -> None:
    value = [[0.5, -0.0031, 0.0], [3e-7, 0.0042, 12.0]]
    cells = f.cells(Summary(dtype="float32", shape=(2, 3), value=value), 5, digits)
    for row, texts in zip(value, cells, strict=True):
        assert [float(text) == 0 for text in texts] == [number == 0 for number in row]
    assert cells[1][0] in ("3.00e-7", "3.0e-7", "3e-7")


def test_zero_has_no_sign_and_columns_share_the_digits_of_the_whole_matrix() -> None:
    matrix = Summary(dtype="float32", shape=(2, 2), value=[[-0.0, 3.14159265], [6.0, -12.3456789]])
    assert f.cells(matrix, 5, 3) == (("0", "3.14"), ("6", "-12.35"))


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_one_element_of_any_shape_is_a_number_with_its_sign(shape: tuple[int, ...]) -> None:
    value: object = -1.5
    for _ in shape:
        value = [value]
    summary = Summary(dtype="float32", shape=shape, value=value, minimum=-1.5, maximum=-1.5, rms=1.5)
    assert f.single(summary) == -1.5
    assert f.number_or_norm(summary) == "-1.5"
    assert not f.is_uniform(summary)
    assert f.extents(summary) == ("-1.5",), "one number, neither a range nor all of several"
    unkept = Summary(dtype="float32", shape=shape, minimum=-1.5, maximum=-1.5, rms=1.5)
    assert f.number_or_norm(unkept) == "-1.5"


def test_a_complex_element_is_one_number_and_several_are_a_norm() -> None:
    one = Summary(dtype="complex64", shape=(1,), value=[[1.0, -2.5]], rms=2.69)
    assert f.number_or_norm(one) == "1-2.5j"
    assert f.number_or_norm(Summary(dtype="float32", shape=(4,), rms=1.5)) == "‖∇‖ 3"
    assert f.single(Summary(dtype="float32", shape=(0,))) is None


def test_the_norm_of_what_holds_a_nan_is_nan() -> None:
    assert f.norm(Summary(dtype="float32", shape=(3,), nan=1, posinf=1, rms=0.4)) == "NaN"
    assert f.norm(Summary(dtype="float32", shape=(3,), neginf=1, rms=0.4)) == "∞"
    assert f.norm(Summary(dtype="float32", shape=(4,), rms=1.5, sampled=True)) == "~3"


def test_numbers_that_rounding_keeps_from_adding_up_are_about_their_sum() -> None:
    assert f.sum_mark(["12.76", "2"], "14.76") == "="
    assert f.sum_mark(["0.3333", "0.3333"], "0.6667") == "≈"
    assert f.sum_mark(["∞", "2"], "∞") == "="
