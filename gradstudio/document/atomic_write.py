"""Writing a file so that whoever looks, at any moment, finds the old one whole or the new one whole.

What decides which code or which command runs is kept in files that are this person's alone: `write_private`, and
`read_private`, which reads no other.
"""

import contextlib
import errno
import os
import stat
import tempfile
from pathlib import Path
from typing import Final

from gradstudio.document.errors import CannotSave

UNFINISHED: Final = ".tmp"
"""How the name of a file ends that begins with a dot and is not whole yet."""
_OTHERS_MAY_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_OWNER_ONLY: Final = stat.S_IRUSR | stat.S_IWUSR
_REASONS = {
    errno.EACCES: "you may not write in the folder '{folder}'",
    errno.EPERM: "you may not write in the folder '{folder}'",
    errno.EROFS: "the folder '{folder}' is read-only",
    errno.ENOSPC: "the disk of '{folder}' is full",
    errno.EDQUOT: "your share of the disk of '{folder}' is used up",
    errno.ENOENT: "there is no folder '{folder}'",
    errno.ENOTDIR: "'{folder}' is not a folder",
    errno.EISDIR: "'{name}' is a folder",
    errno.ENAMETOOLONG: "the name '{name:.40}…' is too long",
    errno.ELOOP: "'{name}' is a link that leads round in a circle",
}


def write_file(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Replace or make the file; its permissions stay, and a link stays a link.

    Args:
        path: the file.
        data: what it shall hold.
        durable: wait until the disk has it, so that a power cut cannot take it either.

    Raises:
        CannotSave: the old file, if there was one, is untouched.
    """
    try:
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "a folder")
        _replace(target, data, durable)
    except ValueError as error:  # a name with a null byte
        raise CannotSave(f"Not saved: {str(path)!r} is no file name.") from error
    except OSError as error:
        raise CannotSave(f"Not saved: {system_refusal(error, path)}. What was there before is untouched.") from error


def remove_unfinished(folder: Path, name: str = "*") -> None:
    """Take away what a killed `write_file` has left there, of files of this name; nobody may be writing one."""
    for left in folder.glob(f".{name}.*{UNFINISHED}"):
        with contextlib.suppress(OSError):
            left.unlink()


def write_private(path: Path, data: bytes) -> None:
    """Replace or make a file that nobody else may read or write, and its folder.

    Raises:
        OSError, CannotSave: it is as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(_OWNER_ONLY)
    path.chmod(_OWNER_ONLY)
    write_file(path, data)


def read_private(path: Path, most_bytes: int) -> bytes:
    """What a file holds that is this person's alone.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no file, others may write it, or it is larger.
    """
    return read_ordinary(path, most_bytes, is_private=True)


def read_ordinary(path: Path, most_bytes: int, *, is_private: bool = False) -> bytes:
    """What an ordinary file holds; no link is followed, and no pipe or device is waited for.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no file, or larger, or, where it `is_private`, others may write it.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(path, flags), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise ValueError("it is no file.")
        is_others = os.name == "posix" and (about.st_uid != os.getuid() or about.st_mode & _OTHERS_MAY_WRITE)
        if is_private and is_others:
            raise ValueError("others may write it.")
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise ValueError("it is too large.")
    return data


def system_refusal(error: OSError, path: Path) -> str:
    """What the system refused, in words."""
    pattern = _REASONS.get(error.errno or 0, "the system says '{system}'")
    return pattern.format(folder=path.parent, name=path.name, system=error.strerror or error)


def _replace(target: Path, data: bytes, durable: bool) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{target.name[:60]}.", suffix=UNFINISHED, dir=target.parent)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    if durable:
        _sync_folder(target.parent)


def _mode(target: Path) -> int:
    """Permissions of the file that is there, else those a new file gets."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    """Let the disk know the new name; where folders cannot be synced (Windows) the system does it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
