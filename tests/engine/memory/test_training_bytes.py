"""What training holds beside results, `.grad` and optimizer state: torch's own tensors are added up by hand."""

from collections.abc import Iterable
from typing import Any

import pytest
import torch
from torch import Tensor, nn, optim

from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.memory import training_bytes
from gradstudio.engine.memory.memory_usage import memory_by_node
from gradstudio.engine.memory.training_bytes import state_tensors
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.debugging import MemoryByNode, NodeMemory
from gradstudio.protocol.messages.events import Memory
from tests.engine.build import node
from tests.engine.conftest import Bench

KB = 1000
STEP = "\nloss.backward()\no.step()"
ONE_STEP = "fc = nn.Linear(1000, 1000)\no = optim.Adam(fc.parameters())\nloss = fc(torch.ones(2, 1000)).sum()" + STEP


def sampled(bench: Bench) -> dict[str, int]:
    """The sample that the plot shows behind what has run."""
    sent: list[Message] = []
    bench.engine.sampler._send = sent.append
    bench.engine.sampler.sample()
    return next(event.series for event in sent if isinstance(event, Memory) and event.device == "cpu")


def followed(bench: Bench, text: str) -> dict[str, int]:
    """The same, of a run during which samples are wanted."""
    sampled(bench)
    bench.run(text)
    return sampled(bench)


def weighed(bench: Bench) -> MemoryByNode:
    bench.engine.settle()
    with clean_modes():
        return memory_by_node(bench.engine.live, bench.engine.memory)


def row(told: MemoryByNode, line: int) -> NodeMemory:
    return next(row for row in told.rows if row.node == node(line))


def size(tensors: Iterable[Tensor]) -> int:
    return sum(tensor.element_size() * tensor.numel() for tensor in tensors)


def state_of(optimizer: Any) -> list[Tensor]:
    return [held for state in optimizer.state.values() for held in state.values() if isinstance(held, Tensor)]


def oracle() -> tuple[int, int, int]:
    """Bytes of parameters, gradients and optimizer state of the same step in plain torch."""
    fc = nn.Linear(1000, 1000)
    o = optim.Adam(fc.parameters())
    fc(torch.ones(2, 1000)).sum().backward()
    o.step()
    parameters = list(fc.parameters())
    return size(parameters), size(p.grad for p in parameters if p.grad is not None), size(state_of(o))


def test_a_sample_counts_gradients_and_optimizer_state_beside_the_tensors(bench: Bench) -> None:
    series = followed(bench, ONE_STEP)
    parameters, gradients, state = oracle()
    assert parameters + gradients + state > 16_000_000
    assert (series["gradients"], series["optimizer"]) == (gradients, state)
    assert parameters <= series["tensors"] < parameters + 64 * KB


def test_the_rows_of_leaf_and_optimizer_tell_them_apart(bench: Bench) -> None:
    bench.run(ONE_STEP)
    told = weighed(bench)
    parameters, gradients, state = oracle()
    layer, optimizer = row(told, 1), row(told, 2)
    assert (layer.alive_bytes, layer.grad_bytes, layer.state_bytes) == (parameters, gradients, 0)
    assert (optimizer.alive_bytes, optimizer.grad_bytes, optimizer.state_bytes) == (0, 0, state)
    assert (told.grad_bytes, told.state_bytes) == (gradients, state)


@pytest.mark.parametrize("kind", ["SGD(fc.parameters(), lr=0.1, momentum=0.9)", "SGD(fc.parameters())"])
def test_an_optimizer_without_state_holds_none(bench: Bench, kind: str) -> None:
    bench.run(f"fc = nn.Linear(50, 5)\no = optim.{kind}\nloss = fc(torch.ones(2, 50)).sum()" + STEP)
    held = size(state_of(bench["o"]))
    assert weighed(bench).state_bytes == held
    assert held == (4 * 255 if "momentum" in kind else 0)


