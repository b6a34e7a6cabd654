"""A program that reads its own docstring finds it, and its export does, too."""

import contextlib
import io

import pytest

from gradstudio.document.python.python_document import read_python
from gradstudio.program.reading.docstring_name import with_docstring_bound
from gradstudio.program.write import write

SHOWN = '"""Trains a line.\n\nTwice.\n"""\nimport torch\n\nprint(__doc__)\nx = torch.ones(2)\n'
LATER = '"""Trains."""\nfrom __future__ import annotations  # for hints\n\nprint(__doc__)\n'


def printed(text: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, "program", "exec"), {"__name__": "program"})
    return out.getvalue()


@pytest.mark.parametrize("text", [LATER, '"""Says é"""; print(__doc__)\n'], ids=["future", "one line"])
def test_what_is_bound_prints_what_the_docstring_does(text: str) -> None:
    bound = with_docstring_bound(text)
    assert bound != text and bound.count("\n") == text.count("\n")
    assert printed(bound) == printed(text)


def test_the_export_binds_it_and_lines_stay() -> None:
    read = read_python(SHOWN, keeps_code=True)
    code = write(read.graph).code
    assert '__doc__ = """Trains a line.\n\nTwice.\n"""' in code
    by_text = {node.literals.get("code"): read.lines[item] for item, node in read.graph.nodes.items()}  # type: ignore[index]  # of a script
    assert 1 in by_text.values()


@pytest.mark.parametrize(
    "text", ['"""A note."""\nx = 1\n', "print(__doc__)\n", '"""Broken __doc__', "'''a'''\ny.__doc__\n"], ids=range(4)
)
def test_all_else_stays_as_it_is(text: str) -> None:
    assert with_docstring_bound(text) == text


@pytest.mark.parametrize("end", ["\r", "\r\n"])
def test_lines_end_as_python_takes_them(end: str) -> None:
    text = LATER.replace("\n", end)
    assert with_docstring_bound(text) == with_docstring_bound(LATER)
    assert with_docstring_bound(SHOWN.replace("\n", end)) == with_docstring_bound(SHOWN)


def test_columns_are_those_of_characters() -> None:
    text = '"""Says é"""; from __future__ import annotations; print(__doc__)\n'
    assert printed(with_docstring_bound(text)) == "Says é\n"
