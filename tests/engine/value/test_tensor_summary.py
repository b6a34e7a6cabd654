"""Summaries of tensors of every dtype and layout, against torch."""

import math

import msgspec
import numpy as np
import pytest
import torch

from gradstudio.engine.value import tensor_summary
from gradstudio.engine.value.tensor_summary import summarise
from gradstudio.engine.value.value_records import record_of
from gradstudio.graph.model import ItemId
from gradstudio.protocol.framing import encode
from gradstudio.protocol.messages.events import Row, Traced
from gradstudio.protocol.messages.records import (
    ModuleRecord,
    ObjectRecord,
    OptimizerRecord,
    PlainRecord,
    Summary,
    TensorRecord,
    TupleRecord,
)

SIZES = [(), (1,), (5,), (64,), (65,), (90, 91), (300, 301), (3, 4, 5, 6)]
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]


def preview_values(tensor: torch.Tensor) -> np.ndarray:  # type: ignore[type-arg]
    preview = summarise(tensor).preview
    assert preview is not None
    return np.frombuffer(preview.data, np.float32).reshape(preview.rows, preview.columns)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_figures_of_floats_are_torchs(size: tuple[int, ...], dtype: torch.dtype) -> None:
    tensor = (torch.randn(size, dtype=torch.float64) * 3 + 1000).to(dtype)
    got, exact = summarise(tensor), tensor.double()
    assert (got.minimum, got.maximum) == (exact.min().item(), exact.max().item())
    assert got.mean == pytest.approx(exact.mean().item(), rel=1e-5)
    assert got.rms == pytest.approx(exact.square().mean().sqrt().item(), rel=1e-4)
    assert (got.nan, got.posinf, got.neginf, got.sampled) == (0, 0, 0, False)
    assert (got.dtype, got.shape) == (str(dtype).removeprefix("torch."), size)


@pytest.mark.parametrize("count", [6, 600, 60_000])
@pytest.mark.parametrize("dtype", FLOATS)
def test_what_is_not_finite_is_counted_and_left_out_of_the_figures(count: int, dtype: torch.dtype) -> None:
    tensor = torch.linspace(-1, 2, count, dtype=torch.float64).to(dtype)
    tensor[1], tensor[2], tensor[3] = float("nan"), float("inf"), float("-inf")
    got, finite = summarise(tensor), tensor.double()[tensor.isfinite()]
    assert (got.nan, got.posinf, got.neginf) == (1, 1, 1)
    assert (got.minimum, got.maximum) == (finite.min().item(), finite.max().item())
    assert got.mean == pytest.approx(finite.mean().item())


@pytest.mark.parametrize("count", [3, 300, 30_000])
def test_huge_values_overflow_no_figure(count: int) -> None:
    got = summarise(torch.full((count,), 3e38))
    assert got.mean == pytest.approx(3e38)
    assert got.rms == pytest.approx(3e38)
    assert (got.nan, got.posinf) == (0, 0)


def test_nothing_but_nan_has_no_figures() -> None:
    got = summarise(torch.full((3,), float("nan")))
    assert (got.minimum, got.mean, got.rms, got.nan) == (None, None, None, 3)
    assert got.value == ["nan"] * 3


@pytest.mark.parametrize(
    "dtype", [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32]
)
@pytest.mark.parametrize("count", [7, 7000])
def test_integers_are_exact(dtype: torch.dtype, count: int) -> None:
    tensor = (torch.arange(count) % 100).to(dtype)
    got = summarise(tensor)
    assert (got.minimum, got.maximum) == (0, min(99, count - 1))
    assert isinstance(got.maximum, int)
    assert got.mean == pytest.approx((torch.arange(count) % 100).double().mean().item())


@pytest.mark.parametrize("count", [4, 4000])
def test_booleans_count_as_0_and_1(count: int) -> None:
    got = summarise(torch.arange(count) % 4 == 0)
    assert (got.minimum, got.maximum, got.mean) == (0, 1, 0.25)
    assert type(got.minimum) is int
    assert summarise(torch.tensor([True, False])).value == [True, False]


def test_complex_numbers_have_no_order_but_exact_values() -> None:
    got = summarise(torch.tensor([1 + 2j, complex("nan"), complex(math.inf, 0)]))
    assert (got.minimum, got.mean, got.nan, got.posinf) == (None, None, 1, 1)
    assert got.value == [[1.0, 2.0], ["nan", 0.0], ["inf", 0.0]]
    assert summarise(torch.tensor([1 + 2j])).value == [[1.0, 2.0]]
    assert preview_values(torch.tensor([3 + 4j])).tolist() == [[5.0]]


def test_conjugate_and_negated_views_are_read_as_they_mean() -> None:
    z = torch.tensor([1 + 2j, 3 - 4j])
    assert summarise(z.conj()).value == [[1.0, -2.0], [3.0, 4.0]]
    assert summarise(z.conj().imag).value == [-2.0, 4.0]


