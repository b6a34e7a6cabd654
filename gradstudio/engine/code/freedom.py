"""Whether texts run freely: only while a verb carries out a program that is trusted, in an engine started for that.

Everything else in the engine, inference and experiments among it, finds the list by type standing, and undrawn Python
compiled into a refusal.
"""

import __future__

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from gradstudio.graph.text.code_records import DEFER_ANNOTATIONS
from gradstudio.program.model import Program
from gradstudio.program.trust import code_digest
from gradstudio.protocol.messages.requests import Trust
from gradstudio.protocol.process_group import RUNS_CODE

NOT_HERE = "This engine keeps its walls and runs no code that is not drawn."
NEEDED = (
    "The program holds Python that is not drawn, which can do whatever you can. It runs only where you trust it: "
    "the window asks when you run it, on the command line say `run --trust`."
)
CHANGED = "The code of the program is not the one that was trusted."
ASKED_ONLY = "A program with code of its own runs when it is asked to, and never by itself."
_DEFERRED = __future__.annotations.compiler_flag
DRAWN_ONLY = "A program with code of its own is not run again on the side."


class Freedom:
    """What holds in this process.

    Attributes:
        is_for_code: the process was started for running its user's code: the kernel refuses it nothing.
        now: what is compiled and executed at this moment is trusted.
        flags: of `compile`, for what is: how the script asks in advance to be read.
    """

    def __init__(self) -> None:
        """Nothing is trusted."""
        self.is_for_code = False
        self.now = False
        self.flags = 0

    def settle(self) -> None:
        """The process has begun: its command line says what it is for."""
        self.is_for_code = RUNS_CODE in sys.argv

    def refusal(self, program: Program, trust: Trust | None) -> str:
        """Why a program may not run here; "" when it may."""
        if not program.codes:
            return NOT_HERE_DRAWN if self.is_for_code else ""
        if trust is None:
            return NEEDED
        if not self.is_for_code:
            return NOT_HERE
        return "" if trust.digest == code_digest(program) else CHANGED

    @contextmanager
    def given(self, program: Program) -> Iterator[None]:
        """The program, if it holds code, runs freely within; `refusal` was asked before."""
        before = self.now, self.flags
        self.now = bool(program.codes) and self.is_for_code
        self.flags = _DEFERRED if program.prelude.startswith(DEFER_ANNOTATIONS) else 0
        try:
            yield
        finally:
            self.now, self.flags = before


NOT_HERE_DRAWN = "This engine was started for a program with code of its own: a drawn one runs behind the walls."
freedom = Freedom()
"""Of this process."""
