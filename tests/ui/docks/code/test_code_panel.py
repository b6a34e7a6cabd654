"""The Code dock: always current, its selection linked both ways."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.edits import AddNode
from gradstudio.graph.model import ROOT, ItemId, Node
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced
from gradstudio.protocol.messages.debugging import Breakpoint
from gradstudio.protocol.messages.events import Failed, Row
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.docks.code.code_editor import COLOURS, CodeEditor
from gradstudio.ui.docks.code.code_hints import Hint
from gradstudio.ui.docks.code.line_diff import Hunk
from gradstudio.ui.docks.code.panel import CodePanel
from gradstudio.ui.state.idle_work import IdleWork
from gradstudio.ui.state.results.failure import Failure
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from tests.ui.conftest import Add


@pytest.fixture
def code(qtbot: QtBot, session: Session, dark: Theme) -> CodePanel:
    made = CodePanel(session, dark)
    qtbot.addWidget(made)
    made.resize(700, 400)
    made.show()
    qtbot.waitExposed(made)
    return made


def click_on(code: CodePanel, words: str) -> None:
    found = code.editor.document().find(words)
    assert not found.isNull(), words
    cursor = QTextCursor(code.editor.document())
    cursor.setPosition(found.selectionStart() + 1)
    place = code.editor.cursorRect(cursor).center()
    QTest.mouseClick(code.editor.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)


def grounds(code: CodePanel) -> dict[str, set[int]]:
    """Background colour -> the lines (from 1) that have it."""
    found: dict[str, set[int]] = {}
    for mark in code.editor.extraSelections():
        found.setdefault(mark.format.background().color().name(), set()).add(mark.cursor.blockNumber() + 1)
    return found


def test_it_shows_what_is_on_the_canvas_and_follows_every_edit(
    qtbot: QtBot, code: CodePanel, session: Session, add: Add
) -> None:
    item = add("torch.full", size="(2,)", fill_value="3.5")
    qtbot.waitUntil(lambda: "torch.full((2,), 3.5" in code.editor.toPlainText())
    session.graph_store.attempt(recipes.rename, "Rename", item, ("bias",))
    qtbot.waitUntil(lambda: "bias = torch.full" in code.editor.toPlainText())
    assert "__main__" not in code.editor.toPlainText()
    assert not code.editor.isReadOnly()


def test_a_click_on_a_line_selects_its_node(qtbot: QtBot, code: CodePanel, session: Session, add: Add) -> None:
    first, second = add("torch.randn"), add("torch.eye", n="4")
    qtbot.waitUntil(lambda: "torch.eye(4" in code.editor.toPlainText())
    click_on(code, "torch.eye")
    assert session.attention.selection == {second}
    click_on(code, "torch.randn")
    assert session.attention.selection == {first}


def test_the_line_of_the_selected_node_is_marked(qtbot: QtBot, code: CodePanel, session: Session, add: Add) -> None:
    add("torch.randn")
    item = add("torch.eye", n="4")
    qtbot.waitUntil(lambda: "torch.eye(4" in code.editor.toPlainText())
    session.attention.select([item])
    line = next(k for k, text in enumerate(code.editor.toPlainText().splitlines(), start=1) if "torch.eye" in text)
    assert grounds(code)[QColor(code._theme.syntax.selected).name()] == {line}


def test_a_finding_in_undrawn_python_leads_to_its_own_line(qtbot: QtBot, code: CodePanel, session: Session) -> None:
    lines = [*["    a = 1"] * 60, "    def __init__(self):", '        self.b = {"x": nn.ReLU()}']
    text = "import torch\nfrom torch import nn\n\nx = torch.ones(2)\nclass Net(nn.Module, Mixed):\n" + "\n".join(lines)
    session.graph_store.load(read_script(text, keeps_code=True).graph)
    qtbot.waitUntil(lambda: "nn.ReLU" in code.editor.text and bool(session.problems.problems))
    (problem,) = (one for one in session.problems.problems if one.kind == "finding")
    code.editor.clearFocus()
    session.problems.reveal(problem)
    line = code.editor.textCursor().blockNumber() + 1
    assert code.editor.lines[line - 1].strip() == 'self.b = {"x": nn.ReLU()}'
    assert line in code.editor.seen_lines()
    assert grounds(code)[QColor(code._theme.syntax.selected).name()] == {line}
    session.attention.select((problem.node,))
    assert len(grounds(code)[QColor(code._theme.syntax.selected).name()]) == 1
    assert code.editor.lines[code.editor.textCursor().blockNumber()].startswith("class Net")


def test_the_line_that_failed_is_marked(qtbot: QtBot, code: CodePanel, session: Session, add: Add) -> None:
    item = add("torch.eye", n="4")
    qtbot.waitUntil(lambda: "torch.eye(4" in code.editor.toPlainText())
    failed = Failed(revision=1, node=item, address="y", line=1, type_name="RuntimeError", message="no")
    session.results.tables.add_failure(Failure(failed))
    failing = QColor(code._theme.syntax.failing).name()
    qtbot.waitUntil(lambda: failing in grounds(code))


def test_the_button_copies_the_whole_program(qtbot: QtBot, code: CodePanel, add: Add) -> None:
    add("torch.eye", n="4")
    qtbot.waitUntil(lambda: "torch.eye(4" in code.editor.toPlainText())
    QTest.mouseClick(code.strip.copy_button, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == code.editor.toPlainText() + "\n"


def test_words_that_are_selected_select_no_node(qtbot: QtBot, code: CodePanel, session: Session, add: Add) -> None:
    item = add("torch.eye", n="4")
    qtbot.waitUntil(lambda: "torch.eye(4" in code.editor.toPlainText())
    session.attention.select([])
    code.editor.setTextCursor(code.editor.document().find("torch.eye"))
    QTest.mouseRelease(code.editor.viewport(), Qt.MouseButton.LeftButton)
    assert ItemId(item) not in session.attention.selection


def test_where_a_step_pauses_is_in_view(qtbot: QtBot, code: CodePanel, session: Session, add: Add) -> None:
    items = [add("torch.randn") for _ in range(60)]
    qtbot.waitUntil(lambda: code.editor.document().blockCount() > 60)
    for item in (items[50], items[10], items[59]):
        session.run.state_changed.emit(RunState(verb="step", outcome="done", live=True, next_node=item))
        (line,) = [span.line for span in session.run.program.spans if span.node == item]
        first = code.editor.firstVisibleBlock().blockNumber() + 1
        assert first <= line < first + code.editor.viewport().height() // code.editor.fontMetrics().lineSpacing()


def test_a_click_in_the_margin_sets_a_breakpoint_and_takes_it_away(
    qtbot: QtBot, code: CodePanel, session: Session, add: Add
) -> None:
    item = add("torch.eye", n="4")
    qtbot.waitUntil(lambda: "torch.eye" in code.editor.toPlainText())
    line = (
        code.editor.toPlainText()
        .splitlines()
        .index(next(t for t in code.editor.toPlainText().splitlines() if "eye" in t))
        + 1
    )
    place = code.editor.gutter.place_of(line).center()
    QTest.mouseClick(code.editor.gutter, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    assert [point.node for point in session.debug.breakpoints] == [item]
    assert code.editor.gutter.stops == {line: True}
    session.debug.set_enabled(session.debug.breakpoints[0].id, False)
    assert code.editor.gutter.stops == {line: False}
    QTest.mouseClick(code.editor.gutter, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    assert session.debug.breakpoints == () and code.editor.gutter.stops == {}


def test_a_click_beside_no_statement_sets_nothing(qtbot: QtBot, code: CodePanel, session: Session, add: Add) -> None:
    add("torch.eye", n="4")
    qtbot.waitUntil(lambda: "torch.eye" in code.editor.toPlainText())
    assert code.editor.toPlainText().splitlines()[0] == "import torch"
    place = code.editor.gutter.place_of(1).center()
    QTest.mouseClick(code.editor.gutter, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    assert session.debug.breakpoints == ()


def test_the_line_that_is_looked_at_is_marked_in_the_colour_of_its_way(
    qtbot: QtBot, code: CodePanel, session: Session, add: Add, dark: Theme
) -> None:
    item = add("torch.eye", n="4")
    qtbot.waitUntil(lambda: "torch.eye" in code.editor.toPlainText())
    session.results.tables.add_rows([Row(step=1, node=item, outputs=())])
    row = AutogradRow(backward=1, autograd="AccumulateGrad", node=item)
    session.results.tables.add_backward(BackwardTraced(revision=0, rows=(row,), backward=1))
    session.attention.look_at(0)
    lines = grounds(code)[dark.color("forward").name()]
    assert {code.editor.gutter.active} == lines and code.editor.gutter.phase == "forward"
    session.attention.look_at(1)
    assert grounds(code)[dark.color("backward").name()] == lines and code.editor.gutter.phase == "backward"
    session.attention.look_at(None)
    assert code.editor.gutter.active is None and dark.color("backward").name() not in grounds(code)


def test_a_line_shows_the_sign_of_its_breakpoint_s_kind(
    qtbot: QtBot, session: Session, code: CodePanel, add: Add
) -> None:
    item = add("torch.ones", size="(2,)")
    user = add("torch.Tensor.sum")
    assert session.graph_store.attempt(recipes.connect, "Connect", item, 0, user, "self")
    session.debug.add(Breakpoint(id="watch", node=item, place="after", stops=False))
    assert session.run.program.statements
    watched = code.editor.gutter.grab().toImage()
    (line,) = code.editor.gutter.points
    session.debug.add(Breakpoint(id="back", node=item, phase="backward", place="after", target=user, port="self"))
    assert code.editor.gutter.points[line].id == "back"  # a pause before a watch
    on_wire = code.editor.gutter.grab().toImage()
    session.debug.add(Breakpoint(id="node", node=item))
    assert code.editor.gutter.points[line].id == "node" and code.editor.gutter.stops == {line: True}
    on_node = code.editor.gutter.grab().toImage()
    assert watched != on_wire and on_wire != on_node and watched != on_node


def test_whatever_is_edited_the_text_is_the_programs(qtbot: QtBot, code: CodePanel, session: Session, add: Add) -> None:
    items = [add("torch.full", size=f"({k}, 2)", fill_value="3.5") for k in range(1, 5)]
    expected: list[str] = []
    session.run.program_changed.connect(lambda program: expected.append(program.code.rstrip("\n")))
    for k, item in enumerate((*items, items[1])):
        literal = ("(7,)", "(" + "123456, " * 20 + "7)")[k % 2]
        session.graph_store.attempt(recipes.set_literal, "Set", item, "size", literal)
        qtbot.waitUntil(lambda count=k + 1: len(expected) >= count)
        assert code.editor.toPlainText() == expected[-1]
        assert code.editor.blockCount() == len(expected[-1].split("\n"))
        session.graph_store.attempt(recipes.rename, "Rename", item, (f"renamed{k}",))
        session.graph_store.undo_stack.undo()


def lines_of(code: CodePanel, first: int, last: int) -> None:
    """Select whole lines with the keyboard, from the beginning of the first to the end of the last."""
    cursor = QTextCursor(code.editor.document().findBlockByNumber(first - 1))
    code.editor.setTextCursor(cursor)
    for _ in range(last - first):
        QTest.keyClick(code.editor, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(code.editor, Qt.Key.Key_End, Qt.KeyboardModifier.ShiftModifier)


def line_with(code: CodePanel, words: str) -> int:
    return next(k for k, text in enumerate(code.editor.lines, start=1) if words in text)


def test_lines_that_are_selected_select_their_nodes_and_the_canvas_stays_where_it_is(
    qtbot: QtBot, code: CodePanel, session: Session, add: Add
) -> None:
    items = [add("torch.eye", n=str(k)) for k in (3, 4, 5)]
    qtbot.waitUntil(lambda: "torch.eye(5" in code.editor.text)
    revealed: list[object] = []
    session.attention.reveal_requested.connect(revealed.append)
    lines_of(code, line_with(code, "eye(3"), line_with(code, "eye(4"))
    qtbot.waitUntil(lambda: session.attention.selection == {items[0], items[1]})
    assert code.editor.textCursor().hasSelection() and not revealed


def test_a_long_text_is_coloured_where_it_is_seen_at_once_and_everywhere_soon(qtbot: QtBot, dark: Theme) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    idle, typed, asked = IdleWork(window), list[str](), list[str]()

    class Editor(CodeEditor):
        def toPlainText(self) -> str:
            asked.append(super().toPlainText())
            return asked[-1]

    editor = Editor(dark, idle, window)
    editor.typed.connect(lambda: typed.append(editor.text))
    editor.resize(400, 100)
    window.show()
    lines = [f'x_{number} = "word"' for number in range(3000)]
    lines[700], lines[2100] = 's = """begins', 'ends"""'
    editor.put([Hunk(0, 1, tuple(lines))])
    block = editor.document().findBlockByNumber
    assert block(3).layout().formats() and not block(2500).layout().formats()
    assert editor.lines == lines
    editor.put([Hunk(2990, 3000, ())])
    qtbot.waitUntil(lambda: not idle.has("colours"))
    assert all(block(number).layout().formats() for number in range(2990))
    assert len(asked) <= 4  # the whole text is asked for where it is put in, not for each line that is coloured
    in_slices = [[(f.start, f.length) for f in block(k).layout().formats()] for k in range(2990)]
    editor.highlighter.rehighlight()
    assert in_slices == [[(f.start, f.length) for f in block(k).layout().formats()] for k in range(2990)]
    assert not typed


def test_a_text_that_comes_into_an_empty_editor_is_seen_from_its_first_line(qtbot: QtBot, dark: Theme) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    editor = CodeEditor(dark, IdleWork(window), window)
    editor.resize(400, 100)
    window.show()
    editor.put([Hunk(0, 0, ("import torch",)), Hunk(1, 1, tuple(f"x_{number} = 1" for number in range(12)))])
    assert editor.verticalScrollBar().maximum() > 5
    assert editor.verticalScrollBar().value() == 0


def test_several_nodes_mark_several_lines_and_one_in_view_is_not_scrolled_to(
    qtbot: QtBot, code: CodePanel, session: Session, add: Add
) -> None:
    items = [add("torch.eye", n=str(k)) for k in range(2, 62)]
    qtbot.waitUntil(lambda: "torch.eye(61" in code.editor.text)
    session.attention.select([items[2], items[3]])
    lines = {line_with(code, "eye(4)"), line_with(code, "eye(5)")}
    assert grounds(code)[QColor(code._theme.syntax.selected).name()] == lines
    place = code.editor.verticalScrollBar().value()
    session.attention.select([items[1], items[3], items[50]])
    assert code.editor.verticalScrollBar().value() == place


def test_a_line_alone_is_painted_anew_when_something_is_told_of_its_statement(
    qtbot: QtBot, code: CodePanel, session: Session, add: Add
) -> None:
    items = [add("torch.eye", n=str(k)) for k in range(2, 6)]
    qtbot.waitUntil(lambda: "torch.eye(5" in code.editor.text)
    told = [PortInference(node=item, dtype="torch.float32", shape=(2, 2)) for item in items]
    session.results.tables.set_inference(told)
    qtbot.waitUntil(lambda: code.hint_of(line_with(code, "eye(5")).text != "")
    QApplication.processEvents()
    asked = set[int]()

    def hint_of(line: int) -> Hint:
        asked.add(line)
        return code.hint_of(line)

    code.editor.hint_of = hint_of
    session.results.tables.set_inference([*told[:2], PortInference(node=items[2], dtype="torch.int64"), told[3]])
    qtbot.waitUntil(lambda: bool(asked))
    assert line_with(code, "eye(4") in asked
    assert asked <= {line_with(code, f"eye({k}") for k in (3, 4, 5)}, "its neighbours may touch it"


def test_shapes_stand_behind_the_lines_before_a_run_and_values_after_it(
    qtbot: QtBot, code: CodePanel, session: Session, add: Add
) -> None:
    item = add("torch.full", size="(2,)", fill_value="3.5")
    qtbot.waitUntil(lambda: "torch.full" in code.editor.text)
    line = line_with(code, "torch.full")
    assert code.hint_of(line).text == ""
    session.results.tables.set_inference([PortInference(node=item, dtype="torch.float32", shape=(2,))])
    assert code.hint_of(line) == ("→ float32 [2]", False)
    summary = Summary(dtype="torch.float32", shape=(2,), value=[3.5, 3.5], minimum=3.5, maximum=3.5)
    session.results.tables.add_rows([Row(step=1, node=item, outputs=(TensorRecord(device="cpu", summary=summary),))])
    qtbot.waitUntil(lambda: "→ float32 [2]" in code.hint_of(line).text)
    QTest.mouseClick(code.strip.hints_button, Qt.MouseButton.LeftButton)
    assert code.hints == "values" and code.hint_of(line) == ("→ [3.5, 3.5]", False)
    session.results.tables.set_stale(True)
    qtbot.waitUntil(lambda: code.hint_of(line).stale)
    with_hints = code.editor.viewport().grab().toImage()
    QTest.mouseClick(code.strip.hints_button, Qt.MouseButton.LeftButton)
    assert code.hints == "off" and code.hint_of(line).text == ""
    assert code.editor.viewport().grab().toImage() != with_hints
    assert "→" not in code.editor.toPlainText()


def test_a_word_tells_its_value_and_its_operator(qtbot: QtBot, code: CodePanel, session: Session, add: Add) -> None:
    item = add("torch.full", size="(2,)", fill_value="3.5")
    qtbot.waitUntil(lambda: "torch.full" in code.editor.text)
    summary = Summary(dtype="torch.float32", shape=(2,), value=[3.5, 3.5])
    record = TensorRecord(device="cpu", summary=summary, grad_fn="MulBackward0")
    session.results.tables.add_rows([Row(step=1, node=item, outputs=(record,))])
    line = line_with(code, "torch.full")
    tip = code.tip_at(line, 3)
    assert all(words in tip for words in ("float32 [2]", "MulBackward0", "3.5", "torch.full(size, fill_value"))
    assert code.tip_at(1, 2) == ""


def test_the_line_that_failed_has_a_cross_and_says_why(
    qtbot: QtBot, code: CodePanel, session: Session, add: Add
) -> None:
    item = add("torch.eye", n="4")
    qtbot.waitUntil(lambda: "torch.eye(4" in code.editor.text)
    line = line_with(code, "torch.eye")
    before = code.editor.gutter.grab().toImage()
    failed = Failed(revision=1, node=item, address="y", line=1, type_name="RuntimeError", message="no <way>")
    session.results.tables.add_failure(Failure(failed))
    qtbot.waitUntil(lambda: code.editor.gutter.failing == {line: "RuntimeError: no <way>"})
    assert code.editor.gutter.grab().toImage() != before
    assert "no &lt;way&gt;" in code.tip_at(line, -1)


def test_where_everything_is_muted_the_empty_dock_says_so(window: MainWindow, add: Add, qtbot: QtBot) -> None:
    item = add("torch.randn")
    window.frame.activateWindow()
    QTest.qWaitForWindowActive(window.frame)
    window.canvas.setFocus()
    window.canvas.selection.select(frozenset({item}))
    QTest.keyClick(window.canvas, Qt.Key.Key_M)
    assert window.session.graph_store.graph.nodes[item].muted
    editor = window.room.code.editor
    qtbot.waitUntil(lambda: "Everything is muted" in editor.placeholderText())
    assert not editor.text.strip()


def test_of_thousands_of_selected_lines_those_in_view_are_marked_wherever_it_is_scrolled(
    qtbot: QtBot, code: CodePanel, session: Session
) -> None:
    nodes = [Node(id=ItemId(f"n{k}"), operator="torch.eye", names=(f"v{k}",), literals={"n": "2"}) for k in range(1000)]
    session.graph_store.submit(tuple(AddNode(node, ROOT, k) for k, node in enumerate(nodes)), "Add")
    qtbot.waitUntil(lambda: "v399 = torch.eye" in code.editor.toPlainText())
    session.attention.select([node.id for node in nodes])
    selected = QColor(code.marks.theme.syntax.selected).name()
    for share in (0.0, 0.3, 1.0, 0.5):
        bar = code.editor.verticalScrollBar()
        bar.setValue(round(share * bar.maximum()))
        seen = [line for line in code.editor.seen_lines() if code.statement_at(line) is not None]
        assert len(seen) > 5
        assert set(seen) <= grounds(code)[selected]
        assert len(grounds(code)[selected]) < 150
    code.resize(700, 900)
    seen = [line for line in code.editor.seen_lines() if code.statement_at(line) is not None]
    assert set(seen) <= grounds(code)[selected]
    qtbot.waitUntil(lambda: not session.idle.has(COLOURS))
