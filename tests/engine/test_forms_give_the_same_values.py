"""Each form of a program computes what the script does, bit for bit."""

import contextlib
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings

from gradstudio.document.file import load
from gradstudio.graph.model import Graph
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.class_naming import MODULE_ATTRIBUTES
from gradstudio.program.forms.module_class import write_module
from gradstudio.program.forms.notebook import write_notebook
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_script
from tests.engine.forms import cells, differences, run_text
from tests.program.forms.test_laws import trained

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.gsg"))
HEAD = (
    "import torch\nimport torch.nn.functional as F\nfrom torch import nn, optim\nimport math\n\ntorch.manual_seed(3)\n"
)
REFUSED = {"15_train_and_eval": "'head' draws random numbers after"}

RECURRENCE = (
    "T = 5\nx = torch.randn(T, 3)\nW = torch.randn(3, 4, requires_grad=True)\nh = torch.zeros(4)\nhs = []\n"
    "for t in range(T):\n    h = torch.tanh(x[t] @ W + h)\n    hs.append(h)\nloss = torch.stack(hs).sum()\n"
    "loss.backward()\n"
)

PROGRAMS = {
    "inputs drawn between parameters": (
        "x = torch.randn(4, 3)\nW = torch.randn(3, 2, requires_grad=True)\nt = torch.randn(4, 2)\n"
        "b = torch.randn(2, requires_grad=True)\nloss = F.mse_loss(x @ W + b, t)\nloss.backward()\n"
    ),
    "inputs drawn after the parameters": (
        "W = torch.randn(3, 2, requires_grad=True)\nx = torch.randn(4, 3)\nloss = (x @ W).sum()\nloss.backward()\n"
    ),
    "modules and inputs in turns": (
        "fc = nn.Linear(3, 4)\nx = torch.randn(5, 3)\nhead = nn.Linear(4, 1)\nh = torch.tanh(fc(x))\n"
        "loss = head(h).pow(2).mean()\nloss.backward()\n"
    ),
    "an optimizer in a loop": (
        "xs = torch.randn(4, 2, 3)\nnet = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))\n"
        "sgd = optim.SGD(net.parameters(), lr=0.1)\nfor i in range(4):\n    x = xs[i]\n    y = net(x)\n"
        "    sgd.zero_grad()\n    loss = y.pow(2).mean()\n    loss.backward()\n    sgd.step()\n"
    ),
    "dropout in a loop": (
        "x = torch.randn(8, 3)\nfc = nn.Linear(3, 4)\ndrop = nn.Dropout(0.5)\nfor i in range(3):\n"
        "    fc.zero_grad()\n    loss = drop(fc(x)).sum()\n    loss.backward()\n"
    ),
    "a recurrent state": (
        "x = torch.randn(5, 3)\nW = torch.randn(3, 4, requires_grad=True)\nU = torch.randn(4, 4, requires_grad=True)\n"
        "h = torch.zeros(4)\nfor t in range(5):\n    h = torch.tanh(x[t] @ W + h @ U)\n"
        "loss = h.sum()\nloss.backward()\n"
    ),
    "a carried parameter": (
        "h = torch.ones(3, requires_grad=True)\nfor t in range(3):\n    h = h * 2\nloss = h.sum()\nloss.backward()\n"
    ),
    "a state carried from step to step": (
        "x = torch.randn(6, 3)\nW = torch.randn(3, 3, requires_grad=True)\nh = torch.zeros(3)\nfor t in range(6):\n"
        "    h = torch.tanh(x[t] @ W + h)\n    loss = h.sum()\n    loss.backward()\n    h = h.detach()\n"
    ),
    "rebound by hand": (
        "w = torch.randn(3, requires_grad=True)\nx = torch.randn(3)\nfor i in range(3):\n    loss = (w * x).sum()\n"
        "    loss.backward()\n    with torch.no_grad():\n        w -= 0.1 * w.grad\n    w.grad = None\n"
    ),
    "filled in before it requires grad": (
        "w = torch.empty(3, 3)\nnn.init.xavier_uniform_(w)\nw.mul_(0.5)\nw.requires_grad_()\nx = torch.ones(3)\n"
        "loss = (w @ x).sum()\nloss.backward()\n"
    ),
    "switched on at once": (
        "w = torch.randn(3)\nw.requires_grad = True\nv = torch.randn(3).requires_grad_()\n"
        "u = nn.Parameter(torch.randn(3))\nloss = (w * v * u).sum()\nloss.backward()\n"
    ),
    "numbers of the canvas": (
        "B, T, C = 2, 3, 4\nhidden = 2 * C\nlr = 0.1\nx = torch.randn(B, T, C)\nfc = nn.Linear(C, hidden)\n"
        "y = fc(x).view(B * T, hidden)\nloss = y.mean() / math.sqrt(C)\nloss.backward()\n"
        "with torch.no_grad():\n    fc.weight -= lr * fc.weight.grad\n"
    ),
    "numbers of a tensor": (
        "x = torch.randn(4, 3)\nn = x.shape[1]\nfc = nn.Linear(n, 2)\nloss = fc(x).sum() / n\nloss.backward()\n"
    ),
    "names of a module and of a method": (
        "self = torch.randn(3, requires_grad=True)\ntraining = torch.randn(3, requires_grad=True)\n"
        "parameters = torch.randn(3)\nforward = self * training\nmodel = forward * parameters\nhalf = model.sum()\n"
        "half.backward()\n"
    ),
    "two losses": (
        "w = torch.randn(3, requires_grad=True)\ny = w * 2\na = y.sum()\na.backward(retain_graph=True)\n"
        "b = y.pow(2).sum()\nb.backward()\n"
    ),
    "a penalty on the gradient": (
        "x = torch.randn(3, requires_grad=True)\nw = torch.randn(3, requires_grad=True)\ny = (w * x).pow(2).sum()\n"
        "g = torch.autograd.grad(y, x, create_graph=True)\npenalty = g[0].pow(2).sum()\npenalty.backward()\n"
    ),
    "shared weights and modes": (
        "x = torch.randn(4, 3)\nfc = nn.Linear(3, 3)\nbn = nn.BatchNorm1d(3)\na = bn(fc(x))\nbn.eval()\nb = bn(fc(x))\n"
        "loss = (a - b).pow(2).sum()\nloss.backward()\n"
    ),
    "writes into an input": (
        "x = torch.randn(3)\nw = torch.randn(3, requires_grad=True)\na = (w * 2).sum()\nx.mul_(3)\n"
        "loss = a + (w * x).sum()\nloss.backward()\n"
    ),
    "metrics without a reader": (
        "w = torch.randn(3, requires_grad=True)\ny = w * 2\nwith torch.no_grad():\n    worst = y.max()\n"
        "probs = y.softmax(0)\nloss = y.sum()\nloss.backward()\n"
    ),
    "a second reader with a second name": (
        "w = torch.randn(3, requires_grad=True)\nv = w\nloss = (w * v).sum()\nloss.backward()\n"
    ),
    "a leaf that is read under its second name alone": (
        "x = torch.randn(4, 3, requires_grad=True)\nW = torch.randn(3, 3)\ng = x\nh = g\nfor layer in range(5):\n"
        "    h = torch.tanh(h @ W)\nloss = h.pow(2).mean()\nloss.backward()\n"
    ),
    "noise in the middle": (
        "w = torch.randn(3, requires_grad=True)\nh = F.dropout(w * 2)\nnoise = torch.randn(3)\n"
        "loss = (h + noise).sum()\nloss.backward()\n"
    ),
    "a loss without a name": ("x = torch.randn(4, 3)\nfc = nn.Linear(3, 2)\n(fc(x) ** 2).mean().backward()\n"),
    "regions": (
        "# region: Data\nx = torch.randn(4, 3)\n# endregion\n# region: Model\nfc = nn.Linear(3, 2)\ny = fc(x)\n"
        "# endregion\n# region: Loss\nloss = y.sum()\nloss.backward()\n# endregion\n"
    ),
    "a loop that switches leaves on": (
        "g = torch.Generator().manual_seed(5)\nC = torch.randn((5, 2), generator=g)\n"
        "W = torch.randn((6, 5), generator=g) * 0.2\nparameters = [C, W]\nfor p in parameters:\n"
        "    p.requires_grad = True\nX = torch.randint(0, 5, (4, 3), generator=g)\nemb = C[X]\n"
        "loss = F.cross_entropy(emb.view(4, -1) @ W, X[:, 0])\nloss.backward()\nfor p in parameters:\n"
        "    p.data += -0.1 * p.grad\n"
    ),
    "evaluated after training": (
        "x = torch.randn(8, 4)\nnet = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Dropout(0.5))\nnet.train()\n"
        "loss = net(x).pow(2).mean()\nloss.backward()\nnet.eval()\nout = net(x)\n"
    ),
    "evaluated after a loop": (
        "x = torch.randn(8, 4)\nnet = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.Dropout(0.5))\n"
        "sgd = optim.SGD(net.parameters(), lr=0.1)\nfor i in range(3):\n    loss = net(x).pow(2).mean()\n"
        "    sgd.zero_grad()\n    loss.backward()\n    sgd.step()\nnet.eval()\n"
        "with torch.no_grad():\n    out = net(x)\n"
    ),
    "called before it is switched": (
        "x = torch.randn(8, 4)\nnet = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6))\nbefore = net(x)\n"
        "print(before)\nnn.init.ones_(net[0].weight)\nnet.eval()\nloss = net(x).pow(2).mean()\nloss.backward()\n"
    ),
    "frozen after it was called": (
        "x = torch.randn(8, 4)\na = nn.Linear(4, 4)\nb = nn.Linear(4, 1)\nfirst = a(x)\nprint(first.sum())\n"
        "a.requires_grad_(False)\nb.weight.requires_grad_(False)\nloss = b(a(x)).pow(2).mean()\nloss.backward()\n"
    ),
    "training, evaluation and training again": (
        "x, y = torch.randn(8, 4), torch.randn(8, 1)\nmodel = nn.Sequential(nn.Linear(4, 6), nn.Dropout(0.5))\n"
        "opt = optim.SGD(model.parameters(), lr=0.1)\nfor epoch in range(3):\n    model.train()\n    pred = model(x)\n"
        "    loss = ((pred - y) ** 2).mean()\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n"
        "    model.eval()\n    with torch.no_grad():\n        val = ((model(x) - y) ** 2).mean()\n"
        "model.train()\nagain = model(x)\nmodel.eval()\nx_test = torch.randn(2, 4)\n"
        "nn.init.zeros_(model[0].weight)\nzero = model(x_test)\n"
    ),
    "several losses before the first backward": (
        "x = torch.randn(6, 5)\nw = torch.randn(5, 2, requires_grad=True)\nz = x @ w\nmse = F.mse_loss(z, x[:, :2])\n"
        "l1 = w.abs().sum()\ntotal = mse + 0.1 * l1\nmse.backward(retain_graph=True)\ntotal.backward()\n"
    ),
    "a recurrence under the name of its beginning": RECURRENCE,
    "a loop whose head takes its element apart": (
        "fc = nn.Linear(3, 1)\nx = torch.randn(4, 3)\nt = torch.randn(4, 1)\n"
        "for k, (a, b) in enumerate([(x[:2], t[:2]), (x[2:], t[2:])]):\n    loss = F.mse_loss(fc(a), b) / (k + 1)\n"
        "    loss.backward()\n"
    ),
    "nothing to go back": "x = torch.randn(4, 3)\nfc = nn.Linear(3, 2)\ny = fc(x)\n",
}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_as_a_module(path: Path) -> None:
    if path.stem in REFUSED:
        with pytest.raises(NoForm, match=REFUSED[path.stem]):
            write_module(load(path), stem=path.stem)
        return
    assert_same(load(path), path)


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_module(text: str, tmp_path: Path) -> None:
    assert_same(read_script(HEAD + text).graph, tmp_path / "program.gsg")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_as_a_notebook(path: Path) -> None:
    graph = load(path)
    notebook = cells(write_notebook(graph, stem=path.stem))
    assert differences(write_script(graph, stem=path.stem), notebook, path.parent) == [], notebook


