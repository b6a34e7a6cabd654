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
