"""Devices and memory: what torch has here, and a made-up accelerator at torch's own edge."""

import types

import pytest
import torch

from gradstudio.engine import device_memory
from gradstudio.engine.devices import devices
from gradstudio.engine.memory.memory_sampler import LiveBytes, MemorySampler, accelerator_series
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Memory


class Card:
    """Stands in for `torch.cuda` and `torch.accelerator` with two devices."""

    name, total_memory = "Pretend 9000", 8 << 30

    def __init__(self, monkeypatch: pytest.MonkeyPatch, kind: str = "cuda") -> None:
        module = types.SimpleNamespace(get_device_properties=lambda index: self, is_initialized=lambda: True)
        answers = {
            "is_available": lambda: True,
            "current_accelerator": lambda: torch.device(kind),
            "device_count": lambda: 2,
            "memory_allocated": lambda index: 10,
            "memory_reserved": lambda index: 30,
            "max_memory_allocated": lambda index: 25,
            "get_memory_info": lambda index: (100, 8 << 30),
        }
        for name, answer in answers.items():
            monkeypatch.setattr(torch.accelerator, name, answer)
        monkeypatch.setattr(torch, "get_device_module", lambda kind: module)


def test_the_cpu_comes_first_with_its_memory() -> None:
    first = devices()[0]
    assert first.name == "cpu"
    assert first.total_bytes > 1 << 28
    assert len(devices()) == 1 + (torch.accelerator.device_count() if torch.accelerator.is_available() else 0)


@pytest.mark.parametrize("kind", ["cuda", "xpu"])
def test_each_device_of_the_accelerator_is_listed(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    Card(monkeypatch, kind)
    assert [(d.name, d.title, d.total_bytes) for d in devices()[1:]] == [
        (f"{kind}:0", "Pretend 9000", 8 << 30),
        (f"{kind}:1", "Pretend 9000", 8 << 30),
    ]


def test_apple_has_one_device(monkeypatch: pytest.MonkeyPatch) -> None:
    Card(monkeypatch, "mps")
    monkeypatch.setattr(torch.accelerator, "device_count", lambda: 1)
    monkeypatch.setattr(torch.mps, "recommended_max_memory", lambda: 1000)
    monkeypatch.setattr(torch.mps, "driver_allocated_memory", lambda: 300)
    monkeypatch.setattr(torch.mps, "current_allocated_memory", lambda: 200)
    assert [(d.name, d.total_bytes) for d in devices()[1:]] == [("mps", 1000)]
    assert device_memory.free_bytes(torch.device("mps")) == 700
    assert accelerator_series() == {"mps": {"allocated": 200, "reserved": 300, "total": 1000}}


def test_what_is_reserved_and_not_handed_out_counts_as_free(monkeypatch: pytest.MonkeyPatch) -> None:
    Card(monkeypatch)
    assert device_memory.free_bytes(torch.device("cuda", 0)) == 100 + 30 - 10
    assert device_memory.free_bytes(torch.device("meta")) is None


def test_accelerators_have_four_curves_each(monkeypatch: pytest.MonkeyPatch) -> None:
    Card(monkeypatch)
    curves = {"allocated": 10, "reserved": 30, "peak": 25, "total": 8 << 30}
    assert accelerator_series() == {"cuda:0": curves, "cuda:1": curves}


def test_a_sample_is_of_the_cpu_and_of_every_accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    Card(monkeypatch)
    sent: list[Message] = []
    MemorySampler(sent.append, LiveBytes(), lambda: {"kept": 7}).sample("Run 1")
    samples = [event for event in sent if isinstance(event, Memory)]
    assert [(s.device, s.mark) for s in samples] == [("cpu", "Run 1"), ("cuda:0", "Run 1"), ("cuda:1", "Run 1")]
    assert set(samples[0].series) == {"tensors", "kept", "process"} and samples[0].series["kept"] == 7


def test_a_mark_is_not_sent_when_nobody_wants_samples() -> None:
    sent: list[Message] = []
    MemorySampler(sent.append, LiveBytes(), lambda: {"kept": 7}).mark("Run 1")
    assert sent == []


def test_live_bytes_count_each_storage_once_while_it_lives() -> None:
    live = LiveBytes()
    base = torch.zeros(1000)
    for tensor in (base, base[10:], base.view(10, 100), torch.zeros(3, device="meta")):
        live.see(tensor)
    assert live.total == 4000
    other = torch.zeros(10, dtype=torch.float64)
    live.see(other)
    assert live.total == 4080
    del other
    assert live.total == 4000
    del base, tensor
    assert live.total == 0


def test_a_containers_limit_is_a_limit(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    from pathlib import Path

    assert isinstance(tmp_path, Path)
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("400000\n")
    (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 100000\n")
    monkeypatch.setattr(device_memory, "_CONTAINER_LIMITS", ((str(tmp_path), "memory.max", "memory.current"),))
    assert device_memory.free_bytes(torch.device("cpu")) == 700_000
    assert device_memory.memory_limit(1 << 40) == 1_000_000
    (tmp_path / "memory.max").write_text("max\n")
    assert device_memory.memory_limit(1 << 40) == 1 << 40
