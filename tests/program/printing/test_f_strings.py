"""Texts with values in them: read, printed, the same text when run."""

import pytest

from gradstudio.graph.analysis.program_analysis import incomplete
from gradstudio.graph.errors import Refused
from gradstudio.graph.text.format_templates import count, pieces
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write
from tests.program.sketch import formatted

VALUES = {"n": 3, "half": 0.5, "word": "it's"}
HEAD = 'n = 3\nhalf = 0.5\nword = "it\'s"\n'
TEXTS = [
    'f"{n}"',
    'f"{n} of {half:.3f}"',
    'f"{n!r:>8}|{half:e}"',
    'f"{{{n}}} {{}}"',
    'f"{n + 1} and {n * 2:05d}"',
    "f'{n} says \"yes\"'",
    'f"it\'s {n}"',
    "f'both \" and \\' {n}'",
    'f"{n}\\n\\t{half}"',
    'f"ünïcode → {word}"',
    'f"{n=} {half=:.2f}"',
    "f\"{word + 'x'}\"",
    'f"no holes"',
    'f"{n}" + "x"',
]


@pytest.mark.parametrize("text", TEXTS)
def test_it_reads_back_as_the_same_text(text: str) -> None:
    graph = read_script(f"{HEAD}y = {text}\n").graph
    assert incomplete(graph) == {}
    code = write(graph).code
    assert formatted(code) == code
    names: dict[str, object] = {}
    exec(code, names)
    assert names["y"] == eval(text, {}, VALUES)
    assert write(read_script(code).graph).code == code


def test_quotes_in_a_hole_that_leave_none_are_a_call_of_format() -> None:
    graph = read_script("x = (1, 2)\ny = '{} {}'\nprint(f'{x}', \"it's\")\n").graph
    assert incomplete(graph) == {}


@pytest.mark.parametrize("literal", ['"{0}"', '"{name}"', '"{:{}}"', '"{"', "3", "[", '"{x!r}"'])
def test_what_is_no_template_is_refused(literal: str) -> None:
    with pytest.raises(Refused):
        pieces(literal)


def test_holes_are_counted() -> None:
    assert count('"a {} {{}} {:.4f}"') == 2
