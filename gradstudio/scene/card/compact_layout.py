"""Cards that show less: only their header with stubs of the wired ports, or no inputs that nothing feeds. No Qt."""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from gradstudio.scene.card.card_layout import HEADER, CardLayout, InputRow, OutputRow, place_rows
from gradstudio.scene.card.display_flags import PLAIN, DisplayFlags

STUB_GAP: Final = 9.0
"""Scene pixels between the stubs of a header; less where there are many."""
STUB_ROOM: Final = 20.0


def compact(
    layout: CardLayout, flags: DisplayFlags, measure: Callable[[str, str], float], *, expanded: bool = False
) -> CardLayout:
    """The layout as the flags say; `expanded`: a person wants to see all of its inputs for now."""
    if flags == PLAIN:
        return layout
    layout = replace(layout, display_flags=flags)
    if flags.tucked:
        layout = _tucked(layout, measure, expanded=expanded)
    return _collapsed(layout) if flags.collapsed else layout


def is_used(row: InputRow) -> bool:
    """Whether a row stays on a card that hides unused ports: a wire feeds it, or nothing runs without it."""
    return row.state == "wired" or (row.required and row.state == "empty")


def _tucked(layout: CardLayout, measure: Callable[[str, str], float], *, expanded: bool) -> CardLayout:
    rows = tuple(row for row in layout.inputs if is_used(row))
    more = len(layout.inputs) - len(rows)
    if not more:
        return layout
    if expanded:
        return place_rows(replace(layout, outputs=layout.results, expanded=True), measure)
    return place_rows(replace(layout, inputs=rows, outputs=layout.results, hidden=layout.hidden + more), measure)


def _collapsed(layout: CardLayout) -> CardLayout:
    """Stubs of the wired inputs and of all results, at the ends of the header."""
    wired = [row for row in layout.inputs if row.state == "wired"]
    inputs = tuple(replace(row, x=0.0, y=y, field=None) for row, y in zip(wired, _heights(wired), strict=True))
    outputs = tuple(
        replace(row, x=layout.width, y=y) for row, y in zip(layout.outputs, _heights(layout.outputs), strict=True)
    )
    return replace(layout, inputs=inputs, outputs=outputs, height=HEADER, more=None, captions=(), code=())


def _heights(rows: Sequence[InputRow] | Sequence[OutputRow]) -> list[float]:
    """Evenly about the middle of the header."""
    gap = min(STUB_GAP, STUB_ROOM / (len(rows) - 1)) if len(rows) > 1 else 0.0
    return [HEADER / 2 + (k - (len(rows) - 1) / 2) * gap for k in range(len(rows))]
