"""What a trusted program finds around it: its file's folder and modules, who hears it, and who types into it."""

import linecache
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any

from gradstudio.engine.audit_wall import FILENAME
from gradstudio.engine.code.freedom import freedom
from gradstudio.engine.code.meeting import meeting
from gradstudio.engine.code.program_input import Person, ProgramInput
from gradstudio.engine.code.program_output import Locate, Send, console
from gradstudio.engine.code.pyplot_figures import PYPLOT
from gradstudio.program.model import Program
from gradstudio.protocol.messages.requests import Trust

MAIN = "__main__"


@contextmanager
def surroundings(program: Program, trust: Trust, send: Send, locate: Locate, person: Person | None) -> Iterator[None]:
    """A trusted program runs within: at home, and heard; what it wants typed is asked of `person`, if one is there."""
    out, told = console(send, locate)
    before = sys.argv, sys.stdin, sys.stdout, sys.stderr, list(sys.path), _folder()
    os.environ.setdefault("MPLBACKEND", "Agg")  # a window of matplotlib's would wait for ever
    linecache.cache[FILENAME] = (len(program.script), None, program.script.splitlines(keepends=True), FILENAME)
    sys.argv = [trust.file]
    sys.stdin, sys.stdout, sys.stderr = ProgramInput(person, out, send, locate), out, told
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
    _begin_libraries()
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


def _begin_libraries() -> None:
    """What an older program told libraries that are loaded already is forgotten: where logging goes, open figures."""
    logging.root.handlers.clear()
    logging.root.setLevel(logging.WARNING)
    if (pyplot := sys.modules.get(PYPLOT)) is not None:
        pyplot.close("all")
    meeting.begin_anew()
