"""Roles: what becomes `forward`, what `__init__`, what is given, and what stays outside."""

import pytest

from gradstudio.graph.analysis.program_analysis import addresses
from gradstudio.program.errors import NoForm
from gradstudio.program.forms.statement_roles import statement_roles
from gradstudio.program.reading.reader import read_script

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn, optim\n\n"


def found(text: str) -> dict[str, str]:
    """Each role's units and values by their addresses, those that are empty left out."""
    graph = read_script(HEAD + text).graph
    names, parts = addresses(graph), statement_roles(graph)

    def spelled(items: tuple[object, ...]) -> str:
        return " ".join(names[item[0] if isinstance(item, tuple) else item] for item in items)  # type: ignore[index]

    keys = ("forward", "returned", "inputs", "constants", "construction", "given", "parameters", "modules")
    return {key: text for key in keys if (text := spelled(getattr(parts, key)))}


def test_leaves_are_parameters_and_other_tensors_are_arguments() -> None:
    assert found("x = torch.ones(3)\nW = torch.ones(3, requires_grad=True)\ny = (W * x).sum()\ny.backward()\n") == {
        "forward": "y",
        "returned": "y",
        "inputs": "x",
        "construction": "W",
        "parameters": "W",
    }


def test_what_a_loop_feeds_is_an_argument_and_the_step_stays_outside() -> None:
    text = (
        "xs = torch.ones(4, 3)\nfc = nn.Linear(3, 1)\nsgd = optim.SGD(fc.parameters(), lr=0.1)\n"
        "for i in range(4):\n    x = xs[i]\n    y = fc(x)\n    sgd.zero_grad()\n    loss = y.sum()\n"
        "    loss.backward()\n    sgd.step()\n"
    )
    assert found(text) == {
        "forward": "y loss",
        "returned": "loss y",
        "inputs": "x",
        "construction": "fc",
        "modules": "fc",
    }


def test_numbers_that_the_class_uses_are_constants() -> None:
    text = (
        "B, C = 2, 3\nx = torch.ones(B, C)\nfc = nn.Linear(C, 1)\ny = fc(x).view(B)\nloss = y.sum()\nloss.backward()\n"
    )
    assert found(text)["constants"] == "B"
    assert found(text)["inputs"] == "x"


def test_what_is_done_to_a_parameter_before_it_is_used_belongs_to_its_making() -> None:
    text = (
        "w = torch.empty(2, 2)\nnn.init.ones_(w)\nw.requires_grad_()\nfc = nn.Linear(2, 2)\nfc.eval()\n"
        "loss = fc(w).sum()\nloss.backward()\n"
    )
    assert found(text)["construction"] == "w ones_1 requires_grad_1 fc eval_1"


def test_a_metric_after_the_loss_stays_outside_and_what_it_reads_is_returned() -> None:
    text = "w = torch.ones(2, requires_grad=True)\ny = w * 2\nloss = y.sum()\nn = y.argmax()\nloss.backward()\n"
    assert found(text)["forward"] == "y loss"
    assert found(text)["returned"] == "loss y"


def test_modules_made_inside_an_expression_are_made_once() -> None:
    text = "x = torch.ones(2, 3)\ny = nn.Linear(3, 3)(x)\nloss = nn.MSELoss()(y, x)\nloss.backward()\n"
    assert found(text)["construction"] == "Linear_1 MSELoss_1"


def test_random_numbers_in_another_order_are_refused_by_name() -> None:
    text = (
        "fc = nn.Linear(2, 2)\nh = F.dropout(fc(torch.ones(2)))\n"
        "head = nn.Linear(2, 1)\nloss = head(h)\nloss.backward()\n"
    )
    with pytest.raises(NoForm, match="'head' draws random numbers after 'h' has drawn"):
        found(text)


def test_a_program_that_trains_nothing_has_no_class() -> None:
    with pytest.raises(NoForm, match="requires grad"):
        found("x = torch.ones(3)\ny = x * 2\n")


def test_a_list_that_only_forward_fills_is_made_there() -> None:
    text = (
        "w = torch.ones(3, requires_grad=True)\nouts = []\nx = torch.ones(3)\nfor k in range(3):\n"
        "    outs.append(w[k] * x)\nloss = torch.stack(outs).sum()\nloss.backward()\n"
    )
    assert found(text)["forward"] == "outs for_1 loss"
    assert found(text)["inputs"] == "x"


def test_what_is_done_to_weights_before_they_are_used_is_no_part_of_forward() -> None:
    text = "fc = nn.Linear(3, 1)\nfc.weight.data.fill_(0.5)\nx = torch.ones(3)\nloss = fc(x).sum()\nloss.backward()\n"
    assert found(text)["forward"] == "loss"


LAYERS = "x = torch.ones(4, 3)\nt = torch.ones(4, 1)\nfc = nn.Linear(3, 2)\nhead = nn.Linear(2, 1)\n"


@pytest.mark.parametrize(
    ("text", "returned"),
    [
        ("h = fc(x).relu()\npred = head(h)\nloss = F.mse_loss(pred, t)\n", "loss pred"),
        ("h = fc(x).relu()\npred = head(h)\ncrit = nn.MSELoss()\nloss = crit(pred, t)\n", "loss pred"),
        ("h = fc(x)\npred = head(h)\nd = pred - t\nsquare = d**2\nloss = square.mean()\n", "loss pred"),
        ("loss = F.mse_loss(head(fc(x)), t)\n", "loss"),
        ("h = fc(x)\nloss = F.mse_loss(head(h), t)\n", "loss"),
        ("h = fc(x)\na = head(h)\nb = head(h * 2)\nloss = (a - b).sum()\n", "loss"),
        ("y = x\nfor k in range(2):\n    y = fc(x) * y.sum()\nloss = y.sum()\n", "loss y"),
        ("for k in range(2):\n    y = fc(x) * k\nloss = y.sum()\n", "loss"),
    ],
)
def test_the_one_prediction_is_returned_beside_the_loss(text: str, returned: str) -> None:
    assert found(f"{LAYERS}{text}loss.backward()\n")["returned"] == returned


def test_the_root_is_what_the_last_of_several_backwards_needs() -> None:
    text = (
        "w = torch.ones(2, requires_grad=True)\ny = w * 2\nmse = y.sum()\nl1 = w.abs().sum()\ntotal = mse + 0.1 * l1\n"
    )
    first, last = "mse.backward(retain_graph=True)\n", "total.backward()\n"
    for order in (first + last, "total.backward(retain_graph=True)\nmse.backward()\n"):
        assert found(text + order)["forward"] == "y mse l1 total"
        assert found(text + order)["returned"].split()[:2] == ["total", "mse"]
    assert found(text.replace("total =", f"{first}total =") + last)["returned"] == "mse y"


def test_what_is_done_to_a_module_after_it_was_used_stays_behind() -> None:
    text = "fc = nn.Linear(3, 1)\nfc.train()\nloss = fc(torch.ones(3)).sum()\nloss.backward()\nfc.eval()\n"
    assert found(text)["construction"] == "fc train_1"
    text = (
        "fc = nn.Linear(3, 1)\nprint(fc(torch.ones(3)))\nfc.eval()\nloss = fc(torch.ones(3)).sum()\nloss.backward()\n"
    )
    assert found(text)["construction"] == "fc"
