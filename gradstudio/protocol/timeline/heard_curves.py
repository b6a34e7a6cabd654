"""Curves as an engine tells of them, for whoever has no window: of each value that of the loop which told most."""

from array import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.curve_titles import curve_title_in
from gradstudio.protocol.messages.progress import Turned
from gradstudio.protocol.timeline.axis_steps import AxisSteps, on_axis

if TYPE_CHECKING:
    from gradstudio.document.event_files import Points


class HeardCurve(NamedTuple):
    """Numbers of consecutive turns of a loop, from turn `first` on: eight bytes each, for there may be millions."""

    loop: ItemId
    first: int
    values: Sequence[float]


class HeardCurves:
    """Those of one run."""

    def __init__(self, graph: Graph) -> None:
        """Nothing was heard; `graph` says how nodes are called."""
        self._graph = graph
        self._axis = AxisSteps()
        self._heard: dict[tuple[str, ItemId], tuple[int, array[float]]] = {}

    def hear(self, event: Turned) -> None:
        """Turns of a loop have gone by."""
        self._axis.hear(event)
        for curve in event.curves:
            name = curve_title_in(self._graph, curve.key)
            values = memoryview(curve.data).cast("d")
            first = max(event.number - len(values), 0)
            self._heard.setdefault((name, event.loop), (first, array("d")))[1].extend(values)

    def longest(self) -> dict[str, HeardCurve]:
        """By title."""
        found: dict[str, HeardCurve] = {}
        for (name, loop), (first, values) in self._heard.items():
            if name not in found or len(values) > len(found[name].values):
                found[name] = HeardCurve(loop, first, values)
        return found

    def each(self) -> dict[str, int]:
        """Of those that are not of the loop that told most: how many of its turns each of their own takes."""
        found = self.longest()
        axis = max(found.values(), key=lambda curve: len(curve.values)).loop if found else None
        known = {name: self._axis.each(curve.loop, axis) for name, curve in found.items()}
        return {name: each for name, each in known.items() if each > 1}

    def points(self) -> "dict[str, Points]":
        """As they are kept: steps on one axis, and values."""
        import numpy as np

        each = self.each()
        return {
            name: (on_axis(np.arange(float(first), first + len(values)), each.get(name, 1)), np.array(values))
            for name, (_, first, values) in self.longest().items()
        }

    def learnt(self, counts: Mapping[ItemId, int]) -> dict[str, int]:
        """Of each curve, how many steps there were where so many turns of each loop were done."""
        each, found = self.each(), self.longest().items()
        return {name: counts[one.loop] * each.get(name, 1) for name, one in found if one.loop in counts}
