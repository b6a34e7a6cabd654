"""A name that functions in code look up when they are called: what is given another name is still found by them."""

import pytest

from gradstudio.graph import recipes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.recipes.fragments import duplicate
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_script

TEXT = """\
import math

n = math.sqrt(4.0)
m = math.sqrt(9.0)


def f(x, *rest):
    return [n * x for _ in range(1)]


y = f(3.0)
"""


def read(text: str) -> Graph:
    return read_script(text, keeps_code=True).graph


def binding(graph: Graph, name: str) -> ItemId:
    return next(node.id for node in graph.nodes.values() if name in node.names)


def value_of(graph: Graph, name: str) -> object:
    found: dict[str, object] = {}
    exec(compile(write_script(graph), "program", "exec"), found)
    return found[name]


def test_the_code_reads_the_new_name() -> None:
    graph = read(TEXT)
    apply_all(graph, recipes.rename(graph, binding(graph, "n"), ("factor",)))
    assert "[factor * x for _ in range(1)]" in write_script(graph)
    assert value_of(graph, "y") == [6.0]


def test_undone_it_is_as_it_was() -> None:
    graph = read(TEXT)
    before = write_script(graph)
    back = apply_all(graph, recipes.rename(graph, binding(graph, "n"), ("factor",)))
    apply_all(graph, back)
    assert write_script(graph) == before


@pytest.mark.parametrize(
    ("name", "new", "words"),
    [
        ("n", ("x",), "of its own"),
        ("m", ("n",), "choose another name"),
        ("n", (), "change it in the text"),
        ("n", ("_",), "change it in the text"),
    ],
)
def test_what_would_break_it_is_refused(name: str, new: tuple[str, ...], words: str) -> None:
    graph = read(TEXT)
    with pytest.raises(Refused, match=words):
        recipes.rename(graph, binding(graph, name), new)


def test_which_of_two_is_meant_nobody_knows() -> None:
    graph = read(TEXT.replace("m = ", "n = "))
    with pytest.raises(Refused, match="more than one"):
        recipes.rename(graph, binding(graph, "n"), ("factor",))


def test_a_copy_reads_what_was_copied_with_it() -> None:
    graph = read(TEXT)
    edits, _ = duplicate(graph, [binding(graph, "n"), binding(graph, "f")])
    apply_all(graph, edits)
    assert "[n2 * x for _ in range(1)]" in write_script(graph)
    assert value_of(graph, "y") == [6.0]
