"""Summaries of many tensors at once: each to the last bit as it is of the tensor alone."""

import pytest
import torch

from gradstudio.engine.value.rank_spread import Here
from gradstudio.engine.value.summary_batches import AT_ONCE, summarise_alike
from gradstudio.engine.value.tensor_summary import summarise
from gradstudio.protocol.framing import encode
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced
from gradstudio.protocol.messages.records import Summary

SIZES = [(64, 32), (65,), (100, 3), (129, 7), (8192,), (3, 5, 7), (1, 1, 80), (2, 3, 40, 30), (66, 1), (4097,)]


def as_sent(summaries: list[Summary]) -> bytes:
    row = AutogradRow(backward=1, autograd="", node="", incoming=tuple(summaries))  # type: ignore[arg-type]
    return encode(BackwardTraced(revision=1, rows=(row,)))


def summarise_all(tensors: list[torch.Tensor], max_values: int = 64) -> list[Summary]:
    together = summarise_alike(tensors, max_values)
    return [alone or summarise(tensor, max_values) for tensor, alone in zip(tensors, together, strict=True)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_tensors_of_one_shape(size: tuple[int, ...], dtype: torch.dtype) -> None:
    tensors = [torch.randn(size, dtype=dtype) * 10.0 ** (place % 9 - 4) for place in range(37)]
    assert None not in summarise_alike(tensors)
    assert as_sent(summarise_all(tensors)) == as_sent([summarise(tensor) for tensor in tensors])


def test_one_of_several_ranks_tells_a_spread_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Here, "rank", 1)
    assert all(summary.spread is not None for summary in summarise_all(list(torch.randn(5, 100))))


def test_more_than_are_laid_together() -> None:
    tensors = list(torch.randn(3 * AT_ONCE // 100 + 1, 10, 10))
    assert as_sent(summarise_all(tensors)) == as_sent([summarise(tensor) for tensor in tensors])


def test_many_kinds_side_by_side_stand_in_their_order() -> None:
    shapes = [(10, 10), (4, 3), (200,), (), (0, 3), (128, 128)]
    dtypes = [torch.float32, torch.float64, torch.int64, torch.bool, torch.complex64, torch.bfloat16]
    tensors = [torch.full(shape, place % 5).to(dtypes[place % 6]) for place in range(60) for shape in shapes]
    tensors += [torch.eye(12).to_sparse() for _ in range(4)]
    assert as_sent(summarise_all(tensors)) == as_sent([summarise(tensor) for tensor in tensors])


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), 1e30, 1e16])
def test_one_that_is_not_tame_among_tame_ones(odd: float) -> None:
    tensors = [torch.randn(100) for _ in range(8)]
    tensors[3][17] = odd
    assert as_sent(summarise_all(tensors)) == as_sent([summarise(tensor) for tensor in tensors])


def test_a_batch_of_pictures_among_others() -> None:
    tensors = [torch.rand(6, 16, 16) - 0.5 for _ in range(4)]
    tensors[1] = torch.arange(6 * 16 * 16).reshape(6, 16, 16) / (6 * 16 * 16 - 1)
    assert as_sent(summarise_all(tensors)) == as_sent([summarise(tensor) for tensor in tensors])


def test_views_that_lie_otherwise_in_memory() -> None:
    base = torch.randn(40, 40)
    tensors = [
        base.T,
        base[::2, ::2].contiguous(),
        base[::2, ::2],
        base.flip(0)[:20, 1::2],
        torch.zeros(20, 20).expand(20, 20),
    ]
    tensors += [torch.complex(base, base).conj().imag, base, base.detach()]
    assert as_sent(summarise_all(tensors)) == as_sent([summarise(tensor) for tensor in tensors])


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_tensors_that_torch_does_not_lay_together() -> None:
    nested = torch.nested.nested_tensor([torch.ones(80), torch.ones(90)])
    zeros = [torch._efficientzerotensor((10, 10)) for _ in range(4)]
    tensors = [nested, nested, nested, nested, *zeros, *(torch.empty(10, 10, device="meta") for _ in range(4))]
    assert as_sent(summarise_all(tensors)) == as_sent([summarise(tensor) for tensor in tensors])


def test_exact_values_as_far_as_they_are_wanted() -> None:
    tensors = list(torch.randn(5, 100))
    assert as_sent(summarise_all(tensors, 200)) == as_sent([summarise(tensor, 200) for tensor in tensors])
