"""The document as a file: `.gsg` text, and stored tensors in `<stem>.tensors` beside it. No Qt here."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gradstudio.document.atomic_write import system_refusal, write_file
from gradstudio.document.bookmarks import Bookmark
from gradstudio.document.errors import BadTensor, CannotOpen, CannotSave
from gradstudio.document.gsg.field_checks import Fault
from gradstudio.document.gsg.file_records import FORMAT, ContentRecord, GraphFile, TensorRecord
from gradstudio.document.gsg.graph_loading import build
from gradstudio.document.gsg.gsg_reader import LARGEST_TEXT, read
from gradstudio.graph.model import Graph, StoredTensor
from gradstudio.graph.slices import Slices, work_through
from gradstudio.layout.tidy import layout_missing

if TYPE_CHECKING:
    from gradstudio.document.gsg.line_memo import LineMemo

SUFFIX = ".gsg"
RUNS_SUFFIX = ".runs"
"""Of the folder beside a document in which its runs are kept."""


class View(msgspec.Struct, frozen=True):
    """What the window showed: zoom factor and the scene point at its centre, pixels; and what is remembered."""

    zoom: float = 1.0
    x: float = 0.0
    y: float = 0.0
    bookmarks: dict[str, Bookmark] = {}


def load(path: str | os.PathLike[str]) -> Graph:
    """The graph of a file.

    Raises:
        UnreadableFile: with the reason in words, and its line and column.
    """
    return _load(Path(path))[0]


def load_with_view(path: str | os.PathLike[str]) -> tuple[Graph, View]:
    """The graph and what the window showed; items that have no place yet get one.

    Raises:
        UnreadableFile: with the reason in words, and its line and column.
    """
    graph, view = _load(Path(path))
    graph.places = layout_missing(graph)
    return graph, view


def loads(text: str | bytes, *, folder: str | os.PathLike[str] | None = None) -> Graph:
    """The graph of a text; `folder` is where its stored tensors lie (`<stem>.tensors`).

    Raises:
        UnreadableFile: with the reason in words, and its line and column.
    """
    return loads_with_view(text, folder=folder)[0]


def loads_with_view(text: str | bytes, *, folder: str | os.PathLike[str] | None = None) -> tuple[Graph, View]:
    """As `loads`, with what the window showed."""
    beside = None if folder is None else Path(folder)

    def make(content: GraphFile) -> tuple[Graph, View]:
        graph = build(content)
        graph.tensors = stored_tensors(content, beside)
        graph.original = "\n".join(content.original)
        seen = content.view
        marks = {
            digit: Bookmark(mark.zoom, mark.x, mark.y, mark.name, tuple(mark.items))
            for digit, mark in seen.bookmarks.items()
        }
        return graph, View(seen.zoom, seen.x, seen.y, marks)

    return read(text, GraphFile, FORMAT, make)


def dumps(graph: Graph, view: View | None = None, memo: "LineMemo | None" = None, *, with_data: bool = False) -> str:
    """The text of a document; the same graph and view always give the same text.

    `memo` has its lines of before; with data, stored tensors are in the text itself.
    """
    from gradstudio.document.gsg.line_memo import LineMemo

    return work_through(text_slices(graph, view, memo or LineMemo(), with_data=with_data))


def text_slices(graph: Graph, view: View | None, memo: "LineMemo", *, with_data: bool = False) -> Slices[str]:
    """As `dumps`, in slices between which the document must not change."""
    from gradstudio.document.gsg.gsg_writer import write_slices

    seen = view or View()
    camera = {"zoom": seen.zoom, "x": seen.x, "y": seen.y}
    return write_slices(graph, FORMAT, camera, memo, with_data=with_data, bookmarks=seen.bookmarks)


def save(graph: Graph, path: str | os.PathLike[str], view: View | None = None) -> None:
    """Write the document and its stored tensors; the old file is replaced in one step, or not at all.

    Raises:
        CannotSave: with the reason in words; what was there before is untouched.
    """
    target = Path(path)
    write_tensors(graph.tensors.values(), tensor_folder(target))
    write_file(target, dumps(graph, view).encode())


def tensor_folder(path: Path) -> Path:
    """The folder beside a document that holds its stored tensors."""
    return path.with_name(f"{path.stem}.tensors")


def runs_folder(path: Path) -> Path:
    """The folder beside a document in which its runs are kept."""
    return path.with_name(f"{path.stem}{RUNS_SUFFIX}")


def write_tensors(tensors: Iterable[StoredTensor], folder: Path, *, durable: bool = True) -> None:
    """Put the files of the tensors into the folder; without tensors none is made.

    Raises:
        CannotSave: with the reason in words.
    """
    from gradstudio.document.stored_tensors import write_beside

    for tensor in tensors:
        try:
            folder.mkdir(exist_ok=True)
        except ValueError as error:  # a name with a null byte
            raise CannotSave(f"Not saved: {str(folder)!r} is no name of a folder.") from error
        except OSError as error:
            raise CannotSave(f"Not saved: {system_refusal(error, folder)}.") from error
        write_beside(folder, tensor, durable=durable)


def stored_tensors(content: ContentRecord, folder: Path | None) -> dict[str, StoredTensor]:
    """The stored tensors of a text, out of itself or out of the folder beside it.

    Raises:
        Fault: one is missing, was changed, or is listed twice.
    """
    tensors: dict[str, StoredTensor] = {}
    for number, record in enumerate(content.tensors):
        try:
            if record.digest in tensors:
                raise BadTensor("this stored tensor is listed twice")
            tensors[record.digest] = _stored(record, folder)
        except BadTensor as error:
            raise Fault(error.message, ("tensors", number), BadTensor) from error
    return tensors


def _stored(record: TensorRecord, folder: Path | None) -> StoredTensor:
    from gradstudio.document.stored_tensors import checked_tensor, read_beside

    if record.data is not None:
        data = record.data
    elif folder is not None:
        data = read_beside(folder, record.digest)
    else:
        raise BadTensor("its data lies beside the file, and a text alone has nothing beside it: give the file")
    return checked_tensor(record.digest, record.dtype, tuple(record.shape), data, record.source)


def _load(path: Path) -> tuple[Graph, View]:
    return loads_with_view(bytes_of_document(path), folder=tensor_folder(path))


def bytes_of_document(path: Path) -> bytes:
    """What the file of a document holds; pipes and devices are never opened.

    Raises:
        CannotOpen: with the reason in words.
    """
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise CannotOpen(f"'{path}' is a folder")
        if not stat.S_ISREG(status.st_mode):
            raise CannotOpen(f"'{path}' is not an ordinary file")
        if status.st_size > LARGEST_TEXT:
            raise CannotOpen(f"'{path}' has {status.st_size} bytes, more than {LARGEST_TEXT // 2**20} MiB")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise CannotOpen(f"there is no file '{path}'") from error
    except PermissionError as error:
        raise CannotOpen(f"you may not read '{path}'") from error
    except (OSError, ValueError) as error:
        raise CannotOpen(f"'{path}' cannot be read: {error}") from error
