"""How many values a message in msgpack holds, without making any of them: each takes memory beyond its bytes."""

from typing import Final

_TEXT: Final = {0xD9: 1, 0xDA: 2, 0xDB: 4}
_BYTES: Final = {0xC4: 1, 0xC5: 2, 0xC6: 4}
_EXTENSION: Final = {0xC7: 1, 0xC8: 2, 0xC9: 4}
_WIDE: Final = {0xCA: 5, 0xCB: 9, 0xCC: 2, 0xCD: 3, 0xCE: 5, 0xCF: 9, 0xD0: 2, 0xD1: 3, 0xD2: 5, 0xD3: 9}
_FIXED_EXTENSION: Final = {0xD4: 3, 0xD5: 4, 0xD6: 6, 0xD7: 10, 0xD8: 18}
_CONTAINER: Final = {0xDC: 3, 0xDD: 5, 0xDE: 3, 0xDF: 5}
_SHORT_TEXT: Final = {code: 1 + code - 0xA0 for code in range(0xA0, 0xC0)}
_STEPS: Final = [{**_WIDE, **_FIXED_EXTENSION, **_CONTAINER, **_SHORT_TEXT}.get(code, 1) for code in range(256)]
"""Bytes of a value by its first one; of a container those before its first value."""
_LENGTHS: Final = {**_TEXT, **_BYTES, **_EXTENSION}
"""Where the length stands behind the first byte: in so many."""


def has_more_parts(body: bytes, most: int) -> bool:
    """Whether there are more than `most` values and containers; looked at no further than that."""
    at, end, parts = 0, len(body), 0
    while at < end:
        parts += 1
        if parts > most:
            return True
        code = body[at]
        width = _LENGTHS.get(code)
        if width is None:
            at += _STEPS[code]
        else:
            begin = at + 1 + (code in _EXTENSION)
            at = begin + width + int.from_bytes(body[at + 1 : at + 1 + width], "big")
    return False
