"""The door through which every verb goes: a program with code of its own needs the yes of its person."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from gradstudio.engine.code.freedom import ASKED_ONLY, freedom
from gradstudio.engine.code.surroundings import surroundings
from gradstudio.engine.verbs import Engine
from gradstudio.program.model import Program
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Paused
from gradstudio.protocol.messages.requests import Do, Trust


class TrustedVerbs:
    """Carries out verbs of one engine, or refuses them."""

    def __init__(self, engine: Engine, send: Callable[[Message], None]) -> None:
        """What programs print is sent by `send`."""
        self._engine, self._send = engine, send
        self._process = os.getpid()

    def do(self, request: Do) -> Paused:
        """Carry out a verb, if the loaded program may run here."""
        loaded = self._engine.loaded
        if loaded is None:
            return self._engine.do(request)
        program, trust = loaded.program, request.trust
        refusal = freedom.refusal(program, trust)
        if program.codes and request.verb == "repeat":
            refusal = ASKED_ONLY
        if refusal:
            return self._engine.do(request, refusal)
        with freedom.given(program):
            loaded.prepare_anew(freedom.now)
            with self._around(program, trust):
                paused = self._engine.do(request)
        if os.getpid() != self._process:
            os._exit(0)  # a process that the program forked and did not end
        return paused

    def _around(self, program: Program, trust: Trust | None) -> AbstractContextManager[None]:
        if trust is None or not freedom.now:
            return nullcontext()
        return surroundings(program, trust, self._send, self._engine.locate)
