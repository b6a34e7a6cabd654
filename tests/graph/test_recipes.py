"""Recipes: what a gesture does to the program, and what it refuses."""

import pytest

from gradstudio.graph import recipes
from gradstudio.graph.errors import Refused, WireRefused
from gradstudio.graph.model import DOCUMENT_DEVICE, ROOT, BodyId
from gradstudio.graph.ports.item_ports import find_port, input_ports
from gradstudio.graph.recipes import fragments
from gradstudio.graph.rules import legal_targets, why_not
from tests.graph.builder import Drawing
from tests.graph.test_edits import state


@pytest.fixture
def d() -> Drawing:
    return Drawing()


def test_a_dropped_operator_runs_at_once(d: Drawing) -> None:
    x = d.add("torch.randn")
    node = d.graph.nodes[x]
    assert node.names == ("x",)
    assert node.literals["device"] == DOCUMENT_DEVICE
    assert all(port.state != "empty" for port in input_ports(d.graph, x) if port.required)


def test_a_second_node_of_the_same_kind_gets_another_name(d: Drawing) -> None:
    d.add("torch.randn")
    assert d.graph.nodes[d.add("torch.randn")].names == ("x2",)


def test_every_recipe_can_be_undone_exactly(d: Drawing) -> None:
    states = [state(d.graph)]
    x = d.add("torch.randn")
    y = d.add("torch.relu", x)
    d.do(recipes.rename(d.graph, y, ("hidden",)))
    d.do(recipes.wrap(d.graph, (y,)))
    d.do(recipes.set_note(d.graph, x, "look here"))
    d.do(recipes.delete(d.graph, (x,)))
    while d.inverses:
        d.undo()
    assert state(d.graph) == states[0]


def test_a_wire_replaces_the_wire_that_was_there(d: Drawing) -> None:
    a, b = d.add("torch.randn"), d.add("torch.randn")
    y = d.add("torch.relu", a)
    path = d.graph.wires_to(y)[0].port
    d.wire(b, y, path)
    assert [wire.source for wire in d.graph.wires_to(y)] == [b]


def test_a_cycle_is_refused_and_named(d: Drawing) -> None:
    x = d.add("torch.randn")
    a = d.add("torch.relu", x, name="a")
    b = d.add("torch.relu", a, name="b")
    path = d.graph.wires_to(a)[0].port
    reason = why_not(d.graph, b, 0, a, path)
    assert "loop" in reason and "a → b → a" in reason
    with pytest.raises(WireRefused):
        recipes.connect(d.graph, b, 0, a, path)


def test_many_skip_connections_are_judged_in_linear_time(d: Drawing) -> None:
    """Twenty residual blocks take a walk over all paths a minute; here are sixty."""
    node = d.add("torch.randn")
    first = node
    for _ in range(60):
        middle = d.add("torch.relu", node)
        node = d.add("operator.add", node, middle)
    assert "loop" in why_not(d.graph, node, 0, d.graph.wires_from(first)[0].target, "input")
    assert (first, "input") not in legal_targets(d.graph, node, 0)


def test_a_wire_against_the_order_pulls_its_source_up(d: Drawing) -> None:
    x = d.add("torch.randn", name="x")
    y = d.add("torch.relu", x, name="y")
    z = d.add("operator.add", y, name="z")
    w = d.add("torch.randn", name="w")
    v = d.add("torch.exp", w, name="v")
    d.wire(v, z, "b")
    assert d.names() == ["x", "y", "w", "v", "z"]


def test_a_source_that_must_see_a_later_write_is_refused(d: Drawing) -> None:
    x = d.add("torch.randn", name="x")
    y = d.add("operator.mul", x, name="y")
    d.add("torch.Tensor.add_", x)
    z = d.add("torch.exp", x, name="z")
    with pytest.raises(Refused, match="No order"):
        recipes.connect(d.graph, z, 0, y, "b")


