"""Two ends that never block, as the porter has them: what is read goes on at once, what is written waits its turn."""

import os
import selectors
from collections import deque
from collections.abc import Callable
from typing import Final

READ_BYTES: Final = 1 << 20
FULL_BYTES: Final = 1 << 22
"""What waits to be written is called much from here on."""


class Channel:
    """A source and a target of bytes on one selector.

    Attributes:
        waiting: bytes that were given and are not written yet.
        is_open: whether its source has not ended and its target takes bytes.
    """

    def __init__(self, selector: selectors.BaseSelector, source: int, target: int) -> None:
        """Nothing is read before `listen`."""
        self._selector, self._source, self._target = selector, source, target
        self._pieces: deque[memoryview] = deque()
        self._on_data: Callable[[bytes], None] = lambda _data: None
        self._is_listening = self._is_writing = False
        self.waiting, self.is_open = 0, True
        for descriptor in {source, target}:
            os.set_blocking(descriptor, False)

    @property
    def is_full(self) -> bool:
        """Whether much waits to be written."""
        return self.waiting > FULL_BYTES

    @property
    def is_listening(self) -> bool:
        """Whether its source is read, and has not ended."""
        return self._is_listening

    def listen(self, on_data: Callable[[bytes], None] | None) -> None:
        """Have what comes handed on, the end as no bytes; None: leave it in the pipe for now."""
        wants = on_data is not None and self.is_open
        if on_data is not None:
            self._on_data = on_data
        if wants and not self._is_listening:
            self._selector.register(self._source, selectors.EVENT_READ, self._read)
        elif self._is_listening and not wants:
            self._selector.unregister(self._source)
        self._is_listening = wants

    def write(self, data: bytes) -> None:
        """Write as soon as there is room; nothing to a target that takes no more."""
        if not self.is_open:
            return
        self._pieces.append(memoryview(data))
        self.waiting += len(data)
        if not self._is_writing:
            self._write()

    def close(self) -> None:
        """Read and write no more; what waits is dropped."""
        self.is_open = False
        self.listen(None)
        self._stop_writing()
        self._pieces.clear()
        self.waiting = 0

    def hang_up(self) -> None:
        """Close it for whoever is at the other end, too; its source and target are its own."""
        self.close()
        for descriptor in {self._source, self._target}:
            os.close(descriptor)

    def _read(self) -> None:
        if not self._is_listening:
            return  # it was closed by what was heard in the same turn
        try:
            data = os.read(self._source, READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self.listen(None)
        self._on_data(data)

    def _write(self) -> None:
        while self._pieces:
            piece = self._pieces[0]
            try:
                count = os.write(self._target, piece)
            except BlockingIOError:
                self._start_writing()
                return
            except OSError:  # nobody reads: its source ends as well, and that is heard
                self._pieces.clear()
                self.waiting = 0
                break
            self.waiting -= count
            if count == len(piece):
                self._pieces.popleft()
            else:
                self._pieces[0] = piece[count:]
        self._stop_writing()

    def _start_writing(self) -> None:
        if not self._is_writing:
            self._is_writing = True
            self._selector.register(self._target, selectors.EVENT_WRITE, self._write)

    def _stop_writing(self) -> None:
        if self._is_writing:
            self._is_writing = False
            self._selector.unregister(self._target)
