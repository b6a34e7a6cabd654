"""All that a text is refused for is told, and not what only follows from it."""

import pytest

from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.reader import read_script
from gradstudio.program.reading.refusal_report import MOST

MANY = """import torch
import matplotlib.pyplot as plt
x = torch.ones(3)
y = [lambda v: v]
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
    assert [column for _, column, _ in told] == [0, 5, 8, 4, 8, 4]
    assert "lambda" in told[1][2] and "'undefined' is not bound" in told[4][2]


def test_a_method_that_is_called_twice_is_told_once() -> None:
    text = (
        "from torch import nn\nclass Net(nn.Module):\n    def forward(self, x):\n        return self.f(x) + self.f(x)\n"
    )
    text += "    def f(self, x):\n        y = nothing\n        return y\n"
    assert [line for line, _, _ in refusals(text)] == [6]


def test_parentheses_that_were_forgotten_are_named() -> None:
    made = "import torch\nfrom torch import nn\nm = nn.Linear(2, 1)\nopt = torch.optim.SGD(m.parameters(), lr=0.1)\n"
    assert "write .step()" in refusals(f"{made}opt.step\n")[0][2]
    loss = refusals(f"{made}x = torch.ones(3, 2)\nloss = nn.MSELoss(m(x), x)\n")[0][2]
    assert "Call what it makes: MSELoss()(…)" in loss


def test_there_is_an_end_to_it() -> None:
    assert len(refusals("import torch\n" + "x = open('f')\n" * 1000)) == MOST


def test_a_refused_text_leaves_the_next_one_alone() -> None:
    refusals(MANY)
    assert len(read_script("import torch\nx = torch.ones(3)\n").graph.nodes) == 1


READS_ONE_BELOW = """def load(path, model):
    for key, value in below('optimizer.', tensors).items():
        number, name = key.split('.', 1)
        states.setdefault(int(number), {})[name] = value
def below(prefix, tensors):
    return {name.removeprefix(prefix): tensors[name] for name in names}
"""


def test_a_definition_that_follows_from_a_refused_one_is_left_out() -> None:
    told = refusals(READS_ONE_BELOW)
    assert told[0][0] == 2 and "'below(" in told[0][2]
    text = "import torch\ndef f(a):\n    return lambda: a\ndef g(b):\n    return f(b)\ndef h(c):\n    return g(c)\n"
    assert [line for line, _, _ in refusals(text)] == [3]


def test_what_a_refused_definition_binds_inside_is_its_own() -> None:
    text = "import torch\ndef f(a):\n    q = lambda: a\n    return q\ndef g(b):\n    q = {b}\n    return q\n"
    text += "def h():\n    return q\n"
    assert [line for line, _, _ in refusals(text)] == [3, 6, 9]
