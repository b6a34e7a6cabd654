"""What is known of a program after an edit is what a look at the whole of it says."""

import msgspec
import pytest

from gradstudio.document.python.python_document import read_python
from gradstudio.graph import recipes
from gradstudio.graph.analysis import validity_walk
from gradstudio.graph.analysis.program_analysis import Analysis, analyse
from gradstudio.graph.edits import LONGEST_TRAIL, AddNode, AddWire, ReplaceNode, SetPlaces, apply_all, edits_since
from gradstudio.graph.graph_index import GraphIndex, copy_with_index, index_of
from gradstudio.graph.model import ROOT, Graph, ItemId, Node, Place, Wire
from tests.graph.analysis.random_edits import CALM, PROGRAM, REBOUND, Edited
from tests.helpers.call_count import calls_of

EDITS = 100
CALLS_BACK = 32
"""Of ours, for each node that can run again."""


@pytest.mark.parametrize("program", [PROGRAM, CALM, REBOUND], ids=["writes", "calm", "rebound"])
@pytest.mark.parametrize("seed", range(8))
def test_after_each_edit_the_same_is_known_as_of_the_whole(
    seed: int, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if seed % 2:
        monkeypatch.setattr(validity_walk, "FEW", 1)  # readers are looked for among all that stand behind
    edited = Edited(seed, program)
    for _ in range(EDITS):
        edited.edit()
        if edited.chance.random() < 0.3:
            continue  # two edits before anybody asks
        known, whole = analyse(edited.graph), Analysis(edited.graph)
        for part in ("operators", "arguments", "ports", "muted"):
            assert getattr(known.validity, part) == getattr(whole.validity, part), part
        assert list(known.validity.incomplete.items()) == list(whole.validity.incomplete.items())
        for wire in edited.graph.wires.values():
            ends = wire.source, wire.output
            assert known.validity.binding(*ends) == whole.validity.binding(*ends)
        for part in ("may", "leaves", "repeated"):
            assert getattr(known.gradients, part) == getattr(whole.gradients, part), part
        for part in ("tensors", "uses", "nested", "addresses", "root"):
            assert getattr(known, part) == getattr(whole, part), part


def test_an_edit_looks_at_what_it_changed_alone() -> None:
    edited = Edited(0)
    graph = edited.graph
    before = analyse(graph).validity
    item = next(node.id for node in graph.nodes.values() if node.names == ("b",))
    apply_all(graph, recipes.delete(graph, [item]))
    now = analyse(graph).validity
    assert now is not before
    assert {"x", "z", "t"} <= {graph.nodes[kept].names[0] for kept in now.kept if graph.nodes[kept].names}


def test_a_call_is_looked_at_again_when_its_module_changes_and_else_not() -> None:
    graph = read_python(
        "import torch\nfrom torch import nn\n\nx = torch.randn(4, 8)\nnorm = nn.LayerNorm(8)\n"
        "y = norm(x)\nlate = nn.ReLU()\nz = late(y)\n"
    ).graph
    named = {name: node for node in graph.nodes.values() for name in node.names}
    before = analyse(graph).validity
    assert before.operators[named["y"].id] is not None
    row = msgspec.structs.replace(named["norm"], operator="torch.nn.Bilinear", literals={"in1_features": "8"})
    apply_all(graph, (ReplaceNode(row),))
    now, whole = analyse(graph).validity, Analysis(graph).validity
    assert now is not before
    assert named["z"].id in now.kept
    assert named["y"].id not in now.kept
    assert now.operators == whole.operators
    assert now.operators[named["y"].id] != before.operators[named["y"].id]
    assert now.incomplete == whole.incomplete


@pytest.mark.parametrize("program", [PROGRAM, REBOUND], ids=["loop", "rebound"])
@pytest.mark.parametrize("seed", range(4))
def test_after_each_edit_the_index_is_that_of_the_whole(seed: int, program: str) -> None:
    edited = Edited(seed, program)
    for _ in range(EDITS):
        before = copy_with_index(edited.graph)
        edited.edit()
        known, whole = vars(index_of(edited.graph)), vars(GraphIndex(edited.graph))
        assert _unordered(known) == _unordered(whole)
        assert _unordered(vars(index_of(before))) == _unordered(vars(GraphIndex(before)))  # a copy is another's


def _unordered(index: dict[str, object]) -> dict[str, object]:
    binders = index["binders"]
    assert isinstance(binders, dict)
    return index | {"binders": {name: sorted(items) for name, items in binders.items()}}


def test_more_edits_than_are_remembered_are_looked_at_as_a_whole() -> None:
    edited = Edited(3, CALM)
    graph = edited.graph
    assert not analyse(graph).validity.muted
    node = next(iter(graph.nodes.values()))
    for _ in range(2 * LONGEST_TRAIL + 1):
        apply_all(graph, (ReplaceNode(node),))
    assert edits_since(graph, graph.revision - LONGEST_TRAIL) == (ReplaceNode(node),) * LONGEST_TRAIL
    assert edits_since(graph, 0) is None
    assert analyse(graph).validity.incomplete == Analysis(graph).validity.incomplete


def chain(count: int) -> Graph:
    """A leaf, and one operator after the other."""
    graph = Graph()
    for k in range(count):
        leaf = Node(
            id=ItemId("n0"),
            operator="torch.randn",
            names=("v0",),
            literals={"size": "(2,)", "requires_grad": "True"},
        )
        node = Node(id=ItemId(f"n{k}"), operator="torch.relu", names=(f"v{k}",)) if k else leaf
        apply_all(graph, (AddNode(node, ROOT, k),))
        if k:
            apply_all(graph, (AddWire(Wire(ItemId(f"n{k - 1}"), 0, node.id, "input")),))
    return graph


@pytest.mark.parametrize("count", [40, 400])
def test_what_reads_a_deleted_node_by_way_of_others_goes_with_a_few_calls_each(count: int) -> None:
    graph = chain(count)
    assert analyse(graph).gradients.repeated
    apply_all(graph, recipes.delete(graph, [ItemId("n0")]))
    calls = calls_of(lambda: analyse(graph).gradients)
    known, whole = analyse(graph), Analysis(graph)
    assert len(known.validity.incomplete) == count - 1
    assert list(known.validity.incomplete.items()) == list(whole.validity.incomplete.items())
    assert not known.gradients.repeated
    assert known.gradients.may == whole.gradients.may == set()
    assert calls < 200 + 5 * count


@pytest.mark.parametrize("count", [40, 400])
def test_what_comes_back_with_a_node_is_looked_at_once(count: int) -> None:
    graph = chain(count)
    undo = apply_all(graph, recipes.delete(graph, [ItemId("n0")]))
    assert len(analyse(graph).validity.incomplete) == count - 1
    apply_all(graph, recipes.rename(graph, ItemId("n5"), ("other",)))  # so that it is no state of before
    assert len(analyse(graph).validity.incomplete) == count - 1
    apply_all(graph, undo)
    calls = calls_of(lambda: analyse(graph).gradients)
    known, whole = analyse(graph), Analysis(graph)
    assert not known.validity.incomplete
    assert known.gradients.repeated == whole.gradients.repeated
    assert known.gradients.may == whole.gradients.may
    assert calls < 300 + CALLS_BACK * count


@pytest.mark.parametrize("count", [40, 400])
def test_what_is_undone_and_redone_at_once_is_known_from_before(count: int) -> None:
    graph = chain(count)
    assert analyse(graph).gradients.may
    edits = recipes.delete(graph, [ItemId("n0")])
    undo = apply_all(graph, edits)
    assert len(analyse(graph).gradients.may) < count
    for back in (undo, edits):
        apply_all(graph, back)
        calls = calls_of(lambda: analyse(graph).gradients)
        known, whole = analyse(graph), Analysis(graph)
        assert known.validity.incomplete == whole.validity.incomplete
        assert known.gradients.may == whole.gradients.may
        assert known.gradients.repeated == whole.gradients.repeated
        assert calls < 60


def test_the_index_knows_whose_cards_show_a_boundary() -> None:
    graph = chain(3)
    assert not index_of(graph).charts
    undo = apply_all(
        graph, (SetPlaces({ItemId("n1"): Place(0.0, 0.0, chart="boundary"), ItemId("n2"): Place(0.0, 9.0)}),)
    )
    assert list(index_of(graph).charts) == ["n1"] == list(GraphIndex(graph).charts)
    apply_all(graph, undo)
    assert not index_of(graph).charts