def test_empty_meta_and_scalar() -> None:
    empty = summarise(torch.zeros(0, 3))
    assert (empty.minimum, empty.value, empty.shape, empty.preview) == (None, [], (0, 3), None)
    meta = summarise(torch.zeros(3, device="meta"))
    assert (meta.minimum, meta.value, meta.preview) == (None, None, None)
    assert summarise(torch.tensor(2.5)).value == 2.5


def test_sparse_tensors_are_read_with_their_zeros() -> None:
    sparse = torch.eye(40).to_sparse()
    got = summarise(sparse)
    assert (got.minimum, got.maximum, got.mean) == (0, 1, pytest.approx(1 / 40))
    large = torch.sparse_coo_tensor([[0], [0]], [5.0], (5000, 5000), check_invariants=True)
    got = summarise(large)
    assert (got.minimum, got.maximum, got.value) == (0, 5, None)
    assert got.mean == pytest.approx(5 / 25_000_000)
    record = record_of(sparse)
    assert isinstance(record, TensorRecord)
    assert (record.stride, record.contiguous) == (None, False)


def test_exact_values_up_to_the_limit_with_texts_for_what_json_cannot_say() -> None:
    tensor = torch.tensor([[1.0, float("nan")], [float("inf"), float("-inf")]])
    assert summarise(tensor, 4).value == [[1.0, "nan"], ["inf", "-inf"]]
    assert summarise(tensor, 3).value is None
    assert len(summarise(torch.zeros(1000), 1000).value) == 1000  # type: ignore[arg-type]


def test_a_preview_is_at_most_32_by_32_and_says_what_it_left_out() -> None:
    tensor = torch.arange(100.0 * 70).reshape(100, 70)
    preview = summarise(tensor).preview
    assert preview is not None
    assert (preview.rows, preview.columns, preview.stride_rows, preview.stride_columns) == (25, 24, 4, 3)
    assert not preview.whole
    assert np.array_equal(preview_values(tensor), tensor[::4, ::3].numpy())
    assert np.array_equal(preview_values(torch.arange(5.0)), [[0, 1, 2, 3, 4]])
    cube = torch.arange(24.0).reshape(2, 3, 4)
    assert np.array_equal(preview_values(cube), cube[0].numpy())
    assert not summarise(cube).preview.whole  # type: ignore[union-attr]
    assert summarise(cube[:1]).preview.whole  # type: ignore[union-attr]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.bool, torch.int32, torch.float64])
def test_previews_of_other_dtypes_are_float32(dtype: torch.dtype) -> None:
    tensor = torch.tensor([[0, 1], [1, 0]]).to(dtype)
    assert preview_values(tensor).tolist() == [[0, 1], [1, 0]]


def test_a_large_tensor_is_sampled_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensor_summary, "SAMPLE_ABOVE", 1000)
    monkeypatch.setattr(tensor_summary, "SAMPLE", 500)
    for dtype in (torch.float32, torch.bfloat16, torch.int64):
        tensor = torch.arange(5000).reshape(50, 100).to(dtype)
        got = summarise(tensor.t())
        assert got.sampled
        assert got.mean == pytest.approx(2500, rel=0.1)


def test_strides_views_and_storages() -> None:
    base = torch.zeros(4, 6)
    first, second = record_of(base), record_of(base.t())
    assert isinstance(first, TensorRecord)
    assert isinstance(second, TensorRecord)
    assert first.storage == second.storage
    assert (second.stride, second.contiguous, second.size_bytes) == ((1, 6), False, 96)


def test_an_inference_tensor_has_no_version() -> None:
    with torch.inference_mode():
        tensor = torch.ones(2)
    record = record_of(tensor)
    assert isinstance(record, TensorRecord)
    assert record.version is None


def test_a_record_leaves_the_generators_and_the_graph_alone() -> None:
    state = torch.get_rng_state()
    x = torch.ones(100, 100, requires_grad=True)
    y = x * 2
    record = record_of(y)
    assert isinstance(record, TensorRecord)
    assert (record.grad_fn, record.is_leaf, record.requires_grad, record.version) == ("MulBackward0", False, True, 0)
    assert torch.equal(state, torch.get_rng_state())


