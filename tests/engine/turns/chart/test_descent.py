"""The path on the contours of the loss: every number is what plain torch gives, and the run is the same."""

import struct

import pytest
import torch

from gradstudio.engine.turns.chart import descent, parameter_paths
from gradstudio.graph.model import ChartKind
from gradstudio.protocol.messages.charts import Chart, DescentDrawn, NoChart
from gradstudio.protocol.messages.requests import Do
from tests.engine.build import node
from tests.engine.conftest import Bench
from tests.engine.turns.chart.runs import charts_of
from tests.engine.turns.checkpoints.test_going_back import loop_of

VALLEY = """
w = torch.tensor([4.0, 1.0], requires_grad=True)
slope = torch.tensor([0.1, 10.0])
opt = optim.SGD([w], lr=0.05, momentum=0.8)
for k in range(TURNS):
    opt.zero_grad()
    loss = (slope * w ** 2).sum()
    loss.backward()
    opt.step()
"""
LINE = """
x = torch.tensor([1.0, 2.0, 3.0])
y = torch.tensor([3.0, 5.0, 7.0])
w = torch.tensor([[0.5]], requires_grad=True)
b = torch.tensor(0.0, requires_grad=True)
for k in range(TURNS):
    loss = ((x * w + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.05 * w.grad
        b -= 0.05 * b.grad
    w.grad = None
    b.grad = None
"""
KIND: ChartKind = "path"


def charts(bench: Bench, text: str, line: int, turns: int = 20) -> list[Chart]:
    return charts_of(bench, text.replace("TURNS", str(turns)), line, KIND)


def newest(bench: Bench, text: str, line: int, turns: int = 20) -> DescentDrawn:
    drawn = charts(bench, text, line, turns)[-1]
    assert isinstance(drawn, DescentDrawn), drawn
    return drawn


def path(drawn: DescentDrawn) -> torch.Tensor:
    """`(points, 2)`."""
    return torch.tensor(list(struct.iter_unpack("<2f", drawn.path)))


def losses(drawn: DescentDrawn) -> torch.Tensor:
    return torch.tensor(struct.unpack(f"<{len(drawn.losses) // 4}f", drawn.losses))


