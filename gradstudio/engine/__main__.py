"""Starts the engine: says who it is at once, imports torch, then serves."""

import gc
import os
import platform
import signal
import sys
from typing import TYPE_CHECKING

from gradstudio.engine.pipe import take_standard_streams
from gradstudio.protocol.messages.base import PROTOCOL_VERSION
from gradstudio.protocol.messages.events import Hello, Log
from gradstudio.protocol.parent_death import end_with_parent
from gradstudio.protocol.process_group import RUNS_CODE, lead_group, rank_of, turns_file_of
from gradstudio.temporary_folders import folder_of_workers, give_to_workers

if TYPE_CHECKING:
    from gradstudio.engine.service import Service

NOT_STARTED = 1
COLLECT = (20_000, 20, 50)
"""Thresholds of the garbage collector: new objects, and younger collections, before one is made."""


def main() -> None:
    """Serve; an engine that cannot begin says why in a line."""
    try:
        service = start()
    except (MemoryError, ImportError) as error:
        sys.stderr.write(f"The engine could not start: {str(error) or 'there is not enough memory'}\n")
        sys.stderr.flush()
        os._exit(NOT_STARTED)
    service.run()


def start() -> "Service":
    """Say who it is on the standard streams, import torch, and make what serves there until standard input ends.

    What is imported by then is never looked at again by the garbage collector (`gc.freeze`), which
    would otherwise walk all of torch in the middle of a traced run; and it looks seldom, for a record is
    many objects and no cycle.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    lead_group(sys.argv)
    inbox, outbox = take_standard_streams()
    hello = Hello(protocol=PROTOCOL_VERSION, ready=False, pid=os.getpid(), python=platform.python_version())
    outbox.send(hello)
    inbox.start()
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # threads that spin for work would take the window's cores

    import torch

    from gradstudio.engine.devices import devices
    from gradstudio.engine.missing_operators import is_other_version, missing_rows, notice
    from gradstudio.engine.service import Service
    from gradstudio.engine.value.rank_spread import Here
    from gradstudio.engine.walls import build_walls

    Here.rank = rank_of(sys.argv)
    if Here.rank is not None:
        from gradstudio.engine.backward.bucket_reductions import replicas
        from gradstudio.engine.turns.shared_stop import shared_stop
        from gradstudio.engine.turns.shared_turns import shared_turns

        replicas.see()
        shared_turns.open(turns_file_of(sys.argv), leads=Here.rank == 0)
        shared_stop.open(turns_file_of(sys.argv), Here.rank)
        inbox.heard_stop = shared_stop.hear
    if (folder := folder_of_workers(runs_code=RUNS_CODE in sys.argv)) is not None:
        inbox.ends = folder.remove
    give_to_workers()
    found = devices()  # first: a driver may have to be loaded by a program with more rights than ours
    walls = build_walls()
    service = Service(inbox, outbox)
    gc.freeze()
    gc.set_threshold(*COLLECT)
    outbox.send(
        Hello(
            protocol=PROTOCOL_VERSION,
            ready=True,
            pid=os.getpid(),
            python=platform.python_version(),
            torch=str(torch.__version__),
            devices=found,
            absent=missing_rows() if is_other_version() else (),
            walls=walls,
        )
    )
    if text := notice():
        outbox.send(Log(level="info", text=text))
    return service


if __name__ == "__main__":
    main()
