"""Whether what is painted can be read and seen: contrast as WCAG 2.2 counts it, of the roles as they are painted."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from PySide6.QtGui import QColor

from gradstudio.ui.theme.model import Theme

TEXT: Final = 4.5
MARK: Final = 3.0
TEXTS: Final = ("text", "text_dim", "danger", "warning", "ok", "info", "accent")
GROUNDS: Final = ("window", "surface", "surface_raised", "field", "canvas", "card", "card_well")
PAIRS: Final = (
    ("selection_text", "selection"),
    ("accent_text", "accent"),
    ("text", "accent_soft"),
    ("note_text", "note"),
    ("unknown_value", "card"),
    ("unknown_value", "card_well"),
    ("text", "past"),
    ("text_dim", "past"),
)
"""Text and the ground it stands on, beside `TEXTS` on `GROUNDS`."""
MARKS: Final = (
    *((mark, ground) for mark in ("focus", "accent") for ground in GROUNDS),
    ("block_edge", "canvas"),
    ("forward", "surface"),
    ("backward", "surface"),
    ("heat_negative", "card_well"),
    ("heat_positive", "card_well"),
)
"""Lines and marks that mean something, and their grounds."""
MARKED_LINES: Final = ("running", "failing", "selected")
EDGES: Final = (("line", "surface"), ("line", "field"), ("card_edge", "canvas"))
"""Edges that a theme for eyes that need it draws, too."""


class PoorContrast(NamedTuple):
    """A pair that is too alike."""

    ink: str
    ground: str
    ratio: float
    least: float

    @property
    def words(self) -> str:
        """The pair in a sentence."""
        return f"{self.ink} on {self.ground} has a contrast of {self.ratio:.1f}; it takes {self.least:g}"


def contrast(one: QColor, other: QColor) -> float:
    """The ratio of two luminances, 1 to 21 (WCAG 2.2); the first is laid over the second where it is see-through."""
    low, high = sorted((_luminance(_over(one, other)), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def poor_pairs(theme: Theme) -> tuple[PoorContrast, ...]:
    """Everything of a theme that cannot be read or seen well enough."""
    found = (PoorContrast(ink, ground, contrast(one, other), least) for ink, one, ground, other, least in _all(theme))
    return tuple(pair for pair in found if pair.ratio < pair.least)


def _all(theme: Theme) -> Iterator[tuple[str, QColor, str, QColor, float]]:
    texts = [(text, ground) for text in TEXTS for ground in GROUNDS]
    for ink, ground in (*texts, *PAIRS):
        yield ink, theme.color(ink), ground, theme.color(ground), TEXT
    for ink, ground in (*MARKS, *(EDGES if theme.name == "high_contrast" else ())):
        yield ink, theme.color(ink), ground, theme.color(ground), MARK
    for family, value in theme.families.items():
        for ground in ("canvas", "card"):
            yield f"families.{family}", QColor(value), ground, theme.color(ground), TEXT
    for name, hue in theme.hues.items():
        yield "header_text", theme.color("header_text"), f"hues.{name}.header", QColor(hue.header), TEXT
        yield f"hues.{name}.mark", QColor(hue.mark), "surface", theme.color("surface"), TEXT
    for number, value in enumerate(theme.plot):
        yield f"plot.{number}", QColor(value), "surface", theme.color("surface"), MARK
    yield from _code(theme)


def _code(theme: Theme) -> Iterator[tuple[str, QColor, str, QColor, float]]:
    grounds = {name: theme.color(name) for name in ("field", "surface")}
    grounds |= {f"syntax.{name}": QColor(getattr(theme.syntax, name)) for name in MARKED_LINES}
    for name in theme.syntax.__struct_fields__:
        if name not in MARKED_LINES:
            for ground, color in grounds.items():
                yield f"syntax.{name}", QColor(getattr(theme.syntax, name)), ground, color, TEXT


def _over(one: QColor, other: QColor) -> QColor:
    part = one.alphaF()
    pairs = ((one.redF(), other.redF()), (one.greenF(), other.greenF()), (one.blueF(), other.blueF()))
    return QColor.fromRgbF(*(a * part + b * (1 - part) for a, b in pairs))


def _luminance(color: QColor) -> float:
    parts = (color.redF(), color.greenF(), color.blueF())
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
