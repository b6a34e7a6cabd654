"""The engine on a real accelerator: same numbers as plain torch there, its memory, its errors."""

import pytest
import torch

from gradstudio.engine.devices import devices
from gradstudio.engine.memory.memory_sampler import accelerator_series
from gradstudio.engine.value.tensor_summary import summarise
from gradstudio.protocol.messages.records import TensorRecord
from tests.engine.build import PRELUDE, node
from tests.engine.conftest import Bench

pytestmark = pytest.mark.skipif(not torch.accelerator.is_available(), reason="there is no accelerator")

NETWORK = """
W = torch.randn(64, 32, device={device!r}, requires_grad=True)
x = torch.randn(16, 64, device={device!r})
h = torch.tanh(x @ W)
loss = h.square().mean()
loss.backward()
"""


def accelerator() -> str:
    found = torch.accelerator.current_accelerator()
    assert found is not None
    return found.type


def test_values_and_gradients_are_those_of_plain_torch_on_the_device(bench: Bench) -> None:
    text = NETWORK.format(device=accelerator())
    namespace: dict[str, object] = {}
    exec(PRELUDE + "torch.manual_seed(0)\n" + text, namespace)
    for trace in (True, False):
        assert bench.run(text, trace=trace).outcome == "done"
        assert torch.equal(bench["h"], namespace["h"])  # type: ignore[arg-type]
        assert torch.equal(bench["W"].grad, namespace["W"].grad)  # type: ignore[attr-defined]
    bench.run(text)
    records = [record for row in bench.rows() for record in row.outputs if isinstance(record, TensorRecord)]
    assert {record.device.partition(":")[0] for record in records} == {accelerator()}
    assert bench.state(3) == "value"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool])
@pytest.mark.parametrize("count", [5, 5000, 500_000])
def test_summaries_are_those_of_the_same_numbers_on_the_cpu(dtype: torch.dtype, count: int) -> None:
    tensor = (torch.randn(count) * 3).to(dtype)
    here, there = summarise(tensor), summarise(tensor.to(accelerator()))
    assert (there.minimum, there.maximum, there.preview, there.value) == (
        here.minimum,
        here.maximum,
        here.preview,
        here.value,
    )
    assert there.mean == pytest.approx(here.mean, abs=1e-3)
    assert there.rms == pytest.approx(here.rms, rel=1e-3)


def test_a_device_mismatch_is_torchs_error_at_its_node(bench: Bench) -> None:
    bench.run(f"a = torch.ones(2)\nb = torch.ones(2, 2, device={accelerator()!r})\nc = b @ a")
    assert bench.failed().node == node(3)
    assert "device" in bench.failed().message


def test_what_does_not_fit_the_device_is_refused_and_the_engine_goes_on(bench: Bench) -> None:
    bench.run(f"x = torch.zeros(10**12, device={accelerator()!r})")
    assert bench.failed().warned_bytes == 4 * 10**12
    assert bench.run(f"x = torch.zeros(10, device={accelerator()!r})").outcome == "done"


def test_the_device_and_its_memory_are_told(bench: Bench) -> None:
    assert accelerator() in {device.name.partition(":")[0] for device in devices()}
    bench.run(f"x = torch.zeros(1000000, device={accelerator()!r})")
    series = next(iter(accelerator_series().values()))
    assert series["total"] > series["reserved"] >= series["allocated"] >= 4_000_000
