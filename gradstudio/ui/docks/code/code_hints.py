"""What stands behind a line of the Code dock: shape or value of what its statement gives. No Qt here."""

from typing import Literal as OneOf
from typing import NamedTuple, Protocol

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import GradRow
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.protocol.messages.records import (
    ArrayRecord,
    ModuleRecord,
    OptimizerRecord,
    PlainRecord,
    Record,
    TensorRecord,
)
from gradstudio.scene import value_format

HintMode = OneOf["off", "shapes", "values"]
HINT_MODES: tuple[HintMode, ...] = ("off", "shapes", "values")
MODE_WORDS: dict[HintMode, str] = {"off": "Off", "shapes": "Shapes", "values": "Values"}
HINT_TIPS: dict[HintMode, str] = {
    "off": "nothing",
    "shapes": "dtype and shape of what the statement gives",
    "values": "the number, or the range of the numbers, and the gradient",
}
MOST_RESULTS = 4
MOST_NUMBERS = 6
MOST_COMPARED = 4
"""Nodes; of more that are told of at once, all lines are painted anew."""
ARROW = "→ "


class Hint(NamedTuple):
    """A text, and whether it belongs to an older program than the one shown."""

    text: str = ""
    stale: bool = False


NO_HINT = Hint()


class NodeValues(Protocol):
    """What is known of nodes: `ui.state.ResultStore`."""

    def outputs(self, node: ItemId, /) -> tuple[Record, ...] | None:
        """What a run said."""

    def inference(self, node: ItemId, output: int = 0, /) -> PortInference | None:
        """What is expected before a run."""

    def stale(self, node: ItemId, /) -> bool:
        """Whether the run was of an older program."""

    def grad(self, node: ItemId, output: int = 0, /) -> GradRow | None:
        """The gradient of a result."""


class LineHints:
    """What stands behind the lines of a program, kept until something else is told of their nodes.

    Attributes:
        mode: what is shown.
    """

    def __init__(self, known: NodeValues) -> None:
        """Shapes, as they are known."""
        self.mode: HintMode = "shapes"
        self._known = known
        self._said: dict[ItemId, Hint] = {}

    def show(self, mode: HintMode) -> None:
        """Say something else."""
        self.mode = mode
        self._said.clear()

    def clear(self) -> None:
        """Everything may be said otherwise."""
        self._said.clear()

    def of(self, node: ItemId) -> Hint:
        """What to show behind the statement of a node."""
        if node not in self._said:
            self._said[node] = hint(self._known, node, self.mode)
        return self._said[node]

    def tell(self, nodes: frozenset[ItemId]) -> list[ItemId] | None:
        """Something is known of these, of none in particular where there are none.

        Returns:
            Those behind which something else may stand now; None: any.
        """
        if not 0 < len(nodes) <= MOST_COMPARED:
            if nodes:
                self._said = {node: said for node, said in self._said.items() if node not in nodes}
            else:
                self._said.clear()
            return None
        before = {node: self._said.pop(node, None) for node in nodes}
        return [node for node, said in before.items() if said is None or said != self.of(node)]


def hint(known: NodeValues, node: ItemId, mode: HintMode) -> Hint:
    """What to show behind the statement of a node."""
    if mode == "off":
        return NO_HINT
    stale = known.stale(node)
    records = known.outputs(node)
    is_expected = records is None or (stale and mode == "shapes")
    if is_expected and (expected := expected_words(known, node)):
        return Hint(f"{ARROW}{expected}")
    if records is None:
        return NO_HINT
    words = [_words(record, mode) for record in records[:MOST_RESULTS]]
    text = ", ".join(word for word in words if word)
    if not text:
        return NO_HINT
    more = ", …" if len(records) > MOST_RESULTS else ""
    gradient = _gradient(known, node) if mode == "values" and len(records) == 1 else ""
    return Hint(f"{ARROW}{text}{more}{gradient}", stale)


def expected_words(known: NodeValues, node: ItemId) -> str:
    """Types and shapes as inference has them; "" when it says nothing."""
    parts = []
    for output in range(MOST_RESULTS):
        port = known.inference(node, output)
        if port is None:
            break
        if port.shape is not None:
            parts.append(f"{value_format.bare_dtype(port.dtype)} {value_format.shape(port.shape)}".strip())
        elif port.known_after_run:
            parts.append("known after a run")
    return ", ".join(parts)


def _words(record: Record, mode: HintMode) -> str:
    match record:
        case TensorRecord(summary=summary):
            from gradstudio.scene.words.shard_words import shape_words  # there is a result

            type_words = f"{value_format.bare_dtype(summary.dtype)} {shape_words(summary)}"
            if mode == "shapes":
                return type_words
            return short_value(record) or f"{type_words} {value_format.extent(summary)}".rstrip()
        case ArrayRecord(dtype=dtype, shape=sizes):
            return f"{dtype} {value_format.shape(sizes)}"
        case PlainRecord() if mode == "shapes":
            return record.class_name
        case ModuleRecord() | OptimizerRecord():
            return ""
        case _:
            return " ".join(value_format.one_line_value(record).split())


def short_value(record: TensorRecord) -> str:
    """A number or a short vector; "" for what is longer, or odd."""
    summary = record.summary
    if summary.value is None or len(summary.shape) > 1 or value_format.element_count(summary.shape) > MOST_NUMBERS:
        return ""
    if not summary.shape:
        return value_format.number(summary.value)
    rows = value_format.cells(summary, MOST_NUMBERS)
    return f"[{', '.join(cell.strip() for row in rows for cell in row)}]"


def _gradient(known: NodeValues, node: ItemId) -> str:
    row = known.grad(node, 0)
    if row is None or row.grad is None or row.state not in ("value", "accumulated"):
        return ""
    one = value_format.single(row.grad)
    words = value_format.number(one) if one is not None else f"‖{value_format.norm(row.grad)}‖"
    return f"   ∇ {words}"
