"""A statement is written as mathematics, with as many brackets as it needs."""

import pytest

from gradstudio.document.python.python_document import read_python
from gradstudio.graph.model import Graph, ItemId
from gradstudio.scene.figure.drawing import Run, flat
from gradstudio.scene.figure.figure_graph import FigureGraph
from gradstudio.scene.figure.formula_writer import FormulaWriter
from gradstudio.scene.figure.math_symbols import number, symbol

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
GIVEN = "x = torch.ones(2)\na = torch.ones(2)\nb = torch.ones(2)\nW1 = torch.ones(2, 2)\ny_hat = torch.ones(2)\n"


def graph_of(text: str) -> Graph:
    return read_python(HEAD + GIVEN + text).graph


def last(graph: Graph) -> ItemId:
    return FigureGraph(graph).boxes[-1]


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("y = W1 @ x + b", "y = W_1 x + b"),
        ("y = x**2", "y = x^2"),
        ("y = (a + b) ** 2", "y = (a + b)^2"),
        ("y = x**0.5", "y = √x"),
        ("y = a - (b - x)", "y = a − (b − x)"),
        ("y = a - b - x", "y = a − b − x"),
        ("y = a - (b + x)", "y = a − (b + x)"),
        ("y = a + (b - x)", "y = a + b − x"),
        ("y = a / (b * x)", "y = a / (b · x)"),
        ("y = (a + b) * x", "y = (a + b) · x"),
        ("y = 2 * x", "y = 2 x"),
        ("y = x * 2", "y = x · 2"),
        ("y = -(a + b)", "y = −(a + b)"),
        ("y = (-x) ** 2", "y = (−x)^2"),
        ("y = -x**2", "y = −x^2"),
        ("loss = F.mse_loss(y_hat, x)", "loss = MSE(y\u0302, x)"),
        ("loss = ((y_hat - x) ** 2).mean()", "loss = mean((y\u0302 − x)^2)"),
        ("loss = (x**2).sum()", "loss = Σ x^2"),
        ("loss = (a + b).sum()", "loss = Σ (a + b)"),
        ("loss = W1.sum(0)", "loss = Σ_0 W_1"),
        ("y = torch.relu(W1 @ x)", "y = ReLU(W_1 x)"),
        ("y = torch.sigmoid(x)", "y = σ(x)"),
        ("y = W1.T @ x", "y = W_1^⊤ x"),
        ("y = (W1 @ W1).T", "y = (W_1 W_1)^⊤"),
        ("y = F.linear(x, W1, b)", "y = x W_1^⊤ + b"),
        ("y = F.softmax(x, dim=0)", "y = softmax(x)"),
        ("y = x.detach()", "y = sg(x)"),
        ("y = x.abs()", "y = |x|"),
        ("y = x.norm()", "y = ‖x‖"),
        ("y = x[0]", "y = x_0"),
        ("y = x.float() + a", "y = x + a"),
        ("y = x == a", "y = [x = a]"),
        ("x.grad = None", "∇_x ← None"),
        ("x.data = a * 2", "x.data ← a · 2"),
        ("x[0] = 3.0", "x_0 ← 3.0"),
        ("y = (x * 2).requires_grad_()", "y = x · 2"),
        ("y = x > a", "y = [x > a]"),
        ("y = x.masked_fill(a == 0, float('-inf'))", "y = masked fill(x, [a = 0], −∞)"),
        ("y = x.masked_fill(a > 0, -torch.inf)", "y = masked fill(x, a > 0, −∞)"),
        ("y = W1 @ W1.transpose(-2, -1) / 8**0.5", "y = W_1 W_1^⊤ / √8"),
        ("y = W1.transpose(0, 2)", "y = transpose(W_1, 0, 2)"),
        ("y = x / 2**3", "y = x / 2^3"),
        ("y = x * (1 / 3)", "y = x · 1 / 3"),
        ("y = torch.tril(torch.ones(4, 4))", "y = tril(ones(4, 4))"),
        ("y = torch.tril(torch.ones((4, 4))) == 0", "y = [tril(ones(4, 4)) = 0]"),
        ("fc = nn.Linear(2, 3)\ny = fc(x)", "y = fc(x)"),
        ("x -= 0.1 * a", "x ← x − 0.1 a"),
        ("y = torch.where(x > 0, a, b)", "y = where(x > 0, a, b)"),
        ("x.sum().backward()", "∇ (Σ x)"),
    ],
)
def test_a_statement_is_written_as_mathematics(text: str, formula: str) -> None:
    graph = graph_of(text)
    assert flat(FormulaWriter(graph).statement(last(graph))) == formula


