"""Memo: what was printed of each item, kept from one revision of a graph to the next.

Most edits change the text of one statement. An item's key holds all that its text depends on: while the
key is the same, its lines are taken as they were.
"""

from collections.abc import Iterator, Mapping

from gradstudio.graph.analysis.program_analysis import Analysis
from gradstudio.graph.memo_table import MemoTable
from gradstudio.graph.model import Graph, ItemId, Node, Wire
from gradstudio.graph.ports.wire_dots import End
from gradstudio.graph.text.code_records import is_code
from gradstudio.program.model import Span, Statement
from gradstudio.program.printing.name_references import References

Key = tuple[object, ...]
Mark = tuple[ItemId, int, int, int, int]
"""An item's place in its lines: line (from 0), column, last line, its column."""


class Piece:
    """The lines of one statement.

    Attributes:
        marks: where the node and the parts inside it stand.
        imports: what the text needs.
    """

    __slots__ = ("_first", "_spans", "depth", "imports", "key", "lines", "marks")

    def __init__(
        self, key: Key | None, depth: int, lines: tuple[str, ...], marks: tuple[Mark, ...], imports: frozenset[str]
    ) -> None:
        """Hold the parts; no key: it cannot be used again."""
        self.key = key
        self.depth = depth
        self.lines = lines
        self.marks = marks
        self.imports = imports
        self._first, self._spans = 0, ()

    _spans: tuple[Span, ...]

    def spans(self, first: int) -> tuple[Span, ...]:
        """The places of its items in a script whose line `first` (from 1) is its first."""
        if self._first != first:
            self._first = first
            self._spans = tuple(
                [Span(item, first + line, left, first + last, right) for item, line, left, last, right in self.marks]
            )
        return self._spans


