"""A module and its call on one card, by hand: mouse and keys on the viewport."""

import pytest
from PySide6.QtCore import Qt

from gradstudio.graph import recipes
from gradstudio.graph.analysis import module_modes
from gradstudio.graph.card_grouping import EVAL, calls_of
from gradstudio.graph.model import ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.messages.inference import LeafInference, PortInference
from gradstudio.scene.items import PortRef
from gradstudio.ui.canvas.menus.context_menu import context_menu
from tests.helpers.drawing import leaf_ports
from tests.ui.canvas.conftest import CONTROL, Hand, entries

LINEAR, DROPOUT, SEQUENTIAL = "torch.nn.Linear", "torch.nn.Dropout", "torch.nn.Sequential"


def layer(hand: Hand, key: str = LINEAR, x: float = 400, y: float = 200) -> tuple[ItemId, ItemId]:
    """A layer dropped from the library: its module and its call."""
    known = set(hand.graph.nodes)
    hand.drop(key, (x + 60, y + 15))
    call = next(
        item for item in hand.graph.nodes if item not in known and hand.graph.nodes[item].operator == "python.call"
    )
    wire = hand.graph.wire_into(call, "module")
    assert wire is not None
    return wire.source, call


def lines(hand: Hand) -> list[str]:
    return [line for line in compile_graph(hand.graph).code.splitlines() if line]


def expect_leaves(hand: Hand, module: ItemId, *leaves: LeafInference) -> None:
    """Inference says what the module will hold."""
    hand.session.results.tables.set_inference((PortInference(node=module, leaves=leaves),))
    hand.canvas.scene.results_changed((module,))


WEIGHTS = (LeafInference("weight", (8, 4), "float32", True), LeafInference("bias", (8,), "float32", True))


def test_a_dropped_layer_is_one_card_and_one_undo_step(hand: Hand) -> None:
    module, call = layer(hand)
    scene = hand.canvas.scene
    assert scene.stack.ids == [call]
    assert scene.placement.box(module) == scene.placement.box(call)
    layout = scene.placement.layout(module)
    assert layout is not None
    assert (layout.names, layout.title) == ("fc", "Linear")
    assert [(row.owner, row.path) for row in layout.inputs][:3] == [
        (call, "inputs.0"), (module, "in_features"), (module, "out_features"),
    ]  # fmt: skip
    assert [(row.owner, row.label) for row in layout.outputs] == [(call, "y"), (module, "")]
    assert scene.wiring.wires == []
    hand.session.graph_store.undo_stack.undo()
    assert not hand.graph.nodes


def test_a_field_of_the_card_writes_into_the_constructor(hand: Hand) -> None:
    module, _ = layer(hand)
    hand.click(hand.field(module, "out_features"))
    editor = hand.canvas.in_place.editor
    assert editor is not None
    hand.key(Qt.Key.Key_A, CONTROL, to=editor)
    hand.key(Qt.Key.Key_3, to=editor)
    hand.key(Qt.Key.Key_Return, to=editor)
    assert hand.graph.nodes[module].literals["out_features"] == "3"


def test_wires_end_at_the_call_and_begin_at_either_half(hand: Hand) -> None:
    x = hand.add("torch.ones", 40, 200)
    module, call = layer(hand)
    relu = hand.add("torch.relu", 760, 200)
    hand.drag(hand.output(x), hand.input(call, "inputs.0"))
    hand.drag(hand.output(call), hand.input(relu, "input"))
    assert hand.graph.wire_into(call, "inputs.0") is not None
    wire = hand.graph.wire_into(relu, "input")
    assert wire is not None
    assert wire.source == call
    switch = hand.add(EVAL, 760, 60)
    hand.drag(hand.output(module), hand.input(switch, "self"))
    wire = hand.graph.wire_into(switch, "self")
    assert wire is not None
    assert wire.source == module
    assert hand.canvas.scene.state.card_groups.home(module) == call


def test_dragging_the_card_moves_both_halves_in_one_step(hand: Hand) -> None:
    module, call = layer(hand)
    before, texts = hand.graph.places[call], len(hand.undo_texts)
    hand.drag(hand.header(call), (hand.header(call)[0] + 80, hand.header(call)[1] + 40))
    after = hand.graph.places[call]
    assert (after.x - before.x, after.y - before.y) == (80, 40)
    assert hand.graph.places[module] == after
    assert len(hand.undo_texts) == texts + 1


