"""A module and its only call share a card: which ones, and what gestures make of it."""

import pytest

from gradstudio.graph import recipes
from gradstudio.graph.analysis import module_modes
from gradstudio.graph.card_grouping import EVAL, FREEZE, CardGroups, calls_of, card_groups
from gradstudio.graph.errors import Refused
from gradstudio.graph.graph_index import copy_with_index
from gradstudio.graph.model import ItemId
from gradstudio.layout.tidy import layout
from gradstudio.program.compile import compile_graph
from tests.graph.analysis.random_edits import PROGRAM, Edited
from tests.graph.builder import Drawing

SWITCHED = """
import torch
from torch import nn

x = torch.ones(2)
first = nn.Linear(2, 2)
first.eval()
second = nn.Dropout()
second.train(False)
third = nn.Linear(2, 2)
third.requires_grad_(False)
y = third(second(first(x)))
z = torch.relu(y)
"""


def layer(d: Drawing, key: str = "torch.nn.Linear") -> tuple[ItemId, ItemId]:
    edits, call = recipes.add_operator(d.graph, key, 100, 50)
    d.do(edits)
    wire = d.graph.wire_into(call, "module")
    assert wire is not None
    return wire.source, call


def text(d: Drawing) -> list[str]:
    return [
        line for line in compile_graph(d.graph).code.splitlines() if line and not line.startswith(("import", "from"))
    ]


def test_a_dropped_layer_is_one_card_of_two_statements() -> None:
    d = Drawing()
    module, call = layer(d)
    groups = card_groups(d.graph)
    assert groups.calls == {module: call}
    assert groups.home(module) == groups.home(call) == call
    assert groups.whole([call]) == groups.whole([module]) == {module, call}
    assert d.graph.places[module] == d.graph.places[call]


def test_a_second_call_splits_the_card_and_deleting_it_joins_it_again() -> None:
    d = Drawing()
    module, call = layer(d)
    edits, second = recipes.call_again(d.graph, module)
    d.do(edits)
    assert card_groups(d.graph).calls == {}
    assert calls_of(d.graph, module) == (call, second)
    assert d.graph.places[module].x < d.graph.places[call].x
    d.do(recipes.delete(d.graph, [second]))
    assert card_groups(d.graph).calls == {module: call}
    assert d.graph.places[module] == d.graph.places[call]


def test_a_call_in_a_loop_is_a_card_of_its_own() -> None:
    d = Drawing()
    module, call = layer(d)
    d.do(recipes.wrap(d.graph, [call], "no_grad"))
    assert card_groups(d.graph).calls == {}
    d.do(recipes.move_into(d.graph, [module], d.graph.parents[call]))
    assert card_groups(d.graph).calls == {module: call}


def test_a_muted_half_is_drawn_alone() -> None:
    d = Drawing()
    module, call = layer(d)
    d.do(recipes.set_muted(d.graph, [call], True))
    assert card_groups(d.graph).calls == {}
    d.do(recipes.set_muted(d.graph, [module], True))
    assert card_groups(d.graph).calls == {module: call}


def test_a_bypassed_layer_lets_its_input_through() -> None:
    d = Drawing()
    _, call = layer(d)
    x = d.add("torch.ones")
    d.do(recipes.connect(d.graph, x, 0, call, "inputs.0"))
    d.do(recipes.set_bypassed(d.graph, [call], True))
    assert "y = x" in text(d)


def test_a_recurrent_layer_gives_two_results() -> None:
    d = Drawing()
    _, call = layer(d, "torch.nn.LSTM")
    assert len(d.graph.nodes[call].names) == 2


def test_a_module_list_is_not_called() -> None:
    d = Drawing()
    edits, item = recipes.add_operator(d.graph, "torch.nn.ModuleList", 0, 0)
    d.do(edits)
    assert list(d.graph.nodes) == [item]


