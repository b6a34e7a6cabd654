"""Runs with a chart on a card, and what such a run must not change."""

import torch
from torch import nn

from gradstudio.graph.model import ChartKind
from gradstudio.protocol.messages.charts import Chart
from gradstudio.protocol.messages.requests import Do
from tests.engine.build import node
from tests.engine.conftest import Bench


def charts_of(bench: Bench, text: str, line: int, kind: ChartKind) -> list[Chart]:
    """All charts of the statement on a line, of a run to the end."""
    bench.load(text)
    bench.events.clear()
    paused = bench.engine.do(Do(verb="run", samples_turns=True, charts=((node(line), kind),)))
    assert paused.outcome == "done", paused.reason
    return [event for event in bench.events if isinstance(event, Chart)]


def tensor(bench: Bench, name: str) -> torch.Tensor:
    """What a name stands for, without its graph."""
    found = bench[name]
    assert isinstance(found, torch.Tensor)
    return found.detach()


def module(bench: Bench, name: str) -> nn.Module:
    """What a name stands for."""
    found = bench[name]
    assert isinstance(found, nn.Module)
    return found


def assert_same_without_charts(bench: Bench, text: str, name: str) -> None:
    """A run with charts is over: what the module has learnt and what is drawn at random next is as in one without."""
    state, after = {key: one.clone() for key, one in module(bench, name).state_dict().items()}, torch.rand(3)
    bench.load(text)
    assert bench.engine.do(Do(verb="run", samples_turns=True)).outcome == "done"
    assert all(torch.equal(state[key], one) for key, one in module(bench, name).state_dict().items())
    assert torch.equal(after, torch.rand(3))
