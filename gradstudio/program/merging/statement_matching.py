"""Matching: which statement of an edited text is which item of the graph that the text was printed from."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from difflib import SequenceMatcher

import msgspec

from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.merging.printed_statements import Entry


class Match(msgspec.Struct):
    """What belongs together.

    Attributes:
        old: the item of the graph, by the item of the text.
        same: items of the text whose statement is printed as it was.
    """

    old: dict[ItemId, ItemId] = {}
    same: set[ItemId] = set()


class Matching:
    """One comparison of two programs, statement by statement."""

    def __init__(self, graph: Graph, before: list[Entry], unseen: Iterable[ItemId], read: Graph) -> None:
        """Compare `before`, the entries of `graph`, and what no text shows, with a text's graph."""
        self.graph, self.read = graph, read
        self.before = [*before, *(Entry(item, "") for item in unseen)]
        self.shown = len(before)
        self.found = Match({}, set())
        self._left: set[int] = set(range(len(self.before)))
        self._new: dict[int, Entry] = {}

    def match(self, after: list[Entry]) -> Match:
        """Match by the text where it is the same, then by where it moved to, by names, and by operators."""
        self._new = dict(enumerate(after))
        regions = self._in_place(after)
        self._by(lambda entry, graph: entry.text)
        self._by(lambda entry, graph: _names(graph, entry.item))
        for olds, news in regions:
            self._by(lambda entry, graph: _operator(graph, entry.item), olds, news)
        return self.found

    # -------------------------------------------------------------- steps

    def _in_place(self, after: list[Entry]) -> list[tuple[range, range]]:
        """Pair what stands unchanged; the stretches between that were changed."""
        old = [entry.text for entry in self.before[: self.shown]]
        new = [entry.text for entry in after]
        head = _common(old, new)
        tail = _common(old[head:][::-1], new[head:][::-1])
        for k in range(head):
            self._pair(k, k)
        for k in range(1, tail + 1):
            self._pair(len(old) - k, len(new) - k)
        middle_old = old[head : len(old) - tail]
        middle_new = new[head : len(new) - tail]
        changed = []
        for tag, a, b, c, d in SequenceMatcher(None, middle_old, middle_new, autojunk=False).get_opcodes():
            if tag == "equal":
                for k in range(b - a):
                    self._pair(head + a + k, head + c + k)
            else:
                changed.append((range(head + a, head + b), range(head + c, head + d)))
        return changed

    def _by(
        self,
        key: Callable[[Entry, Graph], Hashable],
        olds: Iterable[int] | None = None,
        news: Iterable[int] | None = None,
    ) -> None:
        """Pair what is left and has the same key, in the order of the texts."""
        waiting: defaultdict[Hashable, list[int]] = defaultdict(list)
        for k in sorted(self._left if olds is None else self._left.intersection(olds), reverse=True):
            waiting[key(self.before[k], self.graph)].append(k)
        for k in sorted(self._new if news is None else self._new.keys() & set(news)):
            sign = key(self._new[k], self.read)
            if sign not in ("", ()) and waiting[sign] and self._alike(waiting[sign][-1], k):
                self._pair(waiting[sign].pop(), k)

    def _alike(self, old: int, new: int) -> bool:
        """Whether one can be the other: nodes both, or blocks of one kind."""
        one = self.graph.blocks.get(self.before[old].item)
        other = self.read.blocks.get(self._new[new].item)
        return (one.kind if one is not None else None) == (other.kind if other is not None else None)

    def _pair(self, old: int, new: int) -> None:
        before = self.before[old]
        after = self._new.pop(new)
        self._left.discard(old)
        self.found.old[after.item] = before.item
        if before.text == after.text and len(before.parts) == len(after.parts):
            self.found.same.update((after.item, *after.parts))
            self.found.old.update(zip(after.parts, before.parts, strict=True))
        else:
            self._pair_parts(before.parts, after.parts)

    def _pair_parts(self, before: tuple[ItemId, ...], after: tuple[ItemId, ...]) -> None:
        """Parts of a changed statement: those of the same operators, in their order."""
        old = [_operator(self.graph, item) for item in before]
        new = [_operator(self.read, item) for item in after]
        for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
            for k in range(block.size):
                self.found.old[after[block.b + k]] = before[block.a + k]


def _common(one: list[str], other: list[str]) -> int:
    """How many texts at the beginning are the same."""
    return next((k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _names(graph: Graph, item: ItemId) -> tuple[str, ...]:
    node = graph.nodes.get(item)
    return node.names if node is not None and set(node.names) != {"_"} else ()


def _operator(graph: Graph, item: ItemId) -> str:
    node = graph.nodes.get(item)
    return node.operator if node is not None else graph.blocks[item].kind
