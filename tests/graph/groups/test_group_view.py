"""The inside of a group as a graph that is shown and edited, and the way back into the definition."""

import msgspec

from gradstudio.graph import recipes
from gradstudio.graph.analysis.program_analysis import incomplete
from gradstudio.graph.analysis.validity import incomplete_inside, trouble_inside
from gradstudio.graph.boundary_cards import INPUTS_CARD, OUTPUTS_CARD, output_names
from gradstudio.graph.edits import RemoveWire, SetDefinition, apply, apply_all
from gradstudio.graph.groups.group_view import (
    boundary_edits,
    close_group,
    definition_of,
    open_group,
    rearrange_inputs,
    rearrange_outputs,
)
from gradstudio.graph.model import DEFINITION_INPUTS, DEFINITION_OUTPUTS, Definition, Graph, Wire
from gradstudio.graph.operator_rows import row_of_key
from gradstudio.graph.ports.item_ports import input_ports, output_ports
from gradstudio.graph.recipes.grouping.definition_copies import class_words
from gradstudio.operators.catalogue.descriptions import signature
from gradstudio.operators.families import default_names
from gradstudio.program.write import write_script
from tests.program.sketch import Sketch


def with_group() -> Graph:
    """``add_up(a, b)`` gives ``u = a + b`` and ``a``; the program calls it once."""
    inner = Sketch()
    total = inner.node("operator.add", "u", {"a": (DEFINITION_INPUTS, 0), "b": (DEFINITION_INPUTS, 1)})
    inner.wire(DEFINITION_OUTPUTS, {"0": total, "1": (DEFINITION_INPUTS, 0)})
    sketch = Sketch(seed=0)
    apply(sketch.graph, SetDefinition("add_up", Definition("add_up", ("a", "b"), ("u", "v"), inner.graph)))
    x = sketch.tensor("x")
    call = sketch.node("group:add_up", "s t", {"a": x, "b": x})
    sketch.node("torch.neg", "n", {"input": (call, 1)})
    return sketch.graph


def edit(root: Graph, shown: Graph, *edits: object) -> Graph:
    """The inside after edits, put back into the program."""
    apply_all(shown, edits)  # type: ignore[arg-type]
    apply_all(shown, boundary_edits(shown))
    apply_all(root, close_group(root, "add_up", shown))
    return open_group(root, "add_up")


def test_the_inside_is_a_sound_program_with_two_cards() -> None:
    shown = open_group(with_group(), "add_up")
    assert [port.name for port in output_ports(shown, INPUTS_CARD)] == ["a", "b", "+"]
    assert [port.path for port in input_ports(shown, OUTPUTS_CARD)] == ["u", "v", "+"]
    assert next(iter(shown.order())) == INPUTS_CARD
    assert incomplete(shown) == {}


def test_what_was_only_looked_at_is_the_same_definition() -> None:
    root = with_group()
    before = root.definitions["add_up"]
    after = definition_of(open_group(root, "add_up"), before)
    assert (after.inputs, after.outputs) == (before.inputs, before.outputs)
    assert (after.graph.nodes, after.graph.wires) == (before.graph.nodes, before.graph.wires)


def test_a_wire_to_the_plus_makes_an_output_and_every_call_gives_it() -> None:
    root = with_group()
    shown = open_group(root, "add_up")
    total = next(item for item in shown.nodes if shown.nodes[item].names == ("u",))
    shown = edit(root, shown, *recipes.connect(shown, total, 0, OUTPUTS_CARD, "+"))
    assert output_names(shown.nodes[OUTPUTS_CARD]) == ("u", "v", "u2")
    assert "def add_up(a, b):\n    u = a + b\n    return u, a, u  # outputs: u, v, u2\n" in write_script(root)
    assert "s, t, u2 = add_up(x, x)" in write_script(root)


def test_a_wire_from_the_plus_makes_an_input_that_calls_have_to_give() -> None:
    root = with_group()
    shown = open_group(root, "add_up")
    edits, item = recipes.add_operator(shown, "torch.exp", 0, 0)
    shown = edit(root, shown, *edits)
    shown = edit(root, shown, *recipes.connect(shown, INPUTS_CARD, 2, item, "input"))
    assert root.definitions["add_up"].inputs == ("a", "b", "input")
    call = next(node.id for node in root.nodes.values() if node.operator == "group:add_up")
    assert incomplete(root)[call]


