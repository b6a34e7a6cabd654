"""A graph compiled after every edit is what it is compiled from nothing: nothing that was kept is out of date."""

import random
from pathlib import Path

import msgspec
import pytest

from gradstudio.document import file
from gradstudio.document.python.merge_edits import merge
from gradstudio.document.python.python_document import read_python
from gradstudio.graph import slices
from gradstudio.graph.analysis import program_analysis
from gradstudio.graph.edits import (
    AddBlock,
    AddNode,
    AddWire,
    Edit,
    MoveItem,
    RemoveNode,
    RemoveWire,
    ReplaceBlock,
    ReplaceNode,
    SetHeader,
    apply,
    apply_all,
)
from gradstudio.graph.errors import EditError
from gradstudio.graph.model import ROOT, Block, BodyId, Graph, Header, ItemId, Node, Wire
from gradstudio.program.compile import compile_graph, program_slices
from gradstudio.program.write import write

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.gsg"))
EDITS = 40
LITERALS = ("1", "2", "0.5", "-3", "True", "False", "(2, 3)", "'weight'", "torch.float64", "device", "nonsense(", "")
LONG = "(" + ", ".join(["100000"] * 15) + ")"
OPERATORS = ("torch.randn", "operator.add", "operator.iadd", "torch.relu", "torch.nn.Linear", "no.such", "python.call")
NAMES = ((), (), ("x",), ("h",), ("loss",), ("_", "y"), ("a_rather_long_name_for_something_that_is_so_small",))


class Hand:
    """Somebody who edits a program without looking."""

    def __init__(self, graph: Graph, seed: int) -> None:
        self.graph, self.chance, self.made = graph, random.Random(seed), 0

    def edit(self) -> Edit:
        """Any edit; mostly of a literal, as people make most of them."""
        kinds = (self.turn, self.turn, self.change, self.rename, self.wire, self.unwire, self.add, self.remove)
        return self.chance.choice((*kinds, self.move, self.head, self.head, self.enclose))()

    def node(self) -> Node:
        return self.chance.choice(list(self.graph.nodes.values()))

    def turn(self) -> Edit:
        """Other words in a literal that is there, or in the head of a block."""
        blocks = [block for block in self.graph.blocks.values() if block.literals]
        owner: Node | Block = self.chance.choice(blocks) if blocks and self.chance.random() < 0.2 else self.node()
        ports = sorted(owner.literals) or ["a"]
        text = self.chance.choice((*LITERALS, LONG))
        literals = {**owner.literals, self.chance.choice(ports): text}
        made = msgspec.structs.replace(owner, literals={name: text for name, text in literals.items() if text})
        return ReplaceNode(made) if isinstance(made, Node) else ReplaceBlock(made)

    def change(self) -> Edit:
        flag = self.chance.choice(
            ("nested", "muted", "bypassed", "blank_before", "note", "beside", "operator", "marks")
        )
        node = self.node()
        others = {
            "note": "said of it",
            "beside": self.chance.choice(("(2,)", "said of it " * 6)),
            "operator": self.chance.choice(OPERATORS),
            "marks": ("root",),
        }
        value = others.get(flag, not getattr(node, flag))
        return ReplaceNode(msgspec.structs.replace(node, **{flag: value}))

    def rename(self) -> Edit:
        node = self.node()
        self.made += 1
        names = tuple(f"fresh{self.made}_{k}" for k in range(len(node.names)))
        return ReplaceNode(msgspec.structs.replace(node, names=self.chance.choice((*NAMES, names, names, names))))

    def wire(self) -> Edit:
        target = self.node()
        port = self.chance.choice(("a", "b", "input", "module", "inputs.0", "self", *target.literals))
        return AddWire(Wire(self.node().id, self.chance.choice((0, 0, 0, 1)), target.id, port))

    def unwire(self) -> Edit:
        wires = list(self.graph.wires.values())
        return RemoveWire(self.chance.choice(wires)) if wires else self.add()

    def place(self) -> tuple[BodyId, int]:
        body = self.chance.choice(list(self.graph.bodies))
        return body, self.chance.randrange(len(self.graph.bodies[body]) + 1)

    def fresh(self) -> ItemId:
        self.made += 1
        return ItemId(f"made{self.made}")

    def add(self) -> Edit:
        names, operator = self.chance.choice(NAMES), self.chance.choice(OPERATORS)
        return AddNode(Node(id=self.fresh(), operator=operator, names=names, literals={"a": "1"}), *self.place())

    def remove(self) -> Edit:
        return RemoveNode(self.node().id)

    def move(self) -> Edit:
        return MoveItem(self.node().id, *self.place())

    def head(self) -> Edit:
        seed, device = self.chance.choice((None, 0, 7)), self.chance.choice(("cpu", "cpu", "auto", "cuda:0"))
        return SetHeader(Header(seed=seed, device=device))

    def enclose(self) -> Edit:
        return AddBlock(Block(id=self.fresh(), kind=self.chance.choice(("no_grad", "group"))), *self.place())


