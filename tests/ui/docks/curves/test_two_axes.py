"""Two axes of values in the Curves dock: which curve stands on which; hand, logarithm and pictures hold for both."""

import csv
import io
import struct
from collections.abc import Iterator
from xml.etree import ElementTree

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.progress import Curve, CurveKey, Turned
from gradstudio.ui.docks.curves.curve_axes import Side, choose_sides
from gradstudio.ui.docks.curves.curve_plot import CurvePlot
from gradstudio.ui.docks.curves.panel import CurvesPanel
from gradstudio.ui.state.results.curve_store import BesideCurve
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme

LOOP = ItemId("loop")
LEFT, RIGHT = Side.LEFT, Side.RIGHT
CURVES = {"loss": [2.0, 1.5, 1.0, 0.5], "norm": [4.0, 3.0, 2.0, 1.0], "lr": [0.1, 0.01, 0.001, 0.001]}
NOTCH = 120


@pytest.fixture
def panel(qtbot: QtBot, session: Session, dark: Theme) -> Iterator[CurvesPanel]:
    made = CurvesPanel(session, dark)
    qtbot.addWidget(made)
    made.resize(700, 300)
    made.show()
    yield made
    if made.plot is not None:
        made.plot.close()
        made.plot.deleteLater()


@pytest.fixture
def plot(qtbot: QtBot, session: Session, panel: CurvesPanel) -> CurvePlot:
    with qtbot.waitSignal(session.results.tables.curves.changed):
        tell(session, CURVES)
    assert panel.plot is not None
    panel.plot.grab()
    return panel.plot


def tell(session: Session, curves: dict[str, list[float]]) -> None:
    told = tuple(
        Curve(key=CurveKey(node=ItemId(title)), data=struct.pack(f"<{len(values)}d", *values))
        for title, values in curves.items()
    )
    session.results.tables.add_turns(Turned(loop=LOOP, number=4, curves=told))


def ranges(plot: CurvePlot) -> list[list[float]]:
    return [list(box.viewRange()[1]) for box in (plot.getPlotItem().getViewBox(), plot.right)]


def wheel(plot: CurvePlot, scene_pos: QPointF) -> None:
    at = QPointF(plot.mapFromScene(scene_pos))
    everywhere = QPointF(plot.viewport().mapToGlobal(at))
    turn = QPoint(0, NOTCH)
    none, phase = Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase
    event = QWheelEvent(at, everywhere, QPoint(), turn, Qt.MouseButton.NoButton, none, phase, False)
    QApplication.sendEvent(plot.viewport(), event)


@pytest.mark.parametrize(
    ("largest", "sides"),
    [
        ({"loss": 2.0, "grad": 19.0, "lr": 0.1}, [LEFT, LEFT, RIGHT]),
        ({"loss": 2.0, "steps": 21.0}, [LEFT, RIGHT]),
        ({"loss": 0.9, "accuracy": 0.9, "val_loss": 1.0}, [LEFT, RIGHT, LEFT]),
        ({"accuracy": 0.9, "val_acc": 0.8}, [LEFT, LEFT]),
        ({"loss": 2.0, "accuracy": 0.9, "errors": 150.0}, [LEFT, LEFT, RIGHT]),
        ({"loss": 2.0, "accuracy": 0.9, "lr": 0.1}, [LEFT, RIGHT, RIGHT]),
        ({"loss": 2.0, "lr": 1e-4, "rms": 40.0}, [LEFT, RIGHT, LEFT]),
        ({"loss": 2.0, "warmed_lr": 0.0}, [LEFT, LEFT]),
        ({}, []),
    ],
)
def test_a_curve_stands_apart_by_itself_where_it_could_not_be_read(
    largest: dict[str, float], sides: list[Side]
) -> None:
    assert list(choose_sides(largest, {}, {}).values()) == sides


