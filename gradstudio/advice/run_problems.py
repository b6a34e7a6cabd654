"""All that is wrong with a program and one run of it, from what the engine said: failure, warnings, findings."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gradstudio.advice.diagnosis.finding import WEIGHT, Finding, Severity
from gradstudio.advice.diagnosis.finding_sources import every_finding, placed_title
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.run_diagnosis import RunDiagnosis
from gradstudio.advice.explanation import SCRIPT_LINES, Lines, explain, explain_warning, warning_severity
from gradstudio.advice.failure_cause import failure_cause
from gradstudio.advice.failure_place import place_of_failure
from gradstudio.advice.fixes.finding_fixes import finding_fixes
from gradstudio.advice.fixes.fix_kinds import fixes_for, fixes_for_warning
from gradstudio.advice.none_causes import NONE, computed_owner
from gradstudio.graph.analysis.call_addresses import locate_item
from gradstudio.graph.groups.call_ids import path_of
from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Failed, Gradients, GradRow, NamedEntry, Traced, Warned
from gradstudio.protocol.messages.records import ModuleRecord, Record, TensorRecord
from gradstudio.protocol.timeline.run_timeline import Timeline

GROWING = frozenset({"growth", "diverges", "exploding"})
"""What ends in numbers that are not finite."""


class RunProblem(NamedTuple):
    """One thing that is wrong.

    Attributes:
        kind: that of a finding; "failure", or "warning" for what torch warned of.
        node: as a run speaks of it, also inside calls.
        title: the cause in one sentence; `explanation` says why and what to do, `words` are torch's own.
        fixes: ways out, each one imperative sentence.
        line: of the undrawn Python that the node is, counted from 1; 0: the node as a whole.
    """

    severity: Severity
    kind: str
    node: ItemId
    title: str
    explanation: str = ""
    words: str = ""
    fixes: tuple[str, ...] = ()
    line: int = 0


class RunRecorder:
    """Hears what the engine says of one recorded run; of what was not recorded it knows the report alone."""

    def __init__(self) -> None:
        """Nothing was said yet."""
        self.timeline = Timeline()
        self.failed: Failed | None = None
        self.warned: list[Warned] = []
        self._bound: dict[tuple[ItemId, int], Record] = {}

    def read_report(self, entries: Iterable[NamedEntry]) -> None:
        """What is bound at the end: all that is known where no run was recorded."""
        for entry in entries:
            if entry.outputs:
                self._bound[entry.node, entry.output or 0] = entry.outputs[0]

    def hear(self, event: Message) -> None:
        """One event, in the order they come."""
        match event:
            case Traced(rows=rows):
                self.timeline.add_rows(rows)
                self.timeline.trim()
            case BackwardTraced():
                self.timeline.add_backward(event)
            case Gradients(rows=gradients, whole=whole, in_record=in_record):
                self.timeline.add_gradients(gradients, whole, in_record)
            case Failed():
                self.failed = event
            case Warned():
                self.warned.append(event)
            case _:
                pass

    def value(self, item: ItemId, output: int) -> Record | None:
        """The newest result of an item."""
        row = self.timeline.row(item)
        if row is None:
            return self._bound.get((item, output))
        return row.outputs[output] if output < len(row.outputs) else None

    def gradients(self) -> tuple[GradRow, ...]:
        """The gradients as they stand at the end."""
        return tuple(self.timeline.gradients())

    def spoilt_gradient(self) -> tuple[ItemId, str] | None:
        """A leaf whose gradient holds a NaN at the end, and its path in a module."""
        for row in self.gradients():
            if row.grad is not None and row.grad.nan:
                return row.node, row.path
        for (item, _), record in self._bound.items():
            leaves = record.parameters if isinstance(record, ModuleRecord) else {"": record}
            for path, leaf in leaves.items():
                if isinstance(leaf, TensorRecord) and leaf.grad is not None and leaf.grad.nan:
                    return item, path
        return None


def run_problems(graph: Graph, recorder: RunRecorder, lines: Lines = SCRIPT_LINES) -> tuple[RunProblem, ...]:
    """Everything that is wrong, the worst first, a failure before all but its cause.

    Args:
        lines: of the text that a person has, by item.
    """
    failed = recorder.failed
    told = [one for one in _warnings(graph, recorder) if failed is None or not _comes_to_failure(graph, one, failed)]
    nodes = {problem.node for problem in told} | ({failed.node} if failed is not None else set())
    run = RunDiagnosis(recorder.timeline)
    findings = every_finding(graph, recorder.value, run, recorder.gradients(), nodes)
    cause = failure_cause(graph, failed.node, failed.message, findings, recorder.value) if failed is not None else None
    first = [_of_finding(graph, cause)] if cause is not None else []
    others = (one for one in findings if cause is None or (one.kind, one.node) != (cause.kind, cause.node))
    told += [_of_finding(graph, finding) for finding in others]
    failure = list(_failure(graph, recorder, lines, first[0].title if first else ""))
    found = _with_spoilt(graph, recorder, [*first, *failure, *told])
    return tuple(sorted(found, key=lambda problem: WEIGHT[problem.severity]))


def _comes_to_failure(graph: Graph, warning: RunProblem, failed: Failed) -> bool:
    """Whether a warning is of a .grad that is None, and the failure tells why."""
    place = locate_item(graph, failed.node)
    if place is None or NONE not in failed.message or computed_owner(place.item, place.graph) is None:
        return False
    return path_of(warning.node)[-1] in {wire.source for wire in place.graph.wires_to(place.item)}


def _with_spoilt(graph: Graph, recorder: RunRecorder, found: list[RunProblem]) -> list[RunProblem]:
    """With a NaN in a gradient: what grew beyond all bounds has made it, else nobody has said where it comes from."""
    leaf = recorder.spoilt_gradient()
    if leaf is None or any(problem.severity == "error" for problem in found):
        return found
    grown = next((problem for problem in found if problem.kind in GROWING), None)
    if grown is not None:
        return [problem._replace(severity="error") if problem is grown else problem for problem in found]
    item, path = leaf
    name = ProgramView(graph).name(item) + (f".{path}" if path else "")
    words = "Run it with --problems, or with a record in the window: then the node where it begins is named."
    return [*found, RunProblem("error", "spoilt_gradient", item, f"{name}.grad holds NaN", words)]


def _failure(graph: Graph, recorder: RunRecorder, lines: Lines, cause: str) -> Iterator[RunProblem]:
    failed = recorder.failed
    if failed is None:
        return
    explanation = explain(failed, graph, lines).explanation
    fixes = tuple(fix.title for fix in fixes_for(failed, graph, recorder.value))
    if cause:
        explanation = f"{cause}. {explanation}"
    title, rest = split_first_sentence(explanation or failed.message)
    place = place_of_failure(failed, graph)
    yield RunProblem("error", "failure", place, title, rest, f"{failed.type_name}: {failed.message}", fixes)


def _warnings(graph: Graph, recorder: RunRecorder) -> Iterator[RunProblem]:
    seen = set[tuple[ItemId, str]]()
    for warned in recorder.warned:
        if (warned.node, warned.message) in seen:
            continue
        seen.add((warned.node, warned.message))
        explanation = explain_warning(warned.category, warned.message).explanation
        fixes = tuple(fix.title for fix in fixes_for_warning(warned, graph, recorder.value))
        title, rest = split_first_sentence(explanation or warned.message)
        words = f"{warned.category}: {warned.message}"
        severity = warning_severity(graph, warned)
        yield RunProblem(severity, "warning", warned.node, title, rest, words, fixes)


def _of_finding(graph: Graph, finding: Finding) -> RunProblem:
    fixes = tuple(fix.title for fix in finding_fixes(finding, graph))
    title = placed_title(graph, finding)
    told = (finding.severity, finding.kind, finding.node, title, finding.explanation)
    return RunProblem(*told, fixes=fixes, line=finding.line)


def split_first_sentence(text: str) -> tuple[str, str]:
    """The first sentence, and what stands behind it."""
    head, dot, rest = " ".join(text.split()).partition(". ")
    return head + dot.strip(), rest
