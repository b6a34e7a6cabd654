"""Draws charts beside a run: seldom enough that the run hardly notices, and leaving all as it was."""

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Final

import torch
from torch import Tensor, nn

from gradstudio.engine.errors import CannotDraw
from gradstudio.engine.live.live_state import Live, Loaded
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.engine.turns.chart.attention_maps import attention
from gradstudio.engine.turns.chart.confusion import confusion
from gradstudio.engine.turns.chart.data_flow import BOUND_ANEW, IN_GROUP
from gradstudio.engine.turns.chart.descent import Descents
from gradstudio.engine.turns.chart.fineness import EVERY_S, SHARE, Fineness
from gradstudio.engine.turns.chart.histogram import RidgeHistory, histogram
from gradstudio.engine.turns.chart.images import filters, images
from gradstudio.engine.turns.chart.levels import Scale, levels, scale_of, target_levels
from gradstudio.engine.turns.chart.plane_function import PlaneFunction, plane_function
from gradstudio.engine.turns.chart.plane_grid import Span, grid, square_around
from gradstudio.engine.turns.chart.points import components, prediction
from gradstudio.engine.turns.chart.program_lines import NOWHERE, ProgramLines, names_of
from gradstudio.engine.turns.chart.row_values import row_values
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.charts import SIDE, BoundaryDrawn, DrawnChart, NoChart, WantedChart

MARGIN: Final = 1.15
ROWS: Final = 1 << 12
"""So many points are computed at once, what a layer gives for them stays in a cache; between them Stop is asked."""
HISTOGRAMS: Final = ("histogram", "gradients")


