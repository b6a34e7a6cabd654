"""Sketches against torch: each node of autograd once, its edges, shapes and numbers, and nothing changed by looking."""

import random
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.autograd.graph import Node

from gradstudio.engine.errors import CannotTry
from gradstudio.engine.sketch.sketching import sketch_forward, sketch_tensors
from gradstudio.engine.value.tensor_summary import summarise
from gradstudio.protocol.sketch import Sketch


def nodes_behind(*tensors: Tensor) -> list[Node]:
    """Every node of autograd's graph, by torch's own edges."""
    todo = [tensor.grad_fn for tensor in tensors if tensor.grad_fn is not None]
    found: dict[Node, None] = dict.fromkeys(todo)
    for node in todo:
        for made, _ in node.next_functions:
            if made is not None and made not in found:
                found[made] = None
                todo.append(made)
    return list(found)


def names_of(nodes: list[Node]) -> list[str]:
    return sorted(node.name() for node in nodes if not hasattr(node, "variable"))


def titles(sketch: Sketch, kind: str) -> list[str]:
    return sorted(node.title for node in sketch.nodes if node.kind == kind)


def edges_by_title(sketch: Sketch) -> set[tuple[str, str]]:
    return {(sketch.nodes[edge.source].title, sketch.nodes[edge.target].title) for edge in sketch.edges if edge.is_held}


class Block(nn.Module):
    """Attention, a residual, a norm and a dropout."""

    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.norm = nn.LayerNorm(8)
        self.drop = nn.Dropout(0.5)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x + self.drop(self.attention(x, x, x)[0]))


def mlp_loss() -> tuple[Tensor, nn.Module]:
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    return model(torch.randn(5, 4)).square().mean(), model


def shared_weight() -> Tensor:
    weight = torch.randn(3, 3, requires_grad=True)
    return ((torch.randn(2, 3) @ weight).tanh() @ weight + (torch.ones(2, 3) @ weight).detach()).sum()


def second_derivative() -> Tensor:
    x = torch.tensor(2.0, requires_grad=True)
    return torch.autograd.grad((x**3).sin(), x, create_graph=True)[0]


@pytest.mark.parametrize(
    "make",
    [
        lambda: mlp_loss()[0],
        shared_weight,
        second_derivative,
        lambda: Block()(torch.randn(2, 5, 8)).sum(),
        lambda: torch.stack(torch.randn(6, requires_grad=True).split(2)).prod(),
    ],
)
def test_each_function_of_autograd_appears_once_with_torchs_edges(make) -> None:
    loss = make()
    sketch = sketch_tensors(loss)
    nodes = nodes_behind(loss)
    leaves = {id(node.variable) for node in nodes if hasattr(node, "variable")}
    assert titles(sketch, "function") == names_of(nodes)
    assert len(titles(sketch, "leaf")) == len(leaves)
    pairs = {(id(made), id(node), n) for node in nodes for made, n in node.next_functions if made is not None}
    assert len(sketch.edges) == len(set(sketch.edges)) == len(pairs)
    assert all(edge.source < edge.target for edge in sketch.edges)


def test_shapes_and_dtypes_are_those_autograd_holds() -> None:
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    sketch = sketch_tensors((x[0] * 2).float().sum())
    found = {node.title: (node.outputs[0].dtype, node.outputs[0].shape) for node in sketch.nodes}
    assert found == {
        "leaf": ("float64", (3, 4)),
        "SelectBackward0": ("float64", (4,)),
        "MulBackward0": ("float64", (4,)),
        "ToCopyBackward0": ("float32", (4,)),
        "SumBackward0": ("float32", ()),
    }


def test_leaves_have_their_names_numbers_and_gradients() -> None:
    loss, model = mlp_loss()
    loss.backward()
    found = {node.title: node for node in sketch_tensors(loss, model).nodes if node.kind == "leaf"}
    assert found.keys() == dict(model.named_parameters()).keys()
    for name, parameter in model.named_parameters():
        assert found[name].outputs[0].minimum == parameter.min().item()
        assert found[name].grad is not None
        assert found[name].grad.rms == pytest.approx(parameter.grad.square().mean().sqrt().item())


