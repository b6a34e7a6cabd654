"""The rule-book: which wires may be drawn, and the reason in words for those that may not."""

import pytest

from gradstudio.document.file import dumps, loads
from gradstudio.graph import recipes
from gradstudio.graph.analysis.program_analysis import incomplete
from gradstudio.graph.edits import AddBlock, AddNode, AddWire, ReplaceBlock, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ROOT, Block, BodyId, Graph, ItemId, Node, Wire
from gradstudio.graph.ports.item_ports import input_ports
from gradstudio.graph.rules import chain, legal_sources, legal_targets, why_not
from gradstudio.program.write import write_code
from tests.graph.builder import Drawing
from tests.program.sketch import Sketch

NODE = ItemId("nowhere")


@pytest.fixture
def d() -> Drawing:
    return Drawing()


def looped(d: Drawing) -> tuple[ItemId, ItemId, ItemId]:
    """`for t in …` that carries `h`; what comes before it, the block, and what stands in it."""
    before = d.add("torch.ones", name="h")
    block = Block(id=ItemId("b1"), kind="for", variable="t", carried=("h",))
    inside = Node(id=ItemId("n1"), operator="torch.relu", names=("h",))
    d.do((AddBlock(block, ROOT, 1), AddNode(inside, BodyId(block.id), 0)))
    return before, block.id, inside.id


def test_a_wire_from_or_to_what_is_gone_is_refused(d: Drawing) -> None:
    x = d.add("torch.ones")
    assert "not there any more" in why_not(d.graph, x, 0, NODE, "input")
    assert "not there any more" in why_not(d.graph, NODE, 0, x, "size")


def test_a_result_or_an_argument_that_does_not_exist_is_refused_by_name(d: Drawing) -> None:
    x = d.add("torch.ones", name="x")
    y = d.add("torch.relu", name="y")
    assert why_not(d.graph, x, 1, y, "input") == "x has no result to take from here."
    assert why_not(d.graph, x, 0, y, "other") == "y has no argument 'other'."


def test_a_node_cannot_feed_itself(d: Drawing) -> None:
    y = d.add("torch.relu", name="y")
    assert why_not(d.graph, y, 0, y, "input") == "y cannot feed itself."


def test_the_loop_that_a_wire_would_close_is_named_by_its_shortest_way(d: Drawing) -> None:
    a = d.add("torch.relu", name="a")
    b = d.add("torch.relu", a, name="b")
    c = d.add("operator.add", b, a, name="c")
    assert why_not(d.graph, c, 0, a, "input").startswith("This would close a loop: a → c → a.")


def test_sources_of_an_input_are_those_that_the_rule_book_allows(d: Drawing) -> None:
    x = d.add("torch.ones", name="x")
    y = d.add("torch.relu", x, name="y")
    z = d.add("torch.relu", y, name="z")
    assert legal_sources(d.graph, y, "input") == {(x, 0)}
    assert legal_sources(d.graph, z, "input") == {(x, 0), (y, 0)}


def test_lit_targets_are_exactly_those_that_would_be_accepted(d: Drawing) -> None:
    before, block, inside = looped(d)
    after = d.add("operator.add", name="s")
    module = d.add("torch.nn.Linear")
    for source in (before, block, inside, after, module):
        allowed = {(item, port) for item, port in every_input(d.graph) if not why_not(d.graph, source, 0, item, port)}
        assert legal_targets(d.graph, source, 0) == allowed


def every_input(graph: Graph) -> list[tuple[ItemId, str]]:
    from gradstudio.graph.ports.item_ports import input_ports

    return [(item, port.path) for item in (*graph.nodes, *graph.blocks) for port in input_ports(graph, item)]