def test_what_was_chosen_holds_and_what_stood_apart_stays() -> None:
    largest = {"loss": 2.0, "lr": 0.1}
    assert choose_sides(largest, {"loss": RIGHT}, {}) == {"loss": RIGHT, "lr": LEFT}
    assert choose_sides(largest, {"lr": LEFT}, {"lr": RIGHT}) == {"loss": LEFT, "lr": LEFT}
    assert set(choose_sides(largest, dict.fromkeys(largest, RIGHT), {}).values()) == {RIGHT}
    near = {"loss": 2.0, "lr": 0.5}
    assert choose_sides(near, {}, {"lr": RIGHT}) == {"loss": LEFT, "lr": RIGHT}, "no curve jumps to and fro"
    assert choose_sides(near, {}, {}) == {"loss": LEFT, "lr": LEFT}


def test_a_rate_is_drawn_by_an_axis_of_its_own_range(plot: CurvePlot) -> None:
    assert list(plot.sides.values()) == [LEFT, LEFT, RIGHT]
    (low, high), (least, most) = ranges(plot)
    assert low < 0.5 and 4 < high < 5 and least < 0.001 and 0.1 < most < 0.12
    (_, rate) = plot._curves[LOOP, CurveKey(node=ItemId("lr"))]
    top = plot.right.mapViewToScene(QPointF(1, 0.1)).y()
    assert abs(rate.mapToScene(QPointF(1, 0.1)).y() - top) < 0.01
    assert top < plot.right.mapViewToScene(QPointF(1, 0.01)).y() - 100, "it has the height of the plot"
    right = plot.getPlotItem().getAxis("right")
    assert right.textPen().color() == rate.opts["pen"].color()
    assert [label.text for _, label in plot.legend.items] == ["loss", "norm", "lr →"]


def test_the_axis_of_a_curve_is_chosen_in_its_menu(panel: CurvesPanel, plot: CurvePlot) -> None:
    def choose(title: str, words: str) -> None:
        actions = {action.text(): action for action in panel.axes_menu.of_curve(title).actions()}
        assert actions[words].isCheckable() and not actions[words].isChecked()
        actions[words].trigger()
        plot.grab()
        assert plot.sides.keys() == CURVES.keys()

    choose("norm", "Right axis")
    assert list(plot.sides.values()) == [LEFT, RIGHT, RIGHT] and ranges(plot)[1][1] > 4
    choose("lr", "Left axis")
    assert list(plot.sides.values()) == [LEFT, RIGHT, LEFT]
    choose("norm", "By itself")
    assert list(plot.sides.values()) == [LEFT, LEFT, LEFT]
    assert not plot.getPlotItem().getAxis("right").isVisible() and not plot.right.addedItems
    for title in CURVES:
        choose(title, "Right axis")
    assert len(plot.legend.items) == 3
    plot.grab()
    assert plot.getPlotItem().getViewBox().viewRange()[0][1] >= 4, "turns of what stands at the right are seen, too"


def test_the_right_button_on_a_name_opens_the_menu_of_its_curve(panel: CurvesPanel, plot: CurvePlot) -> None:
    asked: list[str] = []
    plot.menu_asked.disconnect()
    plot.menu_asked.connect(lambda title, _place: asked.append(title))
    picked: list[float] = []
    plot.picked.connect(picked.append)
    name = plot.legend.items[2][1].sceneBoundingRect().center()
    middle = plot.getPlotItem().getViewBox().sceneBoundingRect().center()
    for scene_pos in (name, middle):
        QTest.mouseClick(plot.viewport(), Qt.MouseButton.RightButton, pos=plot.mapFromScene(scene_pos))
    assert asked == ["lr", ""] and picked == []
    assert panel.axes_menu.of_curve("") is panel.axes_menu


def test_the_wheel_over_the_plot_zooms_both_axes_and_over_an_axis_only_that(plot: CurvePlot) -> None:
    before = ranges(plot)
    box = plot.getPlotItem().getViewBox().sceneBoundingRect()
    wheel(plot, box.center())
    shares = [(new[1] - new[0]) / (old[1] - old[0]) for old, new in zip(before, ranges(plot), strict=True)]
    assert shares[0] < 0.95 and shares[1] == pytest.approx(shares[0])
    before = ranges(plot)
    wheel(plot, plot.getPlotItem().getAxis("right").sceneBoundingRect().center())
    left, right = ranges(plot)
    assert left == before[0] and right[1] - right[0] < before[1][1] - before[1][0]
    plot.show_all()
    plot.grab()
    assert ranges(plot)[1][1] > 0.1 and ranges(plot)[0][1] > 4


