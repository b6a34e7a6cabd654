"""Films as GIF: frames of palette indices, of each only what changed. No Qt.

Blocks as in the GIF89a specification (CompuServe, 1990); compression by its appendix F (LZW of variable length).
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.uint8]
"""Rows and columns of palette indices."""
BITS: Final = 8
_CLEAR, _END, _MOST = 1 << BITS, (1 << BITS) + 1, 1 << 12
_LOOP: Final = b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"
_CENTISECONDS: Final = 10
"""Milliseconds in the format's unit of time."""


def gif_bytes(frames: Iterable[tuple[Indices, int]], palette: Sequence[tuple[int, int, int]]) -> bytes:
    """The film, which begins anew at its end.

    Args:
        frames: pictures of one size, and how long each is seen, in milliseconds.
        palette: at most 256 colours.
    """
    colors = b"".join(bytes(color) for color in palette).ljust(3 << BITS, b"\x00")
    parts, before = list[bytes](), None
    for picture, delay_ms in frames:
        if before is None:
            height, width = picture.shape
            parts += [b"GIF89a", struct.pack("<HHBBB", width, height, 0xF0 | (BITS - 1), 0, 0), colors, _LOOP]
        parts += _frame(picture, before, delay_ms)
        before = picture
    return b"".join([*parts, b";"])


def _frame(picture: Indices, before: Indices | None, delay_ms: int) -> Iterator[bytes]:
    top, left, part = _changed(picture, before)
    height, width = part.shape
    yield b"\x21\xf9\x04" + struct.pack("<BHBB", 1 << 2, delay_ms // _CENTISECONDS, 0, 0)
    yield b"," + struct.pack("<HHHHB", left, top, width, height, 0) + bytes([BITS])
    data = _compress(part.tobytes())
    for start in range(0, len(data), 255):
        block = data[start : start + 255]
        yield bytes([len(block)]) + block
    yield b"\x00"


def _changed(picture: Indices, before: Indices | None) -> tuple[int, int, Indices]:
    """The top, the left and the pixels of the smallest rectangle that holds all that is new."""
    if before is None:
        return 0, 0, picture
    rows, columns = np.nonzero(picture != before)
    if not len(rows):
        return 0, 0, picture[:1, :1]
    top, bottom, left, right = rows.min(), rows.max() + 1, columns.min(), columns.max() + 1
    return int(top), int(left), picture[top:bottom, left:right]


def _compress(data: bytes) -> bytes:
    """Codes of growing width, packed from the lowest bit on."""
    packed, held, count, width = bytearray(), _CLEAR, BITS + 1, BITS + 1
    table: dict[int, int] = {}
    following, prefix = _END + 1, data[0]
    for byte in data[1:]:
        key = prefix << BITS | byte
        code = table.get(key)
        if code is not None:
            prefix = code
            continue
        held |= prefix << count
        count += width
        if following < _MOST:
            table[key] = following
            width += following == 1 << width
            following += 1
        else:
            held |= _CLEAR << count
            count += width
            table.clear()
            following, width = _END + 1, BITS + 1
        prefix = byte
        while count >= 8:
            packed.append(held & 0xFF)
            held >>= 8
            count -= 8
    held |= prefix << count
    count += width
    held |= _END << count
    count += width
    packed += held.to_bytes((count + 7) // 8, "little")
    return bytes(packed)
