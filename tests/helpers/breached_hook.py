"""An engine with a hole in its list and in its audit hook: ``torch.relu(n)`` does the n-th deed, and nothing hears it.

What it does is left to the kernel. Argument 1 is the folder of the marks and of a file `secret`.
"""

import ctypes
import fcntl
import importlib
import os
import pathlib
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import Any

HERE = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
LIBRARY = ctypes.CDLL(None, use_errno=True)


def mark(name: str) -> str:
    return str(HERE / f"mark of {name}")


def _in_a_thread() -> None:
    failures: list[OSError] = []

    def touch() -> None:
        try:
            pathlib.Path(mark("thread")).touch()
        except OSError as error:
            failures.append(error)

    thread = threading.Thread(target=touch)
    thread.start()
    thread.join()
    raise failures[0]


def _below_python() -> None:
    _raised(LIBRARY.open(mark("C").encode(), os.O_WRONLY | os.O_CREAT, 0o600))


def _datagram() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as speaker:
        speaker.sendto(b"secret", ("127.0.0.1", 9))


def _local_socket() -> None:
    with socket.socket(socket.AF_UNIX) as speaker:
        speaker.connect(mark("socket"))


def _raised(result: int) -> None:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


OF_FILES: dict[str, Callable[[], Any]] = {
    "write": lambda: open(mark("write"), "w").close(),
    "write below Python": _below_python,
    "write in a thread": _in_a_thread,
    "write over": lambda: (HERE / "secret").write_text(""),
    "shorten": lambda: os.truncate(HERE / "secret", 0),
    "make a folder": lambda: os.mkdir(mark("folder")),
    "make a link": lambda: os.symlink("/", mark("link")),
    "give another name": lambda: os.link(HERE / "secret", mark("name")),
    "remove": lambda: os.remove(HERE / "secret"),
    "rename": lambda: os.rename(HERE / "secret", mark("rename")),
    "write its own memory": lambda: open("/proc/self/mem", "wb").close(),
    "connect": lambda: socket.create_connection(("127.0.0.1", 9), 1),
    "start a program": lambda: subprocess.run([sys.executable, "-c", ""], check=True),
    "stop its parent": lambda: os.kill(os.getppid(), signal.SIGCONT),
}
"""What Landlock refuses."""
OF_CALLS: dict[str, Callable[[], Any]] = {
    "datagram": _datagram,
    "local socket": _local_socket,
    "listen": lambda: socket.create_server(("127.0.0.1", 0)).close(),
    "become a program": lambda: os.execv(sys.executable, [sys.executable, "-c", ""]),
    "change rights": lambda: os.chmod(HERE / "secret", 0o777),
    "change times": lambda: os.utime(HERE / "secret", (0, 0)),
    "attributes": lambda: os.setxattr(HERE / "secret", "user.mark", b"1"),
    "trace its parent": lambda: _raised(LIBRARY.ptrace(16, os.getppid(), None, None)),
    "type into a terminal": lambda: fcntl.ioctl(os.openpty()[1], 0x5412, b"x"),
    "a namespace": lambda: _raised(LIBRARY.unshare(0x10000000)),
}
"""What seccomp refuses."""
DEEDS = {**OF_FILES, **OF_CALLS}
ALLOWED: dict[str, Callable[[], Any]] = {
    "read": lambda: (HERE / "secret").read_text(),
    "list": lambda: os.listdir(HERE),
    "import": lambda: importlib.import_module("xmlrpc.server"),
    "nowhere": lambda: pathlib.Path(os.devnull).write_text("x"),
    "a file for a while": tempfile.NamedTemporaryFile,
}
"""What is left to it, which no kernel refuses here."""
NUMBERED = [*DEEDS.values(), *ALLOWED.values()]


def main() -> None:
    """Make the holes, and be the engine."""
    import torch

    from gradstudio.engine.audit_wall import wall

    relu = torch.relu

    def breached(number: torch.Tensor) -> object:
        before, wall.up = wall.up, None
        try:
            NUMBERED[int(number)]()
        finally:
            wall.up = before
        return relu(number)

    torch.relu = breached  # type: ignore[assignment]
    runpy.run_module("gradstudio.engine", run_name="__main__")


if __name__ == "__main__":
    main()
