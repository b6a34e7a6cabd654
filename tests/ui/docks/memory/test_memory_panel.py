"""The Memory dock: the plot comes late, and rests while it is hidden."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFontMetrics, QImage, QPainter
from pytestqt.qtbot import QtBot

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced, EdgeValue
from gradstudio.protocol.messages.events import Memory, Row
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.ui.docks.memory.curve import series_color
from gradstudio.ui.docks.memory.memory_plot import MemoryPlot
from gradstudio.ui.docks.memory.panel import MemoryPanel
from gradstudio.ui.docks.memory.plot_scale import TICK_POINTS
from gradstudio.ui.docks.memory.run_memory import RunMemory
from gradstudio.ui.state.engines.rank_child import RankGroup
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme, theme, ui_font
from tests.ui.conftest import Add


@pytest.fixture
def panel(qtbot: QtBot, session: Session, dark: Theme) -> Iterator[MemoryPanel]:
    made = MemoryPanel(session, dark)
    qtbot.addWidget(made)
    made.resize(400, 300)
    made.show()
    made.load_plot()
    yield made
    if made.plot is not None:
        made.plot.close()  # pyqtgraph's menus hang on it
        made.plot.deleteLater()


def feed(session: Session, count: int, mark: str = "") -> None:
    for k in range(count):
        series = {"tensors": 2**20 * (k + 1), "process": 300 * 2**20}
        session.memory.add(Memory(time_s=k * 0.1, device="cpu", series=series, mark=mark if k == 5 else ""))


def test_a_curve_per_series_with_figures_in_units(qtbot: QtBot, session: Session, panel: MemoryPanel) -> None:
    with qtbot.waitSignal(session.memory.changed):
        feed(session, 50, "Run")
    assert panel.plot is not None
    assert list(panel.plot._curves) == ["tensors", "process"]
    assert "50 MiB" in panel.legend._labels["tensors"].text()
    assert [line.toolTip() for line in panel.plot._marks] == ["Run 1"]


def test_of_several_processes_no_curves_are_promised(session: Session, panel: MemoryPanel) -> None:
    assert "begin when the engine is ready" in panel._waiting.text()
    session.engine.client.exchange.ranks = RankGroup(2)
    panel.refresh()
    assert panel._waiting.text() == "Of several processes no memory is measured: run in one to see its curves."


def test_a_memory_at_rest_keeps_its_curve(qtbot: QtBot, session: Session, panel: MemoryPanel) -> None:
    for k in range(400):
        session.memory.add(Memory(time_s=k * 0.5, device="cpu", series={"tensors": 184, "process": 2**28}))
    plot = panel.plot
    assert plot is not None
    plot.refresh()
    (low, high), _ = plot.getPlotItem().viewRange()
    x, y = plot._curves["tensors"].getOriginalDataset()
    assert x[0] <= low < high <= x[-1] + 1 and set(y) == {184.0}


def test_small_tensors_are_seen_beside_a_large_process(qtbot: QtBot, session: Session, panel: MemoryPanel) -> None:
    with qtbot.waitSignal(session.memory.changed):
        for k in range(20):
            session.memory.add(Memory(time_s=k * 0.1, device="cpu", series={"tensors": 20 * k, "process": 2**28}))
    plot = panel.plot
    assert plot is not None
    (_, tensors), (_, process) = plot._near.box.viewRange()[1], plot._far.box.viewRange()[1]
    assert 380 < tensors < 600 and 256 < process < 400
    assert plot.getPlotItem().getAxis("left").labelText == "B"
    assert plot.getPlotItem().getAxis("right").labelText == "MiB"


def test_labels_of_runs_at_the_edge_are_whole(qtbot: QtBot, session: Session, panel: MemoryPanel) -> None:
    with qtbot.waitSignal(session.memory.changed):
        for k in range(300):
            mark = "Run" if k in (100, 296, 299) else ""
            session.memory.add(Memory(time_s=k * 0.1, device="cpu", series={"tensors": k}, mark=mark))
    assert panel.plot is not None
    qtbot.waitUntil(lambda: panel.plot is not None and panel.plot.getPlotItem().getViewBox().width() > 200)
    labels = [line.label for line in panel.plot._marks if line.label.isVisible()]
    assert [label.toPlainText() for label in labels] == ["Run 1", "Run 3"]
    assert [label.anchor.x() for label in labels] == [0, 1]  # the newest stands left of its line
    assert all(label.fill.color().alpha() == 255 for label in labels)  # no other mark's line runs through its words


@pytest.mark.parametrize("height", [300, 150])
def test_the_label_of_a_run_stands_above_the_curves(
    qtbot: QtBot, session: Session, panel: MemoryPanel, height: int
) -> None:
    with qtbot.waitSignal(session.memory.changed):
        feed(session, 5)
    panel.grab()
    panel.resize(400, height)
    with qtbot.waitSignal(session.memory.changed):
        for k in range(5, 9):
            series = {"tensors": 2**20 * 900, "process": 2**20 * 900}
            session.memory.add(Memory(time_s=k * 0.1, device="cpu", series=series, mark="Run" if k == 5 else ""))
    plot = panel.plot
    assert plot is not None
    label = plot._marks[0].label
    for _ in range(2):  # at once, and when it was painted
        words = label.mapRectToScene(label.boundingRect())
        tops = [
            scale.box.mapViewToScene(QPointF(0, 900 * 2**20 / scale.factor)).y() for scale in (plot._near, plot._far)
        ]
        assert plot.getPlotItem().getViewBox().sceneBoundingRect().top() - 4 <= words.top()
        assert words.bottom() - 4 <= min(tops)  # a text item has a margin of four pixels
        panel.grab()


def test_what_training_holds_stands_beside_the_tensors_in_colours_of_its_own(
    qtbot: QtBot, session: Session, panel: MemoryPanel
) -> None:
    with qtbot.waitSignal(session.memory.changed):
        for k in range(20):
            held = {"tensors": 4 * 2**20, "kept": 0, "process": 300 * 2**20}
            trained = {"gradients": 4 * 2**20, "optimizer": 8 * 2**20} if k > 9 else {}
            session.memory.add(Memory(time_s=k * 0.1, device="cpu", series={**held, **trained}))
    names = ["tensors", "gradients", "optimizer", "kept", "process"]
    assert panel.plot is not None and list(panel.plot._curves) == list(panel.legend._labels) == names
    pens = {curve.opts["pen"].color().name() for curve in panel.plot._curves.values()}
    assert len(pens) == len(names)
    assert [panel.legend._labels[name].text().rpartition("<br>")[2] for name in names[:3]] == [
        "4 MiB",
        "4 MiB",
        "8 MiB",
    ]


def test_nothing_is_drawn_while_the_dock_is_hidden(qtbot: QtBot, session: Session, panel: MemoryPanel) -> None:
    panel.hide()
    with qtbot.waitSignal(session.memory.changed):
        feed(session, 10)
    assert panel.plot is not None and panel.plot._curves == {}
    panel.show()
    assert list(panel.plot._curves) == ["tensors", "process"]


def test_another_theme_repaints_the_curves(qtbot: QtBot, session: Session, panel: MemoryPanel) -> None:
    with qtbot.waitSignal(session.memory.changed):
        feed(session, 10)
    panel.set_theme(theme("light"))
    assert panel.plot is not None
    pens = [curve.opts["pen"].color().name() for curve in panel.plot._curves.values()]
    assert pens == [series_color(theme("light").plot, name) for name in ("tensors", "process")]


def test_pyqtgraph_and_torch_are_not_imported_with_the_window() -> None:
    heavy = "('pyqtgraph', 'torch', 'networkx')"
    words = f"import sys, gradstudio.ui.app.window.main_window; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.fixture
def ran(qtbot: QtBot, session: Session, panel: MemoryPanel, add: Add) -> tuple[ItemId, ItemId]:
    """Two statements within a second, the second makes twice as much, and a backward of the first."""
    first, second = add("torch.eye", n="4"), add("torch.eye", n="8")
    with qtbot.waitSignal(session.memory.changed):
        for k in range(50):
            session.memory.add(Memory(time_s=100 + k * 0.1, device="cpu", series={"tensors": 300}))
    session.results.tables.add_rows(
        [
            Row(step=1, node=first, outputs=(), seconds=0.1, at_s=102.0, made_bytes=100, alive_bytes=100),
            Row(step=2, node=second, outputs=(), seconds=0.1, at_s=103.0, made_bytes=200, alive_bytes=300),
        ]
    )
    autograd = AutogradRow(backward=1, autograd="AccumulateGrad", node=first, seconds=0.5)
    session.results.tables.add_backward(BackwardTraced(revision=0, rows=(autograd,), backward=1, at_s=103.5))
    return first, second


def test_the_moment_is_a_line_in_the_run(
    qtbot: QtBot, panel: MemoryPanel, session: Session, ran: tuple[ItemId, ItemId]
) -> None:
    plot = panel.plot
    assert plot is not None
    session.attention.look_at(1)
    qtbot.waitUntil(lambda: plot._history.shown.moment_s == pytest.approx(3.0))
    times, sizes = zip(*plot._history.shown.run, strict=True)
    assert times == pytest.approx((2.0, 3.0, 4.0)) and sizes == (100.0, 300.0, 300.0)
    low, high = plot.getPlotItem().viewRange()[0]
    assert 1.5 < low < 2.0 and 4.0 < high < 4.5
    session.attention.look_at(2)
    qtbot.waitUntil(lambda: plot._history.shown.moment_s == pytest.approx(4.0))
    assert plot._history.shown.phase == "backward"
    session.attention.look_at(None)
    qtbot.waitUntil(lambda: plot._history.shown.moment_s is None)
    assert not plot._history._line.isVisible()


@pytest.mark.feature(70)
def test_a_hovered_node_shows_its_part(panel: MemoryPanel, session: Session, ran: tuple[ItemId, ItemId]) -> None:
    plot = panel.plot
    assert plot is not None
    session.attention.hover(ran[1])
    assert plot._history.shown.part is not None
    start, end, size, words = plot._history.shown.part
    assert (start, end, size) == (pytest.approx(2.9), pytest.approx(4.9), 200), "it is still held"
    assert words.endswith("200 B")
    session.attention.hover(None)
    assert plot._history.shown.part is None


def test_the_pointer_names_its_node_and_a_click_moves_the_moment(
    panel: MemoryPanel, session: Session, ran: tuple[ItemId, ItemId]
) -> None:
    assert panel.plot is not None
    session.attention.look_at(0)
    panel.plot.pointed.emit(2.7)
    assert session.attention.hovered == ran[1]
    panel.plot.picked.emit(3.8)
    assert session.attention.moment == 2
    panel.plot.pointed.emit(None)
    assert session.attention.hovered is None


def test_at_now_a_click_shows_the_run_in_its_own_time_scale_where_the_next_one_picks(
    qtbot: QtBot, panel: MemoryPanel, session: Session, add: Add
) -> None:
    first, second = add("torch.ones"), add("torch.exp")
    with qtbot.waitSignal(session.memory.changed):
        feed(session, 300)
    times = ((first, 1, 2.001, 0.001), (second, 2, 2.005, 0.004))
    session.results.tables.add_rows(
        [Row(step=k, node=n, outputs=(), seconds=s, at_s=at, alive_bytes=8) for n, k, at, s in times]
    )
    plot = panel.plot
    assert plot is not None and not plot.shows_run
    qtbot.waitUntil(lambda: plot.getPlotItem().getViewBox().width() > 200)
    plot.picked.emit(9.0)
    assert plot.shows_run and session.attention.moment is None, "a run of milliseconds is a pixel of the last minute"
    assert plot.zoom.isVisible() and plot.zoom.isChecked()
    plot.pointed.emit(2.002)
    assert session.attention.hovered == second and plot._history.shown.name == "exp"
    assert (plot._history.held_at(2.0), plot._history.held_at(2.002)) == (None, 8.0)
    plot.picked.emit(2.002)
    assert session.attention.moment == 1
    assert plot._history.shown.moment_s == 2.002, "where it was clicked, not at the statement's end"
    session.attention.look_at(0)
    qtbot.waitUntil(lambda: plot._history.shown.moment_s == pytest.approx(2.001))
    session.attention.look_at(None)
    plot.zoom.click()
    assert not plot.shows_run and plot.zoom.isVisible()


def test_freed_bytes_end_where_they_were_let_go(
    session: Session, ran: tuple[ItemId, ItemId], panel: MemoryPanel
) -> None:
    memory = RunMemory(session.results.timeline)
    part = memory.part(session.results.timeline, ran[0], None, freed_step=2)
    assert part is not None and (part.end_s, part.size_bytes) == (103.0, 100)
    assert memory.part(session.results.timeline, ItemId("gone"), None, 0) is None


def test_another_moment_reads_no_tick_and_what_ran_reads_them_anew(
    session: Session, ran: tuple[ItemId, ItemId], panel: MemoryPanel
) -> None:
    assert panel._join is not None
    session.attention.look_at(0)
    read = panel._join._run
    session.attention.look_at(1)
    session.attention.look_at(None)
    assert panel._join._run is read
    session.results.tables.add_rows([Row(step=9, node=ran[0], outputs=(), at_s=200.0, alive_bytes=8)])
    session.results.tables.pace.flush()
    assert panel._join._run is not read and panel._join._run.points[-1].at_s == 200.0


def test_the_legend_asks_for_no_width_and_takes_the_columns_that_fit(session: Session, panel: MemoryPanel) -> None:
    names = ("tensors", "kept", "process", "allocated", "reserved", "peak", "total")
    panel.legend.show_figures(dict.fromkeys(names, 2.0**33))
    assert panel.minimumSizeHint().width() < 296
    panel.legend.resize(2000, 40)
    assert panel.legend.columns == len(names)
    panel.legend.resize(272, 120)
    assert 1 < panel.legend.columns < len(names)
    panel.legend.resize(40, 300)
    assert panel.legend.columns == 1


def test_all_ticks_of_the_time_axis_have_one_unit(panel: MemoryPanel) -> None:
    assert panel.plot is not None
    axis = panel.plot.getPlotItem().getAxis("bottom")
    axis.set_origin(1000.0)
    axis.setRange(999.9, 1002.9)
    assert axis.tickStrings([1001.0, 1002.0], 1.0, 1.0) == ["1 s", "2 s"]
    assert axis.tickStrings([1000.5, 1001.5], 1.0, 0.5) == ["0.5 s", "1.5 s"]
    axis.setRange(999.9, 1000.4)
    assert axis.tickStrings([1000.0, 1000.2], 1.0, 0.2) == ["0 ms", "200 ms"]
    assert axis.tickStrings([1000.0005], 1.0, 0.0005) == ["0.5 ms"]


def labels_of(plot: MemoryPlot) -> dict[str, list[QRectF]]:
    """Where the words of each scale stand, pixels of the plot."""
    image = QImage(8, 8, QImage.Format.Format_ARGB32)
    found = {}
    for side in ("left", "right", "bottom"):
        axis, painter = plot.getPlotItem().getAxis(side), QPainter(image)
        painter.setFont(ui_font(TICK_POINTS))
        words = axis.generateDrawSpecs(painter)[2]
        painter.end()
        found[side] = [axis.mapRectToScene(rect) for rect, _flags, _text in words]
    return found


@pytest.mark.parametrize("width", [250, 300, 400])
def test_the_button_that_zooms_covers_neither_curves_nor_words_of_a_scale(
    panel: MemoryPanel, session: Session, ran: tuple[ItemId, ItemId], qtbot: QtBot, width: int
) -> None:
    plot = panel.plot
    assert plot is not None
    panel.resize(width, 170)
    with qtbot.waitSignal(session.memory.changed):
        feed(session, 200)
    qtbot.waitUntil(lambda: bool(labels_of(plot)["right"]))
    plot.offer_zoom(True, False)
    button, box = QRectF(plot.zoom.geometry()), plot.getPlotItem().getViewBox().sceneBoundingRect()
    assert plot.rect().contains(plot.zoom.geometry()) and not button.intersects(box)
    assert not any(button.intersects(words) for side in labels_of(plot).values() for words in side)


@pytest.mark.parametrize("span_s", [0.02, 0.032, 0.05, 0.9, 3.0, 60.0])
def test_times_are_round_from_the_origin_and_their_words_have_room(panel: MemoryPanel, span_s: float) -> None:
    assert panel.plot is not None
    axis = panel.plot.getPlotItem().getAxis("bottom")
    axis.set_origin(1000.0037)
    start = 1000.0037 - 0.06 * span_s
    axis.setRange(start, start + span_s)
    metrics = QFontMetrics(ui_font(TICK_POINTS))
    for size in (90.0, 150.0, 400.0):
        spacing, values = axis.tickValues(start, start + span_s, size)[0]
        words = axis.tickStrings(values, 1.0, spacing)
        shares = [(value - axis.origin_s) / spacing for value in values]
        assert shares == pytest.approx([round(share) for share in shares], abs=1e-6)
        widest = max((metrics.horizontalAdvance(word) for word in words), default=0)
        assert len(values) < 2 or widest < spacing / span_s * size


def test_looking_back_the_figures_are_those_of_the_moment(
    qtbot: QtBot, session: Session, add: Add, panel: MemoryPanel
) -> None:
    item = add("torch.ones")
    with qtbot.waitSignal(session.memory.changed):
        for k in range(6):
            series = {"tensors": 8, "process": 2**20 * (k + 1)}
            session.memory.add(Memory(time_s=k * 0.1, device="cpu", series=series))
    session.results.tables.add_rows(
        [Row(step=k + 1, node=item, outputs=(), at_s=0.25 + k / 1000, alive_bytes=4 * (k + 1)) for k in range(2)]
    )
    session.attention.look_at(0)
    qtbot.waitUntil(lambda: panel.legend._labels["tensors"].text().endswith(">4 B"))
    assert ">3 MiB<" in panel.legend._labels["process"].text()
    session.attention.look_at_now()
    qtbot.waitUntil(lambda: panel.legend._labels["tensors"].text().endswith(">8 B"))


def test_another_document_begins_without_figures(qtbot: QtBot, session: Session, panel: MemoryPanel) -> None:
    with qtbot.waitSignal(session.memory.changed):
        feed(session, 10)
    with qtbot.waitSignal(session.memory.changed):
        session.new()
    assert session.memory.names == () and panel.legend._labels == {}


def test_the_legend_keeps_its_figures_in_another_theme(panel: MemoryPanel) -> None:
    panel.legend.resize(400, 60)
    panel.legend.show_figures({"tensors": 50 * 2.0**20, "process": None})
    panel.set_theme(theme("light"))
    text = panel.legend._labels["tensors"].text()
    assert "50 MiB" in text
    assert theme("light").plot[0] in text
    assert not panel.legend._labels["tensors"].isHidden()


def test_looking_back_gradients_are_those_of_the_step_and_the_rest_says_when_it_was_sampled(
    qtbot: QtBot, session: Session, add: Add, panel: MemoryPanel
) -> None:
    """A run of a millisecond, between two samples: only the later one knows of gradients."""
    leaf, loss = add("torch.ones"), add("torch.sum")
    with qtbot.waitSignal(session.memory.changed):
        session.memory.add(Memory(time_s=0.0, device="cpu", series={"tensors": 0, "process": 2**20}))
        later = {"tensors": 16, "gradients": 12, "optimizer": 0, "process": 2**20}
        session.memory.add(Memory(time_s=0.5, device="cpu", series=later))
    three = Summary(dtype="torch.float32", shape=(3,))
    ones = TensorRecord(device="cpu", summary=three, requires_grad=True, is_leaf=True, storage=1, size_bytes=12)
    rows = [
        Row(step=1, node=leaf, outputs=(ones,), at_s=0.1, alive_bytes=12),
        Row(step=2, node=loss, outputs=(), at_s=0.101, alive_bytes=16),
    ]
    session.results.tables.add_rows(rows)
    arrives = AutogradRow(
        backward=1, autograd="AccumulateGrad", node=leaf, incoming=(three,), values=(EdgeValue(node=leaf),),
        after=three, seconds=0.001,
    )  # fmt: skip
    session.results.tables.add_backward(BackwardTraced(revision=0, rows=(arrives,), backward=1, at_s=0.102))
    told = {}
    for step in (1, 2, 3):
        session.attention.look_at(step - 1)
        qtbot.waitUntil(lambda words=f"Step {step} · ": panel.moment.text().startswith(words))
        told[step] = panel.legend._labels["gradients"].text().rpartition(">")[2]
        assert panel.moment.isVisible()
        assert panel.moment.text().startswith(f"Step {step} · dim: sampled 10")
    assert told == {1: "0 B", 2: "0 B", 3: "12 B"}
    dim = panel._theme.text_dim
    assert panel.legend._labels["optimizer"].text().endswith(f"<span style='color:{dim}'>0 B</span>")
    assert panel.plot is not None
    panel.plot.moment_changed.emit({"gradients": 16.0})
    assert panel.moment.isVisible() and panel.moment.text() == "At the pointer"
    assert panel.legend._labels["gradients"].text().endswith(">16 B")
    panel.plot.moment_changed.emit(None)
    assert panel.moment.text().startswith("Step 3 · ")
    session.attention.look_at_now()
    qtbot.waitUntil(panel.moment.isHidden)
    panel.plot.moment_changed.emit({"gradients": 16.0})
    assert panel.moment.isHidden()
    panel.plot.moment_changed.emit(None)
    assert panel.legend._labels["gradients"].text().endswith(">12 B")


def test_another_moment_is_on_the_canvas_before_its_figures(qtbot: QtBot, session: Session, panel: MemoryPanel) -> None:
    """The line that says which moment it is moves the plot, which is drawn anew: a step back waited for that."""
    with qtbot.waitSignal(session.memory.changed):
        session.memory.add(Memory(time_s=0.0, device="cpu", series={"tensors": 8}))
    session.results.tables.add_rows([Row(step=1, node=ItemId("n1"), outputs=(), at_s=0.1, alive_bytes=4)])
    session.attention.look_at(0)
    assert panel.moment.isHidden()
    qtbot.waitUntil(panel.moment.isVisible)
