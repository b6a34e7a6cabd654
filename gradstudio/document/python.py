"""A Python text as a document: read by its syntax, laid out, its stored tensors taken from beside it."""

from pathlib import Path

from gradstudio.document.errors import BadTensor, UnreadableFile
from gradstudio.document.tensors import looked_up, read_beside
from gradstudio.graph.model import StoredTensor
from gradstudio.layout.tidy import layout_missing
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.reader import Read, read_script

SUFFIX = ".py"


def read_python(text: str, folder: Path | None = None, *, pasted: bool = False) -> Read:
    """The document of a text; nothing is executed.

    Args:
        text: Python source.
        folder: where the text lies: a stored tensor is a file in `<name>.tensors` there.
        pasted: the usual imports (torch, nn, F, optim, np, math) need not be repeated.

    Raises:
        UnreadableFile: with line, column and reason.
    """

    def stored(file: str) -> StoredTensor:
        if folder is None:
            raise BadTensor("a text from nowhere has no stored tensors beside it: open the file instead")
        where, digest = folder / Path(file).parent, Path(file).stem
        return looked_up(digest, read_beside(where, digest))

    try:
        read = read_script(text, stored, pasted=pasted)
    except NotReadable as error:
        raise UnreadableFile(error.reason, error.line, error.column + 1) from error
    read.graph.places = layout_missing(read.graph)
    return read


def load_python(path: Path) -> Read:
    """The document of a Python file.

    Raises:
        UnreadableFile: with line, column and reason.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"this is no text in UTF-8: byte {error.start} is not", 1, 1) from error
    except OSError as error:
        raise UnreadableFile(f"it cannot be read: {error.strerror or error}") from error
    return read_python(text, path.parent)
