"""Shapes that the text of a program tells; where it does not, none is guessed."""

import pytest

from gradstudio.graph.analysis.program_analysis import analyse
from gradstudio.program.forms.statement_units import Units
from gradstudio.program.forms.training.static_shapes import Shape, Shapes, literal
from gradstudio.program.reading.reader import read_script

HEAD = "import torch\nn = 5\na, b = 2, 6\ng = torch.Generator()\nx = torch.randn(4, 3)\n"


def shape_of(expression: str) -> Shape | None:
    """What is known of the last statement of a program."""
    graph = read_script(f"{HEAD}y = {expression}\n").graph
    *_, last = graph.order()
    return Shapes(Units(analyse(graph))).of((last, 0))


@pytest.mark.parametrize(
    ("expression", "shape"),
    [
        ("torch.zeros(n, 2)", (5, 2)),
        ("torch.ones((a, b))", (2, 6)),
        ("torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])", (2, 3)),
        ("torch.tensor(2.5)", ()),
        ("torch.arange(7)", (7,)),
        ("torch.linspace(0, 1, n)", (5,)),
        ("torch.relu(x).double()", (4, 3)),
        ("x + torch.ones(3)", (4, 3)),
        ("x * torch.ones(4, 1)", (4, 3)),
        ("-x", (4, 3)),
        ("x @ torch.ones(3, 2)", (4, 2)),
        ("x @ torch.ones(3)", (4,)),
        ("x.reshape(-1, 6)", (2, 6)),
        ("x.view(12)", (12,)),
        ("x.unsqueeze(1)", (4, 1, 3)),
        ("x.unsqueeze(-1)", (4, 3, 1)),
        ("x.sum(dim=0)", (3,)),
        ("x.mean(dim=-1, keepdim=True)", (4, 1)),
        ("7", ()),
    ],
)
def test_the_text_tells_the_shape(expression: str, shape: Shape) -> None:
    assert shape_of(expression) == shape


@pytest.mark.parametrize(
    "expression",
    [
        "x[x > 0]",
        "torch.nonzero(x)",
        "torch.arange(2, 7)",
        "x.reshape(-1, -1)",
        "x.sum(dim=5)",
        "x @ torch.ones(3, 2)[0]",
        "x[x > 0] + x",
        "torch.zeros(x.numel())",
    ],
)
def test_where_the_text_does_not_tell_nothing_is_known(expression: str) -> None:
    assert shape_of(expression) is None


@pytest.mark.parametrize(
    ("text", "value"), [("(2, 3)", (2, 3)), ("-1.5", -1.5), ("", None), ("f(x)", None), ("(", None)]
)
def test_only_literals_are_numbers(text: str, value: object) -> None:
    assert literal(text) == value
