"""Training scripts as texts: what they say, that ruff leaves them alone, and what is refused in words."""

import ast
import sys
from pathlib import Path
from subprocess import run

import pytest

from gradstudio.document.file import load
from gradstudio.graph.model import Graph
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.training.training_forms import write_training
from gradstudio.program.forms.training.training_script import write_steps
from gradstudio.program.reading.reader import read_script
from tests.program.sketch import formatted

EXAMPLES = sorted((Path(__file__).parents[4] / "examples").glob("*.gsg"))
HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn, optim\ntorch.manual_seed(4)\n"
REGRESSION = (
    "x = torch.randn(8, 2)\ny = torch.randn(8, 1)\nnet = nn.Linear(2, 1)\n"
    "opt = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)\n"
    "for epoch in range(1, 41):\n    loss = F.mse_loss(net(x), y)\n    opt.zero_grad()\n    loss.backward()\n"
    "    opt.step()\n"
)
BY_HAND = (
    "x = torch.randn(8, 2)\nw = torch.randn(2, requires_grad=True)\nlr = 0.5\n"
    "for i in range(9):\n    loss = ((x @ w) ** 2).mean()\n    loss.backward()\n"
    "    with torch.no_grad():\n        w -= lr * w.grad\n    w.grad = None\n"
)


def graph(text: str) -> Graph:
    return read_script(HEAD + text).graph


def written(text: str, stem: str = "program") -> str:
    return write_training(graph(text), stem=stem)


def function(script: str, name: str) -> str:
    """The text of one function or class of a script."""
    tree = ast.parse(script)
    found = next(item for item in tree.body if getattr(item, "name", "") == name)
    return ast.unparse(found)


