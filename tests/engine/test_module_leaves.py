"""Parameters and buffers of modules: expected before a run, recorded after it, as plain torch has them."""

import pytest
import torch
from torch import nn

from gradstudio.engine.infer import Inference
from gradstudio.engine.stored import StoredTensors
from gradstudio.protocol.inference import Infer, PortInference
from tests.engine.build import program

MODULES = {
    "nn.Linear(4, 8)": lambda: nn.Linear(4, 8),
    "nn.Linear(4, 8, bias=False)": lambda: nn.Linear(4, 8, bias=False),
    "nn.BatchNorm1d(8)": lambda: nn.BatchNorm1d(8),
    "nn.LSTM(3, 4)": lambda: nn.LSTM(3, 4),
    "nn.MultiheadAttention(8, 2)": lambda: nn.MultiheadAttention(8, 2),
    "nn.TransformerEncoderLayer(8, 2)": lambda: nn.TransformerEncoderLayer(8, 2),
    "nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))": lambda: nn.Sequential(
        nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)
    ),
    "nn.ReLU()": lambda: nn.ReLU(),
}


def expected(text: str) -> dict[str, PortInference]:
    built = program(text)
    answer = Inference().infer(Infer(revision=1, program=built), StoredTensors().load_file)
    names = {statement.node: statement.names[0] for statement in built.statements if statement.names}  # type: ignore[union-attr]  # no blocks here
    return {names[port.node]: port for port in answer.ports if port.node in names}


@pytest.mark.parametrize("text", list(MODULES))
def test_leaves_are_known_before_a_run(text: str) -> None:
    leaves = expected(f"m = {text}")["m"].leaves
    module = MODULES[text]()
    assert leaves is not None
    assert [(leaf.path, leaf.shape, leaf.requires_grad, leaf.buffer) for leaf in leaves] == [
        *((name, tuple(p.shape), p.requires_grad, False) for name, p in module.named_parameters()),
        *((name, tuple(b.shape), False, True) for name, b in module.named_buffers()),
    ]


def test_a_tensor_has_no_leaves_of_its_own() -> None:
    assert expected("x = torch.ones(3)")["x"].leaves is None


def test_asking_draws_no_random_numbers() -> None:
    before = torch.get_rng_state()
    expected("m = nn.LSTM(3, 4)")
    assert torch.equal(before, torch.get_rng_state())
