"""Which words of a program get which colour."""

from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QTextCursor, QTextDocument
from PySide6.QtWidgets import QApplication

from gradstudio.ui import theme as themes
from gradstudio.ui.widgets.python_highlighter import LONGEST, PythonHighlighter, changed_lines, shares


def colored(text: str) -> dict[str, set[str]]:
    lines = text.splitlines()
    found: dict[str, set[str]] = {}
    for line, parts in shares(text).items():
        for column, length, role in parts:
            found.setdefault(role, set()).add(lines[line][column : column + length])
    return found


def test_keywords_numbers_comments_and_calls_are_told_apart() -> None:
    found = colored("with torch.no_grad():\n    y = relu(x) + 2.5  # why\n")
    assert found["keyword"] == {"with"}
    assert found["call"] == {"no_grad", "relu"}
    assert found["number"] == {"2.5"}
    assert found["comment"] == {"# why"}


def test_a_text_over_several_lines_is_coloured_on_each() -> None:
    found = shares('x = """one\ntwo\nthree"""\n')
    assert {line: [part[:2] for part in parts if part[2] == "string"] for line, parts in found.items()} == {
        0: [(4, 3), (7, 3)],
        1: [(0, 3)],
        2: [(0, 8)],
    }


def test_what_is_still_being_typed_is_coloured_as_far_as_it_goes() -> None:
    assert colored("y = relu(x, 'ab") == {"call": {"relu"}, "operator": {"=", "(", ","}, "string": {"'ab"}}
    assert colored("for t in range(") == {"keyword": {"for", "in"}, "call": {"range"}, "operator": {"("}}


def test_a_hash_in_a_text_is_no_comment_and_a_quote_in_a_comment_is_no_text() -> None:
    assert colored("a = '#' # it's") == {"operator": {"="}, "string": {"'#'"}, "comment": {"# it's"}}


def test_a_line_without_end_is_coloured_at_its_beginning_only() -> None:
    (parts,) = shares("x = [" + "1, " * 50_000).values()
    assert max(column + length for column, length, _ in parts) <= LONGEST


LINES = ("x = 1", "y = f(", "    x,", "    2.5,", ")", "with g():", "    z = x", "# why", "", "import torch")


@given(st.lists(st.sampled_from(LINES), min_size=1), st.lists(st.sampled_from(LINES), min_size=1))
def test_the_lines_that_differ_make_one_text_of_the_other(old: list[str], new: list[str]) -> None:
    start, old_end, new_end = changed_lines(old, new)
    assert [*old[:start], *new[start:new_end], *old[old_end:]] == new
    if old != new:
        assert start < old_end
        assert start < new_end


def formats(document: QTextDocument) -> list[list[tuple[int, int, str]]]:
    """Of every line: where it is coloured, and how."""
    found, block = [], document.begin()
    while block.isValid():
        ranges = block.layout().formats()
        found.append([(part.start, part.length, part.format.foreground().color().name()) for part in ranges])
        block = block.next()
    return found


TYPED = (*LINES, 'x = """one', '"""', "f(")


@given(st.lists(st.tuples(st.integers(0, 200), st.sampled_from(TYPED)), min_size=1, max_size=8))
def test_what_is_typed_bit_by_bit_is_coloured_as_if_it_were_read_at_once(
    qapp: QApplication, typed: list[tuple[int, str]]
) -> None:
    theme = themes.theme("dark")
    document, at_once = QTextDocument(), QTextDocument()
    hand, _first = QTextCursor(document), PythonHighlighter(document, theme)
    for place, words in typed:
        hand.setPosition(min(place, document.characterCount() - 1))
        hand.insertText(words + "\n")
    _second = PythonHighlighter(at_once, theme)
    at_once.setPlainText(document.toPlainText())
    assert formats(document) == formats(at_once)