def checked(script: str) -> str:
    """What `ruff check` says of a script."""
    ruff = Path(sys.executable).with_name("ruff")
    words = [ruff, "check", "--isolated", "--quiet", "--select", "E4,E7,E9,F,I,B,UP", "--target-version", "py311", "-"]
    return run(words, input=script, capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_ruff_has_nothing_to_say_of_an_example(path: Path) -> None:
    try:
        script = write_training(load(path), stem=path.stem)
    except NoForm:
        assert path.stem == "15_train_and_eval"
        return
    assert formatted(script) == script
    assert checked(script) == ""


@pytest.mark.parametrize("text", [REGRESSION, BY_HAND])
@pytest.mark.parametrize("stem", ["a", 'x"""\n import os', "%s%d\\", "train", "é" * 80, "", "class", "main", "nn"])
def test_a_hostile_file_name_is_only_a_name(text: str, stem: str) -> None:
    script = written(text, stem)
    assert formatted(script) == script
    assert checked(script) == ""
    assert len(ast.parse(script).body) == len(ast.parse(written(text)).body)


def test_the_optimizer_of_the_canvas_is_kept_and_its_rate_is_an_option() -> None:
    script = written(REGRESSION)
    assert 'option("--steps", type=positive, default=40,' in script
    assert 'option("--lr", type=learning_rate, default=0.05,' in script
    assert 'option("--seed", type=int, default=4,' in script
    assert "--batch-size" in script
    assert "return optim.SGD(model.net.parameters(), lr=lr, momentum=0.9)" in script
    assert "--optimizer" not in script


def test_an_update_by_hand_stays_as_it_is() -> None:
    script = written(BY_HAND)
    step = function(script, "train_step")
    assert "network.w -= lr * network.w.grad" in step and "network.w.grad = None" in step
    assert 'option("--lr", type=learning_rate, default=0.5,' in script
    assert "make_optimizer" not in script and "optim." not in script


def test_a_canvas_that_does_not_learn_gets_an_optimizer_to_choose() -> None:
    script = written("x = torch.randn(8, 2)\nfc = nn.Linear(2, 1)\nloss = (fc(x) ** 2).mean()\n")
    assert 'option("--optimizer", choices=OPTIMIZERS, default="adam"' in script
    assert "optimizer.zero_grad()" in function(script, "train_step")


def test_a_schedule_of_the_learning_rate_is_kept() -> None:
    text = REGRESSION.replace("for epoch", "plan = optim.lr_scheduler.ReduceLROnPlateau(opt)\nfor epoch")
    script = written(text + "    plan.step(loss)\n")
    assert formatted(script) == script and checked(script) == ""
    assert "return optim.lr_scheduler.ReduceLROnPlateau(optimizer)" in function(script, "make_scheduler")
    assert "scheduler.step(average(loss.detach().clone()))" in function(script, "train_step")  # one loss for all


def test_tensors_that_a_loop_makes_parameters_are_trained() -> None:
    text = (
        "x = torch.ones(8, 2)\nw = torch.randn(2, 1)\nparameters = [w]\n"
        "for p in parameters:\n    p.requires_grad = True\n"
        "loss = ((x @ w) ** 2).mean()\nloss.backward()\nw.data += -0.1 * w.grad\n"
    )
    script = written(text)
    assert "self.w = nn.Parameter(torch.randn(2, 1))" in function(script, "Program")
    assert "network.w.data += -0.1 * network.w.grad" in function(script, "train_step")


def test_one_step_by_hand_sets_gradients_back_before_the_next() -> None:
    text = (
        "w = torch.ones(2, requires_grad=True)\nloss = (w**2).sum()\nloss.backward()\n"
        "with torch.no_grad():\n    w -= 0.1 * w.grad\n"
    )
    assert "model.zero_grad()" in function(written(text), "train_step")


@pytest.mark.parametrize(
    ("model", "loss"),
    [
        ("w = torch.randn(2, 3, requires_grad=True)", "(x @ w).sum()"),  # no mean
        ("w = torch.randn(2, 2, requires_grad=True)", "((x @ w @ x.T) ** 2).mean()"),  # rows meet rows
        ("w = torch.randn(8, 2, requires_grad=True)", "(x * w).mean()"),  # a parameter for each row
        ("w = torch.randn(2, 1, requires_grad=True)", "(((x @ w) - t) ** 2).mean()"),  # (8, 1) - (8,) is (8, 8)
        ("w = torch.randn(2, requires_grad=True)", "torch.sqrt(((x @ w) ** 2).mean())"),  # no longer a mean
        ("w = torch.randn(2, requires_grad=True)", "((x - x.mean(0)) @ w).mean()"),  # one number of all rows
        ("w = torch.randn(2, requires_grad=True)", "torch.softmax(x @ w, dim=0).mean()"),
        ("w = torch.randn(2, 3, requires_grad=True)", "F.cross_entropy(x @ w, t.long(), reduction='sum')"),
    ],
)
def test_data_are_not_cut_where_a_row_is_not_for_itself(model: str, loss: str) -> None:
    script = written(f"x = torch.randn(8, 2)\nt = torch.ones(8)\n{model}\nloss = {loss}\nloss.backward()\n")
    assert "take_batch" not in script and "--batch-size" not in script
    assert "Several processes each compute with all the data." in function(script, "parse_arguments")


@pytest.mark.parametrize(
    ("pool", "is_cut"),
    [
        ("F.max_pool2d(h, 2)", True),
        ("F.avg_pool2d(h, 2)", True),
        ("nn.MaxPool2d(2)(h)", True),
        ("F.max_pool1d(h.flatten(2), 4)", False),  # not known to be for each row
        ("h.roll(1, 0)[:, :, ::2, ::2]", False),
    ],
)
def test_a_convolution_takes_its_images_one_by_one(pool: str, is_cut: bool) -> None:
    script = written(
        "x = torch.randn(8, 1, 6, 6)\nt = torch.randint(0, 3, (8,))\nconv = nn.Conv2d(1, 2, 3, padding=1)\n"
        f"norm = nn.BatchNorm2d(2)\nfc = nn.Linear(18, 3)\nh = F.relu(norm(conv(x)))\nh = {pool}\n"
        "loss = F.cross_entropy(fc(torch.flatten(h, 1)), t)\nloss.backward()\n"
    )
    assert ("take_batch" in script) == is_cut


def test_what_is_done_to_a_model_behind_its_training_is_left_out() -> None:
    text = "x = torch.ones(8, 2)\nnet = nn.BatchNorm1d(2)\nnet.train()\nloss = (net(x) ** 2).mean()\nloss.backward()\n"
    assert written(text + "net.eval()\nother = torch.randn(3)\n") == written(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = torch.ones(3)\ny = x * 2\n", "no value requires grad"),
        ("net = nn.Linear(2, 3)\ny = net(torch.randn(4, 2))\n", "'y' may be more than one number"),
        ("net = nn.Linear(2, 3)\ny = net(torch.randn(4, 2)).mean(dim=0)\n", "'y' may be more than one number"),
        ("w = torch.ones(2, requires_grad=True)\nl = F.mse_loss(w, torch.ones(2), reduction='none')\n", "no loss"),
        ("x = torch.ones(3)\ny = (x * 2).sum()\ny.backward()\n", "depends on nothing that requires grad"),
        (
            "w = torch.ones(3, requires_grad=True)\na = w.sum()\nb = (w * 2).sum()\na.backward()\nb.backward()\n",
            "second backward",
        ),
        (
            "w = torch.ones(3, requires_grad=True)\nloss = (w**2).sum()\ng = torch.autograd.grad(loss, [w])[0]\n"
            "with torch.no_grad():\n    w -= 0.1 * g\n",
            "without leaving them in .grad",
        ),
        (
            "w = torch.ones(3, requires_grad=True)\nv = torch.zeros(3)\nfor i in range(4):\n    loss = (w**2).sum()\n"
            "    loss.backward()\n    v.mul_(0.9).add_(w.grad)\n    with torch.no_grad():\n        w -= 0.1 * v\n"
            "    w.grad = None\n",
            "changes 'v', which is no parameter",
        ),
        (
            "net = nn.Linear(2, 1)\nx = torch.ones(4, 2)\nopt = optim.LBFGS(net.parameters())\nfor i in range(4):\n"
            "    loss = net(x).mean()\n    loss.backward()\n    opt.step()\n",
            "cannot be kept in a checkpoint",
        ),
        (
            "net = nn.Linear(2, 1)\nx = torch.ones(4, 2)\nopt = optim.SGD(net.parameters(), 0.1)\n"
            "plan = optim.lr_scheduler.StepLR(opt, 2)\nother = optim.lr_scheduler.ConstantLR(opt)\nfor i in range(4):\n"
            "    loss = net(x).mean()\n    loss.backward()\n    opt.step()\n    plan.step()\n    other.step()\n",
            "two schedules, 'plan' and 'other'",
        ),
        (
            "net = nn.Linear(2, 1)\nx = torch.ones(4, 2)\nopt = optim.SGD(net.parameters(), 0.1)\n"
            "plan = optim.lr_scheduler.ReduceLROnPlateau(opt)\nfor i in range(4):\n    loss = net(x).mean()\n"
            "    loss.backward()\n    opt.step()\n    norm = net.weight.norm()\n    plan.step(norm)\n",
            "knows the loss alone",
        ),
        (
            "w = torch.ones(3, requires_grad=True)\nx = torch.ones(3)\nfor i in range(4):\n    loss = (w * x).sum()\n"
            "    loss.backward()\n    x += 1\n    with torch.no_grad():\n        w -= 0.1 * w.grad\n",
            "changes 'x', which is no parameter",
        ),
        (
            "w = torch.ones(3, requires_grad=True)\nfor i in range(4):\n    for j in range(2):\n"
            "        for k in range(2):\n"
            "            loss = (w**2).sum()\n            loss.backward()\n            w.data -= 0.1 * w.grad\n",
            "stands in two others",
        ),
        (
            "w = torch.ones(3, requires_grad=True)\nfor i in range(4):\n    order = torch.randperm(3)\n"
            "    for j in range(2):\n        loss = (w[order[j]] ** 2).sum()\n        loss.backward()\n"
            "        w.data -= 0.1 * w.grad\n",
            "beside the loop that trains",
        ),
        (
            "w = torch.ones(3, requires_grad=True)\nfor i in range(4):\n    noise = torch.randn(3)\n"
            "    loss = (w**2).sum()\n    loss.backward()\n    w.data -= 0.1 * w.grad\n    print(noise)\n",
            "draws random numbers in each step",
        ),
        (
            "w = torch.ones(3, requires_grad=True)\ns = 1.0\nfor i in range(4):\n    loss = s * (w**2).sum()\n"
            "    loss.backward()\n    w.data -= 0.1 * w.grad\n    s = s * 0.5\n",
            "'s' goes from step to step",
        ),
    ],
)
def test_what_cannot_be_trained_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(NoForm, match=words):
        write_steps(graph(text), stem="program")
