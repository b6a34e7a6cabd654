"""A file that is named, or standard input, as a graph, with where its items stand in its text. No Qt here."""

import sys
from pathlib import Path
from typing import BinaryIO

import msgspec

from gradstudio.document import file as document_file
from gradstudio.document import png_embedding
from gradstudio.document.errors import UnreadableFile
from gradstudio.document.gsg.gsg_reader import LARGEST_TEXT
from gradstudio.document.python import python_document as document_python
from gradstudio.errors import GradStudioError
from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.original.original_script import original_places
from gradstudio.program.reading.parser import MAX_CHARACTERS
from gradstudio.program.reading.read_text import Read


class Unreadable(GradStudioError):
    """A file that cannot be opened as a document; with line and column where there are any."""

    def __init__(
        self, text: str, line: int | None = None, column: int | None = None, others: tuple[UnreadableFile, ...] = ()
    ) -> None:
        """Hold the reason, and those further down."""
        super().__init__(text)
        self.line, self.column, self.others = line, column, others


class OpenedGraph(msgspec.Struct, frozen=True):
    """A file as a graph.

    Attributes:
        lines: line of every item in a Python text; None of a document, whose lines are those of its script.
        device: line and class of `device` in a Python text.
        text: the Python text, as it is now; "" of a document, whose text is its script.
    """

    graph: Graph
    lines: dict[ItemId, int] | None = None
    device: tuple[int, str] | None = None
    text: str = ""


def open_file(name: str) -> OpenedGraph:
    """As `open_graph`, with where its items stand in a text that it was read from.

    Raises:
        Unreadable: with the reason.
    """
    opened = _open(name)
    graph = opened.graph
    typed = original_places(graph, stem_of(name)) if opened.lines is None else None
    return OpenedGraph(graph, typed.lines, typed.device, typed.text) if typed is not None else opened


def open_graph(name: str) -> Graph:
    """The graph of a `.gsg`, a Python file, a picture with a graph, or of standard input for "-".

    Raises:
        Unreadable: with the reason.
    """
    return _open(name).graph


def _open(name: str) -> OpenedGraph:
    """A file; where the items stand only of one in Python, which is read for it."""
    try:
        if name == "-":
            return _open_text(_piped(sys.stdin.buffer))
        if name.endswith(document_python.SUFFIXES):
            return _as_read(document_python.load_python(Path(name)))
        is_picture = name.lower().endswith(png_embedding.SUFFIX)
        return OpenedGraph(png_embedding.load_picture(Path(name))[0] if is_picture else document_file.load(name))
    except UnreadableFile as error:
        raise Unreadable(error.message, error.line, error.column, error.others) from error


def stem_of(name: str) -> str:
    """What a script of a file is called."""
    return Path(name).stem if name != "-" else "program"


def _piped(stream: BinaryIO) -> bytes:
    """What is piped in, but no more than is read of a file.

    Raises:
        Unreadable: it is longer.
    """
    data = stream.read(document_python.MAX_BYTES + 1)
    if len(data) <= document_python.MAX_BYTES:
        return data
    if data.lstrip()[:1] != b"{":
        raise Unreadable(f"the text has more than {MAX_CHARACTERS:,} characters", 1, 1)
    data += stream.read(LARGEST_TEXT + 1 - len(data))
    if len(data) > LARGEST_TEXT:
        raise Unreadable(f"the document has more than {LARGEST_TEXT // 2**20} MiB of text")
    return data


def _open_text(data: bytes) -> OpenedGraph:
    """A document begins with a brace; any other text is Python."""
    if data.lstrip()[:1] in (b"{", b""):
        return OpenedGraph(document_file.loads(data, folder=Path.cwd()))
    try:
        return _as_read(document_python.read_file(data.decode("utf-8-sig"), Path.cwd()))
    except UnicodeDecodeError as error:
        raise Unreadable(f"this is neither a document nor a text in UTF-8: byte {error.start} is not") from error


def _as_read(read: Read) -> OpenedGraph:
    return OpenedGraph(read.graph, read.lines, read.device, read.graph.original)
