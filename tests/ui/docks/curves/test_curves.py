"""The Curves dock: losses come by themselves, a click goes to the turn, the table holds every number."""

import csv
import io
import re
import struct
from collections.abc import Iterator
from xml.etree import ElementTree

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.document.event_files import read_events
from gradstudio.graph.edits import AddBlock, AddNode
from gradstudio.graph.model import ROOT, Block, BodyId, ItemId, Node
from gradstudio.graph.recipes import add_operator
from gradstudio.protocol.curve_titles import curve_title
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced, EdgeValue
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.progress import Begin, Curve, CurveKey, Turned
from gradstudio.protocol.messages.records import Nested, OptimizerRecord, PlainRecord, Summary, TensorRecord
from gradstudio.ui.docks.curves.beside_colors import beside_color
from gradstudio.ui.docks.curves.curve_table import smooth
from gradstudio.ui.docks.curves.panel import CurvesPanel
from gradstudio.ui.state.results import curve_store
from gradstudio.ui.state.results.curve_store import BesideCurve, CurveStore
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme

LOOP, LOSS = ItemId("loop"), ItemId("loss")
KEY = CurveKey(node=LOSS)


def turned(first: int, values: list[float], around: tuple[int, ...] | None = None) -> Turned:
    data = struct.pack(f"<{len(values)}d", *values)
    begins = () if around is None else (Begin(around=around, number=first),)
    return Turned(
        loop=LOOP, turn=first + len(values) - 1, number=first + len(values), begins=begins,
        curves=(Curve(key=KEY, data=data),),
    )  # fmt: skip


@pytest.fixture
def panel(qtbot: QtBot, session: Session, dark: Theme) -> Iterator[CurvesPanel]:
    made = CurvesPanel(session, dark)
    qtbot.addWidget(made)
    made.resize(500, 300)
    made.show()
    yield made
    if made.plot is not None:
        made.plot.close()
        made.plot.deleteLater()


def loss_row(turn: int, value: float) -> Row:
    record = TensorRecord(device="cpu", summary=Summary(dtype="float32", shape=(), value=value))
    return Row(step=turn + 1, node=LOSS, outputs=(record,), turns=(turn,))


def test_points_have_the_numbers_of_their_turns_over_all_runs_of_a_loop(session: Session) -> None:
    store = session.results.tables.curves
    store.add(turned(0, [3.0, 2.0], around=(0,)))
    store.add(turned(2, [1.0], around=(1,)))
    x, y = store.points((LOOP, KEY))
    assert (x.tolist(), y.tolist()) == ([0, 1, 2], [3, 2, 1])
    assert [store.turns_at(LOOP, number) for number in (0, 1, 2)] == [(0, 0), (0, 1), (1, 0)]
    assert [store.number_of(LOOP, turns) for turns in ((0, 1), (1, 0), (2, 0))] == [1, 2, None]


def test_of_too_many_points_no_extreme_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curve_store, "CAPACITY", 4096)
    store = CurveStore()
    values = np.sin(np.arange(50_000) / 700)
    values[12_345], values[777] = 9.0, -9.0
    for first in range(0, 50_000, 500):
        store.add(turned(first, values[first : first + 500].tolist()))
    x, y = store.points((LOOP, KEY))
    assert len(x) <= 4096
    assert (x[y.argmax()], x[y.argmin()]) == (12_345, 777)
    assert (np.diff(x) > 0).all()
    assert (values[x.astype(int)] == y).all()


def test_smoothing_is_the_mean_of_the_turns_up_to_each() -> None:
    assert smooth(np.array([1.0, 2.0, np.nan, 6.0]), 3)[[0, 1, 3]].tolist() == [1, 1.5, 4]
    assert np.isnan(smooth(np.array([1.0, np.nan]), 3)[1])


def test_titles_say_the_figure_and_whose() -> None:
    assert curve_title("loss", KEY) == "loss"
    assert curve_title("fc", CurveKey(node=LOSS, path="weight", figure="norm", grad=True)) == "norm of fc.weight.grad"


