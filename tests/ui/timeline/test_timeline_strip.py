"""The strip under a person's hand: scrubbing, keys, wheel, and what the window says of the past."""

import msgspec
import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QMouseEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.messages.debugging import Breakpoint, Hit
from gradstudio.protocol.timeline.run_timeline import Timeline
from gradstudio.protocol.timeline.step_numbering import number_of_row
from gradstudio.scene.camera import Camera
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.state.results.run_names import RunNames
from gradstudio.ui.theme import ui_font
from gradstudio.ui.timeline.moment_card import card
from gradstudio.ui.timeline.moment_words import Names, moment_words, step_words
from gradstudio.ui.timeline.section_labels import turn_labels
from gradstudio.ui.timeline.strip_painter import DOT_PX, SMALL_PX, fitting_name
from gradstudio.ui.timeline.tick_arrays import TickArrays
from gradstudio.ui.timeline.time_scale import Scale
from gradstudio.ui.timeline.timeline_strip import TimelineStrip
from tests.ui.conftest import Add
from tests.ui.timeline.runs import row, traced

Button, Keys = Qt.MouseButton, Qt.KeyboardModifier


@pytest.fixture
def nodes(window: MainWindow, add: Add) -> tuple[ItemId, ItemId]:
    """Two nodes that ran, and a backward through them."""
    x, y = add("torch.randn"), add("torch.sin")
    results = window.session.results
    results.tables.add_rows([row(1, x), row(2, y)])
    results.timeline.add_backward(traced(1, (y, "MulBackward0"), (y, "SinBackward0"), (x, "AccumulateGrad")))
    results.tables.add_rows([row(3, y)])
    window.timeline.strip.follow()
    return x, y


def middle(strip: TimelineStrip, cell: int) -> QPoint:
    return QPoint(round(strip.scale.x(cell) + strip.scale.cell_px / 2), round(strip.bands.axis))


def send(strip: TimelineStrip, kind: QEvent.Type, at: QPoint, buttons: Button) -> None:
    point = QPointF(at)
    QApplication.sendEvent(
        strip, QMouseEvent(kind, point, strip.mapToGlobal(point), Button.NoButton, buttons, Keys.NoModifier)
    )


