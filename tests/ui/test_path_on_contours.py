"""The path on the contours of the loss: shown by a command, live, back in time, and painted where its numbers are."""

import struct
from itertools import pairwise

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.charts import SIDE, DescentDrawn, NoChart, WantedChart
from gradstudio.ui.canvas.paint.chart.captions import caption
from gradstudio.ui.canvas.paint.chart.contour_painter import across_places, contour_image
from gradstudio.ui.state.results.chart_store import ChartStore
from tests.ui.desk import Desk

WANTED: tuple[WantedChart, WantedChart] = ((ItemId("n"), "path"), (ItemId("m"), "path"))
BOWL = """import torch
w = torch.tensor([-3.0, 1.0], requires_grad=True)
for turn in range(20):
    loss = (w[0] - 1) ** 2 + 3 * (w[1] + 1) ** 2
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
"""


@pytest.fixture(autouse=True)
def _bowl(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open(BOWL)
    desk.window.canvas.setFocus()
    desk.click("w")
    desk.window.actions["edit.chart_path"].trigger()
    assert isinstance(desk.session.results.chart(desk.node("w")), NoChart)
    desk.key(Qt.Key.Key_F5)
    desk.until(lambda: desk.session.run.state.at_end)
    desk.rest()


def descent(wanted: WantedChart, step: int) -> DescentDrawn:
    return DescentDrawn(node=wanted[0], step=step, path=bytes(8 * step), steps=tuple(range(1, step + 1)))


def shown(desk: Desk) -> DescentDrawn:
    found = desk.session.results.chart(desk.node("w"))
    assert isinstance(found, DescentDrawn), found
    return found


def test_a_run_draws_the_path_and_at_an_earlier_moment_it_ends_there(desk: Desk) -> None:
    now = shown(desk)
    assert len(now.steps) == 21 and caption(now)[0].startswith("loss 0.0021")
    tick = desk.session.results.timeline.made_at(desk.node("loss"), None, (2,))
    assert tick is not None
    desk.session.attention.look_at(tick)
    then = shown(desk)
    assert then.levels == now.levels and len(then.steps) == 3, "two turns are over"
    assert shown(desk) is then, "what is painted is kept as long as the same is looked at"
    assert now.path.startswith(then.path) and caption(then) != caption(now)


def test_within_a_backward_the_path_ends_behind_the_turn_before_it(desk: Desk) -> None:
    shown(desk)
    results = desk.session.results
    inside = [tick for tick in results.timeline.ticks if tick.autograd is not None and tick.backward == 3]
    statement = next(tick for tick in results.timeline.ticks[inside[-1].index :] if tick.row is not None)
    for tick in (*inside, statement):
        desk.session.attention.look_at(tick.index)
        assert len(shown(desk).steps) == 3, "the third turn is not over"


@pytest.mark.parametrize("widths", [(30.0, 20.0, 30.0), (45.0, 30.0, 45.0), (70.0, 30.0, 70.0)])
def test_no_words_at_the_axis_are_written_over_others(widths: tuple[float, float, float]) -> None:
    places = across_places(60.0, 170.0, widths)
    words = [(x, x + width) for x, width in zip(places, widths, strict=True) if x is not None]
    assert all(end < begin for (_, end), (begin, _) in pairwise(words))
    assert words[-1][1] == 170.0 and (len(words) == 3) == (widths[0] == 30.0)


def test_the_path_is_painted_where_the_numbers_were(desk: Desk) -> None:
    drawn = shown(desk)
    theme = desk.window.canvas.canvas_style.theme
    image = contour_image(drawn, theme)
    left, right, low, high = drawn.span
    *_, (x, y) = struct.iter_unpack("<2f", drawn.path)
    across, down = (x - left) / (right - left) * image.width(), (high - y) / (high - low) * image.height()
    assert image.pixelColor(round(across), round(down)) == theme.color("heat_negative")
    assert image.pixelColor(2, 2) != image.pixelColor(image.width() // 2, image.height() // 2)
    assert drawn.side == SIDE


def test_of_a_path_the_newest_alone_is_kept() -> None:
    store, wanted = ChartStore(), WANTED[0]
    for step in range(1, 20):
        store.add(descent(wanted, step))
    first = store.at(wanted, 3)
    assert isinstance(first, DescentDrawn) and first.steps == (1, 2, 3) and first.step == 19


def test_of_two_paths_looked_back_at_neither_is_made_anew() -> None:
    store = ChartStore()
    for wanted in WANTED:
        store.add(descent(wanted, 19))
    first, second = (store.at(wanted, 3) for wanted in WANTED)
    assert store.at(WANTED[0], 3) is first and store.at(WANTED[1], 3) is second
