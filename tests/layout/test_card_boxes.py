"""The graph with all that shares a card taken into one item."""

import pytest

from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.layout.card_boxes import OWN_OUTPUT, without_joined
from tests.graph.analysis.random_edits import PROGRAM, REBOUND, Edited
from tests.layout.programs import program

LATE = """
x = torch.ones(2)
first = nn.Linear(2, 2)
w = first.weight
second = nn.Linear(2, 2)
both = nn.Sequential(first, second)
y = second(w)
z = first(x)
"""
"""What reads a module stands before its call, and so before the card of both."""


def expected_wires(graph: Graph) -> set[tuple[ItemId, int, ItemId, str]]:
    groups = card_groups(graph)
    shown = [wire for wire in graph.wires.values() if not groups.is_hidden(wire)]
    return {
        (
            groups.calls.get(wire.source, wire.source),
            OWN_OUTPUT if wire.source in groups.calls else wire.output,
            groups.calls.get(wire.target, wire.target),
            wire.port,
        )
        for wire in shown
    }


def check(graph: Graph) -> None:
    boxes, inside = without_joined(graph), card_groups(graph).insides()
    assert {(wire.source, wire.output, wire.target, wire.port) for wire in boxes.wires.values()} == expected_wires(
        graph
    )
    for wire in boxes.wires.values():
        assert wire in boxes.outgoing[wire.source] and wire in boxes.incoming[wire.target]
    for body, items in graph.bodies.items():
        assert sorted(boxes.bodies[body]) == sorted(item for item in items if item not in inside)
    assert boxes.nodes.keys() == graph.nodes.keys() - inside.keys()


@pytest.mark.parametrize("text", [PROGRAM, REBOUND], ids=["loop", "rebound"])
@pytest.mark.parametrize("seed", range(4))
def test_wires_of_a_module_lead_to_its_card_whatever_was_edited(seed: int, text: str) -> None:
    edited = Edited(seed, text)
    for _ in range(60):
        edited.edit()
        check(edited.graph)


def test_a_card_stands_before_what_reads_its_module() -> None:
    graph = program(LATE)
    check(graph)
    boxes = without_joined(graph)
    place = {item: number for number, item in enumerate(boxes.bodies[BodyId("")])}
    assert card_groups(graph).calls
    assert all(place[wire.source] < place[wire.target] for wire in boxes.wires.values())
