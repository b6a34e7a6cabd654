"""Accuracies and losses of data that nobody learns from are noted by themselves, each turn, beside the loss."""

import struct
from typing import Any

import pytest

from gradstudio.program.compile import compile_graph
from gradstudio.program.forms.training.added_training import with_training
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.curve_titles import curve_title, is_metric, is_share
from gradstudio.protocol.messages.progress import Turned
from gradstudio.protocol.messages.requests import Do
from tests.engine.conftest import Bench
from tests.engine.test_epoch_scripts import ADDED

BY_HAND = """import torch
torch.manual_seed(0)
w = torch.zeros(3, requires_grad=True)
x = torch.randn(20, 3)
y = (x[:, 0] > 0).float()
correct = 0
for step in range(90):
    out = torch.sigmoid(x @ w)
    scores_loss_weights = out * 1.0
    cost = torch.nn.functional.binary_cross_entropy(out, y)
    cost.backward()
    with torch.no_grad():
        w -= w.grad
        w.grad = None
        train_acc = ((out > 0.5) == y).float().mean().item()
    if step % 10 == 9:
        val_loss = cost.item() * 2
"""


def curves(bench: Bench, text: str) -> dict[str, list[float]]:
    """The numbers of each curve, of the loop that has fewest of it."""
    graph = read_script(text).graph
    bench.load(compile_graph(graph))
    assert bench.engine.do(Do(verb="run", samples_turns=True)).outcome == "done"
    found: dict[tuple[str, str], list[float]] = {}
    for event in bench.events:
        if isinstance(event, Turned):
            for curve in event.curves:
                node = graph.nodes[curve.key.node]
                name = curve_title(node.names[curve.key.output], curve.key)
                found.setdefault((name, event.loop), []).extend(struct.unpack(f"<{len(curve.data) // 8}d", curve.data))
    shortest: dict[str, list[float]] = {}
    for (name, _), values in sorted(found.items(), key=lambda one: -len(one[1])):
        shortest[name] = values
    return shortest


def test_what_add_training_draws_tells_the_loss_of_both_and_the_accuracy_of_each_epoch(bench: Bench) -> None:
    text = with_training(read_script(ADDED).graph, lambda _: None).text
    told = curves(bench, text)
    assert set(told) == {"loss", "loss_test", "accuracy"}
    watched = text.replace("accuracy = ", "accuracy = keep(") + ")\n"
    values: dict[str, Any] = {"kept": []}
    exec("def keep(value):\n    kept.append(float(value))\n    return value\n", values)
    exec(watched, values)
    assert told["accuracy"] == values["kept"] and len(told["accuracy"]) == 20


def test_numbers_of_a_loop_by_hand_are_told_by_their_names(bench: Bench) -> None:
    told = curves(bench, BY_HAND)
    assert set(told) == {"cost", "train_acc", "val_loss"} and len(told["train_acc"]) == 90
    values: dict[str, Any] = {}
    exec(BY_HAND, values)
    assert told["train_acc"][-1] == values["train_acc"] and told["val_loss"][-1] == values["val_loss"]
    assert told["val_loss"][0] != told["val_loss"][0], "before it is computed there is none"


@pytest.mark.parametrize("name", ["val_loss", "testAccuracy", "loss2", "MSE", "running_loss", "train_acc"])
def test_names_that_say_how_well(name: str) -> None:
    assert is_metric(name) and is_share(name) == ("cc" in name.lower())


@pytest.mark.parametrize("name", ["lossy", "accelerate", "losses", "x", "errors", "macro"])
def test_names_that_say_something_else(name: str) -> None:
    assert not is_metric(name)