def test_a_loss_is_drawn_and_a_click_looks_at_its_turn_and_back(
    qtbot: QtBot, session: Session, panel: CurvesPanel
) -> None:
    tables = session.results.tables
    assert panel.plot is None, "nothing is imported before there is a curve"
    with qtbot.waitSignal(tables.curves.changed):
        tables.add_turns(turned(0, [5.0, 4.0, 3.0, 2.0], around=()))
    tables.add_rows([loss_row(turn, 5.0 - turn) for turn in (0, 1, 3)])
    assert panel.plot is not None
    assert list(panel.titles()) == [(LOOP, KEY)]
    ((_, line),) = panel.plot._curves.values()
    assert [list(each) for each in line.getOriginalDataset()] == [[1, 2, 3, 4], [5, 4, 3, 2]]
    panel.plot.picked.emit(2.6)
    assert session.results.active is not None and session.results.active.turns == (3,)
    assert panel.plot._cursor.isVisible() and panel.plot._cursor.value() == 4
    session.attention.look_at(0)
    assert panel.plot._cursor.value() == 1
    session.attention.look_at_now()
    assert not panel.plot._cursor.isVisible()


def test_an_accuracy_has_its_own_axis_and_lies_where_its_epochs_end(
    qtbot: QtBot, session: Session, panel: CurvesPanel
) -> None:
    tables, epochs, accuracy = session.results.tables, ItemId("epochs"), CurveKey(node=ItemId("accuracy"))
    data = struct.pack("<3d", 0.5, 0.75, 0.875)
    with qtbot.waitSignal(tables.curves.changed):
        for epoch in range(3):
            tables.add_turns(turned(4 * epoch, [2.0, 1.5, 1.2, 1.0], around=(epoch,)))
        begins = (Begin(around=(), number=0),)
        tables.add_turns(Turned(loop=epochs, number=3, begins=begins, curves=(Curve(key=accuracy, data=data),)))
    plot = panel.plot
    assert plot is not None and plot.getPlotItem().getAxis("right").isVisible()
    (_, line), (_, share) = plot._curves.values()
    assert line not in plot.right.addedItems and share in plot.right.addedItems
    panel.log.click()
    axes = [plot.getPlotItem().getAxis(side) for side in ("left", "right")]
    assert [axis.logMode for axis in axes] == [True, False]  # a share is drawn as it is, and read so
    low, high = axes[1].range
    assert low <= 0 and high >= 1 and "0.5" in axes[1].tickStrings([0.5], 1, 0.5)
    assert share.getOriginalDataset()[0].tolist() == [4, 8, 12]
    assert share.getOriginalDataset()[1].tolist() == [0.5, 0.75, 0.875]
    assert [label.text for _, label in plot.legend.items] == ["loss", "accuracy →"]
    tables.add_turns(Turned(loop=LOOP, around=(2,), turn=3, total=4, number=12))
    assert {tag: steps.tolist()[-3:] for tag, (steps, _) in read_events(panel.events()).items()} == {
        "loss": [9, 10, 11],
        "accuracy": [3, 7, 11],
    }
    tables.curves.clear()
    tables.add_turns(turned(0, [1.0], around=()))
    qtbot.waitUntil(lambda: not plot.getPlotItem().getAxis("right").isVisible())
    assert not plot.right.addedItems and len(plot.legend.items) == 1


def test_a_loop_that_stood_in_another_before_a_start_from_nothing_is_in_none_behind_it() -> None:
    store, epochs = CurveStore(), ItemId("epochs")
    values = Curve(key=CurveKey(node=ItemId("accuracy")), data=struct.pack("<2d", 0.5, 0.75))
    told = (turned(0, [3.0, 2.0, 1.0], around=()), Turned(loop=epochs, turn=1, number=2, curves=(values,)))
    for event in (Turned(loop=LOOP, around=(1,), turn=2, total=4, number=3), *told):
        store.add(event)
    assert store.each(epochs) == 4
    store.clear()
    for event in told:
        store.add(event)
    assert store.each(epochs) == 1