def test_what_is_given_is_its_name_and_a_layer_says_its_sizes() -> None:
    graph = graph_of("fc = nn.Linear(2, 3)\ny = fc(x)")
    writer = FormulaWriter(graph)
    assert flat(writer.statement(FigureGraph(graph).boxes[0])) == "x"
    assert flat(writer.detail(last(graph))) == "Linear(2, 3)"


def test_arrays_are_multiplied_element_by_element_where_their_shapes_are_known() -> None:
    graph = graph_of("y = a * b")
    known = frozenset((item, 0) for item in graph.nodes)
    assert flat(FormulaWriter(graph, known).statement(last(graph))) == "y = a ⊙ b"


def test_inner_parts_are_dots_where_a_formula_has_no_room() -> None:
    graph = graph_of("y = torch.exp(torch.sin(torch.cos(x)))")
    assert flat(FormulaWriter(graph).statement(last(graph), 2)) == "y = exp(sin(…))"


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("x", (Run("x", True),)),
        ("W1", (Run("W", True), Run("1", False, -1))),
        ("h_2", (Run("h", True), Run("2", False, -1))),
        ("alpha", (Run("α", True),)),
        ("x_train", (Run("x", True), Run("train", False, -1))),
        ("W_q", (Run("W", True), Run("q", True, -1))),
        ("train_loss", (Run("train_loss", True),)),
        ("fc.weight", (Run("fc.weight", True),)),
    ],
)
def test_names_are_symbols(name: str, runs: tuple[Run, ...]) -> None:
    assert symbol(name) == runs


def test_numbers_have_a_true_minus_and_powers_of_ten() -> None:
    assert number("-0.5") == (Run("−0.5"),)
    assert number("1e-3") == (Run("10"), Run("−3", False, 1))
    assert number("2.5e4") == (Run("2.5 · 10"), Run("4", False, 1))


def test_a_box_a_statement_and_a_frame_a_block() -> None:
    graph = graph_of("with torch.no_grad():\n    y = torch.relu(W1 @ x + b)\nz = y * 2")
    figure = FigureGraph(graph)
    names = [graph.nodes[item].names for item in figure.boxes]
    assert names == [("x",), ("a",), ("b",), ("W1",), ("y_hat",), ("y",), ("z",)]
    (block,) = figure.blocks
    assert graph.blocks[block].kind == "no_grad"
    flows = {(graph.nodes[flow.source].names[0], graph.nodes[flow.target].names[0]) for flow in figure.flows}
    assert flows == {("x", "y"), ("W1", "y"), ("b", "y"), ("y", "z")}


def test_a_loop_is_entered_from_before_and_left_to_what_reads_it() -> None:
    graph = graph_of("h = x\nfor t in range(3):\n    h = torch.tanh(h @ W1)\nloss = h.sum()")
    figure = FigureGraph(graph)
    said = [flat(FormulaWriter(graph).statement(item)) for item in figure.boxes]
    flows = {(said[figure.boxes.index(one.source)], said[figure.boxes.index(one.target)]) for one in figure.flows}
    body = next(words for words in said if "tanh" in words)
    assert ("W_1", body) in flows and (body, "loss = Σ h") in flows
    assert any(target == body and source in ("x", "h = x") for source, target in flows)


def test_only_what_is_asked_for_is_a_box() -> None:
    graph = graph_of("y = a + b\nz = y * x")
    wanted = [item for item in graph.nodes if graph.nodes[item].names in (("a",), ("y",))]
    figure = FigureGraph(graph, wanted)
    assert [graph.nodes[item].names for item in figure.boxes] == [("a",), ("y",)]
    assert len(figure.flows) == 1
