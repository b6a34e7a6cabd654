"""Each shipped example, run forward and backward by the engine, against plain torch written by hand.

The exported script, run in a process of its own, must give the engine's numbers to the last bit.
"""

import json
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
import torch
from safetensors.torch import load
from torch.nn import functional

from gradstudio import paths
from gradstudio.document import file
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.client import EngineProcess
from gradstudio.protocol.messages.events import Failed, Paused, Report
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.protocol.messages.requests import Collect, Do, Load

TIMEOUT_S = 120
MOST_VALUES = 100_000
Tensors = dict[str, torch.Tensor]
pytestmark = pytest.mark.slow


def leaf(data: object) -> torch.Tensor:
    return torch.tensor(data, requires_grad=True)


def square_polynomial() -> Tensors:
    x = leaf(3.0)
    y = x**2 + 2 * x + 1
    y.backward()
    return {"x": x, "y": y}


def two_paths() -> Tensors:
    x, y = leaf(2.0), leaf(3.0)
    z = x * y
    w = z + x
    loss = w**2
    loss.backward()
    return {"x": x, "y": y, "z": z, "w": w, "loss": loss}


def linear_regression() -> Tensors:
    x, target = torch.tensor([[1.0, 2.0]]), torch.tensor([[5.0]])
    w, b = leaf([[0.5], [1.5]]), leaf(0.1)
    prediction = x @ w + b
    loss = functional.mse_loss(prediction, target)
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        b -= 0.1 * b.grad
    return {"x": x, "w": w, "b": b, "target": target, "prediction": prediction, "loss": loss}


def matrix_times_vector() -> Tensors:
    W, x, b = leaf([[1.0, -2.0, 0.5], [0.0, 3.0, 1.0]]), leaf([2.0, 1.0, -1.0]), leaf([0.5, -0.5])
    y = W @ x + b
    loss = y.pow(2).sum()
    loss.backward()
    return {"W": W, "x": x, "b": b, "y": y, "loss": loss}


def detach_and_no_grad() -> Tensors:
    x = leaf(2.0)
    square = x**2
    frozen = square.detach()
    with torch.no_grad():
        scale = x * 3
    y = square * frozen + scale * x
    y.backward()
    return {"x": x, "square": square, "frozen": frozen, "scale": scale, "y": y}


