"""Curves as a file of events that TensorBoard reads: scalars by tag, step and wall time.

A file is a row of records, each framed by its length and two checksums (TFRecord); a record is a protocol buffer
`Event`. Records of one length are made together, so that a million points take no longer than reading them.
"""

import struct
from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

_CASTAGNOLI: Final = 0x82F63B78
_MASK: Final = 0xA282EAD8
_VERSION: Final = b"brain.Event:2"
Bytes = NDArray[np.uint8]


class Scalars(NamedTuple):
    """One curve.

    Attributes:
        steps: whole numbers from 0, rising.
        values: as many.
    """

    tag: str
    steps: NDArray[np.float64]
    values: NDArray[np.float64]


def event_file(curves: Iterable[Scalars], wall_s: float) -> bytes:
    """The bytes of a file with these curves, all written at one time (seconds since 1970)."""
    first = _field(1, struct.pack("<d", wall_s), kind=1) + _field(3, _VERSION)
    parts = [_framed(np.frombuffer(first, np.uint8)[None])]
    parts += [part for curve in curves for part in _records(curve, wall_s)]
    return b"".join(parts)


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