def test_earlier_moves_what_makes_the_layer_where_its_call_has_to_stay() -> None:
    """The call stays behind what it is given, which may stand at the top; a switch goes along with the module."""
    d = Drawing()
    x = d.add("torch.randn", name="x")
    h = d.add("torch.relu", x, name="h")
    module, call = layer(d, "torch.nn.Dropout")
    d.do(recipes.connect(d.graph, h, 0, call, "inputs.0"))
    d.do(recipes.set_training(d.graph, [module], False))
    name, *rest = (line.partition(" ")[0] for line in text(d)[-3:])
    assert rest == [f"{name}.eval()", d.graph.nodes[call].names[0]]
    for order in (["x", name, f"{name}.eval()", "h"], [name, f"{name}.eval()", "x", "h"]):
        d.do(recipes.move_earlier(d.graph, call))
        assert [line.partition(" ")[0] for line in text(d)[-5:]] == [*order, rest[1]]
        assert card_groups(d.graph).calls == {module: call}
    with pytest.raises(Refused, match=f"'{name}' is the first statement"):
        recipes.move_earlier(d.graph, call)


def test_eval_is_written_behind_the_constructor_and_taken_away() -> None:
    d = Drawing()
    module, call = layer(d, "torch.nn.Dropout")
    x = d.add("torch.ones")
    d.do(recipes.connect(d.graph, x, 0, call, "inputs.0"))
    before = text(d)
    assert module_modes.is_training(d.graph, module)
    assert module_modes.depends_on_mode(d.graph, module)
    d.do(recipes.set_training(d.graph, [module], False))
    name = d.graph.nodes[module].names[0]
    lines = text(d)
    assert lines[lines.index(f"{name} = nn.Dropout()") + 1] == f"{name}.eval()"
    assert not module_modes.is_training(d.graph, module)
    assert card_groups(d.graph).calls == {module: call}
    d.do(recipes.set_training(d.graph, [module], True))
    assert text(d) == before


def test_what_switches_a_module_is_on_its_card_while_it_does_no_more() -> None:
    d = Drawing()
    module, call = layer(d, "torch.nn.Dropout")
    d.do(recipes.set_training(d.graph, [module], False))
    d.do(recipes.set_frozen(d.graph, [module], True))
    switches = {node.operator: node.id for node in d.graph.nodes.values() if node.operator in (EVAL, FREEZE)}
    groups = card_groups(d.graph)
    assert groups.switches == dict.fromkeys(switches.values(), module)
    assert {groups.home(item) for item in switches.values()} == {call}
    assert groups.whole([call]) == groups.whole([switches[EVAL]]) == {module, call, *switches.values()}
    assert all(groups.is_hidden(wire) for wire in d.graph.wires_from(module))
    assert layout(d.graph)[switches[EVAL]] == layout(d.graph)[call]
    d.do(recipes.connect(d.graph, switches[EVAL], 0, call, "module"))
    assert card_groups(d.graph).switches == {switches[FREEZE]: module}
    assert d.graph.places[switches[EVAL]] != d.graph.places[switches[FREEZE]]


def test_a_switch_that_stands_elsewhere_is_a_card_of_its_own() -> None:
    d = Drawing()
    module, _ = layer(d)
    d.add("torch.ones")
    edits, switch = recipes.add_operator(d.graph, EVAL, 0, 0)
    d.do(edits)
    d.do(recipes.connect(d.graph, module, 0, switch, "self"))
    assert card_groups(d.graph).switches == {}


def test_together_those_are_switched_that_the_mode_matters_to() -> None:
    d = Drawing()
    layer(d)
    layer(d, "torch.nn.MSELoss")
    dropout, _ = layer(d, "torch.nn.Dropout")
    edits, call = recipes.add_operator(d.graph, "torch.nn.Sequential", 0, 0)
    d.do(edits)
    unknown = card_groups(d.graph).modules[call]
    assert module_modes.switched_together(d.graph) == (dropout,)
    x = d.add("python.attribute")
    port = recipes.free_child_port(d.graph, unknown)
    assert port is not None
    d.do(recipes.connect(d.graph, x, 0, unknown, port))
    assert set(module_modes.switched_together(d.graph)) == {dropout, unknown}


def test_a_mode_after_the_call_does_not_count() -> None:
    d = Drawing()
    module, _ = layer(d)
    edits, switch = recipes.add_operator(d.graph, EVAL, 0, 0)
    d.do(edits)
    d.do(recipes.connect(d.graph, module, 0, switch, "self"))
    assert module_modes.is_training(d.graph, module)


