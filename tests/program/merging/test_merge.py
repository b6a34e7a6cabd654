"""An edited text becomes edits: the canvas means the text, and what did not change is untouched."""

import random
import re
from pathlib import Path

import pytest

from gradstudio.document.file import load
from gradstudio.document.python.merge_edits import merge
from gradstudio.document.python.python_document import read_python
from gradstudio.graph.edits import ReplaceNode, apply, apply_all
from gradstudio.graph.model import BodyId, Graph, ItemId, StoredTensor
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_code

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.gsg"))
PROGRAM = """\
import torch

x = torch.ones(2, requires_grad=True)
y = x**2 + 1
z = torch.relu(y)
# the loss
loss = z.sum()
loss.backward()
"""


def code(graph: Graph) -> str:
    return write_code(graph)[0]


def normal(text: str, graph: Graph | None = None) -> str:
    """How a text is printed when it is read afresh."""

    def stored(file: str) -> StoredTensor:
        assert graph is not None
        return graph.tensors[Path(file).stem]

    return code(read_script(text, stored, pasted=True).graph)


def called(graph: Graph, name: str) -> ItemId:
    return next(item for item, node in graph.nodes.items() if name in node.names)


def change(graph: Graph, **fields: object) -> None:
    """Give the node of that id other fields."""
    node = graph.nodes[ItemId(str(fields.pop("item")))]
    apply(graph, ReplaceNode(type(node)(**{f: getattr(node, f) for f in node.__struct_fields__} | fields)))


def records(graph: Graph) -> tuple[object, ...]:
    return graph.nodes, graph.blocks, graph.bodies, graph.wires, graph.places, graph.tails, graph.header


def edited(text: str, choice: random.Random, names: list[str]) -> str:
    """The text as somebody may have left it: something taken out, put in, moved, or named otherwise."""
    lines = text.split("\n")
    k, j = (choice.choice([i for i, line in enumerate(lines) if line.strip()]) for _ in range(2))
    indent = " " * (len(lines[k]) - len(lines[k].lstrip()))
    match choice.randrange(8):
        case 0:
            del lines[k]
        case 1:
            lines.insert(k, lines[k])
        case 2:
            lines[k] = re.sub(r"\b\d+\b", str(choice.randint(1, 9)), lines[k], count=1)
        case 3:
            lines[k], lines[j] = lines[j], lines[k]
        case 4:
            lines.insert(k, f"{indent}# a remark")
        case 5:
            lines.insert(k, "")
        case 6:
            lines[k:k] = [f"{indent}with torch.no_grad():", f"{indent}    extra = torch.ones(2) * 2"]
        case _:
            name = choice.choice(names)
            return re.sub(rf"\b{name}\b", f"{name}_new", text)
    return "\n".join(lines)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_canvas_means_the_text_and_undo_brings_back_every_record(path: Path) -> None:
    choice, graph, read = random.Random(path.stem), load(path), 0
    for _ in range(12):
        names = [name for node in graph.nodes.values() for name in node.names if name != "_"]
        text = edited(code(graph), choice, names)
        before = records(graph.copy())
        try:
            edits = merge(graph, text)
        except NotReadable:
            assert records(graph) == before
            continue
        read += 1
        inverses = apply_all(graph, edits)
        assert code(graph) == normal(text, graph)
        apply_all(graph, inverses)
        assert records(graph) == before
        apply_all(graph, edits)
    assert read > 3


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_text_that_nobody_edited_changes_nothing(path: Path) -> None:
    graph = load(path)
    assert merge(graph, code(graph)) == ()


def test_what_is_spelled_otherwise_but_means_the_same_changes_nothing() -> None:
    graph = read_python(PROGRAM).graph
    assert merge(graph, PROGRAM.replace("x**2 + 1", "(x ** 2)+1")) == ()


def test_a_changed_number_is_one_edit_of_one_node() -> None:
    graph = read_python(PROGRAM).graph
    (edit,) = merge(graph, PROGRAM.replace("+ 1", "+ 5"))
    assert isinstance(edit, ReplaceNode) and edit.node.id == called(graph, "y")


