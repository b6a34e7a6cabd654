"""Muted wires: absent from the program and its text, kept by everything that keeps wires."""

import msgspec
import pytest

from gradstudio.document import file
from gradstudio.document.errors import DocumentError
from gradstudio.document.python.merge_edits import merge
from gradstudio.graph import recipes
from gradstudio.graph.analysis.program_analysis import incomplete
from gradstudio.graph.edits import apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph, ItemId, Wire
from gradstudio.graph.ports.muted_wires import is_muted, muted_wires
from gradstudio.graph.recipes import fragments
from gradstudio.program.write import write_code
from tests.graph.builder import Drawing


@pytest.fixture
def d() -> Drawing:
    return Drawing()


def code(graph: Graph) -> str:
    return write_code(graph)[0]


def product(d: Drawing) -> tuple[Wire, ItemId, ItemId]:
    """`y = x * 3`, then w wired over the 3: the wire, y and w."""
    x = d.add("torch.randn", name="x")
    y = d.add("operator.mul", x, name="y", b="3")
    w = d.add("torch.randn", name="w")
    return d.wire(w, y, "b"), y, w


def test_a_muted_wire_is_absent_and_what_was_written_before_stands_there_again(d: Drawing) -> None:
    wire, y, _ = product(d)
    assert "y = x * w" in code(d.graph)
    before = d.graph.copy()
    d.do(recipes.mute_wires(d.graph, (wire,)))
    assert d.graph.wire_into(y, "b") is None
    assert muted_wires(d.graph) == (wire,)
    assert "y = x * 3" in code(d.graph)
    d.do(recipes.unmute_wires(d.graph, (wire,)))
    assert d.graph.wire_into(y, "b") == wire
    assert not muted_wires(d.graph)
    assert "y = x * w" in code(d.graph)
    d.undo()
    d.undo()
    assert (d.graph.nodes, d.graph.wires) == (before.nodes, before.wires)


def test_an_argument_that_must_be_wired_is_incomplete_while_its_wire_is_muted(d: Drawing) -> None:
    x = d.add("torch.randn", name="x")
    y = d.add("torch.relu", x, name="y")
    d.do(recipes.mute_wires(d.graph, tuple(d.graph.wires_to(y))))
    assert y in incomplete(d.graph)


def test_a_wire_into_a_block_is_not_muted(d: Drawing) -> None:
    edits, loop = recipes.add_operator(d.graph, "python.for", 0, 0)
    d.do(edits)
    x = d.add("python.literal", name="n", value="3")
    edits = recipes.connect(d.graph, x, 0, loop, "range.0")
    d.do(edits)
    with pytest.raises(Refused, match="block needs it"):
        recipes.mute_wires(d.graph, tuple(d.graph.wires_to(loop)))


def test_a_muted_wire_goes_with_its_source_and_comes_back_with_it(d: Drawing) -> None:
    wire, y, w = product(d)
    d.do(recipes.mute_wires(d.graph, (wire,)))
    d.do(recipes.delete(d.graph, (w,)))
    assert not d.graph.nodes[y].muted_wires
    d.undo()
    assert is_muted(d.graph, wire)


def test_another_wire_into_the_port_takes_its_place(d: Drawing) -> None:
    wire, y, _ = product(d)
    d.do(recipes.mute_wires(d.graph, (wire,)))
    z = d.add("torch.randn", name="z")
    d.wire(z, y, "b")
    assert not d.graph.nodes[y].muted_wires


def test_it_is_removed_like_any_wire(d: Drawing) -> None:
    wire, y, _ = product(d)
    d.do(recipes.mute_wires(d.graph, (wire,)))
    d.do(recipes.disconnect_all(d.graph, (wire,)))
    assert not d.graph.nodes[y].muted_wires
    assert d.graph.nodes[y].literals["b"] == "3"


def test_a_wire_that_would_close_a_loop_by_now_stays_muted(d: Drawing) -> None:
    x = d.add("torch.randn", name="x")
    y = d.add("operator.mul", x, name="y", b="3")
    w = d.add("torch.relu", x, name="w")
    wire = d.wire(w, y, "b")
    d.do(recipes.mute_wires(d.graph, (wire,)))
    d.wire(y, w, "input")
    with pytest.raises(Refused, match="loop"):
        recipes.unmute_wires(d.graph, (wire,))


def test_it_moves_with_the_elements_of_a_list(d: Drawing) -> None:
    x, y = d.add("torch.randn", name="x"), d.add("torch.randn", name="y")
    cat = d.add("torch.cat")
    d.wire(x, cat, "tensors.0")
    wire = d.wire(y, cat, "tensors.1")
    d.do(recipes.mute_wires(d.graph, (wire,)))
    d.do(recipes.move_element(d.graph, cat, "tensors", 1, 0))
    assert muted_wires(d.graph) == (msgspec.structs.replace(wire, port="tensors.0"),)


def test_copies_keep_it_where_both_ends_are_copied(d: Drawing) -> None:
    wire, y, w = product(d)
    d.do(recipes.mute_wires(d.graph, (wire,)))
    edits, (new_y, new_w) = fragments.duplicate(d.graph, (y, w))
    d.do(edits)
    assert is_muted(d.graph, Wire(new_w, 0, new_y, "b")) or is_muted(d.graph, Wire(new_y, 0, new_w, "b"))
    edits, (alone,) = fragments.duplicate(d.graph, (y,))
    d.do(edits)
    assert not d.graph.nodes[alone].muted_wires


def test_the_file_keeps_it(d: Drawing) -> None:
    wire, _, _ = product(d)
    d.do(recipes.mute_wires(d.graph, (wire,)))
    text = file.dumps(d.graph)
    assert text.count('"muted_wires"') == 1
    read = file.loads(text)
    assert muted_wires(read) == (wire,)
    assert file.dumps(read) == text


@pytest.mark.parametrize("field", ["from", "to", "port"])
def test_one_that_begins_or_ends_at_nothing_is_refused(d: Drawing, field: str) -> None:
    wire, _, _ = product(d)
    d.do(recipes.mute_wires(d.graph, (wire,)))
    line = next(line for line in file.dumps(d.graph).splitlines() if wire.source in line and '"to"' in line)
    value = {"from": wire.source, "to": wire.target, "port": wire.port}[field]
    text = file.dumps(d.graph).replace(line, line.replace(f'"{field}": "{value}"', f'"{field}": "nothing"'))
    with pytest.raises(DocumentError, match="nothing"):
        file.loads(text)


def test_typing_in_the_code_leaves_it_alone(d: Drawing) -> None:
    wire, y, _ = product(d)
    d.do(recipes.mute_wires(d.graph, (wire,)))
    text = code(d.graph)
    edited = merged(d.graph, text.replace("y = x * 3", "y = x * 4"))
    assert edited.nodes[y].literals["b"] == "4"
    assert muted_wires(edited) == (wire,)
    gone = merged(d.graph, "\n".join(line for line in text.splitlines() if not line.startswith("w =")) + "\n")
    assert not muted_wires(gone)
    assert not gone.nodes[y].muted_wires


def merged(graph: Graph, text: str) -> Graph:
    target = graph.copy()
    apply_all(target, merge(graph, text))
    return target
