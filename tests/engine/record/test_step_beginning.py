"""A run of a recorded step begins with what the step began with: every number is that of the record."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import gradstudio
from gradstudio.document.file import load
from gradstudio.engine.record import kept_values
from gradstudio.graph.text.code_records import CODE
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.record_file import read_record
from tests.engine.record.test_recorded_programs import compare
from tests.engine.record.test_step_record import Recorded


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.rand(width))
        self.norm = nn.BatchNorm1d(width)
        self.up = nn.Linear(width, 3 * width)
        self.down = nn.Linear(3 * width, width)
        self.register_buffer("mask", torch.tril(torch.ones(width, width)))

    def forward(self, x: Tensor) -> Tensor:
        assert isinstance(self.mask, Tensor)
        return x @ self.mask + F.dropout(self.down(F.gelu(self.up(self.norm(x)))), 0.2, self.training) * self.scale


class Network(nn.Module):
    def __init__(self, blocks: int, *, tied: bool = True) -> None:
        super().__init__()
        self.token = nn.Embedding(11, 24)
        self.h = nn.ModuleList([Block(24) for _ in range(blocks)])
        self.shift = nn.Parameter(torch.randn(24))
        self.head = nn.Linear(24, 11, bias=False)
        if tied:
            self.head.weight = self.token.weight

    def forward(self, x: Tensor) -> Tensor:
        h = self.token(x) + self.shift
        for block in self.h:
            h = block(h)
        return self.head(h)


def step_of(net: nn.Module, optimizer: torch.optim.Optimizer | None, x: Tensor, y: Tensor) -> Tensor:
    if optimizer is not None:
        optimizer.zero_grad()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    if optimizer is not None:
        optimizer.step()
    return loss


def run_again(document: Path) -> dict[str, Any]:
    """What the names of the drawing's program mean when it has run; random numbers begin elsewhere."""
    code = compile_graph(load(document)).code.replace("program.tensors/", f"{document.stem}.tensors/")
    names: dict[str, Any] = {"__file__": str(document), "__name__": "step"}
    torch.manual_seed(1234)
    exec(code, names)
    return names


@pytest.mark.parametrize("blocks", [1, 5])
@pytest.mark.parametrize("make", [None, lambda p: torch.optim.SGD(p, 0.1), torch.optim.Adam])
def test_a_run_gives_loss_gradients_and_new_weights_of_the_step(
    tmp_path: Path, blocks: int, make: Callable[..., torch.optim.Optimizer] | None
) -> None:
    torch.manual_seed(3)
    net = Network(blocks)
    optimizer = None if make is None else make(net.parameters())
    x, y = torch.randint(0, 11, (20,)), torch.randint(0, 11, (20,))
    torch.rand(7)
    with gradstudio.record(tmp_path / "step.gsg"):
        loss = step_of(net, optimizer, x, y)
    again = run_again(tmp_path / "step.gsg")
    assert torch.equal(again["loss"], loss)
    shift, token = again["shift"], again["token"]
    assert (torch.equal(shift, net.shift), torch.equal(shift.grad, net.shift.grad)) == (True, True)
    assert torch.equal(token.weight, net.token.weight)
    assert torch.equal(token.weight.grad, net.token.weight.grad)
    assert again["head"].weight is token.weight
    assert read_record(tmp_path / "step.record").head.repeats


def test_every_card_of_the_drawing_has_its_value_in_the_record(tmp_path: Path) -> None:
    torch.manual_seed(3)
    net = Network(1, tied=False)
    x, y = torch.randint(0, 11, (20,)), torch.randint(0, 11, (20,))
    with gradstudio.record(tmp_path / "step.gsg"):
        loss = step_of(net, torch.optim.SGD(net.parameters(), 0.1), x, y)
    found = Recorded(tmp_path / "step.gsg")
    compare(found, {"loss": loss, "x": x, "y": y})
    assert not [node for node in found.graph.nodes.values() if node.operator == CODE]


def test_leaves_and_inputs_in_another_order_of_memory_are_as_they_were(tmp_path: Path) -> None:
    torch.manual_seed(3)
    x = torch.randn(2, 8, 5, 5).to(memory_format=torch.channels_last)
    w = torch.randn(6, 8, 3, 3, requires_grad=True)
    v = torch.randn(9, 7).t().requires_grad_()
    with gradstudio.record(tmp_path / "step.gsg"):
        y = F.conv2d(x, w).square().mean() + v.sum()
        y.backward()
    again = run_again(tmp_path / "step.gsg")
    assert torch.equal(again["y"], y)
    assert again["x"].stride() == x.stride()
    assert again["v"].stride() == v.stride()
    assert torch.equal(again["w"].grad, w.grad)


