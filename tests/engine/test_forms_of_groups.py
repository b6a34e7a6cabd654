"""Each form of a program with groups computes what its script does, bit for bit."""

from pathlib import Path

import pytest

from gradstudio.graph.model import Graph
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.module_class import write_module
from gradstudio.program.forms.notebook import write_notebook
from gradstudio.program.forms.training.training_script import write_steps
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_script
from tests.engine.forms import cells, differences
from tests.engine.test_training_scripts import by_python, learned, losses, run_here, same_bits, script

pytestmark = pytest.mark.feature(40)
HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn, optim\n\ntorch.manual_seed(3)\n\n\n"
FUNCTIONS = """def scale(a, k=2.0):
    b = a * k
    return b, torch.tanh(b)


def twice(a):
    b, c = scale(a)
    d = b @ c.T
    return d


"""
CLASSES = """class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        h = self.drop(self.fc(x))
        return torch.relu(h)


class Net(nn.Module):
    def __init__(self, hidden=4):
        super().__init__()
        self.first = nn.Linear(3, hidden)
        self.block = Block(hidden)

    def forward(self, x):
        a = self.first(x)
        b = self.block(a)
        return b, a


"""
LOOP = """for i in range(6):
    optimizer.zero_grad()
    {forward}
    loss = F.mse_loss(y, t)
    loss.backward()
    optimizer.step()
"""
PROGRAMS = {
    "functions": (
        f"{FUNCTIONS}x = torch.randn(4, 3)\nW = torch.randn(3, 3, requires_grad=True)\ny = twice(x @ W)\n"
        "z, n = scale(y, 3.0)\nloss = (z * n).sum()\nloss.backward()\n"
    ),
    "a function of leaves": (
        f"{FUNCTIONS}w = torch.randn(3, 3, requires_grad=True)\ny = twice(w)\nloss = y.sum()\nloss.backward()\n"
    ),
    "classes": (
        f"{CLASSES}x = torch.randn(4, 3)\nnet = Net()\ny, a = net(x)\nloss = y.sum() + a.mean()\nloss.backward()\n"
    ),
    "a class in a layer of torch's": (
        f"{CLASSES}x = torch.randn(4, 4)\nnet = nn.Sequential(Block(4), nn.ReLU(), Block(4))\nloss = net(x).sum()\n"
        "loss.backward()\n"
    ),
    "a class that is called as the form is": (
        f"{CLASSES.replace('Net', 'Program')}x = torch.randn(4, 3)\nmodel = Program(5)\ny, a = model(x)\n"
        "loss = y.sum() + a.mean()\nloss.backward()\n"
    ),
    "a function that makes a tensor": (
        "def drawn(n):\n    w = torch.randn(n)\n    return w\n\n\nx = drawn(4)\nw = drawn(4).requires_grad_()\n"
        "loss = (w * x).sum()\nloss.backward()\n"
    ),
    "a backward in a function": (
        "def learn(w, x):\n    loss = (w * x).sum()\n    loss.backward()\n    return loss\n\n\n"
        "w = torch.randn(3, requires_grad=True)\nx = torch.ones(3)\nloss = learn(w, x)\n"
    ),
    "in a region": (
        f"{FUNCTIONS}x = torch.randn(4, 3)\n# region: Head\ny = twice(x)\n# endregion\n"
        "W = torch.randn(4, requires_grad=True)\nloss = (y @ W).sum()\nloss.backward()\n"
    ),
}
TRAINED = {
    "classes": (
        f"{CLASSES}x = torch.randn(8, 3)\nt = torch.randn(8, 4)\nnet = Net()\n"
        f"optimizer = optim.SGD(net.parameters(), lr=0.1)\n{LOOP.format(forward='y, a = net(x)')}"
    ),
    "functions": (
        f"{FUNCTIONS}x = torch.randn(8, 3)\nt = torch.randn(8, 8)\nfc = nn.Linear(3, 3)\n"
        f"optimizer = optim.SGD(fc.parameters(), lr=0.1)\n{LOOP.format(forward='y = twice(fc(x))')}"
    ),
}


pytestmark = pytest.mark.usefixtures("signals_and_numbers")


def graph_of(text: str) -> Graph:
    return read_script(HEAD + text).graph


@pytest.mark.parametrize("name", [*PROGRAMS, *TRAINED])
def test_module_and_notebook_give_what_the_script_gives(name: str, tmp_path: Path) -> None:
    graph = graph_of(PROGRAMS[name] if name in PROGRAMS else TRAINED[name])
    wanted = write_script(graph, stem="program")
    for form in (write_module(graph, stem="program"), cells(write_notebook(graph, stem="program"))):
        assert differences(wanted, form, tmp_path) == [], form


@pytest.mark.parametrize("name", TRAINED)
def test_a_training_script_leaves_the_same_parameters(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    graph, expected = graph_of(TRAINED[name]), learned(by_python(HEAD + TRAINED[name]))
    saved = run_here(script(graph, tmp_path, "program"), monkeypatch)
    assert len(losses(capsys.readouterr().out)) == 6
    held = {key.removeprefix("model."): value for key, value in saved.items() if key.startswith("model.")}
    assert held.keys() == expected.keys()
    assert all(same_bits(value, expected[key]) for key, value in held.items())


def test_what_a_training_script_cannot_say_is_refused_in_words() -> None:
    graph = graph_of(TRAINED["functions"].replace("twice", "main"))
    with pytest.raises(NoForm, match=r"a function 'main' of its own. Rename the group 'main'"):
        write_steps(graph, stem="program")
    noisy = TRAINED["functions"].replace(
        "    d = b @ c.T", "    n = torch.zeros(3, device=device)\n    d = (b + n) @ c.T"
    )
    graph = read_script(HEAD.replace("\n\n\n", '\ndevice = torch.device("cpu")\n\n\n') + noisy).graph
    with pytest.raises(NoForm, match="'n' makes a tensor inside the group 'twice'"):
        write_steps(graph, stem="program")


def test_a_layer_with_dropout_inside_a_class_keeps_its_place_among_the_random_numbers() -> None:
    text = (
        f"{CLASSES}net = Net(5)\nx = torch.randn(4, 3)\nu, v = net(x)\nblock = Block(5)\nloss = (block(u) * v).sum()\n"
    )
    with pytest.raises(NoForm, match="'block' draws random numbers after 'u, v'"):
        write_module(graph_of(text), stem="program")
    quiet = text.replace("self.drop(self.fc(x))", "self.fc(x)").replace("        self.drop = nn.Dropout(0.5)\n", "")
    assert "model = Program(net, block)" in write_module(graph_of(quiet), stem="program")
