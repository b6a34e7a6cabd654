"""Stands for an engine that `engine_forks` forks: has its streams, ends as it ends, takes it along when killed."""

import contextlib
import fcntl
import os
import signal
import socket
import sys
from collections.abc import Mapping

LOADED_WITH = ("OMP_", "MKL_", "OPENBLAS_", "TORCH_", "PYTORCH_", "CUDA_")
"""How variables begin that are read while torch is loaded, and never again."""

PASSED_ON = (signal.SIGINT, signal.SIGTERM)
"""Of what runs other code than an engine's; an engine hears of neither."""

ENGINE = "gradstudio.engine"
"""What is started; behind it stand its arguments."""

OPEN_FILE = "--turns-at="
"""With the number of a file that whoever started this has handed down."""


def loaded_with(environment: Mapping[str, str]) -> str:
    """What of an environment torch is loaded with."""
    return repr(sorted(pair for pair in environment.items() if pair[0].startswith(LOADED_WITH)))


def main(address: str, code: str, loaded: str, commands: list[str]) -> None:
    """Asks for an engine at the address and ends with it; becomes an engine where it is to load torch otherwise.

    Args:
        code: what the engine runs before it begins.
        loaded: what torch was loaded with there.
        commands: what starts who answers, "--", what starts an engine in earnest.
    """
    border = commands.index("--")
    forks, started = commands[:border], commands[border + 1 :]
    if not code and loaded_with(os.environ) != loaded:
        os.execv(started[0], [started[0], "-X", "in_earnest", *started[1:]])
    arguments = started[started.index(ENGINE) + 1 :]
    passed_on = PASSED_ON if code else ()
    files = [int(one.removeprefix(OPEN_FILE)) for one in arguments if one.startswith(OPEN_FILE)]
    if arguments:
        others = [one for one in arguments if not one.startswith(OPEN_FILE)]
        code = f"import sys; sys.argv += [*{others}, *(f'{OPEN_FILE}{{number}}' for number in files)]\n{code}"
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # as an engine does
    with called(address, forks) as line:
        environment = [name + b"=" + value for name, value in os.environb.items()]
        words = b"\0".join([os.getcwdb(), code.encode(), *environment])
        signal.pthread_sigmask(signal.SIG_BLOCK, passed_on)  # until what this stands for may hear of them
        socket.send_fds(line, [len(words).to_bytes(4, "big")], [0, 1, 2, *files])
        line.sendall(words)
        for number in passed_on:
            signal.signal(number, lambda number, _: pass_on(line, number))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, passed_on)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        status = line.recv(16)
    if not status:
        with open(address + ".log") as log:
            sys.exit(f"what forks the engines has ended: {log.read()}")
    end(int(status))


def pass_on(line: socket.socket, number: int) -> None:
    """Have who forks send a signal to what this stands for, if it still runs."""
    with contextlib.suppress(OSError):
        line.sendall(bytes([number]))


def end(status: int) -> None:
    """Ends as a process ended with this status: by its signal, or with its exit code."""
    if status < 0:
        if status != -signal.SIGKILL:
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def called(address: str, forks: list[str]) -> socket.socket:
    """A line to who forks; the first to call starts it, and its call waits until torch is loaded there."""
    line = socket.socket(socket.AF_UNIX)
    with open(address + ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(address):
            start(address, forks)
        line.connect(address)
    return line


def start(address: str, forks: list[str]) -> None:
    """Starts who forks, with the socket on which it listens."""
    import subprocess

    with socket.socket(socket.AF_UNIX) as listener, open(address + ".log", "w") as log:
        listener.bind(address)
        listener.listen(64)
        listener.set_inheritable(True)
        subprocess.Popen(
            [*forks, str(listener.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            close_fds=True,
            pass_fds=[listener.fileno()],
            start_new_session=True,
        )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
