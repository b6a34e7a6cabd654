"""The rows of the outline: a tree of statements and wires that follows a graph. No Qt here."""

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId, Wire
from gradstudio.graph.ports.item_ports import input_ports


class Key(NamedTuple):
    """What a row shows: an item, or (with a port) the wire into it."""

    item: ItemId
    port: str = ""


@dataclass(eq=False, slots=True)
class Row:
    """One line of the tree; `place` is its number among its siblings.

    Attributes:
        number: by which the row can be found again.
        wires: how many of its children are wires; they come first.
        seen: the statements of its body when it was last compared.
    """

    number: int
    key: Key
    parent: "Row | None" = None
    place: int = 0
    wires: int = 0
    children: list["Row"] = field(default_factory=list)
    seen: tuple[ItemId, ...] = ()


class Insert(NamedTuple):
    """Rows come in under `parent`, before its row `place`."""

    parent: Row
    place: int
    rows: list[Row]


class Remove(NamedTuple):
    """`many` rows of `parent` go, from `place` on."""

    parent: Row
    place: int
    many: int


class Move(NamedTuple):
    """A row of `parent` goes from one place up to another."""

    parent: Row
    old: int
    new: int


Step = Insert | Remove | Move


class Rows:
    """The tree; `steps` yields how it changes, `take` changes it: between the two a view can be told.

    Attributes:
        only: what is shown while something is searched for; None: everything.
    """

    def __init__(self, graph: Graph) -> None:
        """Build the rows of a graph."""
        self.graph, self.only = graph, None  # type: tuple[Graph, frozenset[ItemId] | None]
        self._count = 0
        self.by_number: dict[int, Row] = {}
        self.by_key: dict[Key, Row] = {}
        self.root = self._row(Key(ItemId("")))
        self._fill(self.root)

    def rebuild(self, graph: Graph, only: frozenset[ItemId] | None) -> None:
        """Forget all rows and build those of a graph; `only` these, with what is around them."""
        self.graph, self.only = graph, only
        if only is not None:
            self.only = only | {ItemId(body) for item in only for body in graph.ancestors(item) if body != ROOT}
        self.by_number.clear()
        self.by_key.clear()
        self.root = self._row(Key(ItemId("")))
        self._fill(self.root)

    def find(self, item: ItemId, port: str = "") -> Row | None:
        """The row of an item or of the wire into a port of it."""
        return self.by_key.get(Key(item, port))

    def wire(self, row: Row) -> Wire | None:
        """The wire that a row shows; None for a statement."""
        return self.graph.wire_into(row.key.item, row.key.port) if row.key.port else None

    # ------------------------------------------------------------------ following

    def steps(self, touched: Iterable[ItemId]) -> Iterator[Step]:
        """What changes, step by step; each is to be taken before the next is asked for."""
        yield from self._body_steps(self.root)
        blocks = [row for row in self.by_key.values() if row.key.item in self.graph.blocks and not row.key.port]
        for row in blocks:
            if self.by_number.get(row.number) is row:
                yield from self._body_steps(row)
        for item in touched:
            found = self.find(item)
            if found is not None and self.only is None:
                yield from self._wire_steps(found)

    def take(self, step: Step) -> None:
        """Change the tree."""
        match step:
            case Insert(parent, place, rows):
                parent.children[place:place] = rows
            case Remove(parent, place, many):
                for row in parent.children[place : place + many]:
                    self._forget(row)
                del parent.children[place : place + many]
            case Move(parent, old, new):
                parent.children.insert(new, parent.children.pop(old))
        parent.wires = sum(bool(row.key.port) for row in parent.children)
        _number(parent)

    def _body_steps(self, row: Row) -> Iterator[Step]:
        body = self.graph.bodies.get(BodyId(row.key.item), ())
        if row.seen is body and self.only is None:
            return
        row.seen = body
        yield from self._compared(row, row.wires, self._members(row))

    def _wire_steps(self, row: Row) -> Iterator[Step]:
        wanted = self._wires(row.key.item)
        if [child.key for child in row.children[: row.wires]] != wanted:
            yield from self._compared(row, 0, wanted, row.wires)

    def _compared(self, row: Row, first: int, wanted: list[Key], count: int | None = None) -> Iterator[Step]:
        """Turn the children from `first` on (so many) into the wanted ones: remove, then move or insert."""
        last = len(row.children) if count is None else first + count
        kept = frozenset(wanted)
        place = last
        while place > first:
            place -= 1
            if row.children[place].key not in kept:
                end = place + 1
                while place > first and row.children[place - 1].key not in kept:
                    place -= 1
                yield Remove(row, place, end - place)
        had = {child.key for child in row.children[first:]}
        place, waiting = first, list[Key]()
        for key in wanted:
            if key not in had:
                waiting.append(key)
                continue
            place += yield from self._inserted(row, place, waiting)
            waiting = []
            if row.children[place].key != key:
                yield Move(row, self.by_key[key].place, place)
            place += 1
        yield from self._inserted(row, place, waiting)

    def _inserted(self, row: Row, place: int, keys: list[Key]) -> Generator[Step, None, int]:
        if keys:
            made = [self._row(key, row) for key in keys]
            for child in made:
                if not child.key.port:
                    self._fill(child)
            yield Insert(row, place, made)
        return len(keys)

    # ------------------------------------------------------------------ rows

    def _fill(self, row: Row) -> None:
        """Make everything under a row that is not shown yet."""
        item = row.key.item
        wires = self._wires(item) if item and self.only is None else []
        row.seen = self.graph.bodies.get(BodyId(item), ())
        row.wires = len(wires)
        row.children = [self._row(key, row) for key in (*wires, *self._members(row))]
        _number(row)
        for child in row.children[row.wires :]:
            self._fill(child)

    def _members(self, row: Row) -> list[Key]:
        """The statements of its body that are shown."""
        return [Key(item) for item in row.seen if self.only is None or item in self.only]

    def _wires(self, item: ItemId) -> list[Key]:
        """The wires into an item, in the order of its arguments."""
        ports = [wire.port for wire in self.graph.wires_to(item)]
        if len(ports) > 1:
            places = {port.path: k for k, port in enumerate(input_ports(self.graph, item))}
            ports.sort(key=lambda path: places.get(path, len(places)))
        return [Key(item, path) for path in ports]

    def _row(self, key: Key, parent: Row | None = None) -> Row:
        self._count += 1
        made = Row(self._count, key, parent)
        self.by_number[made.number] = self.by_key[key] = made
        return made

    def _forget(self, row: Row) -> None:
        for child in row.children:
            self._forget(child)
        self.by_number.pop(row.number, None)
        if self.by_key.get(row.key) is row:
            del self.by_key[row.key]


def _number(row: Row) -> None:
    for place, child in enumerate(row.children):
        child.place = place
