"""Folded blocks are objects of a class that does what they did: the drawing runs, and gives what the blocks gave."""

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import gradstudio
from gradstudio.document.file import load
from gradstudio.document.python.python_export import words_beside
from gradstudio.graph.model import Graph
from gradstudio.graph.text.code_records import is_code
from gradstudio.program.compile import compile_graph

Call = tuple[nn.Module, tuple[Any, ...], Any]


class Attention(nn.Module):
    mask: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.pair, self.drop = nn.Linear(4, 8), nn.Dropout(0.0)
        self.register_buffer("mask", torch.tril(torch.ones(5, 5)))

    def forward(self, x: Tensor, scale: float) -> Tensor:
        query, key = self.pair(x).chunk(2, dim=-1)
        weights = (query @ key.transpose(-2, -1) * scale).masked_fill(self.mask == 0, float("-inf"))
        return self.drop(F.softmax(weights, dim=-1)) @ x


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(4), Attention()
        self.parts = nn.ModuleDict({"up": nn.Linear(4, 6), "down": nn.Linear(6, 4)})
        self.gain = nn.Parameter(torch.full((4,), 0.5))

    def forward(self, x: Tensor, shift: Tensor) -> Tensor:
        x = x + self.attention(self.norm(x), scale=0.5) * self.gain
        up = F.linear(x, self.parts["up"].weight, self.parts["up"].bias)
        return x + self.parts["down"](torch.tanh(self.parts["up"](up[..., :4]) + up + shift))


