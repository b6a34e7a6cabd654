"""Runs torchrun as long as whoever started it holds its standard input; then ends it, and all it has started.

A pipe ends with the process at its other end, however that ends, on every system and behind every line to a host. It
is started as a file, and sent to hosts as a text: it knows nothing of ours.
"""

import os
import runpy
import signal
import threading
import time

GRACE_S = 5.0
"""So long processes may take to finish their step and keep a checkpoint; then they are killed."""
INTERRUPTED = 130
_READ_BYTES = 1 << 16


def main() -> None:
    """torchrun, with the arguments of this process. Its processes find no input, as under torchrun in a job."""
    source, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    threading.Thread(target=_watch, args=(source,), daemon=True).start()
    runpy.run_module("torch.distributed.run", run_name="__main__", alter_sys=True)


def _watch(source: int) -> None:
    while os.read(source, _READ_BYTES):
        pass
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