class Charts:
    """Charts of nodes: what they give over the plane, for the rows of the data, as images.

    Attributes:
        descents: the paths of what is learnt, which are noted at the end of each turn.
    """

    def __init__(self, send: Callable[[Message], None], stopped: Callable[[], bool]) -> None:
        """Nothing is drawn."""
        self._wanted: tuple[WantedChart, ...] = ()
        self.descents = Descents()
        self._send, self._stopped = send, stopped
        self._due_s, self._fineness = 0.0, Fineness()
        self._lines: ProgramLines | None = None
        self._lines_of: Loaded | None = None
        self._spans: dict[WantedChart, Span] = {}
        self._scales: dict[ItemId, Scale] = {}
        self._drawn: dict[WantedChart, tuple[Loaded, int]] = {}
        self._histories: defaultdict[WantedChart, RidgeHistory] = defaultdict(RidgeHistory)

    @property
    def wanted(self) -> tuple[WantedChart, ...]:
        """The nodes that have a chart, and which."""
        return self._wanted

    @wanted.setter
    def wanted(self, wanted: tuple[WantedChart, ...]) -> None:
        self._wanted = wanted
        self.descents.paths.wanted = tuple(node for node, kind in wanted if kind == "path")

    def clear(self) -> None:
        """A start from nothing."""
        self.descents.clear()
        self._due_s = 0.0
        self._spans, self._scales, self._drawn = {}, {}, {}
        self._histories.clear()

    def look(self, live: Live) -> None:
        """The run stands at the end of a turn: draw, when it is time for that."""
        began = time.perf_counter()
        if self.wanted and began >= self._due_s:
            with self._fineness.drawing() as side:
                for wanted in self.wanted:
                    self._send(self._chart(live, wanted, side, is_at_rest=False))
            now = time.perf_counter()
            self._due_s = max(began + EVERY_S, now + (now - began) / SHARE)

    def draw(self, live: Live) -> None:
        """Draw what has not been drawn since something ran, as fine as it can be."""
        for wanted in self.wanted:
            if self._drawn.get(wanted) != (now := (live.loaded, live.step_count)):
                self._drawn[wanted] = now
                self._send(self._chart(live, wanted, SIDE, is_at_rest=True))

    def draw_anew(self, live: Live) -> None:
        """Draw all: what is learnt was put there without a statement."""
        self._drawn.clear()
        self.draw(live)

    def _chart(self, live: Live, wanted: WantedChart, side: int, *, is_at_rest: bool) -> DrawnChart:
        node, kind = wanted
        try:
            if kind == "boundary":
                return self._boundary(live, node, side)
            if kind == "path":
                return self.descents.drawn(live, self._program_lines(live), node, side, is_at_rest=is_at_rest)
            if kind in HISTOGRAMS:
                found = _last_value(live, self._program_lines(live), node)
                return histogram(node, live, found, self._histories[wanted], of_gradient=kind == "gradients")
            return self._of_rows(live, wanted)
        except CannotDraw as error:
            reason = str(error)
        except Exception as error:  # noqa: BLE001 - the step boundary: its statements, run for a chart
            reason = f"It cannot be computed for a chart: {error}"
        return NoChart(node=node, kind=kind, step=live.step_count, why=reason)

    def _program_lines(self, live: Live) -> ProgramLines:
        if self._lines is None or self._lines_of is not live.loaded:
            self._lines, self._lines_of = ProgramLines(live.loaded), live.loaded
        return self._lines

    def _of_rows(self, live: Live, wanted: WantedChart) -> DrawnChart:
        node, kind = wanted
        lines = self._program_lines(live)
        if kind == "attention":
            return attention(node, live, lines)
        if kind == "images" and (module := _module_of(live, lines, node)) is not None:
            return filters(node, live.step_count, module)
        rows = row_values(live, lines, node)
        if kind == "confusion":
            return confusion(node, live.step_count, rows)
        if kind == "images":
            return images(node, live.step_count, rows)
        points = prediction if kind == "prediction" else components
        drawn = points(node, live.step_count, rows, self._spans.get(wanted))
        self._spans[wanted] = drawn.span
        return drawn

    def _boundary(self, live: Live, node: ItemId, side: int) -> BoundaryDrawn:
        function = plane_function(live, self._program_lines(live), node)
        key: WantedChart = (node, "boundary")
        span = self._spans[key] = square_around(function.points, self._spans.get(key), MARGIN)
        plane = grid(span, function.points, side)
        parts = []
        for first in range(0, len(plane), ROWS):
            if self._stopped():
                raise CannotDraw("Stopped before it was drawn.")
            parts.append(function.values(live.namespace, plane[first : first + ROWS]))
        values = torch.cat(parts)
        scale = self._scale(node, values, function)
        targets = function.targets
        return BoundaryDrawn(
            node=node,
            step=live.step_count,
            side=side,
            levels=levels(values, scale).cpu().numpy().tobytes(),
            classes=scale.classes,
            span=span,
            points=function.points.to(device="cpu", dtype=torch.float32).contiguous().numpy().tobytes(),
            point_levels=target_levels(targets, scale).cpu().numpy().tobytes() if targets is not None else b"",
        )

    def _scale(self, node: ItemId, values: Tensor, function: PlaneFunction) -> Scale:
        """What colours mean stays what it was, as long as there are targets that say it."""
        found = scale_of(values, function.targets, function.are_logits)
        return self._scales.setdefault(node, found) if function.targets is not None else found


def _module_of(live: Live, lines: ProgramLines, node: ItemId) -> nn.Module | None:
    """The module that a node makes."""
    place = lines.place_of(node)
    item = lines.items[place] if place != NOWHERE else None
    names = item.statement.names if isinstance(item, Step) else ()
    made = live.namespace.get(names[0]) if names else None
    return made if isinstance(made, nn.Module) else None


def _last_value(live: Live, lines: ProgramLines, node: ItemId) -> object:
    """What a node made last.

    Raises:
        CannotDraw: its name stands for something else by now, or it is in a definition.
    """
    place = lines.place_of(node)
    if place == NOWHERE:
        raise CannotDraw(IN_GROUP)
    name = next(iter(names_of(lines.items[place])), "")
    if name and lines.last[name] != place:
        raise CannotDraw(BOUND_ANEW.format(name=name))
    return live.namespace.get(name)