def test_every_value_of_a_forward_is_the_tensor_that_was_made() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    x = torch.randn(5, 4)
    sketch = sketch_forward(model, (x,), {})
    hidden = model[0](x)
    want = {"0": hidden, "1": hidden.relu(), "2": model(x)}
    for node in sketch.nodes:
        if node.kind == "function" and node.title != "TBackward0":
            tensor = want[node.path[0]]
            assert (node.outputs[0].minimum, node.outputs[0].maximum) == (tensor.min().item(), tensor.max().item())
    assert [node.title for node in sketch.nodes if node.kind == "constant"] == ["input"]


def test_without_a_forward_every_value_that_a_function_keeps_is_shown_under_the_variable_that_holds_it() -> None:
    x, model = torch.randn(5, 4), nn.Linear(4, 6)
    packed = model(x)
    query, key, value = packed.tanh().chunk(3, dim=1)
    weights = query @ key.T
    weights.retain_grad()
    loss = (weights.relu() @ value).exp().sum()
    loss.backward(retain_graph=True)
    names = {"x": x, "weights": weights, "loss": loss} | dict(model.named_parameters())
    sketch = sketch_tensors(loss, names)
    found = {node.name or node.title: node for node in sketch.nodes}
    assert found["x"].kind == "constant"
    assert found["x"].outputs[0] == summarise(x)
    assert found["weights"].outputs[0] == summarise(weights)
    assert found["weights"].grad == summarise(weights.grad)
    assert found["ReluBackward0"].outputs[0] == summarise(weights.relu())
    assert found["TanhBackward0"].outputs[0] == summarise(packed.tanh())
    kept, turned, last = found["SplitBackward0"].outputs
    assert (kept, last) == (summarise(query), summarise(value))
    assert turned.minimum is found["AddmmBackward0"].outputs[0].minimum is None  # nothing keeps them
    numbers = {number: node.name or node.title for number, node in enumerate(sketch.nodes)}
    split = [(numbers[edge.target], edge.output) for edge in sketch.edges if numbers[edge.source] == "SplitBackward0"]
    assert sorted(split) == [("MmBackward0", 2), ("PermuteBackward0", 1), ("weights", 0)]
    assert ("x", "AddmmBackward0", False) in {(numbers[e.source], numbers[e.target], e.is_held) for e in sketch.edges}
    assert found["loss"].result == "loss"


def test_a_value_that_was_written_over_is_not_shown_as_what_it_was() -> None:
    def scaled(x: Tensor) -> Tensor:
        y = x * 2
        z = y + 1
        y.mul_(3)
        return z

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    found = {node.title: node.outputs[0].value for node in sketch_forward(scaled, (x,), {}).nodes}
    assert found["AddBackward0"] == [3.0, 5.0]
    assert found["MulBackward0"] is None


def test_what_was_detached_has_no_edge_in_the_graph() -> None:
    def loss(x: Tensor) -> Tensor:
        hidden = x.tanh()
        return (hidden - hidden.detach() * 2).sum()

    sketch = sketch_forward(loss, (torch.ones(3, requires_grad=True),), {})
    cut = [edge for edge in sketch.edges if not edge.is_held]
    assert [(sketch.nodes[edge.source].title, sketch.nodes[edge.target].title) for edge in cut] == [
        ("from detached", "SubBackward0")
    ]
    assert ("TanhBackward0", "SubBackward0") in edges_by_title(sketch)


