"""Cards that a recipe adds cover nothing: everything in their way moves on."""

from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.model import Graph, ItemId, Wire
from gradstudio.layout.card_sizes import card_size
from gradstudio.layout.placement.gap_opening import open_gap


def chain() -> tuple[Graph, list[ItemId]]:
    """``x = tensor; y = exp(x); y += 1; s = sum(y)``, a row of cards 20 pixels apart."""
    graph, items, left = Graph(), list[ItemId](), 0.0
    for key in ("torch.tensor", "torch.exp", "operator.iadd", "torch.sum"):
        edits, item = recipes.add_operator(graph, key, left, 0.0)
        apply_all(graph, edits)
        if items:
            port = {"operator.iadd": "a"}.get(key, "input")
            apply_all(graph, recipes.connect(graph, items[-1], 0, item, port))
        items.append(item)
        left += card_size(graph, item)[0] + 20
    return graph, items


def boxes(graph: Graph) -> list[tuple[float, float, float, float]]:
    found = []
    for item in graph.nodes:
        place, (width, height) = graph.places[item], card_size(graph, item)
        found.append((place.x, place.y, place.x + width, place.y + height))
    return found


def overlaps(graph: Graph) -> bool:
    found = boxes(graph)
    return any(
        a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for k, a in enumerate(found) for b in found[k + 1 :]
    )


def after(graph: Graph, edits: Edits) -> Graph:
    made = graph.copy()
    apply_all(made, edits)
    return made


def test_a_card_put_into_a_wire_pushes_its_reader_and_all_behind_it() -> None:
    graph, (x, y, write, total) = chain()
    edits = recipes.clone_before_write(graph, write)
    assert overlaps(after(graph, edits))  # as the recipe alone leaves it
    made = after(graph, open_gap(graph, edits))
    (clone,) = made.nodes.keys() - graph.nodes.keys()
    assert not overlaps(made)
    assert made.places[x] == graph.places[x]
    assert made.places[y] == graph.places[y]
    assert made.places[y].x < made.places[clone].x < made.places[write].x < made.places[total].x
    assert made.places[clone].y == made.places[y].y


def test_a_statement_that_only_reads_a_value_stands_below_it() -> None:
    graph, (_, y, write, _) = chain()
    edits = recipes.statement_before(graph, y, 0, "torch.Tensor.retain_grad", write)
    made = after(graph, open_gap(graph, edits))
    (kept,) = made.nodes.keys() - graph.nodes.keys()
    assert not overlaps(made)
    assert made.places[kept].y > made.places[y].y + card_size(made, y)[1]


def test_two_cards_at_once_do_not_cover_one_another() -> None:
    graph, (x, y, _, _) = chain()
    edits = recipes.add_identity(graph, graph.wires[y, "input"], 2, {})
    made = after(graph, open_gap(graph, edits))
    assert not overlaps(made)
    assert Wire(x, 0, y, "input") not in made.wires.values()


def test_edits_that_add_nothing_stay_as_they_are() -> None:
    graph, (x, *_) = chain()
    edits = recipes.move(graph, {x: (5.0, 5.0)})
    assert open_gap(graph, edits) is edits
