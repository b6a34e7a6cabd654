"""Blocks made by hand: dropped empty, put around what is selected, filled by dragging."""

import pytest

from gradstudio.graph import recipes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId
from gradstudio.operators.catalogue.block_rows import KINDS
from gradstudio.program.write import write_script


def put(graph: Graph, key: str, body: BodyId = ROOT) -> ItemId:
    edits, item = recipes.add_operator(graph, key, 0, 0, body=body)
    apply_all(graph, edits)
    return item


@pytest.mark.parametrize("key", KINDS)
def test_an_empty_block_is_dropped_like_an_operator_and_is_python(key: str) -> None:
    graph = Graph()
    block = put(graph, key)
    assert graph.blocks[block].kind == KINDS[key] and graph.bodies[BodyId(block)] == ()
    compile(write_script(graph), "script", "exec")


def test_a_fresh_loop_goes_over_a_range_whose_end_can_be_changed() -> None:
    graph = Graph()
    outer = put(graph, "python.for")
    inner = put(graph, "python.for", BodyId(outer))
    apply_all(graph, recipes.set_literal(graph, outer, "range.0", "5"))
    put(graph, "builtins.print", BodyId(inner))
    text = write_script(graph)
    assert "for i in range(5):\n    for i2 in range(3):\n" in text


def test_a_selection_is_put_into_a_loop_and_a_statement_dragged_in_and_out() -> None:
    graph = Graph()
    x = put(graph, "torch.randn")
    y = put(graph, "torch.exp")
    apply_all(graph, recipes.connect(graph, x, 0, y, "input"))
    z = put(graph, "torch.sin")
    apply_all(graph, recipes.connect(graph, y, 0, z, "input"))
    apply_all(graph, recipes.wrap(graph, (y,), "for"))
    (loop,) = graph.blocks
    assert graph.bodies[BodyId(loop)] == (y,)
    apply_all(graph, recipes.move_into(graph, (z,), BodyId(loop)))
    assert graph.bodies[BodyId(loop)] == (y, z)
    apply_all(graph, recipes.move_into(graph, (y,), ROOT))
    assert "for i in range(3):\n    " in write_script(graph)


def test_an_if_holds_prints_only() -> None:
    graph = Graph()
    shown, x = put(graph, "builtins.print"), put(graph, "torch.randn")
    with pytest.raises(Refused, match="may hold only print"):
        recipes.wrap(graph, (shown, x), "if")
    apply_all(graph, recipes.wrap(graph, (shown,), "if"))
    (block,) = graph.blocks
    with pytest.raises(Refused, match="may hold only print"):
        recipes.move_into(graph, (x,), BodyId(block))
    with pytest.raises(Refused, match="may hold only print"):
        recipes.add_operator(graph, "torch.randn", 0, 0, body=BodyId(block))
    put(graph, "builtins.print", BodyId(block))
    assert len(graph.bodies[BodyId(block)]) == 2


@pytest.mark.parametrize("same_name", [False, True])
def test_a_value_is_carried_from_turn_to_turn(same_name: bool) -> None:
    graph = Graph()
    start = put(graph, "torch.ones")
    if same_name:
        apply_all(graph, recipes.rename(graph, start, ("h",)))
    double = put(graph, "operator.add")
    for port in ("a", "b"):
        apply_all(graph, recipes.connect(graph, start, 0, double, port))
    apply_all(graph, recipes.wrap(graph, (double,), "for"))
    apply_all(graph, recipes.rename(graph, double, ("h",)))
    (first,) = recipes.carriable_wires(graph, double, 0)
    apply_all(graph, recipes.carry(graph, double, 0, first))
    (loop,) = graph.blocks
    name = graph.nodes[double].names[0]
    assert graph.blocks[loop].carried == (name,)
    scope: dict[str, object] = {}
    exec(write_script(graph), scope)  # our own text
    assert float(scope[name].flatten()[0]) == 8.0  # type: ignore[attr-defined]  # a tensor
    assert recipes.carriable_wires(graph, double, 0) == ()


def test_outside_of_a_loop_nothing_is_carried() -> None:
    graph = Graph()
    x = put(graph, "torch.ones")
    y = put(graph, "torch.exp")
    edits = recipes.connect(graph, x, 0, y, "input")
    apply_all(graph, edits)
    assert recipes.carriable_wires(graph, y, 0) == ()
    with pytest.raises(Refused, match="cannot be carried"):
        recipes.carry(graph, y, 0, graph.wires_to(y)[0])