def test_of_a_long_curve_of_shares_only_what_can_be_seen_is_drawn(
    qtbot: QtBot, session: Session, panel: CurvesPanel
) -> None:
    store, accuracy = session.results.tables.curves, CurveKey(node=ItemId("accuracy"))
    values = np.linspace(0, 1, 50_000)
    values[12_345] = 0.9
    data = struct.pack("<50000d", *values)
    with qtbot.waitSignal(store.changed):
        curves = Curve(key=KEY, data=data), Curve(key=accuracy, data=data)
        store.add(Turned(loop=LOOP, number=50_000, curves=curves))
    assert panel.plot is not None
    panel.plot.grab()
    _, (_, line) = panel.plot._curves.values()
    assert line in panel.plot.right.addedItems
    x, y = line.getData()
    assert len(x) < 10_000 and y[np.searchsorted(x, 12_000) : np.searchsorted(x, 13_000)].max() == 0.9


def test_turns_that_follow_one_another_take_no_memory_of_their_own(session: Session, panel: CurvesPanel) -> None:
    """Of a million turns a curve holds its values; where its turns are, all curves and the plot read in one array."""
    store, accuracy = session.results.tables.curves, CurveKey(node=ItemId("accuracy"))
    data = struct.pack("<5000d", *range(5000))
    for number in (5000, 10_000):
        store.add(Turned(loop=LOOP, number=number, curves=(Curve(key=KEY, data=data), Curve(key=accuracy, data=data))))
    panel.refresh()
    assert panel.plot is not None
    (turns, values), (others, _) = (store.points(name) for name in store.names)
    assert turns.tolist() == list(range(10_000)) and values.tolist() == [*range(5000), *range(5000)]
    drawn = [line.getOriginalDataset()[0] for line in panel.plot.lines()]
    assert all(np.shares_memory(turns, one) for one in (others, *drawn, store.steps(store.names[0])[0]))
    assert [one.tolist() for one in drawn] == [list(range(1, 10_001))] * 2


def test_turns_are_exact_however_many_there_are(session: Session) -> None:
    store, data = session.results.tables.curves, struct.pack("<3d", 1, 2, 3)
    for number in (1 << 24, (1 << 24) + 3):
        store.clear()
        store.add(Turned(loop=LOOP, number=number, curves=(Curve(key=KEY, data=data),)))
        assert store.points(store.names[0])[0].tolist() == [number - 3, number - 2, number - 1]
        assert store.spread(store.names[0], LOOP).tolist() == [number - 2, number - 1, number]


def test_turns_with_a_gap_are_where_they_were(session: Session) -> None:
    store = session.results.tables.curves
    store.add(Turned(loop=LOOP, number=3, curves=(Curve(key=KEY, data=struct.pack("<3d", 1, 2, 3)),)))
    store.add(Turned(loop=LOOP, number=9, curves=(Curve(key=KEY, data=struct.pack("<2d", 8, 9)),)))
    store.add(Turned(loop=LOOP, number=10, curves=(Curve(key=KEY, data=struct.pack("<2d", 9, 10)),)))
    turns, values = store.points(store.names[0])
    assert turns.tolist() == [0, 1, 2, 7, 8, 9] and values.tolist() == [1, 2, 3, 8, 9, 10]
    assert store.spread(store.names[0], LOOP).tolist() == [1, 2, 3, 8, 9, 10]


def test_the_line_stands_at_the_turn_of_a_backward_and_at_one_that_was_chosen(
    qtbot: QtBot, session: Session, panel: CurvesPanel
) -> None:
    loop = Block(id=LOOP, kind="for", variable="t")
    leaf = Node(id=ItemId("w"), operator="torch.randn", names=("w",))
    loss = Node(id=LOSS, operator="torch.exp", names=("loss",))
    session.graph_store.submit((AddNode(leaf, ROOT, 0), AddBlock(loop, ROOT, 1), AddNode(loss, BodyId(LOOP), 0)), "Add")
    tables = session.results.tables
    with qtbot.waitSignal(tables.curves.changed):
        tables.add_turns(turned(0, [5.0, 4.0, 3.0, 2.0], around=()))
    tables.add_rows([loss_row(turn, 5.0 - turn) for turn in range(3)])
    added = AutogradRow(
        backward=1, autograd="AccumulateGrad", node=leaf.id, id=0, turns=(), incoming=(None,),
        values=(EdgeValue(node=leaf.id),),
    )  # fmt: skip
    tables.add_backward(BackwardTraced(revision=1, rows=(added,), backward=1, statement=LOSS, turns=(2,)))
    assert panel.plot is not None
    session.attention.look_at(len(session.results.timeline.ticks) - 1)
    assert panel.plot._cursor.isVisible() and panel.plot._cursor.value() == 3
    session.attention.look_at_now()
    session.attention.choose_turn(LOOP, 1)
    assert panel.plot._cursor.isVisible() and panel.plot._cursor.value() == 2


