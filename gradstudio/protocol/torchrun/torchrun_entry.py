"""Runs torchrun as long as whoever started it holds its standard input; then ends it, and all it has started.

A pipe ends with the process at its other end, however that ends, on every system and behind every line to a host. It
is started as a file, here and on hosts.
"""

import os
import runpy
import select
import signal
import sys
import threading
import time
from pathlib import Path

GRACE_S = 5.0
"""So long processes may take to finish their step and keep a checkpoint; then they are killed."""
LOOK_S = 0.2
"""So often a file of metrics is looked at."""
FOLLOW = "--follow"
"""Before torchrun's options, with a path: lines of metrics that are put there are said, too."""
INTERRUPTED = 130
LINE = "\x1fgradstudio metrics {}\x1e\n"
_READ_BYTES = 1 << 16


def main() -> None:
    """torchrun, with the arguments of this process."""
    follower = None
    if sys.argv[1:2] == [FOLLOW]:
        follower = Follower(Path(sys.argv[2]))
        del sys.argv[1:3]
    hold()
    run(follower)


def hold(quiet_s: float | None = None) -> None:
    """End with standard input from now on, or when nothing came for so long. Processes started later find no input."""
    source, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    threading.Thread(target=_watch, args=(source, quiet_s), daemon=True).start()


class Follower:
    """Says the lines that are put into a file from now on; one that begins anew is said from its beginning."""

    def __init__(self, path: Path) -> None:
        """Look at it again and again."""
        self._path, self._lock = path, threading.Lock()
        self._place = path.stat().st_size if path.is_file() else 0
        threading.Thread(target=self._follow, daemon=True).start()

    def look(self) -> None:
        """Say what is whole by now."""
        with self._lock:
            try:
                with self._path.open("rb") as file:
                    if file.seek(0, os.SEEK_END) < self._place:
                        self._place = 0
                    file.seek(self._place)
                    whole, end, _ = file.read().rpartition(b"\n")
            except OSError:
                return
            self._place += len(whole) + len(end)
            for line in whole.splitlines():
                os.write(1, LINE.format(line.decode("utf-8", "replace")).encode())

    def _follow(self) -> None:
        while True:
            self.look()
            time.sleep(LOOK_S)


def run(follower: Follower | None) -> None:
    """torchrun, to its end; all lines of metrics are said by then.

    Raises:
        SystemExit: it has failed.
    """
    try:
        runpy.run_module("torch.distributed.run", run_name="__main__", alter_sys=True)
    finally:
        if follower is not None:
            follower.look()


def _watch(source: int, quiet_s: float | None) -> None:
    while quiet_s is None or select.select([source], [], [], quiet_s)[0]:
        if not os.read(source, _READ_BYTES):
            break
    _end()


def _end() -> None:
    """Have torchrun end its processes, and kill who has not ended in time; this thread ends with the process."""
    import psutil  # torchrun that comes to its end needs it not

    own = psutil.Process()
    started = own.children(recursive=True)
    if hasattr(signal, "pthread_kill"):  # it also ends a call of the system that the main thread waits in
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)
    time.sleep(GRACE_S)
    for one in {*started, *own.children(recursive=True)}:
        try:
            one.kill()
        except psutil.NoSuchProcess:
            continue
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
