"""A step of a training, recorded: every number of the record is the one that plain torch computes."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import gradstudio
from gradstudio.document.file import load
from gradstudio.engine.value.tensor_summary import summarise
from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced
from gradstudio.protocol.messages.events import Gradients, GradRow, Row, Traced
from gradstudio.protocol.messages.records import ModuleRecord, TensorRecord
from gradstudio.protocol.record_file import RunRecord, program_digest, read_record


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width)

    def forward(self, x: Tensor) -> Tensor:
        y = F.relu(self.norm(self.conv(x)))
        return x + y


class Picture(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, 4, 3, padding=1)
        self.act = nn.ReLU(inplace=True)
        self.blocks = nn.ModuleList([Block(4), Block(4)])
        self.head = nn.Linear(4 * 9, 5)

    def forward(self, x: Tensor) -> Tensor:
        h = self.act(self.stem(x))
        for block in self.blocks:
            h = block(h)
        pooled = F.max_pool2d(h, 2)
        return self.head(torch.flatten(pooled, 1))


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.qkv = nn.Linear(8, 24)
        self.out = nn.Linear(8, 8)
        self.scale = nn.Parameter(torch.ones(8))

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
        scores = (q @ k.transpose(-2, -1) / 8**0.5).softmax(dim=-1)
        return x + self.out(scores @ v) * self.scale


class Recorded:
    """A record that was written, and what plain torch gave for the same step."""

    def __init__(self, path: Path) -> None:
        self.graph: Graph = load(path)
        self.record: RunRecord = read_record(path.with_suffix(".record"))
        events = self.record.events
        self.rows: list[Row] = [row for event in events if isinstance(event, Traced) for row in event.rows]
        self.backwards = [event for event in events if isinstance(event, BackwardTraced)]
        self.gradients: dict[ItemId, GradRow] = {}
        self.leaf_gradients: dict[tuple[ItemId, str], GradRow] = {}
        for event in events:
            for row in event.rows if isinstance(event, Gradients) else ():
                if row.path:
                    self.leaf_gradients[row.node, row.path] = row
                else:
                    self.gradients[row.node] = row

    def node(self, name: str) -> ItemId:
        return next(node.id for node in self.graph.nodes.values() if name in node.names)

    def value(self, name: str) -> TensorRecord:
        node = self.graph.nodes[self.node(name)]
        row = next(row for row in self.rows if row.node == node.id)
        record = row.outputs[node.names.index(name)]
        assert isinstance(record, TensorRecord)
        return record


def plain(model: nn.Module, x: Tensor, y: Tensor, loss_of: Callable[[Tensor, Tensor], Tensor]) -> dict[str, Tensor]:
    """The results of all layers, copied when they were made, and the gradients that arrive at them."""
    found: dict[str, Tensor] = {}
    grads: dict[str, Tensor] = {}

    def hook(name: str) -> Any:
        def note(_: nn.Module, __: Any, result: Tensor) -> None:
            found[name] = result.detach().clone()
            result.register_hook(lambda grad: grads.__setitem__(name, grad.detach().clone()))

        return note

    handles = [layer.register_forward_hook(hook(name)) for name, layer in model.named_modules() if name]
    loss = loss_of(model(x), y)
    loss.backward()  # type: ignore[no-untyped-call]
    for handle in handles:
        handle.remove()
    return found | {f"{name}.grad": grad for name, grad in grads.items()} | {"loss": loss.detach()}


NAMES = {
    "mlp": {"0": "x0_out", "1": "x1_out", "2": "out"},
    "attention": {"norm": "norm_out", "qkv": "qkv_out", "out": "out_out"},
    "picture": {
        "stem": "stem_out",
        "act": "h",
        "blocks.0.conv": "blocks_0_conv_out",
        "blocks.0.norm": "blocks_0_norm_out",
        "blocks.1.conv": "blocks_1_conv_out",
        "blocks.1.norm": "blocks_1_norm_out",
        "head": "out",
    },
}
"""What the results of layers are called in the drawing."""


def case(kind: str) -> tuple[nn.Module, Tensor, Tensor, Callable[[Tensor, Tensor], Tensor]]:
    torch.manual_seed(3)
    if kind == "picture":
        return Picture(), torch.randn(6, 1, 6, 6), torch.randint(0, 5, (6,)), F.cross_entropy
    if kind == "attention":
        return Attention(), torch.randn(2, 5, 8), torch.randn(2, 5, 8), F.mse_loss
    model = nn.Sequential(nn.Linear(7, 9), nn.Tanh(), nn.Linear(9, 2))
    return model, torch.randn(5, 7), torch.randn(5, 2), F.mse_loss


@pytest.fixture(params=["mlp", "picture", "attention"], scope="module")
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    model, x, y, loss_of = case(request.param)
    twin = copy.deepcopy(model)
    before = copy.deepcopy(model.state_dict())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    path = tmp_path_factory.mktemp("record") / "step.gsg"
    drawn, modes = torch.get_rng_state(), torch.overrides._get_current_function_mode_stack()
    with gradstudio.record(path):
        optimizer.zero_grad()
        out = model(x)
        loss = loss_of(out, y)
        loss.backward()
        optimizer.step()
    assert torch.equal(drawn, torch.get_rng_state())
    assert torch.overrides._get_current_function_mode_stack() == modes
    told = plain(twin, x, y, loss_of)
    torch.optim.Adam(twin.parameters(), lr=0.01).step()
    return {
        "recorded": Recorded(path),
        "model": model,
        "twin": twin,
        "plain": told,
        "names": NAMES[request.param],
        "before": before,
        "path": path,
    }


def test_a_recorded_step_computes_what_it_would_without_a_record(both: dict[str, Any]) -> None:
    mine, other = both["model"].state_dict(), both["twin"].state_dict()
    assert all(torch.equal(mine[name], other[name]) for name in other)
    for one, two in zip(both["model"].parameters(), both["twin"].parameters(), strict=True):
        assert torch.equal(one.grad, two.grad)


def test_nothing_of_the_recorder_stays(both: dict[str, Any]) -> None:
    assert nn.Module.__call__.__module__ == "torch.nn.modules.module"
    assert nn.Module.__call__.__qualname__ == "Module._wrapped_call_impl"
    assert torch.autograd.backward.__module__ == "torch.autograd"
    assert "step_recorder" not in torch.optim.Adam.step.__code__.co_filename
    assert not any(module._forward_hooks for module in both["model"].modules())


def test_every_result_of_a_layer_is_recorded_as_it_was_made(both: dict[str, Any]) -> None:
    recorded = both["recorded"]
    for layer, name in both["names"].items():
        assert recorded.value(name).summary == summarise(both["plain"][layer]), layer
    assert recorded.value("loss").summary == summarise(both["plain"]["loss"])


def test_the_gradient_that_arrived_at_every_result_is_recorded(both: dict[str, Any]) -> None:
    recorded = both["recorded"]
    for layer, name in both["names"].items():
        row = recorded.gradients[recorded.node(name)]
        assert (row.state, row.grad) == ("value", summarise(both["plain"][f"{layer}.grad"])), layer


def test_parameters_are_recorded_before_the_step_their_gradients_and_what_the_step_made_of_them(
    both: dict[str, Any],
) -> None:
    recorded, twin = both["recorded"], dict(both["twin"].named_parameters())
    compared = 0
    for row in recorded.rows:
        for path, record in (
            row.outputs[0].parameters.items() if row.outputs and isinstance(row.outputs[0], ModuleRecord) else ()
        ):
            name = f"{recorded.graph.nodes[row.node].names[0]}.{path}"
            parameter = next(
                one
                for one in twin
                if one.replace(".", "_") == name.replace(".", "_")
                or (f"x{one}".replace(".", "_") == name.replace(".", "_"))
            )
            assert record.summary == summarise(both["before"][parameter])
            grad = recorded.leaf_gradients[row.node, path]
            assert (grad.state, grad.grad) == ("value", summarise(twin[parameter].grad))
            compared += 1
    assert compared == sum(1 for name in twin if name != "scale")
    step = next(row for row in reversed(recorded.rows) if row.writes)
    after = [write.record.summary for write in step.writes]
    assert len(after) == len(twin)
    assert all(summarise(parameter.detach()) in after for parameter in twin.values())


def test_the_backward_is_recorded_node_by_node_in_the_order_that_torch_ran_it(both: dict[str, Any]) -> None:
    recorded = both["recorded"]
    (backward,) = recorded.backwards
    rows: tuple[AutogradRow, ...] = backward.rows
    assert rows[0].incoming[0].value == 1.0
    assert recorded.graph.nodes[backward.statement].operator == "torch.Tensor.backward"
    assert all(row.node in recorded.graph.nodes for row in rows)
    leaves = [row for row in rows if row.autograd == "AccumulateGrad"]
    assert len(leaves) == len(list(both["twin"].parameters()))
    for wire in backward.wires:
        drawn = recorded.graph.wires[wire.target, wire.port]
        assert (drawn.source, drawn.output) == (wire.source, wire.output)
    assert backward.wires


def test_the_record_belongs_to_the_program_of_the_document(both: dict[str, Any]) -> None:
    recorded = both["recorded"]
    assert recorded.record.head.program == program_digest(compile_graph(recorded.graph))
    source = recorded.record.head.sources[recorded.node("loss")]
    assert (source.file, source.text) == ("test_step_record.py", "loss = loss_of(out, y)")
