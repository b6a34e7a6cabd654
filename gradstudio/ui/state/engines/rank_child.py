"""Several processes as the engine of the window: how they are started, and which rank is shown."""

import weakref

from PySide6.QtCore import QObject, Signal

from gradstudio.protocol.framing import encode
from gradstudio.protocol.messages.events import Log
from gradstudio.protocol.messages.ranks import LookAt
from gradstudio.protocol.ranks.rank_command import leader_command
from gradstudio.ui.state.engines.engine_child import EngineChild


class RankChild(EngineChild):
    """The leader of several ranks, as the window holds it: it says how far they are that start, and how it ended."""

    def __init__(self, command: list[str], parent: QObject) -> None:
        """Start it."""
        self._last_words, self._has_been_ready = "", False
        super().__init__(command, parent)
        self.message.connect(self._on_message)

    def look_at(self, rank: int) -> None:
        """Have this rank shown."""
        self.process.write(encode(LookAt(rank=rank)))

    def _how(self, code: int, *, crashed: bool) -> str:
        return self._last_words or super()._how(code, crashed=crashed)

    def _on_message(self, message: object) -> None:
        if isinstance(message, Log) and message.level == "error":
            self._last_words = message.text
        elif isinstance(message, Log) and not self._has_been_ready:
            self.noted.emit(message.text)
        self._has_been_ready = self._has_been_ready or self.ready


class RankGroup(QObject):
    """So many ranks of whatever program runs.

    Attributes:
        count: how many.
        shown: which is looked at, in every document.
        shows_all: cards are about all of them; `shown` is the one whose tables and pictures are seen elsewhere.

    Signals:
        changed(): another rank is looked at, or all are.
    """

    changed = Signal()

    def __init__(self, count: int, parent: QObject | None = None) -> None:
        """Nothing is started."""
        super().__init__(parent)
        self.count, self.shown = count, 0
        self.shows_all = False
        self._children: weakref.WeakSet[RankChild] = weakref.WeakSet()

    @property
    def place(self) -> str:
        """What stands where the name of a host would."""
        return f"{self.count} processes"

    def make(self, options: tuple[str, ...], parent: QObject) -> EngineChild:
        """Start them as one engine, with these options, for this parent."""
        child = RankChild(list(leader_command(self.count, *options)), parent)
        self._children.add(child)
        if self.shown:
            child.look_at(self.shown)
        return child

    def look_at(self, rank: int) -> None:
        """Show another rank: what it has said of its newest run takes the place of what is shown."""
        if rank == self.shown and not self.shows_all:
            return
        self.shows_all = False
        if rank != self.shown:
            self.shown = rank
            for child in self._children:
                child.look_at(rank)
        self.changed.emit()

    def show_all(self) -> None:
        """Have cards say whether all agree, and by how much not."""
        if not self.shows_all:
            self.shows_all = True
            self.changed.emit()
