"""The second wall: while the text of a program runs, the process touches nothing but its own memory.

Python tells an audit hook of files, sockets, processes, imports and code before it touches them. The list (`access`)
is the first wall; here what should get past it is refused all the same: `up` is set by the door around each text, and
only then is anything refused, in every thread but the engine's own others. What it is worth, and what not, stands in
``docs/trust.md``.
"""

import importlib._bootstrap
import os
import sys
import sysconfig
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Final

from gradstudio.engine.errors import AccessRefused

Refuses = Callable[[tuple[Any, ...]], str]
"""From an event's arguments to what is refused; "" when it may be."""
FILENAME: Final = "<gradstudio>"
"""Of all code that the engine makes from a program's text."""
_FAMILIES: Final = {
    "socket": "a connection", "subprocess": "another program", "ctypes": "memory and functions below Python",
    "os": "the system", "shutil": "files", "tempfile": "a file", "glob": "a look at a folder", "mmap": "a file",
    "pty": "another program", "fcntl": "the system", "signal": "the system", "resource": "the system",
    "urllib": "a connection", "http": "a connection", "ftplib": "a connection", "smtplib": "a connection",
    "poplib": "a connection", "imaplib": "a connection", "webbrowser": "another program", "sqlite3": "a file",
    "winreg": "the system", "msvcrt": "the system", "_winapi": "another program", "syslog": "the system",
    "pickle": "objects from bytes", "marshal": "code from bytes", "code": "code of its own",
    "function": "code of its own", "cpython": "code of its own", "pdb": "a debugger", "_thread": "a thread",
    "pathlib": "files", "ensurepip": "an installation", "setopencodehook": "Python's own hooks",
}  # fmt: skip
"""First words of events, and what they would reach."""
_SINGLE: Final = {
    "builtins.breakpoint": "a debugger", "builtins.input": "input", "sys.settrace": "Python's own hooks",
    "sys.setprofile": "Python's own hooks", "sys.addaudithook": "Python's own hooks",
    "sys._current_frames": "frames", "gc.get_objects": "all objects", "gc.get_referrers": "all objects",
}  # fmt: skip
_PACKAGES: Final = frozenset("torch torchgen functorch torchvision numpy safetensors sympy mpmath gradstudio".split())
"""Whose modules may be loaded while a program runs: torch loads many of its own when an operator needs them."""
_WRITE: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_LOADER: Final = importlib._bootstrap._find_and_load.__code__  # type: ignore[attr-defined]  # not in typeshed
_INSTALLED: Final = tuple(
    {os.path.realpath(folder) + os.sep for key in ("stdlib", "platstdlib", "purelib", "platlib")
     if (folder := sysconfig.get_path(key))}
)  # fmt: skip
_OURS: Final = os.path.dirname(os.path.dirname(os.path.realpath(__file__))) + os.sep
_EVALUATES: Final = "torch.fx.operator_schemas"
_SOURCES: Final = (".py", ".pyc", ".pyi")


class WallRefused(AccessRefused, OSError):
    """The text of a program reached for something outside the process; torch copes with it as with a file not there."""


class ImportRefused(AccessRefused, ImportError):
    """The text of a program reached for a module; torch copes with it as with one that is not installed."""


