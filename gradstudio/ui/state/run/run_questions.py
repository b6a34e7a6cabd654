"""Questions about a run that do not move it: what-if, gradcheck, memory, tables of values."""

from collections.abc import Callable

import msgspec
from PySide6.QtCore import QObject, Signal

from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program
from gradstudio.protocol.messages.debugging import Change
from gradstudio.ui.state.results.canvas_ids import CanvasIds
from gradstudio.ui.state.run.engine_line import EngineLine
from gradstudio.ui.state.run.run_requests import RunRequests
from gradstudio.ui.state.run.run_state import Command
from gradstudio.ui.state.run.run_status import RunStatus


class RunQuestions(QObject):
    """Asks the engine; each question has a number, and its answer brings the number back.

    Attributes:
        wire_asked: hears the number of each question about a wire.

    Signals:
        fetched(object): an answer to `fetch`.
        answered(object): a `WhatIfAnswered`, `Checked`, `CheckpointKept`, `DataLooked` or `MemoryByNode`.
    """

    fetched = Signal(object)
    answered = Signal(object)

    def __init__(
        self,
        requests: RunRequests,
        engine: EngineLine,
        ids: CanvasIds,
        status: RunStatus,
        why_not: Callable[[Command], str],
        parent: QObject | None = None,
    ) -> None:
        """Ask of the run that `status` tells of; `why_not` says why something cannot be asked now."""
        super().__init__(parent)
        self._requests, self._engine, self._ids = requests, engine, ids
        self._status, self._why_not = status, why_not
        self.wire_asked: Callable[[int], object] = lambda request: None

    @property
    def asked(self) -> int:
        """The number of the newest question; answers bring it back."""
        return self._requests.asked

    def what_if(self, change: Change) -> int:
        """Ask what a changed value or gradient would do; `answered` brings the number back. 0: refused."""
        change = msgspec.structs.replace(change, node=self._ids.full(change.node))
        return self._requests.what_if(change) if self._may_ask("what_if") else 0

    def check(self, nodes: tuple[ItemId, ...]) -> int:
        """Ask for a gradcheck of the nodes; `answered` brings the number back. 0: refused."""
        return self._requests.check(tuple(map(self._ids.full, nodes))) if self._may_ask("check") else 0

    def try_wire(self, program: Program, target: ItemId) -> int:
        """Ask whether a wire would work, `program` having it in place; 0: nobody can say now."""
        if not self._engine.ready or self._status.state.busy:
            return 0
        request = self._requests.try_wire(program, target)
        self.wire_asked(request)
        return request

    @property
    def program(self) -> Program | None:
        """The program as it stands, where the engine has it; None: it is still to be sent."""
        return self._requests.program if self._requests.up_to_date else None

    def look_at_data(self, nodes: tuple[ItemId, ...]) -> int:
        """Ask what data statements make; `answered` brings the number back. 0: nobody can say now."""
        is_one = self._engine.client.exchange.ranks is None  # several may wait for one another there
        if not is_one or not self._engine.ready or self._status.state.busy or not self._requests.up_to_date:
            return 0
        return self._requests.look_at_data(nodes)

    def keep_checkpoint(self) -> int:
        """Ask for the run as a file; `answered` brings the number back. 0: refused."""
        return self._requests.keep_checkpoint() if self._may_ask("keep_checkpoint") else 0

    def keep_small_checkpoint(self, most_bytes: int) -> int:
        """As `keep_checkpoint`, of so many bytes at most, and without a word where it is refused."""
        return 0 if self._why_not("keep_checkpoint") else self._requests.keep_checkpoint(most_bytes)

    def weigh_memory(self) -> None:
        """Ask what each node holds; `answered` brings it, the result store keeps it."""
        if self._may_ask("weigh_memory"):
            self._requests.weigh_memory()

    @property
    def computes_small(self) -> bool:
        """Whether inference may compute small values; else it works on stand-ins without data only."""
        return self._requests.run_small

    @computes_small.setter
    def computes_small(self, wanted: bool) -> None:
        self._requests.run_small = wanted
        if self._engine.ready and not self._status.state.busy:
            self._requests.infer()

    def fetch(
        self,
        node: ItemId,
        output: int,
        grad: bool,
        name: str,
        index: tuple[int, ...],
        rows: tuple[int, int],
        columns: tuple[int, int],
        whole: bool = False,
    ) -> int:
        """Ask for a table of a live tensor, or of all of a distributed one; the number comes back with `fetched`."""
        return self._requests.fetch(node, output, grad, name, index, rows, columns, whole)

    def _may_ask(self, command: Command) -> bool:
        if reason := self._why_not(command):
            self._status.refused.emit(reason)
            return False
        self._engine.start()
        self._requests.load()
        return True
