"""Looks over a whole run: where numbers went bad, which gradients fade or never arrive, what steps do with them."""

from collections import Counter
from collections.abc import Iterable
from itertools import islice

from gradstudio.advice.diagnosis.activations import dead_nodes, dies, saturated_activations, saturations
from gradstudio.advice.diagnosis.data.constant_inputs import constant_inputs
from gradstudio.advice.diagnosis.data.gathered_graphs import gathered_graphs
from gradstudio.advice.diagnosis.data.leftover_gradients import leftover_gradients
from gradstudio.advice.diagnosis.data.turn_slips import turn_slips
from gradstudio.advice.diagnosis.finding import WEIGHT, Finding, FindingKind
from gradstudio.advice.diagnosis.gradient_flow import fades, fading_gradients
from gradstudio.advice.diagnosis.growth import divergence, recurrences, series_of
from gradstudio.advice.diagnosis.mistakes.empty_data import empty_data
from gradstudio.advice.diagnosis.mistakes.growing_graphs import growing_graphs, kept_graphs
from gradstudio.advice.diagnosis.mistakes.objective_signs import negated_errors
from gradstudio.advice.diagnosis.mistakes.stuck_weights import stuck_weights
from gradstudio.advice.diagnosis.mistakes.summed_steps import spent_rates, summed_means
from gradstudio.advice.diagnosis.modes import wrong_modes
from gradstudio.advice.diagnosis.nan_origins import (
    backward_origins,
    begins_nonfinite,
    brings_nan,
    forward_origins,
    nonfinite_nodes,
)
from gradstudio.advice.diagnosis.nan_reasons import worst
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.reduction_origins import reduction_origins, without_reductions
from gradstudio.advice.diagnosis.run_facts import RunFacts, TimelineLike, leaf_rows
from gradstudio.advice.diagnosis.slips.code_run_slips import of_calls_in_code
from gradstudio.advice.diagnosis.slips.error_directions import growing_errors
from gradstudio.advice.diagnosis.slips.objective_slips import objective_slips
from gradstudio.advice.diagnosis.slips.policy_signs import falling_policies
from gradstudio.advice.diagnosis.step_order import order_findings
from gradstudio.advice.diagnosis.training_steps import roles_of, step_findings, takes_steps
from gradstudio.advice.diagnosis.unreached_leaves import without_gradient
from gradstudio.graph.card_grouping import CALLED
from gradstudio.graph.groups.call_ids import outermost
from gradstudio.graph.groups.code_ids import code_call
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.rules import descendants_of
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.events import GradRow

MAX_BACKWARDS, MAX_BAD = 20, 3
"""Only so much of a long run is looked over: its end; and the first backwards that bring forth what is not finite."""
FADING: frozenset[FindingKind] = frozenset({"exploding", "vanishing", "saturated", "dead"})
"""What follows of itself where numbers are not finite."""
CONSEQUENCES = FADING | {"not_finite", "backward_not_finite"}
"""What follows of itself where numbers grow beyond all bounds."""
SUMS: frozenset[FindingKind] = frozenset({"accumulates", "diverges"})
"""What follows of itself where nothing is zeroed between steps."""

UNLEARNT: frozenset[FindingKind] = frozenset({"no_gradient", "frozen_parameter"})
"""Why a step may find no gradient."""


class RunDiagnosis:
    """What of one run may be worth a word, picked out once; after an edit of the program only that is looked at."""

    def __init__(self, timeline: TimelineLike) -> None:
        """Look over the end of the run."""
        self._facts = facts = RunFacts(timeline)
        self._spoilt = nonfinite_nodes(facts)
        self._series = series_of(facts)
        self._steps = takes_steps(facts) or any(series.trains for series in self._series)
        self._backwards = timeline.backwards
        everything = [self._backwards[number] for number in sorted(self._backwards)]
        self._births = list(islice(filter(begins_nonfinite, everything), MAX_BAD))
        self._spoils = bool(self._births) and any(map(_spoils_leaves, everything))
        self._is_spoilt = any(map(brings_nan, self._births))
        newest = everything[-MAX_BACKWARDS:]
        self._fading = _lasting([*everything[:MAX_BACKWARDS], *everything[MAX_BACKWARDS:][-MAX_BACKWARDS:]])
        self._suspects = [one for one in newest if fades(one) or dies(one)]
        self._saturated = {one.node: one for traced in newest for one in saturations(traced)}

    def findings(self, graph: Graph, gradients: Iterable[GradRow] = ()) -> tuple[Finding, ...]:
        """All there is to tell of the run, the worst first, and causes before what follows of them.

        Args:
            graph: the program that ran, as it stands.
            gradients: the gradients as they stand now.
        """
        view, facts = ProgramView(graph), self._facts
        if not facts.rows:
            return ()
        facts.call_by_names(view)
        roles = roles_of(view, facts) if self._steps else {}
        steps = [*step_findings(view, facts, roles), *order_findings(view, facts, roles)]
        steps += [*summed_means(view, facts, roles), *spent_rates(view, facts)]
        steps += leftover_gradients(view, facts, roles)
        signs = list(negated_errors(view, facts, roles)) or list(growing_errors(view, facts))
        signs += falling_policies(view, facts)
        grown = [*signs, *recurrences(view, self._series), *divergence(view, facts, self._series, roles)]
        stepping = {item: role.of for item, role in roles.items() if role.act == "step"}
        found = [*steps, *grown, *stuck_weights(view, facts, stepping), *empty_data(view, facts)]
        if self._spoilt:
            found += forward_origins(view, facts, stepping)
        for traced in reversed(self._births):  # of two at one node the first one stays
            if reduced := list(reduction_origins(view, traced)):  # what this rank itself sent back was finite
                found += reduced
                continue
            origins = backward_origins(view, without_reductions(traced), _spoilt_before(facts, traced))
            found += origins if self._spoils else [one._replace(severity="info") for one in origins]
        for traced in self._suspects:
            fading = fading_gradients(view, facts, traced)
            found += [one for one in fading if one.kind != "vanishing" or traced.statement in self._fading]
            found += dead_nodes(view, traced, facts.latest, [*self._backwards.values()])
        dead = {finding.node for finding in found if finding.kind == "dead"}  # the same cause, and worse
        found += [f for f in saturated_activations(view, self._saturated.values(), facts.latest) if f.node not in dead]
        found += without_gradient(view, facts, gradients, self._backwards)
        found += [*growing_graphs(view, facts), *kept_graphs(view, facts), *gathered_graphs(view, facts)]
        found += [*wrong_modes(view, facts), *constant_inputs(view, facts)]
        found += [*of_calls_in_code(view, facts), *objective_slips(view, facts), *turn_slips(view, facts)]
        if any(one.kind == "left_out" for one in found):  # no step empties what no optimizer has
            found = [one for one in found if one.kind != "accumulates" or facts.is_held(one.node)]
        latest = {(finding.kind, _place(finding.node)): finding for finding in found}
        causes = _causes(_fed(view, list(latest.values())), is_spoilt=self._is_spoilt)
        return tuple(sorted(causes, key=lambda finding: WEIGHT[finding.severity]))


