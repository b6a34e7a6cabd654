"""The text of a table: encoding, separator, decimal sign and header are guessed, and rows are cut into cells."""

import csv
import io
import re
import stat
import zlib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import msgspec

from gradstudio.document.atomic_write import system_refusal
from gradstudio.document.data.model import Progress, Work
from gradstudio.document.errors import BadData

LARGEST_TABLE = 50_000_000
"""Bytes of a table's file."""
MOST_CELLS = 2_000_000
"""They are in memory as texts while the dialog is open, some 60 bytes each."""
MOST_COLUMNS = 4_096
FEWER_ROWS = "Save it with numpy as .npy, or keep fewer rows"
GZIP_MARK, GZIP_FRAME = b"\x1f\x8b", 31
"""What such a file begins with, and how `zlib` calls its frame."""
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space"}
SAMPLE_LINES = 60
SLICE_LINES = 16
_COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?(?:inf|nan)", re.IGNORECASE)
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


class TextLayout(msgspec.Struct, frozen=True):
    """How the text of a table is read."""

    separator: str
    decimal: str = "."
    has_header: bool = True


class Cells(NamedTuple):
    """A table as texts: the names of its columns, its rows, and the line of the file in which each row stands."""

    header: tuple[str, ...]
    rows: list[list[str]]
    lines: list[int]


