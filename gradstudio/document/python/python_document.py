"""A Python text as a document: read by its syntax, laid out, its stored tensors taken from beside it."""

import codecs
import contextlib
import io
import os
import re
import stat
import tokenize
from pathlib import Path

from gradstudio.document.errors import BadTensor, UnreadableFile
from gradstudio.document.python.notebook_text import SUFFIX as NOTEBOOK
from gradstudio.document.python.notebook_text import load_notebook
from gradstudio.document.stored_tensors import named_tensor, read_beside
from gradstudio.graph.model import Graph, StoredTensor
from gradstudio.layout.tidy import layout_missing
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.docstring_name import with_docstring_bound
from gradstudio.program.reading.parser import MARK, MAX_CHARACTERS
from gradstudio.program.reading.read_text import Read
from gradstudio.program.reading.reader import read_script

SUFFIX = ".py"
SUFFIXES = (SUFFIX, NOTEBOOK)
"""Of files that are read as Python."""
MAX_BYTES = 4 * MAX_CHARACTERS
_FIRST_LINES = 10_000
"""Characters that hold the two lines which may name an encoding."""
_COOKIE = re.compile(r"(coding[:=][ \t]*)[-\w.]+")
ENCODINGS = frozenset({"utf-8", "ascii", "iso8859-1"})
"""What a file may be written in, as its first lines say; by Python's names."""


def read_python(
    text: str,
    folder: Path | None = None,
    *,
    pasted: bool = False,
    canvas: Graph | None = None,
    keeps_code: bool = False,
) -> Read:
    """The document of a text; nothing is executed.

    Args:
        text: Python source.
        folder: where the text lies: a stored tensor is a file in `<name>.tensors` there.
        pasted: the usual imports (torch, nn, F, optim, np, math) need not be repeated.
        canvas: where the text is to be pasted: it may read the names bound there, and load what is stored there; an
            empty one takes the settings of the text, too.
        keeps_code: what is not drawn is kept as it was typed, and not refused.

    Raises:
        UnreadableFile: with line, column and reason.
    """

    def stored(file: str) -> StoredTensor:
        digest = Path(file).stem
        if folder is None:
            known = canvas.tensors.get(digest) if canvas is not None else None
            if known is None:
                raise BadTensor("the text loads a stored tensor that this program does not have: open the file instead")
            return known
        where = folder / Path(file).parent
        return named_tensor(digest, read_beside(where, digest))

    try:
        on = canvas if canvas is not None and canvas.parents else None
        read = read_script(with_docstring_bound(text), stored, pasted=pasted, canvas=on, keeps_code=keeps_code)
    except NotReadable as error:
        first, *others = (UnreadableFile(one.reason, one.line, one.column + 1) for one in error.all)
        raise first.with_others(tuple(others)) from error
    read.graph.places = layout_missing(read.graph)
    for definition in read.graph.definitions.values():
        definition.graph.places = layout_missing(definition.graph)
    return read


def load_python(path: Path) -> Read:
    """The document of a Python file, or of a notebook, whose lines are those of its cells as one text.

    Raises:
        UnreadableFile: with line, column and reason.
    """
    if path.suffix == NOTEBOOK:
        return read_file(load_notebook(path), path.parent)
    try:
        data = _bytes_of(path)
    except OSError as error:
        raise UnreadableFile(f"it cannot be read: {error.strerror or error}") from error
    return read_file(decode_python(data), path.parent, mark=data.startswith(codecs.BOM_UTF8))


def read_file(text: str, folder: Path, *, mark: bool = False) -> Read:
    """The document of the text of a file, which keeps that text; `mark`: the file begins with a byte order mark.

    Raises:
        UnreadableFile: with line, column and reason.
    """
    read = read_python(text, folder, keeps_code=True)
    read.graph.original = f"{MARK}{text}" if mark else text
    return read


def encode_python(text: str) -> bytes:
    """The bytes of a Python file, in the encoding that its first lines name.

    In UTF-8 where that cannot hold it, or is none that is read: a document may hold any text.
    """
    encoding = _encoding_of(text.removeprefix(MARK)[:_FIRST_LINES].encode())
    if encoding in ENCODINGS:
        with contextlib.suppress(UnicodeEncodeError):
            return text.encode(encoding)
    first, *others = text.split("\n", 2)
    lines = [_COOKIE.sub(r"\g<1>utf-8", line, count=1) for line in (first, *others[:1])]
    return "\n".join([*lines, *others[1:]]).encode()


def decode_python(data: bytes) -> str:
    """The text in the bytes of a Python file.

    Raises:
        UnreadableFile: it is in another encoding than it says, or in one that is not read.
    """
    name = _encoding_of(data)
    if name not in ENCODINGS:
        said = _said_encoding(data)
        if said is None:
            name = "utf-8"  # the byte that is none is found below
        else:
            raise UnreadableFile(f"it says that it is in the encoding '{said}': save it in UTF-8", 1, 1)
    try:
        return data.decode("utf-8-sig" if name == "utf-8" else name)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        raise UnreadableFile(f"this is no text in {name.upper()}: byte {error.start} is not", line, column) from error


def _encoding_of(data: bytes) -> str:
    """Python's name of the encoding that a file is in; "" where it names none that is known."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return codecs.lookup(encoding.removesuffix("-sig")).name
    except (SyntaxError, LookupError):
        return ""


def _said_encoding(data: bytes) -> str | None:
    """What the first two lines call the encoding; None when they do not."""
    for line in data.split(b"\n", 2)[:2]:
        found = tokenize.cookie_re.match(line.decode("ascii", errors="replace"))
        if found:
            return found[1][:40]
    return None


def _bytes_of(path: Path) -> bytes:
    """What is in a file; a device or a pipe, which may have no end, is refused before it is read."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        raise UnreadableFile("it is a directory" if stat.S_ISDIR(mode) else "it is no file but a device or a pipe")
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UnreadableFile(f"the text has more than {MAX_CHARACTERS:,} characters", 1, 1)
    return data
