"""Titles over the cells: passes, backwards, turns of loops, as many as can be read. No Qt here."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gradstudio.ui.timeline.tick_arrays import Cells, Section, TickArrays, Turn
from gradstudio.ui.timeline.time_scale import Scale

READABLE_PX = 14.0
"""Turns narrower than this are drawn as one bracket."""
PITCH_PX = 26.0
"""Backwards closer together than this share a title."""


class Label(NamedTuple):
    """A title in pixels; the first of its wordings that has room is shown."""

    x: float
    width: float
    texts: tuple[str, ...]
    backward: bool = False


def section_labels(recording: TickArrays, cells: Cells, scale: Scale, width_px: float) -> Iterator[Label]:
    """The backwards and, when there are several, the passes in view; what is too dense becomes one title."""
    first, last = _ticks_in_view(cells, scale, width_px)
    begin = bisect_right(recording.sections, first, key=lambda section: section.end)
    end = bisect_left(recording.sections, last, key=lambda section: section.start)
    seen = recording.sections[begin:end]
    if recording.sections and recording.sections[-1].pass_number > 1:
        yield from _passes(seen, cells, scale, width_px)
    backwards = [section for section in seen if section.backward]
    if not backwards:
        return
    starts = np.fromiter((section.start for section in backwards), np.int32, len(backwards))
    pitches = np.diff(np.searchsorted(cells.starts, starts)) * scale.cell_px
    edges = (np.flatnonzero(pitches >= PITCH_PX) + 1).tolist()
    for place, stop in pairwise((0, *edges, len(backwards))):
        yield _backwards(backwards[place], backwards[stop - 1], cells, scale, width_px)


def _passes(seen: list[Section], cells: Cells, scale: Scale, width_px: float) -> Iterator[Label]:
    """One title over the first forward section of each pass."""
    shown, free = 0, 0.0
    for section in seen:
        if section.pass_number == shown or section.backward:
            continue
        shown = section.pass_number
        label = _clipped(cells, scale, width_px, section.start, section.end)
        if label.x >= free and label.width >= 3:
            free = label.x + max(label.width, PITCH_PX)
            yield label._replace(texts=(f"pass {section.pass_number}", str(section.pass_number)))


def _backwards(first: Section, last: Section, cells: Cells, scale: Scale, width_px: float) -> Label:
    label = _clipped(cells, scale, width_px, first.start, last.end)
    numbers = f"{first.backward:,}" if first is last else f"{first.backward:,}–{last.backward:,}"
    whole = first.title if first is last else f"backward {numbers}"
    return label._replace(texts=(whole, f"backward {numbers}", f"◂ {numbers}", numbers), backward=True)


def turn_labels(recording: TickArrays, cells: Cells, scale: Scale, width_px: float, depth: int) -> Iterator[Label]:
    """The turns in view at a depth of loops; those too narrow to be read as one bracket a loop."""
    turns = recording.turns[depth] if depth < len(recording.turns) else []
    first, last = _ticks_in_view(cells, scale, width_px)
    begin = bisect_right(turns, first, key=lambda turn: turn.end)
    end = bisect_left(turns, last, key=lambda turn: turn.start)
    place = begin
    while place < end:
        turn = turns[place]
        label = _clipped(cells, scale, width_px, turn.start, turn.end)
        if label.width >= READABLE_PX or not _goes_on(turns, place):
            yield label._replace(texts=(f"turn {turn.turn + 1}", str(turn.turn + 1)))
            place += 1
            continue
        stop = _end_of_loop(turns, place, end)
        low, high = sorted((turn.turn + 1, turns[stop - 1].turn + 1))
        merged = _clipped(cells, scale, width_px, turn.start, turns[stop - 1].end)
        kept, many = stop - place, f"turns {low:,}–{high:,}"
        left_out = (f"{many}, {kept:,} of them kept",) if kept <= high - low else ()
        yield merged._replace(texts=(*left_out, many, f"{low:,}–{high:,}", "…"))
        place = stop


def _goes_on(turns: list[Turn], place: int) -> bool:
    return place + 1 < len(turns) and _same_loop(turns[place], turns[place + 1])


def _end_of_loop(turns: list[Turn], place: int, end: int) -> int:
    """Behind the last turn of this way through the loop, within the view."""
    stop = place + 1
    while stop < end and _same_loop(turns[stop - 1], turns[stop]):
        stop += 1
    return stop


def _same_loop(one: Turn, other: Turn) -> bool:
    return one.loop == other.loop and one.way == other.way and other.start - one.end <= 1


def _ticks_in_view(cells: Cells, scale: Scale, width_px: float) -> tuple[int, int]:
    if not len(cells):
        return 0, 0
    first = min(max(int(scale.first), 0), len(cells) - 1)
    last = min(int(scale.cell(width_px)), len(cells) - 1)
    return int(cells.starts[first]), cells.last_tick(last) + 1


def _clipped(cells: Cells, scale: Scale, width_px: float, start: int, end: int) -> Label:
    left, right = cells.span(start, end)
    x0, x1 = max(scale.x(left), 0.0), min(scale.x(right), width_px)
    return Label(x0, max(x1 - x0, 0.0), ())