def wheel(strip: TimelineStrip, notches: int, keys: Keys = Keys.NoModifier) -> None:
    at = QPointF(strip.width() / 2, 20)
    event = QWheelEvent(
        at, strip.mapToGlobal(at), QPoint(), QPoint(0, 120 * notches), Button.NoButton, keys,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(strip, event)


@pytest.mark.feature(60)
def test_a_press_looks_at_a_cell_and_a_drag_scrubs(window: MainWindow, nodes: tuple[ItemId, ItemId]) -> None:
    strip, attention = window.timeline.strip, window.session.attention
    QTest.mousePress(strip, Button.LeftButton, pos=middle(strip, 0))
    assert attention.moment == 0
    send(strip, QEvent.Type.MouseMove, middle(strip, 2), Button.LeftButton)
    assert attention.moment == 3
    send(strip, QEvent.Type.MouseMove, middle(strip, 9), Button.LeftButton)
    assert attention.moment is None
    QTest.mouseRelease(strip, Button.LeftButton, pos=middle(strip, 9))
    send(strip, QEvent.Type.MouseMove, middle(strip, 1), Button.NoButton)
    assert attention.moment is None


def test_keys_step_and_home_is_the_strips_own(window: MainWindow, nodes: tuple[ItemId, ItemId]) -> None:
    strip, attention = window.timeline.strip, window.session.attention
    strip.setFocus()
    found = []
    for key in (Qt.Key.Key_Home, Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_End):
        QTest.keyClick(strip, key)
        found.append(attention.moment)
    assert found == [0, 1, 3, 1, None]


def test_hovering_a_cell_hovers_its_node_and_two_clicks_choose_it(
    window: MainWindow, nodes: tuple[ItemId, ItemId]
) -> None:
    strip, attention = window.timeline.strip, window.session.attention
    send(strip, QEvent.Type.MouseMove, middle(strip, 2), Button.NoButton)
    assert attention.hovered == nodes[1]
    QApplication.sendEvent(strip, QEvent(QEvent.Type.Leave))
    assert attention.hovered is None
    QTest.mouseDClick(strip, Button.LeftButton, pos=middle(strip, 3))
    assert attention.selection == {nodes[0]}


def test_the_wheel_zooms_and_with_shift_it_pans(window: MainWindow, nodes: tuple[ItemId, ItemId]) -> None:
    strip = window.timeline.strip
    window.session.results.tables.add_rows([row(4 + k, nodes[0]) for k in range(500)])
    strip.follow()
    fitted = strip.scale
    wheel(strip, 6)
    zoomed = strip.scale
    assert zoomed.cell_px > fitted.cell_px
    wheel(strip, -2, Keys.ShiftModifier)
    assert strip.scale.first > zoomed.first
    assert strip.scale.cell_px == zoomed.cell_px
    wheel(strip, -40)
    assert strip.scale == fitted


def test_forward_cells_lie_above_the_axis_and_backward_cells_below(
    window: MainWindow, nodes: tuple[ItemId, ItemId]
) -> None:
    strip, theme = window.timeline.strip, window.theme
    window.session.attention.select(nodes)
    image = strip.grab().toImage()
    bands = strip.bands

    def color(cell: int, top: float) -> str:
        ratio = image.devicePixelRatio()
        x, y = strip.scale.x(cell) + 6, top + 5
        return QColor(image.pixel(round(x * ratio), round(y * ratio))).name()

    assert color(0, bands.forward) == theme.color("forward").name()
    assert color(2, bands.backward) == theme.color("backward").name()
    assert color(0, bands.backward) == color(2, bands.forward) == theme.color("surface").name()


def test_the_past_is_said_and_escape_on_the_canvas_leads_back(window: MainWindow, nodes: tuple[ItemId, ItemId]) -> None:
    band, attention = window.workspace.band, window.session.attention
    attention.select(())
    assert not band.isVisible()
    attention.look_at(3)
    assert band.isVisible()
    band.setFixedWidth(200)
    assert band.words.text().endswith("…") and band.words.toolTip() == window.timeline.words
    band.setFixedWidth(2000)
    assert band.words.text() == window.timeline.words and not band.words.toolTip()
    assert window.timeline.words.startswith("Looking back at step 3 of 5: backward 1, ")
    assert window.timeline.words.endswith("(MulBackward0, SinBackward0)")
    assert ", sin (" in window.timeline.words, "as on the card, not by the name that the run gave it"
    assert window.timeline.header._text == "step 3 of 5", "the band says the rest"
    window.canvas.setFocus()
    QTest.keyClick(window.canvas, Qt.Key.Key_Escape)
    assert attention.moment is None
    assert not band.isVisible()
    assert window.timeline.words == "Now, 5 steps done"


def test_escape_leads_back_at_once_and_takes_the_selection_away_after_that(
    window: MainWindow, nodes: tuple[ItemId, ItemId]
) -> None:
    attention = window.session.attention
    attention.select(nodes)
    attention.look_at(0)
    window.canvas.setFocus()
    QTest.keyClick(window.canvas, Qt.Key.Key_Escape)
    assert (attention.selection, attention.moment) == (frozenset(nodes), None)
    QTest.keyClick(window.canvas, Qt.Key.Key_Escape)
    assert attention.selection == frozenset()


def test_unfolding_shows_the_autograd_nodes(window: MainWindow, nodes: tuple[ItemId, ItemId]) -> None:
    strip = window.timeline.strip
    assert len(strip.cells) == 5
    window.actions["run.unfold"].trigger()
    assert len(strip.cells) == 6
    assert window.actions["run.unfold"].isChecked()


def test_a_cells_card_says_what_came_and_how_long_it_took(window: MainWindow, nodes: tuple[ItemId, ItemId]) -> None:
    timeline, strip = window.session.results.timeline, window.timeline.strip
    forward = card(timeline, range(1), strip._names)
    assert "forward" in forward
    assert "1 ms" in forward
    backward = card(timeline, range(2, 4), strip._names)
    assert "MulBackward0, SinBackward0" in backward
    assert "gradient in: 1" in backward


def test_a_hit_is_marked_on_its_cell(window: MainWindow, nodes: tuple[ItemId, ItemId]) -> None:
    debug, strip = window.session.debug, window.timeline.strip
    debug.add(Breakpoint(id="b", node=nodes[1], phase="backward"))
    debug.add_hit(Hit(breakpoint="b", node=nodes[1], step=2, backward=1, place=1))
    assert strip._hits() == (2,)
    strip.setFixedSize(600, 66)  # whatever its layout makes of it while it is not shown
    strip.fit()
    cell, danger = strip._painter._rect(strip._picture(), 2), QColor(window.theme.danger)
    shown = strip.grab().toImage()
    ratio, y = shown.devicePixelRatio(), cell.center().y()
    red = [
        x
        for x in range(int(cell.left()), int(cell.right()))
        if shown.pixelColor(int(x * ratio), int(y * ratio)) == danger
    ]
    assert red and max(red) < cell.left() + DOT_PX  # the name stands beside it


def test_the_timeline_is_hidden_and_that_is_remembered(window: MainWindow) -> None:
    assert window.workspace.shows_timeline
    window.actions["view.timeline"].trigger()
    assert not window.workspace.shows_timeline
    assert not window.settings.preferences.timeline
    assert not window.actions["view.timeline"].isChecked()


def test_the_turn_chooser_is_for_the_loop_around_the_selected_card(qtbot: QtBot, window: MainWindow, add: Add) -> None:
    item, store, attention = add("torch.sin"), window.session.graph_store, window.session.attention
    assert store.attempt(recipes.wrap, "Wrap", [item], "for")
    (block,) = store.graph.blocks
    window.session.results.tables.add_rows([row(k + 1, item, turns=(k,)) for k in range(3)])
    attention.select([item])
    chooser = window.timeline.turns
    assert not chooser.isHidden()
    assert chooser.box.text() == "last turn"
    chooser.box.setValue(2)
    assert attention.chosen_turns == {block: 1}
    chooser.box.setValue(4)
    assert attention.chosen_turns == {}
    attention.select(())
    assert chooser.isHidden()


@pytest.mark.parametrize("width", [620, 700, 760, 802, 860, 1000])
def test_nothing_in_the_row_is_squeezed_when_backwards_and_turns_can_be_chosen(
    qtbot: QtBot, window: MainWindow, nodes: tuple[ItemId, ItemId], add: Add, width: int
) -> None:
    item, store, results = add("torch.sin"), window.session.graph_store, window.session.results
    assert store.attempt(recipes.wrap, "Wrap", [item], "for")
    results.tables.add_rows([row(k + 1, item, turns=(k,)) for k in range(3)])
    results.timeline.add_backward(traced(2, (nodes[0], "AccumulateGrad")))
    results.tables.recorded.emit()
    window.frame.show()
    header = window.timeline.header
    header.setFixedWidth(width)
    header.resize(width, header.height())
    for _ in range(3):  # what the width asks of the window around it is done
        QCoreApplication.sendPostedEvents()
    header.say("Now, 1,234,567 steps done, and what comes next is not known", False, "Now, 1,234,567 steps done")
    window.session.attention.select([item])
    qtbot.waitUntil(lambda: header.turns.isVisible() and header.turns.width() >= header.turns.sizeHint().width())
    for widget in (header.backwards, header.turns, header.speed):
        assert widget.width() >= widget.sizeHint().width()

    def begin_of_words() -> int:
        words = header.words
        return words.mapTo(header, words.rect().topRight()).x() - words.fontMetrics().horizontalAdvance(words.text())

    qtbot.waitUntil(lambda: begin_of_words() >= header.turns.geometry().right())


def test_one_backward_alone_is_chosen_in_the_row(window: MainWindow, nodes: tuple[ItemId, ItemId]) -> None:
    header, results = window.timeline.header, window.session.results
    assert header.backwards.isHidden()
    results.timeline.add_backward(traced(2, (nodes[0], "AccumulateGrad")))
    results.tables.recorded.emit()
    assert [header.backwards.itemText(k) for k in range(3)] == ["All backwards", "backward 1", "backward 2"]
    header.backwards.setCurrentIndex(2)
    header.backwards.activated.emit(2)
    assert window.session.attention.backward == 2
    window.session.run.stepper.to_now()
    assert window.session.attention.backward is None
    assert header.backwards.currentIndex() == 0


def test_f9_and_the_menu_set_breakpoints(window: MainWindow, nodes: tuple[ItemId, ItemId]) -> None:
    debug, attention = window.session.debug, window.session.attention
    attention.select(())
    assert not window.actions["run.breakpoint"].isEnabled()
    attention.select([nodes[0]])
    window.actions["run.breakpoint"].trigger()
    assert [made.node for made in debug.active] == [nodes[0]]
    window.actions["run.not_finite"].trigger()
    assert window.actions["run.not_finite"].isChecked()
    assert len(debug.active) == 3


def test_unfolded_the_cells_carry_the_names_of_autograd_nodes(window: MainWindow, nodes: tuple[ItemId, ItemId]) -> None:
    strip = window.timeline.strip
    name = window.session.graph_store.graph.nodes[nodes[1]].names[0]
    assert strip._picture().name(2) == name
    window.session.attention.unfold(True)
    assert [strip._picture().name(cell) for cell in (2, 3, 4)] == ["MulBackward0", "SinBackward0", "AccumulateGrad"]


def test_the_row_of_buttons_takes_up_another_theme(window: MainWindow, nodes: tuple[ItemId, ItemId]) -> None:
    for name in ("light", "dark"):
        window.choose_theme(name)  # type: ignore[arg-type]  # the names of themes
        shown = window.timeline.header.grab().toImage()
        assert shown.pixelColor(2, 2) == QColor(window.theme.surface)


def test_what_has_no_room_in_the_row_is_behind_a_button(window: MainWindow, nodes: tuple[ItemId, ItemId]) -> None:
    header = window.timeline.header
    for width, hidden in ((360, True), (620, False), (1100, False)):
        header.setFixedWidth(width)
        header.resize(width, header.height())
        assert header.more.isHidden() is not hidden
        assert header.layout().minimumSize().width() <= width
    texts = [action.text() for action in header.more.menu().actions()]
    assert texts == ["Step over", "Step into", "Step out", "Run to here", "Run from nothing"]


def test_paused_in_a_backward_nobody_looks_back(window: MainWindow, nodes: tuple[ItemId, ItemId]) -> None:
    window.session.attention.look_at(2)
    assert window.timeline.words.startswith("Looking back at step 3 of 5: backward 1")
    window.session.run.status.set(in_backward=1)
    assert window.timeline.words.startswith("Stepping through backward 1, step 3 of 5: ")


def test_the_number_of_a_step_is_the_same_wherever_it_is_said(window: MainWindow, nodes: tuple[ItemId, ItemId]) -> None:
    timeline = window.session.results.timeline
    last = timeline.row(nodes[1])
    assert last is not None and last.step == 3
    assert number_of_row(timeline, nodes[1], last, None, unfolded=False) == 5
    assert number_of_row(timeline, nodes[1], last, None, unfolded=True) == 6
    assert step_words(timeline, 5, False) == "step 5 of 5"


def test_turns_that_had_to_go_are_said() -> None:
    loop = ItemId("for")
    recording, timeline = TickArrays(lambda _node: (loop,)), Timeline()
    timeline.add_rows([row(k + 1, "y", turns=(turn,)) for k, turn in enumerate((*range(16), *range(900, 940)))])
    recording.follow(timeline)
    cells = recording.cells(False)
    (label,) = turn_labels(recording, cells, Scale(0.0, 3.0), 800.0, 0)
    assert label.texts[:2] == ("turns 1–940, 56 of them kept", "turns 1–940")
    timeline.forgotten = 884
    assert step_words(timeline, None, False) == "Now, 56 steps kept of 940"


def test_one_backward_alone_is_lit_and_its_order_is_said(window: MainWindow, nodes: tuple[ItemId, ItemId]) -> None:
    results, strip = window.session.results, window.timeline.strip
    second = traced(2, (nodes[1], "PowBackward0"))
    rows = tuple(msgspec.structs.replace(each, order=2) for each in second.rows)
    results.timeline.add_backward(msgspec.structs.replace(second, rows=rows))
    window.timeline._on_results_recorded()
    texts = [window.timeline.header.backwards.itemText(k) for k in range(3)]
    assert texts == ["All backwards", "backward 1", "backward 2, order 2"]
    assert strip._picture().alone is None
    window.session.attention.show_backward(2)
    assert strip._picture().alone == 2
    sections = [strip.recording.section_of(tick) for tick in (2, 6)]
    assert [section.backward for section in sections if section is not None] == [1, 2]


def test_while_the_first_run_goes_on_the_strip_does_not_ask_for_one(window: MainWindow) -> None:
    strip, run = window.timeline.strip, window.session.run
    assert "Run (F5)" in strip._empty_words()
    run.status.set(busy=True, waiting=True)
    assert "engine is starting" in strip._empty_words()
    run.status.set(waiting=False)
    assert strip._empty_words().startswith("Running")
    run.status.set(busy=False)


def test_the_box_of_turns_says_which(window: MainWindow, add: Add) -> None:
    box = window.timeline.turns.box
    box.setRange(1, 4)
    for value, text in ((2, "turn 2"), (4, "last turn")):
        box.setValue(value)
        assert box.lineEdit().text() == text
    assert box.valueFromText("turn 3") == 3


def run_again(window: MainWindow, *items: ItemId) -> None:
    """The program as it stands runs, as the engine would tell it."""
    results, run = window.session.results, window.session.run
    results.tables.begin(True, names=RunNames(window.session.graph_store.graph, run.program))
    results.tables.add_rows([row(step + 1, item) for step, item in enumerate(items)])
    results.tables.release()
    window.timeline.strip.follow()


def test_the_past_keeps_the_names_and_the_code_it_ran_with(window: MainWindow, add: Add) -> None:
    item, store, attention = add("torch.randn"), window.session.graph_store, window.session.attention
    run_again(window, item)
    strip, before = window.timeline.strip, strip_names(window)
    then = window.session.run.program.statements[0].text  # type: ignore[union-attr]
    attention.select((item,))
    attention.look_at(0)
    assert store.attempt(recipes.rename, "Rename", item, ("renamed",))
    now = window.session.run.program.statements[0].text  # type: ignore[union-attr]
    assert now != then and now.startswith("renamed")
    assert strip_names(window) == before
    assert before[0] in window.timeline.words and then in card(strip._results.timeline, range(1), strip._names)
    window.inspector.refresh()
    assert window.inspector.details.head.ran_as.text() == f"When it ran: {then}"
    assert window.inspector.details.head.ran_as.isVisibleTo(window.inspector)
    run_again(window, item)
    assert strip_names(window) == ["renamed"]


def test_the_picture_is_kept_until_what_stands_in_it_is_called_otherwise(window: MainWindow, add: Add) -> None:
    item, results, strip = add("torch.randn"), window.session.results, window.timeline.strip
    run_again(window, item)
    still = strip._still(strip._picture()).cacheKey()
    add("torch.randn")
    assert strip._still(strip._picture()).cacheKey() == still
    assert window.session.graph_store.attempt(recipes.rename, "Rename", item, ("renamed",))
    assert strip._still(strip._picture()).cacheKey() == still, "it ran by the name that stands there"
    results.tables.names = RunNames(window.session.graph_store.graph, window.session.run.program)
    window.timeline._on_results_recorded()
    assert strip_names(window) == ["renamed"] and strip._still(strip._picture()).cacheKey() != still


def strip_names(window: MainWindow) -> list[str]:
    """What stands in the cells."""
    return [window.timeline.strip._name(cell) for cell in range(len(window.timeline.strip.cells))]


def test_a_node_that_is_no_longer_in_the_program_is_told_by_its_name_then(window: MainWindow, add: Add) -> None:
    item, store = add("torch.randn"), window.session.graph_store
    run_again(window, item)
    window.session.attention.look_at(0)
    before = strip_names(window)
    assert "no longer" not in window.timeline.words
    assert store.attempt(recipes.delete, "Delete", (item,))
    assert not window.session.run.program.statements
    assert strip_names(window) == before
    assert before != [str(item)]
    assert window.timeline.words.endswith(" (no longer in the program)")
    assert window.workspace.band._text == window.timeline.words


def test_now_again_the_view_is_where_it_was_unless_somebody_moved_it(
    window: MainWindow, nodes: tuple[ItemId, ItemId]
) -> None:
    canvas, attention = window.canvas, window.session.attention
    window.settings.change(reduced_motion=True)
    away = Camera(1.0, 4000.0, 4000.0)
    canvas.navigation.set_camera(away)
    before = canvas.camera
    for moment in (0, 3):
        attention.look_at(moment)
        assert not canvas.camera.is_near(before)
    attention.look_at_now()
    assert canvas.camera.is_near(before)
    attention.look_at(0)
    canvas.navigation.set_camera(canvas.camera.panned(-30, -20))
    moved = canvas.camera
    attention.look_at_now()
    assert canvas.camera.is_near(moved)


@pytest.mark.parametrize("width_px", [18.0, 22.0, 34.0])
def test_names_that_begin_alike_are_told_apart_where_there_is_little_room(qapp: QApplication, width_px: float) -> None:
    metrics = QFontMetricsF(ui_font(SMALL_PX))
    written = [fitting_name(metrics, name, width_px) for name in ("W_q", "W_k", "W_v")]
    assert len(set(written)) == 3 and all(metrics.horizontalAdvance(text) <= width_px for text in written)


def test_what_is_left_out_of_a_name_is_said_by_dots(qapp: QApplication) -> None:
    metrics = QFontMetricsF(ui_font(SMALL_PX))
    assert fitting_name(metrics, "attention", 26.0).endswith("…")
    assert fitting_name(metrics, "mmmm", 10.0) == ""


def test_python_of_several_lines_is_said_by_its_first() -> None:
    timeline, names = Timeline(), Names(Graph(), {ItemId("y"): "def double(x):\n    return 2 * x"})
    timeline.add_rows([row(1, "y"), row(2, "z")])
    assert moment_words(timeline, 0, False, names).endswith(": def double(x):… (no longer in the program)")
