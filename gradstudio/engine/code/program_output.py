"""Standard output and error of a trusted program: its lines, and its bars of progress, at the node that writes them."""

import io
import os
import sys
import time
from collections.abc import Callable
from types import FrameType

from gradstudio.engine.code.terminal_rows import TerminalRows
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Printed

MAX_TEXT = 100_000
BARS_EVERY_S = 0.1
"""So often is told of a bar that moves."""
Send = Callable[[Message], None]
Locate = Callable[[FrameType | None], tuple[ItemId, int]]


class ProgramOutput(io.TextIOBase):
    """One stream of a program: each line is told at the node that wrote it.

    Attributes:
        other: the stream that shares the terminal: what was ended here stands above what is written there next.
    """

    def __init__(self, send: Send, locate: Locate, *, is_error: bool = False) -> None:
        """Lines are sent by `send`; `is_error`: it is standard error."""
        super().__init__()
        self._send, self._locate, self._is_error = send, locate, is_error
        self._rows = TerminalRows()
        self._place: tuple[ItemId, int] = ItemId(""), 0
        self._process = os.getpid()
        self._told_bar, self._told_s = "", 0.0
        self.other: ProgramOutput | None = None

    @property
    def encoding(self) -> str:  # type: ignore[override]  # of a class in C
        """Whatever is written can be shown."""
        return "utf-8"

    @property
    def buffer(self) -> "io.RawIOBase":
        """For who writes bytes."""
        return _Bytes(self)

    def writable(self) -> bool:
        """It takes text."""
        return True

    def write(self, text: str) -> int:
        """Take text."""
        if os.getpid() != self._process:  # a process that the program made: the protocol is none of its business
            os.write(2, text.encode(errors="replace"))
            return len(text)
        if self.other is not None:
            self.other.settle()
        place, bars = self._locate(sys._getframe(1)), self._rows.bars
        for line in self._rows.write(text):
            self._tell(line, self._place if bars or not place[0] else place)
        is_new = not bars or self._rows.bars > bars
        if text.strip("\n") and place[0] and is_new:
            self._place = place  # a bar stays where it began, whatever runs when it moves on
        self._tell_bars()
        return len(text)

    def question(self) -> str:
        """What stands on the line that was not ended: it is told, in case somebody waits for an answer to it."""
        for line in self._rows.settle():
            self._tell(line, self._place)
        text = self._rows.row
        if text.strip():
            self._send(Printed(node=self._place[0], line=self._place[1], text=text[-MAX_TEXT:], passing=True))
        return text

    def settle(self) -> None:
        """Tell what was ended and could still have been drawn over."""
        for line in self._rows.settle():
            self._tell(line, self._place)

    def finish(self) -> None:
        """Tell what stands on a line that was not ended."""
        for line in self._rows.finish():
            self._tell(line, self._place)

    def _tell_bars(self) -> None:
        """Show the bars as they stand, from time to time."""
        bar = self._rows.bar
        if bar and bar != self._told_bar and time.monotonic() - self._told_s >= BARS_EVERY_S:
            self._told_bar, self._told_s = bar, time.monotonic()
            self._send(Printed(node=self._place[0], line=self._place[1], text=bar[-MAX_TEXT:], passing=True))

    def _tell(self, line: str, place: tuple[ItemId, int]) -> None:
        self._send(Printed(node=place[0], line=place[1], text=line[:MAX_TEXT], is_error=self._is_error))


class _Bytes(io.RawIOBase):
    """The same stream for bytes."""

    def __init__(self, stream: ProgramOutput) -> None:
        super().__init__()
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]  # of any buffer
        text = bytes(data).decode("utf-8", "replace")
        self._stream.write(text)
        return len(bytes(data))


def console(send: Send, locate: Locate) -> tuple[ProgramOutput, ProgramOutput]:
    """Standard output and error of one program."""
    out, error = ProgramOutput(send, locate), ProgramOutput(send, locate, is_error=True)
    out.other, error.other = error, out
    return out, error
