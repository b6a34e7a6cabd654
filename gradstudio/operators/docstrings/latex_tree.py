"""A formula as it was read: pieces of text in a row, and rows of cells."""

from typing import NamedTuple


class Piece(NamedTuple):
    """A sign or a word.

    Attributes:
        marks: from the outside in, as those of a `Span`.
        role: "relation" and "function" want room around them, "space" is a space of the source, "room" one that
            was asked for, "words" are running text, "slash" divides, "cell" and "row" end one; else "".
    """

    text: str
    marks: tuple[str, ...] = ()
    role: str = ""

    def marked(self, marks: tuple[str, ...], *, outside: bool = False) -> "Piece":
        """The same with more marks."""
        return Piece(self.text, (*marks, *self.marks) if outside else (*self.marks, *marks), self.role)


class Rows(NamedTuple):
    r"""What stands between ``\begin`` and ``\end``."""

    name: str
    rows: list[list[list["Piece | Rows"]]]


Tree = list[Piece | Rows]