def test_the_table_has_a_line_a_turn(qtbot: QtBot, session: Session, panel: CurvesPanel) -> None:
    with qtbot.waitSignal(session.results.tables.curves.changed):
        session.results.tables.add_turns(turned(0, [0.1, 0.2]))
    assert list(csv.reader(io.StringIO(panel.csv()))) == [["turn", "loss"], ["1", "0.1"], ["2", "0.2"]]


def test_what_is_wanted_of_a_card_is_chosen_in_the_menu(session: Session, panel: CurvesPanel) -> None:
    leaf = TensorRecord(device="cpu", summary=Summary(dtype="float32", shape=(2, 3)), requires_grad=True)
    session.results.tables.add_rows([Row(step=1, node=LOSS, outputs=(leaf,))])
    session.attention.select((LOSS,))
    panel.menu.aboutToShow.emit()
    actions = {action.text(): action for action in panel.menu.actions()}
    actions["norm of loss.grad"].trigger()
    assert session.results.tables.curves.wanted == (CurveKey(node=LOSS, figure="norm", grad=True),)
    panel.menu.aboutToShow.emit()
    next(action for action in panel.menu.actions() if action.text() == "Remove: norm of loss.grad").trigger()
    assert session.results.tables.curves.wanted == ()


def test_the_gradient_of_an_activation_is_offered_and_of_data_is_not(session: Session, panel: CurvesPanel) -> None:
    summary = Summary(dtype="float32", shape=(2, 3))
    for requires_grad in (True, False):
        hidden = TensorRecord(device="cpu", summary=summary, requires_grad=requires_grad, is_leaf=not requires_grad)
        session.results.tables.add_rows([Row(step=1, node=LOSS, outputs=(hidden,))])
        session.attention.select((LOSS,))
        panel.menu.aboutToShow.emit()
        offered = {action.text() for action in panel.menu.actions()}
        assert ("share of zeros of loss.grad" in offered) == requires_grad
        assert not any("ratio" in text for text in offered), "nothing is learnt there"


def test_of_an_optimizer_its_learning_rates_are_offered_and_of_what_has_no_number_nothing(
    session: Session, panel: CurvesPanel
) -> None:
    def offered(record: OptimizerRecord | PlainRecord) -> list[str]:
        session.results.tables.add_rows([Row(step=1, node=LOSS, outputs=(record,))])
        session.attention.select((LOSS,))
        panel.menu.aboutToShow.emit()
        return [action.text() for action in panel.menu.actions()]

    group: dict[str, Nested] = {"lr": 0.1}
    assert offered(OptimizerRecord(class_name="Adam", groups=(group,))) == ["learning rate of loss"]
    two = OptimizerRecord(class_name="Adam", groups=(group, group))
    assert offered(two) == [f"learning rate of loss.param_groups[{k}]" for k in range(2)]
    assert offered(PlainRecord(what="number", class_name="int", value=3)) == ["loss"]
    assert offered(PlainRecord(what="none", class_name="NoneType")) == ["Select a card to plot its values"]


def test_a_start_from_nothing_has_no_points(session: Session) -> None:
    store = session.results.tables.curves
    store.add(turned(0, [1.0]))
    session.results.tables.begin(fresh=True)
    assert store.names == ()


