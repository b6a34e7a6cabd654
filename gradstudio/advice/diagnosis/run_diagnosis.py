"""Looks over a whole run: where numbers went bad, which gradients fade, stop or never arrive."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.gradient_flow import (
    dead_nodes,
    fading_gradients,
    saturated_activations,
    without_gradient,
)
from gradstudio.advice.diagnosis.nan_origins import backward_origins, forward_origins, nonfinite_nodes
from gradstudio.graph.groups.call_ids import is_call_item
from gradstudio.graph.model import Graph
from gradstudio.protocol.messages.backward_trace import BackwardTraced, of_program
from gradstudio.protocol.messages.events import GradRow, Row

MAX_ROWS, MAX_BACKWARDS = 20_000, 20
"""Only so much of a long run is looked over: its end."""


class TickLike(Protocol):
    """What is read of one thing that happened."""

    @property
    def row(self) -> Row | None:
        """The statement that ran; None for an autograd node."""


class TimelineLike(Protocol):
    """What is read of a run."""

    @property
    def ticks(self) -> Sequence[TickLike]:
        """All that happened, in order."""

    @property
    def backwards(self) -> dict[int, BackwardTraced]:
        """The backwards by number."""


def diagnose(graph: Graph, timeline: TimelineLike, gradients: Iterable[GradRow] = ()) -> tuple[Finding, ...]:
    """All there is to tell of a run, the worst first.

    Args:
        graph: the program that ran.
        gradients: the gradients as they stand now.
    """
    rows = [tick.row for tick in timeline.ticks[-MAX_ROWS:] if tick.row is not None and not is_call_item(tick.row.node)]
    backwards = {number: of_program(traced) for number, traced in timeline.backwards.items()}
    found = list(forward_origins(graph, rows))
    spoilt = nonfinite_nodes(rows)
    for number in sorted(backwards)[-MAX_BACKWARDS:]:
        traced = backwards[number]
        found += [
            *backward_origins(graph, traced, spoilt),
            *fading_gradients(graph, traced),
            *dead_nodes(graph, traced),
        ]
    told = {finding.node for finding in found if finding.kind == "dead"}  # the same cause, and worse
    found += [finding for finding in saturated_activations(graph, rows) if finding.node not in told]
    found += [*without_gradient(graph, gradients, backwards)]
    weight = {"error": 0, "warning": 1, "info": 2}
    latest = {(finding.kind, finding.node): finding for finding in found}
    return tuple(sorted(latest.values(), key=lambda finding: weight[finding.severity]))
