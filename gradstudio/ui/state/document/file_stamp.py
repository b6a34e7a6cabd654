"""How a file looks from outside: enough to see that another program has written it. Nothing is read here."""

from pathlib import Path
from typing import NamedTuple


class Stamp(NamedTuple):
    """When a file was written, and how long it is; a file that is not there has -1."""

    modified_ns: int
    size_bytes: int


GONE = Stamp(-1, -1)


def stamp_of(path: Path) -> Stamp:
    """The stamp of a file as it lies there now."""
    try:
        found = path.stat()
    except OSError:
        return GONE
    return Stamp(found.st_mtime_ns, found.st_size)
