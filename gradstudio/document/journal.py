"""The recovery journal: what is not saved yet, kept where `kill -9` cannot take it. No Qt here.

A journal is a file in the recovery folder: one line about itself, then the document's text. As
long as its program lives it holds a lock that the system releases with the process; a journal
whose lock is free was left behind.
"""

import contextlib
import json
import os
import sys
import time
import uuid
import weakref
from pathlib import Path
from typing import IO, TYPE_CHECKING

import msgspec

from gradstudio.document.atomic_write import remove_unfinished, write_file
from gradstudio.document.errors import CannotSave, UnreadableFile
from gradstudio.document.file import View, loads_with_view, text_slices, write_tensors
from gradstudio.graph.model import Graph
from gradstudio.graph.slices import Slices, work_through

if TYPE_CHECKING:
    from gradstudio.document.gsg.line_memo import LineMemo

FORMAT = "gradstudio-recovery"
SUFFIX = ".recovery"
MAX_ABOUT_BYTES = 10_000_000
"""Of the first line: it holds the text that was typed."""


class Journal:
    """Follows one document; `write` after every edit, `discard` when nothing is left to lose.

    Its lock is let go by `discard`, by `close`, or with the journal itself.
    """

    def __init__(self, folder: Path) -> None:
        """Take a name of its own in the folder; nothing is written yet."""
        self.path = folder / f"{uuid.uuid4().hex}{SUFFIX}"
        self._lock: IO[str] | None = None
        self._memo: LineMemo | None = None

    def write(
        self,
        graph: Graph,
        document: Path | None,
        view: View | None = None,
        *,
        subject: str = "",
        title: str = "",
        identity: str = "",
        unapplied: str = "",
        durable: bool = False,
    ) -> None:
        """Put down the document as it stands; the state before is replaced in one step.

        Args and Raises as those of `write_slices`.
        """
        slices = self.write_slices(
            graph,
            document,
            view,
            subject=subject,
            title=title,
            identity=identity,
            unapplied=unapplied,
            durable=durable,
        )
        work_through(slices)

    def write_slices(
        self,
        graph: Graph,
        document: Path | None,
        view: View | None = None,
        *,
        subject: str = "",
        title: str = "",
        identity: str = "",
        unapplied: str = "",
        durable: bool = False,
    ) -> Slices[None]:
        """As `write`, in slices between which the document must not change; one that is given up leaves what was.

        Args:
            graph: what is on the canvas.
            document: its file, or None.
            view: what part of it is seen.
            subject: what it is about while it has no file; `title`: what its tab calls it.
            identity: what its runs know it by while it has no file.
            unapplied: text that was typed for it and could not be read yet.
            durable: wait until the disk has it, so that a power cut cannot take it either.

        Raises:
            CannotSave: with the reason in words.
        """
        about = {
            "format": FORMAT,
            "version": 1,
            "pid": os.getpid(),
            "document": str(document.absolute()) if document is not None else None,
            "written": time.time(),
            "subject": subject,
            "title": title,
            "identity": identity,
            "unapplied": unapplied,
        }
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self._lock is None:
                self._lock = _take_lock(_lock_path(self.path))
                weakref.finalize(self, self._lock.close)
        except OSError as error:
            raise CannotSave(f"The recovery folder '{self.path.parent}' cannot be used: {error}") from error
        if self._memo is None:
            from gradstudio.document.gsg.line_memo import LineMemo

            self._memo = LineMemo()
        write_tensors(graph.tensors.values(), _tensor_folder(self.path), durable=durable)
        text = yield from text_slices(graph, view, self._memo)
        write_file(self.path, f"{json.dumps(about, ensure_ascii=True)}\n{text}".encode(), durable=durable)

    def discard(self) -> None:
        """Forget all: the document is saved, or closed on purpose."""
        _remove(self.path)
        self._release()

    def close(self) -> None:
        """Leave the journal behind for the next start."""
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None
        if not self.path.exists():
            _lock_path(self.path).unlink(missing_ok=True)


class Recovered(msgspec.Struct, frozen=True):
    """A journal that was left behind.

    Attributes:
        path: the journal.
        document: the file that was open, or None when it never had one.
        written: when, seconds since 1970.
        subject: what it was about while it had no file; `title`: what its tab called it.
        identity: what its runs know it by while it has no file; "": nobody has said.
        unapplied: text that was typed and not on the canvas yet.
    """

    path: Path
    document: Path | None
    written: float
    subject: str = ""
    unapplied: str = ""
    title: str = ""
    identity: str = ""

    def load(self) -> tuple[Graph, View]:
        """The document as it stood.

        Raises:
            UnreadableFile: the journal is damaged.
        """
        try:
            _, _, text = self.path.read_bytes().partition(b"\n")
        except OSError as error:
            raise UnreadableFile(f"the recovery file '{self.path.name}' cannot be read: {error}") from error
        return loads_with_view(text, folder=_tensor_folder(self.path))

    def discard(self) -> None:
        """Remove the journal and what belongs to it."""
        _remove(self.path)
        _lock_path(self.path).unlink(missing_ok=True)


class _About(msgspec.Struct):
    format: str
    version: int
    written: float
    document: str | None = None
    subject: str = ""
    unapplied: str = ""
    title: str = ""
    identity: str = ""


def recoverable(folder: Path) -> list[Recovered]:
    """The journals that were left behind by programs that are gone, the newest first."""
    found = []
    for path in folder.glob(f"*{SUFFIX}"):
        recovered = _about(path)
        if recovered is not None and _is_left(path):
            found.append(recovered)
    return sorted(found, key=lambda one: one.written, reverse=True)


def _about(path: Path) -> Recovered | None:
    """What the first line of a journal says; None when it is none."""
    try:
        with path.open("rb") as file:
            about = msgspec.json.decode(file.readline(MAX_ABOUT_BYTES), type=_About)
    except (OSError, msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    if about.format != FORMAT or about.version != 1:
        return None
    document = Path(about.document) if about.document is not None else None
    return Recovered(path, document, about.written, about.subject, about.unapplied, about.title, about.identity)


def _remove(path: Path) -> None:
    tensors = _tensor_folder(path)
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)
        for file in tensors.glob("*"):
            file.unlink(missing_ok=True)
        remove_unfinished(path.parent, path.name)
        if tensors.exists():
            tensors.rmdir()


def _tensor_folder(path: Path) -> Path:
    return path.with_suffix(".tensors")


def _lock_path(path: Path) -> Path:
    return path.with_suffix(".lock")


def _is_left(path: Path) -> bool:
    """Whether nobody holds the journal's lock."""
    lock = _lock_path(path)
    if not lock.exists():
        return True
    try:
        _take_lock(lock).close()
    except OSError:
        return False
    return True


def _take_lock(path: Path) -> IO[str]:
    """An open file that nobody else can lock until it is closed or its process ends.

    Raises:
        OSError: somebody holds it.
    """
    file = path.open("a")
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise
    return file
