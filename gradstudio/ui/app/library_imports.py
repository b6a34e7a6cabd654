"""Loads msgspec and PySide6 for the window without what it uses of neither; nothing of Qt may be loaded before."""

import builtins
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, SupportsIndex

STUB_WRITERS = ("shibokensupport.signature.lib.pyi_generator", "PySide6.support.signature.lib.pyi_generator")
"""PySide6's writer of .pyi files, as it is loaded and as it is published then."""


def load() -> None:
    """Load both; what is loaded already stays as it is."""
    _load_msgspec()
    _load_qt()


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
    """WORKAROUND(PySide6 compiles its writer of .pyi files at each start, 25 ms, and wraps `__import__`).

    Nothing calls the writer. The wrapper looks for `__feature__`, which we never use: it reads the source of every
    module, 40 ms, and each later import costs ten times as much, also those inside functions.
    """
    finders = sys.meta_path
    if "PySide6" not in sys.modules:
        sys.meta_path = _FirstStays([_NoStubWriter(), *finders])
    try:
        import PySide6.QtCore  # noqa: F401  # for its effect
    finally:
        sys.meta_path = finders
    for name in STUB_WRITERS:
        if getattr(sys.modules.get(name), "__file__", None) is None:
            sys.modules.pop(name, None)
    builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)


class _FirstStays(list[Any]):
    """Finders of modules, of which the first one is asked first also when others are put before all."""

    def insert(self, index: SupportsIndex, finder: object) -> None:
        """PySide6 puts the finder of its own modules to the front."""
        super().insert(max(1, int(index)), finder)


class _NoStubWriter:
    """Finds the writer of .pyi files, and makes an empty module of it."""

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        """As the import system asks."""
        return ModuleSpec(name, self) if name == STUB_WRITERS[0] else None  # type: ignore[arg-type]  # a loader by its methods

    def create_module(self, _spec: ModuleSpec) -> ModuleType | None:
        """As any other."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """It stays empty."""
