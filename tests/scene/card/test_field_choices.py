"""Whose dimensions a field counts in, and what a switch turns to."""

import pytest

from gradstudio.operators.catalogue.loader import load
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.protocol.messages.records import ArrayRecord, Summary, TensorRecord
from gradstudio.scene.card.field_choices import is_switch, sizes_of, toggle_literal
from tests.helpers.drawing import Drawing


def tensor(*sizes: int) -> TensorRecord:
    return TensorRecord(device="cpu", summary=Summary(dtype="float32", shape=sizes))


def test_dimensions_are_those_of_the_tensor_that_is_wired_into_it(drawing: Drawing) -> None:
    x, y = drawing.chain("torch.randn", "torch.sum")
    assert sizes_of(drawing.graph, drawing.results, y) is None
    drawing.results.records[x] = (tensor(2, 3),)
    assert sizes_of(drawing.graph, drawing.results, y) == (2, 3)
    assert sizes_of(drawing.graph, drawing.results, x) is None


def test_what_is_expected_now_counts_before_what_ran_once(drawing: Drawing) -> None:
    x, y = drawing.chain("torch.randn", "torch.sum")
    drawing.results.records[x] = (tensor(2, 3),)
    drawing.results.expected[x] = PortInference(node=x, shape=(4, 5, 6))
    assert sizes_of(drawing.graph, drawing.results, y) == (4, 5, 6)
    drawing.results.expected[x] = PortInference(node=x, refusal="unknown")
    assert sizes_of(drawing.graph, drawing.results, y) == (2, 3)


def test_an_array_has_sizes_as_well(drawing: Drawing) -> None:
    x, y = drawing.chain("torch.randn", "torch.sum")
    drawing.results.records[x] = (ArrayRecord(dtype="float64", shape=(7,)),)
    assert sizes_of(drawing.graph, drawing.results, y) == (7,)


def test_where_a_dimension_is_added_it_is_counted_in_the_result(drawing: Drawing) -> None:
    x, y = drawing.chain("torch.randn", "torch.unsqueeze")
    drawing.results.records.update({x: (tensor(2, 3),), y: (tensor(2, 1, 3),)})
    assert sizes_of(drawing.graph, drawing.results, y) == (2, 1, 3)


@pytest.mark.parametrize(
    ("literal", "default", "other"),
    [
        ("", "False", "True"),
        ("True", "False", ""),
        ("False", "True", ""),
        ("", "True", "False"),
        ("", None, "True"),
        ("True", None, "False"),
    ],
)
def test_a_switch_leaves_the_default_unsaid(literal: str, default: str | None, other: str) -> None:
    assert toggle_literal(literal, default) == other


def test_a_switch_is_a_flag_without_a_third_value() -> None:
    flags = {one.name: is_switch(one) for one in load()["torch.sum"].parameters}
    assert flags["keepdim"]
    assert not flags["dim"]