class Memo:
    """What was printed of one graph, under one stem, with or without a device, annotations deferred or not.

    Attributes:
        script: all that was written of the graph when it had the `revision`; None before.
        report: the end of it; None when it has to be written anew.
    """

    def __init__(self, stem: str, device: bool, is_deferred: bool) -> None:
        """Nothing was printed."""
        self.stem, self.device, self.is_deferred = stem, device, is_deferred
        self.references: References | None = None
        self._written: References | None = None
        self._made_since: set[ItemId] = set()
        self._asked: dict[ItemId, Key] = {}
        self._stale: set[ItemId] | None = None
        self._wires: dict[End, Wire] = {}
        self.keys: dict[ItemId, Key] = {}
        self.pieces: dict[ItemId, Piece] = {}
        self.steps: dict[ItemId, tuple[Key, Statement]] = {}
        self.prints: dict[ItemId, tuple[Key, bool, Key, tuple[str, ...]]] = {}
        self.report: str | None = None
        self.revision = -1
        self.script: object = None
        self._bodies: Mapping[str, object] = {}

    def begin(self, analysis: Analysis) -> References:
        """The items of another revision are asked for; what is gone is forgotten.

        What is asked for and never ended leaves nothing that is believed later.
        """
        before = self._written
        if before is None or self.references is not before or before.structure is not analysis.structure:
            self.references, self.report = References(analysis), None
            for table in (self.keys, self.pieces, self.steps, self.prints):
                for item in [item for item in table if item not in analysis.graph.nodes]:
                    del table[item]
        assert self.references is not None
        self._asked = {}
        self.script = None
        self._stale = self._changed(before) if before is not None else None
        return self.references

    def print_with(self, bodies: Mapping[str, object]) -> None:
        """What stands in code for the bodies of its functions is printed with it: with others it is another text."""
        if bodies != self._bodies:
            codes = [item for item, key in self.keys.items() if isinstance(key[0], Node) and is_code(key[0])]
            for item in codes:
                del self.keys[item]
            self._bodies = dict(bodies)

    def end(self, graph: Graph, script: object, report: str) -> None:
        """All of the graph is written."""
        self.revision, self.script, self.report = graph.revision, script, report
        self._written, self._wires = self.references, dict(graph.wires)
        self._made_since = set()

    def known_piece(self, item: ItemId, depth: int) -> Piece | None:
        """The lines of a live statement that is surely printed as it was; None where that is to be seen."""
        if self._stale is None or item in self._stale:
            return None
        piece = self.pieces.get(item)
        if piece is None or piece.depth != depth or piece.key is not self.keys.get(item):
            return None
        self._asked[item] = self.keys[item]
        return piece

    def _changed(self, before: References) -> set[ItemId] | None:
        """The items that may be printed otherwise than under older references; None: any of them."""
        now = self.references
        assert now is not None
        if before.has_extra:
            return None
        nodes = now.graph.nodes
        waiting = [item for item, node in nodes.items() if item not in self.keys or self.keys[item][0] is not node]
        waiting += [item for item in self._made_since if item in nodes]
        if before is not now:
            elsewhere = self._changed_around(before, now)
            if elsewhere is None:
                return None
            waiting += elsewhere
        stale: set[ItemId] = set()
        while waiting:
            item = waiting.pop()
            stale.add(item)
            for wire in now.graph.outgoing.get(item, ()):
                user = nodes.get(wire.target)
                if user is not None and user.id not in stale:
                    if user.names:
                        stale.add(user.id)
                    else:
                        waiting.append(user.id)  # what reads it may be printed by its name, or hold all of it
        return stale

    def _changed_around(self, before: References, now: References) -> list[ItemId] | None:
        """Nodes whose records are as they were, but not what is said of them; None: who knows."""
        addresses = before.addresses
        found = [item for item, address in now.addresses.items() if addresses.get(item, address) != address]
        if before.validity is now.validity:
            return found if before.nested is now.nested else None
        if now.graph.blocks or now.graph.edges is not None or before.in_heads:
            return None  # what heads of loops bind, and what is given from outside, is said by no key
        found += [*self._rewired(now.graph.wires), *now.validity.changed_since(before.validity)]
        return [item for item in (*found, *(before.nested ^ now.nested)) if item in now.graph.nodes]

    def _rewired(self, now: dict[End, Wire]) -> Iterator[ItemId]:
        """Both ends of wires that came or went: whether a result has a name may depend on whether somebody reads it."""
        before = self._wires
        came = [wire for end, wire in now.items() if before.get(end) is not wire]
        went = [wire for end, wire in before.items() if now.get(end) is not wire]
        for wire in (*came, *went):
            yield wire.source
            yield wire.target

    def key(self, item: ItemId) -> Key:
        """All that the text of a live node depends on; the same object as long as it is equal."""
        found = self._asked.get(item)
        known = self.keys.get(item)
        if found is None and known is not None and self._stale is not None and item not in self._stale:
            found = self._asked[item] = known
        if found is None:
            made = self._key(item)
            self._made_since.add(item)
            found = self._asked[item] = self.keys[item] = known if known == made and known is not None else made
        return found

    def _key(self, item: ItemId) -> Key:
        references = self.references
        assert references is not None
        bound = references.bound(item)  # first: a statement is named before those that read it
        wires = tuple(references.graph.incoming.get(item, ()))
        reads = [references.read(wire) or (wire.source in references.nested, self.key(wire.source)) for wire in wires]
        return (
            references.graph.nodes[item],
            references.validity.operators.get(item),
            references.addresses[item],
            bound,
            item in references.nested,
            wires,
            *reads,
        )


_memos: MemoTable[Memo] = MemoTable()


def memo_of(graph: Graph, stem: str, device: bool, is_deferred: bool) -> Memo:
    """What was printed of a graph before; nothing when it was another script."""
    known = _memos.get(graph)
    if known is None or (known.stem, known.device, known.is_deferred) != (stem, device, is_deferred):
        known = _memos[graph] = Memo(stem, device, is_deferred)
    return known


def script_of(graph: Graph, stem: str) -> object:
    """What was written of a graph as it stands; None when nothing was, or of an older revision."""
    known = _memos.get(graph)
    return known.script if known is not None and (known.stem, known.revision) == (stem, graph.revision) else None
