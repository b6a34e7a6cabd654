"""The shipped examples as documents: readable, up to date, complete, neatly drawn. Running them is tests/engine's."""

import ast
from pathlib import Path

import pytest

from gradstudio import paths
from gradstudio.document import file
from gradstudio.graph.card_grouping import card_groups
from gradstudio.graph.model import ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import flatten_statements
from tests.layout.test_tidy import overlap, rectangles
from tools import confusing_examples, make_examples

FILES = sorted(paths.examples().glob("*.gsg"))
NAMES = [path.stem for path in FILES]
EXPECTED = {
    "01_square_polynomial": ["x = torch.tensor(3.0, requires_grad=True)", "y = x**2 + 2 * x + 1", "y.backward()"],
    "02_two_paths": ["z = x * y", "w = z + x", "loss = w**2", "loss.backward()"],
    "03_linear_regression": [
        "prediction = x @ w + b",
        "loss = F.mse_loss(prediction, target)",
        "loss.backward()",
        "with torch.no_grad():",
        "    w -= 0.1 * w.grad",
        "    b -= 0.1 * b.grad",
    ],
    "04_matrix_times_vector": ["y = W @ x + b", "loss = y.pow(2).sum()", "loss.backward()"],
    "05_detach_and_no_grad": ["frozen = square.detach()", "with torch.no_grad():", "    scale = x * 3", "y.backward()"],
    "06_broadcast_bias": ["y = x + bias", "loss = (y**2).sum()", "loss.backward()"],
    "07_digits_perceptron": [
        "X = images.to(device) / 16",
        "hidden = torch.relu(X @ W1 + b1)",
        "logits = hidden @ W2 + b2",
        "loss = F.cross_entropy(logits, target)",
        "loss.backward()",
    ],
    "08_attention_head": [
        "scores = Q @ K.T / d**0.5",
        "attention = torch.softmax(scores, dim=-1)",
        "output = attention @ V",
        "loss.backward()",
    ],
    "09_doubled_gradient": ["for turn in range(2):", "    y = x**2", "    y.backward()"],
    "10_in_place_after_exp": ["y = torch.exp(x)", "y += 1", "loss = y.sum()", "loss.backward()"],
    "11_nan_from_sqrt": ["root = torch.sqrt(x)", "safe = torch.where(mask, root, 0.0)", "loss.backward()"],
    "12_vanishing_sigmoids": ["h1 = torch.sigmoid(w)", "h8 = torch.sigmoid(h7)", "h8.backward()"],
    "13_frozen_branch": [
        "with torch.no_grad():",
        "    right = w2 * x",
        "loss = (left + right) ** 2",
        "loss.backward()",
    ],
    "14_double_backward": [
        "grads = torch.autograd.grad(y, x, create_graph=True)",
        "first = grads[0]",
        "first.backward()",
    ],
    "15_train_and_eval": [
        "fc = nn.Linear(4, 8)",
        "wide = fc(x)",
        "norm = nn.BatchNorm1d(8)",
        "dropout = nn.Dropout(p=0.5)",
        "noisy = dropout(hidden)",
        "quiet.eval()",
        "whole = quiet(hidden)",
        "loss.backward()",
    ],
    "16_learning_rate": [
        "for turn in range(20):",
        "    loss = (w - 1) ** 2",
        "    loss.backward()",
        "        w -= lr * w.grad",
    ],
    "17_momentum_and_adam": [
        "optimizer = optim.SGD([w], lr=0.05)",
        "    loss = (slope * w**2).sum()",
        "    loss.backward()",
        "    optimizer.step()",
    ],
    "18_why_normalise": ["inputs = x * 1", "    loss = F.mse_loss(inputs @ w + b, y)", "    loss.backward()"],
    "19_dead_unit": [
        "    prediction = torch.relu(x @ w + b)",
        "    loss = F.mse_loss(prediction, y)",
        "    loss.backward()",
    ],
    "20_residual": ["h = x.clone()", "for _ in range(30):", "    h = torch.tanh(h @ W)", "loss.backward()"],
    "21_batch_and_noise": [
        "    batch = data[torch.randint(0, 1024, (size,))]",
        "    loss.backward()",
        "    gradients.append(w.grad)",
        "noise = torch.stack(gradients).std()",
    ],
    "22_overfitting": [
        "    nn.Dropout(0.0),",
        "    loss.backward()",
        "net.eval()",
        "with torch.no_grad():",
        "    held_out = F.mse_loss(net(x_between), torch.sin(3 * x_between))",
    ],
    "23_descent_in_a_bowl": [
        "lr = 0.1",
        "    loss = (w[0] - 1) ** 2 + 3 * (w[1] + 1) ** 2",
        "        w -= lr * w.grad",
    ],
    "24_writing_letters": [
        "seen = 16",
        "windows = torch.tensor(numbers).unfold(0, seen + 1, 1)",
        "    loss = F.cross_entropy(net(x), y)",
        "    written += letters[follows]",
        "print(written)",
    ],
}