def broadcast_bias() -> Tensors:
    x, bias = leaf([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), leaf([0.5, -1.0, 2.0])
    y = x + bias
    loss = (y**2).sum()
    loss.backward()
    return {"x": x, "bias": bias, "y": y, "loss": loss}


def digits_perceptron() -> Tensors:
    graph = file.load(paths.examples() / "07_digits_perceptron.gsg")
    stored = [load(tensor.data)["data"] for tensor in graph.tensors.values()]
    images, labels = sorted(stored, key=lambda tensor: -tensor.dim())
    torch.manual_seed(0)
    X, target = images / 16, labels
    W1, b1 = torch.normal(0.0, 0.1, size=(64, 32), requires_grad=True), torch.zeros(32, requires_grad=True)
    W2, b2 = torch.normal(0.0, 0.1, size=(32, 10), requires_grad=True), torch.zeros(10, requires_grad=True)
    hidden = (X @ W1 + b1).relu()
    logits = hidden @ W2 + b2
    loss = functional.cross_entropy(logits, target)
    accuracy = (logits.argmax(1) == target).float().mean()
    loss.backward()
    names = {"images": images, "labels": labels, "X": X, "target": target, "W1": W1, "b1": b1, "W2": W2, "b2": b2}
    return {**names, "hidden": hidden, "logits": logits, "loss": loss, "accuracy": accuracy}


def attention_head() -> Tensors:
    torch.manual_seed(0)
    tokens = 0.4 * torch.randn(4, 8)
    W_q, W_k, W_v = (torch.randn(8, 8, requires_grad=True) for _ in range(3))
    Q, K, V = tokens @ W_q, tokens @ W_k, tokens @ W_v
    scores = Q @ K.transpose(0, 1) / math.sqrt(8)
    attention = torch.exp(scores) / torch.exp(scores).sum(1, keepdim=True)
    output = attention @ V
    loss = (output * output).mean()
    loss.backward()
    names = {"tokens": tokens, "W_q": W_q, "W_k": W_k, "W_v": W_v, "Q": Q, "K": K, "V": V}
    return {**names, "scores": scores, "attention": attention, "output": output, "loss": loss}


def train_and_eval() -> Tensors:
    torch.manual_seed(0)
    x = torch.randn(6, 4)
    fc = torch.nn.Linear(4, 8)
    wide = fc(x)
    norm = torch.nn.BatchNorm1d(8)
    even = norm(wide)
    hidden = torch.relu(even)
    noisy = functional.dropout(hidden, 0.5, training=True)
    whole = hidden
    head = torch.nn.Linear(8, 1)
    y = head(noisy)
    loss = (y * y).mean()
    loss.backward()
    names = {"x": x, "wide": wide, "even": even, "hidden": hidden, "noisy": noisy, "whole": whole}
    return {**names, "lost": whole - noisy, "y": y, "loss": loss}


BY_HAND: dict[str, Callable[[], Tensors]] = {
    "01_square_polynomial": square_polynomial,
    "02_two_paths": two_paths,
    "03_linear_regression": linear_regression,
    "04_matrix_times_vector": matrix_times_vector,
    "05_detach_and_no_grad": detach_and_no_grad,
    "06_broadcast_bias": broadcast_bias,
    "07_digits_perceptron": digits_perceptron,
    "08_attention_head": attention_head,
    "15_train_and_eval": train_and_eval,
}
KNOWN_GRADIENTS = {
    "01_square_polynomial": {"x": 8.0},
    "02_two_paths": {"x": 64.0, "y": 32.0},
    "05_detach_and_no_grad": {"x": 22.0},
}


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    with EngineProcess() as process:
        process.wait_until_ready(TIMEOUT_S)
        yield process


@pytest.fixture(params=BY_HAND, scope="module")
def example(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def records(engine, example) -> dict[str, TensorRecord]:
    """What the engine reports of each named tensor after a traced run."""
    graph = file.load(paths.examples() / f"{example}.gsg")
    program = compile_graph(graph, stem=example)
    tensors = {digest: tensor.data for digest, tensor in graph.tensors.items()}
    engine.send(Load(document=example, revision=1, program=program, tensors=tensors))
    engine.send(Do(verb="run", max_values=MOST_VALUES))
    failures: list[object] = []
    paused = engine.wait_for(Paused, timeout=TIMEOUT_S, on_event=failures.append)
    assert isinstance(paused, Paused)
    assert paused.outcome == "done", [event for event in failures if isinstance(event, Failed)]
    engine.send(Collect(max_values=MOST_VALUES))
    report = engine.wait_for(Report, timeout=TIMEOUT_S)
    assert isinstance(report, Report)
    named = {entry.name: entry.outputs[0] for entry in report.entries if entry.outputs}
    return {name: record for name, record in named.items() if isinstance(record, TensorRecord)}


def test_every_value_and_gradient_is_what_plain_torch_computes(example, records):
    by_hand = BY_HAND[example]()
    assert records.keys() == by_hand.keys()
    for name, tensor in by_hand.items():
        record = records[name]
        assert record.summary.dtype == str(tensor.dtype).removeprefix("torch.")
        assert record.requires_grad == tensor.requires_grad
        torch.testing.assert_close(torch.tensor(record.summary.value, dtype=tensor.dtype), tensor.detach())
        if not tensor.is_leaf or not tensor.requires_grad:
            continue
        assert record.grad_state == "value"
        assert record.grad is not None
        torch.testing.assert_close(torch.tensor(record.grad.value, dtype=tensor.dtype), tensor.grad)


def test_the_gradients_that_the_notes_promise(example, records):
    for name, gradient in KNOWN_GRADIENTS.get(example, {}).items():
        assert records[name].grad is not None
        assert records[name].grad.value == gradient


@pytest.fixture(scope="module")
def exported(tmp_path_factory) -> dict[str, dict[str, list[object]]]:
    """Value and gradient of every tensor that each exported script leaves behind, run as a person would."""
    folder = tmp_path_factory.mktemp("exported")
    for name in BY_HAND:
        graph = file.load(paths.examples() / f"{name}.gsg")
        (folder / f"{name}.py").write_text(compile_graph(graph, stem=name).script, encoding="utf-8")
        if graph.tensors:
            shutil.copytree(paths.examples() / f"{name}.tensors", folder / f"{name}.tensors")
    command = [sys.executable, "-W", "error", "-c", TELL, folder / "told.json", *sorted(folder.glob("*.py"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told: dict[str, dict[str, list[object]]] = json.loads((folder / "told.json").read_text())
    return told


TELL = """
import json, pathlib, runpy, sys, torch
told = {}
for script in map(pathlib.Path, sys.argv[2:]):
    names = runpy.run_path(str(script), run_name="__main__")
    told[script.stem] = tensors = {}
    for name, value in names.items():
        if isinstance(value, torch.Tensor):
            grad = value.grad if value.is_leaf else None
            tensors[name] = value.tolist(), None if grad is None else grad.tolist()
pathlib.Path(sys.argv[1]).write_text(json.dumps(told))
"""


def test_the_exported_script_gives_the_same_bits(example, records, exported):
    told = exported[example]
    values = {
        name: told[name] for name in told if not re.fullmatch(r"(parameter|buffer)\d*", name)
    }  # of the report's own loops
    assert values.keys() == records.keys()
    for name, (value, grad) in values.items():
        record = records[name]
        assert record.summary.value == value
        if record.is_leaf and record.requires_grad:
            assert record.grad is not None
            assert record.grad.value == grad


def test_it_is_not_the_test_that_is_lax(example, records):
    """A changed number must be noticed."""
    name, tensor = next(iter(BY_HAND[example]().items()))
    with pytest.raises(AssertionError):
        torch.testing.assert_close(torch.tensor(records[name].summary.value, dtype=tensor.dtype), tensor.detach() + 1)
