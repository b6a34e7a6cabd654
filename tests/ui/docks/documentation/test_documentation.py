"""The Documentation dock, read and used by hand: which page is shown, where its links lead, what it copies."""

from html import escape

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTextBrowser
from pytestqt.qtbot import QtBot

from gradstudio.operators.catalogue import block_rows
from gradstudio.operators.catalogue.descriptions import badges, plain_summary, results
from gradstudio.operators.catalogue.loader import load
from gradstudio.protocol.messages.base import PROTOCOL_VERSION
from gradstudio.protocol.messages.events import Hello
from gradstudio.protocol.messages.torch_docs import Described, Passage
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.docks.documentation.code_html import without_prompts
from gradstudio.ui.docks.documentation.operator_page import page
from gradstudio.ui.docks.documentation.page_history import History
from gradstudio.ui.docks.documentation.page_links import operator_at, web_address
from gradstudio.ui.docks.documentation.panel import DocumentationPanel
from gradstudio.ui.state.library.page_store import WAITING
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.operator_signature import summary_html, tooltip
from tests.ui.conftest import Add

TEXT = """matmul(input, other, *, out=None) -> Tensor

Matrix product of two tensors. See also :func:`torch.bmm`, and `the paper <https://example.org/x>`_.

Args:
    input (Tensor): the first tensor
    other (Tensor): the second tensor

Example::

    >>> a = torch.randn(2, 3)
    >>> # xdoctest: +SKIP
    >>> if True:
    ...     torch.matmul(a, a.T)
    tensor([1, 2])
"""


@pytest.fixture
def panel(qtbot: QtBot, session: Session, dark: Theme) -> DocumentationPanel:
    made = DocumentationPanel(session, dark)
    made.resize(360, 700)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitExposed(made)
    return made


def answer(session: Session, key: str, text: str = TEXT) -> None:
    """What the engine says of the one page that was asked for."""
    session.engine.received.emit(Hello(protocol=PROTOCOL_VERSION, ready=True, pid=1, torch="2.13"))
    for number in range(1, 50):  # the store knows which of them it asked
        passages = (Passage(key.partition(":")[0], text),)
        session.engine.received.emit(Described(request=number, operator=key, passages=passages, torch="2.13"))


def words(panel: DocumentationPanel) -> str:
    return panel.browser.toPlainText()


def click(browser: QTextBrowser, text: str) -> None:
    """Press on a link of these words."""
    cursor = browser.document().find(text)
    while not cursor.isNull() and not cursor.charFormat().isAnchor():
        cursor = browser.document().find(text, cursor)
    assert not cursor.isNull(), text
    cursor.setPosition(cursor.selectionStart() + 1, QTextCursor.MoveMode.MoveAnchor)
    browser.setTextCursor(cursor)
    browser.ensureCursorVisible()
    QTest.mouseClick(browser.viewport(), Qt.MouseButton.LeftButton, pos=browser.cursorRect(cursor).center())


def test_until_torch_answers_the_page_shows_what_the_catalogue_knows(
    panel: DocumentationPanel, session: Session
) -> None:
    panel.show_operator("torch.matmul")
    told = words(panel)
    operator = load()["torch.matmul"]
    assert WAITING["starting"] in told and operator.summary in told
    assert all(parameter.name in told for parameter in operator.parameters)
    answer(session, "torch.matmul")
    told = words(panel)
    assert WAITING["starting"] not in told and "Matrix product of two tensors." in told
    assert "the second tensor" in told and "torch 2.13" in told


def test_the_page_follows_the_node_that_is_selected(panel: DocumentationPanel, session: Session, add: Add) -> None:
    item = add("torch.relu")
    session.attention.select((item,))
    assert panel.operator is load()["torch.relu"] and words(panel).startswith("relu")
    session.attention.select(())
    assert panel.operator is load()["torch.relu"], "the page stays"


