"""Titles of frames seen from afar cover nothing and are cut to their frames; names of cards are whole or left out."""

from itertools import combinations

import pytest

from gradstudio.document.python.python_document import read_python
from gradstudio.scene.card.frame_titles import shorten_title, title_from_afar, title_in
from gradstudio.scene.geometry import Box
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.results import NoResults
from gradstudio.scene.scene import Scene
from tests.helpers.drawing import EvenMeasure

NESTED = """
x = torch.ones(3)
# region: outermost (Sequential)
# region: outermost.inner (DoubleConvolution)
y = torch.sin(x)
z = torch.cos(y)
# endregion
# endregion
# region: second (Sequential)
w = torch.cos(z)
# endregion
"""


@pytest.mark.parametrize("zoom", [0.6, 0.4, 0.25, 0.12, 0.06])
def test_titles_cover_no_card_and_no_other_title(zoom: float) -> None:
    meter = EvenMeasure()
    scene = Scene(read_python(NESTED, pasted=True).graph, NoResults(), Shown(), meter)
    covers, cards = [], [Box(a, b, c - a, d - b) for a, b, c, d in scene.placement.bounds.tolist()]
    for frame in scene.placement.frames.values():
        title = title_from_afar(frame, scene, zoom)
        if title is not None:
            width = meter.width(title.text, title.role)
            assert width <= frame.box.width * zoom
            top, height = frame.box.y + title.top / zoom, 11.0 / zoom
            covers.append(Box(frame.box.x, top, width / zoom, min(height, title.height / zoom) - 0.5))
    assert len(scene.placement.frames) == 3
    assert covers or zoom < 0.2
    assert not [pair for pair in combinations(covers, 2) if pair[0].meets(pair[1])]
    assert not [(title, card) for title in covers for card in cards if title.meets(card)]


def test_a_text_of_which_only_a_few_letters_would_be_left_is_left_out() -> None:
    meter = EvenMeasure()
    width = meter.width("model", "plate_small")
    assert shorten_title(meter, "model", "plate_small", width) == "model"
    assert shorten_title(meter, "model", "plate_small", width - 6) == ""
    long = shorten_title(meter, "a_long_name_of_a_card", "plate_small", 60)
    assert long.endswith("…")
    assert len(long) > 4


CHOICE = """
x = torch.ones(3)
big = x.sum() > 1
for _ in range(bool(big)):
    y = x * 2
for _ in range(bool(not big)):
    y = x * 3
for _ in range(bool(x.max() > 2)):
    z = x
for k in range(bool(big)):
    z = x + k
for _ in range(2):
    z = x
"""


def test_a_loop_of_one_turn_or_none_is_called_as_the_if_that_it_is() -> None:
    scene = Scene(read_python(CHOICE, pasted=True).graph, NoResults(), Shown(), EvenMeasure())
    heads = [scene.placement.frames[item].layout for item in scene.graph.order() if item in scene.graph.blocks]
    assert [head.title for head in heads] == [
        "if big:", "if not big:", "if …:", "for k in range(…):", "for _ in range(2):",
    ]  # fmt: skip
    labels = [row.label for head in heads for row in head.inputs if row.path == "range.0"]
    assert labels[:3] == ["if"] * 3
    assert "if" not in labels[3:]


def test_a_title_without_room_leaves_out_what_all_of_its_kind_begin_with() -> None:
    meter, title = EvenMeasure(), "with torch.no_grad():"
    assert title_in(meter, title, "block", meter.width(title, "block")) == title
    assert title_in(meter, title, "block", meter.width(title, "block") - 1) == "no_grad()"
