"""Typing in the Code dock: what can be read changes the canvas, what cannot be read is not lost."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent, QTextCursor, QTextFormat
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits
from gradstudio.graph.model import Graph, Header, ItemId
from gradstudio.program.reading.reader import read_script
from gradstudio.ui.docks.code.panel import CodePanel, merge_text
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from tests.ui.docks.code.conftest import TEXT, applied, go_behind, press, write

Key, Control, Shift = Qt.Key, Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
Type = Callable[..., None]


def nodes(session: Session) -> dict[str, ItemId]:
    """By first name."""
    return {node.names[0]: item for item, node in session.graph_store.graph.nodes.items() if node.names}


def refused(qtbot: QtBot, code: CodePanel) -> None:
    qtbot.waitUntil(lambda: code.live.shows_error)


def undo_count(session: Session) -> int:
    return session.graph_store.undo_stack.count()


# ---------------------------------------------------------------------- what can be read


def test_what_is_typed_changes_the_canvas_as_one_step_and_the_rest_stays(
    qtbot: QtBot, code: CodePanel, session: Session
) -> None:
    before = nodes(session)
    go_behind(code, "x + 1")
    write(code, "0")
    applied(qtbot, code)
    assert nodes(session) == before and undo_count(session) == 1
    assert session.graph_store.graph.nodes[before["y"]].literals["b"] == "10"
    session.graph_store.undo_stack.undo()
    assert session.graph_store.graph.nodes[before["y"]].literals["b"] == "1"


def test_pauses_within_a_line_make_one_step_and_another_line_makes_another(
    qtbot: QtBot, code: CodePanel, session: Session
) -> None:
    go_behind(code, "x + 1")
    for letter in "23":
        write(code, letter)
        applied(qtbot, code)
    assert "x + 123" in code.editor.text and undo_count(session) == 1
    go_behind(code, "y * 2")
    write(code, "5")
    applied(qtbot, code)
    assert undo_count(session) == 2


def test_what_was_typed_is_printed_when_the_dock_is_left(qtbot: QtBot, code: CodePanel, session: Session) -> None:
    go_behind(code, "z = y * 2")
    press(code, Key.Key_Return)
    write(code, "w=z+1")
    applied(qtbot, code)
    assert "w" in nodes(session)
    assert code.editor.text.endswith("\nw=z+1") and code.editor.textCursor().positionInBlock() == 5
    press(code, Key.Key_Up)
    QApplication.processEvents()
    assert code.editor.text.endswith("\nw=z+1") and code.editor.line == 5
    code.editor.clearFocus()
    assert code.editor.text.endswith("\nw = z + 1") and code.editor.line == 5


def recording_panel(qtbot: QtBot, session: Session, dark: Theme) -> tuple[CodePanel, list[str]]:
    """The dock with `TEXT` and the keys, and the texts that it has had merged."""
    merged: list[str] = []

    def merge(graph: Graph, text: str, anew: bool) -> Edits:
        merged.append(text)
        return merge_text(graph, text, anew)

    panel = CodePanel(session, dark, merge=merge)
    qtbot.addWidget(panel)
    panel.show()
    panel.activateWindow()
    panel.editor.setFocus()
    session.graph_store.load(read_script(TEXT).graph)
    qtbot.waitUntil(lambda: panel.editor.hasFocus() and panel.editor.text == TEXT.strip())
    return panel, merged


def write_below(panel: CodePanel, *lines: str) -> None:
    for line in lines:
        press(panel, Key.Key_Return)
        write(panel, line)


def test_of_what_stays_as_it_was_written_only_what_is_typed_next_is_read_again(
    qtbot: QtBot, session: Session, dark: Theme
) -> None:
    panel, merged = recording_panel(qtbot, session, dark)
    go_behind(panel, "x = torch.ones(2, 3)")
    write_below(panel, "v=x+  3")
    applied(qtbot, panel)
    go_behind(panel, "z = y * 2")
    write_below(panel, "w = z + 5")
    applied(qtbot, panel)
    assert merged[0] == TEXT.replace("3)\n", "3)\nv=x+  3\n")
    assert merged[1:] == [TEXT.replace("3)\n", "3)\nv = x + 3\n") + "w = z + 5\n"]
    assert "\nv=x+  3\n" in panel.editor.text and {"v", "w"} < nodes(session).keys()


def test_an_import_that_nothing_needs_yet_is_read_with_what_is_typed_next(
    qtbot: QtBot, session: Session, dark: Theme
) -> None:
    panel, _ = recording_panel(qtbot, session, dark)
    go_behind(panel, "x = torch.ones(2, 3)")
    write_below(panel, "from torch import sin as wave")
    applied(qtbot, panel)
    go_behind(panel, "z = y * 2")
    write_below(panel, "w = wave(z)")
    applied(qtbot, panel)
    assert "w" in nodes(session)


def test_a_refusal_tells_the_line_of_the_dock_below_what_stays_as_it_was_written(
    qtbot: QtBot, session: Session, dark: Theme
) -> None:
    panel, merged = recording_panel(qtbot, session, dark)
    go_behind(panel, "x = torch.ones(2, 3)")
    write_below(panel, "v = torch.add(", "x,", "3)")
    applied(qtbot, panel)
    assert "torch.add(x, 3)" in session.run.program.code
    count = len(merged)
    go_behind(panel, "z = y * 2")
    write_below(panel, "w = z + nobody")
    refused(qtbot, panel)
    assert len(merged) == count + 1
    error = panel.live.error
    assert error is not None and panel.editor.lines[error.line - 1] == "w = z + nobody"


def test_a_new_line_to_type_on_stays_until_the_cursor_leaves_it(
    qtbot: QtBot, code: CodePanel, session: Session
) -> None:
    go_behind(code, "z = y * 2")
    write(code, "0")
    press(code, Key.Key_Return)
    applied(qtbot, code)
    assert code.editor.text.endswith("z = y * 20\n") and code.editor.line == 6


def test_an_import_that_is_needed_is_printed_and_the_cursor_stays_at_its_word(
    qtbot: QtBot, code: CodePanel, session: Session
) -> None:
    go_behind(code, "z = y * 2")
    press(code, Key.Key_Return)
    write(code, "w = torch.nn.functional.relu(z)")
    applied(qtbot, code)
    assert "import torch.nn.functional as F" not in code.editor.text
    code.editor.clearFocus()
    assert "import torch.nn.functional as F" in code.editor.text
    cursor = code.editor.textCursor()
    assert cursor.block().text().endswith("relu(z)") and cursor.atBlockEnd()


def test_imports_stay_as_they_were_written_while_they_bind_what_is_needed(
    qtbot: QtBot, code: CodePanel, session: Session
) -> None:
    own = "import torch\nimport torch.nn as nn\nfrom torch.nn import functional as F\n"
    QApplication.clipboard().setText(own + "\nfc=nn.Linear(2, 3)\nx = F.relu(torch.ones(2))\n")
    code.editor.selectAll()
    code.editor.paste()
    applied(qtbot, code)
    code.editor.clearFocus()
    assert code.editor.text == own + "\nfc = nn.Linear(2, 3)\nx = F.relu(torch.ones(2))"
    code.editor.setFocus()
    code.editor.clearFocus()
    assert code.editor.text.startswith(own) and code.live.is_applied and undo_count(session) == 1
    store = session.graph_store
    store.attempt(recipes.rename, "Rename", nodes(session)["x"], ("z",))
    qtbot.waitUntil(lambda: code.editor.text.endswith("z = F.relu(torch.ones(2))"))
    assert code.editor.text.startswith(own)
    go_behind(code, "import torch.nn as nn")
    session.graph_store.load(read_script(TEXT).graph)
    qtbot.waitUntil(lambda: code.editor.text == TEXT.strip())


def test_imports_that_bind_less_than_is_needed_are_printed_as_the_program_has_them(
    qtbot: QtBot, code: CodePanel, session: Session
) -> None:
    QApplication.clipboard().setText("import torch as th\n\nx = th.ones(3)\n")
    code.editor.selectAll()
    code.editor.paste()
    applied(qtbot, code)
    code.editor.clearFocus()
    assert code.editor.text == "import torch\n\nx = torch.ones(3)"


def test_an_import_that_only_the_program_needed_goes_with_what_needed_it(
    qtbot: QtBot, code: CodePanel, session: Session
) -> None:
    go_behind(code, "z = y * 2")
    write(code, "0")
    applied(qtbot, code)
    code.editor.clearFocus()
    before, store = code.editor.text, session.graph_store
    edits, _ = recipes.add_operator(store.graph, "torch.nn.Linear", 0, -900)
    store.submit(edits, "Add")
    qtbot.waitUntil(lambda: "from torch import nn" in code.editor.text)
    store.undo_stack.undo()
    qtbot.waitUntil(lambda: code.editor.text == before)


def test_ctrl_z_takes_back_the_document_s_step_and_brings_it_back(
    qtbot: QtBot, code: CodePanel, session: Session
) -> None:
    go_behind(code, "x + 1")
    write(code, "0")
    applied(qtbot, code)
    press(code, Key.Key_Z, Control)
    assert code.editor.text == TEXT.strip() and not session.graph_store.undo_stack.canUndo()
    press(code, Key.Key_Z, Control | Shift)
    assert "x + 10" in code.editor.text and session.graph_store.undo_stack.canUndo()


def test_the_text_alone_takes_back_what_is_not_applied(qtbot: QtBot, code: CodePanel, session: Session) -> None:
    go_behind(code, "x + 1")
    write(code, " +")
    press(code, Key.Key_Z, Control)
    assert code.editor.text == TEXT.strip() and code.live.is_applied and undo_count(session) == 0
    press(code, Key.Key_Y, Control)
    assert "x + 1 +" in code.editor.text and not code.live.is_applied


def test_a_command_of_the_window_does_not_wait_for_the_pause(qtbot: QtBot, code: CodePanel, session: Session) -> None:
    go_behind(code, "x + 1")
    write(code, "0")
    assert not code.live.is_applied
    press(code, Key.Key_F5)
    assert code.live.is_applied and undo_count(session) == 1


def test_what_is_new_is_selected_on_the_canvas(qtbot: QtBot, code: CodePanel, session: Session) -> None:
    go_behind(code, "z = y * 2")
    press(code, Key.Key_Return)
    write(code, "w = z.sum()")
    with qtbot.waitSignal(code.added) as added:
        applied(qtbot, code)
    assert session.attention.selection == {nodes(session)["w"]} == set(added.args[0])


def test_a_program_is_begun_by_typing(qtbot: QtBot, code: CodePanel, session: Session) -> None:
    session.graph_store.load(Graph())
    qtbot.waitUntil(lambda: "manual_seed" in code.editor.text)
    code.editor.moveCursor(QTextCursor.MoveOperation.End)
    write(code, "a = torch.ones(3)")
    applied(qtbot, code)
    assert set(nodes(session)) == {"a"} and session.graph_store.graph.header.seed == 0


# ---------------------------------------------------------------------- what cannot be read


def wavy(code: CodePanel) -> list[str]:
    """The words that are underlined."""
    wave = QTextFormat.Property.TextUnderlineStyle
    marks = code.editor.extraSelections()
    return [mark.cursor.selectedText() for mark in marks if mark.format.hasProperty(wave)]


def test_what_cannot_be_read_is_underlined_with_the_reason_and_the_canvas_stays(
    qtbot: QtBot, code: CodePanel, session: Session
) -> None:
    before = session.graph_store.graph.copy()
    go_behind(code, "y * 2")
    write(code, " + nothing")
    refused(qtbot, code)
    assert wavy(code) == ["nothing"]
    assert "Line 5" in code.strip.words.whole and "nothing" in code.strip.words.whole
    assert code.strip.chip.text() == "Not applied"
    assert "nothing" in code.tip_at(5, 14) and code.editor.gutter.unread == 5
    assert session.graph_store.graph.nodes == before.nodes and undo_count(session) == 0


def test_discard_is_a_button_and_ctrl_z_brings_the_words_back(qtbot: QtBot, code: CodePanel, session: Session) -> None:
    go_behind(code, "y * 2")
    write(code, " + (")
    refused(qtbot, code)
    QTest.mouseClick(code.strip.discard_button, Qt.MouseButton.LeftButton)
    assert code.editor.text == TEXT.strip() and code.live.is_applied and wavy(code) == []
    press(code, Key.Key_Z, Control)
    assert "z = y * 2 + (" in code.editor.text and not code.live.is_applied


def test_esc_takes_nothing_away_and_leaves_at_the_second_press(qtbot: QtBot, code: CodePanel) -> None:
    left = []
    code.left.connect(lambda: left.append(True))
    go_behind(code, "y * 2")
    write(code, " + (")
    for letter in ("3", "4"):
        press(code, Key.Key_Escape)
        assert not left
        write(code, letter)
    press(code, Key.Key_Escape)
    press(code, Key.Key_Escape)
    assert left and code.editor.text.endswith("z = y * 2 + (34") and not code.live.is_applied


def test_esc_leaves_the_text_when_all_is_applied(qtbot: QtBot, code: CodePanel) -> None:
    go_behind(code, "y * 2")
    write(code, "0")
    with qtbot.waitSignal(code.left):
        press(code, Key.Key_Escape)
    assert code.live.is_applied and code.editor.text.endswith("y * 20")


def test_an_edit_on_the_canvas_leaves_what_is_being_typed(qtbot: QtBot, code: CodePanel, session: Session) -> None:
    go_behind(code, "z = y * 2")
    write(code, " + (")
    refused(qtbot, code)
    session.graph_store.attempt(recipes.set_literal, "Set", nodes(session)["x"], "size", "(4, 5)")
    qtbot.waitUntil(lambda: "torch.ones(4, 5)" in code.editor.text)
    assert code.editor.text.endswith("z = y * 2 + (") and code.editor.textCursor().atBlockEnd()
    write(code, "3)")
    applied(qtbot, code)
    assert "torch.ones(4, 5)" in code.editor.text and code.editor.text.endswith("z = y * 2 + (3)")


def test_where_both_changed_a_line_a_person_decides(qtbot: QtBot, code: CodePanel, session: Session) -> None:
    item = nodes(session)["z"]
    go_behind(code, "z = y * 2")
    write(code, "0 + (")
    refused(qtbot, code)
    session.graph_store.attempt(recipes.set_literal, "Set", item, "b", "7")
    qtbot.waitUntil(lambda: code.live.state == "conflict")
    assert code.editor.text.endswith("z = y * 20 + (") and code.strip.keep_button.isVisible()
    write(code, "1)")
    assert session.graph_store.graph.nodes[item].literals["b"] == "7"
    QTest.mouseClick(code.strip.keep_button, Qt.MouseButton.LeftButton)
    assert code.live.is_applied and "y * 20" in session.run.program.code


def test_the_canvas_s_line_is_one_button_away(qtbot: QtBot, code: CodePanel, session: Session) -> None:
    go_behind(code, "z = y * 2")
    write(code, "0 + (")
    refused(qtbot, code)
    session.graph_store.attempt(recipes.set_literal, "Set", nodes(session)["z"], "b", "7")
    qtbot.waitUntil(lambda: code.live.state == "conflict")
    QTest.mouseClick(code.strip.discard_button, Qt.MouseButton.LeftButton)
    assert code.live.is_applied and code.editor.text.endswith("z = y * 7")


def test_another_document_keeps_what_was_typed_for_the_one_before(
    qtbot: QtBot, code: CodePanel, session: Session
) -> None:
    go_behind(code, "z = y * 2")
    write(code, " + (")
    session.new()
    qtbot.waitUntil(lambda: "y * 2" not in code.editor.text)
    assert code.live.left_behind.endswith("z = y * 2 + (")
    QTest.mouseClick(code.strip.copy_left_button, Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text().endswith("z = y * 2 + (\n") and not code.live.left_behind


@pytest.mark.parametrize(
    "words", ["x\x00y", "s = '\ud800'", "q = " + "(" * 300, "a = " + "1 + " * 3000 + "1", "\u2029\u00a0"]
)
def test_a_hostile_text_is_refused_or_read_and_never_an_error(
    qtbot: QtBot, code: CodePanel, session: Session, words: str
) -> None:
    before = dict(session.graph_store.graph.nodes)
    go_behind(code, "z = y * 2")
    code.editor.insertPlainText("\n" + words)
    code.live.apply()
    assert before.items() <= session.graph_store.graph.nodes.items() or code.live.is_applied


# Slow: two thousand lines are read, drawn and printed.
def test_two_thousand_lines_are_pasted_at_once(qtbot: QtBot, code: CodePanel, session: Session) -> None:
    go_behind(code, "z = y * 2")
    code.editor.insertPlainText("".join(f"\nv{k} = z + {k}" for k in range(2000)))
    assert code.live.apply()
    assert {"v0", "v1999"} <= nodes(session).keys() and undo_count(session) == 1
    press(code, Key.Key_Z, Control)
    assert code.editor.text == TEXT.strip()


def test_letters_of_an_input_method_are_applied_when_they_are_chosen(
    qtbot: QtBot, code: CodePanel, session: Session
) -> None:
    go_behind(code, "z = y * 2")
    press(code, Key.Key_Return)
    write(code, "# ")
    QApplication.sendEvent(code.editor, QInputMethodEvent("ni", []))
    assert code.editor.composes
    press(code, Key.Key_F5)
    assert not code.live.is_applied and code.editor.composes
    chosen = QInputMethodEvent()
    chosen.setCommitString("\u4f60")
    QApplication.sendEvent(code.editor, chosen)
    applied(qtbot, code)
    assert code.editor.text.endswith("\n# \u4f60")
    assert "# \u4f60" in session.run.program.code


def test_lines_that_come_above_leave_what_is_seen_where_it_is(qtbot: QtBot, code: CodePanel, session: Session) -> None:
    many = "import torch\n\n" + "".join(f"v{k} = torch.ones({k})\n" for k in range(1, 80))
    session.graph_store.load(read_script(many).graph)
    qtbot.waitUntil(lambda: "v79" in code.editor.text)
    code.editor.go_to(81, 0)
    seen = code.editor.firstVisibleBlock().text()
    edits = recipes.set_header(session.graph_store.graph, Header(seed=3))
    session.graph_store.submit(edits, "Seed")
    qtbot.waitUntil(lambda: "manual_seed(3)" in code.editor.text)
    assert code.editor.firstVisibleBlock().text() == seen
    assert code.editor.textCursor().block().text() == "v79 = torch.ones(79)"


# ---------------------------------------------------------------------- keys


@pytest.mark.parametrize(
    ("begin", "keys", "end"),
    [
        ("", [Key.Key_Tab, Key.Key_A], "    a"),
        ("ab", [Key.Key_Tab], "ab  "),
        ("for t in range(3):", [Key.Key_Return, Key.Key_A], "for t in range(3):\n    a"),
        ("    a", [Key.Key_Return, Key.Key_B], "    a\n    b"),
        ("x = 1  # why:", [Key.Key_Return, Key.Key_B], "x = 1  # why:\nb"),
        ("        ", [Key.Key_Backspace], "    "),
        ("      ", [Key.Key_Backspace], "    "),
        ("a  ", [Key.Key_Backspace], "a "),
        ("    a", [Key.Key_Backtab], "a"),
        ("    a", [Key.Key_Home, Key.Key_B], "    ba"),
        ("    a", [Key.Key_Home, Key.Key_Home, Key.Key_B], "b    a"),
        ("# \U0001f600", [Key.Key_Return, Key.Key_A, Key.Key_Tab], "# \U0001f600\na   "),
    ],
)
def test_keys_mean_what_they_mean_in_python(
    qtbot: QtBot, code: CodePanel, begin: str, keys: list[Qt.Key], end: str
) -> None:
    code.editor.selectAll()
    code.editor.insertPlainText(begin)
    for key in keys:
        if Key.Key_A <= key <= Key.Key_Z:
            write(code, chr(key.value).lower())
        else:
            press(code, key)
    assert code.editor.text == end


def test_lines_become_comments_and_statements_again(qtbot: QtBot, code: CodePanel) -> None:
    code.editor.selectAll()
    code.editor.insertPlainText("with f():\n    a\n\n    b")
    for words in ("a", "b"):
        go_behind(code, words)
    cursor = code.editor.textCursor()
    cursor.setPosition(11)
    cursor.setPosition(len(code.editor.text), QTextCursor.MoveMode.KeepAnchor)
    code.editor.setTextCursor(cursor)
    press(code, Key.Key_Slash, Control)
    assert code.editor.text == "with f():\n    # a\n\n    # b"
    press(code, Key.Key_Slash, Control)
    assert code.editor.text == "with f():\n    a\n\n    b"
