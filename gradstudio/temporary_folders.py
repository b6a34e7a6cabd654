"""Folders for what a process puts aside: removed at its end, and where it was killed by the next one that begins."""

import atexit
import contextlib
import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from typing import Final

PREFIX: Final = "gradstudio-"
WORKERS_AT: Final = "GRADSTUDIO_WORKERS_AT"
"""In the environment of an engine: the folder of the processes that code starts."""
LOCK: Final = ".lives"
"""A file in each that is locked as long as its process, or one that was forked from it, lives."""


class TemporaryFolder:
    """A folder for this process and those that it starts; `path` is where."""

    def __init__(self, kind: str) -> None:
        """Make one, and remove those of this kind whose processes have ended without doing so.

        Raises:
            OSError: there is no room for one.
        """
        sweep(kind)
        self.path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{kind}-"))
        beginning = self.path / f"{LOCK}-soon"
        self._lock = os.open(beginning, os.O_RDWR | os.O_CREAT, 0o600)
        with contextlib.suppress(OSError):  # where nothing can be locked, nothing is swept
            _take(self._lock)
        beginning.rename(self.path / LOCK)  # with its name it is locked: nobody finds it otherwise

    def remove(self) -> None:
        """At the end of this process."""
        atexit.unregister(self.remove)
        shutil.rmtree(self.path, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.close(self._lock)

    def __enter__(self) -> Path:
        """Where it is."""
        return self.path

    def __exit__(self, *_: object) -> None:
        """Nobody needs it any more."""
        self.remove()


def folder_of_workers(*, runs_code: bool) -> TemporaryFolder | None:
    """For what the processes put aside that code of an engine starts; it goes when this process comes to its end.

    Its place is in the environment, for all ranks of a leader. None where the engine was started for no code, where
    there is one already, or no room for one: then each worker makes its own.
    """
    if not runs_code or os.path.isdir(os.environ.get(WORKERS_AT, "")):
        return None
    try:
        folder = TemporaryFolder("engine")
    except OSError:
        return None
    os.environ[WORKERS_AT] = str(folder.path)
    atexit.register(folder.remove)
    return folder


def give_to_workers() -> None:
    """Have the processes that this one starts put sockets and the like there.

    WORKAROUND(each worker of a loader makes a folder for itself, which stays where the worker is killed).
    """
    if folder := os.environ.get(WORKERS_AT):
        import multiprocessing

        vars(multiprocessing.current_process())["_config"]["tempdir"] = folder


def sweep(kind: str) -> None:
    """Remove folders that are this user's and whose processes are dead, as their locks say; any other stays."""
    if sys.platform == "win32":
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}{kind}-*"):
        with contextlib.suppress(OSError):
            found = folder.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
                continue
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                _take(lock)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _take(lock: int) -> None:
    """Lock an open file, until all that have it open have ended.

    Raises:
        OSError: another process has.
    """
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
