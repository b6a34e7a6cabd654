"""Files of events, read back record by record as TensorBoard reads them."""

import math
import struct
from collections.abc import Iterator

import numpy as np
import pytest

from gradstudio.document.event_files import Scalars, event_file


def crc32c(data: bytes) -> int:
    """Bit by bit, as the standard says it (RFC 3720)."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data: bytes) -> int:
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data: bytes) -> Iterator[bytes]:
    place = 0
    while place < len(data):
        length, checked = struct.unpack_from("<QI", data, place)
        assert checked == masked(data[place : place + 8])
        record = data[place + 12 : place + 12 + length]
        (checked,) = struct.unpack_from("<I", data, place + 12 + length)
        assert checked == masked(record)
        place += 16 + length
        yield record


def fields(data: bytes) -> dict[int, object]:
    """The fields of a protocol buffer, each once."""
    found: dict[int, object] = {}
    place = 0
    while place < len(data):
        key, place = varint(data, place)
        match key & 7:
            case 0:
                found[key >> 3], place = varint(data, place)
            case 1:
                (found[key >> 3],), place = struct.unpack_from("<d", data, place), place + 8
            case 2:
                size, place = varint(data, place)
                found[key >> 3], place = data[place : place + size], place + size
            case 5:
                (found[key >> 3],), place = struct.unpack_from("<f", data, place), place + 4
    return found


def varint(data: bytes, place: int) -> tuple[int, int]:
    number, shift = 0, 0
    while True:
        byte = data[place]
        number, shift, place = number | (byte & 0x7F) << shift, shift + 7, place + 1
        if byte < 0x80:
            return number, place


def scalars(data: bytes) -> Iterator[tuple[str, int, float]]:
    first, *rest = records(data)
    assert fields(first)[3] == b"brain.Event:2"
    for record in rest:
        event = fields(record)
        assert event[1] == 1.5
        value = fields(fields(event[5])[1])  # type: ignore[arg-type]  # bytes
        tag, step, number = value[1], event.get(2, 0), value[2]
        assert isinstance(tag, bytes) and isinstance(step, int) and isinstance(number, float)
        yield tag.decode(), step, number


def test_the_checksum_is_the_one_of_the_standard() -> None:
    assert crc32c(b"123456789") == 0xE3069283


def test_every_point_of_every_curve_is_in_the_file() -> None:
    steps = np.array([0.0, 1, 127, 128, 16_383, 16_384, 2_000_000, 3_000_000_000])
    values = np.array([1.0, -2.5, np.nan, np.inf, -np.inf, 0.0, 1e-9, 3.25])
    curves = [Scalars("loss", steps, values), Scalars("norm of \u03b8.grad", steps[:2], values[:2])]
    found = list(scalars(event_file(curves, 1.5)))
    expected = [
        (one.tag, int(s), float(np.float32(v))) for one in curves for s, v in zip(one.steps, one.values, strict=True)
    ]
    assert [one[:2] for one in found] == [one[:2] for one in expected]
    for (*_, got), (*_, wanted) in zip(found, expected, strict=True):
        assert got == wanted or (math.isnan(got) and math.isnan(wanted))


@pytest.mark.parametrize("count", [0, 1])
def test_a_short_curve(count: int) -> None:
    found = list(scalars(event_file([Scalars("loss", np.arange(float(count)), np.ones(count))], 1.5)))
    assert found == [("loss", 0, 1.0)][:count]
