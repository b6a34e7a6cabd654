"""What a training script prints, and its metrics, in one stream of text: metrics stand between marks of ours.

The stream may come from a host: nothing is kept beyond a bound, and what is no metric is text.
"""

import base64
import re
from collections.abc import Iterator
from typing import Final

import msgspec

PART_MARK: Final = b"\x1fgradstudio part "
PART_BYTES: Final = 30_000
MARK_END: Final = b"\x1e"
MOST_LINE: Final = 1 << 16
"""Bytes; a longer line is cut into pieces."""
_MARKED: Final = re.compile(rb"\x1fgradstudio (metrics|part) ([^\x1e]*)\x1e")
_PART: Final = re.compile(rb"([A-Za-z0-9_][A-Za-z0-9_. -]{0,99}\.safetensors) ([0-9]{1,12}) ([A-Za-z0-9+/]+={0,2})")
Metrics = dict[str, float | None]


class TrainLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line that a training says.

    Attributes:
        place: on which host; "": here.
        text: what was printed.
        metrics: of one turn, `step` among them; a number that JSON has not is None.
    """

    place: str = ""
    text: str = ""
    metrics: Metrics = {}


class FilePart(msgspec.Struct, frozen=True):
    """A part of a file that comes back from a host, in order; `size` of the whole, in bytes."""

    place: str
    name: str
    size: int
    data: bytes


class LineReader:
    """Takes bytes as they come, and gives lines, metrics and parts of files that are complete."""

    def __init__(self, place: str = "") -> None:
        """Nothing has come."""
        self._place, self._bytes = place, bytearray()

    def feed(self, data: bytes) -> Iterator[TrainLine | FilePart]:
        """What is completed by `data`."""
        self._bytes += data
        while (end := self._end()) >= 0:
            line = bytes(self._bytes[:end])
            del self._bytes[: end + 1]
            yield from self._lines(line)

    def rest(self) -> Iterator[TrainLine | FilePart]:
        """The last line, where none ends it."""
        line = bytes(self._bytes)
        self._bytes.clear()
        if line:
            yield from self._lines(line)

    def _end(self) -> int:
        end = self._bytes.find(b"\n")
        return MOST_LINE if end < 0 and len(self._bytes) > MOST_LINE else end

    def _lines(self, line: bytes) -> Iterator[TrainLine | FilePart]:
        for found in _MARKED.finditer(line):
            if found.group(1) == b"part":
                yield from _part(self._place, found.group(2))
            elif (metrics := read_metrics(found.group(2))) is not None:
                yield TrainLine(self._place, metrics=metrics)
        if text := _MARKED.sub(b"", line).decode("utf-8", "replace").rstrip():
            yield TrainLine(self._place, text)


def _part(place: str, words: bytes) -> Iterator[FilePart]:
    found = _PART.fullmatch(words)
    if found is not None:
        name, size, data = found.groups()
        yield FilePart(place, name.decode(), int(size), base64.b64decode(data))


def read_metrics(line: bytes) -> Metrics | None:
    """A line of metrics as the exported script writes it; None where it is none. NaN and infinity are None."""
    for name in (b"-Infinity", b"Infinity", b"NaN"):
        line = line.replace(name, b"null")
    try:
        return msgspec.json.decode(line, type=Metrics)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None
