"""The memory a program will hold at once, against what is free: announced before anything is allocated."""

import pytest
import torch

from gradstudio.engine.infer.shape_inference import Inference
from gradstudio.engine.memory import memory_estimate
from gradstudio.engine.tensor_files import StoredTensors
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.inference import Infer, Need
from tests.engine.build import node, program

MIB = 1 << 20
PLENTY = 1 << 60


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Free bytes by device, as the edge of the system tells them; what the process holds counts as nothing."""
    told = {"cpu": PLENTY}
    monkeypatch.setattr(memory_estimate, "_free", lambda device, _baseline: told.get(device))
    return told


def needed(text: str) -> dict[str, Need]:
    answer = Inference().infer(Infer(revision=1, program=program(text)), StoredTensors().load_file)
    return {need.device: need for need in answer.needs}


def at(text: str) -> tuple[int, ItemId]:
    need = needed(text)["cpu"]
    return need.bytes // MIB, need.node


def test_what_is_bound_together_is_summed_and_the_first_statement_too_many_is_named(free: dict[str, int]) -> None:
    free["cpu"] = 250 * MIB
    text = "a = torch.zeros(25, 1024, 1024)\nb = a + 1\nc = b * 2\nd = c.sum()"
    assert needed(text) == {"cpu": Need(device="cpu", bytes=300 * MIB + 4, free_bytes=250 * MIB, node=node(3))}
    free["cpu"] = 301 * MIB
    assert needed(text) == {}


def test_a_view_costs_nothing_and_a_name_that_is_bound_anew_lets_the_old_value_go(free: dict[str, int]) -> None:
    free["cpu"] = 100 * MIB
    assert at("a = torch.zeros(20, 1024, 1024)\nb = a.view(-1)\nc = b[1:]\nd = a + 1") == (160, node(4))
    assert at("a = torch.zeros(20, 1024, 1024)\na = a + 1\na = a + 1\na = a + 1") == (160, node(2))


def test_in_a_loop_a_value_lives_until_the_next_turn_has_made_its_own(free: dict[str, int]) -> None:
    free["cpu"] = 100 * MIB
    assert at("x = torch.zeros(20, 1024, 1024)\nfor t in range(50):\n    y = x + t") == (240, node(3))


def test_gradients_of_the_leaves_a_backward_reaches_are_in_it(free: dict[str, int]) -> None:
    free["cpu"] = 150 * MIB
    made = "w = torch.zeros(16, 1024, 1024, requires_grad=True)\nv = torch.zeros(16, 1024, 1024, requires_grad=True)"
    assert at(f"{made}\nl = w.sum()\nl.backward()") == (192, node(4))
    assert at(f"{made}\nl = w.sum() + v.sum()\nl.backward()") == (256, node(4))


@pytest.mark.parametrize(("optimizer", "copies"), [("SGD(fc.parameters(), lr=0.1)", 0), ("Adam(fc.parameters())", 2),
    ("SGD(fc.parameters(), lr=0.1, momentum=0.9)", 1), ("AdamW(fc.parameters(), amsgrad=True)", 3)])  # fmt: skip
def test_parameters_their_gradients_and_what_the_optimizer_keeps_are_in_it(
    free: dict[str, int], optimizer: str, copies: int
) -> None:
    free["cpu"] = 60 * MIB
    text = f"fc = nn.Linear(4096, 4096, bias=False)\nopt = optim.{optimizer}\nx = torch.ones(1, 4096)\nl = fc(x).sum()"
    found, _ = at(f"{text}\nl.backward()\nopt.step()")
    assert found == 64 * (2 + copies)


def test_each_device_has_its_own_sum(free: dict[str, int]) -> None:
    free["cuda:0"] = 100 * MIB
    text = "a = torch.zeros(20, 1024, 1024)\nb = a.to('cuda')\nc = b * 2"
    assert needed(text) == {"cuda:0": Need(device="cuda:0", bytes=160 * MIB, free_bytes=100 * MIB, node=node(3))}


def test_a_program_larger_than_any_machine_is_announced_and_nothing_is_allocated() -> None:
    need = needed("a = torch.zeros(2**20, 2**20)\nb = a + 1")["cpu"]
    assert (need.bytes, need.node) == (2**43, node(1))


def test_what_the_last_run_holds_counts_as_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_estimate, "free_bytes", lambda _device: 100 * MIB)
    inference = Inference()
    held = torch.ones(60, 1024, 1024)
    text = "a = torch.zeros(70, 1024, 1024)"
    answer = inference.infer(Infer(revision=1, program=program(text)), StoredTensors().load_file)
    assert held.sum() > 0
    assert answer.needs == ()