def test_a_container_switches_what_it_holds() -> None:
    d = Drawing()
    edits, call = recipes.add_operator(d.graph, "torch.nn.Sequential", 0, 0)
    d.do(edits)
    wire = d.graph.wire_into(call, "module")
    assert wire is not None
    edits, child = recipes.add_child(d.graph, wire.source, "torch.nn.Dropout")
    d.do(edits)
    assert module_modes.top_level(d.graph) == (wire.source,)
    assert module_modes.depends_on_mode(d.graph, wire.source)
    d.do(recipes.set_training(d.graph, module_modes.top_level(d.graph), False))
    assert not module_modes.is_training(d.graph, child)


def test_freezing_writes_requires_grad_and_thaws() -> None:
    d = Drawing()
    module, _ = layer(d)
    d.do(recipes.set_frozen(d.graph, [module], True))
    assert "fc.requires_grad_(False)" in text(d)
    assert module_modes.is_frozen(d.graph, module)
    d.do(recipes.set_frozen(d.graph, [module], False))
    assert "fc.requires_grad_(False)" not in text(d)


def test_layers_dropped_into_a_sequence_are_written_inside_it_in_their_order() -> None:
    d = Drawing()
    edits, call = recipes.add_operator(d.graph, "torch.nn.Sequential", 0, 0)
    d.do(edits)
    wire = d.graph.wire_into(call, "module")
    assert wire is not None
    for key in ("torch.nn.Linear", "torch.nn.ReLU", "torch.nn.Dropout"):
        edits, _ = recipes.add_child(d.graph, wire.source, key)
        d.do(edits)
    assert "model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout())" in text(d)
    d.do(recipes.move_child(d.graph, wire.source, "args.1", 1))
    assert "model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(), nn.ReLU())" in text(d)


def test_a_weight_is_read_and_initialised() -> None:
    d = Drawing()
    module, call = layer(d)
    x = d.add("torch.ones")
    d.do(recipes.connect(d.graph, x, 0, call, "inputs.0"))
    d.do(recipes.initialise(d.graph, module, "weight", "torch.nn.init.xavier_uniform_"))
    lines = text(d)
    assert lines[lines.index("fc = nn.Linear(4, 8)") + 1] == "nn.init.xavier_uniform_(fc.weight)"
    add = d.add("operator.add", x)
    d.do(recipes.connect_leaf(d.graph, module, "bias", add, "b"))
    assert any("fc.bias" in line for line in text(d))


def test_a_leaf_inside_a_sequence_is_read_by_number() -> None:
    d = Drawing()
    edits, call = recipes.add_operator(d.graph, "torch.nn.Sequential", 0, 0)
    d.do(edits)
    wire = d.graph.wire_into(call, "module")
    assert wire is not None
    for _ in range(2):
        edits, _ = recipes.add_child(d.graph, wire.source, "torch.nn.Linear")
        d.do(edits)
    d.do(recipes.initialise(d.graph, wire.source, "1.weight", "torch.nn.init.zeros_"))
    assert "nn.init.zeros_(model[1].weight)" in text(d)


@pytest.mark.parametrize("program", [PROGRAM, SWITCHED], ids=["modules", "switches"])
@pytest.mark.parametrize("seed", range(6))
def test_after_each_edit_the_cards_are_those_of_the_whole(seed: int, program: str) -> None:
    edited = Edited(seed, program)
    for _ in range(100):
        before = copy_with_index(edited.graph)
        edited.edit()
        for graph in (edited.graph, before):
            known, whole = card_groups(graph), CardGroups(graph)
            assert (known.calls, known.modules, known.switches) == (whole.calls, whole.modules, whole.switches)
            assert known.insides() == whole.insides()


def test_an_edit_that_concerns_no_module_leaves_the_cards_as_they_are() -> None:
    d = Drawing()
    _, call = layer(d)
    before = card_groups(d.graph)
    edits, item = recipes.add_operator(d.graph, "torch.relu", 0, 0)
    d.do(edits)
    d.do(recipes.connect(d.graph, call, 0, item, "input"))
    assert card_groups(d.graph) is before
    assert card_groups(copy_with_index(d.graph)) is before
    layer(d)
    assert card_groups(d.graph) is not before
