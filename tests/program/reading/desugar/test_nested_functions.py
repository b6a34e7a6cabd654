"""Functions within functions become definitions where that does the same, and stay where they are where it may not."""

import pytest

from gradstudio.graph.analysis.program_analysis import incomplete
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.reader import read_script

HEAD = "import torch\nfrom torch import nn\n\n"


def definitions(text: str) -> set[str]:
    return set(read_script(HEAD + text, keeps_code=True).graph.definitions)


def function(inner: str, rest: str = "    return inner(x)\n") -> str:
    return f"def outer(x, n=2):\n{inner}{rest}\n\ny = outer(torch.ones(2))\n"


INNER = "    def inner(t, k=3):\n        return t * k\n\n"


def test_a_function_that_reads_nothing_of_the_other_is_a_definition() -> None:
    assert definitions(function(INNER)) == {"outer", "inner"}


def test_each_gets_a_name_that_the_text_has_nowhere_else() -> None:
    again = function(INNER).replace("outer", "other")
    assert definitions(function(INNER) + again) == {"outer", "other", "inner", "inner_"}
    assert definitions("inner = torch.ones(1)\n" + function(INNER)) == {"outer", "inner_"}


def test_a_lambda_under_a_name_is_the_function_that_it_is() -> None:
    assert definitions("double = lambda t, k=2: t * k\ny = double(torch.ones(2))\n") == {"double"}
    assert definitions(function("    inner = lambda t: t * 2\n")) == {"outer", "inner"}


@pytest.mark.parametrize(
    "text",
    [
        function("    def inner(t):\n        return t * n\n\n"),  # reads what is around it
        function("    m = 3\n    def inner(t, k=m):\n        return t * k\n\n"),
        function(INNER, "    return torch.stack([f(x) for f in (inner, inner)])\n"),  # handed on
        function(INNER, "    inner = torch.relu\n    return inner(x)\n"),  # bound again
        function("    z = inner(x)\n" + INNER),  # called before there is one
        function("    def inner(t):\n        return t if n else inner(t)\n\n"),  # calls itself
        function("    def inner(t):\n        yield t\n\n", "    return list(inner(x))\n"),
        "k = 2\ndouble = lambda t: t * k\nk = 3\ny = double(torch.ones(2))\n",  # looked up when it is called
        "double = lambda t: t * 2\nfs = {n: double for n in 'ab'}\n",
        "double = lambda t: t * 2\ndouble = lambda t: t * 3\ny = double(torch.ones(2))\n",
    ],
)
def test_what_may_do_something_else_elsewhere_stays(text: str) -> None:
    assert definitions(text).isdisjoint({"inner", "inner_", "double"})


BLOCKS = """\
import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.block = nn.Linear(n, n)

    def forward(self, x):
        return x + self.block(x)


{}
net = Residual(2)
y = net(torch.ones(2)){}
"""


def test_a_function_in_a_function_is_not_called_as_an_attribute_of_a_module() -> None:
    inside = "def two(a):\n    def block(b):\n        return b * 2\n    return block(a)\n\n"
    graph = read_script(BLOCKS.format(inside, "\nz = two(y)")).graph
    assert incomplete(graph) == {} and set(graph.definitions) == {"Residual", "two", "block_"}


def test_an_attribute_that_is_called_as_a_definition_below_it_is_refused() -> None:
    text = BLOCKS.format("def block(b):\n    return b * 2\n\n", "\nz = block(y)")
    with pytest.raises(NotReadable, match="'block' is the name of a group"):
        read_script(text)
    graph = read_script(text, keeps_code=True).graph
    assert incomplete(graph) == {}
