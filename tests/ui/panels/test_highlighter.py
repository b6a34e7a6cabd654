"""Which words of a program get which colour."""

import ast

from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication

from gradstudio.ui import theme as themes
from gradstudio.ui.panels.highlighter import PythonHighlighter, changed_lines, shares


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
    assert {line: part[-1] for line, part in found.items()} == {
        0: (4, 6, "string"),
        1: (0, 3, "string"),
        2: (0, 8, "string"),
    }


def test_a_text_that_is_no_python_is_left_plain() -> None:
    assert shares("(((") == {}


LINES = ("x = 1", "y = f(", "    x,", "    2.5,", ")", "with g():", "    z = x", "# why", "", "import torch")


@given(st.lists(st.sampled_from(LINES), min_size=1), st.lists(st.sampled_from(LINES), min_size=1))
def test_the_lines_that_differ_make_one_text_of_the_other(old: list[str], new: list[str]) -> None:
    start, old_end, new_end = changed_lines(old, new)
    assert [*old[:start], *new[start:new_end], *old[old_end:]] == new
    if old != new:
        assert start < old_end
        assert start < new_end


@given(st.lists(st.lists(st.sampled_from(LINES), min_size=1), min_size=2, max_size=5))
def test_a_text_that_follows_another_is_coloured_as_if_it_were_the_first(
    qapp: QApplication, texts: list[list[str]]
) -> None:
    document = QTextDocument()
    following = PythonHighlighter(document, themes.theme("dark"))
    for lines in texts:
        following.tokenise("\n".join(lines))
        if _is_python("\n".join(lines)):
            alone = shares("\n".join(lines))
            assert following.colours == [alone.get(k, []) for k in range(len(lines))]


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