def valley(turns: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Where plain torch is before the first turn and behind each, and the loss there."""
    w = torch.tensor([4.0, 1.0], requires_grad=True)
    slope = torch.tensor([0.1, 10.0])
    opt = torch.optim.SGD([w], lr=0.05, momentum=0.8)
    places = [w.detach().clone()]
    for _ in range(turns):
        opt.zero_grad()
        (slope * w**2).sum().backward()
        opt.step()
        places.append(w.detach().clone())
    found = torch.stack(places)
    return found, (slope * found**2).sum(1)


def plane(drawn: DescentDrawn) -> torch.Tensor:
    """The middles of the pixels `(side, side, 2)`, the upper row first, written out."""
    left, right, low, high = drawn.span
    side = drawn.side
    return torch.tensor(
        [
            [(left + (right - left) * (k + 0.5) / side, high - (high - low) * (row + 0.5) / side) for k in range(side)]
            for row in range(side)
        ]
    )


def levels(values: torch.Tensor) -> torch.Tensor:
    low, high = values.min(), values.max()
    return ((values - low) / (high - low)) ** (1 / 3) * 255


def seen(drawn: DescentDrawn) -> torch.Tensor:
    return torch.frombuffer(bytearray(drawn.levels), dtype=torch.uint8).reshape(drawn.side, drawn.side).float()


@pytest.mark.parametrize("turns", [20, 300])
def test_the_path_is_where_plain_torch_is_behind_each_turn_also_of_those_that_are_not_recorded(
    bench: Bench, turns: int
) -> None:
    drawn = newest(bench, VALLEY, 1, turns)
    places, values = valley(turns)
    assert torch.equal(path(drawn), places)
    assert torch.allclose(losses(drawn), values)
    assert drawn.names == ("w[0]", "w[1]")
    assert list(drawn.steps) == sorted(drawn.steps) and len(drawn.steps) == turns + 1
    rows = [tick.row for tick in bench.window.ticks if tick.row is not None and not tick.row.caught_up]
    ends = {row.turns[0]: row.step for row in rows if row.turns}  # of turns that were recorded
    assert ends and ends == {turn: drawn.steps[turn + 1] for turn in ends}


def test_the_contours_are_the_loss_of_plain_torch_over_the_plane(bench: Bench) -> None:
    drawn = newest(bench, VALLEY, 1)
    x, y = plane(drawn).unbind(-1)
    assert (seen(drawn) - levels(0.1 * x**2 + 10.0 * y**2)).abs().max() <= 0.55
    left, right, low, high = drawn.span
    assert right - left == pytest.approx(high - low)
    within = torch.cat((path(drawn), torch.zeros(1, 2)))
    assert left < within[:, 0].min() and within[:, 0].max() < right
    assert low < within[:, 1].min() and within[:, 1].max() < high


@pytest.mark.parametrize("line", [3, 4])
def test_two_numbers_of_their_own_are_the_plane_whichever_has_the_card(bench: Bench, line: int) -> None:
    drawn = newest(bench, LINE, line)
    assert drawn.names == ("w", "b")
    w, b = plane(drawn).unbind(-1)
    data, right = bench["x"], bench["y"]
    assert isinstance(data, torch.Tensor) and isinstance(right, torch.Tensor)
    values = ((data * w[..., None] + b[..., None] - right) ** 2).mean(-1)
    assert (seen(drawn) - levels(values)).abs().max() <= 0.6
    assert path(drawn)[0].tolist() == [0.5, 0.0]
    now = [bench["w"], bench["b"]]
    assert path(drawn)[-1].tolist() == [one.item() for one in now if isinstance(one, torch.Tensor)]


def test_of_a_loader_the_contours_are_those_of_all_rows(bench: Bench) -> None:
    text = """
    x = torch.randn(40, 2)
    y = x @ torch.tensor([1.0, -2.0])
    w = torch.zeros(2, requires_grad=True)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=8)
    opt = optim.SGD([w], lr=0.1)
    for epoch in range(4):
        for xb, yb in loader:
            opt.zero_grad()
            loss = F.mse_loss(xb @ w, yb)
            loss.backward()
            opt.step()
    """
    drawn = newest(bench, text, 3)
    x, y = bench["x"], bench["y"]
    assert isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor)
    values = ((plane(drawn) @ x.T - y) ** 2).mean(-1)
    assert (seen(drawn) - levels(values)).abs().max() <= 0.6
    assert torch.allclose(losses(drawn), ((path(drawn) @ x.T - y) ** 2).mean(-1), atol=1e-6)
    assert len(path(drawn)) == 4 * 5 + 1, "a point for each batch, and the first"


def test_what_torch_cannot_compute_for_many_points_at_once_is_computed_one_by_one(bench: Bench) -> None:
    text = VALLEY.replace(
        "(slope * w ** 2).sum()", "(slope * w ** 2).sum() * float(slope.sum() / 20) + w[0].item() ** 2"
    )
    drawn = newest(bench, text, 1)
    x, y = plane(drawn).unbind(-1)
    assert drawn.side == descent.COARSE
    slope = torch.tensor([0.1, 10.0])
    values = (0.1 * x**2 + 10.0 * y**2) * float(slope.sum() / 20) + x**2
    assert (seen(drawn) - levels(values)).abs().max() <= 0.6


def test_of_many_turns_the_first_and_the_newest_are_there_and_every_nth(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parameter_paths, "MOST_POINTS", 16)
    drawn = newest(bench, VALLEY, 1, 100)
    places, _ = valley(100)
    found = path(drawn)
    assert len(found) <= 18
    assert torch.equal(found[0], places[0]) and torch.equal(found[-1], places[-1])
    assert all(any(torch.equal(one, place) for place in places) for one in found)


def test_at_an_earlier_moment_the_path_is_what_it_was(bench: Bench) -> None:
    drawn = newest(bench, VALLEY, 1, 20)
    places, values = valley(20)
    earlier = drawn.until(drawn.steps[5])
    assert torch.equal(path(earlier), places[:6]) and torch.allclose(losses(earlier), values[:6])
    assert earlier.steps == drawn.steps[:6]
    assert torch.equal(path(drawn.until(drawn.steps[6] - 1)), places[:6])
    assert torch.equal(path(drawn.until(0)), places[:1]), "where it begins is always seen"


def test_a_path_goes_on_from_the_turn_that_a_run_goes_back_to(bench: Bench) -> None:
    text = VALLEY.replace("TURNS", "200")
    bench.load(text)
    wanted = ((node(1), KIND),)
    assert bench.engine.do(Do(verb="run", samples_turns=True, charts=wanted)).outcome == "done"
    loop = loop_of(bench, text, 1)
    bench.events.clear()
    went = bench.engine.do(Do(verb="go_to_turn", until=loop, turn=(90,), samples_turns=True, charts=wanted))
    assert went.outcome == "done", went.reason
    drawn = [event for event in bench.events if isinstance(event, DescentDrawn)][-1]
    places, _ = valley(91)
    assert torch.equal(path(drawn), places)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("w = torch.ones(3, requires_grad=True)\nloss = w.sum()\nloss.backward()", 1, "two numbers"),
        ("w = torch.ones(2, requires_grad=True)\nv = torch.ones(2)\nloss = v.sum()", 1, "No loss"),
        ("w = torch.tensor(1.0, requires_grad=True)\nloss = w ** 2\nloss.backward()", 1, "two numbers"),
        ("w = nn.Linear(2, 2)", 1, "two numbers"),
    ],
)
def test_what_has_no_path_says_why(bench: Bench, text: str, line: int, words: str) -> None:
    drawn = charts(bench, text, line)[-1]
    assert isinstance(drawn, NoChart) and words in drawn.why


@pytest.mark.usefixtures("always_due")
def test_a_run_that_is_drawn_is_the_same_to_the_last_bit(bench: Bench) -> None:
    text = VALLEY.replace("w ** 2", "F.dropout(w, 0.4) ** 2")
    assert len(charts(bench, text, 1, 40)) > 10
    w = bench["w"]
    assert isinstance(w, torch.Tensor)
    drawn, next_drawn, version = w.detach().clone(), torch.rand(3), w._version
    bench.load(text.replace("TURNS", "40"))
    assert bench.engine.do(Do(verb="run", samples_turns=True)).outcome == "done"
    other = bench["w"]
    assert isinstance(other, torch.Tensor)
    assert torch.equal(drawn, other) and torch.equal(next_drawn, torch.rand(3)) and version == other._version
