"""Every text of the corpus, read and edited on the canvas: only what was edited is another line, and torch agrees."""

import contextlib
import re
from pathlib import Path

import pytest

from gradstudio.graph.analysis.program_analysis import incomplete
from gradstudio.graph.edits import apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph
from gradstudio.graph.recipes.nodes import add_operator, rename, set_literal, set_note
from gradstudio.graph.recipes.removal import delete
from gradstudio.program.original.original_script import PRINTED_ANEW
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import IMPORT_LINES, write
from tests.corpus.running import by_python
from tests.program.original.test_edited_texts import exported, read

HERE = Path(__file__).parent
FILES = sorted([*(HERE / "accepted").glob("*.py"), *(HERE / "code").glob("*.py")])
NUMBER = re.compile(r"\d+(\.\d+)?")
EDITS = ("literal", "name", "gone", "new", "note")


def change(graph: Graph, kind: str, salt: int) -> bool:
    """Make one edit of a kind; whether there is anything to edit so."""
    nodes = [one for one in graph.nodes.values() if one.operator != "python.code" and not one.nested]
    at = salt % len(nodes) if nodes else 0
    nodes = [*nodes[at:], *nodes[:at]]
    if kind == "new":
        apply_all(graph, add_operator(graph, "torch.ones", 0, 0)[0])
    elif kind == "literal":
        found = [(n.id, path, text) for n in nodes for path, text in n.literals.items() if NUMBER.fullmatch(text)]
        if not found:
            return False
        item, path, text = found[0]
        apply_all(graph, set_literal(graph, item, path, f"{text}7" if "." in text else str(int(text) + 1)))
    elif kind == "gone":
        loose = [n.id for n in nodes if not graph.wires_from(n.id)]
        if not loose:
            return False
        apply_all(graph, delete(graph, loose[:1]))
    elif not nodes:
        return False
    elif kind == "note":
        apply_all(graph, set_note(graph, nodes[0].id, "a note of mine"))
    elif kind == "name":
        named = [n for n in nodes if len(n.names) == 1 and n.names != ("_",)]
        if not named:
            return False
        with contextlib.suppress(Refused):  # what code reads under its name
            apply_all(graph, rename(graph, named[0].id, ("other_name",)))
    return not incomplete(graph)


@pytest.mark.parametrize(("number", "path"), list(enumerate(FILES))[::2], ids=[path.stem for path in FILES[::2]])
def test_an_edited_text_means_what_is_drawn(number: int, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    kind = EDITS[number % len(EDITS)]
    graph = read(text)
    if not change(graph, kind, number * 7):
        return
    found = exported(graph)
    if PRINTED_ANEW in found.anew:
        assert found.text == write(graph, stem="typed").code
        return
    if kind == "literal":
        assert (len(found.gone), len(found.new)) == (1, 1)
    if kind == "note":
        assert any("a note of mine" in line for line in found.new) and len(found.new) <= 2
    if kind == "name":
        assert all("other_name" in line for line in found.new) or found.anew or len(found.gone) != len(found.new)
    again = read_script(found.text, keeps_code=True).graph
    own = read_script(write(graph, stem="typed").code, keeps_code=True).graph
    said, meant = (
        [
            line
            for line in write(one, stem="typed").code.split("\n")
            if line.strip() and not line.lstrip().startswith("#") and line not in IMPORT_LINES
        ]
        for one in (again, own)
    )
    if "device" not in text:
        assert said == meant or found.anew


@pytest.mark.parametrize("path", FILES[::9], ids=lambda path: path.stem)
def test_an_edited_text_computes_what_the_canvas_prints(path: Path) -> None:
    """torch says so: both texts leave the same values."""
    text = path.read_text(encoding="utf-8")
    graph = read(text)
    if not text.isascii() or "sys" in text or not change(graph, "new", 0):
        return
    typed, own = exported(graph).text, write(graph, stem="typed").code
    one, other = (by_python(each, str(path), 0, as_main=True) for each in (typed, own))
    shared = (one.variables.keys() & other.variables.keys()) - {"device"}
    assert shared
    assert {name: repr(one.variables[name]) for name in shared} == {n: repr(other.variables[n]) for n in shared}
    assert one.printed == other.printed
