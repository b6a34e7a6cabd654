"""The code that this person trusts, by its hash, in a small file of its own among the settings."""

from pathlib import Path
from typing import Final

import msgspec

from gradstudio.document.atomic_write import read_private, write_private
from gradstudio.document.errors import CannotSave

FILE: Final = "trusted.json"
MAX_DIGESTS: Final = 1000
"""So many are kept; the oldest are asked for again."""
MAX_BYTES: Final = 200_000


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
            write_private(self._path, msgspec.json.encode(_Trusted(self._digests)))
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
            data = read_private(self._path, MAX_BYTES)
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


def _is_digest(text: str) -> bool:
    return len(text) == 64 and all(sign in "0123456789abcdef" for sign in text)
