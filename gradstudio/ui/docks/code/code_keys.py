"""What the keys of a person who writes Python do in the Code dock's text."""

from collections.abc import Callable, Iterator

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QTextBlock, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from gradstudio.ui.docks.code.text_replacement import exchange, text_before

INDENT = "    "
OPENING, CLOSING = "([{", ")]}"
Key, Modifier, Move = Qt.Key, Qt.KeyboardModifier, QTextCursor.MoveMode
Operation = QTextCursor.MoveOperation


def handle_key(editor: QPlainTextEdit, event: QKeyEvent) -> bool:
    """Do what a key means in Python; False: it means what it means in any text."""
    bare = event.modifiers() & ~Modifier.KeypadModifier
    match event.key():
        case Key.Key_Tab if bare == Modifier.NoModifier:
            indent(editor)
        case Key.Key_Backtab:
            unindent(editor)
        case Key.Key_Return | Key.Key_Enter if bare in (Modifier.NoModifier, Modifier.ShiftModifier):
            new_line(editor)
        case Key.Key_Backspace if bare == Modifier.NoModifier:
            return delete_indent(editor)
        case Key.Key_Home if bare in (Modifier.NoModifier, Modifier.ShiftModifier):
            home(editor, keep=bare == Modifier.ShiftModifier)
        case Key.Key_Slash if bare == Modifier.ControlModifier:
            toggle_comment(editor)
        case Key.Key_K if bare == Modifier.ControlModifier | Modifier.ShiftModifier:
            delete_lines(editor)
        case _:
            return False
    return True


def indent(editor: QPlainTextEdit) -> None:
    """Four columns more: to the next stop, or of every line that is selected."""
    cursor = editor.textCursor()
    if _is_over_lines(cursor):
        _each_line(cursor, lambda line: INDENT + line if line.strip() else line)
        return
    place = 0 if cursor.hasSelection() else len(text_before(cursor))
    cursor.insertText(" " * (len(INDENT) - place % len(INDENT)))
    editor.setTextCursor(cursor)


def unindent(editor: QPlainTextEdit) -> None:
    """Four columns less, of every line that is selected."""
    _each_line(editor.textCursor(), lambda line: line[_leading(line, len(INDENT)) :])


def new_line(editor: QPlainTextEdit) -> None:
    """A line as deep as this one; one level deeper behind ``:`` and an open bracket."""
    cursor = editor.textCursor()
    ahead = text_before(cursor)
    code = _without_comment(ahead).rstrip()
    deep = ahead[: len(ahead) - len(ahead.lstrip())]
    deeper = INDENT if code.endswith((":", *OPENING)) else ""
    cursor.insertText("\n" + deep + deeper)
    editor.setTextCursor(cursor)
    editor.ensureCursorVisible()


def delete_indent(editor: QPlainTextEdit) -> bool:
    """Take four columns away where only blanks stand before the cursor; False: there is something else."""
    cursor = editor.textCursor()
    ahead = text_before(cursor)
    if cursor.hasSelection() or not ahead or ahead.strip(" "):
        return False
    count = (len(ahead) - 1) % len(INDENT) + 1
    cursor.movePosition(Operation.Left, Move.KeepAnchor, count)
    cursor.removeSelectedText()
    return True


def home(editor: QPlainTextEdit, *, keep: bool) -> None:
    """To the first character that is no blank; from there, to the line's beginning."""
    cursor = editor.textCursor()
    line = cursor.block().text()
    first = len(line) - len(line.lstrip())
    column = 0 if cursor.positionInBlock() == first else first
    cursor.setPosition(cursor.block().position() + column, Move.KeepAnchor if keep else Move.MoveAnchor)
    editor.setTextCursor(cursor)


def delete_lines(editor: QPlainTextEdit) -> None:
    """Take the line of the cursor away, or all that are selected; the cursor stands in the one that follows."""
    cursor = editor.textCursor()
    blocks = list(_blocks(cursor))
    first, last = blocks[0], blocks[-1]
    begin, end = first.position(), last.position() + last.length() - 1
    if last.next().isValid():
        end += 1
    elif first.previous().isValid():
        begin -= 1
    cursor.setPosition(begin)
    cursor.setPosition(end, Move.KeepAnchor)
    cursor.removeSelectedText()
    editor.setTextCursor(cursor)


def toggle_comment(editor: QPlainTextEdit) -> None:
    """Make comments of the lines that are selected; if all are comments, statements again."""
    cursor = editor.textCursor()
    lines = [block.text() for block in _blocks(cursor) if block.text().strip()]
    if lines and all(line.lstrip().startswith("#") for line in lines):
        _each_line(cursor, _uncommented)
        return
    depth = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    _each_line(cursor, lambda line: f"{line[:depth]}# {line[depth:]}" if line.strip() else line)


def _uncommented(line: str) -> str:
    deep = len(line) - len(line.lstrip())
    return line[:deep] + line[deep:].removeprefix("#").removeprefix(" ")


def _leading(line: str, most: int) -> int:
    return min(most, len(line) - len(line.lstrip(" ")))


def _without_comment(line: str) -> str:
    """The code of a line, roughly: a ``#`` within quotes is taken for a comment when quotes before it are even."""
    for place, character in enumerate(line):
        if character == "#" and not line[:place].count("'") % 2 and not line[:place].count('"') % 2:
            return line[:place]
    return line


def _is_over_lines(cursor: QTextCursor) -> bool:
    return len(list(_blocks(cursor))) > 1


def _blocks(cursor: QTextCursor) -> Iterator[QTextBlock]:
    """The lines a cursor's selection touches; not the last, when the selection ends at its beginning."""
    document = cursor.document()
    block, last = document.findBlock(cursor.selectionStart()), document.findBlock(cursor.selectionEnd())
    end = last.blockNumber() - (last.position() == cursor.selectionEnd() and last != block)
    while block.isValid() and block.blockNumber() <= end:
        yield block
        block = block.next()


def _each_line(cursor: QTextCursor, change: Callable[[str], str]) -> None:
    """Replace every line that is selected, as one step of the text's own history."""
    blocks = list(_blocks(cursor))
    hand = QTextCursor(cursor.document())
    hand.beginEditBlock()
    for block in blocks:
        line = block.text()
        exchange(hand, block.position(), line, change(line))
    hand.endEditBlock()
