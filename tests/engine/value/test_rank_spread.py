"""Spreads over ranks beside torch, which sees the values of all ranks at once."""

import hashlib
from functools import reduce
from operator import or_

import pytest
import torch

from gradstudio.engine.value.rank_spread import Here
from gradstudio.engine.value.tensor_summary import summarise
from gradstudio.protocol.messages.ranks import Range, Spread
from gradstudio.protocol.ranks.spread_words import spread_amount

RANKS = 37


def spread_of(values: torch.Tensor) -> Spread:
    """Over the first dimension, joined as a tree with three branches."""
    level = [
        Spread.of(rank, summarise(value), hashlib.blake2b(value.numpy().tobytes(), digest_size=8).digest())
        for rank, value in enumerate(values)
    ]
    while len(level) > 1:
        level = [reduce(or_, level[k : k + 3]) for k in range(0, len(level), 3)]
    return level[0]


@pytest.mark.parametrize("shape", [(), (7,), (5, 5), (40, 60), (2, 3, 4)])
def test_least_and_most_of_every_figure_are_those_of_torch(shape: tuple[int, ...]) -> None:
    values = torch.randn(RANKS, *shape)
    spread = spread_of(values)
    flat = values.reshape(RANKS, -1)
    for found, per_rank in ((spread.minimum, flat.amin(1)), (spread.maximum, flat.amax(1))):
        low, low_rank, high, high_rank = per_rank.min(), per_rank.argmin(), per_rank.max(), per_rank.argmax()
        assert found == Range(low.item(), int(low_rank), high.item(), int(high_rank))
    for found, per_rank in ((spread.mean, flat.mean(1)), (spread.rms, flat.square().mean(1).sqrt())):
        assert found is not None
        torch.testing.assert_close(torch.tensor(found.least), per_rank.min())
        torch.testing.assert_close(torch.tensor(found.most), per_rank.max())
        assert (found.least_rank, found.most_rank) == (int(per_rank.argmin()), int(per_rank.argmax()))
    assert not spread.is_equal and not spread.nan.count and spread.ranks == RANKS
    largest = float((flat.amax(0) - flat.amin(0)).max())
    sign, amount = spread_amount(spread).split()[1:]
    assert float(amount) <= largest * 1.01, "what a card says of the largest difference between two ranks"
    assert (sign == "=") is (shape == ()) and (sign == "≥" or float(amount) == pytest.approx(largest, rel=1e-2))


def test_equal_values_are_equal_until_one_rank_differs_by_its_last_bit() -> None:
    values = torch.randn(5, 5).expand(RANKS, 5, 5).clone()
    assert spread_of(values).is_equal
    values[20, 2, 2] = torch.nextafter(values[20, 2, 2], torch.tensor(torch.inf))
    assert not spread_of(values).is_equal


def test_ranks_with_nan_and_infinities_are_named() -> None:
    values = torch.randn(RANKS, 4, 4)
    values[3, 0, 0] = values[30, 1, 1] = torch.nan
    values[11, 2, 2] = -torch.inf
    values[12] = torch.nan
    spread = spread_of(values)
    assert spread.nan.ranks == tuple(values.isnan().any(2).any(1).nonzero().flatten().tolist()) == (3, 12, 30)
    assert spread.infinite.ranks == (11,)
    finite = values.masked_fill(~values.isfinite(), torch.inf).reshape(RANKS, -1).amin(1)
    assert spread.minimum is not None and spread.minimum.least == finite.min().item()


def test_layouts_that_differ_are_not_equal_whatever_their_bytes() -> None:
    wide, tall = torch.zeros(2, 3), torch.zeros(3, 2)
    spread = Spread.of(0, summarise(wide), b"same") | Spread.of(1, summarise(tall), b"same")
    assert not spread.is_equal and spread.layout == ""


@pytest.mark.parametrize("shape", [(), (8,), (40, 60), (100, 100)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("fill", [0.5, 1e30, float("nan")])
def test_what_was_looked_at_can_still_be_freed_as_fsdp_does(
    shape: tuple[int, ...], dtype: torch.dtype, fill: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameter = torch.nn.Parameter(torch.full(shape, fill, dtype=dtype))
    alone = summarise(parameter)
    monkeypatch.setattr(Here, "rank", 0)
    again = torch.nn.Parameter(torch.full(shape, fill, dtype=dtype))
    told = summarise(again)
    assert told.spread is not None and told.shape == alone.shape and told.value == alone.value
    assert (told.minimum, told.maximum, told.mean, told.rms, told.nan) == (
        alone.minimum, alone.maximum, alone.mean, alone.rms, alone.nan
    )  # fmt: skip
    again.untyped_storage().resize_(0)
    assert not again.untyped_storage().nbytes()
