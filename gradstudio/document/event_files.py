"""Curves as a file of events that TensorBoard reads: scalars by tag, step and wall time.

A file is a row of records, each framed by its length and two checksums (TFRecord); a record is a protocol buffer
`Event`. Records of one length are made together, so that a million points take no longer than reading them.
"""

import struct
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

_CASTAGNOLI: Final = 0x82F63B78
_MASK: Final = 0xA282EAD8
_VERSION: Final = b"brain.Event:2"
_HEAD: Final = 12
"""Bytes of a frame before its record; `_AROUND` of all of a frame but its record."""
_AROUND: Final = 16
_TIME: Final = 9
"""Bytes of a record that say when it was written."""
FEW: Final = 256
"""So many records are looked at first, and twice as many each time that all are alike."""
Bytes = NDArray[np.uint8]
Points = tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]]
"""Steps and values of a curve."""


class Scalars(NamedTuple):
    """One curve.

    Attributes:
        steps: whole numbers from 0, rising.
        values: as many.
    """

    tag: str
    steps: NDArray[np.floating[Any]]
    values: NDArray[np.floating[Any]]


def event_file(curves: Iterable[Scalars], wall_s: float) -> bytes:
    """The bytes of a file with these curves, all written at one time (seconds since 1970)."""
    return event_head(wall_s) + event_records(curves, wall_s)


def event_head(wall_s: float) -> bytes:
    """What a file begins with."""
    first = _field(1, struct.pack("<d", wall_s), kind=1) + _field(3, _VERSION)
    return _framed(np.frombuffer(first, np.uint8)[None])


def event_records(curves: Iterable[Scalars], wall_s: float) -> bytes:
    """What is put behind a file for these points; a file that ends in the middle of a record is read up to it."""
    return b"".join(part for curve in curves for part in _records(curve, wall_s))


