"""The Memory dock: the plot comes late, and rests while it is hidden."""

import subprocess
import sys

import pytest
from pytestqt.qtbot import QtBot

from gradstudio.protocol.messages import Memory
from gradstudio.ui.panels.memory import MemoryPanel
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme, theme


@pytest.fixture
def panel(qtbot: QtBot, session: Session, dark: Theme) -> MemoryPanel:
    made = MemoryPanel(session.memory, dark)
    qtbot.addWidget(made)
    made.resize(400, 300)
    made.show()
    made.load_plot()
    return made


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
    assert pens == list(theme("light").plot[:2])


def test_pyqtgraph_and_torch_are_not_imported_with_the_window() -> None:
    heavy = "('pyqtgraph', 'torch', 'networkx')"
    words = f"import sys, gradstudio.ui.main_window; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
