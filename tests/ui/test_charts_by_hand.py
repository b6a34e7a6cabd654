"""Charts on cards: shown by a key, drawn while a loop learns, undone, kept in the file."""

import pytest
import torch
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from gradstudio.document import file
from gradstudio.graph.model import ChartKind, ItemId
from gradstudio.protocol.messages.charts import SIDE, BoundaryDrawn, NoChart
from gradstudio.ui import theme as themes
from gradstudio.ui.canvas.paint.chart.plane_painter import BELOW_POINTS, colours, plane_image
from gradstudio.ui.state.results.chart_store import MOST, WAITING, ChartStore
from gradstudio.ui.theme import ThemeName
from tests.ui.desk import Desk

BOUNDARY: ChartKind = "boundary"
Key, Shift = Qt.Key, Qt.KeyboardModifier.ShiftModifier
LEARNING = """import torch
from torch import nn
import torch.nn.functional as F
torch.manual_seed(0)
x = torch.randn(64, 2)
y = (x[:, 0] > 0).long()
net = nn.Linear(2, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
for t in range(200):
    pred = net(x)
    loss = F.cross_entropy(pred, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.fixture(autouse=True)
def _fresh_program(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open(LEARNING)
    desk.window.canvas.setFocus()


def shown(desk: Desk) -> BoundaryDrawn:
    found = desk.session.results.chart(desk.node("pred"))
    assert isinstance(found, BoundaryDrawn)
    return found


def reason(desk: Desk) -> str:
    found = desk.session.results.chart(desk.node("pred"))
    return found.why if isinstance(found, NoChart) else ""


def height(desk: Desk) -> float:
    box = desk.window.canvas.scene.placement.room(desk.node("pred"))
    assert box is not None
    return box.height


def side_of(picture: BoundaryDrawn, column: int) -> int:
    return picture.levels[SIDE // 2 * SIDE + column] // picture.shades


def test_a_key_shows_the_boundary_a_run_draws_it_and_undo_takes_it_away(desk: Desk) -> None:
    desk.click("pred")
    assert desk.session.results.chart(desk.node("pred")) is None
    low = height(desk)
    desk.key(Key.Key_P, Shift)
    assert reason(desk) == WAITING and height(desk) > low + 100
    desk.key(Key.Key_F5)
    desk.until(lambda: desk.session.run.state.at_end)
    desk.rest()
    picture = shown(desk)
    assert (picture.side, picture.classes) == (SIDE, 2)
    assert (side_of(picture, 10), side_of(picture, SIDE - 10)) == (0, 1)
    desk.session.graph_store.undo()
    assert desk.session.results.chart(desk.node("pred")) is None and not desk.session.run.state.stale
    desk.session.graph_store.redo()
    desk.rest()
    assert shown(desk).levels  # drawn again: nothing has to run for it


def test_a_boundary_that_is_switched_on_behind_a_run_is_there_at_once_and_is_kept_in_the_file(desk: Desk) -> None:
    desk.key(Key.Key_F5)
    desk.until(lambda: desk.session.run.state.at_end)
    desk.rest()
    desk.click("pred")
    desk.key(Key.Key_P, Shift)
    desk.until(lambda: not reason(desk))
    graph = file.loads(file.dumps(desk.graph))
    assert graph.places[desk.node("pred")].chart == "boundary"


def test_at_an_earlier_moment_the_boundary_is_the_one_of_then(desk: Desk) -> None:
    desk.click("pred")
    desk.key(Key.Key_P, Shift)
    desk.key(Key.Key_F5)
    desk.until(lambda: desk.session.run.state.at_end)
    desk.rest()
    now = shown(desk)
    timeline = desk.session.results.timeline
    tick = timeline.made_at(desk.node("loss"), None, (2,))
    assert tick is not None
    desk.session.attention.look_at(tick)
    then = shown(desk)
    assert then.step < now.step and then.levels != now.levels


def test_the_picture_has_the_colours_of_its_classes_and_the_data_on_it(desk: Desk) -> None:
    theme = desk.window.canvas.canvas_style.theme
    levels = bytes(SIDE * SIDE // 2) + bytes([255]) * (SIDE * SIDE // 2)
    bare = BoundaryDrawn(node=desk.node("pred"), levels=levels, classes=2, span=(-1, 1, -1, 1))
    image = plane_image(bare, theme)
    table = colours(theme, 2, BELOW_POINTS)
    upper, lower = image.pixelColor(200, 40), image.pixelColor(200, 360)
    assert upper == table[0] and lower == table[255] and upper != lower
    dotted = BoundaryDrawn(
        node=bare.node, levels=levels, classes=2, span=(-1, 1, -1, 1), point_levels=b"\xff",
        points=torch.tensor([0.0, 0.5]).numpy().tobytes(),
    )  # fmt: skip
    assert plane_image(dotted, theme).pixelColor(200, 100) == colours(theme, 2)[255]


@pytest.mark.parametrize("name", ["dark", "light"])
def test_at_100_pixels_a_point_has_the_colour_of_its_class(desk: Desk, name: ThemeName) -> None:
    theme = themes.theme(name)
    drawn = BoundaryDrawn(
        node=desk.node("pred"), levels=bytes(SIDE * SIDE), classes=2, span=(-1, 1, -1, 1), point_levels=b"\xff",
        points=torch.tensor([0.01, 0.01]).numpy().tobytes(),
    )  # fmt: skip
    small = plane_image(drawn, theme).scaled(100, 100, mode=Qt.TransformationMode.SmoothTransformation)
    wanted = colours(theme, 2)[255]

    def is_like(seen: QColor) -> bool:
        apart = [wanted.red() - seen.red(), wanted.green() - seen.green(), wanted.blue() - seen.blue()]
        return max(map(abs, apart)) < 60

    around = range(44, 57)
    assert sum(is_like(small.pixelColor(x, y)) for x in around for y in around) >= 6, "not one pixel in a bright rim"


def test_pictures_are_kept_by_place_in_the_run_and_not_without_end() -> None:
    store, node = ChartStore(), ItemId("n")
    wanted = (node, BOUNDARY)
    waiting = store.at(wanted, None)
    assert isinstance(waiting, NoChart) and waiting.why == WAITING
    for step in range(1, 400):
        store.add(BoundaryDrawn(node=node, step=step))
    assert store.at(wanted, None).step == 399
    assert 100 < store.at(wanted, 150).step <= 150
    assert len({store.at(wanted, step).step for step in range(1, 400)}) <= MOST + 1
    store.add(BoundaryDrawn(node=node, step=20))
    assert store.at(wanted, None).step == 20  # the run went back
