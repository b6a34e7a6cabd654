"""Looks over a whole run: where numbers went bad, which gradients fade, stop or never arrive."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.gradient_flow import (
    dead_nodes,
    dies,
    fades,
    fading_gradients,
    samples_of,
    saturated_activations,
    without_gradient,
)
from gradstudio.advice.diagnosis.nan_origins import (
    backward_origins,
    begins_nonfinite,
    forward_origins,
    nonfinite_nodes,
)
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


class RunDiagnosis:
    """What of one run may be worth a word, picked out once; after an edit of the program only that is looked at."""

    def __init__(self, timeline: TimelineLike) -> None:
        """Look over the end of the run."""
        ticks = timeline.ticks[-MAX_ROWS:]
        rows = [tick.row for tick in ticks if tick.row is not None and not is_call_item(tick.row.node)]
        self._spoilt = nonfinite_nodes(rows)
        self._rows = rows if self._spoilt else []
        self._samples = samples_of(rows)
        self._backwards = {number: of_program(traced) for number, traced in timeline.backwards.items()}
        newest = [self._backwards[number] for number in sorted(self._backwards)[-MAX_BACKWARDS:]]
        self._suspects = [traced for traced in newest if begins_nonfinite(traced) or fades(traced) or dies(traced)]

    def findings(self, graph: Graph, gradients: Iterable[GradRow] = ()) -> tuple[Finding, ...]:
        """All there is to tell of the run, the worst first.

        Args:
            graph: the program that ran, as it stands.
            gradients: the gradients as they stand now.
        """
        found = list(forward_origins(graph, self._rows))
        for traced in self._suspects:
            found += [
                *backward_origins(graph, traced, self._spoilt),
                *fading_gradients(graph, traced),
                *dead_nodes(graph, traced),
            ]
        told = {finding.node for finding in found if finding.kind == "dead"}  # the same cause, and worse
        found += [finding for finding in saturated_activations(graph, self._samples) if finding.node not in told]
        found += [*without_gradient(graph, gradients, self._backwards)]
        weight = {"error": 0, "warning": 1, "info": 2}
        latest = {(finding.kind, finding.node): finding for finding in found}
        return tuple(sorted(latest.values(), key=lambda finding: weight[finding.severity]))
