"""What a trusted program finds around it: its file's folder and modules, its words on the way out, no input."""

import io
import linecache
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType, ModuleType
from typing import Any

from gradstudio.engine.audit_wall import FILENAME
from gradstudio.engine.code.freedom import freedom
from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Printed
from gradstudio.protocol.messages.requests import Trust

MAX_TEXT = 100_000
MAIN = "__main__"
Send = Callable[[Message], None]
Locate = Callable[[FrameType | None], tuple[ItemId, int]]


class ProgramOutput(io.TextIOBase):
    """Standard output, or error, of a program: each line is told at the node that wrote it.

    What a bar of progress draws over itself is told once, as it was at the end of its line.
    """

    def __init__(self, send: Send, locate: Locate) -> None:
        """Lines are sent by `send`."""
        super().__init__()
        self._send, self._locate = send, locate
        self._line = ""
        self._place: tuple[ItemId, int] = ItemId(""), 0
        self._process = os.getpid()

    def writable(self) -> bool:
        """It takes text."""
        return True

    def write(self, text: str) -> int:
        """Take text."""
        if os.getpid() != self._process:  # a process that the program made: the protocol is none of its business
            os.write(2, text.encode(errors="replace"))
            return len(text)
        *lines, rest = text.split("\n")
        for line in lines:
            self._tell(self._line + line)
            self._line = ""
        self._line = (self._line + rest)[-MAX_TEXT:]
        if rest:
            self._place = self._locate(sys._getframe(1))
        return len(text)

    def finish(self) -> None:
        """Tell what stands on a line that was not ended."""
        if self._line:
            self._tell(self._line)
            self._line = ""

    def _tell(self, line: str) -> None:
        node, number = self._locate(sys._getframe(2))
        if not node:
            node, number = self._place
        shown = line.removesuffix("\r").rpartition("\r")[2]
        self._send(Printed(node=node, line=number, text=shown[:MAX_TEXT]))


@contextmanager
def surroundings(program: Program, trust: Trust, send: Send, locate: Locate) -> Iterator[None]:
    """A trusted program runs within: at home, with nobody to type into it, and heard."""
    out, told = ProgramOutput(send, locate), ProgramOutput(send, locate)
    before = sys.argv, sys.stdin, sys.stdout, sys.stderr, list(sys.path), _folder()
    os.environ.setdefault("MPLBACKEND", "Agg")  # a window of matplotlib's would wait for ever
    linecache.cache[FILENAME] = (len(program.script), None, program.script.splitlines(keepends=True), FILENAME)
    with open(os.devnull) as nothing:
        sys.argv = [trust.file]
        sys.stdin, sys.stdout, sys.stderr = nothing, out, told
        if trust.folder:
            sys.path.insert(0, trust.folder)
            with suppress(OSError):
                os.chdir(trust.folder)
        try:
            yield
        finally:
            out.finish()
            told.finish()
            sys.argv, sys.stdin, sys.stdout, sys.stderr, sys.path[:], folder = before
            if folder:
                with suppress(OSError):
                    os.chdir(folder)


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def new_namespace(print_function: object) -> dict[str, Any]:
    """Where a program's names will be: of a trusted one those of a module `__main__`, as `python FILE` has it."""
    if not freedom.now:
        return {"__name__": MAIN, "__file__": FILENAME, "print": print_function}
    file = sys.argv[0] if sys.argv else ""
    module = ModuleType(MAIN)
    module.__file__ = file or FILENAME
    _forget_modules_beside(file)
    sys.modules[MAIN] = module
    return module.__dict__


def _forget_modules_beside(file: str) -> None:
    """Modules of the person's own are loaded anew by each run from nothing, as they stand on the disk then."""
    folder = os.path.dirname(os.path.abspath(file)) + os.sep if file else ""
    for name, module in list(sys.modules.items()) if folder else ():
        origin = getattr(module, "__file__", None)
        is_beside = isinstance(origin, str) and origin.startswith(folder) and "site-packages" not in origin
        if is_beside and not name.startswith("gradstudio"):
            del sys.modules[name]
