"""Changes of the Code dock's text that leave all else where it is: cursor, selection and what is scrolled to.

Qt counts a character beyond the basic plane as two; spans and cursors of Python count it as one.
"""

from collections.abc import Sequence

from PySide6.QtGui import QTextBlock, QTextCursor, QTextDocument

from gradstudio.ui.docks.code.line_diff import Hunk

Move = QTextCursor.MoveMode
LONGEST_COMPARED = 400
"""Characters; a longer line is replaced whole."""


def units(text: str) -> int:
    """How many Qt counts where Python counts the characters of a text."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def column(line: str, count: int) -> int:
    """How many characters of a line those are that Qt counts."""
    if line.isascii():
        return min(count, len(line))
    return len(line.encode("utf-16-le", "surrogatepass")[: 2 * count].decode("utf-16-le", "surrogatepass"))


def position(document: QTextDocument, line: int, place: int) -> int:
    """Qt's position of a character; the end of the line, or of the text, where there is none."""
    block = document.findBlockByNumber(line - 1)
    if not block.isValid():
        return max(0, document.characterCount() - 1)
    return block.position() + units(block.text()[:place])


def place(document: QTextDocument, at: int) -> tuple[int, int]:
    """Line (from 1) and column of one of Qt's positions."""
    block = document.findBlock(at)
    return block.blockNumber() + 1, column(block.text(), at - block.position())


def text_before(cursor: QTextCursor) -> str:
    """What stands on the cursor's line before it."""
    line = cursor.block().text()
    return line[: column(line, cursor.positionInBlock())]


def replace(document: QTextDocument, hunks: Sequence[Hunk], at: int = 0) -> None:
    """Replace lines, from the last hunk to the first; characters that stay are not touched.

    `at` is where the cursor is put when that is undone.
    """
    hand = QTextCursor(document)
    hand.setPosition(at)
    hand.beginEditBlock()
    for hunk in reversed(hunks):
        if hunk.start == hunk.end:
            _insert(hand, hunk)
        elif hunk.lines:
            _exchange(hand, hunk)
        else:
            _remove(hand, hunk)
    hand.endEditBlock()


def exchange(hand: QTextCursor, start: int, old: str, new: str) -> None:
    """Replace what differs between an old text, which begins at a position, and a new one; a cursor keeps its word."""
    if max(len(old), len(new)) > LONGEST_COMPARED or not (old and new):
        changes = [(0, len(old), 0, len(new))]
    else:
        from difflib import SequenceMatcher

        codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        changes = [code[1:] for code in codes if code[0] != "equal"]
    for a, b, c, d in reversed(changes):
        if old[a:b] != new[c:d]:
            hand.setPosition(start + units(old[:a]))
            hand.setPosition(start + units(old[:b]), Move.KeepAnchor)
            hand.insertText(new[c:d])


def _exchange(hand: QTextCursor, hunk: Hunk) -> None:
    blocks = _blocks(hand.document(), hunk)
    if len(blocks) == len(hunk.lines):
        for block, line in zip(blocks, hunk.lines, strict=True):
            exchange(hand, block.position(), block.text(), line)
        return
    exchange(hand, blocks[0].position(), "\n".join(block.text() for block in blocks), "\n".join(hunk.lines))


def _insert(hand: QTextCursor, hunk: Hunk) -> None:
    block = hand.document().findBlockByNumber(hunk.start)
    if block.isValid():
        hand.setPosition(block.position())
        hand.insertText("".join(f"{line}\n" for line in hunk.lines))
        return
    hand.movePosition(QTextCursor.MoveOperation.End)
    hand.insertText("".join(f"\n{line}" for line in hunk.lines))


def _remove(hand: QTextCursor, hunk: Hunk) -> None:
    blocks = _blocks(hand.document(), hunk)
    behind, ahead = blocks[-1].next(), blocks[0].previous()
    end = blocks[-1].position() + blocks[-1].length() - 1
    hand.setPosition(
        ahead.position() + ahead.length() - 1 if not behind.isValid() and ahead.isValid() else blocks[0].position()
    )
    hand.setPosition(behind.position() if behind.isValid() else end, Move.KeepAnchor)
    hand.removeSelectedText()


def _blocks(document: QTextDocument, hunk: Hunk) -> list[QTextBlock]:
    found = [document.findBlockByNumber(hunk.start)]
    while len(found) < hunk.end - hunk.start:
        found.append(found[-1].next())
    return found


def lines_of(cursor: QTextCursor) -> tuple[int, int]:
    """First and last line (from 1) that a selection touches; not the last when nothing of it is selected."""
    document = cursor.document()
    first, last = document.findBlock(cursor.selectionStart()), document.findBlock(cursor.selectionEnd())
    ends_before = last != first and last.position() == cursor.selectionEnd()
    return first.blockNumber() + 1, last.blockNumber() + 1 - ends_before
