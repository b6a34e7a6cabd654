"""Loads msgspec and PySide6 for the window without what it uses of neither; nothing of Qt may be loaded before."""

import builtins
import gc
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, SupportsIndex

from gradstudio.ui.app import enum_members

SIGNATURES = "shibokensupport.signature"
ASKED_BY_REFUSALS = (
    *(f"{SIGNATURES}.errorhandler", f"{SIGNATURES}.layout", f"{SIGNATURES}.parser"),
    *(f"{SIGNATURES}.lib.enum_sig", f"{SIGNATURES}.lib.tool"),
)
"""What PySide6 reads signatures with: asked when a call is refused in words, or for somebody's help."""
OF_OTHERS = ("msgspec.inspect", "msgspec.toml", "msgspec.yaml", "tempfile")
"""What both bring along for other programs than a window; `tempfile` for a way of theirs that is no more."""
STUB_WRITERS = ("shibokensupport.signature.lib.pyi_generator", "PySide6.support.signature.lib.pyi_generator")
"""PySide6's writer of .pyi files, as it is loaded and as it is published then."""


def load() -> None:
    """Load both; what is loaded already stays as it is.

    Nothing is collected until the window is filled: thousands of classes and enumerations are born, none is garbage.
    """
    gc.disable()
    enum_members.load()
    finders = sys.meta_path
    sys.meta_path = _FirstStays([_NotYet(), *finders])
    try:
        _load_msgspec()
        _load_qt()
    finally:
        sys.meta_path = finders


def _load_msgspec() -> None:
    """WORKAROUND(msgspec asks typing_extensions, where torch brought it, for what Python 3.11 has itself: 29 ms)."""
    name = "typing_extensions"
    if name in sys.modules:
        return
    sys.modules[name] = None  # type: ignore[assignment]  # as the import system has it: importing it fails
    try:
        import msgspec  # noqa: F401  # for its effect
    finally:
        del sys.modules[name]


def _load_qt() -> None:
    """WORKAROUND(PySide6 compiles its writer of .pyi files and its reader of signatures, and wraps `__import__`).

    That took 55 ms; nothing calls the writer, and only a refused call the reader. The wrapper looks for
    `__feature__`, which we never use: it reads the source of every module, 40 ms, and each later import costs ten
    times as much, also those inside functions.
    """
    import PySide6.QtCore  # noqa: F401  # for its effect

    for name in STUB_WRITERS:
        if getattr(sys.modules.get(name), "__file__", None) is None:
            sys.modules.pop(name, None)
    builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)


class _FirstStays(list[Any]):
    """Finders of modules, of which the first one is asked first also when others are put before all."""

    def insert(self, index: SupportsIndex, finder: object) -> None:
        """PySide6 puts the finder of its own modules to the front."""
        super().insert(max(1, int(index)), finder)


class _NotYet:
    """Finds the writer of .pyi files, which stays empty, and what is executed when it is asked for something."""

    def find_spec(self, name: str, path: object = None, _target: object = None) -> ModuleSpec | None:
        """As the import system asks."""
        if name == STUB_WRITERS[0]:
            return ModuleSpec(name, self)  # type: ignore[arg-type]  # a loader by its methods
        if name in ASKED_BY_REFUSALS or name in OF_OTHERS:
            return ModuleSpec(name, _LaterLoader(_found_by_others(name, path)))  # type: ignore[arg-type]  # as above
        return None

    def create_module(self, _spec: ModuleSpec) -> ModuleType | None:
        """As any other."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """It stays empty."""


def _found_by_others(name: str, path: Any) -> Any:
    """What loads a module, were it not put off."""
    for finder in sys.meta_path[1:]:
        spec = finder.find_spec(name, path)
        if spec is not None:
            return spec.loader
    raise ModuleNotFoundError(name)


class _LaterLoader:
    """Loads a module when it is first asked for something."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """One that knows how it comes to its content."""
        return _Later(spec.name, self._loader)

    def exec_module(self, module: ModuleType) -> None:
        """Not yet."""


class _Later(ModuleType):
    """A module without content; asked for any of it, it executes its text."""

    def __init__(self, name: str, loader: Any) -> None:
        super().__init__(name)
        self._load = lambda: loader.exec_module(self)

    def __getattr__(self, name: str) -> Any:
        """What it does not have yet."""
        if name.startswith("__") or "_load" not in self.__dict__:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        load = self.__dict__.pop("_load")
        published, self.__spec__ = self.__spec__, ModuleSpec(self.__name__, None)  # PySide6 gave it another name
        load()
        self.__spec__ = published
        return getattr(self, name)
