"""Inference executes nothing of definitions that hold undrawn Python, and states nothing of what these may change."""

from gradstudio.engine.infer.code_inference import CodeInDefinitions
from gradstudio.engine.infer.name_table import prelude_names
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import Program
from gradstudio.program.reading.reader import read_script

TEXT = """\
import torch
from torch import nn

table = [torch.ones(2)]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return self.fc(x)

    def __len__(self):
        return 2


def f(x):
    d = dict((k, table) for k in "ab")
    y = x * 2
    return y


def g(x):
    y = f(x) + 1
    return y


def h(x):
    return x + 1


a = g(h(torch.ones(2)))
net = Net()
b = net(a)
n = dict((k, len(net)) for k in "ab")
"""


def program() -> Program:
    return compile_graph(read_script(TEXT, keeps_code=True).graph)


def test_what_holds_code_or_calls_it_is_no_name_of_a_pass() -> None:
    names = prelude_names(program(), lambda *_: None).values
    assert names.keys().isdisjoint({"f", "g", "Net"})
    assert "h" in names


def test_what_code_in_definitions_reads_may_change_with_a_call() -> None:
    assert "table" in CodeInDefinitions(program()).names
