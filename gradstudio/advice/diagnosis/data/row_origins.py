"""Which rows of which data a value holds: followed through slices, orders, data sets, loaders, functions and layers.

A batch of a loop stands for all the rows that the loop goes over. What is not surely known is not guessed: None.
"""

import ast
from typing import NamedTuple

from gradstudio.advice.diagnosis.mistakes.remade_models import loops_around
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.failure_case import Lookup
from gradstudio.graph.analysis.call_paths import TUPLE, Source
from gradstudio.graph.model import ItemId, Node
from gradstudio.protocol.messages.records import TensorRecord

FIRST = ("self", "input", "a", "inputs.0", "b", "other")
REDUCTIONS = frozenset("mean std var std_mean var_mean min max amin amax sum median quantile norm".split())
STATISTICS = frozenset("mean std var std_mean var_mean min max amin amax median quantile".split())
"""By what data are scaled; a sum or a norm is rather a part of what is computed."""
SCALING = frozenset({"sub", "truediv", "div"})
ADJUSTING = frozenset("add sub clamp clip maximum sqrt getitem unsqueeze squeeze view reshape float to item".split())
"""What a statistic may go through on its way into the data: an epsilon, a range, a shape."""
REORDERING = frozenset(
    "sort argsort flip roll topk transpose permute t T mT movedim swapaxes unique nonzero bmm einsum".split()
)
DEALING, LOADING, HOLDING = "random_split", "DataLoader", "TensorDataset"
WHOLE = ":"
DEEPEST = 40


class Rows(NamedTuple):
    """Rows of data, and what has been taken into each of them from others.

    Attributes:
        made: what made the data: an item, and which of its results.
        first, end: which rows, in the order as it is dealt out.
        total: how many there are in all.
        order: what put them into another order, or dealt them out; None: as they were made.
        loaded: the data set that a loader takes them from, side by side with others; None: there is no loader.
        statistics: what they were scaled by.
    """

    made: tuple[ItemId, int]
    first: int
    end: int
    total: int
    order: ItemId | None = None
    loaded: ItemId | None = None
    statistics: "tuple[Statistic, ...]" = ()

    @property
    def is_whole(self) -> bool:
        """Whether it is all of the data."""
        return self.end - self.first == self.total

    def is_of(self, other: "Rows") -> bool:
        """Whether both are numbered alike, so that their numbers may be compared."""
        return (self.made, self.order, self.total) == (other.made, other.order, other.total)

    def meets(self, other: "Rows") -> bool:
        """Whether some rows are in both, of what is numbered alike."""
        return self.first < other.end and other.first < self.end

    def holds(self, other: "Rows") -> bool:
        """Whether all rows of the other one are among these."""
        return self.first <= other.first and other.end <= self.end


class Statistic(NamedTuple):
    """A mean, a deviation or a range over rows; the item that computed it."""

    item: ItemId
    rows: Rows


