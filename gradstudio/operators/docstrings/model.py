"""What a docstring is made of: spans of a line, blocks of a page."""

from collections.abc import Iterable

import msgspec


class Span(msgspec.Struct, frozen=True):
    """A stretch of text of one look.

    Attributes:
        marks: from the outside in: "code", "strong", "emphasis", "math", "sub", "sup".
        target: where it leads: a web address, or the Python path of an operator; "" nowhere.
    """

    text: str
    marks: tuple[str, ...] = ()
    target: str = ""


Spans = tuple[Span, ...]


class Paragraph(msgspec.Struct, frozen=True):
    """Running text."""

    spans: Spans


class Heading(msgspec.Struct, frozen=True):
    """The title of a section: "Shape", "Example"."""

    spans: Spans


class Signature(msgspec.Struct, frozen=True):
    """A way of calling, as torch writes it."""

    text: str


class Listing(msgspec.Struct, frozen=True):
    """Items under one another, numbered or with bullets."""

    items: tuple[tuple["Block", ...], ...]
    numbered: bool = False


class Definition(msgspec.Struct, frozen=True):
    """A term, and what is said of it."""

    term: Spans
    blocks: tuple["Block", ...]


class Field(msgspec.Struct, frozen=True):
    """An argument, a result or an attribute: its names, what it takes, what is said of it."""

    names: tuple[str, ...]
    takes: Spans
    blocks: tuple["Block", ...]


class Fields(msgspec.Struct, frozen=True):
    """A section of fields: "Args", "Keyword args", "Attributes", "Raises"."""

    title: str
    fields: tuple[Field, ...]


class Code(msgspec.Struct, frozen=True):
    """Text that keeps its lines: an example, a session with prompts, a table nobody understood."""

    text: str
    python: bool = True

    @property
    def is_session(self) -> bool:
        """Whether it begins with a prompt."""
        return self.text.startswith(">>>")


class Formula(msgspec.Struct, frozen=True):
    """A formula that stands by itself, a line each."""

    lines: tuple[Spans, ...]


class Box(msgspec.Struct, frozen=True):
    """A note, a warning, a remark on versions."""

    kind: str
    title: str
    blocks: tuple["Block", ...]


class Table(msgspec.Struct, frozen=True):
    """Cells in rows; the first `heads` rows are headings."""

    rows: tuple[tuple[Spans, ...], ...]
    heads: int = 1


class Quote(msgspec.Struct, frozen=True):
    """Blocks that stand further in."""

    blocks: tuple["Block", ...]


Block = Paragraph | Heading | Signature | Listing | Definition | Fields | Code | Formula | Box | Table | Quote


class Docstring(msgspec.Struct, frozen=True):
    """A docstring, read.

    Attributes:
        signatures: as torch writes them above the text.
    """

    signatures: tuple[str, ...]
    blocks: tuple[Block, ...]


def plain_text(spans: Iterable[Span]) -> str:
    """The words alone; what is raised or lowered is told by a sign."""
    parts: list[str] = []
    for span in spans:
        if span.marks[-1:] == ("sub",):
            parts.append("_")
        elif span.marks[-1:] == ("sup",):
            parts.append("^")
        parts.append(span.text)
    return "".join(parts)
