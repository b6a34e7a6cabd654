"""Charts on cards: shown by a key, drawn while a loop learns, undone, kept in the file."""

import pytest
import torch
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from gradstudio.document import file
from gradstudio.graph.model import ChartKind, ItemId
from gradstudio.protocol.messages.charts import SIDE, BoundaryDrawn, CurveShown, NoChart
from gradstudio.protocol.messages.progress import CurveKey
from gradstudio.ui import theme as themes
from gradstudio.ui.canvas.paint.chart.captions import caption
from gradstudio.ui.canvas.paint.chart.curve_painter import COLUMNS, thinned
from gradstudio.ui.canvas.paint.chart.plane_painter import BELOW_POINTS, colours, plane_image
from gradstudio.ui.state.results.chart_store import MOST, NO_NUMBER, NO_TURN, WAITING, ChartStore
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


def curve_of(desk: Desk, name: str) -> CurveShown:
    found = desk.session.results.chart(desk.node(name))
    assert isinstance(found, CurveShown)
    return found


def show_curves(desk: Desk, *names: str) -> None:
    for name in names:
        desk.click(name)
        desk.window.actions["edit.chart_curve"].trigger()


def why_none(desk: Desk, name: str) -> str:
    found = desk.session.results.chart(desk.node(name))
    return found.why if isinstance(found, NoChart) else ""


def trained() -> tuple[list[float], list[float]]:
    """The losses and the norms of the predictions, as plain torch has them."""
    losses, norms = [], []
    text = LEARNING.replace(
        "    loss.backward()", "    losses.append(loss.item()); norms.append(pred.norm().item())\n    loss.backward()"
    )
    exec(text, {"losses": losses, "norms": norms})
    return losses, norms


def test_a_curve_on_a_card_is_of_its_value_or_norm_of_every_turn_and_the_moment_stands_on_it(desk: Desk) -> None:
    show_curves(desk, "loss", "pred", "optimizer")
    assert (why_none(desk, "loss"), why_none(desk, "pred")) == (NO_TURN, NO_TURN)
    desk.until(lambda: desk.session.results.inference(desk.node("pred")) is not None)
    desk.key(Key.Key_F5)
    desk.until(lambda: desk.session.run.state.at_end)
    desk.rest()
    losses, norms = trained()
    loss, norm = curve_of(desk, "loss"), curve_of(desk, "pred")
    assert loss.values.tolist() == pytest.approx(losses, rel=1e-6) and loss.turns.tolist() == [*range(200)]
    assert norm.key.figure == "norm" and norm.values.tolist() == pytest.approx(norms, rel=1e-5)
    assert caption(loss)[0] == f"{losses[-1]:.4g} at turn 200" and caption(norm)[0].startswith("norm ")
    assert why_none(desk, "optimizer") == NO_NUMBER
    tick = desk.session.results.timeline.made_at(desk.node("loss"), None, (2,))
    assert tick is not None
    desk.session.attention.look_at(tick)
    assert curve_of(desk, "loss").looked_at == 2 and caption(curve_of(desk, "loss"))[0] == f"{losses[2]:.4g} at turn 3"
    rate = CurveKey(node=desk.node("optimizer"), figure="rate")
    desk.session.results.tables.curves.want((rate,))
    desk.session.attention.look_at(None)
    desk.key(Key.Key_F5)
    desk.until(lambda: desk.session.run.state.at_end and not why_none(desk, "optimizer"))
    shown_rate = curve_of(desk, "optimizer")
    assert shown_rate.key == rate and set(shown_rate.values.tolist()) == {0.5}


def test_no_extreme_of_a_long_curve_is_lost_on_a_card() -> None:
    values = torch.rand(100_000, dtype=torch.float64).numpy()
    values[54_321], values[77_777], values[10] = 9.0, -9.0, float("nan")
    turns, seen = thinned(CurveShown(CurveKey(node=ItemId("n")), torch.arange(100_000.0).numpy(), values))
    assert len(seen) <= 2 * COLUMNS + 2 and (seen.max(), seen.min()) == (9.0, -9.0)
    assert (turns[0], turns[-1], turns[seen.argmax()]) == (0, 99_999, 54_321)
