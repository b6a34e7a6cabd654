"""Memory that several ranks see, in which they agree on the turns that they record, and on where they stop."""

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

from gradstudio.protocol.process_group import STOP_BYTES, TURNS_AT, TURNS_BYTES


@contextmanager
def turns_memory(options: Sequence[str], count: int) -> Iterator[list[str]]:
    """The options for engines that are started meanwhile as so many ranks; it stays as long as one of them.

    Where the system gives none they are started without, and record what they can without agreeing.
    """
    shared: list[str] = []
    with ExitStack() as stack:
        if count > 1:
            with suppress(OSError):
                descriptor = _file(stack)
                os.write(descriptor, bytes(TURNS_BYTES + count * STOP_BYTES))
                shared = [f"{TURNS_AT}{descriptor}"]
        yield [*options, *shared]


def _file(stack: ExitStack) -> int:
    """Memory as an open file; where there is no such thing, a file without a name."""
    if sys.platform == "linux":
        descriptor = os.memfd_create("turns")
        stack.callback(os.close, descriptor)
        return descriptor
    return stack.enter_context(tempfile.TemporaryFile()).fileno()
