"""Bringing a module of the user's own, in an engine of its own that ends with it."""

from PySide6.QtCore import QObject, Signal

from gradstudio.protocol.messages.events import Event, Log
from gradstudio.protocol.messages.module_import import BringModule, Brought, NotBrought
from gradstudio.protocol.process_group import RUNS_CODE
from gradstudio.ui.state.engines.engine_child import EngineChild
from gradstudio.ui.state.run.engine_client import KILL_WAIT_MS


class ModuleImporter(QObject):
    """Keeps an engine warm, hands it one request, and takes a fresh one for the next: user code leaves traces.

    Signals:
        answered(object): `Brought` or `NotBrought`.
        ended(object): the code ended its process; the words how.
        printed(object): a `Log` of what it printed.
    """

    answered = Signal(object)
    ended = Signal(object)
    printed = Signal(object)

    def __init__(self, command: tuple[str, ...], parent: QObject | None = None) -> None:
        """Start an engine; it executes nothing until it is asked."""
        super().__init__(parent)
        self._command = command
        self._asked = False
        self._engine: EngineChild | None = None
        self._start()

    def ask(self, request: BringModule) -> None:
        """Run the code and tell what came of it."""
        if self._engine is None:
            self._start()
        assert self._engine is not None
        self._asked = True
        self._engine.send(request)

    def stop(self) -> None:
        """Kill it, whatever it does; a fresh engine stands by."""
        self.close()
        self._start()

    def close(self) -> None:
        """Kill it."""
        self._asked = False
        if self._engine is not None:
            engine, self._engine = self._engine, None
            engine.discard()
            engine.process.waitForFinished(KILL_WAIT_MS)

    def _start(self) -> None:
        self._engine = EngineChild([*self._command, RUNS_CODE], self)
        self._engine.message.connect(self._on_engine_message)
        self._engine.ended.connect(self._on_engine_ended)

    def _on_engine_message(self, message: Event) -> None:
        if isinstance(message, Log):
            self.printed.emit(message)
        elif isinstance(message, Brought | NotBrought):
            self.stop()
            self.answered.emit(message)

    def _on_engine_ended(self, how: str) -> None:
        was_asked, self._asked = self._asked, False
        if self._engine is not None:
            self._engine.deleteLater()
            self._engine = None
        if was_asked:
            self.ended.emit(how)