def check(graph: Graph, what: object) -> None:
    """What is known of the graph is what is known of its twin, of which nothing was kept."""
    twin = graph.copy()
    assert program_analysis.repeated(graph) == program_analysis.repeated(twin), what
    assert program_analysis.may_require_grad(graph) == program_analysis.may_require_grad(twin), what
    assert program_analysis.incomplete(graph) == program_analysis.incomplete(twin), what
    assert program_analysis.addresses(graph) == program_analysis.addresses(twin), what
    assert program_analysis.nested_now(graph) == program_analysis.nested_now(twin), what
    assert program_analysis.root(graph) == program_analysis.root(twin), what
    assert compile_graph(graph) == compile_graph(twin), what
    assert write(graph).lines == write(twin).lines, what


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem[:2])
def test_after_any_edits_a_graph_compiles_as_from_nothing(path: Path) -> None:
    for seed in range(3):
        graph = file.load(path)
        hand, inverses = Hand(graph, seed), list[Edit]()
        check(graph, path)
        for number in range(EDITS):
            edit = hand.edit()
            try:
                inverses.append(apply(graph, edit))
            except EditError:
                continue
            check(graph, (path, seed, number, edit))
        for inverse in reversed(inverses):
            apply(graph, inverse)
        check(graph, (path, seed, "undone"))


@pytest.mark.parametrize("kind", ["any", "builder", "writer"])
@pytest.mark.parametrize("path", EXAMPLES[:12], ids=lambda path: path.stem[:2])
def test_what_is_given_up_half_way_leaves_nothing_that_is_out_of_date(
    path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "AT_ONCE", 2)
    graph = file.load(path)
    hands: dict[str, type[Hand]] = {"any": Hand, "builder": Builder, "writer": Writer}
    hand, inverses = hands[kind](graph, 5), list[Edit]()
    for number in range(EDITS):
        edit = hand.edit()
        if inverses and hand.chance.random() < 0.2:
            edit = inverses.pop()  # back to what was compiled, or given up
        try:
            inverse = apply(graph, edit)
        except EditError:
            continue
        inverses.append(inverse)
        compiled = program_slices(graph)
        for _ in zip(range(hand.chance.choice((0, 1, 5, 10, 20, 1000))), compiled, strict=False):
            pass
        compiled.close()
        if hand.chance.random() < 0.4:
            check(graph, (path, kind, number, edit))


class Writer(Hand):
    """Somebody who mostly gives other names, numbers and comments, and now and then looks at the text."""

    def edit(self) -> Edit:
        if self.chance.random() < 0.25:
            return super().edit()
        return self.chance.choice((self.turn, self.say, self.name, self.name))()

    def name(self) -> Edit:
        node = self.node()
        self.made += 1
        names = tuple(f"fresh{self.made}_{k}" for k in range(len(node.names)))
        return ReplaceNode(msgspec.structs.replace(node, names=names))

    def say(self) -> Edit:
        return ReplaceNode(msgspec.structs.replace(self.node(), note=self.chance.choice(("", "a note"))))


class Builder(Hand):
    """Somebody who draws without blocks: nodes and wires come and go, names and flags change."""

    def edit(self) -> Edit:
        kinds = (self.turn, self.change, self.rename, self.wire, self.wire, self.unwire, self.add, self.remove)
        return self.chance.choice((*kinds, self.move))()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem[:2])