def test_every_kind_of_value_has_a_record_that_goes_on_the_pipe() -> None:
    module = torch.nn.BatchNorm1d(3)
    values = {
        1: PlainRecord(what="number", class_name="int", value=1),
        1e400: PlainRecord(what="number", class_name="float", value="inf"),
        10**30: PlainRecord(what="number", class_name="int", value=str(10**30)),
        2j: PlainRecord(what="number", class_name="complex", value=[0.0, 2.0]),
        "text": PlainRecord(what="text", class_name="str", value="text"),
        torch.float32: PlainRecord(what="text", class_name="dtype", value="torch.float32"),
        None: PlainRecord(what="none", class_name="NoneType"),
        np.float64(0.5): PlainRecord(what="number", class_name="float64", value=0.5),
        np.float32(1.5): PlainRecord(what="number", class_name="float32", value=1.5),
        np.int64(-3): PlainRecord(what="number", class_name="int64", value=-3),
        np.dtype("float32"): PlainRecord(what="text", class_name="Float32DType", value="float32"),
    }
    for value, expected in values.items():
        assert record_of(value) == expected
    assert record_of(True) == PlainRecord(what="number", class_name="bool", value=True)
    items = record_of(torch.ones(2, 3).topk(2))
    assert isinstance(items, TupleRecord)
    assert (items.class_name, items.length) == ("topk", 2)
    long = record_of(list(range(100)))
    assert isinstance(long, TupleRecord)
    assert (long.length, len(long.items)) == (100, 64)
    record = record_of(module)
    assert isinstance(record, ModuleRecord)
    assert list(record.parameters) == ["weight", "bias"]
    assert "running_mean" in record.buffers
    optimizer = record_of(torch.optim.SGD(module.parameters(), lr=0.5))
    assert isinstance(optimizer, OptimizerRecord)
    assert optimizer.groups[0]["lr"] == 0.5
    assert record_of(module.parameters()) == ObjectRecord(class_name="generator")
    everything = (*values, module, items, torch.ones(2).numpy())
    row = Row(step=1, node="n", outputs=tuple(map(record_of, everything)))  # type: ignore[arg-type]
    assert encode(Traced(revision=1, rows=(row,)))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("layout", [torch.strided, torch.jagged])
def test_a_nested_tensor_tells_only_its_class(layout: torch.layout) -> None:
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=layout)
    assert isinstance(record_of(nested), ObjectRecord)
    assert summarise(nested).value is None


@pytest.mark.parametrize(
    ("shape", "tile_rows", "columns"),
    [((200, 64), 8, 8), ((6, 784), 14, 14), ((5, 28, 28), 14, 14), ((4, 1, 16, 16), 16, 16)],
)
def test_a_batch_of_pictures_is_previewed_by_its_first_pictures(shape, tile_rows, columns):
    data = torch.arange(math.prod(shape)).remainder(251).to(torch.uint8).reshape(shape)
    preview = summarise(data).preview
    assert (preview.tile_rows, preview.columns) == (tile_rows, columns)
    assert preview.rows % tile_rows == 0
    assert preview.rows * preview.columns <= 1024
    first = data[0].reshape(math.isqrt(data[0].numel()), -1)
    step = preview.stride_rows
    taken = torch.frombuffer(bytearray(preview.data), dtype=torch.float32)[: tile_rows * columns]
    assert torch.equal(taken.reshape(tile_rows, columns), first[::step, ::step].float())


def test_what_is_no_batch_of_pictures_keeps_its_plain_preview():
    for tensor in (
        torch.randn(200, 64),
        torch.rand(64, 64),
        torch.ones(3, 10, dtype=torch.uint8),
        torch.randn(5, 20, 20),
    ):
        assert summarise(tensor).preview.tile_rows == 0


@pytest.mark.parametrize("size", [(), (3,), (2, 3, 4), (50, 50)])
def test_a_gradient_that_is_zero_without_memory_of_its_own_is_told_as_zeros(size: tuple[int, ...]) -> None:
    x = torch.ones(size, requires_grad=True)
    x.sgn().backward(torch.ones(size))
    assert x.grad is not None
    assert x.grad._is_zerotensor()  # else this tests nothing
    got = summarise(x.grad, 10_000)
    assert got.value == torch.zeros(size).tolist()
    assert (got.minimum, got.maximum, got.mean) == (0, 0, 0)


@pytest.mark.parametrize("shape", [(2, 100_000, 8), (3, 1, 50_000, 9), (2, 8, 40_000)])
def test_pictures_too_long_for_a_sheet_have_the_preview_of_any_tensor(shape: tuple[int, ...]) -> None:
    preview = summarise(torch.zeros(shape, dtype=torch.uint8)).preview
    assert preview is not None
    assert preview.tile_rows == 0
    assert preview.rows <= 32
    assert preview.columns <= 32


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (10**7, 0), (2, 10**6, 0)])
def test_what_has_no_elements_is_told_in_a_few_bytes(shape: tuple[int, ...]) -> None:
    for value in (torch.zeros(shape), np.zeros(shape)):
        row = Row(step=1, node=ItemId("n"), outputs=(record_of(value),))
        assert len(encode(Traced(revision=1, rows=(row,)))) < 400


def test_a_preview_of_a_value_that_is_expanded_beyond_any_memory_can_be_sent() -> None:
    found = summarise(torch.ones(1).expand(1 << 45), 64)
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=Summary) == found


@pytest.mark.parametrize("shape", [(), (3,), (2, 3, 4), (100,), (40, 60), (10_000,)])
def test_a_tensor_can_be_resized_after_it_was_looked_at(shape: tuple[int, ...]) -> None:
    dtypes = [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.bool]
    for dtype in [*dtypes, torch.complex64]:
        tensor = torch.ones(shape).to(dtype)
        summarise(tensor)
        tensor.resize_(20_000)
