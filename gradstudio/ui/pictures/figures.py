"""The program of a subject as figures: one at the moment that is looked at, or one for each step of its record."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.scene.figure.drawing import Drawing
from gradstudio.scene.figure.figure_drawing import draw_figure
from gradstudio.scene.figure.figure_graph import FigureGraph
from gradstudio.scene.figure.figure_layout import lay_out
from gradstudio.scene.figure.figure_style import FigureStyle, figure_style
from gradstudio.scene.figure.formula_writer import FormulaWriter
from gradstudio.scene.figure.snapshot import EVERYTHING, Asked, Snapshot, take_snapshot
from gradstudio.ui.pictures.errors import PictureRefused
from gradstudio.ui.pictures.moments import caption, step_ticks
from gradstudio.ui.pictures.picture_request import PictureRequest, Subject
from gradstudio.ui.state.results.result_store import ResultStore

MOST_STEPS: Final = 2_000
"""A page or a film of more would not be looked through to its end."""


class Stepping(NamedTuple):
    """Every step of a record as drawings of one layout.

    Attributes:
        left_out: how many steps at the end are not among them.
    """

    drawings: tuple[Drawing, ...]
    captions: tuple[str, ...]
    left_out: int = 0


def style_of(request: PictureRequest) -> FigureStyle:
    """Paper, or its dark counterpart for slides."""
    return figure_style("night" if request.theme.dark else "paper")


def still_figure(subject: Subject, request: PictureRequest) -> Drawing:
    """The program at the moment at which its results stand."""
    figure, shown = FigureGraph(subject.graph, subject.only), request.shown
    asked = Asked(shown.values, shown.shapes, shown.gradients, shown.wire_gradients)
    snapshot = take_snapshot(figure, subject.results, asked)
    layout = lay_out(figure, [snapshot], _writer(subject), request.widest)
    return draw_figure(layout, snapshot, is_filled=request.is_filled)


def stepping_figures(subject: Subject, request: PictureRequest) -> Stepping:
    """The program at each step of its record, and last as it stands at the end.

    Raises:
        PictureRefused: nothing was recorded.
    """
    ticks = step_ticks(subject.results.timeline)
    if not ticks:
        raise PictureRefused("nothing was recorded: run the program first")
    figure, snapshots = FigureGraph(subject.graph, subject.only), list[Snapshot]()
    with _looking_around(subject.results):
        for tick in ticks[:MOST_STEPS]:
            subject.results.attention.look_at(tick)
            snapshots.append(take_snapshot(figure, subject.results, EVERYTHING, _caption(subject, figure, tick)))
    layout = lay_out(figure, snapshots, _writer(subject))
    drawings = tuple(draw_figure(layout, one, is_filled=request.is_filled) for one in snapshots)
    return Stepping(drawings, tuple(one.caption for one in snapshots), max(0, len(ticks) - MOST_STEPS))


def _caption(subject: Subject, figure: FigureGraph, tick: int) -> str:
    results = subject.results
    return caption(results.timeline, subject.graph, results.tables.names, tick, figure.homes)


def _writer(subject: Subject) -> FormulaWriter:
    """A writer that knows which values have dimensions, where they were recorded."""
    arrays = set[tuple[ItemId, int]]()
    for item in subject.graph.nodes:
        for place, record in enumerate(subject.results.outputs(item) or ()):
            if isinstance(record, TensorRecord) and record.summary.shape:
                arrays.add((item, place))
    return FormulaWriter(subject.graph, frozenset(arrays))


@contextmanager
def _looking_around(results: ResultStore) -> Iterator[None]:
    """Other moments may be looked at inside; nobody is told, and afterwards it is the one that it was."""
    attention = results.attention
    before, blocked = attention.moment, attention.blockSignals(True)
    try:
        yield
    finally:
        attention.look_at(before)
        attention.blockSignals(blocked)
