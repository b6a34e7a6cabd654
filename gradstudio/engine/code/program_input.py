"""Standard input of a trusted program: each line is asked of the person who runs it, while the program waits."""

import io
import os
import sys
from collections.abc import Callable
from typing import NamedTuple

from gradstudio.engine.code.program_output import Locate, ProgramOutput, Send
from gradstudio.engine.errors import Stopped
from gradstudio.protocol.messages.progress import Asked
from gradstudio.protocol.messages.requests import Answer

LOOK_S = 0.05
"""So often is looked whether the person wants to stop instead."""


class Person(NamedTuple):
    """Who may be asked.

    Attributes:
        answer: waits so many seconds for an answer; None where none came.
        stopped: whether they want the verb to stop.
    """

    answer: Callable[[float], Answer | None]
    stopped: Callable[[], bool]


class ProgramInput(io.TextIOBase):
    """Lines that a person types; without one it is at its end."""

    def __init__(self, person: Person | None, out: ProgramOutput, send: Send, locate: Locate) -> None:
        """Ask `person`; what stands at the end of `out` is the question."""
        super().__init__()
        self._person, self._out, self._send, self._locate = person, out, send, locate
        self._process = os.getpid()
        self._rest, self._is_over = "", person is None
        self._row = ""
        while person is not None and person.answer(0) is not None:
            pass  # typed for a program that had ended by then

    @property
    def encoding(self) -> str:  # type: ignore[override]  # of a class in C
        """Whatever is typed can be read."""
        return "utf-8"

    def readable(self) -> bool:
        """It gives text."""
        return True

    def readline(self, size: int | None = -1) -> str:  # type: ignore[override]  # named otherwise in C
        """The next line with its end; "" when nobody types any more.

        Raises:
            Stopped: the person stopped the run instead.
        """
        line = self._rest or self._ask()
        cut = len(line) if size is None or size < 0 else size
        self._rest = line[cut:]
        return line[:cut]

    def read(self, size: int | None = -1) -> str:
        """All that is typed until its end, or so much of it."""
        if size is not None and size >= 0:
            return self.readline(size)
        lines = []
        while line := self.readline():
            lines.append(line)
        return "".join(lines)

    def _ask(self) -> str:
        person = self._person
        if person is None or self._is_over or os.getpid() != self._process:
            return ""
        node, line = self._locate(sys._getframe(1))
        row, before = self._out.question(), self._row
        self._row = row
        self._send(Asked(node=node, line=line, prompt=row.removeprefix(before)))
        while not person.stopped():
            answer = person.answer(LOOK_S)
            if answer is not None:
                self._is_over = answer.text is None
                if answer.echo:
                    self._row = ""
                    self._out.write(f"{answer.text or ''}\n")
                return "" if answer.text is None else f"{answer.text}\n"
        raise Stopped
