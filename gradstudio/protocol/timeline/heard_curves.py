"""Curves as an engine tells of them, for whoever has no window: of each value that of the loop which told most."""

from typing import NamedTuple

from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.text.item_titles import title
from gradstudio.protocol.curve_titles import curve_title
from gradstudio.protocol.messages.progress import Turned


class HeardCurve(NamedTuple):
    """Numbers of consecutive turns of a loop, from turn `first` on."""

    loop: ItemId
    first: int
    values: list[float]


class HeardCurves:
    """Those of one run."""

    def __init__(self, graph: Graph) -> None:
        """Nothing was heard; `graph` says how nodes are called."""
        self._graph = graph
        self._heard: dict[tuple[str, ItemId], HeardCurve] = {}

    def hear(self, event: Turned) -> None:
        """Turns of a loop have gone by."""
        for curve in event.curves:
            name = curve_title(title(self._graph, curve.key.node), curve.key)
            values = memoryview(curve.data).cast("d")
            first = max(event.number - len(values), 0)
            self._heard.setdefault((name, event.loop), HeardCurve(event.loop, first, [])).values.extend(values)

    def longest(self) -> dict[str, HeardCurve]:
        """By title."""
        found: dict[str, HeardCurve] = {}
        for (name, _), curve in self._heard.items():
            if name not in found or len(curve.values) > len(found[name].values):
                found[name] = curve
        return found
