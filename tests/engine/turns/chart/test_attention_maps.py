"""Attention maps: what plain torch says of the same weights."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from gradstudio.engine.turns.chart.attention_maps import are_weights
from gradstudio.protocol.messages.charts import MOST_TILE_PX, MOST_TILES, Chart, ImagesDrawn, NoChart
from gradstudio.protocol.number_format import format_number
from gradstudio.ui.canvas.paint.chart.captions import caption
from tests.engine.conftest import Bench
from tests.engine.turns.chart.runs import assert_same_without_charts, charts_of, tensor

LEARNT = """
x = torch.randn(40, 5, 6)
y = x.mean(2)
layer = nn.MultiheadAttention(6, 2, dropout=0.3, batch_first=True)
data = torch.utils.data.TensorDataset(x, y)
loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
opt = optim.Adam(layer.parameters(), lr=0.02)
for epoch in range(3):
    for xb, yb in loader:
        out, weights = layer(xb, xb, xb, average_attn_weights=False)
        loss = F.mse_loss(out.mean(2), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
"""
LAYER, CALLED = 3, 9
HEADS = (
    "q = torch.randn(3, 4, 7, 8)\nk = torch.randn(3, 4, 9, 8)\nscores = q @ k.transpose(2, 3)\nw = F.softmax(scores, 3)"
)
SCORES, WEIGHTS = 3, 4


def chart(bench: Bench, text: str, line: int) -> Chart:
    """The last map of the statement on a line."""
    return charts_of(bench, text, line, "attention")[-1]


def maps(drawn: Chart) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """The numbers that the pixels stand for."""
    assert isinstance(drawn, ImagesDrawn) and drawn.kind == "attention", drawn
    levels = np.frombuffer(drawn.pixels, np.uint8).reshape(-1, drawn.height, drawn.width).astype(float)
    low, high = drawn.span
    return (levels - 128) / 127 * high if drawn.signed else low + levels / 255 * (high - low)


@pytest.mark.parametrize("line", [LAYER, CALLED])
def test_the_weights_of_the_first_row_of_the_data_are_drawn_under_evaluation(bench: Bench, line: int) -> None:
    drawn = chart(bench, LEARNT, line)
    layer, x = bench["layer"], tensor(bench, "x")
    assert isinstance(layer, nn.MultiheadAttention) and layer.training
    layer.eval()
    with torch.no_grad():
        _, weights = layer(x[:1], x[:1], x[:1], average_attn_weights=False)
    assert isinstance(drawn, ImagesDrawn) and (drawn.total, drawn.sizes, drawn.signed) == (2, (5, 5), False)
    assert drawn.span == pytest.approx((weights.min().item(), weights.max().item()))
    assert np.abs(maps(drawn) - weights[0].numpy()).max() <= (drawn.span[1] - drawn.span[0]) / 510 + 1e-6


def test_a_run_that_is_drawn_is_the_same_to_the_last_bit(bench: Bench) -> None:
    chart(bench, LEARNT, CALLED)
    assert_same_without_charts(bench, LEARNT, "layer")


def test_heads_of_the_first_item_stand_side_by_side_with_their_range(bench: Bench) -> None:
    drawn = chart(bench, HEADS, WEIGHTS)
    weights = tensor(bench, "w")
    assert np.abs(maps(drawn) - weights[0].numpy()).max() <= 1 / 510 + 1e-6
    words = f"4 × (7, 9) · {format_number(weights[0].min().item())} to {format_number(weights[0].max().item())}"
    assert caption(drawn)[1] == words


def test_scores_have_colours_below_and_above_zero(bench: Bench) -> None:
    drawn = chart(bench, HEADS, SCORES)
    scores = tensor(bench, "scores")[0]
    farthest = scores.abs().max().item()
    assert isinstance(drawn, ImagesDrawn) and drawn.signed and drawn.span == pytest.approx((-farthest, farthest))
    assert np.abs(maps(drawn) - scores.numpy()).max() <= farthest / 254 + 1e-5


def test_masked_scores_stand_at_the_lower_end(bench: Bench) -> None:
    text = "a = torch.rand(5, 5)\nm = a.masked_fill(torch.ones(5, 5).triu(1).bool(), float('-inf'))"
    drawn = chart(bench, text, 2)
    assert isinstance(drawn, ImagesDrawn)
    kept = tensor(bench, "a")[torch.ones(5, 5).tril().bool()]
    assert drawn.signed and drawn.span[1] == pytest.approx(kept.max().item())
    assert drawn.pixels[1] == 0 and drawn.pixels[0] >= 128


def test_many_large_maps_are_some_small_ones(bench: Bench) -> None:
    drawn = chart(bench, "w = F.softmax(torch.randn(40, 128, 256), 2)", 1)
    assert isinstance(drawn, ImagesDrawn)
    chosen = torch.linspace(0, 39, MOST_TILES).long()
    expected = F.avg_pool2d(tensor(bench, "w")[chosen], 4)
    assert (drawn.height, drawn.width, drawn.sizes) == (MOST_TILE_PX // 2, MOST_TILE_PX, (128, 256))
    assert np.abs(maps(drawn) - expected.numpy()).max() <= (drawn.span[1] - drawn.span[0]) / 510 + 1e-6
    assert caption(drawn)[1].startswith("16 of 40 × (128, 256) · means ")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("x = torch.randn(9)\ny = x * 2", 2, "no map"),
        ("x = torch.ones(3, 3).long()", 1, "no map"),
        ("x = torch.full((3, 3), float('nan'))", 1, "finite"),
    ],
)
def test_what_is_no_map_says_why(bench: Bench, text: str, line: int, words: str) -> None:
    drawn = chart(bench, text, line)
    assert isinstance(drawn, NoChart) and words in drawn.why


def test_weights_are_not_negative_and_sum_to_one() -> None:
    weights = F.softmax(torch.randn(2, 5, 7), 2)
    assert are_weights(weights) and are_weights(weights.bfloat16())
    assert not are_weights(weights * 1.1) and not are_weights(weights + torch.tensor([-1.0, 1, 0, 0, 0, 0, 0]))
