"""Engines that are forked from one that has loaded torch, instead of being started each: two seconds of work apiece.

The tests start some three hundred engines. Here the protocol's `COMMAND` is replaced by `engine_stub.py`, which hands
its streams to one process that has loaded all that an engine loads, and stands for the engine that is forked there:
it ends as that ends, and when it is killed, so is that. Each engine still is a process of its own that nothing has
run in. What is about the start itself uses `STARTED`; each `python -m gradstudio` starts its engine in earnest, and
so does whoever sets what torch is loaded with, as the number of its threads. Engines that hosts and leaders of ranks
start are forks where a test says `everywhere`.

Run with a listening socket and the process to serve, this file is the process that forks; it ends with the other.
"""

import contextlib
import gc
import os
import selectors
import signal
import socket
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

from gradstudio.protocol import client, process_group

STARTED = client.COMMAND
"""What starts an engine in earnest."""
ENDED_BY_ERROR = 1
STANDARD, MOST_STREAMS, MOST_SIGNALS = 3, 4, 16
"""Its standard streams, and with them the file that ranks share."""
_taught: dict[str, str] = {}
"""Folders by what a Python learns there."""
_HERE = Path(__file__).resolve()
RUNS_FILE = """
import os, runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
del sys.argv[:3]
sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
held = runpy.run_path(sys.argv[0], run_name="__main__")  # a group of processes that is let go waits for the others
sys.exit()
"""
"""As Python runs a file, with arguments behind those of who forks."""
_START = (
    "import runpy, sys; sys.path.insert(0, sys.argv[1]); import gradstudio; del sys.path[0]; "
    "del sys.argv[:2]; runpy.run_path(sys.argv[0], run_name='__main__')"
)


def is_possible() -> bool:
    """Whether this system can fork an engine, and tell when a process has ended."""
    return hasattr(os, "pidfd_open") and hasattr(socket, "send_fds")


def use(folder: str) -> None:
    """Lets every engine that this process starts from now on be a fork; the first one starts what forks them.

    To be called before a window's modules are imported, which keep the command.
    """
    from gradstudio.protocol.ranks import rank_command  # noqa: F401 - takes what is replaced here: its leader is no fork
    from tests.helpers.engine_stub import loaded_with  # which the process that forks does not find

    stub = (sys.executable, "-I", "-S", str(_HERE.with_name("engine_stub.py")), os.path.join(folder, "engines"), "")
    forks = (sys.executable, "-P", "-u", "-c", _START, str(_HERE.parents[2]), str(_HERE), str(os.getpid()))
    client.COMMAND = (*stub, loaded_with(os.environ), *forks, "--", *STARTED)
    process_group.COMMAND = client.COMMAND  # where a window takes it from
    _teach_pythons(Path(folder) / "pythons")


def _teach_pythons(folder: Path) -> None:
    """Makes folders of which a Python that would become an engine, or a rank of torchrun, learns to become the stub."""
    asked, most = list(STARTED[1:]), len(STARTED)
    becomes = f"os.execv({client.COMMAND[0]!r}, [*{list(client.COMMAND)!r}, *sys.orig_argv[{most}:]])"
    _teach(folder / "engines", f"if sys.orig_argv[1:{most}] == {asked!r}:\n    {becomes}\n")
    becomes = f"os.execv({client.COMMAND[0]!r}, [*{list(changed_by(RUNS_FILE))!r}, *sys.orig_argv[2:]])"
    _teach(
        folder / "ranks", f"if 'TORCHELASTIC_RUN_ID' in os.environ and sys.orig_argv[1:2] == ['-u']:\n    {becomes}\n"
    )


def _teach(folder: Path, text: str) -> None:
    folder.mkdir(parents=True)
    (folder / "sitecustomize.py").write_text(f"import os, sys\n{text}")
    _taught[folder.name] = str(folder)


@contextlib.contextmanager
def _taught_to_all(what: str) -> Iterator[None]:
    before = os.environ.get("PYTHONPATH")
    if what in _taught:
        os.environ["PYTHONPATH"] = os.pathsep.join([_taught[what], *([before] if before else [])])
    try:
        yield
    finally:
        if before is not None:
            os.environ["PYTHONPATH"] = before
        else:
            os.environ.pop("PYTHONPATH", None)


def everywhere() -> contextlib.AbstractContextManager[None]:
    """Within, engines that other processes start are forks, too: at a host that is this machine, of a rank's leader.

    Not those of a version that was sent, which lies elsewhere.
    """
    return _taught_to_all("engines")


def ranks() -> contextlib.AbstractContextManager[None]:
    """Within, what torchrun starts are forks; torchrun itself is started in earnest."""
    return _taught_to_all("ranks")