def _lasting(backwards: list[BackwardTraced]) -> set[ItemId]:
    """The statements most of whose backwards fade: what is learnt at last sends little back, too."""
    counts = Counter(one.statement for one in backwards)
    fading = Counter(one.statement for one in backwards if fades(one))
    return {statement for statement, count in fading.items() if 2 * count >= counts[statement]}


def _place(item: ItemId) -> tuple[object, ...]:
    """Where an item stands: of what code calls its line, however often it comes there."""
    call = code_call(item)
    return (item,) if call is None else (call.file, call.line, call.path)


def _spoilt_before(facts: RunFacts, traced: BackwardTraced) -> dict[ItemId, str]:
    """What was not finite when a backward began; where its root was finite, no NaN of those is in the loss."""
    spoilt = nonfinite_nodes(facts, traced)
    roots = {value.node for row in traced.rows[:1] for value in row.values}
    is_clean = not roots.intersection(spoilt)
    return {item: bad for item, bad in spoilt.items() if bad != "NaN"} if is_clean else spoilt


def _spoils_leaves(traced: BackwardTraced) -> bool:
    """Whether what is not finite comes to a leaf: a relu behind it, say, may have made 0 of it."""
    leaves = [row for _, row in leaf_rows(traced)]
    return not leaves or any(worst(row.incoming) for row in leaves)


def _is_overflow(finding: Finding) -> bool:
    """Whether it tells of an infinity that became no NaN in the forward."""
    return finding.kind == "not_finite" and finding.severity == "warning"


def _fed(view: ProgramView, found: list[Finding]) -> list[Finding]:
    """Without what follows of data of no rows: in what is computed from them, and in modules that get nothing else."""
    empty = [finding.node for finding in found if finding.kind == "no_rows"]
    if not empty:
        return found
    starved = set(empty).union(*(descendants_of(view.graph, item) for item in empty))

    def follows(finding: Finding) -> bool:
        item = outermost(finding.node)
        calls = {wire.target for wire in view.graph.wires_from(item) if wire.port == CALLED}
        return item in starved or (bool(calls) and calls <= starved)

    return [finding for finding in found if finding.kind not in CONSEQUENCES or not follows(finding)]


def _causes(found: list[Finding], *, is_spoilt: bool) -> list[Finding]:
    """Without what follows of itself from something else that is told."""
    kinds = {finding.kind for finding in found}
    blamed = {finding.kind for finding in found if finding.severity == "warning"}
    if blamed & UNLEARNT:
        found = [one for one in found if one.kind != "idle_step" or "zero_grad" in one.title]
    late = {finding.node for finding in found if finding.kind == "late_step"}
    found = [one for one in found if one.kind != "idle_step" or one.node not in late]
    without = {finding.node for finding in found if finding.kind == "left_out"}
    found = [one for one in found if one.kind != "idle_step" or not without.intersection(one.path)]
    if "growing_graph" in kinds:
        found = [finding for finding in found if finding.kind != "old_loss"]
    if "no_zero_grad" in kinds:
        found = [finding for finding in found if finding.kind not in SUMS]
    spoils = any(one.kind == "backward_not_finite" and one.severity == "error" for one in found)
    if is_spoilt or spoils:  # what was not finite before it is its cause, or as grave
        found = [one._replace(severity="error") if _is_overflow(one) else one for one in found]
    if any(one.kind == "not_finite" and one.severity == "error" for one in found):
        found = [one for one in found if one.kind not in FADING]
    if kinds & {"growth", "diverges"}:
        found = [finding for finding in found if finding.kind not in CONSEQUENCES]
    return found
