"""What there is to tell of a run that is over: its diagnosis, and the gradients that may be worth a word."""

from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.messages.events import GradRow
from gradstudio.protocol.timeline.run_timeline import Timeline


class FinishedRun:
    """What there is to tell of all that ran, worked out once; edits are judged by it until more is told.

    Attributes:
        revision: that of the timeline.
    """

    def __init__(self, timeline: Timeline) -> None:
        """Read it to its end, whatever moment is looked at."""
        from gradstudio.advice.diagnosis.run_diagnosis import RunDiagnosis
        from gradstudio.advice.diagnosis.unreached_leaves import TELLING

        self.revision, self.diagnosis = timeline.revision, RunDiagnosis(timeline)
        self._gradients: dict[ItemId, list[GradRow]] = {}
        for row in timeline.gradients():
            if row.state in TELLING:
                self._gradients.setdefault(row.node, []).append(row)

    def gradients(self, graph: Graph) -> tuple[GradRow, ...]:
        """The gradients that may be worth a word, in the order of the nodes."""
        if not self._gradients:
            return ()
        found = list[GradRow]()
        for item in graph.nodes:
            found += self._gradients.get(item, ())
        return tuple(found)
