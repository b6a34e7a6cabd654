"""A target for a prediction: what fits is found, and the wire, a loss or a new target are made as one gesture."""

import pytest

from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph
from gradstudio.graph.recipes.training_target import (
    KnownTensor,
    Target,
    Value,
    find_goal,
    targets,
    usual_target,
    wire_target,
)
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write

PROGRAM = """import torch
from torch import nn

x = torch.randn(12, 5)
number = torch.randn(12, 3)
kind = torch.randint(3, (12,))
apart = torch.randint(3, (4,))
net = nn.Linear(5, 3)
out = net(x)
"""
SHAPES = {
    "x": ((12, 5), "float32"),
    "number": ((12, 3), "float32"),
    "kind": ((12,), "int64"),
    "apart": ((4,), "int64"),
    "out": ((12, 3), "float32"),
    "share": ((12, 3), "float32"),
    "loss": ((), "float32"),
}


def drawn(text: str = PROGRAM) -> Graph:
    return read_script(text).graph


def offered(graph: Graph, current: str = "") -> tuple[Graph, list[Target]]:
    names = {node.id: node.names[0] for node in graph.nodes.values() if node.names}
    items = {name: item for item, name in names.items()}

    def known_of(value: Value) -> KnownTensor | None:
        found = SHAPES.get(names.get(value[0], ""))
        return KnownTensor(*found) if found is not None else None

    goal = find_goal(graph, items.get(current), known_of)
    return graph, targets(graph, goal, known_of) if goal is not None else []


def wired(graph: Graph, target: str, loss: str) -> str:
    """The text with that target; it is complete, and Python takes it."""
    _, found = offered(graph)
    names = {node.id: node.names[0] for node in graph.nodes.values() if node.names}
    goal = find_goal(graph, None, lambda value: KnownTensor(*SHAPES[names[value[0]]]) if value[0] in names else None)
    assert goal is not None
    apply_all(graph, wire_target(graph, goal, next(one for one in found if one.name == target), loss))
    assert not compile_graph(graph).incomplete
    text = write(graph).code
    exec(text, {})
    return text


@pytest.mark.parametrize(
    ("target", "loss", "line"),
    [
        ("kind", "cross_entropy", "F.cross_entropy(out, kind)"),
        ("number", "l1_loss", "F.l1_loss(out, number)"),
        ("", "cross_entropy", "F.cross_entropy(out, target)"),
        ("", "mse_loss", "F.mse_loss(out, target)"),
    ],
)
def test_the_loss_and_what_it_learns_are_wired_at_once(target: str, loss: str, line: str) -> None:
    text = wired(drawn(), target, loss)
    assert line in text
    assert ("target = torch.randint(3, (12,)" in text) == (not target and loss == "cross_entropy")


def test_what_has_other_rows_or_is_learnt_itself_is_not_offered() -> None:
    _, found = offered(drawn(PROGRAM + "share = out.softmax(1)\n"))
    assert [one.name for one in found] == ["kind", "number", ""] and usual_target(found) is None
    assert found[0].losses == ("cross_entropy",) and found[1].losses[0] == "mse_loss"


def test_the_only_one_that_fits_is_meant_and_a_new_one_where_none_does() -> None:
    _, found = offered(drawn(PROGRAM.replace("number = torch.randn(12, 3)\n", "")))
    assert usual_target(found) == 0 and found[0].name == "kind"
    none = PROGRAM.replace("number = torch.randn(12, 3)\n", "").replace("kind = torch.randint(3, (12,))\n", "")
    _, found = offered(drawn(none))
    assert usual_target(found) == 0 and found[0].value is None


def test_where_a_loss_is_there_nothing_is_missing() -> None:
    text = PROGRAM + "loss = (out - number).square().mean()\n"
    assert offered(drawn(text), "out")[1] == []


def test_numbers_of_another_width_fit_where_the_last_layer_can_be_set_and_come_behind_what_fits_as_it_is() -> None:
    text = PROGRAM.replace("kind = torch.randint(3, (12,))\n", "column = torch.randn(12, 1)\n")
    graph = drawn(text)
    names = {node.id: node.names[0] for node in graph.nodes.values() if node.names}
    shapes = {**SHAPES, "column": ((12, 1), "float32")}

    def known_of(value: Value) -> KnownTensor | None:
        found = shapes.get(names[value[0]])
        return KnownTensor(*found) if found is not None else None

    goal = find_goal(graph, None, known_of)
    assert goal is not None
    found = targets(graph, goal, known_of, sets_width=True)
    assert [(one.name, one.width) for one in found] == [("number", 0), ("column", 1), ("", 0)], "never the input"
    assert usual_target(found) == 0 and usual_target(found[1:]) == 0
    assert [one.name for one in targets(graph, goal, known_of)] == ["number", ""]
