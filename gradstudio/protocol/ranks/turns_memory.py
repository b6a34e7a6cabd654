"""Memory that several ranks see, in which they agree on the turns that they record."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from gradstudio.protocol.process_group import TURNS_AT, TURNS_BYTES


@contextmanager
def turns_memory(options: Sequence[str], count: int) -> Iterator[list[str]]:
    """The options for engines that are started meanwhile as so many ranks; it stays as long as one of them."""
    if count < 2:
        yield list(options)
        return
    with tempfile.TemporaryFile() as file:
        os.ftruncate(file.fileno(), TURNS_BYTES)
        yield [*options, f"{TURNS_AT}{file.fileno()}"]