class RowOrigins:
    """Says of values which rows they hold; what was asked once is kept."""

    def __init__(self, view: ProgramView, lookup: Lookup) -> None:
        """Of a program, and what is known of its values."""
        self._view, self._lookup = view, lookup
        self._known: dict[tuple[ItemId, int], Rows | None] = {}
        self._depth = 0

    def of(self, item: ItemId, output: int = 0) -> Rows | None:
        """The rows that a value holds along its first dimension; None where nobody can tell."""
        at = self._view.resolve(item, output)
        if at not in self._known:
            self._known[at] = None  # what comes back to itself tells nothing
            self._depth += 1
            self._known[at] = self._find(*at) if self._depth < DEEPEST else None
            self._depth -= 1
        return self._known[at]

    def source(self, item: ItemId, ports: tuple[str, ...] = FIRST) -> Rows | None:
        """The same of what is wired into an item."""
        source = self._view.source(item, ports)
        return self.of(source.item, source.output) if source is not None else None

    def statistic(self, item: ItemId, output: int) -> Statistic | None:
        """What a value is, where it was computed over rows of data."""
        at, output = self._view.resolve(item, output)
        for _ in range(DEEPEST):
            word, node = self._view.word(at), self._view.node(at)
            if node is not None and word in STATISTICS and _is_over_rows(node):
                rows = self.source(at)
                return Statistic(at, rows._replace(statistics=())) if rows is not None else None
            if word not in ADJUSTING and not (node is not None and node.operator == TUPLE):
                return None
            source = self._view.source(at, (*FIRST, "items"))
            if source is None:
                return None
            at, output = self._view.resolve(source.item, source.output)
        return None

    # ------------------------------------------------------------------ private

    def _find(self, item: ItemId, output: int) -> Rows | None:
        view, node = self._view, self._view.node(item)
        if node is None:
            carried = view.carried(item, output)
            return self.of(carried[0].item, carried[0].output) if carried else None
        if node.operator == TUPLE:
            listed = view.source(item, ("items",))
            return self._batch(listed, output) if listed is not None else None
        record = self._lookup(item, output)
        if not isinstance(record, TensorRecord) or not record.summary.shape:
            return None
        word = view.word(item)
        if word == "getitem":
            return self._taken(item, node)
        if word in REDUCTIONS and _is_over_rows(node):
            return None
        return self._through(item, output, word, record)

    def _through(self, item: ItemId, output: int, word: str, record: TensorRecord) -> Rows | None:
        """What is computed row by row, or was made here."""
        source = self._view.source(item, FIRST)
        before = self._lookup(*self._view.resolve(source.item, source.output)) if source is not None else None
        if source is None or not isinstance(before, TensorRecord):
            is_made = not record.requires_grad and self._view.source(item) is None
            return _made(item, output, record) if is_made else None
        rows = self.of(source.item, source.output)
        if rows is None or word in REORDERING or before.summary.shape[:1] != record.summary.shape[:1]:
            return None if record.requires_grad or rows is not None else _made(item, output, record)
        other = self._view.source(item, ("b", "other")) if word in SCALING else None
        by = self.statistic(other.item, other.output) if other is not None else None
        return rows._replace(statistics=(*rows.statistics, by)) if by is not None else rows

    def _taken(self, item: ItemId, node: Node) -> Rows | None:
        """Some rows of a value."""
        rows, given = self.source(item, ("a",)), {one.port: one for one in self._view.sources(item)}
        if rows is None:
            return None
        chosen = given.get("index.0") or given.get("index")
        if chosen is not None:
            return self._chosen(rows, chosen)
        if "index.0.start" in given or "index.0.stop" in given:
            return rows if loops_around(self._view, item) else None
        bounds = _bounds(node.literals.get("index.0", node.literals.get("index", "")), rows.end - rows.first)
        if bounds is None:
            return None
        return rows._replace(first=rows.first + bounds[0], end=rows.first + bounds[1])

    def _chosen(self, rows: Rows, chosen: Source) -> Rows | None:
        """Rows by their numbers: those of a permutation, or of a part of it, are known by their places in it."""
        numbers = self.of(chosen.item, chosen.output)
        if numbers is None or not rows.is_whole or self._view.word(numbers.made[0]) != "randperm":
            return None
        if numbers.total != rows.total:
            return None
        return rows._replace(first=numbers.first, end=numbers.end, order=numbers.made[0])

    def _batch(self, listed: Source, number: int) -> Rows | None:
        """One of what a loader gives in each turn."""
        view = self._view
        over = view.source(listed.item, ("over",))
        if over is None:
            counted = view.node(listed.item)
            outer = view.source(listed.item, ("items",)) if counted is not None and counted.operator == TUPLE else None
            over = view.source(outer.item, ("over",)) if outer is not None else None
            over = view.source(over.item, ("iterable",)) if over is not None else None
        at = view.resolve(over.item, over.output) if over is not None else None
        if at is None or view.word(at[0]) != LOADING:
            return None
        data = view.source(at[0], ("dataset",))
        return self._of_data(data, number) if data is not None else None

    def _of_data(self, data: Source, number: int) -> Rows | None:
        """One column of a data set, dealt out or not."""
        view = self._view
        item, output = view.resolve(data.item, data.output)
        if view.word(item) == HOLDING:
            rows = self.source(item, (f"tensors.{number}",))
            return rows._replace(loaded=item) if rows is not None else None
        listed = view.source(item, ("items",))
        at = view.resolve(listed.item, listed.output)[0] if listed is not None else item
        whole = view.source(at, ("dataset",)) if view.word(at) == DEALING else None
        rows = self._of_data(whole, number) if whole is not None else None
        node = view.node(item)
        if rows is None or node is None or not rows.is_whole:
            return None
        return rows._replace(first=output, end=output + 1, total=max(2, len(node.names)), order=at)


def _made(item: ItemId, output: int, record: TensorRecord) -> Rows | None:
    count = record.summary.shape[0]
    return Rows((item, output), 0, count, count) if count > 1 else None


def _is_over_rows(node: Node) -> bool:
    """Whether a reduction goes over the first dimension; over all of them, too."""
    try:
        dim = ast.literal_eval(node.literals.get("dim", "None"))
    except (ValueError, SyntaxError):
        return True
    return dim is None or dim == 0 or (isinstance(dim, tuple | list) and 0 in dim)


def _bounds(text: str, count: int) -> tuple[int, int] | None:
    """Of a slice that is written in numbers, the first row and that behind the last."""
    parts = text.split(":")
    if text == WHOLE:
        return 0, count
    if len(parts) != 2 or not all(part.strip().removeprefix("-").isdigit() for part in parts if part.strip()):
        return None
    first, end, _ = slice(*(int(part) if part.strip() else None for part in parts)).indices(count)
    return (first, end) if first < end else None
