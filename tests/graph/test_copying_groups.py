"""Copies of groups: one of its own for a call, another name, and groups brought from another document."""

import pytest

from gradstudio.graph.edits import AddBlock, SetDefinition, SetTensor, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.groups.definitions import all_ids
from gradstudio.graph.model import ROOT, Block, BodyId, Graph, ItemId, Place, StoredTensor
from gradstudio.graph.recipes.grouping.definition_copies import (
    are_equivalent,
    bring,
    called_definitions,
    proposed_name,
    renamed_group,
    unique_copy,
    with_new_ids,
)
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_code

NESTED = """import torch
from torch import nn


def inner(u):
    v = u * 2
    return v


def outer(p, q):
    s = inner(p)
    t = s + q
    return t


class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.fc = nn.Linear(n, 1)

    def forward(self, x):
        y = self.fc(x)
        return y


a = torch.ones(3)
b = outer(a, a)
c = inner(b)
net = Net(3)
d = net(c)
"""
LOOPED = """import torch


def grown(x):
    for t in range(3):
        x = x * 2
        # the end
    return x


y = grown(torch.ones(2))
"""


def graph_of(text: str = NESTED) -> Graph:
    return read_script(text).graph


def bound(graph: Graph, name: str) -> ItemId:
    return next(node.id for node in graph.nodes.values() if name in node.names)


def with_constant(number: int, name: str = "inner") -> str:
    return f"import torch\n\n\ndef {name}(u):\n    v = u * {number}\n    return v\n\n\nz = {name}(torch.ones(1))\n"


def test_a_call_gets_a_copy_of_its_own_and_the_others_keep_theirs() -> None:
    graph = graph_of()
    before, call = write_code(graph)[0], bound(graph, "c")
    inverse = apply_all(graph, unique_copy(graph, call))
    assert graph.nodes[call].operator == "group:inner2"
    assert graph.definitions["inner2"].name == "inner2"
    assert are_equivalent(graph.definitions["inner"], graph.definitions["inner2"])
    assert set(graph.definitions["inner"].graph.nodes).isdisjoint(graph.definitions["inner2"].graph.nodes)
    text = write_code(graph)[0]
    assert "    s = inner(p)" in text
    assert "c = inner2(b)" in text
    apply_all(graph, inverse)
    assert write_code(graph)[0] == before


def test_only_the_call_of_a_group_that_there_is_can_be_made_unique() -> None:
    graph = graph_of()
    with pytest.raises(Refused, match="Select the card of a group"):
        unique_copy(graph, bound(graph, "a"))
    del graph.definitions["inner"]
    with pytest.raises(Refused, match="Select the card of a group"):
        unique_copy(graph, bound(graph, "c"))


def test_a_group_is_renamed_in_its_definition_and_at_every_call_in_other_groups_too() -> None:
    graph = graph_of()
    before = write_code(graph)[0]
    inverse = apply_all(graph, renamed_group(graph, "inner", " twice "))
    assert write_code(graph)[0] == before.replace("inner(", "twice(")
    assert set(graph.definitions) == {"twice", "outer", "Net"}
    apply_all(graph, inverse)
    assert write_code(graph)[0] == before


def test_a_module_is_renamed_where_it_is_constructed() -> None:
    graph = graph_of()
    edits = renamed_group(graph, "Net", "Model")
    assert [edit.name for edit in edits if isinstance(edit, SetDefinition)] == ["Net", "Model"]
    apply_all(graph, edits)
    assert "class Model(nn.Module):" in write_code(graph)[0]
    assert "net = Model(3)" in write_code(graph)[0]


def test_the_name_a_group_has_already_changes_nothing() -> None:
    assert renamed_group(graph_of(), "inner", "inner") == ()


@pytest.mark.parametrize(
    ("old", "name", "words"),
    [
        ("inner", "outer", "There is a group 'outer' already"),
        ("inner", "a", "A value of the program is called 'a' already"),
        ("gone", "other", "There is no group 'gone' any more"),
        ("inner", "2x", "is not a Python name"),
        ("inner", "", "cannot be empty"),
        ("inner", "class", "a word of Python itself"),
    ],
)
def test_a_name_that_cannot_be_is_refused_with_the_reason(old: str, name: str, words: str) -> None:
    with pytest.raises(Refused, match=words):
        renamed_group(graph_of(), old, name)


def test_a_group_is_proposed_after_what_comes_out_last() -> None:
    graph = graph_of("import torch\n\na = torch.ones(3)\nb = a * 2\nc = b + a\n")
    b, c = bound(graph, "b"), bound(graph, "c")
    assert proposed_name(graph, frozenset({b, c})) == "compute_c"
    assert proposed_name(graph, frozenset({b})) == "compute_b"
    assert proposed_name(graph, frozenset()) == "compute_values"


def test_what_makes_a_layer_is_proposed_as_a_class() -> None:
    graph = graph_of("import torch\nfrom torch import nn\n\nfc = nn.Linear(2, 1)\nh = fc(torch.ones(2))\n")
    assert proposed_name(graph, frozenset({bound(graph, "fc"), bound(graph, "h")})) == "MakeH"
    assert proposed_name(graph, frozenset({bound(graph, "h")})) == "compute_h"


