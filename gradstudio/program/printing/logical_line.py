"""Logical line: a line of Python that grows, and where each node's text stands in it."""

from gradstudio.graph.model import ItemId


class Line:
    """One logical line that grows; remembers where each node's text stands in it."""

    __slots__ = ("length", "marks", "pieces")

    def __init__(self) -> None:
        """An empty line."""
        self.pieces: list[str] = []
        self.length = 0
        self.marks: list[tuple[ItemId, int, int]] = []

    def write(self, text: str) -> None:
        """Append a text."""
        self.pieces.append(text)
        self.length += len(text)

    @property
    def text(self) -> str:
        """All that was written."""
        return "".join(self.pieces)