def test_the_legend_stands_beside_the_curves(panel: CurvesPanel, session: Session) -> None:
    session.results.tables.curves.add(turned(0, [3.0, 2.0, 2.5], around=(0,)))
    panel.refresh()
    plot = panel.plot
    assert plot is not None
    plot.grab()
    box, legend = plot.getPlotItem().getViewBox(), plot.legend
    assert legend.width() > 0
    assert legend.sceneBoundingRect().left() >= box.sceneBoundingRect().right()


def test_curves_of_other_runs_are_drawn_behind_where_their_value_is_plotted(
    panel: CurvesPanel, session: Session, qtbot: QtBot
) -> None:
    store = session.results.tables.curves
    other = np.arange(3.0)
    store.put_beside((BesideCurve(0, "lr 0.1", "loss", other, other), BesideCurve(0, "lr 0.1", "norm", other, other)))

    def names() -> list[str]:
        items = panel.plot.getPlotItem().listDataItems() if panel.plot is not None else []
        return sorted(name for item in items if (name := item.name()) is not None)

    qtbot.waitUntil(lambda: names() == ["lr 0.1: loss", "lr 0.1: norm"])
    store.add(turned(0, [3.0, 2.0, 1.0], around=()))
    qtbot.waitUntil(lambda: names() == ["loss", "lr 0.1: loss"] and panel.titles() == {(LOOP, KEY): "loss"})
    store.put_beside(())
    qtbot.waitUntil(lambda: names() == ["loss"])


def test_what_is_plotted_is_written_as_a_picture(
    qtbot: QtBot, session: Session, panel: CurvesPanel, dark: Theme
) -> None:
    tables = session.results.tables
    with qtbot.waitSignal(tables.curves.changed):
        tables.add_turns(turned(0, [5.0, 1.0, 4.0, 2.0], around=()))
    assert panel.plot is not None
    image, size = QImage.fromData(panel.picture("png")), panel.plot.viewport().size()
    assert image.size() == size * 2
    colors = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
    assert QColor(dark.plot[0]).name() in colors and QColor(dark.surface).name() in colors
    root = ElementTree.fromstring(panel.picture("svg"))
    texts = ["".join(one.itertext()).strip() for one in root.iter() if one.tag.endswith("}text")]
    lines = [one.get("points") or one.get("d") for one in root.iter() if one.tag.endswith(("}polyline", "}path"))]
    assert "loss" in texts and any(lines)


def test_the_pointer_says_the_turn_and_the_value_of_every_curve_there(
    qtbot: QtBot, session: Session, panel: CurvesPanel
) -> None:
    store, other = session.results.tables.curves, np.arange(2.0)
    store.put_beside((BesideCurve(0, "lr 0.1", "loss", other, other + 40),))
    with qtbot.waitSignal(store.changed):
        store.add(turned(0, [5.0, 4.0, 3.0, 2.25], around=()))
    plot = panel.plot
    assert plot is not None
    plot.grab()
    box = plot.getPlotItem().getViewBox()

    def point(turn: float) -> str:
        plot.scene().sigMouseMoved.emit(box.mapViewToScene(QPointF(turn, 20.0)))
        words = plot.pointer.label.text().removesuffix("</span>").rpartition("<br>")[0]
        return re.sub("<[^>]*>", " ", words) if plot.pointer.label.isVisible() else ""

    assert point(2.2).split() == ["turn", "2", "■", "loss", "4", "■", "lr", "0.1:", "loss", "41"]
    assert plot.pointer._across.value() == 2
    assert point(3.9).split() == ["turn", "4", "■", "loss", "2.25"], "the other run has no such turn"
    assert plot.rect().contains(plot.pointer.label.geometry())
    plot.pointer.leave()
    assert not plot.pointer.label.isVisible() and not plot.pointer._across.isVisible()


