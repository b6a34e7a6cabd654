"""What each node held from which tick on: rows by node, and by the turns of the loops around it. No Qt, no torch."""

from bisect import bisect_right

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import Record, TensorRecord, TupleRecord
from gradstudio.protocol.timeline.leaf_states import LeafStates
from gradstudio.protocol.timeline.model import Turns
from gradstudio.protocol.timeline.tick_trimming import Renumbering


class NodeRows:
    """Rows of one node in order, and the tick from which on each holds."""

    __slots__ = ("rows", "ticks")

    def __init__(self) -> None:
        """It has not run."""
        self.ticks: list[int] = []
        self.rows: list[Row] = []

    def add(self, tick: int, row: Row) -> None:
        """It ran; a row that holds from the same tick on is replaced."""
        if self.ticks and self.ticks[-1] == tick:
            self.rows[-1] = row
        else:
            self.ticks.append(tick)
            self.rows.append(row)

    def until(self, tick: int | None) -> int:
        """How many of the rows hold from at most this tick on (None: now)."""
        return len(self.ticks) if tick is None else bisect_right(self.ticks, tick)


class StorageIndex:
    """Nodes by the storages of their results; what ran since is read when it is asked.

    Attributes:
        unread: rows that were not read yet.
        holders: by storage, the nodes that held something in it; `shared`: those of more than one node.
    """

    def __init__(self) -> None:
        """Nothing has run."""
        self.unread: list[Row] = []
        self.holders: dict[int, dict[ItemId, None]] = {}
        self.shared: dict[int, dict[ItemId, None]] = {}

    def read(self) -> None:
        """Take in what ran since."""
        for row in self.unread:
            for storage in storages_of(row):
                nodes = self.holders.setdefault(storage, {})
                nodes[row.node] = None
                if len(nodes) > 1:
                    self.shared[storage] = nodes
        self.unread.clear()


class RowIndex:
    """Finds the row of a node at a tick by bisection.

    Attributes:
        leaves: what writes had made of leaves.
    """

    def __init__(self) -> None:
        """Nothing has run."""
        self._nodes: dict[ItemId, NodeRows] = {}
        self._turns: dict[tuple[ItemId, Turns], NodeRows] | None = None  # nobody asks but who looks into a loop
        self._storages = StorageIndex()
        self.leaves = LeafStates()

    def add(self, tick: int, row: Row) -> None:
        """A statement was executed at this tick."""
        self._ran(row.node).add(tick, row)
        self._storages.unread.append(row)
        self.leaves.add(tick, row)
        if row.turns and self._turns is not None:
            self._turns.setdefault((row.node, row.turns), NodeRows()).add(tick, row)

    def replace(self, tick: int, row: Row) -> None:
        """The row of this tick is told anew, with all its figures."""
        self._storages.unread.append(row)
        self.leaves.add(tick, row)
        in_turns = self._turns.get((row.node, row.turns)) if self._turns is not None else None
        for ran in (self._nodes.get(row.node), in_turns):
            place = ran.until(tick) - 1 if ran is not None else -1
            if ran is not None and place >= 0 and ran.rows[place].step == row.step:
                ran.rows[place] = row

    def nodes(self) -> tuple[ItemId, ...]:
        """Every node that ran, in the order in which they first did."""
        return tuple(self._nodes)

    def storages(self) -> "StorageIndex":
        """Which nodes held something in which storage, at whatever tick."""
        self._storages.read()
        return self._storages

    def at(self, node: ItemId, tick: int | None, turns: Turns | None) -> tuple[int, Row] | None:
        """The newest row at the tick, in these turns if any are given, and from which tick on it holds."""
        ran = self._by_turns().get((node, turns)) if turns else self._nodes.get(node)
        if ran is None:
            return None
        place = (len(ran.ticks) if tick is None else bisect_right(ran.ticks, tick)) - 1
        return (ran.ticks[place], ran.rows[place]) if place >= 0 else None

    def in_pass(self, node: ItemId, tick: int | None) -> list[Row]:
        """The rows of the pass it last ran in, up to the tick, in order."""
        ran = self._nodes.get(node)
        found: list[Row] = []
        for place in range(ran.until(tick) - 1 if ran is not None else -1, -1, -1):
            assert ran is not None
            if found and ran.rows[place].pass_number != found[0].pass_number:
                break
            found.append(ran.rows[place])
        return found[::-1]

    def cut(self, tick: int) -> None:
        """Nothing has run from this tick on; `renumber` follows."""
        for ran in self._nodes.values():
            place = ran.until(tick - 1)
            del ran.ticks[place:], ran.rows[place:]
        self._nodes = {node: ran for node, ran in self._nodes.items() if ran.ticks}

    def renumber(self, ticks: Renumbering) -> None:
        """Only some ticks stay, numbered anew; what a node held between two of them holds from the second on."""
        self._turns = None
        self._storages = StorageIndex()
        self.leaves = LeafStates()
        for ran in self._nodes.values():
            # Of the rows that hold from one tick on now, the last is what a node held there.
            holds = dict(zip(map(ticks.new.__getitem__, ran.ticks), ran.rows, strict=True))
            ran.ticks, ran.rows = list(holds), list(holds.values())
            self._storages.unread += ran.rows
            self.leaves.add_all(holds.items())

    def _by_turns(self) -> dict[tuple[ItemId, Turns], NodeRows]:
        """Rows of nodes in one turn of the loops around them; made when it is first asked for, and after each trim."""
        if self._turns is None:
            self._turns = {}
            for node, ran in self._nodes.items():
                for tick, row in zip(ran.ticks, ran.rows, strict=True):
                    if row.turns:
                        self._turns.setdefault((node, row.turns), NodeRows()).add(tick, row)
        return self._turns

    def _ran(self, node: ItemId) -> NodeRows:
        ran = self._nodes.get(node)
        if ran is None:
            ran = self._nodes[node] = NodeRows()
        return ran


def storages_of(row: Row) -> set[int]:
    """The storages of all that a statement gave."""
    return {storage for record in row.outputs for storage in _storages(record)}


def _storages(record: Record) -> tuple[int, ...]:
    if isinstance(record, TensorRecord):
        return (record.storage,) if record.storage else ()
    if isinstance(record, TupleRecord):
        return tuple(storage for item in record.items for storage in _storages(item))
    return ()
