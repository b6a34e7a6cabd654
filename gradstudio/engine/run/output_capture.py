"""What a program says while it runs: its prints and the warnings of torch and Python, each at its node."""

import io
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import torch

from gradstudio.engine.clean_modes import clean_modes
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Printed, Warned

MAX_TEXT = 100_000
MOST_ALIKE = 100
"""Of one warning at one statement, in one go: a loop of many turns says it no more often."""
Locate = Callable[[FrameType | None], tuple[ItemId, int]]


class OutputCapture:
    """Turns prints and warnings into events.

    Attributes:
        locate: from a stack frame to the (node, line) of the program on it; set by the runner.
    """

    def __init__(self, send: Callable[[Message], None]) -> None:
        """Send events through `send`."""
        self._send = send
        self.locate: Locate = lambda frame: (ItemId(""), 0)
        self._alike: Counter[tuple[ItemId, int, str]] = Counter()

    def print(
        self, *values: object, sep: str | None = " ", end: str | None = "\n", file: object = None, flush: bool = False
    ) -> None:
        """The program's ``print``; what it writes is told without the last line break."""
        buffer = io.StringIO()
        print(*values, sep=sep, end=end, file=buffer)
        node, line = self.locate(sys._getframe(1))
        text = buffer.getvalue()
        self._send(Printed(node=node, line=line, text=text.removesuffix("\n")[:MAX_TEXT]))

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Every warning within is sent, also what torch says once a process, and none is shown elsewhere."""
        self._alike.clear()
        says_always = torch.is_warn_always_enabled()
        torch.set_warn_always(True)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                warnings.showwarning = self._show
                yield
        finally:
            torch.set_warn_always(says_always)

    def _show(
        self, message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: object, **__: object
    ) -> None:
        if clean_modes.entered:
            return
        node, line = self.locate(sys._getframe(1))
        text = str(message)[:MAX_TEXT]
        self._alike[node, line, text] += 1
        if self._alike[node, line, text] <= MOST_ALIKE:
            self._send(Warned(node=node, line=line, category=category.__name__, message=text))