def read_text(path: Path) -> tuple[str, str]:
    """The text of a file and its encoding.

    Raises:
        BadData: it cannot be read, is too large, or is no text.
    """
    data = bytes_of(path, LARGEST_TABLE, FEWER_ROWS)
    if data.startswith(GZIP_MARK):
        data = _unpacked(data, path.name)
    encoding = next((word for mark, word in _MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeError:
        encoding = "cp1252"
        text = data.decode(encoding, errors="replace")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise BadData(f"'{path.name}' is no text: line {line} has a zero byte. Save it in UTF-8.")
    return text, encoding


def _unpacked(data: bytes, name: str) -> bytes:
    """What is packed in a file of gzip, however small that is itself: no more than a table may have.

    Raises:
        BadData: it is larger, or damaged.
    """
    parts: list[bytes] = []
    room = LARGEST_TABLE
    try:
        while data:
            packed = zlib.decompressobj(GZIP_FRAME)
            parts.append(packed.decompress(data, room + 1))
            room -= len(parts[-1])
            if room < 0:
                words = f"'{name}' holds more than {LARGEST_TABLE // 10**6} MB when it is unpacked. {FEWER_ROWS}."
                raise BadData(words)
            if not packed.eof:
                raise BadData(f"'{name}' ends in the middle of what is packed in it. Copy or load it once more.")
            data = packed.unused_data.lstrip(b"\0")
    except zlib.error as error:
        raise BadData(f"'{name}' cannot be unpacked: {error}.") from error
    return b"".join(parts)


def bytes_of(path: Path, largest: int, advice: str) -> bytes:
    """What an ordinary file holds.

    Raises:
        BadData: it is not there, may not be read, is a folder or a device, is empty, or is larger than `largest` bytes.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise BadData(f"'{path.name}' is not an ordinary file.")
        if status.st_size > largest:
            raise BadData(
                f"'{path.name}' has {status.st_size / 1e6:,.0f} MB, more than {largest // 10**6} MB. {advice}."
            )
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise BadData(f"There is no file '{path.name}'.") from error
    except (OSError, ValueError) as error:
        reason = system_refusal(error, path) if isinstance(error, OSError) else str(error)
        raise BadData(f"'{path.name}' cannot be read: {reason}.") from error
    if not data.strip():
        raise BadData(f"'{path.name}' is empty.")
    return data


def guess_layout(text: str) -> TextLayout:
    """The separator under which most lines have the same number of cells, and what goes with it."""
    sample = "\n".join(_first_lines(text))
    separator = max(SEPARATORS, key=lambda one: _regularity(sample, one))
    rows = [row for row in _parse(sample, separator) if any(cell.strip() for cell in row)]
    decimal = "," if separator != "," and _has_comma_numbers(rows) else "."
    return TextLayout(separator, decimal, _has_header(rows, decimal))


def is_table(path: Path) -> bool:
    """Whether a file that may be any text is a table: several lines of as many cells, with numbers in each.

    Raises:
        BadData: it cannot be read.
    """
    text, _ = read_text(path)
    layout = guess_layout(text)
    rows = _parse("\n".join(_first_lines(text)), layout.separator)
    below = rows[layout.has_header :]
    if not below or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        return False
    return all(any(number_in(cell, layout.decimal) is not None for cell in row) for row in below)


def cut(text: str, layout: TextLayout, name: str, most: int = MOST_CELLS) -> Work[Cells]:
    """The cells of a table, or of its first rows, `most` and the header.

    Raises:
        BadData: a line has another number of cells, a quote is left open, or there is too much.
    """
    rows: list[list[str]] = []
    lines: list[int] = []
    width = 0
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=layout.separator, skipinitialspace=True, strict=True)
    line, total = 1, text.count("\n") + 1
    try:
        for row in reader:
            if len(rows) > most:
                break
            if reader.line_num % SLICE_LINES == 0:
                yield Progress("lines", reader.line_num, total)
            if "".join(row).strip():
                width = width or _checked_width(row, name)
                _check_row(row, width, line, layout, name)
                rows.append(row)
                lines.append(line)
                if len(rows) * width > MOST_CELLS:
                    raise BadData(
                        f"'{name}' has more than {MOST_CELLS:,} cells, counted up to line {line}. "
                        "Save it with numpy as .npy, or keep fewer rows."
                    )
            line = reader.line_num + 1
    except csv.Error as error:
        raise BadData(f"'{name}', line {line}: {error}. Mend the quotes there, or choose another separator.") from error
    if layout.has_header and rows:
        return Cells(_names(rows[0]), rows[1:], lines[1:])
    return Cells(tuple(f"column {k}" for k in range(1, width + 1)), rows, lines)


def number_in(cell: str, decimal: str) -> float | None:
    """The number that a cell holds; None: it holds something else."""
    text = cell.strip()
    if decimal == ",":
        text = text.replace(".", "x").replace(",", ".", 1)
    return float(text) if _NUMBER.fullmatch(text) and text.isascii() else None


def _checked_width(row: list[str], name: str) -> int:
    if len(row) > MOST_COLUMNS:
        raise BadData(
            f"'{name}' has {len(row):,} columns, more than {MOST_COLUMNS:,}. Save the numbers with numpy as .npy."
        )
    return len(row)


def _check_row(row: list[str], width: int, line: int, layout: TextLayout, name: str) -> None:
    if len(row) == width + 1 and not row[-1].strip():
        del row[-1]  # a separator at the end of the line
    if len(row) != width:
        has = f"{len(row)} cell{'' if len(row) == 1 else 's'}"
        raise BadData(
            f"'{name}', line {line} has {has} where the first line has {width}. Mend that line, or choose another "
            f"separator than the {SEPARATORS.get(layout.separator, layout.separator)}."
        )


def _names(row: list[str]) -> tuple[str, ...]:
    """Names of columns: none is empty, none stands twice."""
    names: list[str] = []
    taken = {cell.strip() for cell in row}
    for number, cell in enumerate(row, start=1):
        name = " ".join(cell.split()) or f"column {number}"
        if name in names:
            count = 2
            while f"{name} ({count})" in names or f"{name} ({count})" in taken:
                count += 1
            name = f"{name} ({count})"
        names.append(name)
    return tuple(names)


def _first_lines(text: str) -> list[str]:
    lines = text[:200_000].splitlines()[: SAMPLE_LINES + 1]
    return [line for line in lines if line.strip()][:SAMPLE_LINES]


def _parse(sample: str, separator: str) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(sample, newline=""), delimiter=separator, skipinitialspace=True))
    except csv.Error:
        return []


def _regularity(sample: str, separator: str) -> tuple[float, bool, int]:
    """How many rows have the commonest number of cells, if that is more than one; whether the first one does; how many.

    The first row tells the separator of “a;b” above “0,5;1,5” from its decimal sign.
    """
    rows = _parse(sample, separator)
    if not rows:
        return 0.0, False, 0
    widths = Counter(map(len, rows))
    width, count = max(widths.items(), key=lambda one: (one[1], one[0]))
    if width < 2:
        return 0.0, False, 0
    rank = -list(SEPARATORS).index(separator) if separator == " " else width
    return round(count / len(rows), 1), len(rows[0]) == width, rank


def _has_comma_numbers(rows: list[list[str]]) -> bool:
    return any(_COMMA_NUMBER.fullmatch(cell.strip()) for row in rows for cell in row)


def _has_header(rows: list[list[str]], decimal: str) -> bool:
    """Whether the first row names columns: no number stands in it, and numbers, other words, or nothing stand below."""
    if not rows:
        return False
    first, below = rows[0], rows[1:]
    if any(number_in(cell, decimal) is not None for cell in first):
        return False
    if not below:
        return True
    if any(number_in(cell, decimal) is not None for row in below for cell in row):
        return True
    words = {cell.strip() for row in below for cell in row}
    return len(set(first)) == len(first) and words.isdisjoint(cell.strip() for cell in first)