CORPUS = sorted((Path(__file__).parents[1] / "corpus" / "accepted").glob("*.py"))


# Slow: each snippet is run in every form, under a profiler that sees what `forward` held.
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_every_snippet_of_the_corpus(path: Path, tmp_path: Path) -> None:
    graph = read_script(path.read_text(encoding="utf-8")).graph
    script = write_script(graph, stem=path.stem)
    assert differences(script, cells(write_notebook(graph, stem=path.stem)), tmp_path) == []
    try:
        module = write_module(graph, stem=path.stem)
    except NoForm:
        return
    assert differences(script, module, tmp_path) == [], module


def test_most_snippets_that_train_something_have_a_module_form() -> None:
    found: list[str] = []
    training = [path for path in CORPUS if "backward()" in path.read_text(encoding="utf-8")]
    for path in training:
        with contextlib.suppress(NoForm):
            found.append(write_module(read_script(path.read_text(encoding="utf-8")).graph))
    assert len(found) >= 0.9 * len(training)


@given(trained())
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_random_programs_with_hostile_names(graph: Graph) -> None:
    script = write_script(graph)
    for form in (write_module(graph), cells(write_notebook(graph))):
        assert differences(script, form, Path.cwd()) == [], form


def test_names_that_a_module_has_are_known() -> None:
    own = {*dir(torch.nn.Module()), *vars(torch.nn.Module())}
    assert {name for name in own if not name.startswith("__")} <= MODULE_ATTRIBUTES


