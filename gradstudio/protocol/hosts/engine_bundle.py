"""The engine's half of GradStudio as one archive: pure Python and what it reads, without window, torch or Qt.

Its key is a hash of its contents, so that what lies at a host under that key is this very version.
"""

import hashlib
import io
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from gradstudio.paths import resources

ROOMS: Final = ("engine", "protocol", "document", "layout", "program", "graph", "operators")
_MODULES: Final = ("__init__.py", "errors.py", "late_pattern.py", "paths.py", "temporary_folders.py")
_DATA: Final = ("catalogue", "documentation", "schema", "search", "categories.json")
"""What these rooms read of `resources`."""
_KEY_LENGTH: Final = 32
_DATE: Final = (1980, 1, 1, 0, 0, 0)
_PACKAGE: Final = Path(__file__).resolve().parents[2]


@cache
def bundle_key() -> str:
    """The hash of all that is sent."""
    digest = hashlib.sha256()
    for name, path in _files():
        data = path.read_bytes()
        digest.update(f"{name}\0{len(data)}\0".encode())
        digest.update(data)
    return digest.hexdigest()[:_KEY_LENGTH]


def bundle() -> bytes:
    """The archive, compressed: about a megabyte."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in _files():
            archive.writestr(zipfile.ZipInfo(name, _DATE), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def _files() -> Iterator[tuple[str, Path]]:
    """Every file by its name in the archive, in one order."""
    found = {f"gradstudio/{name}": _PACKAGE / name for name in _MODULES}
    for room in ROOMS:
        for path in (_PACKAGE / room).rglob("*.py"):
            found[f"gradstudio/{path.relative_to(_PACKAGE).as_posix()}"] = path
    for entry in _DATA:
        start = resources() / entry
        for path in start.rglob("*") if start.is_dir() else (start,):
            if path.is_file():
                found[f"gradstudio/resources/{path.relative_to(resources()).as_posix()}"] = path
    yield from sorted(found.items())
