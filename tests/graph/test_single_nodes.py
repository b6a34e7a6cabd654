"""Gestures on one node: its note, its marks, its literals, whether it takes part at all."""

import msgspec
import pytest

from gradstudio.graph import recipes
from gradstudio.graph.errors import Refused, WireRefused
from gradstudio.graph.model import DOCUMENT_DEVICE, Header, ItemId, Place
from gradstudio.graph.text.notes import note_of
from tests.graph.builder import Drawing


@pytest.fixture
def d() -> Drawing:
    return Drawing()


def test_a_note_is_kept_without_empty_lines_around_it_and_leaves_its_place_when_it_goes(d: Drawing) -> None:
    x = d.add("torch.ones")
    d.do(recipes.set_note(d.graph, x, "\nlook here\n"))
    d.do(recipes.move(d.graph, {f"note:{x}": (5, 6)}))
    assert d.graph.nodes[x].note == "look here"
    d.do(recipes.set_note(d.graph, x, ""))
    assert d.graph.nodes[x].note == ""
    assert f"note:{x}" not in d.graph.places


@pytest.mark.parametrize(
    ("note", "beside", "text", "above", "behind"),
    [
        ("", "(B, T)", "(B, T, C)", "", "(B, T, C)"),
        ("", "(B, T)", "why\n(B, T)", "why", "(B, T)"),
        ("", "(B, T)", "one\ntwo", "one\ntwo", ""),
        ("why", "(B, T)", "for this\nand that\n(B, T)", "for this\nand that", "(B, T)"),
        ("why", "(B, T)", "why\n(T, B)", "why", "(T, B)"),
        ("why", "(B, T)", "(B, T)", "", "(B, T)"),
        ("why", "(B, T)", "why", "why", ""),
        ("why", "(B, T)", "", "", ""),
        ("why", "", "why\nnot", "why\nnot", ""),
        ("a section\n", "(B, T)", "another\n(B, T)", "another\n", "(B, T)"),
        ("a section\n", "", "", "", ""),
    ],
)
def test_a_note_that_is_edited_keeps_what_stands_beside_the_statement_there(
    d: Drawing, note: str, beside: str, text: str, above: str, behind: str
) -> None:
    x = d.add("torch.ones")
    before = d.graph.nodes[x] = msgspec.structs.replace(d.graph.nodes[x], note=note, beside=beside)
    assert recipes.set_note(d.graph, x, note_of(before)) == ()
    d.do(recipes.set_note(d.graph, x, text))
    assert (d.graph.nodes[x].note, d.graph.nodes[x].beside) == (above, behind)
    assert note_of(d.graph.nodes[x]) == text
    d.undo()
    assert d.graph.nodes[x] == before


def test_moving_a_card_keeps_its_width(d: Drawing) -> None:
    x = d.add("torch.ones")
    d.graph.places[x] = Place(0, 0, width=300)
    d.do(recipes.move(d.graph, {x: (7, 8)}))
    assert d.graph.places[x] == Place(7, 8, width=300)


def test_only_one_node_is_the_root(d: Drawing) -> None:
    x, y = d.add("torch.ones"), d.add("torch.ones")
    d.do(recipes.set_mark(d.graph, x, "root", True))
    d.do(recipes.set_mark(d.graph, y, "root", True))
    assert (d.graph.nodes[x].marks, d.graph.nodes[y].marks) == ((), ("root",))
    d.do(recipes.set_mark(d.graph, y, "root", False))
    assert d.graph.nodes[y].marks == ()


def test_several_nodes_may_be_inputs(d: Drawing) -> None:
    x, y = d.add("torch.ones"), d.add("torch.ones")
    d.do(recipes.set_mark(d.graph, x, "input", True))
    d.do(recipes.set_mark(d.graph, y, "input", True))
    assert (d.graph.nodes[x].marks, d.graph.nodes[y].marks) == (("input",), ("input",))


def test_items_are_muted_together_and_so_is_a_block(d: Drawing) -> None:
    x = d.add("torch.ones")
    d.do(recipes.wrap(d.graph, [x]))
    (block,) = d.graph.blocks
    d.do(recipes.set_muted(d.graph, [x, block], True))
    assert d.graph.nodes[x].muted and d.graph.blocks[block].muted
    d.undo()
    assert not d.graph.nodes[x].muted and not d.graph.blocks[block].muted


def test_a_block_cannot_be_bypassed(d: Drawing) -> None:
    x = d.add("torch.ones")
    d.do(recipes.wrap(d.graph, [x]))
    d.do(recipes.set_bypassed(d.graph, [x, *d.graph.blocks], True))
    assert d.graph.nodes[x].bypassed


def test_a_device_port_follows_the_document_again(d: Drawing) -> None:
    x = d.add("torch.ones", device="cuda")
    assert d.graph.nodes[x].literals["device"] == '"cuda"'
    d.do(recipes.set_document_device_port(d.graph, x, "device"))
    assert d.graph.nodes[x].literals["device"] == DOCUMENT_DEVICE


