"""An edit of the text leaves no card on another, whatever it puts around what stands, and moves no more than that."""

import pytest

from gradstudio.document.python.merge_edits import merge
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph, Place
from gradstudio.layout.placement.occupancy import Occupancy
from gradstudio.layout.tidy import layout
from gradstudio.program.write import write_code
from tests.layout.programs import overlaps, program, rectangles, strangers_in_frames

TEXT = """\
import torch

x = torch.ones(3, requires_grad=True)
a = x * 2
b = torch.exp(a)
c = torch.tanh(x)
d = b + c
for i in range(3):
    e = torch.sin(d)
    f = e + c
g = f.sum()
g.backward()
"""


def tidy() -> Graph:
    graph = program(TEXT)
    graph.places = {key: Place(*at) for key, at in layout(graph).items()}
    return graph


def edited(graph: Graph, old: str, new: str, *, anew: bool = False) -> Graph:
    text = write_code(graph)[0]
    assert old in text, text
    made = graph.copy()
    apply_all(made, merge(graph, text.replace(old, new), anew=anew))
    return made


def corners(graph: Graph) -> dict[str, tuple[float, float]]:
    return {key: (place.x, place.y) for key, place in graph.places.items()}


def assert_clear(graph: Graph) -> None:
    covers = rectangles(graph, corners(graph))
    assert set(graph.nodes) <= set(graph.places)
    assert not overlaps(covers) and not strangers_in_frames(graph, covers)
    ground = Occupancy(graph, {})
    for body in graph.bodies:
        frames = {item: rect for item in graph.bodies[body] if (rect := ground.rect(item)) is not None}
        assert not overlaps(frames)  # type: ignore[arg-type]  # keys are items


EDITS = {
    "a block around one line": ("c = torch.tanh(x)", "with torch.no_grad():\n    c = torch.tanh(x)"),
    "a block around lines": (
        "b = torch.exp(a)\nc = torch.tanh(x)\nd = b + c",
        "for j in range(2):\n    b = torch.exp(a)\n    c = torch.tanh(x)\n    d = b + c",
    ),
    "a block around a block": (
        "for i in range(3):\n    e = torch.sin(d)\n    f = e + c",
        "with torch.no_grad():\n    for i in range(3):\n        e = torch.sin(d)\n        f = e + c",
    ),
    "a line into a block": (
        "d = b + c\nfor i in range(3):\n",
        "d = b + c\nfor i in range(3):\n    h = torch.cos(d)\n",
    ),
    "a line that stands goes into a block": ("g = f.sum()", "    g = f.sum()"),
    "the first line goes into a block": (
        "c = torch.tanh(x)\nd = b + c\nfor i in range(3):",
        "d = b + x\nfor i in range(3):\n    c = torch.tanh(x)",
    ),
    "a line goes out of a block": ("    f = e + c", "f = e + c"),
    "a block goes": (
        "for i in range(3):\n    e = torch.sin(d)\n    f = e + c",
        "e = torch.sin(d)\nf = e + c",
    ),
}


@pytest.mark.parametrize("name", EDITS)
@pytest.mark.parametrize("anew", [False, True])
def test_nothing_covers_anything(name: str, anew: bool) -> None:
    assert_clear(edited(tidy(), *EDITS[name], anew=anew))


def test_what_the_edit_does_not_touch_stays() -> None:
    before = tidy()
    after = edited(before, *EDITS["a block around one line"])
    inside = {item for block in after.blocks if block not in before.blocks for item in after.bodies[block]}  # type: ignore[index]
    assert inside
    for key, place in before.places.items():
        assert key in inside or after.places[key] == place


def test_a_program_without_places_is_laid_out_as_a_whole() -> None:
    text = write_code(tidy())[0]
    graph = Graph()
    apply_all(graph, merge(graph, text))
    assert corners(graph) == {key: (round(x), round(y)) for key, (x, y) in layout(graph).items()}


def test_a_program_typed_line_by_line_stands_as_one_that_is_opened() -> None:
    graph, typed = Graph(), "import torch\n"
    for line in TEXT.splitlines()[1:]:
        typed += line + "\n"
        if not line.endswith(":"):
            apply_all(graph, merge(graph, typed, anew=True))
    assert corners(graph) == {key: (round(x), round(y)) for key, (x, y) in layout(graph).items()}


def test_where_nothing_comes_or_goes_nothing_moves_even_when_all_may() -> None:
    graph = tidy()
    graph.places["n1"] = Place(-500.0, -300.0)
    assert edited(graph, "x * 2", "x * 3", anew=True).places == graph.places
