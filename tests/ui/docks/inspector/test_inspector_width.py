"""The inspector is never wider than its dock, whatever words stand in it."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QLineEdit, QStyleOptionComboBox
from pytestqt.qtbot import QtBot

from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.events import Failed, Row
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.ui.docks.inspector.document_modes import TwoWays
from gradstudio.ui.docks.inspector.editors.argument_editor import LineEditor
from gradstudio.ui.docks.inspector.ledger import Ledger, Line
from gradstudio.ui.docks.inspector.panel import InspectorPanel
from gradstudio.ui.docks.inspector.value_facts import size_words
from gradstudio.ui.state.results.failure import Failure
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme, theme
from gradstudio.ui.theme.model import TextScale
from gradstudio.ui.theme.style import apply, style_sheet
from gradstudio.ui.widgets.form_layout import NameLabel

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


def test_a_long_path_of_an_operator_does_not_push_numbers_under_the_edge(
    qtbot: QtBot, session: Session, dark: Theme
) -> None:
    panel = InspectorPanel(session, dark)
    qtbot.addWidget(panel)
    panel.resize(265, 500)
    panel.show()
    text = "from torch import nn\nnet = nn.Linear(3, 1)\nmodel = nn.parallel.DistributedDataParallel(net)\n"
    session.graph_store.load(read_script(text).graph)
    node = next(node for node in session.graph_store.graph.nodes.values() if "model" in node.names)
    session.attention.select({node.id})
    panel.refresh()
    qtbot.waitUntil(lambda: panel.verticalScrollBar().isVisible())
    qtbot.waitUntil(lambda: panel.widget().width() == panel.viewport().width())
    key = panel.details.head.key
    assert key.text().replace("\u200b", "") == "torch.nn.parallel.DistributedDataParallel"
    assert key.height() > 1.5 * key.fontMetrics().height(), "it goes on in a second line"


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


ROWS = """import torch
x = torch.randn(4, 4, requires_grad=True)
turned = x.t()
"""


def shown_in_large_letters(panel: InspectorPanel, qtbot: QtBot, width: int = 265) -> None:
    panel.setStyleSheet(style_sheet(theme("dark")))
    panel.resize(width, 500)
    panel.show()
    panel.refresh()
    qtbot.waitUntil(lambda: panel.widget().width() == panel.viewport().width())


def overflowing(label: QLabel) -> bool:
    """Whether letters of a label stand beyond its edge."""
    words = label.fontMetrics().boundingRect(
        QRect(0, 0, label.width(), 10_000), Qt.TextFlag.TextWordWrap if label.wordWrap() else 0, label.text()
    )
    return words.height() > label.height() or words.width() > label.width()


@pytest.fixture
def large_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TextScale, "factor", 1.15)


@pytest.mark.usefixtures("large_letters")
def test_facts_over_two_lines_are_whole(qtbot: QtBot, session: Session, dark: Theme) -> None:
    """A view's: `[1, 4], not contiguous` goes on in a second line."""
    session.graph_store.load(read_script(ROWS).graph)
    node = next(node for node in session.graph_store.graph.nodes.values() if "turned" in node.names)
    summary = Summary(dtype="float32", shape=(4, 4), minimum=-1.6, maximum=1.65, mean=0.1, rms=1.0)
    record = TensorRecord(
        device="cpu", summary=summary, stride=(1, 4), contiguous=False, requires_grad=True, grad_fn="TBackward0",
        size_bytes=64, storage=1,
    )  # fmt: skip
    session.results.tables.add_rows([Row(step=1, node=node.id, outputs=(record,))])
    session.attention.select({node.id})
    panel = InspectorPanel(session, dark)
    qtbot.addWidget(panel)
    shown_in_large_letters(panel, qtbot)
    labels = panel.details.values.value.pairs.findChildren(QLabel)
    qtbot.waitUntil(lambda: not [label.text() for label in labels if label.isVisible() and overflowing(label)])


