"""Iterators are used up by whoever reads them: inference finds in each what the run finds, also after an edit."""

import random
import re

import pytest
import torch
from torch import nn, optim
from torch.nn import functional

from gradstudio.engine.infer.shape_inference import Inference
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from tests.engine.build import node
from tests.engine.conftest import Bench
from tests.engine.infer.test_shape_inference import infer, stated

MODEL = "m = nn.Linear(3, 2)\n"
EDITED = {
    "an optimizer": (MODEL + "it = m.parameters()\no = optim.SGD(it, lr={})", ("0.1", "0.2", "0.3")),
    "written in one line": (MODEL + "o = optim.SGD(m.parameters(), lr={})", ("0.1", "0.2", "0.3")),
    "with names": (MODEL + "it = m.named_parameters()\no = optim.Adam(it, lr={})", ("0.1", "0.2")),
    "groups": (MODEL + "it = m.parameters()\ng = {{'params': it}}\nl = [g]\no = optim.SGD(l, lr={})", ("0.1", "0.2")),
    "a list of them": (MODEL + "it = m.parameters()\nps = list(it)\nw = ps[0]\ny = w * {}", ("2", "3")),
    "an item of a list": (MODEL + "it = m.parameters()\nps = list(it)\nw = ps[{}]", ("0", "1", "0")),
    "the first, and the second": (
        MODEL + "it = m.parameters()\na = next(it)\nb = next(it)\ny = a * {}\nz = b * 2",
        ("2", "3"),
    ),
    "modules": (MODEL + "s = nn.Sequential(m, nn.ReLU())\nit = s.children()\nc = nn.Sequential(*it)\n"
                "x = torch.randn({}, 3)\ny = c(x)", ("4", "5")),
    "buffers": ("m = nn.BatchNorm1d(3)\nit = m.buffers()\nb = next(it)\ny = b + {}", ("1", "2")),
    "pairs": ("a = [torch.ones(2), torch.ones(3)]\nz = zip(a, [1, 2])\nps = list(z)\np = ps[1]\ny = p[0] * {}",
              ("2", "3")),
    "numbered": ("a = [torch.ones(2), torch.ones(3)]\ne = enumerate(a)\nps = list(e)\np = ps[{}]\ny = p[1] * 2",
                 ("0", "1")),
    "reversed": ("a = [torch.ones(2), torch.ones(3)]\nz = reversed(a)\nps = list(z)\ny = ps[0] * {}", ("2", "3")),
    "clipped": (MODEL + "x = torch.randn(4, 3)\ny = m(x).sum()\ny.backward()\nit = m.parameters()\n"
                "n = torch.nn.utils.clip_grad_norm_(it, {})\nz = n * 2", ("1.0", "2.0")),
}  # fmt: skip


@pytest.mark.parametrize("name", EDITED)
def test_what_a_run_accepts_is_accepted_after_every_edit(bench: Bench, name: str) -> None:
    text, values = EDITED[name]
    inference = Inference()
    for value in values:
        told = infer(text.format(value), inference)
        assert not [port.refusal for port in told.values() if port.refusal], value
        assert stated(told) == stated(infer(text.format(value)))
    assert bench.run(text.format(values[-1])).outcome == "done"


SECOND = {
    "another optimizer": MODEL + "it = m.parameters()\no = optim.SGD(it, lr={})\np = optim.SGD(it, lr={})",
    "after a list": MODEL + "it = m.parameters()\nps = list(it)\nn = {} * {}\no = optim.SGD(it)",
    "under a second name": MODEL + "it = m.parameters()\nj = it\no = optim.SGD(j, lr={})\np = optim.SGD(it, lr={})",
}


@pytest.mark.parametrize("name", SECOND)
def test_a_second_reader_is_refused_as_in_the_run(bench: Bench, name: str) -> None:
    text, inference = SECOND[name], Inference()
    for values in (("0.1", "0.1"), ("0.2", "0.1"), ("0.2", "0.3")):
        told = infer(text.format(*values), inference)
        (refused,) = [port for port in told.values() if port.refusal]
        assert refused.refusal == "optimizer got an empty parameter list"
        assert refused.node == node(text.count("\n") + 1)
    bench.run(text.format("0.1", "0.2"))
    assert bench.failed().message == refused.refusal


