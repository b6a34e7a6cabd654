"""Which words of a program get which colour."""

from gradstudio.ui.panels.highlighter import shares


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
