"""Bytes of each node, counted by hand; and what an allocator tells, with a made-up accelerator at torch's own edge."""

import pytest
import torch

from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.memory import memory_sampler
from gradstudio.engine.memory.memory_sampler import LiveBytes, alive_bytes, allocated_bytes
from gradstudio.engine.memory.memory_usage import memory_by_node
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Statement
from gradstudio.protocol.messages.debugging import MemoryByNode, NodeMemory
from tests.engine.build import node, program
from tests.engine.conftest import Bench

KB = 1000


def weighed(bench: Bench) -> MemoryByNode:
    bench.engine.settle()
    with clean_modes():
        return memory_by_node(bench.engine.live, bench.engine.memory)


def by_line(told: MemoryByNode) -> dict[ItemId, NodeMemory]:
    return {row.node: row for row in told.rows}


NETWORK = """x = torch.randn(250)
w = torch.randn(250, requires_grad=True)
y = x * w
e = y.exp()
v = e.view(10, 25)
loss = v.sum()"""


def test_rows_tell_what_was_made_and_what_is_alive(bench: Bench) -> None:
    bench.run(NETWORK)
    made = [row.made_bytes for row in bench.rows()]
    assert made == [KB, KB, KB, KB, 0, 4]
    start = bench.rows()[0].alive_bytes - KB
    assert [row.alive_bytes - start for row in bench.rows()] == [1 * KB, 2 * KB, 3 * KB, 4 * KB, 4 * KB, 4 * KB + 4]


def test_modules_and_lists_are_made_too(bench: Bench) -> None:
    bench.run("fc = nn.Linear(10, 5)\nn = nn.BatchNorm1d(5)\nparts = torch.ones(3, 4).unbind(0)\nk = 3")
    assert [row.made_bytes for row in bench.rows()] == [4 * 55, 4 * 20 + 8, 48, 0]


def test_a_loop_that_rebinds_lets_go(bench: Bench) -> None:
    bench.run("h = torch.ones(250)\nfor t in range(50):\n    h = h + 1")
    figures = [row.alive_bytes for row in bench.rows()]
    assert figures[-1] - figures[0] <= 2 * KB
    told = weighed(bench)
    assert by_line(told)[node(3)].alive_bytes == KB and by_line(told)[node(1)].freed_step == 2


def test_before_a_backward_the_saved_tensors_count_at_their_node(bench: Bench) -> None:
    bench.run(NETWORK)
    told = weighed(bench)
    rows = by_line(told)
    assert rows[node(3)].saved_bytes == KB  # x: w requires grad, x does not, so only x is saved
    assert rows[node(4)].saved_bytes == KB and rows[node(4)].alive_bytes == KB
    assert node(5) not in rows
    assert (told.alive_bytes, told.saved_bytes, told.grad_bytes, told.kept_bytes) == (4 * KB + 4, 2 * KB, 0, 0)


def test_a_storage_that_is_saved_twice_counts_once_in_the_total(bench: Bench) -> None:
    bench.run("x = torch.ones(250, requires_grad=True)\na = x * x\nb = x ** 2")
    told = weighed(bench)
    assert by_line(told)[node(2)].saved_bytes == by_line(told)[node(3)].saved_bytes == KB
    assert told.saved_bytes == KB


def test_behind_a_backward_nothing_is_saved_and_recorded_gradients_are_kept(bench: Bench) -> None:
    bench.run(NETWORK + "\nloss.backward()")
    told = weighed(bench)
    rows = by_line(told)
    assert told.saved_bytes == 0
    assert rows[node(2)].grad_bytes == told.grad_bytes == KB
    assert rows[node(4)].kept_bytes > 0 and rows[node(1)].kept_bytes == 0
    live = bench.engine.live
    assert live is not None
    grads = {
        v.grad.untyped_storage()._cdata: v.grad.untyped_storage().nbytes()
        for v in live.gradients.values.values()
        if v.grad is not None
    }
    held = bench["w"].grad.untyped_storage()._cdata  # type: ignore[attr-defined]
    assert told.kept_bytes == sum(size for key, size in grads.items() if key != held)


def test_retain_graph_keeps_what_is_saved(bench: Bench) -> None:
    bench.run(NETWORK + "\nloss.backward(retain_graph=True)")
    assert weighed(bench).saved_bytes == 2 * KB


def test_a_part_is_let_go_by_its_user_or_by_the_backward_that_saved_it(bench: Bench) -> None:
    def part(inner: str, outer: str) -> tuple[Statement, ...]:
        base = program(
            "x = torch.ones(250, requires_grad=True)\np = " + inner + "\ny = " + outer + "\ns = y.sum()\ns.backward()"
        )
        first, second, third, *rest = base.statements
        assert isinstance(second, Statement) and isinstance(third, Statement)
        import msgspec

        second = msgspec.structs.replace(second, is_part=True)
        third = msgspec.structs.replace(third, drops=("p",))
        return msgspec.structs.replace(base, statements=(first, second, third, *rest))  # type: ignore[return-value]

    bench.run(part("x * 2", "p + 1"))  # type: ignore[arg-type]
    row = by_line(weighed(bench))[node(2)]
    assert (row.alive_bytes, row.freed_step) == (0, 3) and row.kept_bytes >= KB
    bench.run(part("x * 2", "p.exp() * p"))  # type: ignore[arg-type]
    row = by_line(weighed(bench))[node(2)]
    assert (row.alive_bytes, row.freed_step) == (0, 5)


def test_optimizer_state_is_not_lost_and_a_plain_run_is_weighed(bench: Bench) -> None:
    text = (
        "w = torch.ones(250, requires_grad=True)\no = optim.Adam([w])\nloss = (w * w).sum()\nloss.backward()\no.step()"
    )
    bench.run(text, trace=False)
    told = weighed(bench)
    rows = by_line(told)
    assert rows[node(1)].alive_bytes == KB and rows[node(1)].grad_bytes == KB
    assert told.alive_bytes == KB + 4


def test_nothing_live_weighs_nothing(bench: Bench) -> None:
    assert weighed(bench) == MemoryByNode(revision=0)


def test_a_storage_that_torch_frees_is_noted_with_its_step() -> None:
    seen = LiveBytes()
    tensor = torch.zeros(10)
    assert seen.see_all([tensor, tensor.view(2, 5)], ItemId("a"), 3) == 40
    seen.step = 8
    del tensor
    assert seen.freed == {"a": 8} and seen.total == 0
    again = torch.zeros(5)
    seen.see(again, ItemId("a"), 9)
    assert seen.freed == {}


class Card:
    """Torch's own functions, as they answer for two devices that are not there."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, begun: bool) -> None:
        monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
        monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("cuda"))
        monkeypatch.setattr(torch.accelerator, "device_count", lambda: 2)
        monkeypatch.setattr(torch.accelerator, "memory_allocated", lambda index: 100 * (index + 1))
        monkeypatch.setattr(torch.cuda, "is_initialized", lambda: begun)
        memory_sampler._accelerator.cache_clear()


def test_on_an_accelerator_the_allocator_tells_what_is_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        Card(monkeypatch, begun=True)
        assert allocated_bytes() == (100, 200)
        Card(monkeypatch, begun=False)
        assert allocated_bytes() == ()
    finally:
        monkeypatch.undo()
        memory_sampler._accelerator.cache_clear()
    seen = LiveBytes()
    here = torch.zeros(10)
    seen.see(here)
    assert alive_bytes((here,), seen, (100, 200)) == 40
    assert alive_bytes((), seen, (100, 200)) == 40
    assert alive_bytes((torch.zeros(3, device="meta"),), seen, (100, 200)) == 100