def test_wrapping_takes_statements_that_are_apart_together(d: Drawing) -> None:
    a = d.add("torch.randn", name="a")
    b = d.add("torch.randn", name="b")
    c = d.add("torch.relu", a, name="c")
    d.do(recipes.wrap(d.graph, (a, c)))
    block = next(iter(d.graph.blocks))
    assert d.graph.bodies[BodyId(block)] == (a, c)
    assert set(d.graph.bodies[ROOT]) == {block, b}


def test_what_would_run_in_the_middle_of_a_block_is_named(d: Drawing) -> None:
    a = d.add("torch.randn", name="a")
    b = d.add("torch.relu", a, name="b")
    c = d.add("torch.exp", b, name="c")
    with pytest.raises(Refused, match="'b' would have to run in the middle"):
        recipes.wrap(d.graph, (a, c))


def test_statements_move_in_and_out_of_a_block(d: Drawing) -> None:
    a = d.add("torch.randn", name="a")
    b = d.add("torch.relu", a, name="b")
    d.do(recipes.wrap(d.graph, (a,)))
    block = BodyId(next(iter(d.graph.blocks)))
    d.do(recipes.move_into(d.graph, (b,), block))
    assert d.graph.bodies[block] == (a, b)
    d.do(recipes.move_into(d.graph, (b,), ROOT))
    assert d.graph.bodies[ROOT] == (block, b)


def test_unwrapping_leaves_the_statements_in_their_order(d: Drawing) -> None:
    a, b = d.add("torch.randn", name="a"), d.add("torch.randn", name="b")
    d.do(recipes.wrap(d.graph, (b,)))
    d.do(recipes.unwrap(d.graph, next(iter(d.graph.blocks))))
    assert d.graph.bodies[ROOT] == (a, b) and not d.graph.blocks


def test_a_name_taken_by_a_later_statement_moves_the_other_name(d: Drawing) -> None:
    a = d.add("torch.randn", name="a")
    b = d.add("torch.randn", name="b")
    c = d.add("operator.add", a, b, name="c")
    d.do(recipes.rename(d.graph, b, ("a",)))
    assert d.graph.nodes[b].names == ("a",)
    assert d.graph.nodes[a].names != ("a",), "c would have read b twice"
    assert d.graph.nodes[c].names == ("c",)


def test_rebinding_is_allowed_where_no_wire_is_misread(d: Drawing) -> None:
    a = d.add("torch.randn", name="h")
    b = d.add("torch.relu", a)
    d.do(recipes.rename(d.graph, b, ("h",)))
    assert [d.graph.nodes[item].names for item in (a, b)] == [("h",), ("h",)]


@pytest.mark.parametrize("bad", ["", "1x", "for", "__x", "torch", "a b", "x" * 200])
def test_bad_names_are_refused(d: Drawing, bad: str) -> None:
    x = d.add("torch.randn")
    with pytest.raises(Refused):
        recipes.rename(d.graph, x, (bad,))


def test_a_wrong_literal_is_refused_and_the_old_one_stands(d: Drawing) -> None:
    x = d.add("torch.randn", size="(2, 3)")
    with pytest.raises(Refused):
        recipes.set_literal(d.graph, x, "size", "two by three")
    port = find_port(d.graph, x, "size")
    assert port is not None and port.literal == "(2, 3)"


def test_a_wired_port_refuses_a_literal(d: Drawing) -> None:
    a, b = d.add("torch.randn"), d.add("torch.randn")
    y = d.add("operator.add", a, b)
    with pytest.raises(Refused, match="wire"):
        recipes.set_literal(d.graph, y, "b", "2")


def test_lists_of_tensors_grow_and_shrink_with_their_wires(d: Drawing) -> None:
    tensors = [d.add("torch.randn") for _ in range(3)]
    cat = d.add("torch.cat", *tensors)
    assert d.graph.nodes[cat].lengths == {"tensors": 3}
    d.do(recipes.disconnect(d.graph, d.graph.wires[cat, "tensors.2"]))
    assert d.graph.nodes[cat].lengths == {"tensors": 2}


def test_a_shape_is_split_into_ports_and_joined_again(d: Drawing) -> None:
    x = d.add("torch.randn", size="(2, 3)")
    d.do(recipes.split_list(d.graph, x, "size", 2))
    assert d.graph.nodes[x].literals["size.1"] == "3"
    d.do(recipes.join_list(d.graph, x, "size"))
    assert d.graph.nodes[x].literals["size"] == "(2, 3)"


