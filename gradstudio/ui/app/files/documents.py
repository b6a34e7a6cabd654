"""The documents that are open in a window: which there are, which is in front, how one is opened and closed."""

import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal

from gradstudio.document.errors import DocumentError
from gradstudio.graph.model import Graph, Header
from gradstudio.ui.app.files.recovery_journal import Recovery
from gradstudio.ui.state.run.engine_client import EngineClient
from gradstudio.ui.state.session import PYTHON_SUFFIXES, Session
from gradstudio.ui.state.settings import Preferences

if TYPE_CHECKING:
    from gradstudio.protocol.messages.hosting import Document

MAX_CLOSED = 20
"""So many closed documents can be brought back."""


class Tab(QObject):
    """One open document in the row of tabs.

    Attributes:
        mark: "": nothing to say; "running", "done" or "failed": of a run while another tab was in front.
    """

    def __init__(self, session: Session, recovery: Recovery, parent: QObject) -> None:
        """Keep them together."""
        super().__init__(parent)
        self.session, self.recovery, self.mark = session, recovery, ""

    @property
    def is_changed(self) -> bool:
        """Whether there are unsaved changes."""
        return not self.session.graph_store.is_clean


class ClosedDocument(NamedTuple):
    """What is needed to bring a closed document back.

    Attributes:
        place: where its tab stood.
        graph: what it held when it was closed with unsaved changes; None: it is as its file is.
        identity: what its runs know it by while it has no file.
    """

    place: int
    path: Path | None
    subject: str
    graph: Graph | None
    identity: str = ""


def first_header(preferences: Preferences) -> Header:
    """Seed and device of a new document, as a person chose them."""
    seed = preferences.new_seed
    return Header(seed=None if seed < 0 else seed, device=preferences.new_device)


