"""What is found in a run; asked of real runs in tests/engine, and of what was recorded of them in tests/advice."""

from collections.abc import Iterable

import pytest

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.run_diagnosis import RunDiagnosis
from gradstudio.graph.text.item_titles import title
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Gradients, GradRow, Traced
from gradstudio.protocol.timeline.run_timeline import Timeline
from tests.graph.builder import Drawing

Found = dict[str, Finding]
TOLD = Traced | BackwardTraced | Gradients


def found_in(drawing: Drawing, events: Iterable[Message]) -> Found:
    """What is found, by kind and the node's name."""
    timeline, gradients = Timeline(), list[GradRow]()
    for event in events:
        match event:
            case Traced(rows=rows):
                timeline.add_rows(rows)
            case BackwardTraced():
                timeline.add_backward(event)
            case Gradients(rows=now):
                gradients = list(now)
            case _:
                pass
    found = RunDiagnosis(timeline).findings(drawing.graph, gradients)
    return {f"{finding.kind} {title(drawing.graph, finding.node)}": finding for finding in found}


def leaf(d: Drawing, name: str, data: str):
    return d.add("torch.tensor", name=name, data=data, requires_grad="True")


def backward_of(d: Drawing, item) -> None:
    d.add("torch.Tensor.backward", d.add("torch.sum", item, name="loss"))


class Diagnosed:
    """The tests; `diagnosis` gives what is found when a drawing runs."""

    @pytest.mark.parametrize(
        ("operator", "data", "born"),
        [("torch.log", "[0.0, 1.0]", "−inf"), ("torch.log", "[-1.0, 1.0]", "NaN"), ("torch.sqrt", "[-1.0]", "NaN"),
         ("torch.exp", "[100.0]", "inf"), ("torch.reciprocal", "[0.0]", "inf")],
    )  # fmt: skip
    def test_a_value_that_is_not_finite_is_named_where_it_is_born(self, diagnosis, operator, data, born):
        d = Drawing()
        y = d.add(operator, leaf(d, "x", data), name="y")
        backward_of(d, y)
        finding = diagnosis(d)["not_finite y"]
        assert finding.title.startswith(born)
        assert [title(d.graph, item) for item in finding.path] == ["y", "loss"]
        assert "not_finite loss" not in diagnosis(d)

    def test_zero_times_infinity_is_born_in_the_product_not_in_the_infinity(self, diagnosis):
        d = Drawing()
        zero, infinite = leaf(d, "zero", "[0.0, 1.0]"), d.add("torch.tensor", name="big", data="[float('inf'), 1.0]")
        backward_of(d, d.add("torch.mul", zero, infinite, name="y"))
        found = diagnosis(d)
        assert found["not_finite y"].title == "NaN is born in y: 0 · inf"
        assert "with infinities" in found["not_finite y"].explanation
        assert "not_finite big" not in found

    def test_a_mask_of_minus_infinity_before_softmax_is_meant(self, diagnosis):
        d = Drawing()
        scores = leaf(d, "scores", "[[1.0, 2.0], [3.0, 4.0]]")
        mask = d.add("torch.tensor", name="mask", data="[[False, True], [False, False]]")
        masked = d.add("torch.Tensor.masked_fill", scores, mask, name="masked", value="float('-inf')")
        backward_of(d, d.add("torch.softmax", masked, name="p", dim="-1"))
        assert not {kind for kind in diagnosis(d) if "finite" in kind}

    def test_a_gradient_that_is_not_finite_is_named_where_it_is_born(self, diagnosis):
        d = Drawing()
        x = leaf(d, "x", "[0.0, 4.0]")
        root = d.add("torch.sqrt", x, name="root")
        backward_of(d, d.add("torch.mul", root, d.add("torch.tensor", data="[0.0, 1.0]"), name="y"))
        finding = diagnosis(d)["backward_not_finite root"]
        assert finding.title.startswith("The gradient becomes NaN in root: the slope of √x")
        assert [title(d.graph, item) for item in finding.path] == ["root", "x"]
        assert finding.backward == 1
        assert finding.place >= 0

    def test_what_comes_of_a_bad_forward_is_no_news_in_the_backward(self, diagnosis):
        d = Drawing()
        backward_of(d, d.add("torch.log", leaf(d, "x", "[-1.0]"), name="y"))
        assert not [key for key in diagnosis(d) if key.startswith("backward_not_finite")]

    def test_a_nan_born_of_the_infinite_slope_of_log_is_told_beside_the_infinity(self, diagnosis):
        d = Drawing()
        x = leaf(d, "x", "[0.0, 4.0]")
        root = d.add("torch.log", x, name="root")
        backward_of(d, d.add("torch.mul", root, d.add("torch.tensor", data="[0.0, 1.0]"), name="y"))
        found = diagnosis(d)
        assert found["not_finite root"].title == "−inf is born in root: the log of 0; it becomes NaN in y"
        assert found["backward_not_finite root"].title.startswith("The gradient becomes NaN in root: the slope of log")

    def test_a_gradient_that_vanishes_names_the_steepest_step(self, diagnosis):
        d = Drawing()
        h = leaf(d, "w", "[8.0]")
        for k in range(6):
            h = d.add("torch.sigmoid", h, name=f"h{k}")
        backward_of(d, h)
        finding = diagnosis(d)["vanishing w"]
        assert "through h0" in finding.explanation
        assert title(d.graph, finding.path[-1]) == "w"

    def test_a_gradient_that_explodes_is_told(self, diagnosis):
        d = Drawing()
        h = leaf(d, "w", "[1.0]")
        for k in range(6):
            h = d.add("torch.mul", h, name=f"h{k}", other="10")
        backward_of(d, h)
        assert "exploding w" in diagnosis(d)

    def test_healthy_gradients_are_not_told_of(self, diagnosis):
        d = Drawing()
        backward_of(d, d.add("torch.mul", leaf(d, "a", "[1.0, 2.0]"), leaf(d, "b", "[3.0, 4.0]"), name="y"))
        assert diagnosis(d) == {}

    def test_a_relu_that_passes_nothing_is_dead_and_not_saturated_as_well(self, diagnosis):
        d = Drawing()
        data = f"{[-1.0] * 10}"
        backward_of(d, d.add("torch.relu", leaf(d, "x", data), name="y"))
        found = diagnosis(d)
        assert "made zeros of it" in found["dead y"].explanation
        assert "saturated y" not in found

    def test_saturated_tanh(self, diagnosis):
        d = Drawing()
        backward_of(d, d.add("torch.tanh", leaf(d, "x", f"{[9.0] * 10}"), name="y"))
        assert "saturated y" in diagnosis(d)

    def test_a_parameter_behind_a_detach_gets_no_gradient_and_the_cut_is_named(self, diagnosis):
        d = Drawing()
        w, v = leaf(d, "w", "[1.0]"), leaf(d, "v", "[1.0]")
        cut = d.add("torch.Tensor.detach", d.add("torch.exp", w, name="y"), name="cut")
        backward_of(d, d.add("torch.mul", cut, v, name="z"))
        finding = diagnosis(d)["no_gradient cut"]
        assert "cut at cut" in finding.explanation
        assert [title(d.graph, item) for item in finding.path] == ["w", "cut"]
        assert len(diagnosis(d)) == 1

    def test_a_gradient_left_from_before_is_told(self, diagnosis):
        d = Drawing()
        x = leaf(d, "x", "[1.0]")
        for name in ("a", "b"):
            d.add("torch.Tensor.backward", d.add("torch.sum", d.add("torch.exp", x, name=name), name=f"s{name}"))
        assert "accumulates x" in diagnosis(d)
