"""One axis for the curves of a run: the turns of the loop over batches, at whose ends those of the epochs lie."""

from typing import TYPE_CHECKING, Any

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.progress import Turned

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[tuple[int], np.dtype[np.floating[Any]]]


class AxisSteps:
    """How many turns a loop that stands in another one has in each turn of that."""

    def __init__(self) -> None:
        """Nothing was heard."""
        self._totals: dict[ItemId, int] = {}

    def hear(self, event: Turned) -> None:
        """Turns of a loop have gone by."""
        if event.around:
            self._totals[event.loop] = event.total if len(event.around) == 1 else 0

    def each(self, loop: ItemId, axis: ItemId | None) -> int:
        """How many turns the loop of the axis has in each turn of a loop around it; 1 where that is not known."""
        if axis is None or loop in self._totals:
            return 1
        return self._totals.get(axis, 0) or 1


def on_axis(turns: "Numbers", each: int) -> "Numbers":
    """Where turns, from 0, end on the axis, in steps from 0."""
    return turns if each == 1 else (turns.astype("float64") + 1) * each - 1