def test_state_in_lists_is_found() -> None:
    w = torch.ones(250, requires_grad=True)
    optimizer = optim.LBFGS([w], max_iter=3)

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = (w**4 + w).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    state = optimizer.state[w]
    assert len(state["old_dirs"]) > 0
    found = {id(tensor) for tensor in state_tensors(optimizer)}
    assert found >= {
        id(tensor) for tensor in (*state["old_dirs"], *state["old_stps"], state["d"], state["prev_flat_grad"])
    }
    assert id(w) not in found


def test_a_storage_counts_once_whoever_holds_it(bench: Bench) -> None:
    text = (
        "w = torch.ones(250, requires_grad=True)\nv = torch.ones(250, requires_grad=True)\n(w * v).sum().backward()"
        "\ng = w.grad\nv.grad = g\no = optim.Adam([w, v])\nh = [o, o]"
    )
    series = followed(bench, text)
    assert bench["v"].grad is bench["w"].grad is bench["g"]  # type: ignore[attr-defined]
    assert (series["gradients"], series["tensors"]) == (KB, 2 * KB), "a name makes of a .grad no tensor beside it"
    told = weighed(bench)
    assert row(told, 1).grad_bytes == row(told, 2).grad_bytes == KB and told.grad_bytes == 0
    assert told.alive_bytes == 3 * KB


def test_a_gradient_that_two_leaves_share_counts_once(bench: Bench) -> None:
    series = followed(
        bench,
        "w = torch.ones(250, requires_grad=True)\nv = torch.ones(250, requires_grad=True)\n(w + 0).sum().backward()"
        "\nv.grad = w.grad",
    )
    assert series["gradients"] == weighed(bench).grad_bytes == KB


def test_a_sparse_gradient_counts_its_indices_and_values(bench: Bench) -> None:
    text = "e = nn.Embedding(5000, 8, sparse=True)\nloss = e(torch.tensor([1, 2, 2])).sum()\nloss.backward()"
    series = followed(bench, text)
    grad = bench["e"].weight.grad  # type: ignore[attr-defined]
    assert grad.is_sparse
    held = size([grad._values(), grad._indices()])
    assert 0 < held < 5000 * 8
    told = weighed(bench)
    assert series["gradients"] == row(told, 1).grad_bytes == told.grad_bytes == held


def test_gradients_that_are_set_to_none_are_gone(bench: Bench) -> None:
    assert followed(bench, ONE_STEP + "\no.zero_grad()")["gradients"] == 0


def test_a_run_is_counted_on_its_way(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row that is sent asks again, as samples do; what the end of the run counts is left out."""
    training, told = bench.engine.runner.training, list[dict[str, int]]()
    monkeypatch.setattr(training_bytes, "PATIENCE", 0)
    monkeypatch.setattr(training, "conclude", lambda live: None)
    send = bench.engine.runner._send

    def hear(event: Message) -> None:
        send(event)
        told.append(training.series(bench.engine.live))

    monkeypatch.setattr(bench.engine.runner, "_send", hear)
    bench.run(ONE_STEP + "\no.zero_grad()")
    _, gradients, state = oracle()
    pairs = [(series.get("gradients", 0), series.get("optimizer", 0)) for series in told]
    assert list(dict.fromkeys(pairs)) == [(0, 0), (gradients, 0), (gradients, state), (0, state)]


def test_what_is_kept_for_showing_is_not_what_the_program_holds(bench: Bench) -> None:
    series = followed(bench, ONE_STEP)
    assert series["kept"] < 64 * KB


def test_a_program_without_training_has_no_such_series_and_a_let_go_one_holds_nothing(bench: Bench) -> None:
    assert followed(bench, "x = torch.ones(3)").keys() == {"tensors", "kept", "process"}
    assert followed(bench, ONE_STEP)["optimizer"] > 0
    bench.engine._drop_live()
    series = sampled(bench)
    assert (series["gradients"], series["optimizer"], series["kept"]) == (0, 0, 0)


def test_the_program_is_not_looked_through_while_nobody_wants_samples(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_given: object) -> None:
        raise AssertionError("nobody asked")

    monkeypatch.setattr(training_bytes, "optimizers_of", refuse)
    bench.run(ONE_STEP)
