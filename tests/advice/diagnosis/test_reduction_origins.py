"""A gradient that another rank has spoilt is told as that: with the rank, and without the advice for a slope."""

import math

import msgspec
import pytest

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.run_diagnosis import RunDiagnosis
from gradstudio.advice.fixes.finding_fixes import finding_fixes
from gradstudio.protocol.messages.backward_trace import ALL_REDUCE, AutogradRow, BackwardTraced, EdgeValue, Reduction
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.ranks import Spread
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.protocol.timeline.run_timeline import Timeline
from tests.advice.diagnosed import leaf
from tests.graph.builder import Drawing


def summary(value: float) -> Summary:
    if math.isnan(value):
        return Summary(dtype="float32", shape=(2,), nan=2)
    return Summary(dtype="float32", shape=(2,), minimum=value, maximum=value, mean=value, rms=abs(value))


def brought(*of_ranks: float) -> Summary:
    """What rank 0 brought, with the spread over all."""
    spreads = [Spread.of(rank, summary(value), b"") for rank, value in enumerate(of_ranks)]
    joined = spreads[0]
    for spread in spreads[1:]:
        joined = joined | spread
    return msgspec.structs.replace(summary(of_ranks[0]), spread=joined)


def found(*of_ranks: float) -> tuple[list[Finding], Drawing]:
    d = Drawing()
    net = leaf(d, "net", "[1.0, 2.0]")
    row = AutogradRow(
        backward=1, autograd=ALL_REDUCE, node=net, incoming=(brought(*of_ranks),),
        outgoing=(summary(sum(of_ranks) / len(of_ranks)),), values=(EdgeValue(node=net, path="weight"),),
        reduction=Reduction(bucket=0, ranks=len(of_ranks), came_s=1.0, done_s=2.0),
    )  # fmt: skip
    timeline = Timeline()
    record = TensorRecord(device="cpu", summary=summary(1.0), requires_grad=True)
    timeline.add_rows((Row(step=1, node=net, outputs=(record,)),))
    timeline.add_backward(BackwardTraced(revision=1, rows=(row,), backward=1, turns=(1,)))
    told = RunDiagnosis(timeline).findings(d.graph, timeline.gradients())
    return [one for one in told if one.kind == "backward_not_finite"], d


def test_the_rank_that_brought_it_is_named() -> None:
    (finding,), d = found(1.0, 2.0, math.nan)
    assert finding.title.startswith("The gradient becomes NaN in the all-reduce of net")
    assert finding.title.endswith(": rank 2 brought it") and "finite" in finding.explanation
    assert finding_fixes(finding, d.graph) == () and finding.place == 0 and finding.severity == "error"


@pytest.mark.parametrize("of_ranks", [(1.0, 2.0), (math.nan, 1.0)])
def test_what_is_finite_everywhere_or_spoilt_here_already_is_not_told(of_ranks: tuple[float, ...]) -> None:
    assert found(*of_ranks)[0] == []
