"""Stored tensors on a host, in the cache folder of whoever is there: by hash, each once, within a bound.

Runs there. A file is written whole or not at all, and its hash is looked at when it comes and each time it is read.
"""

import contextlib
import hashlib
import os
import shutil
import tempfile
import zlib
from pathlib import Path
from typing import Final

from gradstudio.protocol.errors import BrokenFrame
from gradstudio.protocol.messages.hosting import Needs, Piece

MOST_BYTES: Final = 20_000_000_000
"""All of them together; those that were not used for the longest time go first."""
MOST_OF_FREE: Final = 0.5
"""So much of what is free on the disk may be taken by one more."""
LARGEST_TENSOR: Final = 1 << 31
OWNER: Final = 0o700


def cache_folder() -> Path:
    """Where this person's caches of GradStudio are."""
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "gradstudio"


class TensorStock:
    """The files of a folder, by digest."""

    def __init__(self, folder: Path | None = None, most_bytes: int = MOST_BYTES) -> None:
        """Kept in that folder, which is made when the first one comes."""
        self.folder = folder or cache_folder() / "tensors"
        self._most_bytes = most_bytes

    def get(self, digest: str) -> bytes | None:
        """The bytes; None where they are not here. What was changed is thrown away."""
        path = self.folder / digest
        try:
            data = path.read_bytes()
        except OSError:
            return None
        if hashlib.sha256(data).hexdigest() != digest:
            path.unlink(missing_ok=True)
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return data

    def put(self, digest: str, data: bytes) -> str:
        """Keep them; why not in words, "" when they are kept."""
        try:
            self.folder.mkdir(OWNER, parents=True, exist_ok=True)
            self._make_room(len(data))
            if len(data) > min(self._most_bytes, shutil.disk_usage(self.folder).free * MOST_OF_FREE):
                return "there is too little room"
            self._write(digest, data)
        except OSError as error:
            return str(error.strerror)
        return ""

    def _write(self, digest: str, data: bytes) -> None:
        handle, name = tempfile.mkstemp(dir=self.folder, prefix=".")  # for its owner alone
        try:
            with open(handle, "wb") as file:
                file.write(data)
            os.replace(name, self.folder / digest)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise

    def _make_room(self, size: int) -> None:
        """Throw away what was not used for the longest time, and what was left half written."""
        kept = []
        for path in self.folder.iterdir():
            with contextlib.suppress(OSError):  # another engine may throw it away as well
                about = path.stat()
                kept.append((about.st_mtime, about.st_size, path))
        used = sum(found for _, found, _ in kept)
        for _, found, path in sorted(kept):
            if used + size <= self._most_bytes:
                return
            path.unlink(missing_ok=True)
            used -= found


class Arrival:
    """One tensor that is coming in pieces; no more than its announced size is ever held."""

    def __init__(self, digest: str, size: int) -> None:
        """Nothing has come yet.

        Raises:
            BrokenFrame: it is larger than any.
        """
        if size > LARGEST_TENSOR:
            raise BrokenFrame(f"A stored tensor of {size} bytes was announced; the largest has {LARGEST_TENSOR}.")
        self.digest, self._size = digest, size
        self._data = bytearray()

    def add(self, piece: Piece) -> None:
        """Take a piece.

        Raises:
            BrokenFrame: it is more than was announced, or not what it says.
        """
        room = self._size - len(self._data)
        data = piece.data
        if piece.is_packed:
            unpacking = zlib.decompressobj()
            try:
                data = unpacking.decompress(piece.data, room + 1)
            except zlib.error as error:
                raise BrokenFrame(f"A piece of a stored tensor cannot be unpacked: {error}") from error
        if len(data) > room:
            raise BrokenFrame(f"The stored tensor {self.digest[:12]}… has more than {self._size} bytes.")
        self._data += data

    def whole(self) -> bytes:
        """The tensor.

        Raises:
            BrokenFrame: it is another.
        """
        data = bytes(self._data)
        if hashlib.sha256(data).hexdigest() != self.digest:
            raise BrokenFrame(f"The stored tensor {self.digest[:12]}… came as another one.")
        return data


class TensorDesk:
    """Gives the engine the stored tensors that its requests need; requests wait while one is on its way."""

    def __init__(self, stock: TensorStock) -> None:
        """Nothing was asked for."""
        self._stock = stock
        self._given: set[str] = set()
        self._coming: dict[str, Arrival] = {}

    @property
    def waits(self) -> bool:
        """Whether a tensor is on its way."""
        return bool(self._coming)

    def look(self, needs: Needs) -> tuple[dict[str, bytes], tuple[str, ...]]:
        """What is here for the engine, and what is to be sent."""
        found = {}
        for digest, size in needs.tensors.items():
            if digest in self._given:
                continue
            data = self._stock.get(digest)
            if data is None:
                self._coming[digest] = Arrival(digest, size)
            else:
                self._given.add(digest)
                found[digest] = data
        return found, tuple(self._coming)

    def take(self, piece: Piece) -> tuple[dict[str, bytes], str]:
        """What is whole by this piece, and why it is not kept; "" when it is.

        Raises:
            BrokenFrame: it is something else than was asked for.
        """
        arrival = self._coming.get(piece.digest)
        if arrival is None:
            return {}, ""
        arrival.add(piece)
        if not piece.is_last:
            return {}, ""
        del self._coming[piece.digest]
        data = arrival.whole()
        self._given.add(piece.digest)
        return {piece.digest: data}, self._stock.put(piece.digest, data)
