"""The report for a person: a line per name, numbers as one would say them."""

import pytest

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import NamedEntry, Report
from gradstudio.protocol.messages.records import (
    GradState,
    ModuleRecord,
    ObjectRecord,
    PlainRecord,
    Record,
    Summary,
    TensorRecord,
    TupleRecord,
)
from gradstudio.protocol.report_table import number, report_table, summary_text

FEW = Summary(dtype="float32", shape=(2,), minimum=1.5, maximum=2.0, mean=1.75, value=(1.5, 2.0))
MANY = Summary(dtype="float32", shape=(4, 5), minimum=-1.0, maximum=2.34567, mean=0.5, nan=3, neginf=1)


def _report(*entries: NamedEntry) -> Report:
    return Report(revision=0, entries=entries)


def table(*records: Record, name: str = "y") -> list[str]:
    entry = NamedEntry(name=name, node=ItemId("n1"), operator="torch.relu", line=1, outputs=records)
    return report_table(_report(entry)).splitlines()


def test_nothing_bound_is_said_in_words() -> None:
    assert report_table(_report()) == "Nothing has a value."
    unbound = NamedEntry(name="g", node=ItemId("n1"), operator="x", line=1)
    assert report_table(_report(unbound)) == "Nothing has a value."


def test_what_functions_bound_is_said_to_be_gone() -> None:
    main = NamedEntry(name="main", node=ItemId(""), operator="", line=0, outputs=(ObjectRecord(class_name="function"),))
    assert "ends with them: --trace --json" in report_table(Report(revision=0, entries=(), defined=(main,)))


def test_a_tensor_stands_in_one_line_under_the_headings() -> None:
    headings, rule, line = table(TensorRecord(device="cpu", summary=FEW, grad_fn="ReluBackward0"))
    assert headings.split() == ["name", "value", "shape", "dtype", "grad_fn", "grad"]
    assert set(rule) == {"-"}
    assert line.split() == ["y", "[1.5,", "2.0]", "(2,)", "float32", "ReluBackward0"]
    assert line.index("float32") == headings.index("dtype")


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("not_run", ""),
        ("not_required", ""),
        ("cut", "cut here"),
        ("not_reached", "not reached"),
        ("not_retained", "not kept"),
    ],
)
def test_a_gradient_that_is_not_there_is_never_a_number(state: GradState, said: str) -> None:
    line = table(TensorRecord(device="cpu", summary=FEW, grad_state=state))[2]
    assert line.partition("float32")[2].strip() == said


@pytest.mark.parametrize(("state", "said"), [("value", "[1.5, 2.0]"), ("accumulated", "[1.5, 2.0] (accumulated)")])
def test_a_gradient_is_told_and_so_is_that_it_accumulated(state: GradState, said: str) -> None:
    line = table(TensorRecord(device="cpu", summary=FEW, grad=FEW, grad_state=state))[2]
    assert line.partition("float32")[2].strip() == said


def test_tuples_and_modules_list_what_they_hold() -> None:
    seven = PlainRecord(what="number", class_name="int", value=7)
    assert [line.split()[0] for line in table(TupleRecord(class_name="tuple", length=2, items=(seven, seven)))[2:]] == [
        "y",
        "y[0]",
        "y[1]",
    ]
    module = ModuleRecord(class_name="Linear", parameters={"weight": TensorRecord(device="cpu", summary=FEW)})
    assert [line.split()[:2] for line in table(module)[2:]] == [["y", "Linear"], ["y.weight", "[1.5,"]]


def test_what_has_no_numbers_has_no_line() -> None:
    assert table(ObjectRecord(class_name="Generator")) == ["Nothing has a value."]


def test_many_values_are_told_by_where_they_lie_and_what_is_odd_among_them() -> None:
    assert summary_text(MANY) == "-1.0 … 2.346, mean 0.5 3 nan 1 -inf"


def test_values_without_an_order_are_counted() -> None:
    assert summary_text(Summary(dtype="complex64", shape=(4, 5))) == "20 values"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (3, "3"),
        (3.0, "3.0"),
        (0.123456, "0.1235"),
        (1e7, "1e7"),
        (float("inf"), "inf"),
        ("nan", "nan"),
        (True, "True"),
        (None, "None"),
    ],
)
def test_a_number_has_four_significant_digits_and_whole_ones_stay_whole(value: object, said: str) -> None:
    assert number(value) == said


@pytest.mark.parametrize(
    ("shape", "value", "said"),
    [
        ((), [1.5, -0.25], "1.5-0.25j"),
        ((2,), [[1.0, 2.0], [3.0, -1.0]], "[1.0+2.0j, 3.0-1.0j]"),
        ((1, 2), [[["nan", 0.0], [0.0, "-inf"]]], "[[nan+0.0j, 0.0-infj]]"),
        ((0,), [], "[]"),
    ],
)
def test_complex_numbers_are_no_pairs_of_reals(shape: tuple[int, ...], value: object, said: str) -> None:
    assert summary_text(Summary(dtype="complex64", shape=shape, value=value)) == said


def test_a_complex_number_of_python_is_none_either() -> None:
    assert "3.0+4.0j" in table(PlainRecord(what="number", class_name="complex", value=[3.0, 4.0]))[2]
    assert (
        "[3.0, 4.0]"
        in table(TensorRecord(device="cpu", summary=Summary(dtype="float32", shape=(2,), value=[3.0, 4.0])))[2]
    )