def main_of(text: str) -> list[str]:
    """The lines of the main part."""
    module = write_module(read_script(HEAD + text).graph)
    return [line.strip() for line in module.split('if __name__ == "__main__":\n')[1].splitlines()]


def test_modes_after_training_are_set_in_the_main_part() -> None:
    lines = main_of(PROGRAMS["evaluated after training"])
    assert lines.index("model.net.eval()") > lines.index("loss.backward()")


def test_no_other_value_is_shown_under_a_name_of_the_canvas() -> None:
    names, _, _ = run_text(write_script(read_script(HEAD + RECURRENCE).graph), Path.cwd())
    module = write_module(read_script(HEAD + RECURRENCE).graph)
    found, _, _ = run_text(module, Path.cwd())
    assert torch.equal(found["h"], names["h"])
    inner = (
        "T = 3\nh = torch.zeros(4)\nW = torch.randn(4, requires_grad=True)\ntotal = torch.zeros(())\n"
        "for t in range(T):\n    h = torch.ones(4) * W\n    total = total + h.sum()\ntotal.backward()\n"
    )
    lines = main_of(inner)
    assert 'print("total =", total)' in lines
    assert not any(line.startswith('print("h =') for line in lines)


def test_the_object_has_a_name_that_reads_well_beside_a_model() -> None:
    text = "x = torch.ones(2, 3)\nmodel = nn.Linear(3, 1)\nloss = model(x).sum()\nloss.backward()\n"
    assert "net = Program()" in main_of(text)
    assert "module = Program()" in main_of(text.replace("x =", "net =").replace("(x)", "(net)"))


def test_a_comment_stays_with_its_statement() -> None:
    text = (
        "x = torch.ones(2, 3)\nmodel = nn.Linear(3, 1)\n# drawn after the model\ny = torch.randn(2, 1)\n"
        "loss = F.mse_loss(model(x), y)\nloss.backward()\n"
    )
    lines = main_of(text)
    assert lines[lines.index("# drawn after the model") + 1].startswith("y = ")


def test_a_class_that_is_handed_its_layers_says_why() -> None:
    text = (
        "fc = nn.Linear(3, 2)\nx = torch.randn(4, 3)\nhead = nn.Linear(2, 1)\nh = torch.tanh(fc(x))\n"
        "loss = head(h).sum()\nloss.backward()\n"
    )
    names, _, _ = run_text(write_module(read_script(HEAD + text).graph), Path.cwd())
    assert "handed in" in names["Program"].__doc__
    with pytest.raises(TypeError, match="'fc' and 'head'"):
        names["Program"]()


def assert_same(graph: Graph, path: Path) -> None:
    """The module gives what the script gives."""
    form = write_module(graph, stem=path.stem)
    assert differences(write_script(graph, stem=path.stem), form, path.parent) == [], form
