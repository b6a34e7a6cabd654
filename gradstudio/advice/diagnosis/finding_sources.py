"""All findings there are: of a run, of the values that are known, and of the graph alone."""

from collections.abc import Collection

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.mistakes.silent_mistakes import silent_mistakes
from gradstudio.advice.diagnosis.mistakes.unordered_writes import unordered_writes
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.run_diagnosis import RunDiagnosis
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.groups.call_ids import is_call_item
from gradstudio.graph.groups.code_ids import code_call
from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.messages.events import GradRow

Gradients = tuple[GradRow, ...]


def findings(graph: Graph, run: RunDiagnosis, gradients: Gradients = ()) -> tuple[Finding, ...]:
    """What a run has brought to light, and the order of the program's statements."""
    return (*run.findings(graph, gradients), *unordered_writes(graph))


def every_finding(
    graph: Graph,
    lookup: Lookup,
    run: RunDiagnosis | None = None,
    gradients: Gradients = (),
    explained: Collection[ItemId] = (),
) -> tuple[Finding, ...]:
    """What everyone who looks has found.

    Args:
        lookup: what is known of a value.
        run: of a recorded run; None: there is none.
        explained: nodes at which torch has said more already: what it runs without a word is no news there.
    """
    of_run = findings(graph, run, gradients) if run is not None else ()
    return joined_findings(silent_mistakes(graph, lookup), of_run, explained)


def joined_findings(
    silent: tuple[Finding, ...], of_run: tuple[Finding, ...], explained: Collection[ItemId] = ()
) -> tuple[Finding, ...]:
    """Both, without what a run tells better, and without what is said of a node in torch's own words."""
    known = {(finding.kind, finding.node) for finding in of_run}
    first = (one for one in silent if one.node not in explained and (one.kind, one.node) not in known)
    return (*first, *of_run)


def placed_title(graph: Graph, finding: Finding) -> str:
    """The title, with where it is: of what is inside a call the calls around it."""
    if not is_call_item(finding.node) or code_call(finding.node) is not None:
        return finding.title
    inside = ProgramView(graph).where(finding.node)
    return finding.title if inside in finding.title else f"In {inside}: {finding.title}"
