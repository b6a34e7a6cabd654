"""Figures of a node: each reads what it says, and nothing where there is nothing."""

import math

import pytest

from gradstudio.advice.metrics import METRICS, value_of
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.debugging import NodeMemory
from gradstudio.protocol.messages.events import GradRow
from gradstudio.protocol.messages.records import ModuleRecord, Record, Summary, TensorRecord

NODE = ItemId("a")


class Told:
    """A run of one node."""

    def __init__(
        self, outputs: tuple[Record, ...] | None = None, grads: tuple[GradRow, ...] = (),
        seconds: tuple[float, float] = (0.0, 0.0), saved: int = 0, memory: NodeMemory | None = None,
        released: int = 0,
    ) -> None:  # fmt: skip
        self._released = released
        self._outputs, self._grads, self._seconds, self._saved, self._memory = outputs, grads, seconds, saved, memory

    def outputs(self, node: ItemId) -> tuple[Record, ...] | None:
        return self._outputs

    def gradients_of(self, node: ItemId) -> tuple[GradRow, ...]:
        return self._grads

    def seconds(self, node: ItemId) -> tuple[float, float]:
        return self._seconds

    def saved_bytes(self, node: ItemId) -> int:
        return self._saved

    def released_bytes(self, node: ItemId) -> int:
        return self._released

    def node_memory(self, node: ItemId) -> NodeMemory | None:
        return self._memory


def tensor(low: float, high: float, storage: int = 1, size: int = 16) -> TensorRecord:
    summary = Summary(dtype="torch.float32", shape=(4,), minimum=low, maximum=high)
    return TensorRecord(device="cuda:0", summary=summary, storage=storage, size_bytes=size)


def grad(rms: float, *shape: int, nan: int = 0) -> GradRow:
    return GradRow(node=NODE, state="value", grad=Summary(dtype="torch.float32", shape=shape, rms=rms, nan=nan))


@pytest.mark.parametrize("name", METRICS)
def test_a_node_that_did_not_run_has_no_figure(name: str) -> None:
    assert value_of(name, Told(), NODE) is None


def test_gradient_rms_counts_each_finite_element_once() -> None:
    told = Told(grads=(grad(3.0, 1), grad(1.0, 4, nan=1), GradRow(node=NODE, state="not_reached")))
    assert value_of("gradient_rms", told, NODE) == math.sqrt((9 + 3) / 4)


def test_the_largest_value_is_a_magnitude_and_reaches_into_modules() -> None:
    assert value_of("value_range", Told((tensor(-5.0, 2.0), tensor(0.0, 3.0))), NODE) == 5.0
    module = ModuleRecord(class_name="Linear", parameters={"weight": tensor(-0.5, 0.25)})
    assert value_of("value_range", Told((module,)), NODE) == 0.5


def test_times() -> None:
    told = Told(seconds=(0.5, 0.25))
    assert [value_of(name, told, NODE) for name in ("time_forward", "time_backward", "time")] == [0.5, 0.25, 0.75]


def test_bytes_count_a_shared_storage_once_until_the_engine_weighs_them() -> None:
    told = Told((tensor(0, 1, storage=7), tensor(0, 1, storage=7), tensor(0, 1, storage=8)))
    assert value_of("alive_bytes", told, NODE) == 32.0
    weighed = Told((tensor(0, 1),), saved=8, memory=NodeMemory(node=NODE, alive_bytes=4096))
    assert value_of("alive_bytes", weighed, NODE) == 4096.0
    assert value_of("saved_bytes", weighed, NODE) == 8.0


def test_what_was_let_go_is_zero_bytes_and_not_no_figure() -> None:
    freed = Told((tensor(0, 1),), memory=NodeMemory(node=NODE, freed_step=3), released=8)
    assert [value_of(name, freed, NODE) for name in ("alive_bytes", "saved_bytes")] == [0.0, 0.0]
    view = Told((tensor(0, 1),), memory=NodeMemory(node=NODE))
    assert [value_of(name, view, NODE) for name in ("alive_bytes", "saved_bytes")] == [None, None]


def test_words_are_of_the_first_tensor() -> None:
    told = Told((tensor(0, 1),))
    assert (value_of("dtype", told, NODE), value_of("device", told, NODE)) == ("float32", "cuda:0")


def test_what_is_not_finite_is_no_figure() -> None:
    assert value_of("value_range", Told((tensor(0.0, math.inf),)), NODE) is None
