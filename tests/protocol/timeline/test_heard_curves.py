"""Curves as an engine tells of them: their titles, which one counts, and the axis that all lie on."""

import numpy as np
import pytest

from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.curve_titles import (
    Watched,
    curve_title,
    is_metric,
    is_share,
    judged_figures,
    watched_figure,
    watched_figures,
)
from gradstudio.protocol.messages.progress import Curve, CurveKey, Turned
from gradstudio.protocol.timeline.heard_curves import HeardCurves

TEXT = """import torch

w = torch.ones(2, requires_grad=True)
for epoch in range(2):
    for batch in range(3):
        loss = (w * w).sum()
        loss.backward()
    accuracy_test = w.mean()
"""


def graph() -> Graph:
    return read_script(TEXT).graph


def named(one: Graph, name: str) -> ItemId:
    return next(node.id for node in one.nodes.values() if name in node.names)


def numbers(*values: float) -> bytes:
    return np.array(values, dtype="<f8").tobytes()


def test_a_curve_is_called_by_its_node_its_parameter_and_its_figure() -> None:
    node = ItemId("n1")
    assert curve_title("loss", CurveKey(node)) == "loss"
    assert (
        curve_title("net", CurveKey(node, path="fc.weight", figure="norm", grad=True)) == "norm of net.fc.weight.grad"
    )
    assert curve_title("w", CurveKey(node, figure="update")) == "update-to-weight ratio of w"


@pytest.mark.parametrize(
    ("name", "metric", "share"),
    [("val_loss", True, False), ("testAccuracy", True, True), ("top5", True, True), ("loss2", True, False),
     ("weights", False, False), ("share of zeros", False, True)],
)  # fmt: skip
def test_names_say_what_a_figure_is(name: str, metric: bool, share: bool) -> None:
    assert is_metric(name) is metric and is_share(name) is share


def test_a_training_is_judged_by_what_it_does_not_learn_from() -> None:
    names = ["loss", "accuracy", "w", "val_loss", "accuracy_val"]
    assert watched_figures(names) == [
        Watched("val_loss", rises=False), Watched("accuracy_val", rises=True), Watched("accuracy", rises=True),
    ]  # fmt: skip
    assert watched_figure(["loss", "w"]) is None
    assert judged_figures(graph()) == [Watched("accuracy_test", rises=True)]


SEVERAL = """import torch


def learn(w):
    logits = w * w
    return logits, logits.sum()


w = torch.ones(2, requires_grad=True)
for turn in range(3):
    logits, loss = learn(w)
    loss.backward()
"""


def test_a_value_of_several_is_called_by_its_own_name() -> None:
    program = read_script(SEVERAL).graph
    node = named(program, "loss")
    loop = program.loop_around(node)
    assert loop is not None
    heard = HeardCurves(program)
    told = Curve(CurveKey(node, output=1), numbers(2.0, 1.0))
    heard.hear(Turned(loop.id, turn=1, total=3, number=2, curves=(told,)))
    assert list(heard.longest()) == ["loss"]


def test_curves_of_two_loops_lie_on_one_axis() -> None:
    program = graph()
    loss, accuracy = named(program, "loss"), named(program, "accuracy_test")
    inner, outer = program.loop_around(loss), program.loop_around(accuracy)
    assert inner is not None and outer is not None
    heard = HeardCurves(program)
    assert heard.points() == {} and heard.each() == {}
    told = Curve(CurveKey(loss), numbers(6.0, 5.0, 4.0))
    heard.hear(Turned(inner.id, turn=2, total=3, around=(0,), number=3, curves=(told,)))
    heard.hear(Turned(outer.id, turn=0, total=2, number=1, curves=(Curve(CurveKey(accuracy), numbers(0.5)),)))
    told = Curve(CurveKey(loss), numbers(3.0, 2.0, 1.0))
    heard.hear(Turned(inner.id, turn=2, total=3, around=(1,), number=6, curves=(told,)))
    heard.hear(Turned(outer.id, turn=1, total=2, number=2, curves=(Curve(CurveKey(accuracy), numbers(0.75)),)))
    assert list(heard.longest()["loss"].values) == [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
    assert heard.each() == {"accuracy_test": 3}
    steps, values = heard.points()["accuracy_test"]
    assert steps.tolist() == [2.0, 5.0] and values.tolist() == [0.5, 0.75]
    assert heard.points()["loss"][0].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert heard.learnt({inner.id: 6, outer.id: 2}) == {"loss": 6, "accuracy_test": 6}