def test_a_node_dropped_on_a_wire_stands_directly_before_its_user(d: Drawing) -> None:
    a = d.add("torch.randn", name="a")
    d.add("torch.randn", name="b")
    c = d.add("torch.exp", a, name="c")
    edits, relu = recipes.insert_on_wire(d.graph, d.graph.wires_to(c)[0], "torch.relu", 0, 0)
    d.do(edits)
    assert list(d.graph.order())[-2:] == [relu, c]
    assert d.graph.wires_to(c)[0].source == relu


def test_modules_come_with_their_call(d: Drawing) -> None:
    call = d.add("torch.nn.Linear")
    (wire,) = d.graph.wires_to(call)
    assert d.graph.nodes[wire.source].operator == "torch.nn.Linear"
    assert d.graph.nodes[call].operator == "python.call"


def test_a_module_does_not_fit_a_tensor_port(d: Drawing) -> None:
    call = d.add("torch.nn.Linear")
    relu = d.add("torch.relu")
    module = d.graph.wires_to(call)[0].source
    assert "module" in why_not(d.graph, module, 0, relu, "input")


def test_backward_is_appended_behind_the_loss(d: Drawing) -> None:
    w = d.add("torch.randn", requires_grad="True")
    loss = d.add("torch.sum", w)
    d.do(recipes.append_backward(d.graph))
    last = list(d.graph.order())[-1]
    assert d.graph.nodes[last].operator == "torch.Tensor.backward"
    assert d.graph.wires_to(last)[0].source == loss


def test_backward_without_anything_that_requires_grad_is_refused(d: Drawing) -> None:
    d.add("torch.sum", d.add("torch.randn"))
    with pytest.raises(Refused, match="requires grad"):
        recipes.append_backward(d.graph)


def test_earlier_and_later_respect_the_wires(d: Drawing) -> None:
    a = d.add("torch.randn", name="a")
    b = d.add("torch.randn", name="b")
    c = d.add("torch.relu", a, name="c")
    d.do(recipes.move_earlier(d.graph, c))
    assert d.names() == ["a", "c", "b"]
    with pytest.raises(Refused, match="needs the value"):
        recipes.move_earlier(d.graph, c)
    with pytest.raises(Refused, match="last"):
        recipes.move_later(d.graph, b)


def test_duplicates_keep_inner_wires_only(d: Drawing) -> None:
    a = d.add("torch.randn")
    b = d.add("torch.relu", a)
    c = d.add("torch.exp", b)
    edits, ids = fragments.duplicate(d.graph, (b, c))
    d.do(edits)
    assert len(ids) == 2
    assert not d.graph.wires_to(ids[0])
    assert d.graph.wires_to(ids[1])[0].source == ids[0]
    assert len({name for node in d.graph.nodes.values() for name in node.names}) == 5


def test_deleting_a_block_leaves_its_statements_unless_they_are_named_too(d: Drawing) -> None:
    a = d.add("torch.randn")
    d.do(recipes.wrap(d.graph, (a,)))
    block = next(iter(d.graph.blocks))
    d.do(recipes.delete(d.graph, (block,)))
    assert a in d.graph and not d.graph.blocks


def test_backward_waits_for_the_loss_that_cannot_run_yet(d: Drawing) -> None:
    scores = d.add("torch.mul", d.add("torch.randn", requires_grad="True"), other="2.0", name="scores")
    loss = d.add("torch.nn.functional.mse_loss", d.add("torch.relu", name="h"), name="loss")
    with pytest.raises(Refused, match="'loss' is where the backward begins, and it cannot run yet: "):
        recipes.append_backward(d.graph)
    d.do(recipes.append_backward(d.graph, scores))
    assert d.graph.wires_from(scores)
    d.undo()
    d.do(recipes.delete(d.graph, (loss,)))
    d.do(recipes.append_backward(d.graph))
    assert d.graph.nodes[d.graph.wires_from(scores)[0].target].operator == "torch.Tensor.backward"
