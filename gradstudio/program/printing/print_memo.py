"""Memo: what was printed of each item, kept from one revision of a graph to the next.

Most edits change the text of one statement. An item's key holds all that its text depends on: while the
key is the same, its lines are taken as they were.
"""

from weakref import WeakKeyDictionary

from gradstudio.graph.analysis.program_analysis import Analysis
from gradstudio.graph.model import Graph, ItemId
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
    """What was printed of one graph, under one stem, with or without a device."""

    def __init__(self, stem: str, device: bool) -> None:
        """Nothing was printed."""
        self.stem, self.device = stem, device
        self.references: References | None = None
        self._asked: dict[ItemId, Key] = {}
        self.keys: dict[ItemId, Key] = {}
        self.pieces: dict[ItemId, Piece] = {}
        self.steps: dict[ItemId, tuple[Key, Statement]] = {}
        self.report: str | None = None

    def begin(self, analysis: Analysis) -> References:
        """The items of another revision are asked for; what is gone is forgotten."""
        if self.references is None or self.references.structure is not analysis.structure:
            self.references, self.report = References(analysis), None
            for table in (self.keys, self.pieces, self.steps):
                for item in [item for item in table if item not in analysis.graph.nodes]:
                    del table[item]
        self._asked = {}
        return self.references

    def key(self, item: ItemId) -> Key:
        """All that the text of a live node depends on; the same object as long as it is equal."""
        found = self._asked.get(item)
        if found is None:
            made = self._key(item)
            known = self.keys.get(item)
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
            references.soundness.operators.get(item),
            references.addresses[item],
            bound,
            item in references.nested,
            wires,
            *reads,
        )


_memos: "WeakKeyDictionary[Graph, Memo]" = WeakKeyDictionary()


def memo_of(graph: Graph, stem: str, device: bool) -> Memo:
    """What was printed of a graph before; nothing when it was another script."""
    known = _memos.get(graph)
    if known is None or (known.stem, known.device) != (stem, device):
        known = _memos[graph] = Memo(stem, device)
    return known
