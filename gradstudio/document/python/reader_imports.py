"""The import of all that reads a text and merges it, a module at a time: while nobody waits for it. No Qt here."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Final

from gradstudio.graph.slices import Slices

READING: Final = "gradstudio.program.reading"
PACKAGES: Final = (
    *(f"{READING}.desugar", f"{READING}.expressions", f"{READING}.statements", READING),
    *("gradstudio.program.merging", "gradstudio.layout.layered"),
)
"""What asks for few others comes first."""
MODULES: Final = ("gradstudio.layout.placement.new_item_places", "gradstudio.document.python.merge_edits")
"""What the packages leave out; the last is what asks for all of them."""


def import_slices() -> Slices[None]:
    """Import them, with a stop before each."""
    for package in PACKAGES:
        for name in _modules_of(package):
            yield
            import_module(name)
    for name in MODULES:
        yield
        import_module(name)


def _modules_of(package: str) -> Iterator[str]:
    """All modules of a package, of those in it first."""
    for module in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
        if module.ispkg:
            yield from _modules_of(module.name)
        yield module.name
