"""Programs made from a grammar: augmented assignments to attributes, items and calls of them."""

import random

PREAMBLE = """\
import torch
from torch import nn


def same(t):
    return t


def pick(tensors, k):
    return tensors[k]


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.arange(6.0).reshape(3, 2))
        self.register_buffer("centre", torch.ones(3, 2))
        self.fc = nn.Linear(2, 3)
        self.scale = 0.5

    def halved(self, t):
        u = t * 0.5
        return u + self.centre

    def forward(self, t):
        self.centre[0] += 1.0
        self.centre[self.centre > 1.0] *= self.halved(t)[0, 0].item()
        self.centre.data[1:] -= self.fc.weight.detach()[1:, :2] * 0.1
        return (t * self.weight).sum() + self.fc(t).sum() * self.scale


torch.manual_seed(0)
cell = Cell()
net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2))
tensors = [torch.ones(3, 2), torch.full((3, 2), 2.0)]
numbers = [1.0, 2.0, 3.0]
x = torch.linspace(-1.0, 1.0, 6).reshape(3, 2)
x.requires_grad_(True)
seen = x.detach()
k = 0
loss = cell(x) + net(x).sum()
loss.backward()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""
_ROOTS = (
    "x",
    "seen",
    "cell.weight",
    "cell.centre",
    "net[0].weight",
    "net[k].weight",
    "cell.fc.weight",
    "tensors[k + 1]",
    "tensors[0]",
    "pick(tensors, 1)",
    "pick(tensors, k)",
    "same(x)",
    "same(cell.weight)",
    "net[2].weight.t()",
)
_LEAVES = ("x", "cell.weight", "net[0].weight", "same(cell.weight)", "cell.fc.weight", "net[k].weight")
_INDICES = ("0", "k", "k + 1", ":, 1", "1:, k", "-1", "[0, 2]", "1:", "..., 0")
_STEPS = (".data", ".detach()", ".view(-1)[:4]", ".T", "[:2]", "[1:]")
_OPERATORS = ("+=", "-=", "*=", "/=", "**=")
_NUMBERS = ("cell.scale", "numbers[k]", "numbers[k + 1]", "numbers[-1]", 'optimizer.param_groups[0]["lr"]')


def _tensor(draw: random.Random, depth: int = 2) -> str:
    text = draw.choice(_ROOTS)
    if draw.random() < 0.3:
        text = draw.choice(_LEAVES) + ".grad"
    for _ in range(draw.randrange(depth)):
        text += draw.choice(_STEPS)
    return text


def _target(draw: random.Random) -> str:
    text = _tensor(draw)
    match draw.randrange(4):
        case 0:
            return text + ".data"
        case 1:
            return f"{text}[{text} > {draw.choice(('0.5', 'x.max()', 'k'))}]"
        case 2:
            return draw.choice(_LEAVES) + draw.choice((".grad", ".grad.data", ".data"))
        case _:
            return f"{text}[{draw.choice(_INDICES)}]"


def _amount(draw: random.Random) -> str:
    simple = draw.choice(("0.5", "2", "cell.scale", "numbers[k]", "(k + 1.5)"))
    match draw.randrange(6):
        case 0:
            return simple
        case 4:
            return f"cell.halved({draw.choice(('seen', 'x', 'tensors[k]'))}).mean()"
        case 5:
            return " - ".join([simple] * 45)
        case 1:
            return f"{simple} * {_tensor(draw)}.mean()"
        case 2:
            return f"{_tensor(draw, 1)}.sum().item() - {simple}"
        case _:
            return f"{_tensor(draw)}.flatten()[k]"


def _factor(draw: random.Random) -> str:
    return draw.choice(
        ("2.0", "k + 1.5", "cell.scale", "cell.halved(seen)[0, k].item()", " - ".join(["cell.scale"] * 45))
    )


def _statement(draw: random.Random) -> str:
    if draw.random() < 0.2:
        return f"{draw.choice(_NUMBERS)} {draw.choice(_OPERATORS)} {_factor(draw)}"
    return f"{_target(draw)} {draw.choice(_OPERATORS)} {_amount(draw)}"


def _block(draw: random.Random) -> str:
    head = draw.choice(("with torch.no_grad():", "for k in range(2):\n    with torch.no_grad():", ""))
    indent = " " * (8 if head.startswith("for") else 4 if head else 0)
    body = [f"{indent}{_statement(draw)}" for _ in range(draw.randrange(1, 4))]
    return "\n".join([head, *body] if head else body)


def program(seed: int) -> str:
    """A program of a few blocks of augmented assignments, with a second forward and backward behind them."""
    draw = random.Random(seed)
    blocks = [_block(draw) for _ in range(draw.randrange(1, 4))]
    return PREAMBLE + "\n".join(blocks) + "\nagain = cell(x) * net(x).mean()\nagain.backward()\n"