FOLDED = {"07_digits_perceptron": 3, "08_attention_head": 1}
"""Wires that run back to the next row, in programs too long for one."""


def test_all_are_there():
    assert sorted(EXPECTED) == NAMES


@pytest.fixture(params=FILES, ids=NAMES)
def example(request):
    return request.param


def test_it_is_what_the_tool_writes(example: Path):
    made = make_examples.make(example.stem)
    assert example.read_text(encoding="utf-8") == file.dumps(made), "run: python tools/make_examples.py"
    assert file.load(example).tensors == made.tensors


def test_it_compiles_complete_and_prints_as_a_person_would_write_it(example: Path):
    graph = file.load(example)
    program = compile_graph(graph, stem=example.stem)
    assert program.incomplete == ()
    lines = program.code.splitlines()
    found = [line for line in lines if line in EXPECTED[example.stem]]
    assert found == EXPECTED[example.stem]
    assert f"{example.stem}.tensors/" in program.script or not graph.tensors
    ast.parse(program.script)


def test_its_backward_is_a_node_and_stands_once(example: Path):
    program = compile_graph(file.load(example))
    backwards = [one.text for one in flatten_statements(program.statements) if one.backward and not one.names]
    assert backwards == [confusing_examples.BACKWARDS.get(example.stem, backwards[0])]
    assert backwards[0] in ("y.backward()", "loss.backward()", "h8.backward()", "first.backward()")


def test_a_note_says_what_to_look_at_and_has_a_place(example: Path):
    graph = file.load(example)
    first = next(item for item in graph.bodies[""] if not graph.nodes[item].nested)
    assert len(graph.nodes[first].note.splitlines()) >= 2
    assert max(map(len, graph.nodes[first].note.splitlines())) <= 104
    assert f"note:{first}" in graph.places


def test_it_is_drawn_neatly(example: Path):
    graph = file.load(example)
    places = {key: (place.x, place.y) for key, place in graph.places.items()}
    assert graph.nodes.keys() | graph.blocks.keys() <= places.keys()
    covers = rectangles(graph, places)
    keys = list(covers)
    assert not [(a, b) for k, a in enumerate(keys) for b in keys[:k] if overlap(covers[a], covers[b])]
    groups = card_groups(graph)
    wires = [wire for wire in graph.wires.values() if not groups.is_hidden(wire)]
    nodes = [wire for wire in wires if wire.source in graph.nodes and wire.target in graph.nodes]
    backward = [wire for wire in nodes if covers[groups.home(wire.source)][2] >= places[wire.target][0]]
    assert len(backward) <= FOLDED.get(example.stem, 0)


def test_tensors_without_inputs_are_made_on_the_documents_device(example: Path):
    graph = file.load(example)
    made = [node for node in graph.nodes.values() if node.operator in ("torch.tensor", "torch.randn", "torch.zeros")]
    assert {node.literals.get("device") for node in made} == {"device"}


def test_the_digits_name_their_source_and_licence():
    graph = file.load(paths.examples() / "07_digits_perceptron.gsg")
    assert all("Alpaydin" in tensor.source and "CC BY 4.0" in tensor.source for tensor in graph.tensors.values())
    assert "CC BY 4.0" in graph.nodes[ItemId("images")].note
    readme = (paths.resources() / "data" / "README.md").read_text(encoding="utf-8")
    assert "Alpaydin" in readme
    assert "CC BY 4.0" in readme
