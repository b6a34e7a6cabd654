"""An engine behind whose list there is a hole: ``torch.relu(n)`` does the n-th deed that no drawing may do.

It is the engine's own process otherwise, with its own door and its own walls. What it does ends at the wall, or leaves
a mark: argument 1 is the folder of the marks and of a file `secret` to be read.
"""

import ctypes
import gc
import importlib
import marshal
import mmap
import os
import pathlib
import pickle
import runpy
import shutil
import socket
import subprocess
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

HERE = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
TOUCH = (sys.executable, "-c", "import pathlib, sys; pathlib.Path(sys.argv[1]).touch()")


def mark(name: str) -> str:
    return str(HERE / f"mark of {name}")


def deed_of(name: str) -> Callable[[], Any]:
    return DEEDS[name]


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)


def _listen() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        pathlib.Path(mark("server")).write_text(str(server.getsockname()))


def _thread() -> None:
    thread = threading.Thread(target=pathlib.Path(mark("thread")).touch)
    thread.start()
    thread.join()


DEEDS: dict[str, Callable[[], Any]] = {
    "open for writing": lambda: open(mark("open"), "w").close(),
    "append": lambda: open(mark("append"), "ab").close(),
    "low-level open": lambda: os.open(mark("os.open"), os.O_WRONLY | os.O_CREAT),
    "touch": lambda: pathlib.Path(mark("touch")).touch(),
    "read": lambda: (HERE / "secret").read_text(),
    "list": lambda: os.listdir(HERE),
    "make a folder": lambda: os.mkdir(mark("mkdir")),
    "remove": lambda: os.remove(HERE / "secret"),
    "rename": lambda: os.rename(HERE / "secret", mark("rename")),
    "remove a tree": lambda: shutil.rmtree(HERE),
    "map a file": lambda: mmap.mmap(-1, 16),
    "listen": _listen,
    "connect": lambda: socket.create_connection(("127.0.0.1", 9), 0.1),
    "look up a host": lambda: socket.getaddrinfo("localhost", 80),
    "subprocess": lambda: subprocess.run([*TOUCH, mark("subprocess")], check=True),
    "system": lambda: os.system(f"touch '{mark('system')}'"),
    "spawn": lambda: os.posix_spawn(sys.executable, [*TOUCH, mark("spawn")], {}),
    "exec": lambda: os.execv(sys.executable, [*TOUCH, mark("exec")]),
    "fork": _fork,
    "kill": lambda: os.kill(os.getpid(), 0),
    "a library": lambda: ctypes.CDLL(None),
    "memory": lambda: ctypes.string_at(id(HERE), 8),
    "import": lambda: importlib.import_module("xmlrpc.server"),
    "a statement of import": lambda: __import__("antigravity"),
    "text as code": lambda: exec("pass"),
    "text as a value": lambda: eval("1"),
    "compile": lambda: compile("1", "text", "eval"),
    "a function of code": lambda: types.FunctionType(deed_of.__code__, {}),
    "other code": lambda: deed_of.__code__.replace(co_name="x"),
    "marshalled code": lambda: marshal.loads(marshal.dumps(1)),
    "pickled objects": lambda: pickle.loads(pickle.dumps(pathlib.Path)),
    "a thread": _thread,
    "every object": gc.get_objects,
    "a trace": lambda: sys.settrace(None),
}


def main() -> None:
    """Make the hole, and be the engine."""
    import torch

    deeds, relu = list(DEEDS.values()), torch.relu

    def breached(number: torch.Tensor) -> object:
        deeds[int(number)]()
        return relu(number)

    torch.relu = breached  # type: ignore[assignment]
    runpy.run_module("gradstudio.engine", run_name="__main__")


if __name__ == "__main__":
    main()
