"""All that a text is refused for is told, and not what only follows from it."""

import pytest

from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.reader import read_script
from gradstudio.program.reading.told import MOST

MANY = """import torch
import matplotlib.pyplot as plt
x = torch.ones(3)
y = lambda v: v
z = y(x) + 1
for i in range(3):
    w = {1, 2}
    k = w
    while True:
        pass
def f(a):
    q = undefined + 1
    return q
plt.plot(f(x))
u = open("f")
"""


def refusals(text: str) -> list[tuple[int, int, str]]:
    with pytest.raises(NotReadable) as refusal:
        read_script(text)
    return [(one.line, one.column, one.reason) for one in refusal.value.all]


def test_each_is_told_with_its_place_and_what_follows_is_not() -> None:
    told = refusals(MANY)
    assert [line for line, _, _ in told] == [2, 4, 7, 9, 12, 15]
    assert [column for _, column, _ in told] == [0, 4, 8, 4, 8, 4]
    assert "lambda" in told[1][2] and "'undefined' is not bound" in told[4][2]


def test_a_method_that_is_called_twice_is_told_once() -> None:
    text = (
        "from torch import nn\nclass Net(nn.Module):\n    def forward(self, x):\n        return self.f(x) + self.f(x)\n"
    )
    text += "    def f(self, x):\n        y = nothing\n        return y\n"
    assert [line for line, _, _ in refusals(text)] == [6]


def test_there_is_an_end_to_it() -> None:
    assert len(refusals("import torch\n" + "x = open('f')\n" * 1000)) == MOST


def test_a_refused_text_leaves_the_next_one_alone() -> None:
    refusals(MANY)
    assert len(read_script("import torch\nx = torch.ones(3)\n").graph.nodes) == 1
