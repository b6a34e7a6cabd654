"""Histograms over turns: the numbers of torch.histc at each moment, few moments of many, and the run is the same."""

import itertools
import struct

import pytest
import torch

from gradstudio.engine.turns import sampled_loop
from gradstudio.engine.turns.chart import chart_drawing
from gradstudio.engine.turns.chart.histogram import Ridge, RidgeHistory
from gradstudio.graph.model import ChartKind
from gradstudio.protocol.messages.charts import BINS, MOST_RIDGES, Chart, HistogramDrawn, NoChart
from tests.engine.conftest import Bench
from tests.engine.turns.chart.runs import assert_same_without_charts, charts_of, module

LEARNING = """
x = torch.randn(50, 3)
y = x.sum(1, keepdim=True)
first = nn.Linear(3, 20)
net = nn.Sequential(first, nn.Tanh(), nn.Linear(20, 1))
w = torch.randn(7, requires_grad=True)
opt = optim.SGD([*net.parameters(), w], lr=0.05)
for k in range(TURNS):
    pred = net(x)
    loss = F.mse_loss(pred, y) + (w ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
FIRST, NET, W = 3, 4, 5


def charts(bench: Bench, line: int, kind: ChartKind, turns: int = 30, text: str = LEARNING) -> list[Chart]:
    """All charts of the statement on a line."""
    return charts_of(bench, text.replace("TURNS", str(turns)), line, kind)


def ridges(drawn: HistogramDrawn) -> list[tuple[int, ...]]:
    return list(struct.iter_unpack(f"<{BINS}I", drawn.counts))


def histc(values: torch.Tensor) -> list[float]:
    return torch.histc(values, BINS, values.min().item(), values.max().item()).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("kind", ["histogram", "gradients"])
@pytest.mark.parametrize(("line", "of"), [(FIRST, "weight"), (NET, "all parameters"), (W, "")])
def test_the_newest_ridge_is_what_torch_counts(bench: Bench, line: int, of: str, kind: ChartKind) -> None:
    drawn = charts(bench, line, kind)[-1]
    assert isinstance(drawn, HistogramDrawn) and drawn.kind == kind
    w, first = bench["w"], module(bench, "first")
    assert isinstance(w, torch.Tensor) and isinstance(first.weight, torch.Tensor)
    tensors = {FIRST: [first.weight], NET: list(module(bench, "net").parameters()), W: [w]}[line]
    values = [one if kind == "histogram" else one.grad for one in tensors]
    flat = torch.cat([one.detach().reshape(-1) for one in values if one is not None])
    assert list(ridges(drawn)[-1]) == histc(flat)
    assert drawn.edges[-1] == (flat.min().item(), flat.max().item()) and drawn.numbers == len(flat)
    assert drawn.of == (of if kind == "histogram" else f"gradient of {of}" if of else "gradient")


COUNTING = """
w = torch.arange(7.0)
for k in range(TURNS):
    w.add_(1)
    done = w * 2
"""


@pytest.mark.parametrize("turns", [5, 23, 24, 25, 200])
def test_ridges_are_of_the_turns_they_say(bench: Bench, monkeypatch: pytest.MonkeyPatch, turns: int) -> None:
    monkeypatch.setattr(sampled_loop, "TELL_S", 0.0)
    monkeypatch.setattr(chart_drawing, "EVERY_S", 0.0)
    monkeypatch.setattr(chart_drawing, "SHARE", 1e9)
    drawn = charts(bench, 1, "histogram", turns, COUNTING)[-1]
    assert isinstance(drawn, HistogramDrawn)
    assert len(drawn.turns) == len(drawn.edges) == len(ridges(drawn)) <= MOST_RIDGES
    inside = [(turn, edges) for turn, edges in zip(drawn.turns, drawn.edges, strict=True) if turn]
    assert all(edges == (turn, turn + 6) for turn, edges in inside)
    assert inside[0][0] == 1 and drawn.edges[-1] == (turns, turns + 6)
    assert [turn for turn, _ in inside] == sorted({turn for turn, _ in inside})


@pytest.mark.parametrize("moments", [MOST_RIDGES, MOST_RIDGES + 1, 100, 1000])
def test_few_of_many_moments_are_kept_evenly(moments: int) -> None:
    history = RidgeHistory()
    for step in range(moments):
        kept = history.add(Ridge(float(step), step, (step,), 0.0, 1.0, b""))
    assert len(kept) == min(moments, MOST_RIDGES) and (kept[0].step, kept[-1].step) == (0, moments - 1)
    gaps = [later.step - former.step for former, later in itertools.pairwise(kept)]
    assert max(gaps) <= 3 * moments / MOST_RIDGES
    back = history.add(Ridge(2000.0, 5, (5,), 0.0, 1.0, b""))  # the run was put back
    assert back[-1].step == 5 and all(one.step < 5 for one in back[:-1])


def test_a_start_from_nothing_forgets_the_ridges(bench: Bench) -> None:
    charts(bench, W, "histogram")
    drawn = charts(bench, W, "histogram")[0]
    assert isinstance(drawn, HistogramDrawn) and len(drawn.turns) == 1


@pytest.mark.parametrize(
    ("line", "kind", "words"),
    [(1, "gradients", "no gradient"), (6, "histogram", "holds no numbers"), (8, "gradients", "no gradient")],
)
def test_what_has_no_histogram_says_why(bench: Bench, line: int, kind: ChartKind, words: str) -> None:
    drawn = charts(bench, line, kind)[-1]
    assert isinstance(drawn, NoChart) and words in drawn.why


def test_what_is_bound_anew_is_not_taken_for_another(bench: Bench) -> None:
    drawn = charts(bench, 1, "histogram", 1, "a = torch.ones(3)\na = a * 2\nfor k in range(TURNS):\n    b = a + 1\n")[
        -1
    ]
    assert isinstance(drawn, NoChart) and "'a' is bound anew" in drawn.why


def test_numbers_that_are_not_finite_are_in_no_bin(bench: Bench) -> None:
    text = "a = torch.tensor([1.0, float('nan'), 2.0, float('inf')])\nfor k in range(TURNS):\n    b = a + 1\n"
    drawn = charts(bench, 1, "histogram", 1, text)[-1]
    assert isinstance(drawn, HistogramDrawn) and (drawn.odd, drawn.numbers, sum(ridges(drawn)[-1])) == (2, 4, 2)
    assert drawn.edges[-1] == (1.0, 2.0)


@pytest.mark.parametrize("kind", ["histogram", "gradients"])
def test_a_run_that_is_drawn_is_the_same_to_the_last_bit(bench: Bench, kind: ChartKind) -> None:
    charts(bench, NET, kind)
    assert_same_without_charts(bench, LEARNING.replace("TURNS", "30"), "net")