def test_in_a_narrow_dock_names_are_cut_and_the_curves_keep_their_room(
    qtbot: QtBot, session: Session, panel: CurvesPanel
) -> None:
    name = "a run with a very long name of its own and another learning rate"
    store, other = session.results.tables.curves, np.arange(2.0)
    store.put_beside((BesideCurve(0, name, "loss", other, other),))
    with qtbot.waitSignal(store.changed):
        store.add(turned(0, [5.0, 4.0], around=()))
    plot = panel.plot
    assert plot is not None
    for width in (240, 500, 1200):
        panel.resize(width, 300)
        plot.grab()
        plot.grab()
        box, legend = plot.getPlotItem().getViewBox(), plot.legend
        assert legend.sceneBoundingRect().right() <= plot.width()
        assert box.width() >= 0.35 * plot.width()
        words = [label.text for _, label in legend.items]
        assert (f"{name}: loss" in words) == (width == 1200) and all("…" in one or len(one) < 90 for one in words)


def test_of_several_runs_colour_tells_which_and_dashes_which_value_and_all_names_are_reached(
    qtbot: QtBot, session: Session, panel: CurvesPanel, dark: Theme
) -> None:
    store, numbers = session.results.tables.curves, np.arange(3.0)
    titles = ("loss", "accuracy", "loss_test")
    store.put_beside(tuple(BesideCurve(k, f"run {k}", t, numbers, numbers + k) for k in range(3) for t in titles))
    qtbot.waitUntil(lambda: panel.plot is not None and len(panel.plot.lines()) == 9)
    plot = panel.plot
    assert plot is not None and panel.export.isEnabled()
    pens = {line.property("whole").removesuffix(" →"): line.opts["pen"] for line in plot.lines()}
    colors = {name: pen.color().name() for name, pen in pens.items()}
    assert len(set(colors.values())) == 3 and QColor(dark.plot[0]).name() not in colors.values()
    assert colors["run 1: loss"] == colors["run 1: accuracy"] != colors["run 2: loss"]
    dashes = {name: tuple(pen.dashPattern()) for name, pen in pens.items()}
    assert dashes["run 0: loss"] == dashes["run 2: loss"] and len({dashes[f"run 1: {t}"] for t in titles}) == 3
    header = panel.csv().splitlines()[0].split(",")
    assert header == ["turn", *(f"run {k}: {t}" for k in range(3) for t in titles)]
    assert panel.events().count(b"run 2: loss_test") == 3
    panel.resize(500, 150)
    plot.grab()
    plot.grab()
    assert plot.names.more.isVisible() and plot.legend.height() > plot.height()
    rows, edge = [shown.sceneBoundingRect() for _, shown in plot.legend.items], plot.names.more.y()
    assert all(row.bottom() <= edge or row.top() >= edge for row in rows), "no row is seen in part"
    seen = [row.bottom() <= edge for row in rows]
    assert sum(seen) >= 5, "as low as the dock is in a small window"
    place = plot.mapFromScene(plot.legend.sceneBoundingRect().center())
    for _ in range(12):
        QApplication.sendEvent(plot.viewport(), wheel(plot.viewport().mapToGlobal(place), place, -120))
    last = plot.legend.items[-1][1]
    assert last.sceneBoundingRect().bottom() <= plot.height() and not plot.names.more.isVisible()


def test_more_runs_than_colours_have_each_its_own(dark: Theme) -> None:
    colors = [beside_color(dark, place).name() for place in range(12)]
    assert len(set(colors)) == 12 and QColor(dark.plot[0]).name() not in colors


def wheel(global_pos: QPoint, pos: QPoint, angle: int) -> QWheelEvent:
    """A notch of the wheel."""
    buttons, keys = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    phase = Qt.ScrollPhase.NoScrollPhase
    return QWheelEvent(QPointF(pos), QPointF(global_pos), QPoint(), QPoint(0, angle), buttons, keys, phase, False)


def test_without_values_the_menu_says_what_to_do_of_a_selected_card(panel: CurvesPanel, session: Session) -> None:
    edits, card = add_operator(session.graph_store.graph, "torch.randn", 0, 0)
    session.graph_store.submit(edits, "Add")

    def words() -> list[str]:
        panel.menu.aboutToShow.emit()
        return [action.text() for action in panel.menu.actions()]

    assert words() == ["Select a card to plot its values"]
    session.attention.select((card,))
    assert words() == ["“x” has not run yet: run (F5), then its values can be plotted"]
