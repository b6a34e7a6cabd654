"""A line with a delay, as a process between two pipes: ``python slow_line.py DELAY_MS COMMAND…``.

Whatever is read waits so long before it is passed on, in both directions; nothing is lost, and order is kept.
"""

import os
import queue
import subprocess
import sys
import threading
import time

READ_BYTES = 1 << 16


def relay(source: int, target: int, delay_s: float) -> None:
    """Passes on what comes, each piece `delay_s` after it came; the end, too."""
    pieces: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()

    clock = threading.Event()  # nobody sets it: waiting for it takes its time

    def write() -> None:
        while True:
            due, data = pieces.get()
            clock.wait(max(0.0, due - time.monotonic()))
            if not data:
                os.close(target)
                return
            view = memoryview(data)
            while view:
                view = view[os.write(target, view) :]

    threading.Thread(target=write, daemon=True).start()
    while data := os.read(source, READ_BYTES):
        pieces.put((time.monotonic() + delay_s, data))
    pieces.put((time.monotonic() + delay_s, b""))


def main(delay_ms: str, *command: str) -> int:
    """Stands before a command until it ends."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert process.stdin is not None
    assert process.stdout is not None
    delay_s = float(delay_ms) / 1000
    there = threading.Thread(target=relay, args=(0, process.stdin.fileno(), delay_s), daemon=True)
    back = threading.Thread(target=relay, args=(process.stdout.fileno(), 1, delay_s), daemon=True)
    there.start()
    back.start()
    code = process.wait()
    back.join()
    threading.Event().wait(delay_s)  # what came back last is on its way
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
