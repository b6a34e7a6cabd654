"""Templates that cannot be printed make their node incomplete, with the reason; nothing typed ends in an error."""

import pytest

from gradstudio.document.file import dumps, loads
from gradstudio.program.compile import compile_graph
from tests.graph.builder import Drawing


def with_template(operator: str, template: str) -> Drawing:
    drawing = Drawing()
    x = drawing.add("torch.ones", name="x", size="(2,)")
    item = drawing.add(operator, name="s", template=template)
    drawing.wire(x, item, "values.0")
    return drawing


@pytest.mark.parametrize(
    "template", ['"loss {x}"', '"{0}"', '"{"', '"}"', '"{:.4f} {y}"', '"{:{}}"', '"{.real}"', '""']
)
def test_a_text_with_other_holes(template: str) -> None:
    graph = with_template("python.format", template).graph
    assert len(compile_graph(graph).incomplete) == 1
    assert len(compile_graph(loads(dumps(graph))).incomplete) == 1


@pytest.mark.parametrize(
    "template", ['"v0 and"', '"v1"', '"v0 and v2"', '"v0.__class__"', '"v0.forward(1)"', '"x"', '""']
)
def test_an_expression_that_is_none(template: str) -> None:
    graph = with_template("python.choice", template).graph
    assert len(compile_graph(graph).incomplete) == 1
    assert len(compile_graph(loads(dumps(graph))).incomplete) == 1
