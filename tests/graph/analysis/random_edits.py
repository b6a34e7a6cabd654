"""Programs that somebody edits at random: gestures and raw edits, undone and redone, so that much of it cannot run."""

import random

from gradstudio.document.python.python_document import read_python
from gradstudio.graph import recipes
from gradstudio.graph.edits import AddWire, Edits, MoveItem, RemoveWire, apply_all
from gradstudio.graph.errors import EditError, Refused
from gradstudio.graph.model import ROOT, Graph, Wire
from gradstudio.graph.recipes.fragments import duplicate
from gradstudio.graph.recipes.grouping.group_creation import make_group
from gradstudio.graph.rules import descendants_of

PROGRAM = """
import torch
from torch import nn

w = torch.tensor([1.0, 2.0], requires_grad=True)
x = torch.ones(2)
model = nn.Linear(2, 2)
h = model(x)
y = w * x + h
with torch.no_grad():
    z = y * 2
v = y.view(2)
v.mul_(2)
u = torch.relu(v)
s = u.sum()
for k in range(2):
    s = s + z.sum()
t = s.detach()
loss = s * 1.0
loss.backward()
w.requires_grad_(False)
a = w + t
a += 1
b = a.exp()
"""
CALM = """
import torch

w = torch.tensor([1.0, 2.0], requires_grad=True)
x = torch.ones(2)
y = w * x
z = y.view(2)
with torch.no_grad():
    d = y * 2
s = z.sum()
t = s.detach()
u = t * d
for k in range(2):
    e = u * k
loss = s * t
loss.backward()
"""
"""Nothing in it writes into memory."""
REBOUND = """
import torch

x = torch.randn(2, 3, requires_grad=True)
y = torch.relu(x)
x = torch.tanh(y)
z = x + y
x = x * 2.0
y = z - x
y.add_(x)
with torch.no_grad():
    x = y.abs()
    z = x + 1.0
z = z + x
x = torch.exp(z)
net = torch.nn.Linear(3, 2)
y = net(x)
loss = y.sum()
loss.backward()
"""
"""No loop, and names that mean one thing after another."""
OPERATORS = (
    "torch.randn", "operator.add", "torch.relu", "torch.Tensor.add_", "torch.nn.Linear", "torch.Tensor.detach",
    "torch.Tensor.requires_grad_", "python.alias", "torch.Tensor.view", "python.tuple", "operator.iadd",
)  # fmt: skip
PORTS = ("a", "b", "input", "other", "self", "value", "module", "inputs.0")
NAMES = ("x", "y", "z", "s", "loss", "r0", "r1", "r2", "r3")


def gesture(graph: Graph, chance: random.Random) -> Edits:
    """What somebody might do next."""
    nodes = list(graph.nodes)
    if len(nodes) < 8 or not graph.wires:
        return recipes.add_operator(graph, chance.choice(OPERATORS), 40.0, 50.0)[0]
    some, other = chance.choice(nodes), chance.choice(nodes)
    few = chance.sample(nodes, min(len(nodes), chance.randrange(1, 4)))
    match chance.randrange(16):
        case 0 | 1:
            return recipes.add_operator(graph, chance.choice(OPERATORS), 40.0, 50.0)[0]
        case 2 | 3:
            return recipes.connect(graph, some, 0, other, chance.choice(PORTS))
        case 4:
            return recipes.delete(graph, few if len(nodes) > 30 else [some])
        case 5:
            return recipes.rename(graph, some, (chance.choice(NAMES),))
        case 6:
            port, text = (
                chance.choice(("b", "size", "requires_grad", "other")),
                chance.choice(("2", "True", "oops", "")),
            )
            return recipes.set_literal(graph, some, port, text)
        case 7:
            return recipes.set_muted(graph, few, chance.random() < 0.5)
        case 8:
            return recipes.set_bypassed(graph, few, chance.random() < 0.5)
        case 9:
            return duplicate(graph, few)[0]
        case 10:
            return recipes.wrap(graph, few)
        case 11:
            return make_group(graph, few, chance.choice(("f", "g", "h")))
        case 12:
            body = chance.choice(list(graph.bodies))
            return (MoveItem(some, body, chance.randrange(len(graph.bodies[body]) + 1)),)
        case 13 if some != other and some not in descendants_of(graph, other):
            return (AddWire(Wire(some, 0, other, chance.choice(PORTS))),)
        case 14:
            return (RemoveWire(chance.choice(list(graph.wires.values()))),)
        case _:
            block = chance.choice([ROOT, *graph.blocks])
            return recipes.remove_block(graph, block) if block else recipes.delete(graph, [some])


class Edited:
    """A program and what was done to it."""

    def __init__(self, seed: int, program: str = PROGRAM) -> None:
        self.chance = random.Random(seed)
        self.graph = read_python(program).graph
        self._undos: list[Edits] = []
        self._redos: list[Edits] = []

    def edit(self) -> None:
        """The next gesture that is possible, an undo or a redo."""
        way = self.chance.random()
        if way < 0.2 and self._undos:
            self._redos.append(apply_all(self.graph, self._undos.pop()))
        elif way < 0.3 and self._redos:
            self._undos.append(apply_all(self.graph, self._redos.pop()))
        else:
            self._do()

    def _do(self) -> None:
        while True:
            try:
                self._undos.append(apply_all(self.graph, gesture(self.graph, self.chance)))
            except (Refused, EditError):
                continue
            self._redos.clear()
            return
