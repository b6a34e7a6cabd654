"""`self.training` read of a layer that is there: a module has the children it has in Python, and its mode."""

import contextlib
import io

import pytest
import torch

from gradstudio.program.compile import compile_graph
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.reader import read_script

CLASS = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.fc = nn.Linear(2, 2)
        self.ln = nn.LayerNorm(2)

    def forward(self, x):
        x = self.ln(self.fc(x)) * self.weight
        return nn.functional.dropout(x, 0.5, self.training) + self.training


torch.manual_seed(0)
net = Net()
x = torch.ones(3, 2)
"""
NO_LAYER = "".join(one for one in CLASS.splitlines(True) if "nn.L" not in one).replace("self.ln(self.fc(x))", "x")
PRINTS = "print(net)\nprint(len(list(net.modules())))\n"
PLAIN = (
    "net.eval()\n",
    "net = net.eval()\n",
    "net.train(False)\n",
    "",
    "net.eval()\nnet.train()\n",
    "net.ln.eval()\n",
)
APART = (
    "net.fc.eval()\nnet.ln.eval()\n",
    "for layer in net.modules():\n    if isinstance(layer, nn.LayerNorm):\n        layer.eval()\n",
    "layer = net.fc\nlayer.eval()\n",
    "net.fc = nn.Linear(2, 2)\nnet.ln = nn.LayerNorm(2)\nnet.eval()\n",
)


def printed(text: str) -> str:
    """What a program prints, and what it computes at its end."""
    names: dict[str, object] = {"__name__": "program"}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(text, "program.py", "exec"), names)
    assert isinstance(names["y"], torch.Tensor)
    return f"{out.getvalue()}{names['y'].tolist()}"


@pytest.mark.parametrize("switch", PLAIN)
def test_a_module_that_reads_its_mode_has_no_child_more(switch: str) -> None:
    text = f"{CLASS}{switch}{PRINTS}torch.manual_seed(1)\ny = net(x)\n"
    script = compile_graph(read_script(text).graph).script
    assert printed(script) == printed(text)
    assert "nn.Identity" not in script


@pytest.mark.parametrize("text", [*(f"{CLASS}{switch}" for switch in APART), f"{NO_LAYER}net.eval()\n"])
def test_a_mode_that_no_layer_always_has_is_refused_and_kept_as_code(text: str) -> None:
    text = f"{text}torch.manual_seed(1)\ny = net(x)\n{PRINTS}"
    with pytest.raises(NotReadable) as refused:
        read_script(text)
    line = next(k for k, one in enumerate(text.splitlines(), 1) if "self.training" in one)
    assert any(one.line == line and "the mode of the object itself" in one.reason for one in refused.value.all)
    script = compile_graph(read_script(text, keeps_code=True).graph).script
    assert printed(script.partition("if __name__")[0]) == printed(text)
