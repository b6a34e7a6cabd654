"""How the scene asks for the size of a text, without knowing the fonts: the window answers from its own. No Qt."""

from typing import Protocol


class TextMeasure(Protocol):
    """Widths of texts in the fonts of the canvas, scene pixels; a role is "title", "label", "mono" or the like."""

    def __hash__(self) -> int:
        """What was laid out with one is kept under it."""

    def width(self, text: str, role: str) -> float:
        """Width of one line."""

    def elided(self, text: str, role: str, width: float) -> str:
        """The text, shortened by "…" where it is wider."""
