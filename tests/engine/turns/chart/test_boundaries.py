"""Decision boundaries: what plain torch gives over the plane, and a run that goes on as if nobody had drawn."""

import random
import struct

import numpy as np
import pytest
import torch
from torch import nn

from gradstudio.engine.turns.chart.levels import Scale, levels, scale_of
from gradstudio.engine.turns.chart.plane_grid import grid
from gradstudio.graph.model import ChartKind
from gradstudio.protocol.messages.charts import COLOURS, SIDE, BoundaryDrawn, NoChart, Watch
from gradstudio.protocol.messages.progress import CurveKey, Turned
from gradstudio.protocol.messages.requests import Do
from tests.engine.build import node
from tests.engine.conftest import Bench

HEAD = """
x = torch.randn(120, 2)
y = (x[:, 0] * x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8), nn.Dropout(0.3), nn.Tanh(), nn.Linear(8, 3))
data = torch.utils.data.TensorDataset(x, y)
loader = torch.utils.data.DataLoader(data, batch_size=16, shuffle=True)
opt = optim.Adam(net.parameters(), lr=0.01)
for epoch in range(9):
    for xb, yb in loader:
        pred = net(xb)
        loss = F.cross_entropy(pred, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
NET, PRED, LOSS = 3, 9, 10
BOUNDARY: ChartKind = "boundary"


def drawn(bench: Bench, text: str, *lines: int) -> list[BoundaryDrawn]:
    bench.load(text)
    bench.events.clear()
    paused = bench.engine.do(Do(verb="run", samples_turns=True, charts=tuple((node(line), BOUNDARY) for line in lines)))
    assert paused.outcome == "done", paused.reason
    return [event for event in bench.events if isinstance(event, BoundaryDrawn)]


def points(picture: BoundaryDrawn) -> torch.Tensor:
    return torch.tensor(struct.unpack(f"<{len(picture.points) // 4}f", picture.points)).reshape(-1, 2)


def plane(picture: BoundaryDrawn) -> torch.Tensor:
    """The middles of the pixels, the upper row first, written out."""
    left, right, low, high = picture.span
    rows = [
        (left + (right - left) * (column + 0.5) / SIDE, high - (high - low) * (row + 0.5) / SIDE)
        for row in range(SIDE)
        for column in range(SIDE)
    ]
    return torch.tensor(rows, dtype=torch.float64).float()


def seen(picture: BoundaryDrawn) -> torch.Tensor:
    return torch.frombuffer(bytearray(picture.levels), dtype=torch.uint8)


@pytest.mark.parametrize("line", [NET, PRED])
def test_the_picture_of_a_model_and_of_its_prediction_is_what_plain_torch_gives_over_the_plane(
    bench: Bench, line: int
) -> None:
    picture = drawn(bench, HEAD, line)[-1]
    net = bench["net"]
    assert isinstance(net, nn.Sequential) and picture.classes == 3
    net.eval()
    with torch.no_grad():
        sure, winner = net(plane(picture)).softmax(1).max(1)
    assert torch.equal(seen(picture).long() // picture.shades, winner)
    shade = (sure - 1 / 3) / (2 / 3) * (picture.shades - 1)
    assert ((seen(picture).long() % picture.shades) - shade).abs().max() <= 0.51
    assert torch.equal(points(picture), bench["x"])
    classes = torch.frombuffer(bytearray(picture.point_levels), dtype=torch.uint8) // picture.shades
    assert torch.equal(classes.long(), bench["y"])


def test_the_grid_lies_in_the_square_around_the_data_from_its_upper_left_corner(bench: Bench) -> None:
    picture = drawn(bench, HEAD, PRED)[-1]
    assert torch.allclose(grid(picture.span, torch.zeros(1)), plane(picture))
    left, right, low, high = picture.span
    inside = points(picture)
    assert right - left == pytest.approx(high - low)
    assert left < inside[:, 0].min() and inside[:, 0].max() < right
    assert low < inside[:, 1].min() and inside[:, 1].max() < high


@pytest.mark.usefixtures("always_due")
def test_a_run_that_is_drawn_is_the_same_to_the_last_bit(bench: Bench) -> None:
    """Dropout, batch norm, a shuffled loader, Python's and numpy's generators; no version of a buffer is another."""
    assert len(drawn(bench, HEAD, PRED, NET)) > 10
    net = bench["net"]
    assert isinstance(net, nn.Sequential)
    with_pictures = {key: value.clone() for key, value in net.state_dict().items()}
    drawn_next = torch.rand(3), random.random(), np.random.rand()
    versions = [one._version for one in (*net.parameters(), *net.buffers())]
    modes = [one.training for one in net.modules()]
    assert drawn(bench, HEAD) == []
    other = bench["net"]
    assert isinstance(other, nn.Sequential)
    assert all(torch.equal(with_pictures[key], value) for key, value in other.state_dict().items())
    assert torch.equal(drawn_next[0], torch.rand(3))
    assert versions == [one._version for one in (*other.parameters(), *other.buffers())]
    assert modes == [one.training for one in other.modules()]


def test_layers_one_by_one_over_one_name_are_one_function(bench: Bench) -> None:
    text = """
    x = torch.randn(80, 2)
    t = (x[:, :1] > 0).float()
    one = nn.Linear(2, 6)
    two = nn.Linear(6, 1)
    for k in range(3):
        h = one(x * 2)
        h = F.dropout(torch.tanh(h), 0.5, training=False)
        p = two(h)
        loss = F.binary_cross_entropy_with_logits(p, t)
        loss.backward()
    """
    picture = drawn(bench, text, 8)[-1]
    one, two = bench["one"], bench["two"]
    assert isinstance(one, nn.Linear) and isinstance(two, nn.Linear)
    with torch.no_grad():
        sure = two(torch.tanh(one(plane(picture) * 2))).sigmoid()[:, 0] * (COLOURS - 1)
    assert picture.classes == 0
    assert (seen(picture) - sure).abs().max() <= 0.51
    assert torch.equal(points(picture), bench["x"])
    ends = torch.frombuffer(bytearray(picture.point_levels), dtype=torch.uint8)
    assert torch.equal(ends == COLOURS - 1, bench["t"][:, 0] > 0)  # type: ignore[index]


def test_two_inputs_of_one_number_each_are_the_plane(bench: Bench) -> None:
    text = """
    a = torch.linspace(-1, 1, 20)
    b = torch.linspace(0, 1, 20)
    w = torch.tensor(3.0, requires_grad=True)
    for k in range(2):
        z = torch.sin(a * w) + b * w
    """
    picture = drawn(bench, text, 5)[-1]
    x, y = plane(picture).unbind(1)
    values = torch.sin(x * 3) + y * 3
    share = (values - values.min()) / (values.max() - values.min()) * (COLOURS - 1)
    assert (seen(picture) - share).abs().max() <= 0.51
    assert torch.equal(points(picture), torch.stack((bench["a"], bench["b"]), 1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (HEAD, LOSS, "one number for all rows"),
        (HEAD, LOSS + 1, "gives nothing"),
        (HEAD, 99, "card of the group"),
        (HEAD.replace("(120, 2)", "(120, 5)").replace("Linear(2, 8)", "Linear(5, 8)"), PRED, "xb (120, 5)"),
        ("net = nn.Linear(2, 1)\nfor k in range(2):\n    a = k + 1", 1, "does not call it"),
        ("x = torch.randn(4, 2)\nw = torch.ones(2, 2, requires_grad=True)\n"
         "for k in range(2):\n    h = x @ w\n    h.mul_(2)\n    p = h @ w", 6, "writes in place"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_says_why(bench: Bench, text: str, line: int, words: str) -> None:
    assert not drawn(bench, text, line)
    reason = [event for event in bench.events if isinstance(event, NoChart)][-1]
    assert words in reason.why


def test_a_boundary_that_is_asked_for_behind_a_run_is_drawn_at_once_and_only_once(bench: Bench) -> None:
    drawn(bench, HEAD)
    bench.events.clear()
    bench.engine.runner.sampling.watch(Watch(charts=((node(PRED), BOUNDARY),)), bench.engine.live)
    bench.engine.runner.sampling.watch(Watch(charts=((node(PRED), BOUNDARY),)), bench.engine.live)
    assert [type(event) for event in bench.events] == [BoundaryDrawn]


@pytest.mark.usefixtures("always_due")
def test_what_is_asked_for_while_a_run_is_under_way_is_told_from_the_next_turns_on(bench: Bench) -> None:
    asked = Watch(charts=((node(PRED), BOUNDARY),))
    sampling = bench.engine.runner.sampling
    sampling.newest_watch = lambda: asked if sampling.curves.count(node(8)) > 20 else None
    pictures = drawn(bench, HEAD)
    assert len(pictures) > 3
    assert pictures[0].step < pictures[-1].step


@pytest.mark.usefixtures("always_due")
def test_a_curve_that_is_asked_for_while_a_run_is_under_way_has_every_turn_since(bench: Bench) -> None:
    text = """
    w = torch.tensor(2.0, requires_grad=True)
    for k in range(200):
        loss = w * w
        loss.backward()
        with torch.no_grad():
            w -= 0.01 * w.grad
            w.grad = None
    """
    asked, loop = Watch(curves=(CurveKey(node=node(1)),)), node(2)
    sampling = bench.engine.runner.sampling
    sampling.newest_watch = lambda: asked if sampling.curves.count(loop) > 90 else None
    drawn(bench, text)
    told = [
        (event.number, struct.unpack(f"<{len(curve.data) // 8}d", curve.data))
        for event in bench.events
        if isinstance(event, Turned)
        for curve in event.curves
        if curve.key == asked.curves[0]
    ]
    numbers = [number for end, values in told for number in range(end - len(values), end)]
    assert numbers == list(range(numbers[0], 200)) and 90 < numbers[0] < 150
    w, after = torch.tensor(2.0), []
    for _ in range(200):
        w = w - 0.01 * (w + w)
        after.append(w.item())
    assert [value for _, values in told for value in values] == pytest.approx(after[numbers[0] :])


def test_many_classes_are_refused_and_numbers_without_targets_span_the_scale() -> None:
    with pytest.raises(Exception, match="more than"):
        scale_of(torch.zeros(4, 99), None, False)
    values = torch.tensor([[2.0], [4.0], [3.0], [float("nan")]])
    assert levels(values, scale_of(values, None, False)).tolist() == [0, 255, 128, 128]
    assert levels(torch.tensor([[0.2, 0.8]]), Scale(2)).tolist() == [128 + 76]
    assert levels(torch.tensor([[0.2, 0.8]]).log(), Scale(2)).tolist() == [128 + 76]
