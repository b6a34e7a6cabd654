"""The inspector is never wider than its dock, whatever words stand in it."""

from PySide6.QtWidgets import QComboBox, QLineEdit, QStyleOptionComboBox
from pytestqt.qtbot import QtBot

from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.events import Failed
from gradstudio.ui.docks.inspector.document_modes import TwoWays
from gradstudio.ui.docks.inspector.editors.argument_editor import LineEditor
from gradstudio.ui.docks.inspector.panel import InspectorPanel
from gradstudio.ui.state.results.failure import Failure
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from gradstudio.ui.theme.style import style_sheet

TEXT = """import torch
import torch.nn as nn
x = torch.randn(1, 3, 8, 8)
# region: inc.net.with.many.parts (SequentialOfManyParts of a long name)
conv = nn.Conv2d(3, 8, 3, padding=1)
out = conv(x)
# endregion
"""


def test_a_long_title_of_a_group_does_not_push_the_fields_under_the_edge(
    qtbot: QtBot, session: Session, dark: Theme
) -> None:
    panel = InspectorPanel(session, dark)
    qtbot.addWidget(panel)
    panel.resize(292, 500)
    panel.show()
    session.graph_store.load(read_script(TEXT).graph)
    node = next(node for node in session.graph_store.graph.nodes.values() if "conv" in node.names)
    session.attention.select({node.id})
    panel.refresh()
    qtbot.waitUntil(lambda: panel.verticalScrollBar().isVisible())
    qtbot.waitUntil(lambda: panel.widget().width() == panel.viewport().width())
    assert panel.details.isVisible()


def test_a_long_word_of_torch_does_not_push_our_words_under_the_edge(
    qtbot: QtBot, session: Session, dark: Theme
) -> None:
    panel = InspectorPanel(session, dark)
    qtbot.addWidget(panel)
    panel.resize(265, 500)
    panel.show()
    session.graph_store.load(read_script("import torch\ny = torch.randn(3).exp()\n").graph)
    node = next(node for node in session.graph_store.graph.nodes.values() if "y" in node.names)
    session.attention.select({node.id})
    message = "Hint: torch.autograd.set_detect_anomaly_mode_for_every_backward(True, check_nan=False) says more. " * 3
    failed = Failed(revision=1, node=node.id, address="y", line=2, type_name="RuntimeError", message=message)
    session.results.tables.add_failure(Failure(failed, "A value that backward needs was overwritten.", ()))
    qtbot.waitUntil(panel.details.trouble.isVisible)
    qtbot.waitUntil(lambda: panel.widget().width() == panel.viewport().width())
    theirs = panel.details.trouble.theirs
    qtbot.waitUntil(
        lambda: theirs.height() >= theirs.heightForWidth(theirs.width()) > 4 * theirs.fontMetrics().height()
    )


def test_the_two_ways_of_a_module_are_whole_words_where_the_dock_is_narrowest(
    qtbot: QtBot, session: Session, dark: Theme
) -> None:
    panel = InspectorPanel(session, dark)
    qtbot.addWidget(panel)
    panel.setStyleSheet(style_sheet(dark))
    panel.resize(265, 500)
    panel.show()
    session.graph_store.load(read_script(TEXT).graph)
    panel.refresh()
    qtbot.waitUntil(lambda: panel.widget().width() == panel.viewport().width())
    words = [button for switch in panel.findChildren(TwoWays) for button in (switch.first, switch.second)]
    shown = [button for button in words if button.isVisible()]
    assert [button.text() for button in shown] == ["Train", "Evaluate"]
    for button in shown:
        assert button.width() >= button.minimumSizeHint().width()


def test_a_choice_that_is_closed_shows_whole_words(qtbot: QtBot, session: Session, dark: Theme) -> None:
    session.graph_store.load(
        read_script("import torch\nx = torch.zeros(3)\ny = torch.nn.functional.mse_loss(x, x)\n").graph
    )
    node = next(node for node in session.graph_store.graph.nodes.values() if "y" in node.names)
    session.attention.select({node.id})
    panel = InspectorPanel(session, dark)
    qtbot.addWidget(panel)
    panel.setStyleSheet(style_sheet(dark))
    panel.resize(500, 500)
    panel.show()
    panel.refresh()
    box = next(box for box in panel.findChildren(QComboBox) if box.currentText().startswith("mean"))
    seen = QStyleOptionComboBox()
    for width, words in ((300, "mean  (default)"), (box.minimumSizeHint().width(), "mean")):
        box.resize(width, box.height())
        box.initStyleOption(seen)
        assert seen.currentText == words


def test_the_default_of_a_field_is_said_in_whole_words(qtbot: QtBot, session: Session, dark: Theme) -> None:
    panel = InspectorPanel(session, dark)
    qtbot.addWidget(panel)
    panel.setStyleSheet(style_sheet(dark))
    session.graph_store.load(read_script("import torch\nx = torch.randn(3).sum()\nx.backward()\n").graph)
    node = next(node for node in session.graph_store.graph.nodes.values() if node.operator.endswith("backward"))
    session.attention.select({node.id})
    said = []
    for width in (265, 400):
        panel.resize(width, 500)
        panel.show()
        panel.refresh()
        qtbot.waitUntil(lambda: panel.widget().width() == panel.viewport().width())
        (line,) = [editor for editor in panel.findChildren(LineEditor) if editor.port.path == "inputs"]
        field = line.findChild(QLineEdit)
        assert field is not None
        letters = field.fontMetrics().horizontalAdvance(field.placeholderText())
        assert letters <= field.width() - 12
        said.append(field.placeholderText())
    assert said == ["None", "None  (default)"]
