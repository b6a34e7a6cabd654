"""The documentation of operators as the engine sent it: asked for once, kept for as long as torch is the same."""

from PySide6.QtCore import QObject, Signal

from gradstudio.operators.docstrings.model import Docstring
from gradstudio.protocol.messages.events import Event, Hello
from gradstudio.protocol.messages.torch_docs import Describe, Described
from gradstudio.ui.state.run.engine_line import EngineLine

WAITING = {
    "starting": "torch is still starting. Its own documentation appears here as soon as it has.",
    "busy": "The engine is running a program. torch's own documentation appears here when it pauses.",
    "dead": "The engine has ended, and with it torch. Until it is started again, this is what GradStudio itself knows.",
    "ready": "Asking torch…",
}
"""By the engine's state: why a page is not here yet."""


class PageStore(QObject):
    """Pages by operator.

    Signals:
        arrived(object): the key of an operator whose page is here now.
        requested(object): the key of an operator whose page a person wants to read.
    """

    arrived = Signal(object)
    requested = Signal(object)

    def __init__(self, engine: EngineLine, parent: QObject | None = None) -> None:
        """No page is here yet."""
        super().__init__(parent)
        self._engine = engine
        self._pages: dict[str, Described] = {}
        self._read: dict[str, tuple[Docstring, ...]] = {}
        self._waiting: dict[int, str] = {}
        self._torch = ""
        self._numbers = 0
        engine.received.connect(self._on_engine_received)

    def request(self, key: str) -> None:
        """Say that a person wants to read the page of an operator."""
        self.requested.emit(key)

    def ask(self, key: str) -> Described | None:
        """The page if it is here; else None, and it will be announced."""
        page = self._pages.get(key)
        if page is None and key and key not in self._waiting.values():
            self._numbers += 1
            self._waiting[self._numbers] = key
            if self._engine.ready:
                self._engine.send(Describe(request=self._numbers, operator=key))
        return page

    def docstrings(self, key: str) -> tuple[Docstring, ...]:
        """The passages of a page, read; none while it is not here."""
        from gradstudio.operators.docstrings.reader import read

        page = self._pages.get(key)
        if page is None:
            return ()
        if key not in self._read:
            self._read[key] = tuple(read(passage.text) for passage in page.passages)
        return self._read[key]

    def first_sentence(self, key: str) -> str:
        """What torch says first of an operator; "" while that is not known. It is asked for."""
        from gradstudio.operators.docstrings.excerpts import first_sentence

        self.ask(key)
        return next((words for each in self.docstrings(key) if (words := first_sentence(each))), "")

    def argument_words(self, key: str, name: str) -> str:
        """What torch says of an argument; "" while that is not known, or where it says nothing. It is asked for."""
        from gradstudio.operators.docstrings.excerpts import argument_words

        self.ask(key)
        return next((words for each in self.docstrings(key) if (words := argument_words(each, name))), "")

    @property
    def waiting_words(self) -> str:
        """Why a page that was asked for is not here yet."""
        return WAITING[self._engine.state]

    def _on_engine_received(self, event: Event) -> None:
        if isinstance(event, Hello) and event.ready:
            self._take_up(event.torch)
        elif isinstance(event, Described) and (key := self._waiting.pop(event.request, None)) is not None:
            self._pages[key] = event
            self._read.pop(key, None)
            self.arrived.emit(key)

    def _take_up(self, torch: str) -> None:
        """A new engine is ready: what was not answered is asked again, and everything when it has another torch."""
        if torch != self._torch:
            self._pages.clear()
            self._read.clear()
        self._torch = torch
        for number, key in self._waiting.items():
            self._engine.send(Describe(request=number, operator=key))