def test_layers_in_a_row_are_drawn_once_with_their_number() -> None:
    model = nn.Sequential(*(nn.Sequential(nn.Linear(4, 4), nn.ReLU()) for _ in range(12)))
    x = torch.randn(2, 4, requires_grad=True)
    folded = sketch_forward(model, (x,), {})
    assert {group.path: group.times for group in folded.groups if len(group.path) == 1} == {("0",): 12}
    assert titles(folded, "function") == ["AddmmBackward0", "ReluBackward0", "TBackward0"]
    whole = sketch_forward(model, (x,), {}, fold=False)
    assert titles(whole, "function") == names_of(nodes_behind(model(x)))


def test_layers_that_are_attributes_with_numbers_are_folded_as_those_of_a_list_are() -> None:
    class Tower(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            for number in range(12):
                setattr(self, f"block{number}", nn.Sequential(nn.Linear(4, 4), nn.ReLU()))

        def forward(self, x: Tensor) -> Tensor:
            for block in self.children():
                x = block(x)
            return x

    folded = sketch_forward(Tower(), (torch.randn(3, 4),), {})
    titles_of = {group.title: group.times for group in folded.groups if len(group.path) == 1}
    assert titles_of == {"block0 … block11 · Sequential": 12}


def test_layers_that_differ_are_not_folded() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 5), nn.Linear(5, 4))
    sketch = sketch_forward(model, (torch.randn(2, 4, requires_grad=True),), {})
    assert [group.times for group in sketch.groups] == [1, 1, 1]


def test_a_skip_over_two_layers_keeps_them_apart() -> None:
    class Skip(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

        def forward(self, x: Tensor) -> Tensor:
            first = self.layers[0](x)
            return self.layers[2](self.layers[1](first) + first)

    sketch = sketch_forward(Skip(), (torch.randn(2, 4, requires_grad=True),), {})
    assert titles(sketch, "function").count("AddmmBackward0") == 3


def test_a_module_called_twice_has_two_groups() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x: Tensor) -> Tensor:
            return self.layer(self.layer(x).relu())

    sketch = sketch_forward(Twice(), (torch.randn(2, 4),), {})
    assert [group.title for group in sketch.groups] == ["layer · Linear", "layer#2 · Linear"]
    assert titles(sketch, "leaf") == ["layer.bias", "layer.weight"]


def test_what_is_beyond_the_limit_is_said() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x
    for _ in range(50):
        y = y.sin()
    sketch = sketch_tensors(y, limit=10)
    assert len(sketch.nodes) == 10
    assert sketch.nodes[-1].result == "result"
    assert "41 further nodes" in sketch.notes[0]


def test_a_graph_deeper_than_pythons_stack() -> None:
    y = torch.ones(1, requires_grad=True)
    for _ in range(5_000):
        y = y + 1
    assert "4,901 further" in sketch_tensors(y, limit=100).notes[0]


def test_saved_tensors_are_shown_when_asked_and_released_ones_are_not() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    kept = {(one.name, str(one.summary.value)) for node in sketch_tensors(y, saved=True).nodes for one in node.saved}
    assert kept == {("self", "[1.0, 2.0]"), ("other", "[1.0, 2.0]")}
    y.backward()
    assert not [one for node in sketch_tensors(y, saved=True).nodes for one in node.saved]