class AuditWall:
    """Refuses what a text reaches for while it runs.

    Attributes:
        up: the code that the door runs now; None while the engine works for itself.
        built: Python asks it.
    """

    __slots__ = ("_free", "_refusals", "built", "up")

    def __init__(self) -> None:
        """Nothing is refused yet."""
        self.up: CodeType | None = None
        self.built = False
        self._free: set[int] = set()
        self._refusals: dict[str, Refuses | None] = {}

    def build(self) -> None:
        """Stand from now on, for ever: Python takes no hook back. Threads that are there already are the engine's."""
        mine = threading.get_ident()
        self._free.clear()
        self._free.update(one.ident for one in threading.enumerate() if one.ident is not None and one.ident != mine)
        if not self.built:
            self.built = True
            sys.addaudithook(self._hook())

    def free_this_thread(self) -> None:
        """What runs in this thread is the engine's own, or code of its user's, who said that it is to run."""
        self._free.add(threading.get_ident())

    def _hook(self) -> Callable[[str, tuple[Any, ...]], None]:
        """What Python calls with each event: a function, since of a method it is asked each time what it has not.

        Python looks for `__cantrace__` of a hook at every event, `id` and each `exec` among them; where a bound method
        lacks it an error is made and dropped, which takes four times as long as all the rest.
        """
        refusals, free = self._refusals, self._free

        def ask(event: str, arguments: tuple[Any, ...]) -> None:
            if self.up is None:
                return
            try:
                refuses = refusals[event]
            except KeyError:
                refuses = refusals[event] = self._asks(event)
            if refuses is None or threading.get_ident() in free:
                return
            if what := refuses(arguments):
                kind = ImportRefused if event == "import" else WallRefused
                raise kind(f"a drawing only computes: it reached for {what} ({event}), which is refused while it runs")

        return ask

    def _asks(self, event: str) -> Refuses | None:
        special: dict[str, Refuses] = {
            "open": _file, "import": _module, "exec": self._foreign_code, "compile": _foreign_text,
            "os.listdir": _unless_loading("a folder"), "os.scandir": _unless_loading("a folder"),
        }  # fmt: skip
        if event in special:
            return special[event]
        what = _SINGLE.get(event) or _FAMILIES.get(event.partition(".")[0], "")
        return _unless_loading(what) if what else None

    def _foreign_code(self, arguments: tuple[Any, ...]) -> str:
        is_known = arguments[0] is self.up or _evaluates_annotations() or _is_loading()
        return "" if is_known else "code of its own"


def _foreign_text(arguments: tuple[Any, ...]) -> str:
    """Code that is made and not run does nothing: typing does so for the annotations of torch's functions."""
    is_known = arguments[1] == FILENAME or _is_loading() or _caller_is_installed(sys._getframe(1))
    return "" if is_known else "code of its own"


def _evaluates_annotations() -> bool:
    """Whether torch asks what the types in the schema of an operator are, as it does for tensors without data."""
    frame: FrameType | None = sys._getframe(3)
    return frame is not None and frame.f_globals.get("__name__") == _EVALUATES and _is_installed(frame)


def _is_installed(frame: FrameType) -> bool:
    return os.path.realpath(frame.f_code.co_filename).startswith(_INSTALLED)


def _unless_loading(what: str) -> Refuses:
    """What the loading of a module that may be loaded does is that module's."""
    return lambda arguments: "" if _is_loading() else what


def _file(arguments: tuple[Any, ...]) -> str:
    path, _, flags = arguments
    writes = isinstance(flags, int) and flags & _WRITE
    name = os.fsdecode(path) if isinstance(path, str | bytes) else str(path)
    if not writes and name.endswith(_SOURCES) and os.path.realpath(name).startswith((*_INSTALLED, _OURS)):
        return ""  # a source text of what is installed: torch shows its lines
    if _is_loading() and (not writes or "__pycache__" in name):
        return ""
    return f"{'writing' if writes else 'reading'} the file '{name[:200]}'"


def _module(arguments: tuple[Any, ...]) -> str:
    name = str(arguments[0])
    return "" if _may_be_loaded(name, sys._getframe(1)) or _is_loading() else f"the module '{name[:100]}'"


def _may_be_loaded(name: str, frame: FrameType | None) -> bool:
    """Whether a module is of torch's and numpy's world, or Python's own and asked for by what is installed."""
    first = name.partition(".")[0]
    return first in _PACKAGES or (first in sys.stdlib_module_names and _caller_is_installed(frame))


def _caller_is_installed(frame: FrameType | None) -> bool:
    """Whether a function of what is installed does it, and not the program through Python's own import."""
    while frame is not None:
        path = frame.f_code.co_filename
        if path == FILENAME:
            return False
        is_of_import = path.startswith("<frozen importlib") or os.sep + "importlib" + os.sep in path
        if not is_of_import and not path.startswith(_OURS):
            return _is_installed(frame)
        frame = frame.f_back
    return True


def _is_loading() -> bool:
    """Whether a module that may be loaded is being loaded; the program's own frame ends the search.

    The outermost one counts: `importlib.import_module` tells the hook of nothing.
    """
    frame: FrameType | None = sys._getframe(1)
    outermost = None
    while frame is not None and frame.f_code.co_filename != FILENAME:
        if frame.f_code is _LOADER:
            outermost = frame
        frame = frame.f_back
    return outermost is not None and _may_be_loaded(str(outermost.f_locals.get("name")), outermost.f_back)


wall: Final = AuditWall()
"""The process has one."""
