"""The code that this person trusts, by its hash, in a small file of its own among the settings."""

import os
import stat
from pathlib import Path
from typing import Final

import msgspec

from gradstudio.document.atomic_write import write_file
from gradstudio.document.errors import CannotSave

FILE: Final = "trusted.json"
MAX_DIGESTS: Final = 1000
"""So many are kept; the oldest are asked for again."""
MAX_BYTES: Final = 200_000
_OTHERS_MAY_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_OWNER_ONLY: Final = stat.S_IRUSR | stat.S_IWUSR


class _Trusted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the file holds: digests of all the code of a program, the oldest first."""

    trusted: list[str]


class TrustedCode:
    """Digests a person said yes to; whatever is wrong with the file, nothing in it is trusted.

    Attributes:
        problem: why the file could not be read or written, in words; "" when it was.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """Kept in a folder; without one, as long as this object lives."""
        self._path = folder / FILE if folder is not None else None
        self._digests: list[str] | None = None
        self.problem = ""

    def __contains__(self, digest: str) -> bool:
        """Whether a person said yes to this."""
        return digest in self._known()

    def add(self, digest: str) -> None:
        """A person said yes; a file that cannot be written is told of, and the yes holds until the end."""
        digests = [other for other in self._known() if other != digest]
        self._digests = [*digests, digest][-MAX_DIGESTS:]
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.touch(_OWNER_ONLY)
            self._path.chmod(_OWNER_ONLY)
            write_file(self._path, msgspec.json.encode(_Trusted(self._digests)))
        except (OSError, CannotSave) as error:
            self.problem = f"What you trust is not remembered beyond this window: {error}"

    def _known(self) -> list[str]:
        if self._digests is None:
            self._digests = self._read()
        return self._digests

    def _read(self) -> list[str]:
        if self._path is None:
            return []
        try:
            data = _bytes_of(self._path)
            found = msgspec.json.decode(data, type=_Trusted).trusted
        except FileNotFoundError:
            return []
        except (OSError, ValueError, RecursionError) as error:  # also what msgspec refuses
            self.problem = f"{self._path} is not read, and no code is trusted by it: {error}"
            return []
        if len(found) > MAX_DIGESTS or not all(map(_is_digest, found)):
            self.problem = f"{self._path} is not read, and no code is trusted by it: it holds something else."
            return []
        return found


def _bytes_of(path: Path) -> bytes:
    """What a file holds that is this person's alone."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(path, flags), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise ValueError("it is no file.")
        if os.name == "posix" and (about.st_uid != os.getuid() or about.st_mode & _OTHERS_MAY_WRITE):
            raise ValueError("others may write it.")
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError("it is too large.")
    return data


def _is_digest(text: str) -> bool:
    return len(text) == 64 and all(sign in "0123456789abcdef" for sign in text)
