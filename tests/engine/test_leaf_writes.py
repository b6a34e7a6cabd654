"""What an optimizer, an initialiser or a write past the graph makes of a leaf is on the timeline, as torch has it."""

import textwrap

import pytest
import torch
from torch import nn, optim

from gradstudio.protocol.messages.records import ModuleRecord, TensorRecord
from gradstudio.protocol.timeline.run_timeline import Timeline
from tests.engine.build import node
from tests.engine.conftest import Bench

TURNS = 4
STEP = """\
loss = ((W - 3) ** 2).sum()
loss.backward()
optimizer.step()
optimizer.zero_grad()
"""
BY_HAND = """\
loss = ((W - 3) ** 2).sum()
loss.backward()
{}
W.grad = None
"""
WRITES = {
    "SGD": ("optimizer = optim.SGD([W], lr=0.1)", STEP),
    "Adam": ("optimizer = optim.Adam([W], lr=0.1)", STEP),
    "by the data": ("a = 1", BY_HAND.format("d = W.data\nd -= 0.1 * W.grad")),
    "by a copy": ("a = 1", BY_HAND.format("d = W.data\nd.copy_(d - 0.1 * W.grad)")),
    "another memory": ("a = 1", BY_HAND.format("W.data = W.data - 0.1 * W.grad")),
    "an initialiser": ("a = 1", "nn.init.normal_(W)\n"),
    "an item": ("a = 1", "with torch.no_grad():\n    W[k] = k + 1.0\n"),
    "a view": ("v = W[1:3]", "with torch.no_grad():\n    v.fill_(k + 5.0)\n"),
}


def oracle(text: str, name: str) -> list[torch.Tensor]:
    """What plain torch has under a name at the end of each turn."""
    seen = list[torch.Tensor]()
    scope = {"torch": torch, "nn": nn, "optim": optim, "seen": seen}
    torch.manual_seed(0)
    exec(f"{text}    seen.append({name}.detach().clone())\n", scope)
    return seen


def timeline(bench: Bench, text: str) -> Timeline:
    bench.load(text)
    bench.do("run")
    return bench.timeline()


def ends(line: Timeline) -> list[int]:
    """The last tick of each turn of the loop."""
    last = {tick.turns[0]: tick.index for tick in line.ticks if tick.turns}
    return [last[turn] for turn in range(TURNS)]


@pytest.mark.parametrize("way", WRITES)
def test_a_leaf_is_at_every_moment_what_torch_had(bench: Bench, way: str) -> None:
    before, body = WRITES[way]
    text = (
        f"W = torch.zeros(4, requires_grad=True)\n{before}\nfor k in range({TURNS}):\n{textwrap.indent(body, '    ')}"
    )
    line = timeline(bench, text)
    assert line.wrote_leaves
    row = line.row(node(1))
    assert row is not None
    record = row.outputs[0]
    assert isinstance(record, TensorRecord)
    for turn, (tick, real) in enumerate(zip(ends(line), oracle(text, "W"), strict=True)):
        assert line.leaf_at(record, tick).summary.value == pytest.approx(real.tolist(), abs=0), turn
    assert line.leaf_at(record, 0) is record, "as it was made"
    assert line.leaf_at(record) == line.leaf_at(record, len(line.ticks) - 1)
    own = bench["W"]
    assert isinstance(own, torch.Tensor)
    assert line.leaf_at(record).version == own._version
    assert line.leaf_at(record).requires_grad
    writer = next(tick.index for tick in line.ticks if tick.row is not None and tick.row.writes)
    changed = line.changed_between(writer - 1, writer)
    assert changed is not None
    assert node(1) in changed, "its card is another from that tick on"


@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "AdamW"])
def test_a_layer_is_at_every_moment_what_torch_had(bench: Bench, optimizer: str) -> None:
    text = textwrap.dedent(f"""\
        net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
        optimizer = optim.{optimizer}(net.parameters(), lr=0.1)
        x = torch.ones(5, 2)
        for k in range({TURNS}):
            loss = net(x).pow(2).sum()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        """)
    line = timeline(bench, text)
    row = line.row(node(1))
    assert row is not None
    record = row.outputs[0]
    assert isinstance(record, ModuleRecord)
    for path, leaf in record.parameters.items():
        real = oracle(text, f"net.get_parameter({path!r})")
        for tick, now in zip(ends(line), real, strict=True):
            assert line.leaf_at(leaf, tick).summary.value == now.tolist(), (path, tick)


def test_a_leaf_that_nothing_wrote_into_is_told_once(bench: Bench) -> None:
    line = timeline(
        bench, "W = torch.zeros(4, requires_grad=True)\nloss = (W * 2).sum()\nloss.backward()\nW.grad.zero_()"
    )
    assert not line.wrote_leaves
    assert not any(tick.row.writes for tick in line.ticks if tick.row is not None)
