"""A loop of one turn or none, which an `if` around calls is on a canvas, is printed as a person writes it."""

import pytest

from gradstudio.program.compile import compile_graph
from gradstudio.program.model import BlockStatement
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_script

HEAD = """import torch
from torch import optim

x = torch.ones(3, requires_grad=True)
opt = optim.SGD([x], lr=0.1)
for k in range(4):
    x.sum().backward()
"""
CALLS = """    if (k + 1) % 2 == 0 or k == 3:
        opt.step()
        opt.zero_grad()
"""


def printed(text: str) -> str:
    code = write_script(read_script(text).graph)
    assert write_script(read_script(code).graph) == code, "read and printed again it is the same"
    return code.split("\n\n\nif __name__")[0] + "\n"


@pytest.mark.parametrize(
    "body",
    [
        CALLS,
        "    if k:\n        opt.step()\n        print(k)\n",
        "    chosen = bool(k % 2)\n    if chosen:\n        opt.step()\n    if not chosen:\n        opt.zero_grad()\n",
    ],
)
def test_calls_alone_stand_under_an_if(body: str) -> None:
    assert printed(HEAD + body) == HEAD + body


@pytest.mark.parametrize(
    "body",
    [
        "        y = x * 2\n        print(y)\n",
        "        with torch.no_grad():\n            x.mul_(2)\n",
        "        x.data = x.data * 2\n",
    ],
)
def test_what_binds_writes_or_holds_blocks_stays_a_loop(body: str) -> None:
    assert f"    for _ in range(bool(k > 1)):\n{body}" in printed(f"{HEAD}    if k > 1:\n{body}")


def test_in_a_definition_it_stays_a_loop() -> None:
    """There the reader would take the branch that every call decides."""
    text = """import torch
from torch import optim


def learn(opt, k):
    for _ in range(bool(k > 1)):
        opt.step()
    return k


x = torch.ones(3, requires_grad=True)
opt = optim.SGD([x], lr=0.1)
k = learn(opt, 3)
"""
    assert "    for _ in range(bool(k > 1)):\n        opt.step()\n" in printed(text)


def test_the_run_goes_over_its_turn_as_before() -> None:
    program = compile_graph(read_script(HEAD + CALLS).graph)
    (loop,) = (one for one in program.statements if isinstance(one, BlockStatement))
    (once,) = (one for one in loop.body if isinstance(one, BlockStatement))
    assert once.kind == "for" and once.iterable.startswith("range(") and not once.condition