class Squared(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:  # type: ignore[override]
        (x,) = ctx.saved_tensors
        return 2 * x * grad


def test_a_function_of_ones_own_is_drawn_with_what_it_keeps_and_without_it_behind_a_backward() -> None:
    x = torch.randn(3, requires_grad=True)
    inner = x.exp()
    loss = Squared.apply(inner).sum()
    before = {node.title: node.outputs[0] for node in sketch_tensors(loss).nodes}
    assert before["ExpBackward0"] == summarise(inner)
    loss.backward()
    behind = {node.title: node.outputs[0].minimum for node in sketch_tensors(loss, saved=True).nodes}
    assert (behind["SquaredBackward"], behind["ExpBackward0"]) == (None, None)


def test_looking_at_a_graph_changes_nothing_of_it() -> None:
    loss, model = mlp_loss()
    versions = [parameter._version for parameter in model.parameters()]
    state = torch.get_rng_state()
    sketch_tensors(loss, model, saved=True)
    assert torch.equal(state, torch.get_rng_state())
    assert versions == [parameter._version for parameter in model.parameters()]
    assert all(parameter.grad is None for parameter in model.parameters())
    loss.backward()
    assert all(parameter.grad is not None for parameter in model.parameters())


@pytest.mark.parametrize("fails", [False, True])
def test_a_forward_leaves_the_module_as_it_was(fails: bool) -> None:
    class Ends(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            random.random()
            if fails:
                raise ValueError("the person's own")
            return x

    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), Ends())
    before = {name: (id(value), value._version, value.clone()) for name, value in model.named_buffers()}
    states = torch.get_rng_state(), random.getstate()
    x = torch.randn(6, 4, generator=torch.Generator())
    with pytest.raises(ValueError, match="the person's own") if fails else nullcontext():
        sketch_forward(model, (x,), {})
    assert torch.equal(states[0], torch.get_rng_state()) and states[1] == random.getstate()
    for name, value in model.named_buffers():
        assert (id(value), value._version) == before[name][:2] and torch.equal(value, before[name][2])
    for module in model.modules():
        assert not module._forward_hooks and not module._forward_pre_hooks
        assert not module._forward_hooks_always_called


def test_what_has_no_graph_is_said() -> None:
    assert "requires no grad" in sketch_tensors(torch.ones(3)).notes[0]
    with pytest.raises(CannotTry, match="no tensor"):
        sketch_tensors({"a": 3})


def test_a_leaf_beside_a_loss_is_one_node() -> None:
    weight = torch.ones(2, requires_grad=True)
    sketch = sketch_tensors({"loss": weight.sum(), "w": weight})
    assert [(node.kind, node.result) for node in sketch.nodes] == [("leaf", "w"), ("function", "loss")]


def test_hooks_that_unpack_are_not_run() -> None:
    ran = []

    def unpack(tensor: Tensor) -> Tensor:
        ran.append(tensor)
        return tensor

    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, unpack):
        packed = (x * x).sum()
    sketch = sketch_tensors(packed, saved=True)
    assert ran == [] and not [one for node in sketch.nodes for one in node.saved]
    assert "hooks have packed" in sketch.notes[0]
    packed.backward()
    assert ran


def test_a_module_that_is_not_ready_is_not_made_ready() -> None:
    model = nn.Sequential(nn.LazyLinear(3))
    with pytest.raises(CannotTry, match="LazyLinear '0' is not ready"):
        sketch_forward(model, (torch.ones(1, 2),), {})
    assert isinstance(model[0].weight, nn.parameter.UninitializedParameter)


def test_outputs_in_nests_and_functions_of_ones_own() -> None:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x: Tensor) -> Tensor:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad: Tensor) -> Tensor:
            return 2 * grad * ctx.saved_tensors[0]

    def both(x: Tensor) -> dict[str, Tensor]:
        y = Square.apply(x)
        return {"twice": y * 2, "square": y}

    sketch = sketch_forward(both, (torch.tensor([3.0], requires_grad=True),), {}, saved=True)
    found = {node.title: node for node in sketch.nodes}
    assert found["SquareBackward"].result == "square" and found["MulBackward0"].result == "twice"
    assert [one.summary.value for one in found["SquareBackward"].saved] == [[3.0]]


def test_the_reference_transformer_folds_and_unfolds_to_torchs_nodes() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model = nn.TransformerEncoder(layer, 4)
    x = torch.randn(2, 3, 8, requires_grad=True)
    folded = sketch_forward(model, (x,), {})
    assert {group.path[0]: group.times for group in folded.groups if len(group.path) == 1} == {"layers.0": 4}
    whole = sketch_forward(model, (x,), {}, fold=False, limit=5_000)
    assert titles(whole, "function") == names_of(nodes_behind(model(x)))
