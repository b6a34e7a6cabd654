"""What a run said: values, gradients, failures, keyed by node. It holds facts and decides nothing."""

from collections.abc import Iterable

import msgspec
from PySide6.QtCore import QObject, Signal

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages import Failed, GradRow, PortInference, Printed, Row, Warned
from gradstudio.protocol.records import Record
from gradstudio.ui.state.throttle import Throttle

ANNOUNCEMENT_MS = 33


class Failure(msgspec.Struct, frozen=True):
    """A node that failed: torch's words, ours, and what can be done.

    Attributes:
        what: torch's exception and message, unchanged.
        explanation: in plain words; "" when we know no more than torch.
        fixes: titles of what may be done.
        text: the statement that failed; the failure stands only while the program says that.
    """

    failed: Failed
    explanation: str = ""
    fixes: tuple[str, ...] = ()
    text: str = ""

    @property
    def what(self) -> str:
        """Torch's exception class and words."""
        return f"{self.failed.type_name}: {self.failed.message}"


class ResultStore(QObject):
    """The newest result of each node.

    Signals:
        changed(object): frozenset of ids whose results changed, at most 30 times a second;
            empty when everything changed at once.
        printed(object), warned(object): a `Printed` or `Warned`, as it came.
    """

    changed = Signal(object)
    printed = Signal(object)
    warned = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        """No results yet."""
        super().__init__(parent)
        self._rows: dict[ItemId, Row] = {}
        self._gradients: dict[tuple[ItemId, int, str], GradRow] = {}
        self._inference: dict[tuple[ItemId, int], PortInference] = {}
        self._failures: dict[ItemId, Failure] = {}
        self._warnings: dict[ItemId, tuple[Warned, ...]] = {}
        self._incomplete: dict[ItemId, str] = {}
        self._texts: dict[ItemId, str] = {}
        self._pending: set[ItemId] = set()
        self._everything = False
        self.is_stale = False
        self.next_node: ItemId = ItemId("")
        self.running_node: ItemId = ItemId("")
        self._throttle = Throttle(ANNOUNCEMENT_MS, self)
        self._throttle.due.connect(self._on_throttle_due)

    def outputs(self, node: ItemId) -> tuple[Record, ...] | None:
        """Records of the node's results as they were when it last ran; None before."""
        row = self._rows.get(node)
        return row.outputs if row is not None else None

    def row(self, node: ItemId) -> Row | None:
        """When and how the node last ran; None before."""
        return self._rows.get(node)

    def grad(self, node: ItemId, output: int = 0, path: str = "") -> GradRow | None:
        """The gradient of a result (or of a module's parameter by path) as it stands now."""
        return self._gradients.get((node, output, path))

    def gradients_of(self, node: ItemId) -> tuple[GradRow, ...]:
        """All gradients known of a node, parameters included."""
        return tuple(row for key, row in self._gradients.items() if key[0] == node)

    def stale(self, node: ItemId) -> bool:
        """Whether the node's result belongs to an older program than the canvas shows."""
        return self.is_stale and node in self._rows

    def failure(self, node: ItemId) -> Failure | None:
        """How the node failed when it last ran, if it did and the program is still the one that failed."""
        failure = self._failures.get(node)
        return failure if failure is not None and self._stands(failure) else None

    @property
    def failures(self) -> tuple[Failure, ...]:
        """Every failure that stands."""
        return tuple(failure for failure in self._failures.values() if self._stands(failure))

    def warnings(self, node: ItemId) -> tuple[Warned, ...]:
        """Torch's warnings while the node ran."""
        return self._warnings.get(node, ())

    def inference(self, node: ItemId, output: int = 0) -> PortInference | None:
        """What inference expects of a result."""
        return self._inference.get((node, output))

    def incomplete(self, node: ItemId) -> str:
        """Why the node cannot run yet; "" when it can."""
        return self._incomplete.get(node, "")

    def set_texts(self, texts: dict[ItemId, str]) -> None:
        """The statements of the program as it stands; failures of other statements are not shown."""
        self._texts = texts
        for node in self._failures:
            self._announce(node)

    def begin(self, fresh: bool) -> None:
        """A verb begins; from nothing, what older runs left is forgotten."""
        self._failures.clear()
        if fresh:
            self._rows.clear()
            self._gradients.clear()
            self._warnings.clear()
        self.is_stale = False
        self._announce_everything()

    def add_rows(self, rows: Iterable[Row]) -> None:
        """Nodes ran."""
        for row in rows:
            self._rows[row.node] = row
            self._announce(row.node)

    def set_gradients(self, rows: Iterable[GradRow], whole: bool) -> None:
        """Gradients as they stand now; `whole` replaces all that were known."""
        old = self._gradients
        new = {(row.node, row.output, row.path): row for row in rows}
        self._gradients = new if whole else {**old, **new}
        for key in old.keys() | new.keys():
            if old.get(key) != self._gradients.get(key):
                self._announce(key[0])

    def set_inference(self, ports: Iterable[PortInference]) -> None:
        """What inference says of the program as it stands."""
        old, self._inference = self._inference, {(port.node, port.output): port for port in ports}
        for key in old.keys() | self._inference.keys():
            if old.get(key) != self._inference.get(key):
                self._announce(key[0])

    def set_incomplete(self, reasons: dict[ItemId, str]) -> None:
        """Which nodes cannot run, and why."""
        changed = {
            item for item in reasons.keys() | self._incomplete.keys() if reasons.get(item) != self.incomplete(item)
        }
        self._incomplete = dict(reasons)
        for item in changed:
            self._announce(item)

    def add_failure(self, failure: Failure) -> None:
        """A node failed."""
        self._failures[failure.failed.node] = failure
        self._announce(failure.failed.node)

    def add_warning(self, warning: Warned) -> None:
        """Torch warned while a node ran."""
        self._warnings[warning.node] = (*self._warnings.get(warning.node, ()), warning)
        self._announce(warning.node)
        self.warned.emit(warning)

    def add_print(self, printed: Printed) -> None:
        """The program printed."""
        self.printed.emit(printed)

    def set_stale(self, stale: bool) -> None:
        """Whether the results belong to an older program than the canvas shows."""
        if self.is_stale != stale:
            self.is_stale = stale
            self._announce_everything()

    def set_running(self, node: ItemId) -> None:
        """Which node is at work now; "" when none is."""
        changed = {self.running_node, node} - {""}
        self.running_node = node
        for item in changed:
            self._announce(item)

    def set_counter(self, next_node: ItemId) -> None:
        """Which node runs next; "" at the end."""
        changed = {self.next_node, next_node, self.running_node} - {""}
        self.next_node, self.running_node = next_node, ItemId("")
        for item in changed:
            self._announce(item)

    def clear(self) -> None:
        """Forget everything (another document)."""
        for table in (self._rows, self._gradients, self._inference, self._failures, self._warnings, self._incomplete):
            table.clear()
        self.is_stale = False
        self.next_node = self.running_node = ItemId("")
        self._announce_everything()

    def _stands(self, failure: Failure) -> bool:
        node = failure.failed.node
        return not self.is_stale and (node not in self._texts or self._texts[node] == failure.text or not failure.text)

    def _announce(self, item: ItemId) -> None:
        self._pending.add(item)
        self._throttle.request()

    def _announce_everything(self) -> None:
        self._everything = True
        self._throttle.request()

    def _on_throttle_due(self) -> None:
        items = frozenset() if self._everything else frozenset(self._pending)
        self._pending.clear()
        self._everything = False
        self.changed.emit(items)
