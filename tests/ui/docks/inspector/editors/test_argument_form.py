"""Rows of arguments that are kept for the next item of the same kind: as if they were made for it."""

from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QPlainTextEdit, QPushButton

from gradstudio.graph import recipes
from gradstudio.ui.docks.inspector.editors.data_editor import DataEditor
from gradstudio.ui.docks.inspector.panel import InspectorPanel
from gradstudio.ui.state.session import Session
from tests.ui.conftest import Add


def test_another_item_of_the_kind_has_the_same_editors_with_its_literals(
    inspector: InspectorPanel, session: Session, add: Add
) -> None:
    one, other = add("torch.arange", end="1"), add("torch.arange", end="2")
    between = add("torch.eye")
    session.attention.select([one])
    editor = inspector.details.arguments.editors["end"]
    for item, text in ((other, "2"), (between, None), (one, "1")):
        session.attention.select([item])
        editors = inspector.details.arguments.editors
        assert (editors.get("end") is editor) == (text is not None)
        assert editor.isVisible() == (text is not None)
        assert text is None or editor.text == text


def test_what_is_typed_when_another_item_is_shown_is_taken_up_where_it_was_typed(
    inspector: InspectorPanel, session: Session, add: Add
) -> None:
    one, other = add("torch.arange", end="1"), add("torch.arange", end="2")
    session.attention.select([one])
    field = inspector.details.arguments.editors["end"].field
    assert isinstance(field, QLineEdit)
    field.setFocus()
    field.selectAll()
    QTest.keyClicks(field, "7")
    session.attention.select([other])
    assert inspector.details.arguments.editors["end"].text == "2"
    literals = [session.graph_store.graph.nodes[item].literals["end"] for item in (one, other)]
    assert literals == ["7", "2"]
    assert QApplication.focusWidget() is not field


def test_a_refusal_and_an_open_table_stay_with_their_item(
    inspector: InspectorPanel, session: Session, add: Add
) -> None:
    one, other = add("torch.tensor", data="[1.0, 2.0]"), add("torch.tensor", data="[3.0, 4.0]")
    session.attention.select([one])
    editor = inspector.details.arguments.editors["data"]
    assert isinstance(editor, DataEditor) and isinstance(editor.field, QPlainTextEdit)
    QTest.mouseClick(editor.as_table, Qt.MouseButton.LeftButton)
    editor.say("No.")
    assert editor.table.isVisible() and editor.problem.isVisible()
    session.attention.select([other])
    assert inspector.details.arguments.editors["data"] is editor
    assert not editor.table.isVisible() and editor.as_table.text() == "as a table"
    assert not editor.problem.isVisible() and editor.text == "[3.0, 4.0]"


def test_a_choice_of_one_item_is_not_offered_for_another(inspector: InspectorPanel, session: Session, add: Add) -> None:
    one, other = add("torch.arange", device="'cuda:7'"), add("torch.arange")
    session.attention.select([one])
    box, literal = (
        inspector.details.arguments.editors["device"].field,
        session.graph_store.graph.nodes[one].literals["device"],
    )
    assert isinstance(box, QComboBox) and box.findData(literal) >= 0
    session.attention.select([other])
    assert inspector.details.arguments.editors["device"].field is box
    assert box.findData(literal) < 0


def test_the_link_of_a_wired_argument_leads_to_where_its_own_wire_comes_from(
    inspector: InspectorPanel, session: Session, add: Add
) -> None:
    chain = [add("torch.randn"), add("torch.relu"), add("torch.relu")]
    wires = list(pairwise(chain))
    for source, target in wires:
        assert session.graph_store.attempt(recipes.connect, "Wire", source, 0, target, "input")
    for source, target in reversed(wires):
        session.attention.select([target])
        arguments = inspector.details.arguments
        links = [made for made in arguments.findChildren(QPushButton) if made.isVisible() and "←" in made.text()]
        assert len(links) == 1
        QTest.mouseClick(links[0], Qt.MouseButton.LeftButton)
        assert session.attention.current == source
