"""Everything that is wrong with a program and its last run, with the ways out that are one undo step each."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple
from typing import Literal as OneOf

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication

from gradstudio.advice.model import Fix
from gradstudio.graph.analysis.validity import INSIDE, incomplete_inside, trouble_inside
from gradstudio.graph.edits import Edits, SetPlaces
from gradstudio.graph.errors import EditError
from gradstudio.graph.groups.call_ids import is_call_item, outermost
from gradstudio.graph.groups.code_ids import code_call
from gradstudio.graph.model import ItemId
from gradstudio.graph.slices import Slices, is_stop, stop_if, work_through
from gradstudio.protocol.messages.events import Failed, Warned
from gradstudio.protocol.messages.inference import Need, PortInference
from gradstudio.scene.results import Alarm
from gradstudio.ui.state.document.attention import Attention
from gradstudio.ui.state.document.graph_store import GraphStore
from gradstudio.ui.state.idle_work import IdleWork
from gradstudio.ui.state.results.latest_value import latest_values
from gradstudio.ui.state.results.result_store import ResultStore
from gradstudio.ui.state.run.run_controller import RunController
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.throttle import Throttle

if TYPE_CHECKING:
    from gradstudio.advice.diagnosis.finding import Finding
    from gradstudio.ui.state.results.failure import Failure
    from gradstudio.ui.state.results.finished_run import FinishedRun

WORK = "problems"
REFRESH_MS = 125
MAX_WAITS = 12
"""So many times a held button may put the collecting off: Qt forgets some releases, as those behind a drag."""
MAX_REFUSALS_WITH_FIXES = 12
"""Expected refusals whose ways out are computed; each costs some copies of the graph."""
CHANGED_MEANWHILE = "The program has changed meanwhile, and this fix no longer fits it."
EXPECTED = "torch is expected to refuse this: "
"""Before the title of what a run has not met yet."""
Severity = OneOf["error", "warning", "info"]
ProblemKind = OneOf["failure", "warning", "incomplete", "refusal", "finding", "size"]


class Problem(NamedTuple):
    """One thing that is wrong.

    Attributes:
        title: one line; `explanation` is ours in full, `words` are torch's, unchanged.
        fixes: ways out; those with edits are one undo step each.
        path: the nodes the trouble went through, the first one where it began.
        backward, place: the moment of a backward it was seen at; 0 and -1: none.
        inside: what it is about inside the node, a call, as a run speaks of it; "": the node itself.
        line: of the undrawn Python that the node is, counted from 1; 0: the node as a whole.
    """

    severity: Severity
    kind: ProblemKind
    node: ItemId
    title: str
    explanation: str = ""
    words: str = ""
    fixes: tuple[Fix, ...] = ()
    path: tuple[ItemId, ...] = ()
    backward: int = 0
    place: int = -1
    inside: ItemId = ItemId("")
    line: int = 0


def beyond_title(problem: Problem) -> str:
    """Our explanation without the sentence that is the title already."""
    first, dot, rest = problem.explanation.partition(". ")
    return rest if problem.title.endswith(first + dot.strip()) else problem.explanation


def in_sentences(problem: Problem) -> str:
    """The title and what our explanation says beyond it, as one text."""
    more = beyond_title(problem)
    if not more:
        return problem.title
    stop = "" if problem.title.endswith((".", "!", "?")) else "."
    return f"{problem.title}{stop} {more}"


class ProblemStore(QObject):
    """The problems as they stand, failures first, then in program order.

    They are collected at most 8 times a second, never while a verb runs, and 1.5 s later while a mouse button is held.

    Signals:
        changed(): they are others.
    """

    changed = Signal()

    def __init__(
        self,
        store: GraphStore,
        results: ResultStore,
        run: RunController,
        attention: Attention,
        idle: IdleWork,
        parent: QObject | None = None,
    ) -> None:
        """Listen to graph and results; they are collected by `idle`."""
        super().__init__(parent)
        self._store = store
        self._results = results
        self._run = run
        self._attention = attention
        self._idle = idle
        self._known = latest_values(results)
        self.problems: tuple[Problem, ...] = ()
        self._by_node: dict[ItemId, tuple[Problem, ...]] = {}
        self._fixes: dict[tuple[ItemId, str, str], tuple[Fix, ...]] = {}
        self._fixes_revision = -1
        self._found: tuple[Finding, ...] = ()
        self._found_at = (-1, -1)
        self._ran: FinishedRun | None = None
        self._waits = 0
        self._is_put_off = False
        self._throttle = Throttle(REFRESH_MS, self)
        self._throttle.due.connect(self._on_throttle_due)
        results.tables.changed.connect(self._throttle.request)  # another moment has the same problems
        store.edited.connect(self._on_store_edited)
        store.replaced.connect(self._on_store_replaced)
        run.memory_check.sized.connect(self._throttle.request)
        run.state_changed.connect(self._on_run_state_changed)

    def of(self, node: ItemId) -> tuple[Problem, ...]:
        """The problems of one node, of what is inside it, too; inside a call those of that call."""
        found = self._by_node.get(node)
        return found if found is not None else self._by_node.get(self._results.ids.full(node), ())

    def apply(self, problem: Problem, fix: Fix) -> bool:
        """Carry a fix out as one undo step under its title.

        Returns:
            Whether it was done; False for words, and when the program has changed so that it fits no more.
        """
        from gradstudio.layout.placement.gap_opening import open_gap

        if self._fixes_revision != self._store.graph.revision:
            self.refresh()
            same = (one for now in self.of(problem.node) for one in now.fixes if one.title == fix.title)
            fix = next(same, Fix(fix.title))
        if fix.edits is None:
            self._store.refused.emit(CHANGED_MEANWHILE)
            return False
        try:
            self._store.submit(open_gap(self._store.graph, fix.edits), fix.title)
        except EditError:
            self._store.refused.emit(CHANGED_MEANWHILE)
            return False
        return True

    def reveal(self, problem: Problem) -> None:
        """Show where it is, and when it was seen, or code called it; what cannot run for a group's inside, there."""
        begins = problem.path[0] if problem.kind == "incomplete" and problem.path else problem.node
        self._attention.reveal(begins, problem.line)
        if problem.backward and problem.place >= 0:
            at = self._results.timeline.place_of(problem.backward, problem.place)
        else:
            at = self._results.timeline.made_at(problem.inside) if code_call(problem.inside) is not None else None
        if at is not None:
            self._attention.look_at(at)

    def put_off(self, put_off: bool) -> None:
        """Look for none until this is taken back: the window is being filled."""
        self._is_put_off = put_off
        if not put_off:
            self._throttle.request()

    def refresh(self) -> None:
        """Collect the problems anew."""
        self._idle.cancel(WORK)
        work_through(self._refresh())

    def _refresh(self) -> Slices[None]:
        """As `refresh`, in slices; an edit gives them up, and asks again."""
        graph = self._store.graph
        if self._fixes_revision != graph.revision:
            self._fixes.clear()
            self._fixes_revision = graph.revision
        found = yield from self._collect()
        if found != self.problems:
            self.problems = found
            self._by_node = {}
            for problem in found:
                for node in (problem.node, problem.inside) if problem.inside else (problem.node,):
                    self._by_node[node] = (*self._by_node.get(node, ()), problem)
            self._results.mark_alarms(_alarms(found))
            self.changed.emit()

    # ------------------------------------------------------------------ collecting

    def _collect(self) -> Slices[tuple[Problem, ...]]:
        results, found = self._results, list[Problem]()
        refusals = 0
        troubled = results.troubled()
        for number, item in enumerate([item for item in self._store.graph.order() if item in troubled], 1):
            if is_stop(number):
                yield
            failure, refusal = results.failure(item), results.inference(item)
            if failure is not None:
                found.append(self._failure(failure))
            elif reason := results.incomplete(item):
                trouble = trouble_inside(self._store.graph, item) if reason.startswith(INSIDE) else None
                path = (trouble.item, item) if trouble is not None and trouble.item is not None else ()
                found.append(_incomplete(item, reason, path))
            elif refusal is not None and refusal.refusal:
                refusals += 1
                found.append(self._refusal(refusal, refusals <= MAX_REFUSALS_WITH_FIXES))
            if warned := results.warnings(item):
                from gradstudio.advice.told_once import told_once  # most runs warn of nothing

                found += [self._warning(one, times) for one, times in told_once(warned)]
        inside = incomplete_inside(self._store.graph)
        found += [_incomplete(item, reason) for item, reason in inside.items() if results.failure(item) is None]
        found += [_size(need) for need in self._run.memory_check.needs if need.node in self._store.graph]
        findings = yield from self._all_findings(found)
        found = [*self._with_causes(found, findings), *map(self._finding, findings)]
        weight = {"error": 0, "warning": 1, "info": 2}
        return tuple(sorted(found, key=lambda p: (weight[p.severity], p.kind != "failure")))

    def _with_causes(self, told: list[Problem], findings: "tuple[Finding, ...]") -> Iterator[Problem]:
        """The same, a failure that only shows what was cut off before with that as its first sentence."""
        from gradstudio.advice.failure_cause import failure_cause

        for problem in told:
            is_failure = problem.kind == "failure"
            known = (self._store.graph, problem.node, problem.words, findings, self._known)
            cause = failure_cause(*known) if is_failure else None
            if cause is not None:
                title = f"{self._finding(cause).title}."
                problem = problem._replace(title=title, explanation=f"{title} {problem.explanation}")
            yield problem

    def _failure(self, failure: "Failure") -> Problem:
        failed = failure.failed
        explained = _first_sentence(failure.explanation)
        title = failure.at_place(explained) if explained else _in_one_line(failure.what)
        fixes = self._fixes_for(failed)
        return Problem("error", "failure", failed.node, title, failure.explanation, failure.what, fixes, _path(failed))

    def _refusal(self, refusal: PortInference, with_fixes: bool) -> Problem:
        from gradstudio.advice.explanation import explain, failed_of

        graph = self._store.graph
        failed = failed_of(refusal, graph, self._known)
        explanation = explain(failed, graph).explanation
        title = f"{EXPECTED}{_first_sentence(explanation) or _in_one_line(refusal.refusal)}"
        fixes = self._fixes_for(failed) if with_fixes else ()
        return Problem("warning", "refusal", refusal.node, title, explanation, refusal.refusal, fixes)

    def _warning(self, warned: Warned, times: int) -> Problem:
        from gradstudio.advice.explanation import explain_warning, warning_severity
        from gradstudio.advice.fixes.fix_kinds import fixes_for_warning

        key = (warned.node, warned.category, warned.message)
        if key not in self._fixes:
            self._fixes[key] = fixes_for_warning(warned, self._store.graph, self._known)
        explanation = explain_warning(warned.category, warned.message).explanation
        words = f"{warned.category}: {warned.message}"
        title = _first_sentence(explanation) or f"{warned.category}: {_in_one_line(warned.message)}"
        title += f" ({times:,} times)" if times > 1 else ""
        severity = warning_severity(self._store.graph, warned)
        return Problem(severity, "warning", warned.node, title, explanation, words, self._fixes[key])

    def _finding(self, finding: "Finding") -> Problem:
        from gradstudio.advice.diagnosis.finding_sources import placed_title
        from gradstudio.advice.fixes.finding_fixes import finding_fixes

        key = (finding.node, finding.kind, finding.title)
        if key not in self._fixes:
            self._fixes[key] = finding_fixes(finding, self._store.graph)
        return Problem(
            finding.severity,
            "finding",
            outermost(finding.node),
            placed_title(self._store.graph, finding),
            finding.explanation,
            fixes=self._fixes[key],
            path=tuple(dict.fromkeys(map(outermost, finding.path))),
            backward=finding.backward,
            place=finding.place,
            inside=finding.node if is_call_item(finding.node) else ItemId(""),
            line=finding.line,
        )

    def _fixes_for(self, failed: Failed) -> tuple[Fix, ...]:
        from gradstudio.advice.fixes.fix_kinds import fixes_for

        key = (failed.node, failed.type_name, failed.message)
        if key not in self._fixes:
            self._fixes[key] = fixes_for(failed, self._store.graph, self._known)
        return self._fixes[key]

    def _all_findings(self, told: list[Problem]) -> "Slices[tuple[Finding, ...]]":
        """What a run, the known values and the graph bring to light; not where torch refuses, or warns of the same."""
        from gradstudio.advice.diagnosis.finding_sources import joined_findings
        from gradstudio.advice.diagnosis.mistakes.silent_mistakes import silent_slices

        graph = self._store.graph
        nodes = {problem.node for problem in told if problem.kind in ("failure", "refusal", "warning", "incomplete")}
        yield from stop_if(graph.nodes)
        silent = yield from silent_slices(graph, self._known)
        yield from stop_if(graph.nodes)
        of_run = yield from self._findings()
        found = joined_findings(silent, of_run, nodes)
        return tuple(finding for finding in found if outermost(finding.node) in graph)

    def _findings(self) -> "Slices[tuple[Finding, ...]]":
        """What the last run and the graph bring to light; of a run that is stale, nothing."""
        from gradstudio.advice.diagnosis.finding_sources import findings

        results, graph = self._results, self._store.graph
        if results.tables.is_stale:
            return ()
        now = (graph.revision, results.timeline.revision)
        if self._found_at != now:
            if self._ran is None or self._ran.revision != results.timeline.revision:
                from gradstudio.ui.state.results.finished_run import FinishedRun  # not before a run

                self._ran = FinishedRun(results.timeline)
                yield from stop_if(graph.nodes)
            self._found_at, self._found = now, findings(graph, self._ran.diagnosis, self._ran.gradients(graph))
        return self._found

    # ------------------------------------------------------------------ slots

    def _on_store_edited(self, edits: Edits) -> None:
        if not all(isinstance(edit, SetPlaces) for edit in edits):
            self._on_store_replaced()

    def _on_store_replaced(self) -> None:
        self._idle.cancel(WORK)
        self._throttle.request()

    def _on_run_state_changed(self, state: RunState) -> None:
        if state.busy:
            self._idle.cancel(WORK)
        else:
            self._throttle.request()

    def _on_throttle_due(self) -> None:
        if self._run.state.busy or self._is_put_off:
            return  # the end of either comes back here
        if self._run.status.slide.moves:
            self._throttle.request()
            return
        if QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton and self._waits < MAX_WAITS:
            self._waits += 1
            self._throttle.request()
            return
        self._waits = 0
        self._idle.begin(WORK, self._refresh())