def test_delete_takes_both_halves_and_undo_brings_them_back(hand: Hand) -> None:
    module, call = layer(hand)
    hand.click(hand.header(call))
    hand.key(Qt.Key.Key_Delete)
    assert not hand.graph.nodes
    assert hand.undo_texts[-1] == "Delete item"
    hand.session.graph_store.undo_stack.undo()
    assert hand.canvas.scene.stack.ids == [call]
    assert module in hand.graph.nodes


def test_a_half_that_was_selected_elsewhere_is_deleted_whole(hand: Hand) -> None:
    module, _ = layer(hand)
    hand.session.attention.select((module,))
    hand.key(Qt.Key.Key_Delete)
    assert not hand.graph.nodes


@pytest.mark.parametrize("keys", [("d",), ("c", "v")])
def test_a_copy_has_weights_of_its_own(hand: Hand, keys: tuple[str, ...]) -> None:
    module, call = layer(hand)
    hand.click(hand.header(call))
    for key in keys:
        hand.key({"d": Qt.Key.Key_D, "c": Qt.Key.Key_C, "v": Qt.Key.Key_V}[key], CONTROL)
    assert len(hand.canvas.scene.stack.ids) == 2
    assert len(hand.graph.nodes) == 4
    assert calls_of(hand.graph, module) == (call,)


def test_calling_again_splits_the_card_and_deleting_a_call_joins_it(hand: Hand) -> None:
    module, call = layer(hand)
    x, y = hand.header(call)
    hit = hand.canvas.input_dispatcher.hit(hand.canvas.input_dispatcher.at(hand.view(x, y)))
    menu = context_menu(hand.canvas, hit, x, y)
    action = next(action for action in entries(menu) if action.text().startswith("Call again"))
    action.trigger()
    scene = hand.canvas.scene
    second = next(item for item in calls_of(hand.graph, module) if item != call)
    assert set(scene.stack.ids) == {module, call, second}
    boxes = [scene.placement.box(item) for item in scene.stack.ids]
    assert not any(a.meets(b) for k, a in enumerate(boxes) for b in boxes[:k] if a and b)
    assert hand.session.attention.selection == {second}
    hand.key(Qt.Key.Key_Delete)
    assert scene.stack.ids == [call]


def test_a_wire_from_the_modules_port_to_another_call_shares_it(hand: Hand) -> None:
    module, call = layer(hand)
    other = hand.add("python.call", 760, 200)
    hand.drag(hand.output(module), hand.input(other, "module"))
    assert calls_of(hand.graph, module) == (call, other)
    assert set(hand.canvas.scene.stack.ids) == {module, call, other}


def test_the_switch_on_the_card_writes_eval_and_takes_it_away(hand: Hand) -> None:
    module, call = layer(hand, DROPOUT)
    layout, box = hand.canvas.scene.placement.layout(call), hand.canvas.scene.placement.box(call)
    assert layout is not None
    assert box is not None
    assert layout.switch is not None
    at = (box.x + layout.switch.center[0], box.y + layout.switch.center[1])
    texts = len(hand.undo_texts)
    hand.click(at)
    assert "dropout.eval()" in lines(hand)
    assert len(hand.undo_texts) == texts + 1
    layout = hand.canvas.scene.placement.layout(call)
    assert layout is not None
    assert layout.mode == "eval"
    (switch,) = module_modes.mode_statements(hand.graph, module)
    assert hand.canvas.scene.stack.ids == [call]
    assert not hand.canvas.scene.wiring.wires
    assert hand.canvas.scene.state.card_groups.home(switch) == call
    assert hand.canvas.scene.placement.box(switch) == hand.canvas.scene.placement.box(call)
    hand.click(at)
    assert "dropout.eval()" not in lines(hand)
    assert module_modes.is_training(hand.graph, module)


def test_a_layer_without_two_modes_has_no_switch(hand: Hand) -> None:
    _, call = layer(hand)
    layout = hand.canvas.scene.placement.layout(call)
    assert layout is not None
    assert (layout.mode, layout.switch) == ("", None)


def test_leaves_have_rows_before_a_run_and_can_be_wired(hand: Hand) -> None:
    module, call = layer(hand)
    add = hand.add("operator.add", 800, 300)
    expect_leaves(hand, module, *WEIGHTS)
    rows = hand.canvas.scene.updates.well(call).leaves.rows
    assert [(row.path, row.shape, row.values, row.guessed) for row in rows] == [
        ("weight", "[8, 4]", ("float32",), True), ("bias", "[8]", ("float32",), True),
    ]  # fmt: skip
    start = hand.canvas.scene.placement.anchor(PortRef(module, "output", "weight"))
    hand.drag(start, hand.input(add, "a"))
    assert any("fc.weight" in line for line in lines(hand))
    assert hand.canvas.scene.state.card_groups.home(module) == call


