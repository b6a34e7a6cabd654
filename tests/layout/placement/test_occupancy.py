"""What stands in the way is looked for near by, and is what looking everywhere finds."""

import random

import pytest

from gradstudio.graph.edits import AddNode, SetPlaces, apply
from gradstudio.graph.model import ROOT, Graph, ItemId, Node, Place
from gradstudio.layout.placement.occupancy import Occupancy


@pytest.mark.parametrize("seed", range(20))
def test_what_is_covered_near_by_is_what_is_covered_by_anything(seed: int) -> None:
    chance = random.Random(seed)
    graph = Graph()
    for k in range(60):
        item = ItemId(f"n{k}")
        note = "a note " * chance.randrange(1, 30) if chance.random() < 0.2 else ""
        apply(graph, AddNode(Node(id=item, operator="torch.relu", note=note), ROOT, k))
        places = {str(item): Place(chance.uniform(0, 6000), chance.uniform(0, 3000))}
        if note and chance.random() < 0.5:
            places[f"note:{item}"] = Place(chance.uniform(0, 6000), chance.uniform(0, 3000))
        apply(graph, SetPlaces(places))  # type: ignore[arg-type]
    sizes = {ItemId(f"n{k}"): (chance.uniform(80, 900), chance.uniform(40, 300)) for k in range(0, 60, 2)}
    ground = Occupancy(graph, sizes)
    verdicts = set()
    for k in range(60):
        moving = {ItemId(f"n{k}")}
        rects = ground.rects(moving)
        everywhere = ground.members(ROOT, moving)
        meets = any(
            one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
            for one in rects
            for other in everywhere
        )
        assert ground.is_covered(ROOT, rects, moving) == meets
        verdicts.add(meets)
    assert verdicts == {True, False}


class Near:
    """Answers as a picture does, and remembers what it was asked."""

    def __init__(self, graph: Graph, sizes: dict[ItemId, tuple[float, float]]) -> None:
        self.graph, self.sizes, self.asked = graph, sizes, set[ItemId]()
        self.widest = max(width for width, _ in sizes.values())

    def size(self, item: ItemId) -> tuple[float, float] | None:
        self.asked.add(item)
        return self.sizes.get(item)

    def between(self, left: float, right: float) -> list[ItemId]:
        places = self.graph.places
        return [one for one, size in self.sizes.items() if places[one].x < right and places[one].x + size[0] > left]


@pytest.mark.parametrize("seed", range(8))
def test_who_asks_the_cards_near_by_alone_finds_the_place_that_all_would_leave(seed: int) -> None:
    chance, graph = random.Random(seed), Graph()
    for k in range(120):
        item = ItemId(f"n{k}")
        apply(graph, AddNode(Node(id=item, operator="torch.relu", note="far" * (k % 40 == 7)), ROOT, k))
        apply(graph, SetPlaces({item: Place(chance.uniform(0, 12000), chance.uniform(0, 500))}))
    sizes = {item: (chance.uniform(80, 400), chance.uniform(40, 300)) for item in graph.nodes}
    near, all_of_them = Near(graph, sizes), Occupancy(graph, sizes)
    ground = Occupancy(graph, {}, crowd=near)
    for item in list(graph.nodes)[:5]:
        rects = all_of_them.rects((item,))
        assert ground.nearest(ROOT, rects, (item,)) == all_of_them.nearest(ROOT, rects, (item,))
        assert ground.is_covered(ROOT, rects, (item,)) == all_of_them.is_covered(ROOT, rects, (item,))
    assert len(near.asked) < len(graph.nodes)