def _alarms(problems: tuple[Problem, ...]) -> dict[ItemId, Alarm]:
    """By node, and by what is inside it, the worst of what was found there; notes are no alarm."""
    worst: dict[ItemId, Alarm] = {}
    for problem in problems:  # the worst come first
        for node in (problem.node, problem.inside) if problem.inside else (problem.node,):
            if problem.kind == "finding" and problem.severity != "info":
                worst.setdefault(node, problem.severity)
    return worst


def _incomplete(item: ItemId, reason: str, path: tuple[ItemId, ...] = ()) -> Problem:
    return Problem("warning", "incomplete", item, f"cannot run yet: {reason}", path=path)


def _size(need: Need) -> Problem:
    from gradstudio.advice.diagnosis.memory_shortage import size_explanation, size_title

    return Problem("warning", "size", need.node, size_title(need), size_explanation(need))


def _path(failed: Failed) -> tuple[ItemId, ...]:
    """From what was saved, by those who wrote into it, to where torch noticed."""
    clash = failed.clash
    if clash is None:
        return ()
    steps = (clash.victim, *(culprit.node for culprit in clash.culprits), failed.node)
    return tuple(dict.fromkeys(step for step in steps if step))


def _first_sentence(text: str) -> str:
    """The first sentence, which is the title of a failure."""
    head, dot, _ = text.partition(". ")
    return head + dot.strip()


def _in_one_line(text: str) -> str:
    return " ".join(text.split())