def test_a_step_that_is_recorded_over_another_leaves_no_weights_of_it(tmp_path: Path) -> None:
    net = nn.Linear(5, 5)
    for _ in range(2):
        with gradstudio.record(tmp_path / "step.gsg"):
            net(torch.randn(4, 5)).square().sum().backward()
    folder = tmp_path / "step.tensors"
    assert {file.stem for file in folder.iterdir()} == set(load(tmp_path / "step.gsg").tensors)


def test_what_is_too_large_is_not_kept_and_the_drawing_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_values, "MOST_BYTES", 1000)
    net = nn.Linear(30, 30)
    with gradstudio.record(tmp_path / "step.gsg"):
        net(torch.randn(4, 30)).sum().backward()
    assert not (tmp_path / "step.tensors").exists()
    assert not read_record(tmp_path / "step.record").head.repeats
    assert "begins with others" in (tmp_path / "step.gsg").read_text()


def test_what_an_optimizer_had_learnt_before_is_said_to_be_missing(tmp_path: Path) -> None:
    net = nn.Linear(5, 5)
    optimizer = torch.optim.Adam(net.parameters())
    texts: list[str] = []
    for _ in range(2):
        with gradstudio.record(tmp_path / "step.gsg"):
            optimizer.zero_grad()
            net(torch.randn(4, 5)).sum().backward()
            optimizer.step()
        texts.append((tmp_path / "step.gsg").read_text())
    assert ["had learnt before" in text for text in texts] == [False, True]


def test_gradients_that_were_there_before_are_said_to_be_missing(tmp_path: Path) -> None:
    net = nn.Linear(5, 5)
    texts: list[str] = []
    for clears in (False, False, True):
        with gradstudio.record(tmp_path / "step.gsg"):
            if clears:
                net.zero_grad()
            net(torch.randn(4, 5)).sum().backward()
        texts.append((tmp_path / "step.gsg").read_text())
    assert ["Gradients that were there before" in text for text in texts] == [False, True, False]


@pytest.mark.parametrize("clears", [True, False])
def test_groups_of_an_optimizer_hold_what_they_held(tmp_path: Path, clears: bool) -> None:
    torch.manual_seed(3)
    first, last = nn.Linear(5, 8), nn.Linear(8, 3)
    groups: list[dict[str, Any]] = [
        {"params": [first.weight, last.weight], "weight_decay": 0.1},
        {"params": [first.bias, last.bias]},
    ]
    optimizer = torch.optim.SGD(groups, 0.1)
    x = torch.randn(4, 5)
    with gradstudio.record(tmp_path / "step.gsg"):
        if clears:
            optimizer.zero_grad()
        last(first(x).relu()).square().mean().backward()
        optimizer.step()
    again = run_again(tmp_path / "step.gsg")
    for name, layer in {"first": first, "last": last}.items():
        assert torch.equal(again[name].weight, layer.weight), name
        assert torch.equal(again[name].bias, layer.bias), name


class Peeking(Network):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) + self.h[0].get_parameter("down.bias").sum()


@pytest.mark.parametrize("kind", [Network, Peeking])
def test_where_a_part_of_a_drawn_class_is_used_elsewhere_too_a_run_begins_anew(
    tmp_path: Path, kind: type[Network]
) -> None:
    net = kind(5, tied=False)
    if kind is Network:
        net.h[1].up = net.h[0].up
    with gradstudio.record(tmp_path / "step.gsg"):
        step_of(net, None, torch.randint(0, 11, (20,)), torch.randint(0, 11, (20,)))
    assert "Block" in load(tmp_path / "step.gsg").definitions
    assert not read_record(tmp_path / "step.record").head.repeats
    assert "begins with others" in (tmp_path / "step.gsg").read_text()


def test_stored_tensors_of_a_script_of_that_name_stay(tmp_path: Path) -> None:
    file = tmp_path / "step.tensors" / f"{'a' * 64}.safetensors"
    file.parent.mkdir()
    file.write_bytes(b"")
    net = nn.Linear(5, 5)
    with gradstudio.record(tmp_path / "step.gsg"):
        net(torch.randn(4, 5)).square().sum().backward()
    assert file.exists(), "the document that was written over did not name it"
