"""The door through which every verb goes: a program with code of its own needs the yes of its person."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from gradstudio.engine.code.freedom import ASKED_ONLY, freedom
from gradstudio.engine.code.program_input import Person
from gradstudio.engine.code.pyplot_figures import Figures
from gradstudio.engine.code.surroundings import surroundings
from gradstudio.engine.verbs import Engine
from gradstudio.program.model import Program
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Paused
from gradstudio.protocol.messages.requests import Do


class TrustedVerbs:
    """Carries out verbs of one engine, or refuses them."""

    def __init__(self, engine: Engine, send: Callable[[Message], None], person: Person) -> None:
        """What programs print is sent by `send`; what they want typed is asked of `person`, where one answers."""
        self._engine, self._send, self._person = engine, send, person
        self._figures = Figures(send)
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
            with self._around(program, request), self._painting(request):
                paused = self._engine.do(request)
        if os.getpid() != self._process:
            os._exit(0)  # a process that the program forked and did not end
        return paused

    @contextmanager
    def _painting(self, request: Do) -> Iterator[None]:
        """Figures of a trusted program are told within."""
        if not freedom.now:
            yield
            return
        figures, runner = self._figures, self._engine.runner
        figures.wanted, figures.locate = request.pictures, self._engine.locate
        figures.listen()
        runner.after_effects = lambda step: figures.look(step.id, step.statement.line)
        try:
            yield
            figures.finish()
        finally:
            runner.after_effects = lambda _step: None

    def _around(self, program: Program, request: Do) -> AbstractContextManager[None]:
        if request.trust is None or not freedom.now:
            return nullcontext()
        person = self._person if request.answers else None
        return surroundings(program, request.trust, self._send, self._engine.locate, person)
