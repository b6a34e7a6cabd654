"""`size_average` and `reduce` of losses: read as the reduction that torch takes them for."""

import inspect
import warnings
from itertools import product

import pytest
import torch
from torch import nn

from gradstudio.graph.text.code_records import code_of, is_code
from gradstudio.program.reading.expressions.old_arguments import LOSSES, OLD
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_script

HEAD = "import torch\nfrom torch import nn\n\n"
VALUES = ("", "None", "True", "False")


def test_the_losses_that_have_them_are_those_of_torch() -> None:
    found = set()
    for home, module in (("torch.nn", nn), ("torch.nn.functional", nn.functional)):
        for name, made in vars(module).items():
            if not name.startswith("_") and name != "NLLLoss2d" and callable(made) and hasattr(made, "__module__"):
                try:
                    parameters = inspect.signature(made).parameters
                except (TypeError, ValueError):
                    continue
                if set(OLD) <= parameters.keys():
                    found.add(f"{home}.{name}")
    assert found == LOSSES


@pytest.mark.parametrize(("average", "reduce"), list(product(VALUES, VALUES)))
def test_a_loss_is_read_with_the_reduction_that_torch_gives_it(average: str, reduce: str) -> None:
    words = [f"{word}={value}" for word, value in zip(OLD, (average, reduce), strict=True) if value]
    call = f"nn.L1Loss({', '.join([*words, 'reduction=' + repr('sum')])})"
    graph = read_script(f"{HEAD}loss = {call}\n", keeps_code=True).graph
    assert not any(map(is_code, graph.nodes.values()))
    drawn: dict[str, nn.L1Loss] = {}
    exec(write_script(graph).partition("if __name__")[0], drawn)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert drawn["loss"].reduction == eval(call, {"nn": nn}).reduction


def test_what_the_text_does_not_say_and_what_torch_refuses_stays_as_it_was_typed() -> None:
    for call in ("nn.MSELoss(size_average=n > 1)", "nn.HuberLoss(reduce=True)", "nn.L1Loss(reduce=False, other=n)"):
        graph = read_script(f"{HEAD}n = 2\nloss = {call}\n", keeps_code=True).graph
        assert [code_of(node) for node in graph.nodes.values() if is_code(node)][-1].endswith(f"loss = {call}")


def test_values_and_gradients_are_those_of_torch() -> None:
    text = f"{HEAD}x = torch.ones(3, requires_grad=True)\n"
    text += "loss = nn.functional.mse_loss(x, torch.zeros(3), size_average=False)\nloss.backward()\n"
    graph = read_script(text, keeps_code=True).graph
    found: dict[str, torch.Tensor] = {}
    exec(write_script(graph).partition("if __name__")[0], found)
    assert (found["loss"].item(), found["x"].grad.tolist()) == (3.0, [2.0, 2.0, 2.0])  # type: ignore[union-attr]