def test_inputs_and_outputs_get_other_names_everywhere() -> None:
    root = with_group()
    shown = open_group(root, "add_up")
    shown = edit(root, shown, *rearrange_inputs(shown, (("left", 0), ("right", 1))))
    shown = edit(root, shown, *rearrange_outputs(shown, (("total", 0), ("same", 1))))
    assert root.definitions["add_up"].outputs == ("total", "same")
    assert (
        "def add_up(left, right):\n    u = left + right\n    return u, left  # outputs: total, same\n"
        in write_script(root)
    )
    assert incomplete(root) == {}


def test_an_input_that_is_taken_away_takes_its_wires_along() -> None:
    root = with_group()
    shown = open_group(root, "add_up")
    shown = edit(root, shown, *rearrange_inputs(shown, (("b", 1),)))
    call = next(node for node in root.nodes.values() if node.operator == "group:add_up")
    assert [wire.port for wire in root.wires_to(call.id)] == ["b"]
    assert all(wire.source != INPUTS_CARD or wire.output == 0 for wire in shown.wires.values())


def test_outputs_in_another_order_keep_their_readers() -> None:
    root = with_group()
    shown = open_group(root, "add_up")
    edit(root, shown, *rearrange_outputs(shown, (("v", 1), ("u", 0))))
    reader = next(node.id for node in root.nodes.values() if node.names == ("n",))
    call = next(node for node in root.nodes.values() if node.operator == "group:add_up")
    assert call.names == ("t", "s")
    assert root.wire_into(reader, "input") == Wire(call.id, 0, reader, "input")


def test_the_cards_cannot_be_deleted_and_stay_at_both_ends() -> None:
    root = with_group()
    shown = open_group(root, "add_up")
    shown = edit(root, shown, *recipes.delete(shown, tuple(shown.nodes)))
    assert tuple(shown.order()) == (INPUTS_CARD, OUTPUTS_CARD)
    edits, _ = recipes.add_operator(shown, "torch.exp", 0, 0)
    shown = edit(root, shown, *edits)
    assert tuple(shown.order())[-1] == OUTPUTS_CARD


def test_a_call_cannot_run_when_what_gives_its_output_cannot() -> None:
    root = with_group()
    total = next(node.id for node in root.definitions["add_up"].graph.nodes.values())
    call = next(node.id for node in root.nodes.values() if node.operator == "group:add_up")
    shown = open_group(root, "add_up")
    edit(root, shown, *(RemoveWire(wire) for wire in shown.wires_to(total) if wire.port == "b"))
    reasons = incomplete(root)
    assert reasons[call] == "inside 'add_up', u: 'b' is empty"
    assert any(reason == "it reads 's, t', which cannot run" for reason in reasons.values())
    assert incomplete_inside(root) == {total: "'b' is empty"}
    trouble = trouble_inside(root, call)
    assert trouble is not None and trouble.item == total
    assert "\nn = " not in write_script(root)  # it would read None


def test_an_output_that_nothing_gives_matters_only_where_it_is_used() -> None:
    root = with_group()
    call = next(node.id for node in root.nodes.values() if node.operator == "group:add_up")
    shown = open_group(root, "add_up")
    edit(root, shown, *(RemoveWire(wire) for wire in shown.wires_to(OUTPUTS_CARD)))
    assert incomplete(root)[call] == "inside 'add_up', nothing is wired to the output 'v'"
    apply_all(root, tuple(RemoveWire(wire) for wire in root.wires_from(call)))
    assert call not in incomplete(root)


def test_a_call_is_named_after_its_group_which_is_shown_with_its_inputs() -> None:
    row = row_of_key(with_group(), "group:add_up")
    assert row is not None
    assert default_names(msgspec.structs.replace(row, results=row.results[:1])) == ("add_up",)
    assert signature(row) == "add_up(a, b)"


def test_values_that_come_from_a_group_are_in_the_report() -> None:
    script = write_script(with_group())
    assert 'print("s =", s)' in script and 'print("t =", t)' in script


def test_a_group_that_makes_a_leaf_says_that_it_becomes_a_class() -> None:
    sketch = Sketch()
    x = sketch.parameter("x")
    y = sketch.node("torch.neg", "y", {"input": x})
    assert class_words(sketch.graph, [y]) == ""
    assert "becomes a class" in class_words(sketch.graph, [x, y]) and "'x'" in class_words(sketch.graph, [x])