def test_of_a_long_loop_both_ends_are_named(d: Drawing) -> None:
    items = [d.add("torch.relu", name="v0")]
    for k in range(1, 40):
        items.append(d.add("torch.relu", items[-1], name=f"v{k}"))
    reason = why_not(d.graph, items[-1], 0, items[0], "input")
    assert "a loop: v0 → v1 → v2 → v3 → v4 → v5 → … 28 more … → v34 → " in reason
    assert "v39 → v0. A value" in reason and "v20" not in reason


def test_a_loop_gives_its_values_to_what_stands_inside_only(d: Drawing) -> None:
    _, block, inside = looped(d)
    outside = d.add("torch.relu", name="y")
    assert why_not(d.graph, block, 1, inside, "input") == ""
    assert "inside the block only" in why_not(d.graph, block, 1, outside, "input")


def test_the_next_turn_takes_from_inside_the_loop_and_the_first_from_outside(d: Drawing) -> None:
    before, block, inside = looped(d)
    assert why_not(d.graph, inside, 0, block, "next.h") == ""
    assert "must come from inside the block" in why_not(d.graph, before, 0, block, "next.h")
    assert why_not(d.graph, before, 0, block, "first.h") == ""
    assert "before it begins" in why_not(d.graph, inside, 0, block, "first.h")


def test_what_is_carried_into_the_next_turn_closes_no_loop(d: Drawing) -> None:
    _, block, inside = looped(d)
    d.do((AddWire(Wire(block, 1, inside, "input")), AddWire(Wire(inside, 0, block, "next.h"))))
    assert chain(d.graph, inside, block) == []
    assert chain(d.graph, block, inside) == [block, inside]


def test_unwrapping_a_loop_takes_its_wires_along(d: Drawing) -> None:
    before, block, inside = looped(d)
    d.do((AddWire(Wire(before, 0, block, "first.h")), AddWire(Wire(block, 1, inside, "input"))))
    d.do(recipes.unwrap(d.graph, block))
    assert tuple(d.graph.order()) == (before, inside)
    assert d.graph.wires == {}
    d.undo()
    assert d.graph.blocks[block].carried == ("h",)


def test_a_block_is_changed_and_changed_back(d: Drawing) -> None:
    _, block, _ = looped(d)
    d.do((ReplaceBlock(Block(id=block, kind="for", variable="k")),))
    assert d.graph.blocks[block].variable == "k"
    d.undo()
    assert d.graph.blocks[block].variable == "t"


def drawn_loop() -> tuple[Sketch, ItemId, ItemId]:
    sketch = Sketch()
    h = sketch.tensor("h")
    loop = sketch.block("for", {"first.h": h}, literals={"range": "2"}, variable="t", carried=("h",))
    inside = sketch.node("operator.neg", "h", {"a": (loop, 1)}, body=loop)
    sketch.wire(loop, {"next.h": inside})
    return sketch, loop, inside


def test_what_a_loop_gives_to_its_inside_only_is_not_dragged_out() -> None:
    sketch, _, inside = drawn_loop()
    with pytest.raises(Refused, match="inside"):
        recipes.move_into(sketch.graph, [inside], ROOT)


def test_a_loop_whose_number_of_turns_is_wired_stays_a_range() -> None:
    sketch, loop, _ = drawn_loop()
    n = sketch.node("python.literal", "n", literals={"value": "3"})
    apply_all(sketch.graph, recipes.connect(sketch.graph, n, 0, loop, "range"))
    assert [port.path for port in input_ports(sketch.graph, loop)] == ["range", "first.h", "next.h"]
    assert "for t in range(n):" in sketch.lines
    assert write_code(loads(dumps(sketch.graph))) == write_code(sketch.graph)


def test_a_carried_value_with_nothing_before_the_loop_is_incomplete() -> None:
    sketch, loop, _ = drawn_loop()
    apply_all(sketch.graph, recipes.disconnect(sketch.graph, sketch.graph.wires[loop, "first.h"]))
    assert "nothing binds it before the loop" in incomplete(sketch.graph)[loop]
    assert all(line.startswith("#") for line in sketch.lines[1:])