def forks_others(command: list[str]) -> bool:
    """Whether a process with this command line is who forks, or a fork: not the test's, whoever called it first."""
    return command[1:4] == ["-P", "-u", "-c"] and str(_HERE) in command


def exit_status(code: object) -> int:
    """What Python makes of `sys.exit(code)`."""
    if code is None or isinstance(code, int):
        return code or 0
    print(code, file=sys.stderr)
    return ENDED_BY_ERROR


def changed_by(code: str) -> tuple[str, ...]:
    """What starts an engine that runs this code before it begins: another edge than that of this machine."""
    if client.COMMAND is STARTED:
        return (sys.executable, "-P", "-c", f"{code}; from gradstudio.engine.__main__ import main; main()")
    return (*client.COMMAND[:5], code, *client.COMMAND[6:])


def main(owner: int, listener: socket.socket) -> None:
    """Serves until the owner is gone."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    import numpy  # noqa: F401 - its threads know of forks

    threads = os.listdir("/proc/self/task")
    from gradstudio.engine import missing_operators, service  # noqa: F401 - all that an engine loads
    from gradstudio.engine.meta.fake_tensors import WarmUp

    WarmUp().finish()
    gc.freeze()
    assert os.listdir("/proc/self/task") == threads, "what another thread holds would be held for ever in a fork"
    Forks(owner, listener).serve()


class Forks:
    """The engines that were forked, and those who stand for them."""

    def __init__(self, owner: int, listener: socket.socket) -> None:
        """Nothing is forked yet."""
        self._listener = listener
        self._selector = selectors.DefaultSelector()
        self._engines: dict[int, int] = {}
        """By the descriptor of its stub's socket, the process."""
        self._selector.register(listener, selectors.EVENT_READ, self._fork)
        self._selector.register(os.pidfd_open(owner), selectors.EVENT_READ, self._end)

    def serve(self) -> None:
        """Forks an engine for each stub that calls."""
        while True:
            for key, _ in self._selector.select():
                key.data(key.fd)

    def _fork(self, _: int) -> None:
        stub, _ = self._listener.accept()
        size, streams, _, _ = socket.recv_fds(stub, 4, MOST_STREAMS)
        words, length = b"", int.from_bytes(size, "big")
        while len(words) < length and (more := stub.recv(length - len(words))):
            words += more
        if not length or len(words) < length:
            stub.close()  # it was killed before it could say what it wants
            return
        process = os.fork()
        if not process:
            self._become_engine(stub, streams, words)
        for stream in streams:
            os.close(stream)
        ended = os.pidfd_open(process)
        self._engines[stub.fileno()] = process
        self._selector.register(stub, selectors.EVENT_READ, lambda _: self._signal(stub))
        self._selector.register(ended, selectors.EVENT_READ, lambda _: self._tell_end(stub, ended))

    def _become_engine(self, stub: socket.socket, streams: list[int], words: bytes) -> None:
        """Never returns: the process ends here, as an engine."""
        for key in list(self._selector.get_map().values()):
            os.close(key.fd)
        self._selector.close()
        stub.close()
        for number, stream in enumerate(streams[:STANDARD]):
            os.dup2(stream, number)
            os.close(stream)
        folder, code, *environment = words.split(b"\0")
        try:
            os.chdir(folder)
            os.environb.clear()
            os.environb.update(one.partition(b"=")[::2] for one in environment)
            exec(code, {"files": streams[STANDARD:]})
            from gradstudio.engine.__main__ import main as engine

            engine()
        except SystemExit as end:
            os._exit(exit_status(end.code))  # here, where what was run is still held
        except BaseException:  # noqa: BLE001 - nothing of this process may go on in the loop that it was forked in
            traceback.print_exc()
        os._exit(ENDED_BY_ERROR)

    def _signal(self, stub: socket.socket) -> None:
        """What a stub passes on; its end is that of the engine."""
        if stub.fileno() not in self._engines:  # it has ended at the same moment
            return
        numbers = stub.recv(MOST_SIGNALS)
        if not numbers:
            self._selector.unregister(stub)
        for number in numbers or (signal.SIGKILL,):
            os.kill(self._engines[stub.fileno()], number)

    def _tell_end(self, stub: socket.socket, ended: int) -> None:
        _, status = os.waitpid(self._engines.pop(stub.fileno()), 0)
        with contextlib.suppress(KeyError):  # its stub was gone first
            self._selector.unregister(stub)
        with contextlib.suppress(OSError):
            stub.sendall(str(os.waitstatus_to_exitcode(status)).encode())
        stub.close()
        self._selector.unregister(ended)
        os.close(ended)

    def _end(self, _: int) -> None:
        for process in self._engines.values():
            os.kill(process, signal.SIGKILL)
        os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), socket.socket(fileno=int(sys.argv[2])))
