"""What one rank holds of a distributed tensor, beside torch's own words for it: ranks that are made up, one process."""

from collections.abc import Iterator

import pytest
import torch
import torch.distributed
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Placement, Replicate, Shard
from torch.distributed.tensor._utils import compute_local_shape_and_global_offset
from torch.testing._internal.distributed.fake_pg import FakeStore

from gradstudio.engine.live.tensor_table import fetch
from gradstudio.engine.value.rank_spread import Here
from gradstudio.engine.value.tensor_shards import held_part
from gradstudio.engine.value.tensor_summary import outline, summarise
from gradstudio.engine.value.value_records import tensor_record
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.bounds import MOST_CELLS
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.protocol.messages.requests import Fetch
from tests.engine.conftest import Bench

RANKS, RANK = 4, 2
NOWHERE = ItemId("")


@pytest.fixture
def mesh() -> Iterator[DeviceMesh]:
    torch.distributed.init_process_group("fake", store=FakeStore(), rank=RANK, world_size=RANKS)
    yield init_device_mesh("cpu", (2, 2))
    torch.distributed.destroy_process_group()


def distributed(whole: tuple[int, ...], mesh: DeviceMesh, placements: tuple[Placement, ...]) -> DTensor:
    """A tensor of that shape whose part here holds 0, 1, 2, …"""
    shape, _ = compute_local_shape_and_global_offset(torch.Size(whole), mesh, placements)
    part = torch.arange(float(torch.Size(shape).numel())).reshape(shape)
    stride = torch.empty(whole).stride()
    return DTensor.from_local(part, mesh, placements, shape=torch.Size(whole), stride=stride)


@pytest.mark.parametrize("whole", [(8, 6), (5, 3), (1, 7), (3,)])
@pytest.mark.parametrize(
    "placements",
    [(Shard(0), Replicate()), (Replicate(), Shard(0)), (Shard(0), Shard(0)), (Replicate(), Replicate())],
    ids=str,
)
def test_the_part_here_and_where_it_begins_are_torchs(
    whole: tuple[int, ...], placements: tuple[Placement, ...], mesh: DeviceMesh
) -> None:
    tensor = distributed(whole, mesh, placements)
    summary, part = summarise(tensor), tensor.to_local()
    shape, offset = compute_local_shape_and_global_offset(torch.Size(whole), mesh, placements)
    assert summary.shard is not None and summary.shard.whole == whole == tuple(tensor.shape)
    assert summary.shape == tuple(shape)
    if part.numel():
        assert summary.shard.offset == tuple(offset)
        assert summary.value == part.tolist() and summary.mean == pytest.approx(part.mean().item())
    assert summary.shard.placements == tuple(repr(one).replace("dim=", "") for one in placements)
    assert summary.shard.is_part == any(one.is_shard() for one in placements)
    assert outline(tensor).shard == summary.shard and outline(tensor).shape == summary.shape


def test_columns_are_shared_out_too(mesh: DeviceMesh) -> None:
    tensor = distributed((4, 6), mesh, (Shard(0), Shard(1)))
    shard = summarise(tensor).shard
    assert shard is not None and shard.offset == (2, 0)


def test_a_part_says_so_over_ranks_and_a_copy_is_compared(mesh: DeviceMesh, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Here, "rank", RANK)
    part = summarise(distributed((8, 6), mesh, (Shard(0), Replicate()))).spread
    copy = summarise(distributed((8, 6), mesh, (Replicate(), Replicate()))).spread
    term = summarise(distributed((8, 6), mesh, (Partial(), Replicate()))).spread
    assert part is not None and part.parts and not part.digest and part.layout == "float32 [8, 6] Shard(0), Replicate()"
    assert copy is not None and not copy.parts and copy.is_equal
    assert term is not None and term.parts


def test_the_bytes_of_a_record_are_those_that_lie_here(mesh: DeviceMesh) -> None:
    tensor = distributed((8, 6), mesh, (Shard(0), Replicate()))
    record = tensor_record(tensor)
    assert isinstance(record, TensorRecord)
    assert record.size_bytes == tensor.to_local().nbytes and record.stride == tensor.stride()


def test_any_other_tensor_is_held_whole() -> None:
    tensor = torch.nn.Parameter(torch.ones(2))
    assert held_part(tensor) is tensor and summarise(tensor).shard is None


def test_of_a_whole_that_is_too_large_for_one_answer_none_is_cut_out(mesh: DeviceMesh, bench: Bench) -> None:
    bench.run("x = torch.ones(2)")
    assert bench.engine.live is not None
    whole = (2 * MOST_CELLS + 4, 2)  # half of which lies here
    bench.engine.live.namespace["whole"] = distributed(whole, mesh, (Shard(0), Replicate()))
    cuts = {"whole": (0, 2 * MOST_CELLS), "few": (MOST_CELLS + 2, MOST_CELLS + 4)}
    answers = {
        name: fetch(
            bench.engine.live, Fetch(request=1, node=ItemId(""), name="whole", rows=rows, columns=(0, 2), whole=True)
        )
        for name, rows in cuts.items()
    }
    assert "that are sent at once" in answers["whole"].error and not answers["whole"].values
    assert answers["few"].values == ((0.0, 1.0), (2.0, 3.0)) and not answers["few"].error