def test_lines_that_move_keep_their_nodes_and_places() -> None:
    graph = read_python(PROGRAM).graph
    places, ids = dict(graph.places), set(graph.nodes)
    apply_all(graph, merge(graph, PROGRAM.replace("import torch\n", "import torch\n\na = torch.zeros(3)\n")))
    assert ids < set(graph.nodes) and {key: graph.places[key] for key in places} == places
    assert called(graph, "a") in graph.places


def test_another_operator_under_the_same_name_stands_where_the_first_stood() -> None:
    graph = read_python(PROGRAM).graph
    item, place = called(graph, "z"), graph.places[called(graph, "z")]
    apply_all(graph, merge(graph, PROGRAM.replace("torch.relu(y)", "torch.tanh(y)")))
    assert graph.nodes[item].operator == "torch.tanh" and graph.places[item] == place


def test_a_name_that_is_given_another_one_everywhere_keeps_every_node() -> None:
    graph = read_python(PROGRAM).graph
    ids = set(graph.nodes)
    apply_all(graph, merge(graph, re.sub(r"\by\b", "hidden", PROGRAM)))
    assert set(graph.nodes) == ids and "hidden = x**2 + 1" in code(graph)


def test_notes_and_marks_stay_where_their_line_stays() -> None:
    graph = read_python(PROGRAM).graph
    change(graph, item=called(graph, "loss"), marks=("root",))
    apply_all(graph, merge(graph, PROGRAM.replace("z.sum()", "z.mean()")))
    loss = graph.nodes[called(graph, "loss")]
    assert (loss.marks, loss.note, loss.operator) == (("root",), "the loss", "torch.Tensor.mean")


SAID = """\
import torch

# what comes in

x = torch.ones(2, requires_grad=True)  # (2,)
with torch.no_grad():  # quiet
    y = x**2 + 1  # (2,)
# a comment that is longer than what is left of the line behind the statement below it
z = torch.relu(y)
"""


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("requires_grad=True)  # (2,)", "requires_grad=True)  # two ones", "x"),
        ("requires_grad=True)  # (2,)", "requires_grad=True)", "x"),
        ("relu(y)", "relu(y)  # (2,)", "z"),
        ("+ 1  # (2,)", "+ 3  # (2,)", "y"),
        ("# what comes in\n\n", "# what comes in\n", "x"),
    ],
)
def test_a_comment_that_is_edited_changes_its_statement_alone(old: str, new: str, name: str) -> None:
    graph = read_python(SAID).graph
    assert code(graph) == SAID
    edits = merge(graph, SAID.replace(old, new))
    assert {edit.node.id for edit in edits if isinstance(edit, ReplaceNode)} <= {
        item for item in graph.nodes if item == called(graph, name) or graph.nodes[item].nested
    }
    assert all(isinstance(edit, ReplaceNode) for edit in edits)
    inverses = apply_all(graph, edits)
    assert code(graph) == SAID.replace(old, new)
    apply_all(graph, inverses)
    assert code(graph) == SAID


def test_a_comment_that_has_no_room_beside_its_statement_stays_its_own() -> None:
    graph = read_python(SAID).graph
    long = "a comment that is longer than what is left of the line behind the statement below it"
    change(graph, item=called(graph, "z"), note="", beside=long)
    assert code(graph) == SAID
    apply_all(graph, merge(graph, SAID.replace("+ 1", "+ 2")))
    assert graph.nodes[called(graph, "z")].beside == long


def test_a_comment_behind_a_head_is_edited() -> None:
    graph = read_python(SAID).graph
    edits = merge(graph, SAID.replace("# quiet", "# no gradients here"))
    apply_all(graph, edits)
    assert [block.beside for block in graph.blocks.values()] == ["no gradients here"]
    assert len(edits) == 1


def test_a_muted_node_stays_though_no_text_shows_it() -> None:
    graph = read_python(PROGRAM.replace("loss.backward()", "extra = z * 3\nloss.backward()")).graph
    extra = called(graph, "extra")
    change(graph, item=extra, muted=True)
    wires = graph.wires_to(extra)
    apply_all(graph, merge(graph, code(graph).replace("+ 1", "+ 2")))
    assert graph.nodes[extra].muted and graph.wires_to(extra) == wires
    order = graph.bodies[graph.parents[extra]]
    assert order.index(extra) == order.index(called(graph, "loss")) + 1