def read_events(data: bytes) -> dict[str, Points]:
    """The curves of such a file, by tag: steps and values. What is no whole record ends it.

    Records that differ in step, time and value alone are read together.
    """
    found: dict[str, list[Points]] = {}
    whole = np.frombuffer(data, np.uint8)
    place = 0
    most = FEW
    while place + _AROUND <= len(whole):
        size = int.from_bytes(data[place : place + 8], "little")
        stride = size + _AROUND
        if place + stride > len(whole):
            break
        event = _event(data[place + _HEAD : place + _HEAD + size])
        if event is None:
            place += stride
            continue
        count = min((len(whole) - place) // stride, most)
        rows = whole[place : place + count * stride].reshape(count, stride)
        alike = _like_the_first(rows, event)
        most = 2 * most if alike == most else FEW
        place += alike * stride
        found.setdefault(event.tag, []).append(_points(rows[:alike], event))
    return {
        tag: (np.concatenate([steps for steps, _ in parts]), np.concatenate([values for _, values in parts]))
        for tag, parts in found.items()
    }


class _Event(NamedTuple):
    """Where in a record the step and the value of a curve are, from the first byte of its frame."""

    tag: str
    step: slice
    value: slice


def _event(record: bytes) -> _Event | None:
    """What a record of `_records` looks like; None of another."""
    if record[:1] != b"\x09" or record[_TIME : _TIME + 1] != b"\x10":
        return None
    end = _TIME + 1
    while end < len(record) and record[end] & 0x80:
        end += 1
    step, at = slice(_HEAD + _TIME + 1, _HEAD + end + 1), end + 1
    try:
        for kind in (0x2A, 0x0A, 0x0A):  # of the event its summary, of that the value, of that the tag
            if record[at] != kind:
                return None
            length, at = _read_varint(record, at + 1)
        tag = record[at : at + length].decode()
        at += length
        is_number = record[at] == 0x15 and at + 5 == len(record)
    except (IndexError, UnicodeDecodeError):
        return None
    return _Event(tag, step, slice(_HEAD + at + 1, _HEAD + at + 5)) if is_number else None


def _read_varint(record: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = record[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return number, at


def _like_the_first(rows: Bytes, event: _Event) -> int:
    """How many rows, from the first, are records of the same curve with as long a step."""
    fixed = np.ones(rows.shape[1], bool)
    fixed[8:_HEAD] = fixed[-4:] = False
    fixed[_HEAD + 1 : _HEAD + _TIME] = False
    fixed[event.step] = fixed[event.value] = False
    same = (rows[:, fixed] == rows[0, fixed]).all(1)
    high = rows[:, event.step] & 0x80
    same &= (high == high[0]).all(1)
    return len(rows) if same.all() else int(same.argmin())


def _points(rows: Bytes, event: _Event) -> Points:
    digits = (rows[:, event.step] & 0x7F).astype(np.float64)
    steps = digits @ (128.0 ** np.arange(digits.shape[1]))
    values = np.ascontiguousarray(rows[:, event.value]).view("<f4")[:, 0].astype(np.float64)
    return steps, values


def _records(curve: Scalars, wall_s: float) -> Iterable[bytes]:
    """The records of a curve; steps that take as many bytes stand together."""
    steps = curve.steps.astype(np.uint64)
    sizes = np.maximum((np.floor(np.log2(np.maximum(steps, 1).astype(np.float64))).astype(np.int64) // 7) + 1, 1)
    tag = _field(1, curve.tag.encode())
    for size in np.unique(sizes):
        chosen = sizes == size
        count = int(chosen.sum())
        digits = (steps[chosen, None] >> np.arange(0, 7 * size, 7, dtype=np.uint64)) & np.uint64(0x7F)
        step = digits.astype(np.uint8)
        step[:, :-1] |= 0x80
        number = curve.values[chosen].astype("<f4").view(np.uint8).reshape(count, 4)
        value = _repeated(tag + b"\x15", count, number)  # field 2 of a value: four bytes
        summary = _repeated(b"\x0a" + _varint(value.shape[1]), count, value)
        head = _field(1, struct.pack("<d", wall_s), kind=1) + b"\x10"
        told = _repeated(b"\x2a" + _varint(summary.shape[1]), count, summary)
        yield _framed(np.hstack((_repeated(head, count, step), told)))


def _repeated(head: bytes, count: int, rest: Bytes) -> Bytes:
    """The same bytes before each row."""
    return np.hstack((np.broadcast_to(np.frombuffer(head, np.uint8), (count, len(head))), rest))


def _field(number: int, data: bytes, kind: int = 2) -> bytes:
    """A field of a protocol buffer: of bytes with their length (2), or eight bytes (1)."""
    return _varint(number << 3 | kind) + (_varint(len(data)) if kind == 2 else b"") + data


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*found, number])


def _framed(records: Bytes) -> bytes:
    """Rows of bytes as records."""
    count, size = records.shape
    length = np.broadcast_to(np.frombuffer(struct.pack("<Q", size), np.uint8), (count, 8))
    return np.hstack((length, _checksums(length), records, _checksums(records))).tobytes()


def _checksums(rows: Bytes) -> Bytes:
    """The masked CRC-32C of each row, little-endian."""
    table = _table()
    crc: NDArray[np.uint32] = np.full(len(rows), 0xFFFFFFFF, np.uint32)
    for column in rows.T:
        crc = table[(crc ^ column.astype(np.uint32)) & np.uint32(0xFF)] ^ (crc >> np.uint32(8))
    crc ^= np.uint32(0xFFFFFFFF)
    return (((crc >> 15) | (crc << 17)) + np.uint32(_MASK)).astype("<u4").view(np.uint8).reshape(-1, 4)


def _table() -> NDArray[np.uint32]:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = (table >> np.uint32(1)) ^ (table & np.uint32(1)) * np.uint32(_CASTAGNOLI)
    return table
