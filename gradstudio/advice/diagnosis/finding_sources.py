"""All findings there are: of a run, and of the graph alone. A new way to look is a row of `LOOKERS`."""

from collections.abc import Callable

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.run_diagnosis import RunDiagnosis
from gradstudio.advice.diagnosis.unordered_writes import unordered_writes
from gradstudio.graph.model import Graph
from gradstudio.protocol.messages.events import GradRow

Gradients = tuple[GradRow, ...]
Looker = Callable[[Graph, RunDiagnosis, Gradients], tuple[Finding, ...]]
LOOKERS: tuple[Looker, ...] = (
    lambda graph, run, gradients: run.findings(graph, gradients),
    lambda graph, _run, _gradients: unordered_writes(graph),
)


def findings(graph: Graph, run: RunDiagnosis, gradients: Gradients = ()) -> tuple[Finding, ...]:
    """What everyone who looks has found."""
    return tuple(finding for look in LOOKERS for finding in look(graph, run, gradients))