@pytest.mark.usefixtures("large_letters")
def test_a_long_number_of_a_ledger_cuts_no_name(qtbot: QtBot, session: Session, dark: Theme) -> None:
    ledger = Ledger(session.attention, dark)
    qtbot.addWidget(ledger)
    ledger.show()
    lines = (
        *(Line("forward", "0.122 ms"), Line("kept for showing", "64 B")),
        *(Line("shares memory with y", "the base of this view"), Line("parameters, buffers", "1.25 KiB")),
    )
    ledger.show_lines(lines)
    labels = ledger.findChildren(QLabel)
    for width in (230, 700, 230):
        ledger.resize(width, 300)
        qtbot.waitUntil(lambda: not [label.text() for label in labels if label.isVisible() and overflowing(label)])
    assert ledger.words() == [f"{line.name}  {line.text}" for line in lines]


@pytest.mark.usefixtures("large_letters")
def test_a_long_name_is_shown_from_its_beginning(qtbot: QtBot, session: Session, dark: Theme) -> None:
    session.graph_store.load(read_script("import torch\nmatrix_with_a_long_name = torch.ones(3)\n").graph)
    (node,) = session.graph_store.graph.nodes.values()
    session.attention.select({node.id})
    panel = InspectorPanel(session, dark)
    qtbot.addWidget(panel)
    shown_in_large_letters(panel, qtbot)
    name = panel.details.head.name
    assert name.text() == "matrix_with_a_long_name"
    assert name.cursorPosition() == 0


@pytest.mark.usefixtures("large_letters")
def test_what_a_field_of_the_inspector_asks_for_is_whole(qtbot: QtBot, session: Session, dark: Theme) -> None:
    session.graph_store.load(read_script(ROWS).graph)
    session.attention.select({next(iter(session.graph_store.graph.nodes))})
    panel = InspectorPanel(session, dark)
    qtbot.addWidget(panel)
    shown_in_large_letters(panel, qtbot)
    edit = panel.details.note.edit
    words = edit.fontMetrics().boundingRect(
        QRect(0, 0, edit.viewport().width() - 8, 10_000), Qt.TextFlag.TextWordWrap, edit.placeholderText()
    )
    assert words.height() <= edit.viewport().height()


@pytest.mark.parametrize(
    ("shape", "size_bytes", "words"),
    [
        ((), 4, "1 element, 4 B"),
        ((), 64, "1 element, 4 B of a storage of 64 B"),
        ((4, 4), 16, "16 elements on a storage of 16 B"),
    ],
)
def test_a_size_is_that_of_the_tensor_and_its_storage_is_named(
    shape: tuple[int, ...], size_bytes: int, words: str
) -> None:
    """A scalar picked of a matrix, and a row that is expanded."""
    summary = Summary(dtype="torch.float32", shape=shape)
    record = TensorRecord(device="cpu", summary=summary, stride=(0,) * len(shape), size_bytes=size_bytes, storage=1)
    assert size_words(record) == words


@pytest.fixture(params=[1.0, 1.15, 1.3])
def letters(qapp: QApplication, dark: Theme, request: pytest.FixtureRequest) -> Iterator[float]:
    """The whole window's text so much larger."""
    apply(qapp, dark, request.param)
    yield request.param
    apply(qapp, dark, 1.0)


def test_the_names_of_arguments_are_whole_at_every_size_of_text(
    qtbot: QtBot, session: Session, dark: Theme, letters: float
) -> None:
    session.graph_store.load(read_script("import torch\nx = torch.ones(3, requires_grad=True)\n").graph)
    session.attention.select(set(session.graph_store.graph.nodes))
    panel = InspectorPanel(session, dark)
    qtbot.addWidget(panel)
    shown_in_large_letters(panel, qtbot)
    words = [word for word in panel.findChildren(NameLabel) if word.isVisible()]
    assert words[0].font().pixelSize() == round(13 * letters)
    assert "requires_grad" in [word.text() for word in words]


def test_a_second_call_of_a_layer_takes_no_more_width(qtbot: QtBot, session: Session, dark: Theme) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    apply(app, dark, 1.0)
    panel = InspectorPanel(session, dark)
    qtbot.addWidget(panel)
    panel.resize(264, 500)
    panel.show()
    text = "import torch\nfrom torch import nn\nx = torch.randn(2, 3)\nfc = nn.Linear(3, 3)\ny = fc(x)\n"
    widths = []
    for more in ("", "z = fc(y)\n"):
        session.graph_store.load(read_script(text + more).graph)
        node = next(node for node in session.graph_store.graph.nodes.values() if "fc" in node.names)
        session.attention.select({node.id})
        panel.refresh()
        widths.append(panel.widget().minimumSizeHint().width())
    assert widths[0] == widths[1]
