"""The same computation written another way."""

import pytest

from gradstudio.graph import recipes
from gradstudio.graph.errors import Refused
from gradstudio.operators.calls.equivalent_calls import as_written, spellings
from gradstudio.operators.catalogue.loader import load
from gradstudio.program.write import write_code
from tests.graph.builder import Drawing


@pytest.mark.parametrize(
    ("key", "others"),
    [
        ("operator.add", ["torch.add(…)", "x.add(…)"]),
        ("torch.add", ["a + b", "x.add(…)"]),
        ("operator.truediv", ["torch.div(…)", "x.div(…)"]),
        ("torch.Tensor.matmul", ["a @ b", "torch.matmul(…)"]),
        ("operator.neg", ["torch.neg(…)", "x.neg(…)"]),
        ("operator.iadd", []),
        ("torch.randn", []),
    ],
)
def test_an_operator_knows_its_other_spellings(key: str, others: list[str]) -> None:
    assert [as_written(other) for other in spellings(load()[key])] == others


def test_wires_and_literals_stay() -> None:
    d = Drawing()
    x = d.add("torch.ones", name="x")
    y = d.add("operator.mul", x, name="y", b="0.5")
    for key, text in (("torch.mul", "y = torch.mul(x, 0.5)"), ("torch.Tensor.mul", "y = x.mul(0.5)")):
        d.do(recipes.replace_operator(d.graph, y, key))
        assert text in write_code(d.graph)[0]
    d.do(recipes.replace_operator(d.graph, y, "operator.mul"))
    assert "y = x * 0.5" in write_code(d.graph)[0]


def test_what_the_other_cannot_say_is_refused() -> None:
    d = Drawing()
    x = d.add("torch.ones", name="x")
    y = d.add("torch.add", x, x, alpha="2")
    with pytest.raises(Refused, match="no argument 'alpha'"):
        recipes.replace_operator(d.graph, y, "operator.add")
