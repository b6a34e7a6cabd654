"""Augmented assignments: a recorded run, a plain run, the printed script and Python itself give the same."""

import contextlib
import io
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from gradstudio.graph.model import BodyId, Graph, Wire
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.events import Failed
from tests.engine.augmented_programs import program
from tests.engine.conftest import Bench

NAMES = ("cell", "net", "tensors", "numbers", "x", "seen", "optimizer", "loss", "again")
SEEDS = range(60)


def _by_python(text: str) -> tuple[dict[str, Any], str]:
    namespace: dict[str, Any] = {"__name__": "program"}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            exec(compile(text, "program.py", "exec"), namespace)
        except (RuntimeError, AttributeError, IndexError, ZeroDivisionError, OverflowError, TypeError) as error:
            return namespace, f"{type(error).__name__}: {error}"
    return namespace, ""


def _by_engine(graph: Graph, trace: bool) -> tuple[dict[str, Any], str]:
    bench = Bench()
    bench.run(compile_graph(graph), trace=trace)
    found = {name: bench[name] for name in NAMES if name in bench}
    assert bench.engine.live is not None
    bench.engine.live.close()
    if not any(isinstance(event, Failed) for event in bench.events):
        return found, ""
    failure = bench.failed()
    return found, f"{failure.type_name}: {failure.message}"


def _facts(namespace: dict[str, Any]) -> dict[str, Any]:
    """Every tensor by its path, its gradient, and which of them share memory."""
    tensors: dict[str, torch.Tensor] = {}
    plain: dict[str, Any] = {}
    for name in NAMES:
        value = namespace.get(name)
        if isinstance(value, torch.Tensor):
            tensors[name] = value
        elif isinstance(value, nn.Module):
            tensors |= {f"{name}.{path}": one for path, one in (*value.named_parameters(), *value.named_buffers())}
            plain[f"{name}.scale"] = repr(getattr(value, "scale", None))
        elif name == "tensors" and value is not None:
            tensors |= {f"{name}.{k}": one for k, one in enumerate(value)}
        elif name == "optimizer" and value is not None:
            plain[name] = repr([group["lr"] for group in value.param_groups])
        elif name in namespace:
            plain[name] = repr(list(value))
    leaves = {name: one for name, one in tensors.items() if one.is_leaf and one.grad is not None}
    tensors |= {f"{name}.grad": one.grad for name, one in leaves.items() if one.grad is not None}
    storages: dict[int, list[str]] = {}
    for name, one in tensors.items():
        storages.setdefault(one.untyped_storage().data_ptr(), []).append(name)
    values = {name: one.detach().contiguous().numpy().tobytes() for name, one in tensors.items()}
    return {"values": values, "plain": plain, "shared": sorted(storages.values())}


@pytest.mark.parametrize("chunk", range(4))
def test_python_plain_run_and_recorded_run_agree(chunk: int, tmp_path: Path) -> None:
    finished = 0
    for seed in SEEDS[chunk::4]:
        text = program(seed)
        wanted, error = _by_python(text)
        graph = read_script(text).graph
        script = compile_graph(graph).script
        runs = {
            "script": _by_python(script),
            "plain": _by_engine(graph, trace=False),
            "recorded": _by_engine(graph, trace=True),
        }
        for kind, (found, said) in runs.items():
            assert said == error, (seed, kind, text)
            assert _facts(found) == _facts(wanted), (seed, kind, text)
        finished += not error
    assert finished > len(SEEDS[chunk::4]) // 3


WRITES = (
    "net[0].weight.data *= 0.5",
    "net[0].weight[0] = 1.0",
    "x[k + 1] += 1.0",
    "pick(tensors, k)[k + 1] -= 2.0",
    "net[0].weight.data = x * 2.0",
)


@pytest.mark.parametrize("line", WRITES)
def test_a_wire_drawn_from_what_was_written_reads_it_in_a_recorded_run_too(line: str) -> None:
    text = f"""\
import torch
from torch import nn

def pick(a, b):
    return a[b]

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 3))
x = torch.ones(3, 2)
tensors = [torch.ones(3, 2)]
k = 0
with torch.no_grad():
    {line}
y = x * 2
"""
    graph = read_script(text).graph
    user = next(node.id for node in graph.nodes.values() if node.names == ("y",))
    block = next(iter(graph.blocks))
    writer = graph.bodies[BodyId(block)][-1]
    old = graph.wire_into(user, "a")
    assert old is not None
    graph.erase(old)
    graph.draw(Wire(writer, 0, user, "a"))
    wanted, error = _by_python(compile_graph(graph).script)
    assert error == ""
    for trace in (False, True):
        bench = Bench()
        bench.run(compile_graph(graph), trace=trace)
        found = bench["y"]
        assert isinstance(found, torch.Tensor)
        assert torch.equal(found, wanted["y"]), trace
