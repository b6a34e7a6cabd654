"""A Python file that is opened stands in the Code dock as it was typed, and stays linked with the canvas."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from pytestqt.qtbot import QtBot

from gradstudio.document.file import save
from gradstudio.document.python.merge_edits import merge
from gradstudio.document.python.python_document import load_python
from gradstudio.graph.model import ItemId
from gradstudio.graph.recipes.nodes import add_operator, set_literal
from gradstudio.graph.recipes.removal import delete
from gradstudio.program.original.line_pairs import line_pairs
from gradstudio.program.reading.parser import plain_text
from gradstudio.program.write import write as write_program
from gradstudio.protocol.messages.events import Log, Paused
from gradstudio.ui.docks.code.line_diff import is_spacing
from gradstudio.ui.docks.code.panel import CodePanel
from gradstudio.ui.docks.code.typed_text import TypedText, changed_alike
from gradstudio.ui.state.session import Session
from tests.ui.docks.code.conftest import applied, go_behind, press, write

TYPED = """\
'''Two steps.'''
import torch as th          # under a name of its own


# a tensor
x = th.ones( 2,3,
             requires_grad=True )     # two by three
for k in range( 2 ):

  # indented by two
  y = x*2 ; z = y.sum()
  w = z / 7   # seventh
print( w )
"""
CORPUS = Path(__file__).parents[3] / "corpus"
FILES = sorted([*(CORPUS / "accepted").glob("*.py"), *(CORPUS / "code").glob("*.py")])


def node(session: Session, operator: str) -> ItemId:
    return next(n.id for n in session.graph_store.graph.nodes.values() if n.operator.startswith(operator))


@pytest.fixture
def opened(qtbot: QtBot, session: Session, focused_panel: CodePanel, tmp_path: Path) -> CodePanel:
    """The dock of `TYPED`, without the keys."""
    path = tmp_path / "typed.py"
    path.write_text(TYPED)
    focused_panel.editor.clearFocus()
    session.open(path)
    qtbot.waitUntil(lambda: focused_panel.editor.text != "")
    return focused_panel


def test_the_dock_shows_a_file_as_it_was_typed(opened: CodePanel) -> None:
    assert opened.editor.text == TYPED.rstrip("\n")
    assert opened.live.is_applied


def test_lines_and_cards_are_linked_both_ways(opened: CodePanel, session: Session) -> None:
    line = {"torch.ones": 6, "operator.mul": 11, "torch.Tensor.sum": 11, "operator.truediv": 12, "builtins.print": 13}
    for operator, number in line.items():
        assert opened.marks.line_of(node(session, operator)) == number
    assert opened.statement_at(6) == opened.statement_at(7) == node(session, "torch.ones")
    assert opened.statement_at(12) == node(session, "operator.truediv")
    assert opened.statement_at(9) is None
    opened.editor.gutter.pressed.emit(12)
    assert {point.node for point in session.debug.breakpoints} == {node(session, "operator.truediv")}
    session.attention.select([node(session, "builtins.print")])
    assert opened.editor.line == 13


def test_each_line_of_code_that_has_several_parts_is_linked(
    qtbot: QtBot, session: Session, focused_panel: CodePanel, tmp_path: Path
) -> None:
    typed = "import torch\nx = torch.ones( 3 )\ntry:\n    d = {'a': x}\n    e = d['b']\nexcept KeyError:\n    e = 0\n"
    path = tmp_path / "code.py"
    path.write_text(typed)
    session.open(path)
    qtbot.waitUntil(lambda: bool(session.run.program.codes))
    panel, (code,) = focused_panel, session.run.program.codes
    lines = session.run.program.code.split("\n")
    assert [lines[code.line - 1 + k] for k in range(5)] == panel.editor.lines[2:7]
    assert [panel.marks.lines.shown(code.line + k) for k in range(5)] == [3, 4, 5, 6, 7]
    assert panel.marks.lines.program_end(7) == code.line + 4


def test_the_line_of_code_that_is_told_is_where_the_dock_has_it_now(
    qtbot: QtBot, session: Session, focused_panel: CodePanel, tmp_path: Path
) -> None:
    path = tmp_path / "code.py"
    path.write_text("import torch\n\n\nx = torch.ones( 3 )\nd = dict((k, x) for k in 'ab')\n")
    session.open(path)
    qtbot.waitUntil(lambda: bool(session.run.program.codes))
    (code,) = session.run.program.codes
    assert session.run.code_question.place(code.node, code.line) == "line 5"
    focused_panel.live.take_back(focused_panel.editor.text.replace("x = ", "w = torch.zeros( 3 )\nx = "))
    focused_panel.live.flush()
    (code,) = session.run.program.codes
    assert focused_panel.marks.line_of(code.node) == 6
    assert session.run.code_question.place(code.node, code.line) == "line 6"


def test_words_of_ranks_name_the_lines_of_the_dock(opened: CodePanel, session: Session) -> None:
    spans = {span.node: span.line for span in session.run.program.spans}
    at, behind = spans[node(session, "operator.mul")], spans[node(session, "builtins.print")]
    assert (at, behind) != (11, 13)
    told: list[object] = []
    session.engine.received.connect(told.append)
    words = f"Rank 1 waits at line {at} (y = x * 2); rank 0 behind line {behind}: 12 s"
    heard = Paused(0, "run", "died", ItemId(""), False, 1, reason=words, names_lines=True)
    for event in (Log("warning", words, names_lines=True), Log("info", words), heard):
        session.engine.hear(event)
    mine = "Rank 1 waits at line 11 (y = x * 2); rank 0 behind line 13: 12 s"
    assert [getattr(one, "text", getattr(one, "reason", "")) for one in told] == [mine, words, mine]


def test_what_the_canvas_edits_is_the_only_other_line(qtbot: QtBot, opened: CodePanel, session: Session) -> None:
    store, edited = session.graph_store, TYPED.replace("z / 7   # seventh", "z / 9   # seventh").rstrip("\n")
    store.submit(set_literal(store.graph, node(session, "operator.truediv"), "b", "9"), "Set 9")
    qtbot.waitUntil(lambda: opened.editor.text == edited)
    store.submit(add_operator(store.graph, "torch.randn", 0, 0)[0], "Add randn")
    qtbot.waitUntil(lambda: opened.editor.text == f"{edited}\nx2 = torch.randn(2, 3)")
    assert opened.marks.line_of(node(session, "torch.randn")) == 14
    store.undo()
    store.undo()
    qtbot.waitUntil(lambda: opened.editor.text == TYPED.rstrip("\n"))


def test_what_is_typed_is_merged_and_stays_as_it_was_typed(qtbot: QtBot, opened: CodePanel, session: Session) -> None:
    opened.editor.setFocus()
    qtbot.waitUntil(opened.editor.hasFocus)
    go_behind(opened, "w = z / 7")
    write(opened, "+1")
    applied(qtbot, opened)
    (add,) = [n for n in session.graph_store.graph.nodes.values() if n.operator == "operator.add"]
    assert add.literals["b"] == "1"
    opened.editor.clearFocus()
    qtbot.waitUntil(lambda: not opened.editor.hasFocus())
    assert opened.editor.text == TYPED.replace("z / 7", "z / 7+1").rstrip("\n")
    assert opened.marks.line_of(add.id) == 12
    assert opened.marks.line_of(node(session, "builtins.print")) == 13


def test_a_line_that_is_new_is_linked(qtbot: QtBot, opened: CodePanel, session: Session) -> None:
    opened.editor.setFocus()
    qtbot.waitUntil(opened.editor.hasFocus)
    opened.editor.moveCursor(QTextCursor.MoveOperation.End)
    press(opened, Qt.Key.Key_Return)
    write(opened, "v = w+ 5")
    applied(qtbot, opened)
    assert opened.marks.line_of(node(session, "operator.add")) == 14
    assert opened.editor.lines[:13] == TYPED.rstrip("\n").split("\n")


def test_a_saved_document_shows_its_text_again(
    qtbot: QtBot, session: Session, focused_panel: CodePanel, tmp_path: Path
) -> None:
    (tmp_path / "typed.py").write_text(TYPED)
    save(load_python(tmp_path / "typed.py").graph, tmp_path / "saved.gsg")
    focused_panel.editor.clearFocus()
    session.open(tmp_path / "saved.gsg")
    qtbot.waitUntil(lambda: focused_panel.editor.text == TYPED.rstrip("\n"))
    assert focused_panel.marks.line_of(node(session, "operator.truediv")) == 12


def test_what_has_no_line_in_the_text_is_looked_for(qtbot: QtBot, opened: CodePanel, session: Session) -> None:
    store = session.graph_store
    store.submit(delete(store.graph, [node(session, "torch.Tensor.sum")]), "Delete sum")
    qtbot.waitUntil(lambda: opened.live.source.is_sure)
    assert opened.editor.lines[:9] == TYPED.split("\n")[:9]


@pytest.mark.parametrize("path", FILES[::5], ids=lambda path: path.stem)
def test_every_card_has_the_line_of_its_text(path: Path) -> None:
    """Of what is printed in lines of its own; and the text means what is drawn, so that nothing is edited by it."""
    read = load_python(path)
    text = plain_text(read.graph.original).rstrip("\n")
    script = write_program(read.graph)
    pairs = line_pairs(read.graph, text + "\n", read.lines)
    typed = TypedText.of_pairs(text.split("\n"), script.code.rstrip("\n").split("\n"), pairs)
    own = {span.node: typed.typed[span.line] for span in script.spans if span.node in read.graph.nodes}
    assert own == {item: read.lines[item] for item in own}
    if "ModuleDict" not in text:
        assert is_spacing(read.graph, merge(read.graph, text + "\n"))


@pytest.mark.parametrize(
    ("typed", "before", "after", "wanted"),
    [
        ("y = x*2  # two", "y = x * 2", "y = x * 3", "y = x*3  # two"),
        ("y = f( 1,1 )", "y = f(1, 1)", "y = f(1, 2)", "y = f(1, 2)"),
        ("lr=0.01", "lr = 0.01", "lr = 0.001", "lr=0.001"),
    ],
)
def test_the_word_that_changed_changes_in_the_typed_line(typed: str, before: str, after: str, wanted: str) -> None:
    assert changed_alike(typed, before, after) == wanted


def test_an_edit_inside_a_statement_of_several_lines_is_not_guessed() -> None:
    typed = TypedText(["x = [1,", " 2]"], ["x = [", "1, 2]"], {1: 1, 2: 2}, {1: 1, 2: 2}, {2: 2}, [(1, 2)])
    assert typed.edited(["x = [", "1, 3]"]) is None
