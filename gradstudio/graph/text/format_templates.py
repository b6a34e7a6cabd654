"""Templates: the fixed part of a text with values in it, ``loss {:.4f} at {}``."""

import ast
import re
from functools import lru_cache

import msgspec

from gradstudio.graph.errors import Refused


class Piece(msgspec.Struct, frozen=True):
    """Fixed text, and the hole behind it.

    Attributes:
        hole: what stands in the hole behind the value, ``:.4f`` or ``!r``; None when no hole follows.
    """

    text: str
    hole: str | None


CONVERSIONS = ("r", "s", "a")
LARGEST_WIDTH = 10_000
"""Characters, and digits, that a format may ask for."""
NO_REACH = "A format reads no attributes and no items: give it their values."
_REACHES = re.compile(r"\{[^{}!:]*[.\[]")
TOO_WIDE = f"A format asks for at most {LARGEST_WIDTH:,} characters or digits."


def is_wide(spec: str) -> bool:
    """Whether a format asks for more than a text should have: ``>1000000000.3f``."""
    return any(len(number) > 9 or int(number) > LARGEST_WIDTH for number in re.findall(r"[0-9]+", spec))


def reaches(function: ast.expr) -> bool:
    """Whether it is `"…".format` of a text that reads attributes or items: ``{0.shape}``, ``{0[a]}``."""
    match function:
        case ast.Attribute(value=ast.Constant(value=str() as text), attr="format" | "format_map"):
            return _REACHES.search(text) is not None
    return False


@lru_cache(maxsize=1024)
def pieces(literal: str) -> tuple[Piece, ...]:
    """The pieces of a template that is written as a Python text.

    Raises:
        Refused: it is no text, or a hole holds more than a format.
    """
    from string import Formatter

    try:
        text = ast.literal_eval(literal)
        parsed = list(Formatter().parse(text)) if isinstance(text, str) else None
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        parsed = None
    if parsed is None:
        raise Refused('A text with holes is meant, such as "loss {:.4f}".')
    found = []
    for fixed, name, spec, conversion in parsed:
        if name:
            raise Refused(f"A hole is empty but for its format, such as {{}} or {{:.4f}}; here it holds '{name[:40]}'.")
        if spec and any(mark in spec for mark in "{}\"'\\"):
            raise Refused("The format of a hole is plain, such as {:.4f}.")
        if conversion not in (None, "", *CONVERSIONS):
            raise Refused(f"A hole converts its value by !r, !s or !a; here stands '!{conversion[:10]}'.")
        if spec and is_wide(spec):
            raise Refused(TOO_WIDE)
        hole = None  # behind the last hole there is a fixed text alone
        if name is not None:
            hole = f"!{conversion}" if conversion else ""
            hole += f":{spec}" if spec else ""
        found.append(Piece(fixed, hole))
    return tuple(found)


def count(literal: str) -> int:
    """How many holes a template has.

    Raises:
        Refused: it is none.
    """
    return sum(piece.hole is not None for piece in pieces(literal))


def template_of(parts: tuple[Piece, ...]) -> str:
    """The text of a template, from its pieces."""
    fixed = (piece.text.replace("{", "{{").replace("}", "}}") for piece in parts)
    holes = ("" if piece.hole is None else f"{{{piece.hole}}}" for piece in parts)
    return "".join(text + hole for text, hole in zip(fixed, holes, strict=True))