def incomplete() -> tuple[Graph, ItemId]:
    graph = read_python(PROGRAM.replace("loss.backward()", "w = torch.matmul(z, z)\nloss.backward()")).graph
    item = called(graph, "w")
    for wire in [wire for wire in graph.wires_to(item) if wire.port == "other"]:
        del graph.wires[wire.target, wire.port], graph.incoming[item][wire], graph.outgoing[wire.source][wire]
    change(graph, item=item, note="to do")
    return graph, item


def test_a_node_that_cannot_run_stays_while_its_comment_does() -> None:
    graph, item = incomplete()
    before = graph.nodes[item]
    apply_all(graph, merge(graph, code(graph).replace("+ 1", "+ 2")))
    assert graph.nodes[item] == before
    assert "# w = torch.matmul(z" in code(graph)
    assert all("matmul" not in node.note for node in graph.nodes.values())


def test_it_goes_with_its_comment_and_comes_to_life_under_its_name() -> None:
    graph, item = incomplete()
    lines = code(graph).split("\n")
    k = next(k for k, line in enumerate(lines) if line.startswith("# w ="))
    gone = "\n".join([*lines[:k], *lines[k + 1 :]])
    draft = graph.copy()
    apply_all(draft, merge(draft, gone))
    assert item not in draft
    apply_all(graph, merge(graph, "\n".join([*lines[:k], "w = torch.matmul(z, y)", *lines[k + 1 :]])))
    assert graph.nodes[item].names == ("w",) and len(graph.wires_to(item)) == 2


def test_a_bypassed_node_stays_bypassed_and_takes_what_the_text_says() -> None:
    graph = read_python(PROGRAM).graph
    item = called(graph, "z")
    change(graph, item=item, bypassed=True)
    assert "z = y" in code(graph)
    apply_all(graph, merge(graph, code(graph).replace("z.sum()", "z.mean()")))
    assert graph.nodes[item].bypassed and graph.nodes[item].operator == "torch.relu"
    assert code(graph) == normal(PROGRAM.replace("torch.relu(y)", "y").replace("z.sum()", "z.mean()"))


def test_a_block_drawn_around_lines_takes_their_nodes_in() -> None:
    graph = read_python(PROGRAM).graph
    y, place = called(graph, "y"), graph.places[called(graph, "y")]
    wrapped = PROGRAM.replace("y = x**2 + 1", "with torch.no_grad():\n    y = x**2 + 1")
    apply_all(graph, merge(graph, wrapped.replace("loss.backward()\n", "")))
    (block,) = graph.blocks
    assert graph.parents[y] == BodyId(block) and graph.places[y] == place
    apply_all(graph, merge(graph, PROGRAM))
    assert not graph.blocks and graph.places[y] == place


def test_what_cannot_be_read_is_refused_with_its_line_and_changes_nothing() -> None:
    graph = read_python(PROGRAM).graph
    before = records(graph.copy())
    with pytest.raises(NotReadable) as refusal:
        merge(graph, PROGRAM.replace("z = torch.relu(y)", "z = {v for v in y}"))
    assert refusal.value.line == 5 and records(graph) == before


LOOP = "for i, (a, b) in enumerate([(1, 2), (3, 4)]):\n    c = a + b\n    print(i, c)\n"


def test_what_a_loop_binds_at_its_head_stays_when_its_body_is_edited() -> None:
    graph = read_script(LOOP).graph
    before = dict(graph.nodes)
    apply_all(graph, merge(graph, LOOP.replace("a + b", "a - b")))
    assert code(graph) == LOOP.replace("a + b", "a - b")
    changed = [item for item in before if graph.nodes.get(item) != before[item]]
    assert [before[item].operator for item in changed] == ["operator.add"]


@pytest.mark.parametrize("head", ["for i, (a, d) in", "for a, b in", "for _, (a, b) in", "for element in"])
def test_another_target_of_a_loop_is_an_edit(head: str) -> None:
    graph = read_script(LOOP).graph
    block = next(iter(graph.blocks))
    text = LOOP.replace("for i, (a, b) in", head).replace("print(i, c)", "print(c)").replace("a + b", "1 + 2")
    apply_all(graph, merge(graph, text))
    assert (code(graph), next(iter(graph.blocks))) == (text, block)
