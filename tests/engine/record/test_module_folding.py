"""A large step is drawn by calls of modules: a network of many blocks is a card for each, with its own numbers."""

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import gradstudio
from gradstudio.engine.record.module_folding import MOST_STATEMENTS
from gradstudio.engine.value.tensor_summary import summarise
from gradstudio.graph.card_grouping import CALL
from gradstudio.graph.groups.call_ids import INPUTS, call_item_id, outermost
from gradstudio.graph.model import ItemId, Node
from gradstudio.operators.calls.call_signature import MODULE
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import ModuleRecord, TensorRecord
from tests.engine.record.test_step_record import Recorded


class Part(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(6), nn.Linear(6, 12), nn.Linear(12, 6)
        self.scale = nn.Parameter(torch.ones(6))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(torch.tanh(self.up(self.norm(x)))) * self.scale


class Tower(nn.Module):
    def __init__(self, height: int) -> None:
        super().__init__()
        self.parts = nn.ModuleList([Part() for _ in range(height)])
        self.head = nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return self.head(x)


def step(path: Path, height: int, **options: Any) -> tuple[Recorded, dict[str, Tensor], Tower]:
    torch.manual_seed(2)
    tower = Tower(height)
    optimizer = torch.optim.Adam(tower.parameters(), lr=0.01)
    x, y = torch.randn(5, 6), torch.tensor([0, 1, 2, 1, 0])
    kept: dict[str, Tensor] = {}

    def keep(name: str) -> Any:
        def hook(_: nn.Module, __: Any, result: Tensor) -> None:
            result.retain_grad()
            kept[name] = result

        return hook

    for number, part in enumerate(tower.parts):
        part.register_forward_hook(keep(f"parts_{number}_out"))
    with gradstudio.record(path, **options):
        optimizer.zero_grad()
        out = tower(x)
        loss = F.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
    return Recorded(path), kept | {"loss": loss, "out": out}, tower


def calls_of(found: Recorded, name: str) -> list[Node]:
    """The calls of objects of a class."""
    graph = found.graph
    makers = {node.id for node in graph.nodes.values() if node.operator == f"group:{name}"}
    called = {wire.target for wire in graph.wires.values() if wire.source in makers and wire.port == MODULE}
    return [graph.nodes[item] for item in called if graph.nodes[item].operator == CALL]


@pytest.mark.parametrize(("height", "options"), [(30, {}), (3, {"level": 1})])
def test_each_block_is_a_call_with_its_value_and_the_gradient_that_came_to_it(
    tmp_path: Path, height: int, options: dict[str, int]
) -> None:
    found, kept, _ = step(tmp_path / "step.gsg", height, **options)
    assert len(calls_of(found, "Part")) == height
    assert len(found.graph.nodes) < MOST_STATEMENTS
    for name, tensor in kept.items():
        assert found.value(name).summary == summarise(tensor.detach()), name
        if tensor.retains_grad:
            assert found.gradients[found.node(name)].grad == summarise(tensor.grad), name
    counted = [frame.title for frame in found.graph.blocks.values() if "×" in frame.title]
    assert counted == ([f"parts ({height} × Part)"] if height > 3 else [])


def test_the_parameters_of_a_block_are_told_with_their_gradients_under_its_name(tmp_path: Path) -> None:
    found, _, tower = step(tmp_path / "step.gsg", 3, level=1)
    card = found.node("parts_1")
    place = found.graph.nodes[card].names.index("parts_1")
    row = next(row for row in found.rows if row.node == card)
    record = row.outputs[place]
    assert isinstance(record, ModuleRecord)
    parameters = dict(tower.parts[1].named_parameters())
    assert (record.class_name, record.parameters.keys()) == ("Part", parameters.keys())
    told = {
        row.path: row.grad
        for event in found.record.events
        for row in getattr(event, "rows", ())
        if getattr(row, "path", "") and (row.node, row.output) == (card, place)
    }
    assert told == {name: summarise(parameter.grad) for name, parameter in parameters.items()}


def test_every_autograd_node_inside_belongs_to_the_card_of_the_block(tmp_path: Path) -> None:
    found, _, _ = step(tmp_path / "step.gsg", 3, level=1)
    whole, _, _ = step(tmp_path / "whole.gsg", 3)
    assert [row.autograd for row in found.backwards[0].rows] == [row.autograd for row in whole.backwards[0].rows]
    assert all(outermost(row.node) in found.graph.nodes for row in found.backwards[0].rows)
    card = found.node("parts_2_out")
    assert {"AddmmBackward0", "TanhBackward0", "NativeLayerNormBackward0"} <= {
        row.autograd for row in found.backwards[0].rows if outermost(row.node) == card
    }


def test_inside_of_each_call_stands_what_it_did_with_the_values_gradients_and_parts_of_that_call(
    tmp_path: Path,
) -> None:
    """Plain torch goes the same way through a block by hand, from what came into it."""
    found, kept, _ = step(tmp_path / "step.gsg", 4)
    definition = found.graph.definitions["Part"].graph
    names = {name: node.id for node in definition.nodes.values() for name in node.names}
    rows: dict[ItemId, Row] = {}
    for one in found.rows:
        rows.setdefault(one.node, one)

    def inside(place: int, name: str) -> ItemId:
        return call_item_id(found.node(f"parts_{place}_out"), names[name])

    torch.manual_seed(2)
    fresh = Tower(4)
    for place, part in enumerate(fresh.parts):
        came = kept[f"parts_{place - 1}_out"].detach() if place else torch.randn(5, 6)
        (given,) = rows[call_item_id(found.node(f"parts_{place}_out"), INPUTS)].outputs
        assert isinstance(given, TensorRecord) and given.summary == summarise(came)
        norm = part.norm(came)
        up = part.up(norm)
        tanh = torch.tanh(up)
        down = part.down(tanh)
        tanh.retain_grad()
        out = came + down * part.scale
        for name, value in {"norm_out": norm, "up_out": up, "tanh": tanh, "down_out": down}.items():
            (record,) = rows[inside(place, name)].outputs
            assert isinstance(record, TensorRecord) and record.summary == summarise(value), name
        out.backward(kept[f"parts_{place}_out"].grad)
        gradient = found.gradients[inside(place, "tanh")]
        assert gradient.grad == summarise(tanh.grad)
        (layer,) = rows[inside(place, "up")].outputs
        assert isinstance(layer, ModuleRecord) and layer.parameters["weight"].summary == summarise(part.up.weight)
        wires = {(one.target, one.port): one.grad for one in found.backwards[0].wires}
        assert wires[inside(place, "down_out"), "inputs.0"] == summarise(tanh.grad)
    assert {row.node for row in found.backwards[0].rows if row.autograd == "TanhBackward0"} == {
        inside(place, "tanh") for place in range(4)
    }


def test_a_small_step_is_drawn_whole_and_a_level_below_the_first_is_refused(tmp_path: Path) -> None:
    found, _, _ = step(tmp_path / "step.gsg", 3)
    assert [node.operator for node in found.graph.nodes.values()].count("torch.tanh") == 3
    with pytest.raises(ValueError, match="first level"):
        gradstudio.record(tmp_path / "step.gsg", level=0)


def test_alike_blocks_in_a_row_are_a_card_each_in_a_frame_that_counts_them_however_small_the_step(
    tmp_path: Path,
) -> None:
    found, kept, _ = step(tmp_path / "step.gsg", 4)
    calls = calls_of(found, "Part")
    assert len(calls) == 4
    frame = next(frame for frame in found.graph.blocks.values() if frame.title == "parts (4 × Part)")
    assert {found.graph.parents[node.id] for node in calls} == {frame.id}
    for name, tensor in kept.items():
        assert found.value(name).summary == summarise(tensor.detach()), name
    whole, _, _ = step(tmp_path / "whole.gsg", 4, level=9)
    assert [node.operator for node in whole.graph.nodes.values()].count("torch.tanh") == 4


def test_blocks_that_did_another_thing_are_in_no_row(tmp_path: Path) -> None:
    torch.manual_seed(2)
    tower = Tower(5)
    tower.parts[2].up = nn.Linear(6, 12, bias=False)
    with gradstudio.record(tmp_path / "step.gsg"):
        tower(torch.randn(5, 6)).sum().backward()
    found = Recorded(tmp_path / "step.gsg")
    assert [node.operator for node in found.graph.nodes.values()].count("torch.tanh") == 1
    assert not [frame.title for frame in found.graph.blocks.values() if "×" in frame.title]
    assert len(calls_of(found, "Part")) == 4


class Block(nn.Module):
    def __init__(self, channels: int, made: int, stride: int) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(channels, made, 3, stride, 1, bias=False), nn.BatchNorm2d(made)
        self.downsample: nn.Module | None = None
        if stride != 1 or channels != made:
            self.downsample = nn.Sequential(nn.Conv2d(channels, made, 1, stride), nn.BatchNorm2d(made))

    def forward(self, x: Tensor) -> Tensor:
        out = self.norm(self.conv(x))
        out += x if self.downsample is None else self.downsample(x)
        return out.relu()


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer1 = nn.Sequential(Block(3, 3, 1), Block(3, 3, 1))
        self.layer2 = nn.Sequential(Block(3, 4, 2), Block(4, 4, 1))

    def forward(self, x: Tensor) -> Tensor:
        return self.layer2(self.layer1(x)).mean((2, 3))


def test_blocks_of_which_some_have_a_downsample_are_counted_in_the_frame_of_the_module_that_holds_them(
    tmp_path: Path,
) -> None:
    torch.manual_seed(2)
    net, x = Residual(), torch.randn(2, 3, 8, 8)
    kept: dict[str, Tensor] = {}
    for name, block in net.named_modules():
        if isinstance(block, Block):
            key = f"{name.replace('.', '_')}_out"
            block.register_forward_hook(lambda _, __, result, key=key: kept.update({key: result.detach().clone()}))
    with gradstudio.record(tmp_path / "step.gsg"):
        net(x).sum().backward()
    found = Recorded(tmp_path / "step.gsg")
    titles = [frame.title for frame in found.graph.blocks.values()]
    assert titles == ["Before the step", "net (Residual)", "layer1 (2 × Block)", "layer2 (2 × Block)"]
    for name, tensor in kept.items():
        assert found.value(name).summary == summarise(tensor), name
        assert found.graph.blocks[found.graph.parents[found.node(name)]].title == f"{name[:6]} (2 × Block)"
    assert len(kept) == 4
