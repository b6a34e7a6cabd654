"""Diagnosis of recorded runs, and of graphs alone."""

import pytest

from gradstudio.advice.diagnosis.finding import Finding, FindingKind
from gradstudio.advice.diagnosis.finding_sources import findings
from gradstudio.advice.diagnosis.mistakes.unordered_writes import unordered_writes
from gradstudio.advice.diagnosis.run_diagnosis import RunDiagnosis
from gradstudio.advice.fixes.finding_fixes import finding_fixes
from gradstudio.graph import recipes
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.timeline.run_timeline import Timeline
from tests.advice.diagnosed import Diagnosed, Found, backward_of, found_in, leaf
from tests.graph.builder import Drawing
from tests.helpers import recordings


@pytest.fixture
def diagnosis(request: pytest.FixtureRequest):
    """Gives what is found in what the engine once said of the drawing."""

    def find(drawing: Drawing) -> Found:
        recording = recordings.load(recordings.of_test(request, "advice"), recordings.ids_of(drawing.graph))
        found = found_in(drawing, recording.events)
        assert {key: finding.title for key, finding in found.items()} == recording.concluded
        return found

    return find


class TestRecordedRuns(Diagnosed):
    """Each drawing was run by the engine when it was recorded."""


def test_a_write_that_no_wire_orders_against_a_reader_is_warned_of():
    d = Drawing()
    x = d.add("torch.ones", name="x", size="(2,)")
    d.add("torch.exp", x, name="before")
    write = d.add("torch.Tensor.add_", x, other="1")
    d.add("torch.exp", d.add("torch.Tensor.detach", x, name="v"), name="after")
    (finding,) = unordered_writes(d.graph)
    assert finding.node == write
    assert "the old numbers go into 'before' and the new ones go into 'after'" in finding.explanation


def test_a_reader_that_is_wired_behind_the_write_needs_no_warning():
    d = Drawing()
    x = d.add("torch.ones", name="x", size="(2,)")
    d.add("torch.exp", d.add("torch.Tensor.add_", x, other="1"), name="y")
    assert unordered_writes(d.graph) == ()


def test_an_update_behind_the_backward_that_used_the_weight_needs_none():
    d = Drawing()
    w = leaf(d, "w", "[1.0]")
    backward_of(d, d.add("torch.exp", w, name="y"))
    step = d.add("torch.Tensor.grad", w, name="g")
    update = d.add("operator.isub", w, step)
    d.do(recipes.wrap(d.graph, (update,)))
    assert unordered_writes(d.graph) == ()


def test_what_is_found_in_the_graph_is_among_all_findings():
    d = Drawing()
    x = d.add("torch.ones", name="x", size="(2,)")
    d.add("torch.exp", x, name="before")
    d.add("torch.Tensor.add_", x, other="1")
    d.add("torch.exp", d.add("torch.Tensor.detach", x, name="v"), name="after")
    assert findings(d.graph, RunDiagnosis(Timeline())) == unordered_writes(d.graph) != ()


@pytest.mark.parametrize("key", ["torch.log", "torch.sqrt", "torch.reciprocal"])
def test_a_birth_in_a_logarithm_or_a_root_can_be_kept_off(key: str):
    d = Drawing()
    x = leaf(d, "x", "[0.0, 0.0]")
    y = d.add(key, x, name="y")
    backward_of(d, y)
    (fix,) = finding_fixes(Finding("backward_not_finite", "error", y, "", "", (y, x), 1), d.graph)
    assert fix.edits is not None
    d.do(fix.edits)
    (line,) = (line for line in compile_graph(d.graph).code.splitlines() if "clamp" in line)
    assert "x.clamp(min=1e-08)" in line


@pytest.mark.parametrize(("key", "kind"), [("torch.exp", "backward_not_finite"), ("torch.log", "dead")])
def test_elsewhere_nothing_is_offered(key: str, kind: FindingKind):
    d = Drawing()
    y = d.add(key, leaf(d, "x", "[0.0, 0.0]"), name="y")
    assert finding_fixes(Finding(kind, "error", y, "", "", (y,), 1), d.graph) == ()