def test_a_leaf_dropped_on_empty_ground_gets_a_name(hand: Hand) -> None:
    module, _ = layer(hand)
    expect_leaves(hand, module, *WEIGHTS)
    start = hand.canvas.scene.placement.anchor(PortRef(module, "output", "bias"))
    hand.drag(start, (start[0] + 120, start[1] + 60))
    assert "bias = fc.bias" in lines(hand)


def test_many_leaves_are_folded_until_their_line_is_clicked(hand: Hand) -> None:
    module, call = layer(hand, "torch.nn.LSTM")
    paths = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    expect_leaves(hand, module, *(LeafInference(path, (16, 4), "float32", True) for path in paths))
    scene = hand.canvas.scene
    leaves, box, layout = scene.updates.well(call).leaves, scene.placement.box(call), scene.placement.layout(call)
    assert box is not None
    assert layout is not None
    assert [row.path for row in leaves.rows] == list(paths[:2])
    assert leaves.more == "⋯ bias_ih_l0 +1"
    hand.click((box.x + 40, box.y + layout.height + 4 + leaves.more_y + 8))
    assert [row.path for row in scene.updates.well(call).leaves.rows] == list(paths)
    box = scene.placement.box(call)
    assert box is not None
    assert leaf_ports(scene) == set(paths)


def test_an_initialiser_is_written_behind_the_module(hand: Hand) -> None:
    module, call = layer(hand)
    expect_leaves(hand, module, *WEIGHTS)
    x, y = hand.header(call)
    hit = hand.canvas.input_dispatcher.hit(hand.canvas.input_dispatcher.at(hand.view(x, y)))
    menu = context_menu(hand.canvas, hit, x, y)
    below = next(action.menu() for action in entries(menu) if action.text() == "Initialise weight with…")
    next(action for action in below.actions() if action.text() == "xavier_uniform_").trigger()  # type: ignore[union-attr]  # a submenu
    found = lines(hand)
    assert found[found.index("fc = nn.Linear(4, 8)") + 1] == "nn.init.xavier_uniform_(fc.weight)"


def test_layers_dropped_on_a_sequence_go_into_it(hand: Hand) -> None:
    _, call = layer(hand, SEQUENTIAL)
    for key in (LINEAR, "torch.nn.ReLU"):
        hand.drop(key, hand.header(call))
    assert "model = nn.Sequential(nn.Linear(4, 8), nn.ReLU())" in lines(hand)


def test_a_layer_given_to_a_sequence_by_its_port_loses_its_idle_call(hand: Hand) -> None:
    sequence, _ = layer(hand, SEQUENTIAL, 600, 200)
    module, call = layer(hand, LINEAR, 200, 200)
    path = recipes.free_child_port(hand.graph, sequence)
    assert path is not None
    hand.drag(hand.output(module), hand.input(sequence, path))
    assert call not in hand.graph.nodes
    assert hand.canvas.scene.state.card_groups.home(module) == module


def test_a_layer_dropped_on_a_wire_is_called_there(hand: Hand) -> None:
    x = hand.add("torch.ones", 40, 200)
    relu = hand.add("torch.relu", 700, 200)
    hand.wire(x, relu, "input")
    start, end = hand.output(x), hand.input(relu, "input")
    hand.drop(LINEAR, ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2))
    wire = hand.graph.wire_into(relu, "input")
    assert wire is not None
    call = hand.graph.nodes[wire.source]
    assert call.operator == "python.call"
    inner = hand.graph.wire_into(call.id, "inputs.0")
    assert inner is not None
    assert inner.source == x


def test_renaming_the_card_renames_the_module(hand: Hand) -> None:
    module, call = layer(hand)
    hand.click(hand.header(call))
    hand.key(Qt.Key.Key_F2)
    editor = hand.canvas.in_place.editor
    assert editor is not None
    hand.key(Qt.Key.Key_A, CONTROL, to=editor)
    for key in (Qt.Key.Key_H, Qt.Key.Key_I):
        hand.key(key, to=editor)
    hand.key(Qt.Key.Key_Return, to=editor)
    assert hand.graph.nodes[module].names == ("hi",)


def test_a_muted_card_is_muted_whole(hand: Hand) -> None:
    module, call = layer(hand)
    hand.click(hand.header(call))
    hand.canvas.card_arrangement.toggle_muted()
    assert hand.graph.nodes[module].muted
    assert hand.graph.nodes[call].muted
    assert hand.canvas.scene.stack.ids == [call]


def test_what_is_seen_counts_for_both_halves(hand: Hand) -> None:
    module, call = layer(hand)
    assert set(hand.canvas.navigation.visible_items()) == {module, call}
