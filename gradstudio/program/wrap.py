"""Wrap: a logical line broken into lines of at most 88 characters, as `ruff format` breaks it."""

import msgspec

WIDTH = 88


class Wrapped(msgspec.Struct, frozen=True):
    """Lines of text, and where each piece of the logical line went.

    Attributes:
        pieces: (offset in the logical line, length, line, column), ascending.
    """

    lines: tuple[str, ...]
    pieces: tuple[tuple[int, int, int, int], ...]


def wrap(text: str, indent: int) -> Wrapped:
    """The lines of one logical line that stands `indent` characters deep."""
    return Wrapped((" " * indent + text,), ((0, len(text), 0, indent),))