def test_a_drag_moves_both_axes_by_the_same_pixels(plot: CurvePlot) -> None:
    box = plot.getPlotItem().getViewBox()
    before = [one.mapViewToScene(QPointF(1, value)).y() for one, value in ((box, 2.0), (plot.right, 0.01))]
    at, button = plot.mapFromScene(box.sceneBoundingRect().center()), Qt.MouseButton.LeftButton
    QTest.mousePress(plot.viewport(), button, pos=at)
    for step in (10, 20, 30):
        QTest.mouseMove(plot.viewport(), at + QPoint(0, step))
    QTest.mouseRelease(plot.viewport(), button, pos=at + QPoint(0, 30))
    after = [one.mapViewToScene(QPointF(1, value)).y() for one, value in ((box, 2.0), (plot.right, 0.01))]
    moved = [new - old for old, new in zip(before, after, strict=True)]
    assert moved[0] > 5 and moved[1] == pytest.approx(moved[0], abs=0.5)


def test_each_axis_has_its_own_logarithm(panel: CurvesPanel, plot: CurvePlot) -> None:
    def modes() -> list[bool]:
        return [plot.getPlotItem().getAxis(side).logMode for side in ("left", "right")]

    lines = [line for _, line in plot._curves.values()]
    panel.log.click()
    assert modes() == [True, False] and lines[2].getData()[1].tolist() == CURVES["lr"]
    panel.axes_menu.fill()
    next(one for one in panel.axes_menu.actions() if one.text() == "Logarithmic at the right").trigger()
    assert modes() == [True, True]
    assert lines[2].getData()[1].tolist() == np.log10(CURVES["lr"]).tolist()
    plot.grab()
    assert ranges(plot)[1] == pytest.approx([-3, -1], abs=0.2)
    panel.log.click()
    assert modes() == [False, True] and lines[0].getData()[1].tolist() == CURVES["loss"]


def test_smoothing_pointer_table_and_picture_hold_for_both(panel: CurvesPanel, plot: CurvePlot) -> None:
    panel.smoothing.setCurrentIndex(1)
    whole, line = plot._curves[LOOP, CurveKey(node=ItemId("lr"))]
    assert whole.getOriginalDataset()[1].tolist() == CURVES["lr"]
    assert line.getOriginalDataset()[1].tolist() == pytest.approx([0.1, 0.055, 0.037, 0.028])
    assert {one in plot.right.addedItems for one in (whole, line)} == {True}
    plot.pointer.point(2.0, QPoint(5, 5))
    assert "lr → <b>0.055</b>" in plot.pointer.label.text() and "loss <b>1.75</b>" in plot.pointer.label.text()
    assert next(csv.reader(io.StringIO(panel.csv()))) == ["turn", "loss", "norm", "lr"]
    root = ElementTree.fromstring(panel.picture("svg"))
    texts = ["".join(one.itertext()).strip() for one in root.iter() if one.tag.endswith("}text")]
    assert "lr →" in texts and "0.05" in texts, texts


def test_the_same_value_of_another_run_stands_on_the_same_axis(qtbot: QtBot, session: Session, plot: CurvePlot) -> None:
    other = np.arange(1.0, 4.0)
    session.results.tables.curves.put_beside((BesideCurve(0, "b", "lr", other, other / 20),))
    qtbot.waitUntil(lambda: len(plot.legend.items) == 4)
    (beside,) = plot._beside
    assert beside in plot.right.addedItems
    plot.grab()
    assert ranges(plot)[1][1] > 0.15
    session.results.tables.curves.put_beside(())
    qtbot.waitUntil(lambda: len(plot.legend.items) == 3 and beside not in plot.right.addedItems)