def test_a_link_shows_the_other_operator_and_one_can_go_back(
    panel: DocumentationPanel, session: Session, qtbot: QtBot
) -> None:
    panel.show_operator("torch.matmul")
    answer(session, "torch.matmul")
    click(panel.browser, "torch.bmm")
    assert panel.operator is load()["torch.bmm"]
    QTest.mouseClick(panel.back, Qt.MouseButton.LeftButton)
    assert panel.operator is load()["torch.matmul"] and "Matrix product" in words(panel)
    QTest.mouseClick(panel.forward, Qt.MouseButton.LeftButton)
    assert panel.operator is load()["torch.bmm"] and not panel.forward.isEnabled()


def test_an_example_is_copied_without_prompts_and_output(panel: DocumentationPanel, session: Session) -> None:
    panel.resize(500, 1600)
    panel.show_operator("torch.matmul")
    answer(session, "torch.matmul")
    links = [
        fragment.charFormat().anchorHref()
        for block in _blocks(panel.browser)
        for fragment in _fragments(block)
        if fragment.charFormat().anchorHref().startswith("copy:")
    ]
    assert len(links) == 1
    panel.browser.anchorClicked.emit(QUrl(links[0]))
    assert QApplication.clipboard().text() == "a = torch.randn(2, 3)\nif True:\n    torch.matmul(a, a.T)\n"


def test_selected_words_are_copied_as_they_are_read(panel: DocumentationPanel, session: Session) -> None:
    panel.show_operator("torch.matmul")
    answer(session, "torch.matmul")
    panel.browser.selectAll()
    panel.browser.copy()
    copied = QApplication.clipboard().text()
    assert "torch.matmul(input, other)" in copied and "\u200b" not in copied


def test_f1_shows_the_page_of_the_library_row_and_of_the_selected_node(
    window: MainWindow, qtbot: QtBot, add: Add
) -> None:
    window.frame.activateWindow()
    qtbot.waitUntil(window.frame.isActiveWindow)
    qtbot.waitUntil(lambda: not window.documentation.is_seen)  # the inspector lies over it
    window.library.field.setFocus()
    QTest.keyClicks(window.library.field, "CrossEntropyLoss")
    QTest.keyClick(window.library.field, Qt.Key.Key_F1)
    qtbot.waitUntil(lambda: "CrossEntropyLoss" in words(window.documentation))
    assert window.documentation.is_seen
    assert window.documentation.operator is load()["torch.nn.CrossEntropyLoss"]
    window.canvas.setFocus()
    window.session.attention.select((add("torch.tanh"),))
    QTest.keyClick(window.canvas, Qt.Key.Key_F1)
    assert window.documentation.operator is load()["torch.tanh"]


def test_f1_in_the_search_of_the_canvas_shows_the_row_that_is_lit(window: MainWindow, qtbot: QtBot) -> None:
    window.frame.activateWindow()
    qtbot.waitUntil(window.frame.isActiveWindow)
    window.canvas.setFocus()
    window.canvas.searching.open_at_pointer()
    popup = window.frame.focusWidget()
    assert popup is not None
    QTest.keyClicks(popup, "softmax")
    lit = window.shared_library.looked_up()
    assert "softmax" in lit
    QTest.keyClick(popup, Qt.Key.Key_F1)
    assert window.documentation.operator is load()[lit]
    QTest.keyClick(popup, Qt.Key.Key_Escape)


def test_the_button_in_the_inspector_opens_the_page(window: MainWindow, qtbot: QtBot, add: Add) -> None:
    window.session.attention.select((add("torch.exp"),))
    QTest.mouseClick(window.inspector.details.head.documentation, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: window.documentation.is_seen)
    assert window.documentation.operator is load()["torch.exp"]


def test_every_operator_has_a_page_without_torch(dark: Theme) -> None:
    """Head, signature and every argument with what it takes."""
    for operator in load():
        html = page(operator, None, (), WAITING["ready"], dark).html
        assert f"<p class='title'>{escape(operator.title)}</p>" in html, operator.key
        assert escape(results(operator)) in html and all(escape(word) in html for _, word in badges(operator))
        for parameter in operator.parameters:
            assert f">{'*' * parameter.variadic}{escape(parameter.name)}</span>" in html, operator.key