def test_a_frame_lends_its_title_and_a_taken_name_gets_a_number() -> None:
    graph = graph_of("import torch\n\na = torch.ones(3)\nb = a * 2\n")
    b = bound(graph, "b")
    block = ItemId("frame")
    apply_all(graph, (AddBlock(Block(id=block, kind="group", title="My Step"), ROOT, 0),))
    assert proposed_name(graph, frozenset({block, b})) == "my_step"
    graph.definitions["my_step"] = graph_of(with_constant(2)).definitions["inner"].but(name="my_step")
    assert proposed_name(graph, frozenset({block, b})) == "my_step2"


def test_a_group_is_brought_with_those_it_calls() -> None:
    graph, source = graph_of("import torch\n\nx = torch.ones(1)\n"), graph_of()
    taken = all_ids(graph)
    edits, name = bring(graph, source, "outer")
    assert name == "outer"
    assert [edit.name for edit in edits if isinstance(edit, SetDefinition)] == ["inner", "outer"]
    apply_all(graph, edits)
    assert are_equivalent(graph.definitions["outer"], source.definitions["outer"])
    inside = [set(one.graph.nodes) for one in graph.definitions.values()]
    assert inside[0].isdisjoint(inside[1])
    assert taken.isdisjoint(inside[0] | inside[1])


def test_a_group_with_the_same_content_is_used_again() -> None:
    graph, source = graph_of(), graph_of(with_constant(2, "doubled"))
    source.tensors["d1"] = StoredTensor("d1", "float32", (1,), b"")
    assert bring(graph, source, "doubled") == ((), "inner")


def test_another_group_of_the_same_name_gets_a_new_name_and_its_callers_follow() -> None:
    graph, source = graph_of(with_constant(7)), graph_of()
    edits, name = bring(graph, source, "outer")
    apply_all(graph, edits)
    assert name == "outer"
    assert set(graph.definitions) == {"inner", "inner2", "outer"}
    called = {node.operator for node in graph.definitions["outer"].graph.nodes.values()}
    assert called == {"group:inner2", "operator.add"}
    assert are_equivalent(graph.definitions["inner2"], source.definitions["inner"])


def test_a_name_that_a_value_has_is_not_taken() -> None:
    graph = graph_of("import torch\n\ninner = torch.ones(1)\n")
    assert bring(graph, graph_of(), "inner")[1] == "inner2"


def test_stored_tensors_that_are_missing_come_along() -> None:
    graph, source = graph_of("import torch\n\nx = torch.ones(1)\n"), graph_of()
    here, there = (StoredTensor(digest, "float32", (1,), b"") for digest in ("d1", "d2"))
    graph.tensors["d1"] = here
    source.tensors.update(d1=here, d2=there)
    edits, _ = bring(graph, source, "inner")
    assert [edit for edit in edits if isinstance(edit, SetTensor)] == [SetTensor("d2", there)]


def test_a_group_that_is_gone_cannot_be_brought() -> None:
    with pytest.raises(Refused, match="no group 'gone' in that file"):
        bring(graph_of(), graph_of(), "gone")


def test_needed_are_the_groups_called_and_those_they_call() -> None:
    graph = graph_of()
    nodes = graph.nodes
    assert set(called_definitions(graph, [nodes[bound(graph, "b")]])) == {"inner", "outer"}
    assert set(called_definitions(graph, [nodes[bound(graph, "c")], nodes[bound(graph, "net")]])) == {"inner", "Net"}
    assert called_definitions(graph, [nodes[bound(graph, "a")]]) == {}
    call = nodes[bound(graph, "c")]
    del graph.definitions["inner"]
    assert called_definitions(graph, [call]) == {}


def test_alike_sees_content_and_no_ids_or_places() -> None:
    two, three = (graph_of(with_constant(number)).definitions["inner"] for number in (2, 3))
    moved = two.graph.copy()
    moved.places = {next(iter(moved.nodes)): Place(5, 5)}
    assert are_equivalent(two, with_new_ids(two.but(name="other", graph=moved), set()))
    assert not are_equivalent(two, three)
    assert not are_equivalent(two, two.but(inputs=("w",)))
    assert not are_equivalent(two, two.but(defaults={"u": "1"}))


def test_new_ids_reach_blocks_bodies_wires_tails_places_and_setup() -> None:
    looped = graph_of(LOOPED).definitions["grown"]
    (block,) = looped.graph.blocks
    looped.graph.places = {block: Place(1, 2), f"note:{block}": Place(3, 4)}
    looped.graph.tails = {BodyId(block): "the end"}
    made = with_new_ids(looped, set(looped.graph.nodes))
    (new,) = made.graph.blocks
    assert new != block
    assert made.graph.blocks[new].id == new
    assert set(made.graph.order()).isdisjoint(looped.graph.order())
    assert made.graph.places == {new: Place(1, 2), f"note:{new}": Place(3, 4)}
    assert made.graph.tails == {BodyId(new): "the end"}
    assert all(made.graph.parents[item] == BodyId(new) for item in made.graph.bodies[BodyId(new)])
    assert len(made.graph.wires) == len(looped.graph.wires)
    assert {wire for wires in made.graph.incoming.values() for wire in wires} == set(made.graph.wires.values())
    assert {wire for wires in made.graph.outgoing.values() for wire in wires} == set(made.graph.wires.values())
    net = graph_of().definitions["Net"]
    other = with_new_ids(net, set())
    assert [other.graph.nodes[item].names for item in other.setup] == [("fc",)]
    assert set(other.setup).isdisjoint(net.setup)
