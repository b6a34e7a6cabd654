"""What a call makes of a batch norm's buffers, a mode and a freeze are on the timeline, as torch has them."""

import pytest
import torch
from torch import nn

from gradstudio.protocol.messages.records import ModuleRecord, TensorRecord
from gradstudio.protocol.timeline.run_timeline import Timeline
from tests.engine.build import node
from tests.engine.conftest import Bench

Modes = tuple[bool, dict[str, bool], dict[str, object]]
"""Trains, what learns, the buffers."""

SWITCHED = """\
net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Dropout(0.5))
x = torch.arange(8.).reshape(4, 2)
a = net(x)
b = net(x + 1)
c = net(x * 2)
net.eval()
d = net(x)
net.train()
e = net(x - 1)
net.to(torch.float32)
"""
FROZEN = """\
net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
x = torch.ones(4, 2)
net[0].requires_grad_(False)
a = net(x)
net.requires_grad_(False)
b = net(x)
net.requires_grad_(True)
net.eval()
"""
ALONE = """\
net = nn.Dropout(0.5)
x = torch.ones(4)
net.eval()
y = net(x)
net.train()
"""
REPLACED = """\
net = nn.BatchNorm1d(2)
x = torch.ones(4, 2)
a = net(x + 1)
m = net.running_mean
m.fill_(7.0)
b = net(x)
net.to(torch.float64)
d = x.double()
c = net(d)
"""
PROGRAMS = {"switched": SWITCHED, "frozen": FROZEN, "alone": ALONE, "replaced": REPLACED}


def oracle(text: str) -> list[Modes]:
    """What plain torch has of the net behind each line."""
    scope: dict[str, object] = {"torch": torch, "nn": nn}
    torch.manual_seed(0)
    seen = list[Modes]()
    for line in text.splitlines():
        exec(line, scope)
        net = scope["net"]
        assert isinstance(net, nn.Module)
        learns = {path: one.requires_grad for path, one in net.named_parameters()}
        seen.append((net.training, learns, {path: one.tolist() for path, one in net.named_buffers()}))
    return seen


def timeline(bench: Bench, text: str) -> Timeline:
    bench.load(text)
    bench.do("run")
    return bench.timeline()


def net_at(line: Timeline, tick: int | None, place: int = 1) -> ModuleRecord:
    """The module that a line of the program gave, as it was at a tick."""
    row, made = line.row(node(place), tick), line.made_at(node(place), tick)
    assert row is not None
    assert made is not None
    record = line.module_at(row, 0, made, tick) or row.outputs[0]
    assert isinstance(record, ModuleRecord)
    return record


def told(record: ModuleRecord) -> Modes:
    learns = {path: one.requires_grad for path, one in record.parameters.items()}
    return record.training, learns, {path: one.summary.value for path, one in record.buffers.items()}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_module_is_at_every_moment_what_torch_had(bench: Bench, program: str) -> None:
    line = timeline(bench, PROGRAMS[program])
    known = oracle(PROGRAMS[program])
    assert len(line.ticks) == len(known)
    assert any(one != known[0] for one in known), "or there is nothing to see"
    for tick, now in enumerate(known):
        assert told(net_at(line, tick)) == now, tick
    assert told(net_at(line, None)) == known[-1]
    writers = {tick.index for tick in line.ticks if tick.row is not None and (tick.row.writes or tick.row.modes)}
    for before in range(len(known) - 1):
        if known[before] != known[before + 1]:
            assert before + 1 in writers
            changed = line.changed_between(before, before + 1)
            assert changed is not None
            assert node(1) in changed, "its card is another from that tick on"


def test_a_leaf_that_is_frozen_learned_until_then(bench: Bench) -> None:
    line = timeline(bench, "W = torch.ones(2, requires_grad=True)\na = W * 2\nW.requires_grad_(False)\nb = W * 2")
    row = line.row(node(1))
    assert row is not None
    (record,) = row.outputs
    assert isinstance(record, TensorRecord)
    assert [line.leaf_at(record, tick).requires_grad for tick in range(4)] == [True, True, False, False]