def test_what_nodes_and_wires_change_is_what_printing_all_gives(path: Path) -> None:
    for seed in range(4):
        graph = file.load(path)
        hand, inverses = Builder(graph, seed), list[Edit]()
        for number in range(EDITS):
            edit = hand.edit()
            try:
                inverses.append(apply(graph, edit))
            except EditError:
                continue
            if hand.chance.random() < 0.8:
                check(graph, (path, seed, number, edit))
        for inverse in reversed(inverses):
            apply(graph, inverse)
            if hand.chance.random() < 0.3:
                check(graph, (path, seed, "undone", inverse))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem[:2])
def test_what_is_printed_of_an_edit_alone_is_what_printing_all_gives(path: Path) -> None:
    graph = file.load(path)
    hand = Writer(graph, 1)
    for number in range(EDITS):
        edit = hand.edit()
        try:
            apply(graph, edit)
        except EditError:
            continue
        if hand.chance.random() < 0.7:
            twin = graph.copy()
            assert (write(graph).text, write(graph).spans) == (write(twin).text, write(twin).spans), (number, edit)
            assert compile_graph(graph) == compile_graph(twin), (number, edit)


def test_the_text_of_a_graph_is_written_once_until_it_is_edited() -> None:
    graph = file.load(EXAMPLES[0])
    script = write(graph)
    assert write(graph) is script and write(graph, stem="other") is not script
    script = write(graph)
    node = next(iter(graph.nodes.values()))
    apply(graph, ReplaceNode(msgspec.structs.replace(node, note="said")))
    assert write(graph) is not script and "# said" in write(graph).text


def test_a_name_that_nobody_can_take_for_another_changes_the_addresses_alone() -> None:
    graph = file.load(EXAMPLES[0])
    before = program_analysis.analyse(graph)
    kept = before.validity, before.gradients
    item = next(item for item, node in graph.nodes.items() if len(node.names) == 1)
    assert before.addresses[item] != "fresh"
    apply(graph, ReplaceNode(msgspec.structs.replace(graph.nodes[item], names=("fresh",))))
    after = program_analysis.analyse(graph)
    assert (after.validity, after.gradients) == kept and after.addresses[item] == "fresh"
    other = next(other for other, node in graph.nodes.items() if len(node.names) == 1 and other != item)
    apply(graph, ReplaceNode(msgspec.structs.replace(graph.nodes[other], names=("fresh",))))
    assert program_analysis.analyse(graph).validity is not after.validity


def test_a_turned_literal_keeps_the_structure_and_another_operator_does_not() -> None:
    graph = file.load(EXAMPLES[0])
    node = next(node for node in graph.nodes.values() if any(text.isdigit() for text in node.literals.values()))
    before = program_analysis.analyse(graph)
    assert before.root is not None
    turned = {port: "3" if text.isdigit() else text for port, text in node.literals.items()}
    apply(graph, ReplaceNode(msgspec.structs.replace(node, literals=turned)))
    assert program_analysis.analyse(graph).structure is before.structure
    assert program_analysis.analyse(graph).validity is before.validity
    apply(graph, ReplaceNode(msgspec.structs.replace(node, operator="operator.sub")))
    assert program_analysis.analyse(graph).structure is not before.structure


def test_a_literal_that_decides_on_gradients_is_noticed() -> None:
    graph = Graph()
    literals = {"size": "(2,)", "requires_grad": "True"}
    node = Node(id=ItemId("n1"), operator="torch.randn", names=("w",), literals=literals)
    apply(graph, AddNode(node, ROOT, 0))
    assert program_analysis.root(graph) == node.id
    apply(graph, ReplaceNode(msgspec.structs.replace(node, literals={**literals, "requires_grad": "False"})))
    assert program_analysis.root(graph) is None
    apply(graph, ReplaceNode(msgspec.structs.replace(node, literals={**literals, "size": "("})))
    assert program_analysis.incomplete(graph).keys() == {node.id}


def test_the_report_of_a_module_follows_who_holds_it_and_what_names_are_taken() -> None:
    graph = read_python(
        "import torch\nfrom torch import nn\n\nlayer = nn.Linear(4, 8)\nx = torch.randn(2, 4)\ny = layer(x)\n"
    ).graph
    for line in ("net = nn.Sequential(layer)", "name = torch.ones(2)", "z = net(x)"):
        check(graph, line)
        apply_all(graph, merge(graph, write(graph).code + line + "\n"))
        check(graph, line)
    report = write(graph).text.removeprefix(write(graph).code)
    assert "in net.named_parameters()" in report
    assert "layer.named_parameters()" not in report
    assert "for key, parameter in" in report
