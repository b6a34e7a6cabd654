"""Colour by: places on a scale, colours of words, and figures with their unit."""

import pytest

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.debugging import NodeMemory
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.scene.colour_scale import MAX_KINDS, colour_scale, with_unit
from tests.helpers.drawing import GivenResults

A, B, C, D = (ItemId(name) for name in "abcd")


class Run(GivenResults):
    """Times and bytes by node."""

    def __init__(self, **figures: float) -> None:
        super().__init__()
        self.figures = figures

    def seconds(self, node: ItemId) -> tuple[float, float]:
        return self.figures.get(node, 0.0), 0.0

    def node_memory(self, node: ItemId) -> NodeMemory | None:
        if node not in self.figures:
            return None
        alive = int(self.figures[node])
        return NodeMemory(node=node, alive_bytes=alive, freed_step=0 if alive else 7)


def test_a_figure_has_its_place_between_the_least_and_the_largest_by_powers() -> None:
    scale = colour_scale("time_forward", Run(a=1e-3, b=1e-2, c=1e-1), (A, B, C, D))
    assert [scale.share(item) for item in (A, B, C)] == pytest.approx([0.0, 0.5, 1.0])
    assert scale.share(D) is None
    assert [scale.text(item) for item in (A, C, D)] == ["1 ms", "100 ms", ""]
    assert scale.is_scale


def test_where_all_figures_are_one_the_colour_is_that_of_the_middle() -> None:
    assert colour_scale("time_forward", Run(a=2.0, b=2.0), (A, B)).share(A) == 0.5


def test_zero_has_a_colour_of_its_own_and_says_what_it_means() -> None:
    scale = colour_scale("alive_bytes", Run(a=0, b=4096), (A, B))
    assert (scale.is_zero(A), scale.is_zero(B), scale.share(A)) == (True, False, None)
    assert scale.zero_text.endswith(": freed")
    assert scale.text(B) == "4 KiB"
    assert colour_scale("alive_bytes", Run(b=4096), (B,)).zero_text == ""


def test_words_have_colours_in_the_order_of_the_legend_and_the_last_is_shared() -> None:
    results = GivenResults()
    items = [ItemId(f"n{k}") for k in range(MAX_KINDS + 2)]
    for k, item in enumerate(items):
        results.records[item] = (TensorRecord(device=f"cuda:{k}", summary=Summary(dtype="float32", shape=())),)
    scale = colour_scale("device", results, items)
    assert not scale.is_scale
    assert [scale.kind(item) for item in items] == [*range(MAX_KINDS), MAX_KINDS - 1, MAX_KINDS - 1]
    assert scale.kind(A) is None
    assert scale.text(items[1]) == "cuda:1"
    assert scale.share(items[1]) is None


@pytest.mark.parametrize(
    ("figure", "unit", "text"),
    [(3.2, "s", "3.2 s"), (1.25e-3, "s", "1.25 ms"), (1.2e-5, "s", "12 µs"), ("cpu", "", "cpu"), (0.5, "", "0.5")],
)
def test_figures_have_their_unit(figure: float | str, unit: str, text: str) -> None:
    assert with_unit(figure, unit) == text
