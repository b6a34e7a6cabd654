"""A program that comes while a loop runs: what it changes in literals holds from the next turn on (semantics §6)."""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from gradstudio.engine.live.live_state import Live, Loaded
from gradstudio.engine.live.reconciliation import reconcile
from gradstudio.engine.tensor_files import StoredTensors
from gradstudio.engine.turns.shared_stop import shared_stop
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Loaded as LoadedEvent
from gradstudio.protocol.messages.requests import Do, Load

AGAIN: Final = ("repeat", "go_to_turn")
"""Verbs that run once more what has run: nothing becomes another meanwhile."""
Version = tuple[str, int]
"""The document of a program, and its revision."""


class ProgramUpdates:
    """Looks between two turns whether a program waits, and takes it where the run can go on as it.

    Attributes:
        newest: the newest program that came and has not had its turn; None: there is none.
        taken: document and revision of the newest that was taken before its turn; None: none was.
    """

    def __init__(self, send: Callable[[Message], None], counts: Callable[[], Mapping[ItemId, int]]) -> None:
        """Nothing came; `counts` says how many turns of each loop are over."""
        self.newest: Callable[[], Load | None] = lambda: None
        self.taken: Version | None = None
        self._send, self._counts = send, counts
        self._seen: Version | None = None
        self._may_take = False

    def begin(self, request: Do) -> None:
        """A verb begins."""
        self._may_take = request.verb not in AGAIN

    def asks(self) -> str:
        """What a verb is left with where a program waits that nobody has looked at: "asked"; else ""."""
        newest = self.newest() if self._may_take else None
        return "asked" if newest is not None and _version(newest) != self._seen else ""

    def take(self, live: Live, stored: StoredTensors) -> None:
        """Go on as the program that waits; where that cannot be, it is said, and the program waits for its turn."""
        request = self.newest()
        self._seen = _version(request) if request is not None else None
        if request is None or request.document != live.loaded.document:
            return
        stored.add(request.tensors)
        # Ranks that took it up in different turns would learn with different numbers.
        if not shared_stop.is_open and reconcile(live, Loaded(request.document, request.revision, request.program)):
            self.taken = _version(request)
            self._send(loaded_event(request, live, self._counts()))
        else:
            self._send(
                LoadedEvent(document=request.document, revision=request.revision, stale=True, live=True, waits=True)
            )

    def is_overtaken(self, request: Load) -> bool:
        """Whether a newer program of its document has been taken before this one had its turn."""
        if self.taken is None:
            return False
        document, revision = self.taken
        return document == request.document and revision > request.revision


def _version(request: Load) -> Version:
    return request.document, request.revision


def loaded_event(request: Load, live: Live, counts: Mapping[ItemId, int]) -> LoadedEvent:
    """The program is in, and belongs to the run; from which turn on what has changed holds."""
    heads = [frame.head for frame in live.cursor.frames if frame.iterator is not None]
    loops = [*(head.id for head in heads if head is not None), *counts]  # those that are over, too
    turns = {loop: counts.get(loop, 0) for loop in loops} if live.changes else {}
    told = LoadedEvent(document=request.document, revision=request.revision, stale=False, live=True)
    return msgspec.structs.replace(told, changes=live.changes, turns=turns)