def test_items_of_different_shapes_are_told_apart() -> None:
    told = infer(MODEL + "it = m.parameters()\na = next(it)\nb = next(it)\nc = a + 1\nd = b + 1")
    assert [told[node(line), 0].shape for line in (5, 6)] == [(2, 3), (2,)]


LAYERS = ("nn.Linear({w}, {w})", "nn.ReLU()", "nn.Dropout(0.{k})", "nn.LayerNorm({w})", "nn.Tanh()")
OPTIMIZERS = (
    "o = optim.{kind}(m.parameters(), lr=0.{k})",
    "it = m.named_parameters()\no = optim.{kind}(it, lr=0.{k})",
    "it = m.parameters()\nps = list(it)\no = optim.{kind}(ps, lr=0.{k})",
)
LOOP = """
for t in range(3):
    o.zero_grad()
    y = m(x)
    loss = F.mse_loss(y, u) * {k}
    loss.backward()
    n = torch.nn.utils.clip_grad_norm_(m.parameters(), {k}.0)
    o.step()
"""
NUMBERS = re.compile(r"(?<=[=( .])\d+(?=[,)\n]|$)")


def training(dice: random.Random) -> str:
    """A training program."""
    width, kind = dice.randint(1, 5), dice.choice(("SGD", "Adam", "AdamW"))
    layers = [f"l{n} = {dice.choice(LAYERS).format(w=width, k=dice.randint(1, 9))}" for n in range(dice.randint(1, 3))]
    model = f"l9 = nn.Linear({width}, 2)\nm = nn.Sequential({', '.join(f'l{n}' for n in range(len(layers)))}, l9)"
    data = f"x = torch.randn(4, {width})\nu = torch.randn(4, 2)"
    made = dice.choice(OPTIMIZERS).format(kind=kind, k=dice.randint(1, 9))
    return "\n".join((*layers, model, data, made)) + LOOP.format(k=dice.randint(1, 9))


def edited(text: str, dice: random.Random) -> str:
    """One of its numbers made another."""
    place = dice.choice(list(NUMBERS.finditer(text)))
    return f"{text[: place.start()]}{dice.randint(1, 6)}{text[place.end() :]}"


# Slow: some forty programs a seed, each of them inferred, and run where it can be.
@pytest.mark.filterwarnings("ignore:Using a target size:UserWarning")
@pytest.mark.parametrize("seed", range(10))
def test_of_edited_training_programs_none_that_runs_is_refused(seed: int) -> None:
    """Edits follow one another; those that torch refuses are taken back."""
    dice, inference, accepted = random.Random(seed), Inference(), 0
    text = training(dice)
    for _ in range(30):
        changed = edited(text, dice)
        compiled = compile_graph(read_script(changed, pasted=True).graph)
        refused = [port.refusal for port in infer(compiled, inference).values() if port.refusal]
        try:
            exec(changed, {"torch": torch, "nn": nn, "optim": optim, "F": functional})
        except (RuntimeError, ValueError, IndexError):
            continue
        assert not refused, (changed, refused)
        text, accepted = changed, accepted + 1
    assert accepted > 5


UNSURE = {
    "read by a loop": "for p in it:\n    q = p * 2\no = optim.SGD(it)",
    "read within a loop": "for t in range(2):\n    ps = list(it)\no = optim.SGD(it)",
    "read under a condition": "x = torch.randn(())\nif x > 0:\n    ps = list(it)\no = optim.SGD(it)",
    "read by another iterator": "z = zip(it, it)\no = optim.SGD(it)",
    "counted by another iterator": "z = enumerate(it)\na = next(z)\nb = next(it)",
    "printed": "print(list(it))\no = optim.SGD(it)",
    "without an end": "i = itertools.count()\nz = zip(i, it)\no = optim.SGD(it)",
}


@pytest.mark.parametrize("name", UNSURE)
def test_nothing_is_said_where_only_a_run_tells_how_far_was_read(name: str) -> None:
    text = MODEL + "it = m.parameters()\n" + UNSURE[name]
    assert infer(text)[node(text.count("\n") + 1), 0].known_after_run