class Documents(QObject):
    """The tabs in their order.

    Attributes:
        may_close: asked before a document is closed; False keeps it.
        first_header: seed and device of a new document.
        begins_on_blank: asked for a new document: whether the empty one in front is taken, which nobody has seen yet.

    Signals:
        closed(object): this `Tab` is about to go.
        shown(object): this `Tab` is in front now.
        edited(): a document, or a text typed for one, is another one; often.
        filled(object): this `Tab` has a file in it now that it had not before.
        changed(): others are open, their files or their order are others.
        marked(object): of this `Tab` alone: whether all of it is saved, or what is said of its run, is another.
        refused(object): something could not be opened; the words. `status_message(object)`: what
            opening a file did that is no document of its own.
    """

    closed = Signal(object)
    shown = Signal(object)
    edited = Signal()
    filled = Signal(object)
    changed = Signal()
    marked = Signal(object)
    refused = Signal(object)
    status_message = Signal(object)

    def __init__(self, engine: EngineClient, recovery_folder: Path, parent: QObject | None = None) -> None:
        """None is open yet."""
        super().__init__(parent)
        self._engine, self._folder = engine, recovery_folder
        self.tabs: list[Tab] = []
        self.history: list[ClosedDocument] = []
        self.may_close: Callable[[Tab], bool] = lambda _tab: True
        self.begins_on_blank: Callable[[], bool] = lambda: False
        self.first_header: Callable[[], Header] = Header
        self._current: Tab | None = None
        self._ran: set[Tab] = set()
        engine.document_came.connect(self._on_engine_document_came)

    # ------------------------------------------------------------------ which

    @property
    def current(self) -> Tab:
        """The tab in front."""
        assert self._current is not None
        return self._current

    @property
    def is_any_shown(self) -> bool:
        """Whether a tab is in front: none is before the first was shown."""
        return self._current is not None

    @property
    def place(self) -> int:
        """Index of the tab in front."""
        return self.tabs.index(self.current)

    def find(self, path: Path) -> Tab | None:
        """The tab in which a file is open already."""
        wanted, on_disk = _same(path), _on_disk(path)
        for tab in self.tabs:
            own = tab.session.path
            if own is not None and _on_disk(own) == on_disk and _same(own) == wanted:
                return tab
        return None

    def show(self, tab: Tab) -> None:
        """Bring a tab to the front."""
        if tab is self._current:
            return
        before = self._current
        if before is not None and before in self.tabs:
            before.session.engine.shown = False
            self._mark(before, "running" if before.session.run.state.busy else "")
        self._current = tab
        tab.session.engine.shown = True
        self.shown.emit(tab)
        self._mark(tab, "")

    def step(self, by: int) -> None:
        """Bring the next tab to the front, or the one before; behind the last comes the first."""
        self.show(self.tabs[(self.place + by) % len(self.tabs)])

    def move(self, start: int, end: int) -> None:
        """Put a tab elsewhere in the row."""
        self.tabs.insert(end, self.tabs.pop(start))
        self.changed.emit()

    def arrange(self, paths: Sequence[Path]) -> None:
        """Put the tabs of these files into their order, before all others."""
        order = {tab: number for number, path in enumerate(paths) if (tab := self.find(path)) is not None}
        self.tabs.sort(key=lambda tab: order.get(tab, len(order)))
        self.changed.emit()

    # ------------------------------------------------------------------ open

    def add(self, session: Session, *, place: int | None = None, show: bool = True) -> Tab:
        """Give a document a tab: behind the one in front, unless told where."""
        recovery = Recovery(session, self._folder, session)
        tab = Tab(session, recovery, self)
        behind = self.place + 1 if self._current is not None else 0
        self.tabs.insert(behind if place is None else min(place, len(self.tabs)), tab)
        session.engine.shown = False
        session.untitled_runs = self._folder.with_name("runs")
        session.memory.of_others = bool(self._ran)
        session.number = self._free_number(session)
        self._number_copies(session)
        session.path_changed.connect(lambda: self._on_session_path_changed(session))
        session.graph_store.edited.connect(self.edited)
        session.graph_store.clean_changed.connect(lambda: self.marked.emit(tab))
        session.run.state_changed.connect(lambda state: self._on_run_state_changed(tab, state))
        if show:
            self.show(tab)
        self.changed.emit()
        return tab

    def new(self) -> None:
        """An empty document in a tab of its own."""
        if self.begins_on_blank():
            self.begin(self.current.session)
        else:
            self.add(self.begin(Session(self._engine, self)))

    def begin(self, session: Session) -> Session:
        """Give an empty document the seed and the device that new ones have."""
        header, store = self.first_header(), session.graph_store
        if session.is_blank and store.graph.header != header:
            session.new(header)
        return session

    def open(self, path: Path, *, show: bool = True) -> DocumentError | None:
        """Show a file: in the tab that has it, else in one of its own; the reason when it cannot be read."""
        if (tab := self.find(path)) is not None:
            if show:
                self.show(tab)
            return None
        error = self.take(lambda session: session.open(path), show=show)
        if error is None and (tab := self.find(path)) is not None:
            self.filled.emit(tab)
            if tab.session.record is not None:
                self.status_message.emit(tab.session.record.words)
        elif error is None and show:
            self.status_message.emit(_read_words(path, self.current.session.graph_store.graph.original))
        return error

    def take(self, fill: Callable[[Session], None], *, show: bool = True) -> DocumentError | None:
        """Fill a document: the one in front if it is empty and was never worked on, else one in a new tab.

        Args:
            fill: puts something into an empty session; a `DocumentError` of it comes back, and nothing has changed.
        """
        if self._current is not None and self._current.session.is_blank and show:
            return _tried(fill, self._current.session)
        session = Session(self._engine, self)
        error = _tried(fill, session)
        if error is None:
            self.add(session, show=show)
        else:
            session.close()
            session.deleteLater()
        return error

    # ------------------------------------------------------------------ close

    def close(self, tab: Tab | None = None) -> bool:
        """Close a document, the one in front where none is named; False when a person wants to keep it."""
        tab = tab or self.current
        if not self.may_close(tab):
            return False
        self._remember(tab)
        self._remove(tab)
        return True

    def close_others(self, tab: Tab) -> None:
        """Close all but one, until a person wants to keep one of them."""
        for other in [other for other in self.tabs if other is not tab]:
            if not self.close(other):
                return
        self.show(tab)

    def reopen(self) -> None:
        """Bring back the document that was closed last, with what was not saved of it."""
        while self.history:
            closed = self.history.pop()
            session = Session(self._engine, self)
            error = _tried(partial(_restore, closed), session)
            if error is None:
                self.add(session, place=closed.place)
                return
            session.close()
            session.deleteLater()
            self.refused.emit(f"“{closed.path.name if closed.path else closed.subject}” is gone: {error}")

    def reload(self, tab: Tab) -> DocumentError | None:
        """Read a document's file again; what was not saved of it can be brought back as a closed one."""
        path = tab.session.path
        if path is None:
            return None
        before = tab.session.graph_store.graph if tab.is_changed else None
        error = _tried(lambda session: session.open(path), tab.session)
        if error is None and before is not None:
            subject = f"{path.stem} before it was reloaded"
            self.history.append(ClosedDocument(self.tabs.index(tab) + 1, None, subject, before))
        self.changed.emit()
        return error

    def _remember(self, tab: Tab) -> None:
        session = tab.session
        if session.is_blank:
            return
        as_saved = session.path is not None and not tab.is_changed
        graph = None if as_saved else session.graph_store.graph
        self.history.append(
            ClosedDocument(self.tabs.index(tab), session.path, session.subject, graph, session.identity)
        )
        del self.history[:-MAX_CLOSED]

    def _remove(self, tab: Tab) -> None:
        """Take it out of the row; another comes to the front first, an empty one when it was the last."""
        if len(self.tabs) == 1:
            self.add(self.begin(Session(self._engine, self)))
        elif tab is self._current:
            place = self.place
            self.show(self.tabs[place + 1 if place + 1 < len(self.tabs) else place - 1])
        self.tabs.remove(tab)
        self._number_copies()
        self._ran.discard(tab)
        self.closed.emit(tab)
        tab.recovery.close()
        tab.session.close()
        tab.session.deleteLater()
        tab.deleteLater()
        self.changed.emit()

    # ------------------------------------------------------------------ inner workings

    def _free_number(self, session: Session) -> int:
        taken = {tab.session.number for tab in self.tabs if tab.session is not session and tab.session.path is None}
        return next(number for number in range(1, len(taken) + 2) if number not in taken)

    def _number_copies(self, newcomer: Session | None = None) -> None:
        """Tell documents of one file or subject apart: each keeps its number, and the last one left has none."""
        alike: defaultdict[tuple[Path | None, str], list[Session]] = defaultdict(list)
        for tab in self.tabs:
            alike[tab.session.path, tab.session.name].append(tab.session)
        for sessions in alike.values():
            if len(sessions) == 1:
                sessions[0].copy = 1
            elif newcomer in sessions:
                taken = {session.copy for session in sessions if session is not newcomer}
                newcomer.copy = next(number for number in range(1, len(sessions) + 1) if number not in taken)

    def _on_session_path_changed(self, session: Session) -> None:
        self._number_copies(session)
        self.changed.emit()

    def _on_engine_document_came(self, document: "Document") -> None:
        """Another window began what is taken up on a host: it is shown in a tab; what is none leads back here."""
        error = self.take(lambda session: session.take_up(document, self._engine.title_there))
        if error is not None:
            self.refused.emit(f"What runs on “{self._engine.place}” cannot be taken up here: {error}")
            QTimer.singleShot(0, self, lambda: self.current.session.engine.move_to("", None))

    def _on_run_state_changed(self, tab: Tab, state: object) -> None:
        """A run in a tab behind is marked on it, until a person looks."""
        busy, outcome = getattr(state, "busy", False), getattr(state, "outcome", "")
        if busy:
            self._ran.add(tab)
            for other in self.tabs:
                other.session.memory.of_others = other not in self._ran
        if tab is self._current:
            self._mark(tab, "")
        elif busy:
            self._mark(tab, "running")
        elif tab.mark == "running":
            self._mark(tab, "failed" if outcome in ("failed", "died") else "done")

    def _mark(self, tab: Tab, mark: str) -> None:
        if mark != tab.mark:
            tab.mark = mark
            self.marked.emit(tab)


def _read_words(path: Path, text: str) -> str:
    """Of a file that gave a document which is not its own; `text` is what it was read from."""
    if path.suffix not in PYTHON_SUFFIXES:
        return f"Read the document in {path.name}: save it to keep what you change; the picture stays as it is"
    from gradstudio.document.python.notebook_text import ran_in_another_order

    words = f"Read {path.name}: nothing of it was executed, and the file stays as it is"
    if ran_in_another_order(text):
        return f"{words}. Its cells had run in another order: here they run from top to bottom"
    return words


def _tried(fill: Callable[[Session], None], session: Session) -> DocumentError | None:
    try:
        fill(session)
    except DocumentError as error:
        return error
    return None


def _restore(closed: ClosedDocument, session: Session) -> None:
    if closed.graph is not None:
        session.restore(closed.graph, closed.path, closed.subject, identity=closed.identity)
    elif closed.path is not None:
        session.open(closed.path)


def _on_disk(path: Path) -> tuple[int, int] | None:
    """Device and inode, which are asked sooner than `_same`; None where there is no file."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _same(path: Path) -> Path:
    """The path as the file is known by, links followed."""
    try:
        return path.resolve()
    except OSError:
        return path.absolute()
