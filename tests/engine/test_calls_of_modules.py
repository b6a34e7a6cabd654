"""Modules called with keywords, masks and states: what the engine makes of them is what Python makes of the text."""

import inspect
from typing import Any

import pytest
import torch

from gradstudio.graph.model import Graph
from gradstudio.operators.catalogue.loader import load
from gradstudio.program.compile import compile_graph
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_script
from tests.engine.conftest import Bench

HEAD = "import torch\nfrom torch import nn\n\ntorch.manual_seed(0)\n"
CALLS = {
    "attention": """
q = torch.randn(2, 5, 8, requires_grad=True)
k = torch.randn(2, 3, 8)
padding = torch.tensor([[False, False, True], [False, True, True]])
mask = torch.zeros(5, 3, dtype=torch.bool)
m = nn.MultiheadAttention(8, num_heads=2, batch_first=True)
y, weights = m(q, k, k, key_padding_mask=padding, attn_mask=mask, average_attn_weights=False)
""",
    "attention without weights": """
q = torch.randn(2, 5, 8, requires_grad=True)
m = nn.MultiheadAttention(8, num_heads=2, batch_first=True)
y, nothing = m(q, key=q, value=q, need_weights=False)
""",
    "bags": """
x = torch.tensor([1, 2, 4, 5, 4, 3])
offsets = torch.tensor([0, 4])
w = torch.rand(6, requires_grad=True)
m = nn.EmbeddingBag(10, 3, mode="sum")
y = m(x, offsets=offsets, per_sample_weights=w)
""",
    "unpooling": """
x = torch.randn(1, 1, 5, 5, requires_grad=True)
pool = nn.MaxPool2d(2, return_indices=True)
small, places = pool(x)
m = nn.MaxUnpool2d(2)
n = x.shape[2]
y = m(small, places, output_size=(n, 5))
""",
    "decoder": """
t = torch.randn(2, 4, 8, requires_grad=True)
memory = torch.randn(2, 3, 8)
mask = torch.ones(4, 4).triu(1) == 1
m = nn.TransformerDecoderLayer(8, nhead=2, dim_feedforward=16, dropout=0.0, batch_first=True)
second = m
y = second(t, memory, tgt_mask=mask, tgt_is_causal=True)
""",
    "states": """
x = torch.randn(3, 2, 4, requires_grad=True)
h = torch.randn(1, 2, 6, requires_grad=True)
c = torch.zeros(1, 2, 6)
m = nn.LSTM(4, 6)
first, state = m(x, hx=(h, c))
second, last = m(x, state)
y = first + second
""",
    "a container": """
x = torch.randn(2, 4, requires_grad=True)
m = nn.Sequential(nn.Linear(4, 3))
y = m(input=x)
""",
}


def graph_of(name: str) -> Graph:
    return read_script(f"{HEAD}{CALLS[name]}loss = y.square().sum()\nloss.backward()\n").graph


def by_hand(name: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {}
    exec(f"{HEAD}{CALLS[name]}loss = y.square().sum()\nloss.backward()\n", namespace)
    return namespace


def assert_same(mine: dict[str, Any], theirs: dict[str, Any]) -> None:
    tensors = {name: value for name, value in theirs.items() if isinstance(value, torch.Tensor)}
    assert {"y", "loss"} <= tensors.keys()
    for name, value in tensors.items():
        assert torch.equal(mine[name], value), name
        if value.is_leaf and value.requires_grad:
            assert torch.equal(mine[name].grad, value.grad), name
    for (path, mine_of), (_, theirs_of) in zip(
        mine["m"].named_parameters(), theirs["m"].named_parameters(), strict=True
    ):
        assert (mine_of.grad is None) == (theirs_of.grad is None), path
        assert mine_of.grad is None or torch.equal(mine_of.grad, theirs_of.grad), path


@pytest.mark.parametrize("trace", [True, False])
@pytest.mark.parametrize("name", CALLS)
def test_the_engine_calls_a_module_as_python_does(name: str, trace: bool) -> None:
    bench = Bench()
    paused = bench.run(compile_graph(graph_of(name)), trace=trace)
    assert paused.outcome == "done"
    theirs = by_hand(name)
    assert_same({key: bench[key] for key in theirs if key in bench}, theirs)


@pytest.mark.parametrize("name", CALLS)
def test_the_script_that_is_exported_calls_it_so_too(name: str) -> None:
    text = write_script(graph_of(name))
    assert write_script(read_script(text).graph) == text
    namespace: dict[str, Any] = {"__name__": "exported"}
    exec(text, namespace)
    assert_same(namespace, by_hand(name))


def test_what_modules_take_is_what_forward_takes() -> None:
    rows = [row for row in load() if row.takes]
    assert len(rows) > 140
    for row in rows:
        module = getattr(torch.nn, row.word)
        _, *parameters = inspect.signature(module.forward).parameters.values()
        assert [p.name for p in parameters] == [taken.name for taken in row.takes], row.key
        assert [p.default is p.empty for p in parameters] == [taken.default is None for taken in row.takes], row.key
        assert [repr(p.default) for p in parameters if p.default is not p.empty] == [
            taken.default for taken in row.takes if taken.default is not None
        ], row.key
        assert not any(taken.name in ("module", "inputs") for taken in row.takes), "these are ports of every call"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("y = m(q, q, q, attn_maks=q)", "MultiheadAttention has no argument 'attn_maks'. Did you mean 'attn_mask'?"),
        ("y = m(q, q)", "'value' must be given. It is called module(query, key, value, key_padding_mask=None,"),
        ("y = m(q, q, q, key=q)", "'key' is given twice."),
    ],
)
def test_a_call_that_torch_would_refuse_is_refused_at_its_line(line: str, reason: str) -> None:
    text = f"{HEAD}q = torch.randn(2, 5, 8)\nm = nn.MultiheadAttention(8, num_heads=2)\n{line}\n"
    with pytest.raises(NotReadable) as caught:
        read_script(text)
    assert reason in str(caught.value)
    assert caught.value.line == 7
