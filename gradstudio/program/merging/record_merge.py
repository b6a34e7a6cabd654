"""The records of a text's statements under the ids of the canvas: what is printed as it was stays as it was."""

from collections.abc import Callable, Iterable

import msgspec

from gradstudio.graph.model import Block, Graph, ItemId, Node
from gradstudio.program.merging.printed_statements import Entry
from gradstudio.program.merging.statement_matching import Match


class RecordMerge:
    """The records of two programs whose statements are matched."""

    def __init__(
        self,
        graph: Graph,
        read: Graph,
        matched: Match,
        before: Iterable[Entry],
        after: Iterable[Entry],
        *,
        is_first: Callable[[ItemId], bool],
        clean: Callable[[str], str],
    ) -> None:
        """Compare the entries of `graph` and of `read`, a text's graph.

        Args:
            graph: the canvas; `read` the text's graph.
            read: see above.
            matched: what belongs together.
            before: what is printed of the canvas; `after` of the text.
            after: see above.
            is_first: whether an item of the text's graph is the first of its body.
            clean: a note without what the reader took for one.
        """
        self._graph = graph
        self._read = read
        self._entry_of = {entry.item: entry for entry in before}
        self._inside = {part: entry for entry in self._entry_of.values() for part in entry.parts}
        self._said = {entry.item: (entry.above, entry.beside) for entry in after}
        self._came_to = {old: new for new, old in matched.old.items()}
        self._old = matched.old
        self._is_first = is_first
        self._clean = clean

    def block(self, item: ItemId, own: ItemId) -> Block:
        """The record of a block of the text, which has the id `own` now."""
        new = self._read.blocks[item]
        old = self._graph.blocks.get(own)
        record = msgspec.structs.replace(new, id=own, note=self._clean(new.note))
        if old is not None and self._says_the_same(item, old.id):
            blank = self._blank(item, old, new)
            return msgspec.structs.replace(record, note=old.note, beside=old.beside, blank_before=blank)
        return record

    def node(self, item: ItemId, own: ItemId, *, is_same: bool) -> Node:
        """The record of a node of the text, which has the id `own` now; `is_same`: it is printed as it was."""
        new = self._read.nodes[item]
        old = self._graph.nodes.get(own)
        if old is not None and is_same:
            return self._noted(item, old, new, self._inside.get(old.id))
        return self._changed(item, own, new, old)

    def _noted(self, item: ItemId, old: Node, new: Node, owner: Entry | None) -> Node:
        """The record as it was; with the text's comments, if those are others now."""
        statement = self._came_to.get(owner.item, item) if owner is not None else item
        if self._says_the_same(statement, self._old.get(statement)):
            return msgspec.structs.replace(old, blank_before=self._blank(item, old, new))
        note = self._clean(new.note)
        return msgspec.structs.replace(old, note=note, beside=new.beside, blank_before=new.blank_before)

    def _changed(self, item: ItemId, own: ItemId, new: Node, old: Node | None) -> Node:
        record = msgspec.structs.replace(new, id=own, note=self._clean(new.note))
        if old is None:
            return record
        wired = self._read.wires
        covered = {port: text for port, text in old.covered.items() if (item, port) in wired}
        muted = {port: end for port, end in old.muted_wires.items() if (item, port) not in wired}
        record = msgspec.structs.replace(record, marks=old.marks, covered=covered, muted_wires=muted)
        if item in self._said and self._says_the_same(item, old.id):
            return msgspec.structs.replace(record, blank_before=self._blank(item, old, new))
        return record

    def _blank(self, item: ItemId, old: Node | Block, new: Node | Block) -> bool:
        """Whether a blank line stands above; of the first in a body, and of parts, nobody can tell from the text."""
        is_told = item in self._said and not self._is_first(item)
        return new.blank_before if is_told else old.blank_before

    def _says_the_same(self, item: ItemId, old: ItemId | None) -> bool:
        """Whether the same comments stand above and beside a statement as before."""
        entry = self._entry_of.get(old) if old is not None else None
        return entry is not None and (entry.above, entry.beside) == self._said.get(item)


def is_as_read(node: Node, read: Node) -> bool:
    """Whether a node that was kept has all that the reader made of its text."""
    blank = {"note": "", "beside": "", "blank_before": False, "marks": (), "covered": {}, "muted_wires": {}, "id": ""}
    return msgspec.structs.replace(node, **blank) == msgspec.structs.replace(read, **blank)