class Tower(nn.Module):
    def __init__(self, make: Callable[[], nn.Module], height: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([make() for _ in range(height)])

    def forward(self, x: Tensor, *given: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x, *given)
        return x


def drawn(path: Path, tower: Tower, *given: Tensor, **options: Any) -> tuple[Graph, list[Call]]:
    """A recorded step of a tower, and what its blocks were given and gave."""
    calls: list[Call] = []
    before = {id(block): copy.deepcopy(block) for block in tower.blocks}
    hooks = [
        block.register_forward_hook(lambda one, inputs, result: calls.append((before[id(one)], inputs, result)))
        for block in tower.blocks
    ]
    with gradstudio.record(path, **options):
        tower(*given).square().mean().backward()
    for hook in hooks:
        hook.remove()
    return load(path), [(one, tuple(given.detach() for given in inputs), result) for one, inputs, result in calls]


def objects(graph: Graph, path: Path) -> dict[str, Any]:
    """The names that the script of a drawing ends with, by Python."""
    names: dict[str, Any] = {"__name__": "drawing", "__file__": str(path)}
    script = compile_graph(graph).script.replace("program.tensors/", f"{path.stem}.tensors/")
    exec(compile(script, "drawing.py", "exec"), names)
    return names


def with_weights(made: nn.Module, of: nn.Module) -> nn.Module:
    """An object of a drawing's class with the parameters of the block that it stands for."""
    pairs: Iterator[tuple[nn.Parameter, nn.Parameter]] = zip(made.parameters(), of.parameters(), strict=True)
    with torch.no_grad():
        for mine, other in pairs:
            mine.copy_(other)
    return made


def test_alike_blocks_share_a_class_that_gives_what_each_of_them_gave_and_sends_back_what_it_sent(
    tmp_path: Path,
) -> None:
    torch.manual_seed(3)
    graph, calls = drawn(tmp_path / "step.gsg", Tower(Block, 4), torch.randn(2, 5, 4), torch.randn(6))
    assert list(graph.definitions) == ["Block", "begin_with"] and not any(map(is_code, graph.nodes.values()))
    assert words_beside(graph, "script", "step") == ""
    names = objects(graph, tmp_path / "step.gsg")
    for number, (block, inputs, result) in enumerate(calls):
        mine = with_weights(names[f"blocks_{number}"], block)
        mine.zero_grad()
        block.zero_grad()
        found = mine(*inputs)
        assert torch.equal(found, result), number
        for one, given in ((mine, inputs), (block, inputs)):
            one(*given).square().sum().backward()
        for left, right in zip(mine.parameters(), block.parameters(), strict=True):
            assert left.grad is not None and right.grad is not None and torch.equal(left.grad, right.grad)


class Leaky(nn.Module):
    """Uses what stands around it, keeps what is used later, and gives several results."""

    around = torch.full((3,), 2.0)
    kept: ClassVar[list[Tensor]] = []

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = nn.Linear(3, 3), nn.Linear(3, 3)
        self.two.requires_grad_(False)

    def forward(self, x: Tensor, *, other: Tensor | None = None) -> dict[str, Tensor]:
        with torch.no_grad():
            still = self.two(x)
        made = self.one(x) * Leaky.around
        Leaky.kept.append(made.abs().mean())
        return {"made": made + still, "still": still}


class LeakyTower(Tower):
    def forward(self, x: Tensor, *given: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x, other=None)["made"]
        return x + torch.stack(Leaky.kept).sum()


def test_what_a_block_takes_from_around_and_leaves_besides_its_results_goes_in_and_out_by_name(tmp_path: Path) -> None:
    torch.manual_seed(3)
    Leaky.kept.clear()
    graph, calls = drawn(tmp_path / "step.gsg", LeakyTower(Leaky, 4), torch.randn(2, 3))
    assert not any(map(is_code, graph.nodes.values()))
    definition = graph.definitions["Leaky"]
    assert (len(definition.inputs), len(definition.outputs)) == (2, 3)
    names = objects(graph, tmp_path / "step.gsg")
    for number, ((block, inputs, result), kept) in enumerate(zip(calls, Leaky.kept, strict=True)):
        mine = with_weights(names[f"blocks_{number}"], block)
        made, still, mean = mine(*inputs, Leaky.around)
        assert torch.equal(made, result["made"]) and torch.equal(still, result["still"]) and torch.equal(mean, kept)
        assert [parameter.requires_grad for parameter in mine.parameters()] == [True, True, False, False]


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:  # type: ignore[override]
        return grad * 2


class OwnRule(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(Doubled.apply(self.layer(x)))


def test_a_block_that_cannot_be_written_down_stays_code_and_the_export_says_what_it_lacks(tmp_path: Path) -> None:
    graph, _ = drawn(tmp_path / "step.gsg", Tower(OwnRule, 4), torch.randn(2, 3))
    assert not graph.definitions
    with pytest.raises(NameError, match="OwnRule"):
        objects(graph, tmp_path / "step.gsg")
    assert words_beside(graph, "script", "step").startswith(
        "It does not run as it is: 'OwnRule' is bound nowhere in it"
    )
    assert words_beside(graph, "dot", "step") == ""


class Twice(Tower):
    def forward(self, x: Tensor, *given: Tensor) -> Tensor:
        (block,) = self.blocks
        return block(block(x, given[0]), given[1])


@pytest.mark.parametrize(("second", "classes"), [(torch.ones(6), ["Block"]), (torch.ones(5, 6), ["Block"])])
def test_one_module_that_is_called_again_is_one_object(tmp_path: Path, second: Tensor, classes: list[str]) -> None:
    torch.manual_seed(3)
    given = torch.randn(2, 5, 4), torch.ones(6), second
    graph, _ = drawn(tmp_path / "step.gsg", Twice(Block, 1), *given, level=1)
    assert list(graph.definitions) == [*classes, "begin_with"]
    made = [value for value in objects(graph, tmp_path / "step.gsg").values() if isinstance(value, nn.Module)]
    assert [type(value).__name__ for value in made] == ["Block", "ModuleList"]


class Changing(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x: Tensor, sign: Tensor) -> Tensor:
        return torch.relu(self.layer(x)) if sign.item() > 0 else torch.tanh(self.layer(x))


def test_one_that_did_another_thing_the_second_time_has_no_class(tmp_path: Path) -> None:
    graph, _ = drawn(tmp_path / "step.gsg", Twice(Changing, 1), torch.randn(2, 3), *torch.tensor([1, -1]), level=1)
    assert not graph.definitions
