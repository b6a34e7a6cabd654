"""What typing in the Code dock adds stands beside what it is wired to; nothing else moves."""

from hypothesis import given, settings
from hypothesis import strategies as st

from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.graph.recipes.fragments import paste
from gradstudio.layout.card_sizes import card_size
from gradstudio.layout.placement.new_item_places import backward_beside, clear_of, places_for_new
from gradstudio.layout.tidy import layout
from tests.document.graphs import graphs
from tests.helpers.call_count import calls_of
from tests.layout.programs import named, overlaps, placed, program, rectangles, strangers_in_frames

CALLS_A_LAYER = 13
"""Of ours, for each module and its call that stand elsewhere."""
CHAIN = """
x = torch.tensor([1.0, 2.0])
y = torch.exp(x)
{new}
z = torch.sum(y)
"""


def grown(text: str, *names: str) -> tuple[Graph, dict[str, tuple[float, float]]]:
    """A program that is laid out but for the items that bind these names, and then these; the places of all."""
    graph = program(text)
    new = {named(graph, name) for name in names}
    return graph, after(graph, new)


def after(graph: Graph, new: set[ItemId]) -> dict[str, tuple[float, float]]:
    corners = {key: at for key, at in layout(graph).items() if key.removeprefix("note:") not in new}
    found = places_for_new(placed(graph, corners), new)
    assert not corners.keys() & found.keys()
    return corners | {key: (place.x, place.y) for key, place in found.items()}


def test_a_new_statement_stands_right_of_what_it_takes():
    graph, at = grown(CHAIN.format(new="w = torch.tanh(y)"), "w")
    w, y = named(graph, "w"), named(graph, "y")
    assert at[w][0] >= at[y][0] + card_size(graph, y)[0]
    assert not overlaps(rectangles(graph, at))


def test_a_new_leaf_stands_left_of_its_user():
    graph, at = grown("b = torch.tensor(3.0)\nx = torch.tensor(1.0)\nc = x * b", "b")
    b, c = named(graph, "b"), named(graph, "c")
    assert at[b][0] + card_size(graph, b)[0] <= at[c][0]
    assert not overlaps(rectangles(graph, at))


def test_new_statements_that_are_wired_together_are_laid_out_together():
    graph, at = grown(CHAIN.format(new="v = torch.tanh(y)\nw = v * 2\nu = w + v"), "v", "w", "u")
    y, v, w, u = (named(graph, name) for name in "yvwu")
    assert at[y][0] < at[v][0] < at[w][0] < at[u][0]


def test_a_statement_that_is_wired_to_nothing_stands_below_the_one_before():
    graph, at = grown(CHAIN.format(new="t = torch.ones(3)"), "t")
    t, y = named(graph, "t"), named(graph, "y")
    assert (at[t][0], at[t][1] > at[y][1]) == (at[y][0], True)


def test_a_new_statement_stands_in_the_frame_of_its_block():
    text = "x = torch.tensor(1.0)\nwith torch.no_grad():\n    y = x * 2\n    w = y + 1\nz = x * 3"
    graph, at = grown(text, "w")
    covers = rectangles(graph, at)
    assert not strangers_in_frames(graph, covers)
    assert covers[named(graph, "y")][2] < covers[named(graph, "w")][0]


def test_a_new_block_brings_its_contents():
    text = "x = torch.tensor(1.0)\nfor i in range(3):\n    x = x * 2\n    y = x + 1\nz = x * 3"
    graph = program(text)
    (block,) = graph.blocks
    at = after(graph, {block, *graph.order(BodyId(block))})
    assert at.keys() == {*graph.nodes, *graph.blocks}
    assert not strangers_in_frames(graph, rectangles(graph, at))


def test_a_call_that_comes_to_the_card_of_its_module_gives_it_its_place():
    graph, at = grown("m = nn.Linear(2, 3)\nx = torch.ones(2)\ny = m(x)", "y", "m")
    assert at[named(graph, "m")] == at[named(graph, "y")]


def test_a_pasted_text_moves_aside_as_little_as_it_must_to_cover_nothing():
    graph, part = program("x = torch.ones(3)\ny = x * 2"), program("a = torch.zeros(2)\nb = a + 1")
    graph, part = placed(graph, layout(graph)), placed(part, layout(part))
    edits, items = paste(graph, part, 50.0, 30.0)
    made = graph.copy()
    apply_all(made, clear_of(graph, edits, items))
    assert not overlaps(rectangles(made, {key: (place.x, place.y) for key, place in made.places.items()}))
    assert all(abs(made.places[item].y) < 400 for item in items)
    far, items = paste(graph, part, 5000.0, 30.0)
    assert clear_of(graph, far, items) is far


@given(graphs(), st.data())
@settings(max_examples=60)
def test_whatever_is_new_covers_nothing(graph, data):
    new = (
        set(data.draw(st.lists(st.sampled_from([*graph.nodes, *graph.blocks]), unique=True))) if graph.nodes else set()
    )
    for block in new & graph.blocks.keys():
        new |= set(graph.order(BodyId(block)))
    at = after(graph, new)
    assert at.keys() >= {*graph.nodes, *graph.blocks}
    assert not overlaps(rectangles(graph, at))
    assert not strangers_in_frames(graph, rectangles(graph, at))


def calls_for_one_more(layers: int) -> int:
    lines = ["x = torch.ones(4)"]
    for k in range(layers):
        lines += [f"m{k} = nn.Linear(4, 4)", f"y{k} = m{k}({f'y{k - 1}' if k else 'x'})"]
    graph = program("\n".join([*lines, "w = torch.tanh(y1)"]))
    new = named(graph, "w")
    there = placed(graph, {key: at for key, at in layout(graph).items() if key != new})
    card_groups(there)
    return calls_of(lambda: places_for_new(there, {new}))


def test_the_place_of_a_new_card_asks_little_of_each_other_card():
    assert calls_for_one_more(120) - calls_for_one_more(60) < 60 * CALLS_A_LAYER


def test_a_backward_that_is_appended_covers_nothing():
    graph = program("x = torch.ones(3, requires_grad=True)\ny = x.sum()\nz = torch.zeros(2)")
    graph = placed(graph, {named(graph, "x"): (0, 0), named(graph, "y"): (300, 0), named(graph, "z"): (540, 10)})
    apply_all(graph, backward_beside(graph))
    assert not overlaps(rectangles(graph, {key: (place.x, place.y) for key, place in graph.places.items()}))
