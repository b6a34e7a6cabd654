"""A gradient that another rank has spoilt is told as that: with the rank, and without the advice for a slope."""

import math

import msgspec
import pytest

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.run_diagnosis import RunDiagnosis
from gradstudio.advice.fixes.finding_fixes import finding_fixes
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import ALL_REDUCE, AutogradRow, BackwardTraced, EdgeValue, Reduction
from gradstudio.protocol.messages.events import LeafState, Row
from gradstudio.protocol.messages.ranks import Spread
from gradstudio.protocol.messages.records import OptimizerRecord, Summary, TensorRecord
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


def test_what_a_step_makes_of_it_is_no_birth() -> None:
    d = Drawing()
    net = leaf(d, "net", "[1.0, 2.0]")
    opt = d.add("torch.optim.SGD", net, name="opt")
    step = d.add("torch.optim.Optimizer.step", opt)
    y = d.add("torch.abs", net, name="y")

    def weight(value: float) -> TensorRecord:
        return TensorRecord(
            device="cpu", summary=summary(value), requires_grad=True, is_leaf=True, storage=7, stride=(1,)
        )

    timeline = Timeline()
    held = OptimizerRecord(class_name="SGD", leaves=((7, True),))
    timeline.add_rows((Row(step=1, node=net, outputs=(weight(1.0),)), Row(step=2, node=opt, outputs=(held,))))
    own = AutogradRow(
        backward=1, autograd="AccumulateGrad", node=net, incoming=(summary(1.0),), outgoing=(),
        values=(EdgeValue(node=net),), after=summary(1.0),
    )  # fmt: skip
    behind = AutogradRow(
        backward=1, autograd="AbsBackward0", node=y, incoming=(summary(1.0),), outgoing=(summary(math.nan),),
        values=(EdgeValue(node=y),),
    )  # fmt: skip
    reduced = AutogradRow(
        backward=1, autograd=ALL_REDUCE, node=net, incoming=(brought(1.0, math.nan),), outgoing=(summary(math.nan),),
        values=(EdgeValue(node=net),), reduction=Reduction(bucket=0, ranks=2, came_s=1.0, done_s=2.0),
    )  # fmt: skip
    # the gradient that the node behind sent back lies in a bucket, into which the mean was written since
    timeline.add_backward(BackwardTraced(revision=1, rows=(behind, own, reduced), backward=1, turns=(0,)))
    spoilt = LeafState(7, weight(math.nan))
    result = TensorRecord(device="cpu", summary=summary(math.nan))
    timeline.add_rows(
        (Row(step=3, node=step, outputs=(), turns=(0,), writes=(spoilt,)), Row(step=4, node=y, outputs=(result,)))
    )
    called = ItemId(f"{y}/:21:0:torch.nn.Linear")  # in code
    timeline.add_rows((Row(step=5, node=called, outputs=(result,)),))
    told = RunDiagnosis(timeline).findings(d.graph, timeline.gradients())
    assert [one.kind for one in told] == ["backward_not_finite"]
    assert told[0].title == "The gradient becomes NaN in the all-reduce of net in turn 1: rank 1 brought it"


def test_the_rank_that_brought_it_is_named() -> None:
    (finding,), d = found(1.0, 2.0, math.nan)
    assert finding.title.startswith("The gradient becomes NaN in the all-reduce of net")
    assert finding.title.endswith(": rank 2 brought it") and "finite" in finding.explanation
    assert finding_fixes(finding, d.graph) == () and finding.place == 0 and finding.severity == "error"


@pytest.mark.parametrize("of_ranks", [(1.0, 2.0), (math.nan, 1.0)])
def test_what_is_finite_everywhere_or_spoilt_here_already_is_not_told(of_ranks: tuple[float, ...]) -> None:
    assert found(*of_ranks)[0] == []
