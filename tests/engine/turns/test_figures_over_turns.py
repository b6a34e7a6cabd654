"""Figures over the turns of a loop are what torch gives by hand at the end of each turn."""

import struct
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn, optim

from gradstudio.engine.turns import sampled_loop
from gradstudio.protocol.curve_titles import curve_title, is_share
from gradstudio.protocol.messages.progress import CurveKey, Figure, Turned
from gradstudio.protocol.messages.requests import Do
from tests.engine.build import node
from tests.engine.conftest import Bench

TEXT = """
x = torch.linspace(-1, 1, 24).reshape(8, 3)
torch.manual_seed(3)
fc = nn.Linear(3, 5)
w = torch.zeros(5, requires_grad=True)
opt = optim.SGD([fc.weight, w], lr=0.25)
for k in range(9):
    h = F.relu(fc(x))
    loss = (h - 0.5).square().mean() + (w - 1).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
FC, W, HIDDEN, OPT_STEP = 3, 4, 7, 11
LOSS = CurveKey(node=node(8))
ZEROS = CurveKey(node=node(HIDDEN), figure="zeros")
OF_GRADIENT = CurveKey(node=node(FC), path="weight", figure="zeros", grad=True)
OF_WEIGHT = CurveKey(node=node(FC), path="weight", figure="update")
OF_TENSOR = CurveKey(node=node(W), figure="update")


def by_hand() -> dict[CurveKey, list[float]]:
    x = torch.linspace(-1, 1, 24).reshape(8, 3)
    torch.manual_seed(3)
    fc, w = nn.Linear(3, 5), torch.zeros(5, requires_grad=True)
    opt = optim.SGD([fc.weight, w], lr=0.25)
    found: dict[CurveKey, list[float]] = {key: [] for key in (ZEROS, OF_GRADIENT, OF_WEIGHT, OF_TENSOR, LOSS)}
    for k in range(9):
        before = fc.weight.detach().clone(), w.detach().clone()
        h = torch.relu(fc(x))
        loss = (h - 0.5).square().mean() + (w - 1).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        assert fc.weight.grad is not None
        found[LOSS].append(loss.item())
        found[ZEROS].append((h == 0).float().mean().item())
        found[OF_GRADIENT].append((fc.weight.grad == 0).float().mean().item())
        if k:  # of the first turn nobody has seen what was before
            for key, leaf, was in ((OF_WEIGHT, fc.weight, before[0]), (OF_TENSOR, w, before[1])):
                found[key].append(((leaf.detach() - was).norm() / was.norm()).item())
    return found


@pytest.mark.parametrize("whole", [64, 1], ids=["recorded whole", "by sample"])
def test_zeros_and_updates_are_those_of_torch(bench: Bench, monkeypatch: pytest.MonkeyPatch, whole: int) -> None:
    monkeypatch.setattr(sampled_loop, "WHOLE", whole)
    hand = by_hand()
    bench.load(TEXT)
    bench.events.clear()
    assert bench.engine.do(Do(verb="run", samples_turns=True, curves=tuple(hand))).outcome == "done"
    told: dict[CurveKey, list[float]] = {key: [] for key in hand}
    for event in bench.events:
        for curve in event.curves if isinstance(event, Turned) else ():
            if curve.key in told:
                told[curve.key] += struct.unpack(f"<{len(curve.data) // 8}d", curve.data)
    assert told[ZEROS] == hand[ZEROS] and any(0 < share < 1 for share in hand[ZEROS])
    assert told[OF_GRADIENT] == hand[OF_GRADIENT]
    assert told[LOSS] == hand[LOSS], "what comes by itself is told once where it is asked for, too"
    for key in (OF_WEIGHT, OF_TENSOR):
        first, *others = told[key]
        assert first != first and others == hand[key]


def test_an_update_that_is_looked_at_again_begins_anew(bench: Bench) -> None:
    """What the leaf was when it was looked at before is many turns ago, and is not held either."""
    bench.load(TEXT)
    told: list[float] = []
    for curves in ((OF_TENSOR,), (), (OF_TENSOR,)):
        bench.events.clear()
        for _ in range(2):
            bench.engine.do(Do(verb="run", until=node(OPT_STEP), samples_turns=True, curves=curves))
        told = [
            number
            for event in bench.events
            for curve in (event.curves if isinstance(event, Turned) else ())
            if curve.key == OF_TENSOR
            for number in struct.unpack(f"<{len(curve.data) // 8}d", curve.data)
        ]
    assert told and told[0] != told[0]


def test_a_share_of_zeros_stands_on_the_axis_of_shares_and_an_update_does_not() -> None:
    assert is_share(curve_title("h", ZEROS))
    assert curve_title("fc", OF_WEIGHT) == "update-to-weight ratio of fc.weight"
    assert not is_share(curve_title("fc", OF_WEIGHT))


OF_VALUES = """
x = torch.linspace(-1, 1, 24).reshape(8, 3)
torch.manual_seed(3)
fc = nn.Linear(3, 5)
opt = optim.SGD(fc.parameters(), lr=0.25)
for epoch in range(3):
    for k in range(4):
        h = F.relu(fc(x))
        opt.zero_grad()
        part = h.square().mean()
        part.backward(retain_graph=True)
        loss = (h - 0.5).abs().mean()
        loss.backward()
        opt.step()
