"""Confusion, predictions, components and images: what plain torch and numpy say of the same rows."""

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch import nn

from gradstudio.graph.model import ChartKind
from gradstudio.protocol.messages.charts import (
    MOST_TILES,
    Chart,
    ConfusionDrawn,
    ImagesDrawn,
    NoChart,
    PointsDrawn,
)
from tests.engine.conftest import Bench
from tests.engine.turns.chart.runs import assert_same_without_charts, charts_of, tensor

CLASSES = """
x = torch.randn(90, 1, 6, 6)
y = (x.mean((1, 2, 3)) > 0).long() + (x[:, 0, 0, 0] > 1).long()
net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Dropout(0.4), nn.Linear(64, 3))
data = torch.utils.data.TensorDataset(x, y)
loader = torch.utils.data.DataLoader(data, batch_size=16, shuffle=True)
opt = optim.Adam(net.parameters(), lr=0.02)
for epoch in range(4):
    for xb, yb in loader:
        pred = net(xb)
        loss = F.cross_entropy(pred, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
X, NET, PRED, LOSS = 1, 3, 9, 10
NUMBERS = """
x = torch.randn(50, 3)
y = x.sum(1, keepdim=True) + 0.1 * torch.randn(50, 1)
first = nn.Linear(3, 5)
net = nn.Linear(5, 1)
opt = optim.SGD(net.parameters(), lr=0.05)
for k in range(20):
    h = torch.tanh(first(x))
    pred = net(h)
    loss = F.mse_loss(pred, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
H, SAID = 7, 8


def chart(bench: Bench, text: str, line: int, kind: ChartKind) -> Chart:
    """The last chart of the statement on a line."""
    return charts_of(bench, text, line, kind)[-1]


def scores(bench: Bench) -> torch.Tensor:
    """What the net says of all rows, under evaluation; it is in training when it was."""
    net = bench["net"]
    assert isinstance(net, nn.Module) and net.training
    net.eval()
    with torch.no_grad():
        return net(tensor(bench, "x"))  # type: ignore[no-any-return]


def points(drawn: PointsDrawn) -> npt.NDArray[np.float32]:
    return np.frombuffer(drawn.points, np.float32).reshape(-1, 2)


@pytest.mark.parametrize("line", [PRED, NET])
def test_confusion_counts_all_rows_of_the_data_under_evaluation(bench: Bench, line: int) -> None:
    drawn = chart(bench, CLASSES, line, "confusion")
    assert isinstance(drawn, ConfusionDrawn)
    said, right = scores(bench).argmax(1), tensor(bench, "y")
    counts = [[int(((right == a) & (said == b)).sum()) for b in range(3)] for a in range(3)]
    assert [list(row) for row in drawn.counts] == counts


def test_one_probability_is_two_classes(bench: Bench) -> None:
    text = NUMBERS.replace("y = x.sum(1, keepdim=True) + 0.1 * torch.randn(50, 1)", "y = (x[:, :1] > 0).float()")
    text = text.replace("F.mse_loss(", "F.binary_cross_entropy_with_logits(")
    drawn = chart(bench, text, SAID, "confusion")
    assert isinstance(drawn, ConfusionDrawn)
    said, right = tensor(bench, "pred")[:, 0] > 0, tensor(bench, "y")[:, 0] > 0.5
    assert drawn.counts == (
        (int((~right & ~said).sum()), int((~right & said).sum())),
        (int((right & ~said).sum()), int((right & said).sum())),
    )


def test_predictions_stand_over_their_targets_with_r_squared(bench: Bench) -> None:
    drawn = chart(bench, NUMBERS, SAID, "prediction")
    assert isinstance(drawn, PointsDrawn)
    said, right = tensor(bench, "pred")[:, 0].numpy(), tensor(bench, "y")[:, 0].numpy()
    assert np.array_equal(points(drawn), np.stack((right, said), 1))
    left = ((right.astype(float) - said) ** 2).sum() / ((right.astype(float) - right.mean()) ** 2).sum()
    assert drawn.figure == pytest.approx(1 - left)
    assert drawn.rows == 50
    assert drawn.span[:2] == drawn.span[2:] and drawn.span[0] < points(drawn).min()


def test_components_are_those_of_numpy_with_the_share_of_the_variance(bench: Bench) -> None:
    drawn = chart(bench, NUMBERS, H, "components")
    assert isinstance(drawn, PointsDrawn) and drawn.kind == "components"
    values = tensor(bench, "h").double().numpy()
    centred = values - values.mean(0)
    shares, directions = np.linalg.eigh(centred.T @ centred)
    expected = centred @ directions[:, ::-1][:, :2]
    assert drawn.figure == pytest.approx(shares[-2:].sum() / shares.sum())
    for axis in (0, 1):
        own = points(drawn)[:, axis]
        assert min(np.abs(own - expected[:, axis]).max(), np.abs(own + expected[:, axis]).max()) < 1e-5


def test_components_of_scores_have_the_colours_of_what_is_right(bench: Bench) -> None:
    drawn = chart(bench, CLASSES, PRED, "components")
    assert isinstance(drawn, PointsDrawn)
    shades = 256 // drawn.classes
    assert [level // shades for level in drawn.point_levels] == tensor(bench, "y").tolist()


def test_images_have_their_classes(bench: Bench) -> None:
    drawn = chart(bench, CLASSES, X, "images")
    assert isinstance(drawn, ImagesDrawn)
    chosen = torch.linspace(0, 89, MOST_TILES).long()
    assert (drawn.height, drawn.width, drawn.channels, drawn.total) == (6, 6, 1, 90)
    x = tensor(bench, "x")[chosen]
    levels = np.frombuffer(drawn.pixels, np.uint8).reshape(MOST_TILES, 6, 6)
    expected = x[:, 0] / x.abs().max() * 127 + 128
    assert np.abs(levels - expected.numpy()).max() <= 0.5
    assert drawn.truths == tuple(tensor(bench, "y")[chosen].tolist())


def test_filters_of_a_layer_are_images(bench: Bench) -> None:
    drawn = chart(bench, CLASSES, NET, "images")
    assert isinstance(drawn, ImagesDrawn) and drawn.signed
    net = bench["net"]
    assert isinstance(net, nn.Sequential) and isinstance(net[0], nn.Conv2d)
    weight = net[0].weight.detach()
    assert (drawn.height, drawn.width, drawn.total) == (3, 3, 4)
    levels = np.frombuffer(drawn.pixels, np.uint8).reshape(4, 3, 3)
    assert np.abs(levels - (weight[:, 0] / weight.abs().max() * 127 + 128).numpy()).max() <= 0.5


@pytest.mark.parametrize(
    ("text", "line", "kind", "words"),
    [
        (NUMBERS, SAID, "confusion", "are numbers, not classes"),
        (CLASSES, PRED, "prediction", "choose Confusion matrix"),
        (NUMBERS, SAID, "components", "no two components"),
        (NUMBERS, SAID, "images", "no images"),
        (CLASSES, LOSS, "confusion", "one number for all rows"),
        (CLASSES, LOSS + 1, "images", "gives nothing"),
        ("x = torch.randn(9, 4)\nfor k in range(2):\n    h = x * 2", 3, "confusion", "says what is right"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_says_why(bench: Bench, text: str, line: int, kind: ChartKind, words: str) -> None:
    drawn = chart(bench, text, line, kind)
    assert isinstance(drawn, NoChart) and words in drawn.why


@pytest.mark.parametrize("kind", ["confusion", "components", "images"])
def test_a_run_that_is_drawn_is_the_same_to_the_last_bit(bench: Bench, kind: ChartKind) -> None:
    chart(bench, CLASSES, PRED if kind != "images" else X, kind)
    assert_same_without_charts(bench, CLASSES, "net")
