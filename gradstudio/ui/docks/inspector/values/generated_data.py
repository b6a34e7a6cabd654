"""Data that a program makes, before a run: asked of the engine once for the same program text."""

import hashlib
from typing import Final, NamedTuple

from PySide6.QtCore import QObject, Signal

from gradstudio.document.data.made_data import are_data, made_data, makers_of
from gradstudio.document.data.stored_data import StoredData
from gradstudio.document.errors import BadTensor
from gradstudio.document.stored_tensors import named_tensor
from gradstudio.graph.model import ItemId, StoredTensor
from gradstudio.program.model import Program
from gradstudio.protocol.messages.inference import DataLooked
from gradstudio.ui.state.session import Session

MOST_KNOWN: Final = 8
"""Data sets that are kept."""
SEEDS: Final = "manual_seed("


class _Key(NamedTuple):
    """What the data hang on.

    Attributes:
        text: the program up to the last of their statements.
        draw: how many verbs began before, where no seed is set; else 0.
    """

    makers: tuple[ItemId, ...]
    text: str
    draw: int


class Generated(NamedTuple):
    """Data as the next run makes them, or, where no seed is set, as one run did or might."""

    data: StoredData
    is_one_draw: bool


class GeneratedData(QObject):
    """Keeps what the engine said of data that are looked at.

    Signals:
        changed(): the engine has told some.
    """

    changed = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        """Nothing is known."""
        super().__init__(parent)
        self._session = session
        self._known: dict[_Key, tuple[StoredTensor, ...]] = {}
        self._asked: tuple[int, _Key] | None = None
        self._refused: _Key | None = None
        self._shown: tuple[tuple[ItemId, ...], Generated] | None = None
        self._draws, self._was_busy = 1, False
        session.run.questions.answered.connect(self._on_questions_answered)
        session.run.state_changed.connect(self._on_run_state_changed)
        for goes in (session.engine.died, session.engine.replaced, session.engine.displaced):
            goes.connect(self._forget_asked)

    def data_of(self, item: ItemId) -> Generated | None:
        """The data that a card makes; where nobody knows them yet the engine is asked, and `changed` follows."""
        graph = self._session.shown_store.graph
        makers = makers_of(graph, item) if not self._session.scope.path else ()
        if not makers:
            return None
        program = self._session.run.questions.program
        if program is None:  # it is about to be sent
            return self._former(makers)
        key = self._key(program, makers)
        if key is None:
            return None
        tensors = self._known.get(key)
        if tensors is None:
            self._ask(key)
            return self._former(makers) if self._asked is not None and self._asked[1] == key else None
        data = made_data(graph, makers, tensors)
        if data is None:
            return None
        found = Generated(data, key.draw > 0)
        self._shown = makers, found
        return found

    def _former(self, makers: tuple[ItemId, ...]) -> Generated | None:
        """What was shown of them stands until the engine has told what is now."""
        return self._shown[1] if self._shown is not None and self._shown[0] == makers else None

    def _key(self, program: Program, makers: tuple[ItemId, ...]) -> _Key | None:
        """None where one of the statements is not printed."""
        ends = [span.end_line for span in program.spans if span.node in makers]
        if len(ends) < len(makers):
            return None
        text = "\n".join(program.code.split("\n", max(ends))[: max(ends)])
        return _Key(makers, text, 0 if program.seed is not None or SEEDS in text else self._draws)

    def _ask(self, key: _Key) -> None:
        """Ask, unless it was asked already, or inference knows that they are no data."""
        is_asked = self._asked is not None and self._asked[1] == key
        if is_asked or key == self._refused or not self._is_expected(key.makers):
            return
        number = self._session.run.questions.look_at_data(key.makers)
        if number:
            self._asked = number, key

    def _is_expected(self, makers: tuple[ItemId, ...]) -> bool:
        outputs = range(2 if len(makers) == 1 else 1)
        ports = [self._session.results.inference(node, output) for node in makers for output in outputs]
        shapes = [port.shape for port in ports if port is not None and port.shape is not None]
        return are_data(tuple(shapes)) and not any(port is not None and port.requires_grad for port in ports)

    def _on_questions_answered(self, answer: object) -> None:
        if not isinstance(answer, DataLooked) or self._asked is None or answer.request != self._asked[0]:
            return
        (_, key), self._asked = self._asked, None
        if answer.error:
            self._refused = key
        tensors = _read(answer.tensors)
        if not tensors:
            return
        if len(self._known) >= MOST_KNOWN:
            self._known.pop(next(iter(self._known)))
        self._known[key] = tensors
        self.changed.emit()

    def _on_run_state_changed(self) -> None:
        """A verb begins: without a seed it draws anew."""
        is_busy = self._session.run.state.busy
        self._draws += is_busy and not self._was_busy
        self._was_busy = is_busy

    def _forget_asked(self) -> None:
        self._asked = None


def _read(files: tuple[bytes, ...]) -> tuple[StoredTensor, ...]:
    """The tensors of an answer; none where one is damaged."""
    try:
        return tuple(named_tensor(hashlib.sha256(data).hexdigest(), data) for data in files)
    except BadTensor:
        return ()