def test_links_lead_to_operators_by_any_way_torch_writes_them() -> None:
    assert operator_at("torch.abs") == "torch.abs"
    assert operator_at("Tensor.add") == operator_at("torch.Tensor.add") == "torch.Tensor.add"
    assert operator_at("relu", "torch.nn.functional.gelu") == "torch.nn.functional.relu"
    assert operator_at("no.such.thing") == ""
    assert web_address(load()["torch.nn.Linear"]).endswith("/generated/torch.nn.Linear.html")
    assert web_address(load()["operator.add"]).endswith("operator.html#operator.add")
    assert web_address(load()["python.literal"]) == ""


def test_a_history_forgets_what_lay_ahead() -> None:
    history = History()
    for key in ("a", "b", "c"):
        history.visit(key)
    assert history.go(-2) == "a" and not history.can_go_back
    history.visit("d")
    assert history.current == "d" and not history.can_go_forward and history.go(-1) == "a"
    assert History().go(-1) == ""


def test_code_without_prompts_is_copied_whole() -> None:
    assert without_prompts("a = 1\nb = 2") == "a = 1\nb = 2\n"


def _blocks(browser: QTextBrowser) -> list[object]:
    block, found = browser.document().begin(), []
    while block.isValid():
        found.append(block)
        block = block.next()
    return found


def _fragments(block: object) -> list[object]:
    found, walk = [], block.begin()  # type: ignore[attr-defined]  # a QTextBlock
    while not walk.atEnd():
        found.append(walk.fragment())
        walk += 1
    return found


@pytest.mark.parametrize("key", ["torch.nn.Conv2d", "torch.optim.Adam", "torch.stft", "torch.nn.MultiheadAttention"])
def test_a_long_signature_is_told_once_an_argument_a_line_with_what_it_takes(dark: Theme, key: str) -> None:
    operator = load()[key]
    told = Passage(key, "", "(input: Union[int, tuple[int, int]], stride: int = 1) -> None")
    described = Described(request=1, operator=key, passages=(told,), torch="2.13")
    browser = QTextBrowser()
    browser.setHtml(page(operator, described, (), "", dark).html)
    text = browser.toPlainText().replace("\u200b", "")
    assert "Union[" not in text
    _head, _, rest = text.partition(f"{key}(\n")
    assert rest, "the path has a line of its own"
    lines = rest.partition("\n)")[0].splitlines()
    written = [line.removesuffix(",") for line in lines if line.endswith(",")]
    names = [parameter.name for parameter in operator.parameters]
    assert [name.partition("=")[0] for name in written if name != "*"] == names
    assert "True or False" in lines


def test_a_short_signature_stays_in_a_line(dark: Theme) -> None:
    operator = load()["torch.matmul"]
    browser = QTextBrowser()
    browser.setHtml(page(operator, None, (), "", dark).html)
    assert "torch.matmul(input, other)" in browser.toPlainText().replace("\u200b", "")


def test_a_block_has_a_page_and_its_address(dark: Theme) -> None:
    for row in block_rows.ROWS:
        html = page(row, None, (), "", dark).html
        assert row.title in html and "gives" not in html
    assert operator_at("torch.no_grad") == "torch.no_grad"
    assert web_address(block_rows.BY_KEY["python.for"]).startswith("https://docs.python.org/")


def test_what_is_code_in_a_summary_is_shown_as_code() -> None:
    marked = [operator for operator in load() if "`" in operator.summary]
    assert marked
    assert all("`" not in tooltip(operator) and "`" not in plain_summary(operator.summary) for operator in marked)
    assert summary_html("along `dim` <1>") == "along <code>dim</code> &lt;1&gt;"


@pytest.mark.parametrize("width_px", [260, 300])
def test_a_short_argument_is_never_broken_inside_a_word(panel: DocumentationPanel, width_px: int) -> None:
    panel.resize(width_px, 700)
    panel.show_operator("torch.sum")
    block = panel.browser.document().begin()
    while block.text() != "keepdim=False,":
        assert block.isValid()
        block = block.next()
    assert block.layout().lineCount() == 1
