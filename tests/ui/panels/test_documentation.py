"""The Documentation dock, read and used by hand: which page is shown, where its links lead, what it copies."""

from html import escape

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QTextBrowser
from pytestqt.qtbot import QtBot

from gradstudio.operators.catalogue import load
from gradstudio.operators.words import badges, results
from gradstudio.protocol.messages import PROTOCOL_VERSION, Hello
from gradstudio.protocol.pages import Described, Passage
from gradstudio.ui.main_window import MainWindow
from gradstudio.ui.panels.documentation import DocumentationPanel
from gradstudio.ui.panels.documentation.code_html import without_prompts
from gradstudio.ui.panels.documentation.history import History
from gradstudio.ui.panels.documentation.links import operator_at, web_address
from gradstudio.ui.panels.documentation.page import page
from gradstudio.ui.state.page_store import WAITING
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
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
    window.canvas.search_at_pointer()
    popup = window.frame.focusWidget()
    assert popup is not None
    QTest.keyClicks(popup, "softmax")
    lit = window.documented_operator()
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
