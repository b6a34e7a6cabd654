"""Charts as the engine drew them: of which cards, and what each was at any moment of the record."""

from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from gradstudio.graph.graph_index import index_of
from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.messages.charts import (
    CURVE,
    CurveShown,
    DescentDrawn,
    DrawnChart,
    NoChart,
    WantedChart,
)
from gradstudio.protocol.messages.progress import CurveKey

if TYPE_CHECKING:
    from gradstudio.ui.state.results.curve_store import CurveStore
    from gradstudio.ui.state.results.timeline_cursor import TimelineCursor

MOST: Final = 128
"""Charts kept of a card; of more, every second goes."""
WAITING: Final = "The chart is drawn when this has run."
NO_TURN: Final = "The curve begins with the first turn of a loop."
NO_NUMBER: Final = (
    "This is no number at the end of a turn. Choose a figure of it under Plot over turns (Curves): it is drawn here."
)


class ChartStore:
    """Charts by node and kind, in the order of the run; which of them are shown, the places of cards say.

    Attributes:
        wanted: the charts that the next verb draws.
    """

    def __init__(self) -> None:
        """None was drawn."""
        self.wanted: tuple[WantedChart, ...] = ()
        self._charts: dict[WantedChart, list[DrawnChart]] = {}
        self._looked_at: dict[ItemId, tuple[DescentDrawn, int, DescentDrawn]] = {}

    @property
    def asked(self) -> tuple[WantedChart, ...]:
        """Those that the engine is to draw."""
        return tuple([one for one in self.wanted if one[1] != CURVE])

    def has_curve(self, node: ItemId) -> bool:
        """Whether the node's card shows a curve."""
        return (node, CURVE) in self.wanted

    def add(self, drawn: DrawnChart) -> None:
        """A chart came; one of the same place in the run, or of a later one, gives way."""
        known = self._charts.setdefault((drawn.node, drawn.kind), [])
        if isinstance(drawn, DescentDrawn):
            known.clear()  # it holds what earlier ones showed
        while known and known[-1].step >= drawn.step:
            known.pop()
        known.append(drawn)
        if len(known) > MOST:
            self._charts[drawn.node, drawn.kind] = [*known[:-1:2], known[-1]]

    def at(self, wanted: WantedChart, step: int | None) -> DrawnChart:
        """What it was when so many statements had run; None: now. The newest path knows what it was at any moment."""
        known = self._charts.get(wanted, [])
        if step is not None and known and isinstance(newest := known[-1], DescentDrawn) and step < newest.step:
            return self._path_until(newest, step)
        place = len(known) if step is None else bisect_right(known, step, key=lambda one: one.step)
        return known[place - 1] if place else NoChart(node=wanted[0], kind=wanted[1], why=WAITING)

    def _path_until(self, newest: DescentDrawn, step: int) -> DescentDrawn:
        """The same object as long as the same is looked at: painted charts are kept by what they are."""
        known = self._looked_at.get(newest.node)
        if known is None or known[0] is not newest or known[1] != step:
            known = self._looked_at[newest.node] = newest, step, newest.until(step)
        return known[2]

    def clear(self) -> None:
        """A start from nothing."""
        self._charts.clear()
        self._looked_at.clear()


def curve_shown(key: CurveKey, curves: "CurveStore", cursor: "TimelineCursor") -> CurveShown | NoChart:
    """The curve of a number, of the loop that told most of it, and where in it the moment stands."""
    told = curves.longest()
    if key not in told:  # what the run that is shown was asked for
        key = next((one for one in told if one.node == key.node), key)
    if key not in told:
        return NoChart(node=key.node, kind=CURVE, why=NO_TURN)
    name = told[key]
    turns, values = curves.points(name)
    if curves.largest(name) == 0.0 and not (values == values).any():  # NaN alone
        return NoChart(node=key.node, kind=CURVE, why=NO_NUMBER)
    looked_at = cursor.turns_looked_at(name[0], key.node)
    at = curves.number_of(name[0], looked_at) if looked_at is not None else None
    return CurveShown(key, turns, values, looked_at=at)


def shown_in(graph: Graph) -> tuple[WantedChart, ...]:
    """The nodes whose cards show a chart, and which."""
    return tuple((ItemId(key), chart) for key, chart in index_of(graph).charts.items() if key in graph.nodes)
