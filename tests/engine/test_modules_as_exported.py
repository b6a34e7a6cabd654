"""Modules dropped and wired on a canvas: the run gives the weights, values and gradients of the exported script."""

import contextlib
import io
from typing import Any

import pytest
import torch

from gradstudio.graph import recipes
from gradstudio.graph.analysis import module_modes
from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.messages.records import ModuleRecord, TensorRecord
from gradstudio.protocol.messages.requests import Do
from tests.engine.conftest import Bench

LAYERS = {
    "torch.nn.Linear": ("(5, 4)", {"in_features": "4", "out_features": "3"}),
    "torch.nn.Conv2d": ("(2, 3, 6, 6)", {"in_channels": "3", "out_channels": "4", "kernel_size": "3"}),
    "torch.nn.BatchNorm1d": ("(6, 8)", {"num_features": "8"}),
    "torch.nn.LayerNorm": ("(6, 8)", {"normalized_shape": "8"}),
    "torch.nn.Dropout": ("(6, 8)", {}),
    "torch.nn.LSTM": ("(5, 2, 3)", {"input_size": "3", "hidden_size": "4"}),
    "torch.nn.GRU": ("(5, 2, 3)", {"input_size": "3", "hidden_size": "4"}),
    "torch.nn.TransformerEncoderLayer": ("(3, 2, 8)", {"d_model": "8", "nhead": "2"}),
}


class Canvas:
    """A program made by gestures."""

    def __init__(self) -> None:
        self.graph = Graph()

    def add(self, key: str, **literals: str) -> ItemId:
        edits, item = recipes.add_operator(self.graph, key, 0, 0)
        apply_all(self.graph, edits)
        owner = card_groups(self.graph).modules.get(item, item)
        for path, text in literals.items():
            apply_all(self.graph, recipes.set_literal(self.graph, owner, path, text))
        return item

    def wire(self, source: ItemId, target: ItemId, port: str) -> None:
        apply_all(self.graph, recipes.connect(self.graph, source, 0, target, port))

    def close(self, value: ItemId) -> None:
        """Square, sum, backward."""
        total = self.add("torch.Tensor.sum")
        square = self.add("torch.Tensor.square")
        self.wire(value, square, "self")
        self.wire(square, total, "self")
        apply_all(self.graph, recipes.append_backward(self.graph, total))


def compare(bench: Bench, graph: Graph) -> dict[str, Any]:
    """Run and script, to the last bit; the script's names."""
    program = compile_graph(graph)
    assert program.incomplete == ()
    bench.load(program)
    bench.engine.do(Do(verb="run", max_values=100_000))
    report = bench.report(max_values=100_000)
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(program.script, "script.py", "exec"), names)
    compared = 0
    for name, entry in report.items():
        for record in entry.outputs[:1]:
            if isinstance(record, ModuleRecord):
                for path, leaf in names[name].named_parameters():
                    told = record.parameters[path]
                    assert told.summary.value == leaf.detach().tolist()
                    assert (told.grad.value if told.grad is not None else None) == (
                        leaf.grad.tolist() if leaf.grad is not None else None
                    )
                    compared += 1
                for path, buffer in names[name].named_buffers():
                    assert record.buffers[path].summary.value == buffer.tolist()
            elif isinstance(record, TensorRecord) and entry.output is None:
                assert record.summary.value == names[name].tolist()
                compared += 1
    assert compared >= 2
    return names


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize("key", list(LAYERS))
def test_a_layer_runs_as_its_script(bench: Bench, key: str, seed: int) -> None:
    size, literals = LAYERS[key]
    canvas = Canvas()
    canvas.graph.header = type(canvas.graph.header)(seed=seed)
    x, layer = canvas.add("torch.randn", size=size, requires_grad="True"), canvas.add(key, **literals)
    canvas.wire(x, layer, "inputs.0")
    canvas.close(layer)
    compare(bench, canvas.graph)


def test_a_sequence_with_an_initialiser_a_frozen_part_and_evaluation(bench: Bench) -> None:
    canvas = Canvas()
    x, call = canvas.add("torch.randn", size="(6, 4)"), canvas.add("torch.nn.Sequential")
    module = card_groups(canvas.graph).modules[call]
    for key in ("torch.nn.Linear", "torch.nn.BatchNorm1d", "torch.nn.Dropout"):
        edits, _ = recipes.add_child(canvas.graph, module, key)
        apply_all(canvas.graph, edits)
    head = canvas.add("torch.nn.Linear", in_features="8", out_features="2")
    canvas.wire(x, call, "inputs.0")
    canvas.wire(call, head, "inputs.0")
    canvas.close(head)
    owner = card_groups(canvas.graph).modules[head]
    apply_all(canvas.graph, recipes.initialise(canvas.graph, module, "0.weight", "torch.nn.init.xavier_uniform_"))
    apply_all(canvas.graph, recipes.set_training(canvas.graph, [module], False))
    apply_all(canvas.graph, recipes.set_frozen(canvas.graph, [owner], True))
    names = compare(bench, canvas.graph)
    name = canvas.graph.nodes[module].names[0]
    assert not names[name].training
    assert not module_modes.is_training(canvas.graph, module)
    torch.manual_seed(0)
    torch.randn(6, 4)
    plain = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout())
    head_made = torch.nn.Linear(8, 2)
    assert not any(parameter.requires_grad for parameter in names[canvas.graph.nodes[owner].names[0]].parameters())
    assert plain[0].bias.tolist() == names[name][0].bias.tolist()
    assert head_made.weight.shape == (2, 8)


def test_two_calls_of_one_module_add_up_their_gradients(bench: Bench) -> None:
    canvas = Canvas()
    x, call = canvas.add("torch.randn", size="(5, 4)"), canvas.add("torch.nn.Linear", in_features="4", out_features="4")
    module = card_groups(canvas.graph).modules[call]
    canvas.wire(x, call, "inputs.0")
    edits, second = recipes.call_again(canvas.graph, module)
    apply_all(canvas.graph, edits)
    canvas.wire(call, second, "inputs.0")
    canvas.close(second)
    names = compare(bench, canvas.graph)
    torch.manual_seed(0)
    x_made, layer = torch.randn(5, 4), torch.nn.Linear(4, 4)
    layer(layer(x_made)).square().sum().backward()
    assert layer.weight.grad is not None
    assert names[canvas.graph.nodes[module].names[0]].weight.grad.tolist() == layer.weight.grad.tolist()
