"""Whatever a person draws can be written: no gesture leaves a text that would mean something else."""

import ast
import random
from collections.abc import Callable

import pytest

from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits, apply_all
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.ports.item_ports import input_ports, output_ports
from gradstudio.operators.catalogue.loader import load
from gradstudio.program.compile import compile_graph
from tests.program.sketch import formatted

KEYS = (
    "torch.tensor", "torch.randn", "operator.add", "operator.mul", "operator.iadd", "operator.setitem", "torch.cat",
    "torch.Tensor.add_", "torch.Tensor.backward", "torch.Tensor.topk", "torch.nn.Linear",
    "torch.nn.functional.mse_loss",
    "python.literal", "python.tuple", "builtins.print", "operator.getitem", "torch.Tensor.grad", "torch.optim.SGD",
)  # fmt: skip
PARTS = 10
NEVER = ("means another statement", "before that is made", "outside what exists", "no argument '", "one name twice")


class Hand:
    """Gestures at random, as a person might make them; what is refused changes nothing."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.graph = Graph()

    def gesture(self) -> None:
        makers: list[Callable[[], Edits]] = [
            self.add, self.add, self.add, self.connect, self.connect, self.connect, self.connect, self.rename,
            self.wrap, self.unwrap, self.shift, self.delete, self.duplicate_name, self.literal, self.insert,
        ]  # fmt: skip
        try:
            apply_all(self.graph, self.random.choice(makers)())
        except Refused:
            pass

    def item(self) -> ItemId:
        if not self.graph.nodes:
            raise Refused("nothing there")
        return self.random.choice(list(self.graph.nodes))

    def add(self) -> Edits:
        return recipes.add_operator(self.graph, self.random.choice(KEYS), 0, 0)[0]

    def connect(self) -> Edits:
        source, target = self.item(), self.item()
        outputs, ports = output_ports(self.graph, source), input_ports(self.graph, target)
        if not outputs or not ports:
            raise Refused("no ports")
        port = self.random.choice(ports).path
        return recipes.connect(self.graph, source, self.random.randrange(len(outputs)), target, port)

    def rename(self) -> Edits:
        item = self.item()
        count = len(self.graph.nodes[item].names)
        names = tuple(self.random.sample(["x", "y", "h", "w"], count)) if count < 4 else ()
        return recipes.rename(self.graph, item, names)

    def duplicate_name(self) -> Edits:
        one, two = self.graph.nodes[self.item()], self.item()
        return recipes.rename(self.graph, two, one.names)

    def wrap(self) -> Edits:
        return recipes.wrap(self.graph, [self.item(), self.item()], self.random.choice(["no_grad", "group"]))

    def unwrap(self) -> Edits:
        if not self.graph.blocks:
            raise Refused("no block")
        return recipes.unwrap(self.graph, self.random.choice(list(self.graph.blocks)))

    def shift(self) -> Edits:
        return self.random.choice([recipes.move_earlier, recipes.move_later])(self.graph, self.item())

    def delete(self) -> Edits:
        return recipes.delete(self.graph, [self.item()])

    def literal(self) -> Edits:
        item = self.item()
        ports = input_ports(self.graph, item)
        if not ports:
            raise Refused("no ports")
        return recipes.set_literal(
            self.graph, item, self.random.choice(ports).path, self.random.choice(["1", "2.5", ""])
        )

    def insert(self) -> Edits:
        if not self.graph.wires:
            raise Refused("no wire")
        wire = self.random.choice(list(self.graph.wires.values()))
        return recipes.insert_on_wire(self.graph, wire, self.random.choice(["torch.relu", "operator.add"]), 0, 0)[0]


@pytest.mark.parametrize("seed", range(12))
def test_no_gesture_leaves_a_text_that_would_mean_something_else(seed: int) -> None:
    hand = Hand(seed)
    for _ in range(60):
        hand.gesture()
        program = compile_graph(hand.graph)
        wrong = [item.reason for item in program.incomplete if any(text in item.reason for text in NEVER)]
        assert not wrong, program.script
        ast.parse(program.script)
    assert formatted(program.script) == program.script


@pytest.mark.parametrize("part", range(PARTS))
def test_every_operator_as_it_is_dropped_can_be_written(part: int) -> None:
    graph = Graph()
    for operator in list(load())[part::PARTS]:
        apply_all(graph, recipes.add_operator(graph, operator.key, 0, 0)[0])
    program = compile_graph(graph)
    ast.parse(program.script)
    assert formatted(program.script) == program.script
    allowed = ("is empty", "must be wired", "cannot run", "no stored tensor", "nothing is wired")
    assert [item for item in program.incomplete if not any(text in item.reason for text in allowed)] == []
