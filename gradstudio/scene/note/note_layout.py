"""The words of a note laid out in its width: pieces with their places, in scene pixels. No Qt."""

import functools
from typing import Final

import msgspec

from gradstudio.scene.note.markdown import Line, Run, Style, parse
from gradstudio.scene.text_measure import TextMeasure

ROLES: Final[dict[Style, str]] = {
    "": "note", "bold": "note_bold", "italic": "note_italic", "bold_italic": "note_bold_italic",
    "code": "note_code", "link": "note", "head": "note_head", "head_2": "note_head_2",
}  # fmt: skip
NOTE_WIDTH: Final = 232.0
NOTE_LINE: Final = 19.0
NOTE_EDGE: Final = 9.0
NOTE_GAP: Final = 14.0
HEAD_LINE: Final = 25.0
BULLET_ROOM: Final = 11.0


class Piece(msgspec.Struct, frozen=True):
    """Words on one line, from the upper left corner of the text."""

    text: str
    style: Style
    x: float
    y: float
    width: float
    height: float
    url: str = ""


class NoteText(msgspec.Struct, frozen=True):
    """A whole note."""

    pieces: tuple[Piece, ...]
    height: float

    def link_at(self, x: float, y: float) -> str:
        """The address of the link there; "" for none."""
        return next(
            (p.url for p in self.pieces if p.url and p.x <= x <= p.x + p.width and p.y <= y <= p.y + p.height), ""
        )


@functools.lru_cache(maxsize=512)
def lay_out_note(meter: TextMeasure, text: str, width: float) -> NoteText:
    """The text as pieces no line of which is wider than `width`."""
    pieces: list[Piece] = []
    y = 0.0
    for line in parse(text):
        y = _lay(meter, line, width, y, pieces)
    return NoteText(tuple(pieces), y)


def _lay(meter: TextMeasure, line: Line, width: float, y: float, pieces: list[Piece]) -> float:
    """Add the pieces of a line from `y` on; where the next one begins."""
    height = HEAD_LINE if any(run.style == "head" for run in line.runs) else NOTE_LINE
    left = line.indent
    if line.bullet:
        own = meter.width(line.bullet, "note")
        pieces.append(Piece(line.bullet, "", max(0.0, left - BULLET_ROOM), y, own, height))
        left += max(0.0, own - BULLET_ROOM)
    x = left
    for run in line.runs:
        x, y = _lay_run(meter, run, (left, width, height), (x, y), pieces)
    return y + height


def _lay_run(
    meter: TextMeasure, run: Run, room: tuple[float, float, float], at: tuple[float, float], pieces: list[Piece]
) -> tuple[float, float]:
    """Words of one style, from a place on; where the next ones begin. `room`: left, width, height of a line."""
    (left, width, height), (x, y), role = room, at, ROLES[run.style]
    held = ""

    def put(text: str) -> None:
        if text.strip() or run.style == "code":
            pieces.append(Piece(text, run.style, x, y, meter.width(text, role), height, run.url))

    for word in _words(run.text):
        if x + meter.width(held + word, role) <= width or (not held and x == left):
            held += word
        else:
            put(held.rstrip(" "))
            held, x, y = word.lstrip(" "), left, y + height
        while meter.width(held, role) > width - x and len(held) > 1:
            cut = next((k for k in range(1, len(held)) if x + meter.width(held[: k + 1], role) > width), 1)
            put(held[:cut])
            held, x, y = held[cut:], left, y + height
    put(held)
    return x + meter.width(held, role), y


def _words(text: str) -> list[str]:
    """Words with the blank before them."""
    parts = text.split(" ")
    return [parts[0], *(f" {part}" for part in parts[1:])]
