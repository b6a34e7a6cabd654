"""Engines that cost no start, for drivers that kill many: one process imports torch, and forks one for whoever asks.

What is to be started is this file, which loads nothing: it hands its standard streams to the forking process, and ends
as the engine ends. All from the engine's first word on is as in an engine that was started by itself.
"""

import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

STREAMS = 3
BACKLOG = 8


class EngineForks:
    """What forks the engines; use it as a context manager.

    Attributes:
        command: what "starts" an engine.
    """

    def __init__(self) -> None:
        """Start the process that imports torch, and wait until it has."""
        self._folder = tempfile.TemporaryDirectory(prefix="gradstudio-campaign-")
        path = str(Path(self._folder.name) / "engines")
        self.command = [sys.executable, "-S", "-E", __file__, path]
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tools.campaign.engine_forks", "--serve", path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._server.stdout is not None
        self._server.stdout.readline()

    def __enter__(self) -> "EngineForks":
        """These engines."""
        return self

    def __exit__(self, *_: object) -> None:
        """End what forks them, and with it every engine."""
        end_server(self._server)
        self._folder.cleanup()


def end_server(server: "subprocess.Popen[bytes] | subprocess.Popen[str]") -> None:
    """End a process that forks others as long as somebody holds its standard input."""
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.close()
    server.stdout.close()
    server.wait()


def relay(path: str) -> None:
    """Give these standard streams to an engine, wait until it has ended, and end in the same way."""
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect(path)
        socket.send_fds(asked, [b"x"], list(range(STREAMS)))
        for stream in range(STREAMS):
            os.close(stream)
        ended = int(asked.recv(16) or b"1")
    if ended < 0:
        os.kill(os.getpid(), -ended)
    os._exit(ended)


def serve(path: str) -> None:
    """Fork an engine for each that asks, until standard input ends; tell each how its engine ended."""
    import torch  # noqa: F401 - what the forked ones need not import

    import gradstudio.engine.service
    import gradstudio.engine.walls  # noqa: F401 - the same
    from gradstudio.engine.meta.fake_tensors import WarmUp

    WarmUp().finish()
    engines: dict[int, tuple[int, socket.socket]] = {}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(BACKLOG)
        print("ready", flush=True)
        while True:
            watched_for: list[int | socket.socket] = [0, listener, *engines, *(one for _, one in engines.values())]
            found, _, _ = select.select(watched_for, [], [])
            if 0 in found:
                break
            if listener in found:
                _begin(listener, engines)
            for watched, (process, one) in list(engines.items()):
                if one in found and watched not in found:
                    os.kill(process, signal.SIGKILL)  # nobody waits for it any more
                if watched in found:
                    _finish(engines, watched)
    for process, _ in engines.values():
        os.kill(process, signal.SIGKILL)


def _begin(listener: socket.socket, engines: dict[int, tuple[int, socket.socket]]) -> None:
    asked, _ = listener.accept()
    _, streams, _, _ = socket.recv_fds(asked, 1, STREAMS)
    process = os.fork()
    if not process:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(STREAMS, max(*streams, *engines, listener.fileno(), asked.fileno()) + 1)
        _become_engine()
    for stream in streams:
        os.close(stream)
    engines[os.pidfd_open(process)] = process, asked


def _become_engine() -> None:
    from gradstudio.engine.__main__ import main

    sys.argv = ["gradstudio.engine"]
    try:
        main()
    finally:
        os._exit(1)


def _finish(engines: dict[int, tuple[int, socket.socket]], watched: int) -> None:
    process, asked = engines.pop(watched)
    _, status = os.waitpid(process, 0)
    try:
        asked.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    except OSError:
        pass
    asked.close()
    os.close(watched)


if __name__ == "__main__":
    if sys.argv[1] == "--serve":
        serve(sys.argv[2])
    else:
        relay(sys.argv[1])
