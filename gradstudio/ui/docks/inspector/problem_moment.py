"""Whether a problem stood already at the moment that is looked at. No widgets."""

from gradstudio.ui.state.results.result_store import ResultStore
from gradstudio.ui.state.run.problem_store import Problem


def existed_at_moment(problem: Problem, results: ResultStore) -> bool:
    """Whether the problem is one of the moment: what came of a later step is not told while looking back."""
    moment = results.moment
    if moment is None or problem.kind in ("incomplete", "refusal"):
        return True
    if problem.kind == "failure":
        return False  # it ended the run, behind every moment of it
    if problem.backward:
        timeline = results.timeline
        traced = timeline.backwards.get(problem.backward)
        last = len(traced.rows) - 1 if traced is not None else -1
        at = timeline.place_of(problem.backward, problem.place if problem.place >= 0 else last)
        return at is None or at <= moment  # no longer on the timeline: it was before all that is
    return results.row(problem.node) is not None