def test_an_emptied_literal_is_torchs_default(d: Drawing) -> None:
    x = d.add("torch.ones", requires_grad="True")
    d.do(recipes.set_literal(d.graph, x, "requires_grad", " "))
    assert "requires_grad" not in d.graph.nodes[x].literals


def test_a_header_that_is_the_same_is_no_edit(d: Drawing) -> None:
    assert recipes.set_header(d.graph, d.graph.header) == ()
    d.do(recipes.set_header(d.graph, Header(seed=3)))
    assert d.graph.header.seed == 3


def test_an_argument_that_does_not_exist_takes_no_literal(d: Drawing) -> None:
    with pytest.raises(Refused, match="no argument 'colour'"):
        recipes.set_literal(d.graph, d.add("torch.ones"), "colour", "1")


def test_what_binds_nothing_cannot_be_named(d: Drawing) -> None:
    y = d.add("torch.ones", requires_grad="True")
    d.do(recipes.append_backward(d.graph, y))
    (backward,) = [node.id for node in d.graph.nodes.values() if node.operator == "torch.Tensor.backward"]
    with pytest.raises(Refused, match="nothing to name"):
        recipes.rename(d.graph, backward, ("g",))
    d.do(recipes.wrap(d.graph, [y]))
    with pytest.raises(Refused, match="A block has no name"):
        recipes.rename(d.graph, ItemId(next(iter(d.graph.blocks))), ("g",))


def test_the_names_of_one_statement_differ(d: Drawing) -> None:
    with pytest.raises(Refused, match="must differ"):
        recipes.rename(d.graph, d.add("torch.ones"), ("a", "a"))


def test_the_end_of_a_wire_moves_to_another_input(d: Drawing) -> None:
    x, y = d.add("torch.ones", name="x"), d.add("operator.add", name="y")
    wire = d.wire(x, y, "a")
    d.do(recipes.replace_target(d.graph, wire, y, "b"))
    assert [w.port for w in d.graph.wires_to(y)] == ["b"]
    with pytest.raises(WireRefused):
        recipes.replace_target(d.graph, d.graph.wires[y, "b"], x, "size")


def test_moving_a_wire_away_from_a_list_lets_the_list_shrink(d: Drawing) -> None:
    x = d.add("torch.ones", name="x")
    cat, other = d.add("torch.cat"), d.add("torch.relu")
    for k in range(3):
        d.wire(x, cat, f"tensors.{k}")
    assert d.graph.nodes[cat].lengths["tensors"] >= 3
    d.do(recipes.replace_target(d.graph, d.graph.wires[cat, "tensors.2"], other, "input"))
    assert d.graph.nodes[cat].lengths["tensors"] == 2


def test_several_wires_are_taken_away_at_once_and_lists_shrink(d: Drawing) -> None:
    x = d.add("torch.ones", name="x")
    cat = d.add("torch.cat")
    for k in range(4):
        d.wire(x, cat, f"tensors.{k}")
    d.do(recipes.disconnect_all(d.graph, tuple(w for w in d.graph.wires_to(cat) if w.port != "tensors.0")))
    assert [w.port for w in d.graph.wires_to(cat)] == ["tensors.0"]
    assert d.graph.nodes[cat].lengths["tensors"] == 2


def test_an_operator_that_takes_nothing_cannot_stand_on_a_wire(d: Drawing) -> None:
    x = d.add("torch.ones", name="x")
    y = d.add("torch.relu", x, name="y")
    with pytest.raises(Refused, match="cannot stand on this wire"):
        recipes.insert_on_wire(d.graph, d.graph.wires[y, "input"], "torch.manual_seed", 0, 0)


def test_a_list_has_at_least_one_port(d: Drawing) -> None:
    with pytest.raises(Refused, match="1 to 64 ports"):
        recipes.split_list(d.graph, d.add("torch.ones"), "size", 0)


def test_wrapping_nothing_is_refused(d: Drawing) -> None:
    with pytest.raises(Refused, match="Select the statements"):
        recipes.wrap(d.graph, [])


def test_a_block_cannot_stand_inside_itself(d: Drawing) -> None:
    x = d.add("torch.ones", name="x")
    d.do(recipes.wrap(d.graph, [x]))
    (outer,) = d.graph.blocks
    d.do(recipes.wrap(d.graph, [x], "enable_grad"))
    (inner,) = [block for block in d.graph.blocks if block != outer]
    with pytest.raises(Refused, match="cannot stand inside itself"):
        recipes.move_into(d.graph, [outer], inner)


def test_removing_a_block_removes_what_it_holds(d: Drawing) -> None:
    x = d.add("torch.ones", name="x")
    y = d.add("torch.relu", x, name="y")
    d.do(recipes.wrap(d.graph, [y]))
    (block,) = d.graph.blocks
    d.do(recipes.remove_block(d.graph, block))
    assert list(d.graph.order()) == [x]
    assert not d.graph.wires
    assert y not in d.graph.places