"""
BATCHES, OF_VALUE = 6, 7


@pytest.mark.parametrize("whole", [64, 1], ids=["recorded whole", "by sample"])
def test_gradients_of_values_are_what_retain_grad_leaves(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, whole: int
) -> None:
    """Of a value behind two backwards, in a loop inside a loop; what is learnt is the same to the last bit."""
    monkeypatch.setattr(sampled_loop, "WHOLE", whole)
    by_torch: dict[Figure, Callable[[torch.Tensor], torch.Tensor]] = {
        "mean": lambda grad: grad.mean(),
        "rms": lambda grad: grad.square().mean().sqrt(),
        "norm": lambda grad: grad.norm(),
        "max": lambda grad: grad.abs().max(),
        "zeros": lambda grad: (grad == 0).float().mean(),
    }
    names: dict[str, Any] = {"torch": torch, "nn": nn, "optim": optim, "F": nn.functional, "found": []}
    retained = OF_VALUES.replace("        opt.zero_grad()", "        h.retain_grad()\n        opt.zero_grad()")
    exec(f"{retained}        found.append(h.grad.clone())\n", names)
    bench.load(OF_VALUES)
    wanted = tuple(CurveKey(node=node(OF_VALUE), figure=figure, grad=True) for figure in by_torch)
    bench.events.clear()
    assert bench.engine.do(Do(verb="run", samples_turns=True, curves=wanted)).outcome == "done"
    of_batches = [event for event in bench.events if isinstance(event, Turned) and event.loop == node(BATCHES)]
    for key in wanted:
        curves = [curve for event in of_batches for curve in event.curves if curve.key == key]
        told = [number for curve in curves for number in struct.unpack(f"<{len(curve.data) // 8}d", curve.data)]
        assert told == [by_torch[key.figure](grad).item() for grad in names["found"]]
    fc, h = bench["fc"], bench["h"]
    assert isinstance(fc, nn.Linear) and torch.equal(fc.weight, names["fc"].weight)
    assert isinstance(h, torch.Tensor) and not h.retains_grad


SCHEDULED = """
x = torch.ones(4, 3)
fc = nn.Linear(3, 2)
opt = optim.SGD([{"params": [fc.weight], "lr": 0.5}, {"params": [fc.bias], "lr": 0.25}])
plan = optim.lr_scheduler.ExponentialLR(opt, 0.5)
for k in range(4):
    opt.zero_grad()
    loss = fc(x).mean()
    loss.backward()
    opt.step()
    plan.step()
"""


def test_the_learning_rate_of_each_group_is_the_optimizers(bench: Bench) -> None:
    bench.load(SCHEDULED)
    keys = [CurveKey(node=node(3), path=path, figure="rate") for path in ("", "param_groups[1]", "param_groups[2]")]
    assert bench.engine.do(Do(verb="run", samples_turns=True, curves=tuple(keys))).outcome == "done"
    told: dict[CurveKey, list[float]] = {key: [] for key in keys}
    for event in bench.events:
        for curve in event.curves if isinstance(event, Turned) else ():
            if curve.key in told:
                told[curve.key] += struct.unpack(f"<{len(curve.data) // 8}d", curve.data)
    one = optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.5)
    plan, rates = optim.lr_scheduler.ExponentialLR(one, 0.5), []
    for _ in range(4):
        one.step()
        plan.step()
        rates.append(one.param_groups[0]["lr"])
    assert told[keys[0]] == rates and told[keys[1]] == [rate / 2 for rate in rates]
    assert all(rate != rate for rate in told[keys[2]]), "there is no such group"
    assert curve_title("opt", keys[1]) == "learning rate of opt.param_groups[1]"
