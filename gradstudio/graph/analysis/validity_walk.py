"""The walk that tells which items of a program cannot run: from its beginning, or from what an edit touched."""

import heapq
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from gradstudio.errors import GradStudioError
from gradstudio.graph import names as names_of
from gradstudio.graph.graph_index import index_of
from gradstudio.graph.model import DEFINITION_INPUTS, ROOT, Block, BodyId, ItemId, Node, Wire
from gradstudio.graph.text.item_titles import title
from gradstudio.graph.text.statements import Binding, Statements, own_names

MAX_BLOCKS = 20
"""Python allows that many blocks within one another."""
FEW = 50
"""So many readers of what is lost are looked for one by one; more of them among all that stand behind it."""
MUTED = ""
READS = "it reads '"
Reason = str | Node
"""Why an item cannot run: in words, or the node that it reads, which cannot run, for few are asked for the words."""
OwnReason = Callable[[ItemId], str | None]
"""Why an item cannot run whatever it reads."""


class Walk:
    """The walk in program order, with what every name means at each place."""

    def __init__(self, statements: Statements, own_reason: OwnReason, gone: dict[ItemId, Reason]) -> None:
        self.statements = statements
        self.graph = statements.graph
        self.own_reason = own_reason
        self.gone = gone
        self.seen: set[ItemId] = {DEFINITION_INPUTS}
        self.open: set[ItemId] = set()
        self.forced: dict[ItemId, str] = {}
        self.sound: frozenset[ItemId] = frozenset()
        self.meaning: dict[str, Binding | None] = {}

    def begin(self, inputs: tuple[str, ...], forced: dict[ItemId, str], sound: frozenset[ItemId]) -> None:
        """Walk the program.

        Args:
            inputs: the names that a definition is given.
            forced: loops of which it is known already that they cannot run, and why.
            sound: nodes that can run when what they read can.
        """
        self.meaning = {name: (DEFINITION_INPUTS, k) for k, name in enumerate(inputs)}
        self.forced, self.sound = forced, sound
        self.body(ROOT, 0)

    def body(self, body: BodyId, depth: int) -> None:
        """Walk a body, inside so many blocks."""
        nodes, sound = self.graph.nodes, self.sound
        for item in self.graph.bodies[body]:
            if item in sound and not nodes[item].muted and self._reads_well(item):
                self.seen.add(item)
                for k, name in enumerate(nodes[item].names):
                    self.meaning[name] = (item, k)
                continue
            why = self.why_gone(item)
            if why is None and item in self.graph.blocks and depth >= MAX_BLOCKS:
                why = f"Python allows {MAX_BLOCKS} blocks within one another"
            if why is not None:
                self._drop(item, why)
            elif item in self.graph.blocks:
                self._block(self.graph.blocks[item], depth)
            else:
                self.seen.add(item)
                self._bind(item, own_names(self.graph, item))

    def _block(self, block: Block, depth: int) -> None:
        self.seen.add(block.id)
        self.open.add(block.id)
        if block.kind == "for":
            for name in self._bound_inside(block):
                self.meaning[name] = None  # before the body binds it, its second turn would read the first one's
            self._bind(block.id, (block.variable, *block.carried))
        self.body(BodyId(block.id), depth + (block.kind != "group"))
        self.open.discard(block.id)

    def _bind(self, item: ItemId, names: tuple[str, ...]) -> None:
        for k, name in enumerate(names):
            if name:
                self.meaning[name] = (item, k)

    def _bound_inside(self, block: Block) -> Iterator[str]:
        for item in self.graph.order(BodyId(block.id)):
            node = self.graph.nodes.get(item)
            yield from node.names if node is not None else (self.graph.blocks[item].variable,)

    def _drop(self, item: ItemId, why: str) -> None:
        self.gone[item] = why
        if item in self.graph.blocks:
            inside = MUTED if why == MUTED else f"it stands in a block that cannot run: {why}"
            for inner in self.graph.order(BodyId(item)):
                self.gone[inner] = inside

    def _reads_well(self, item: ItemId) -> bool:
        """Whether what it reads are nodes before it whose names mean what they should; False: that is to be seen."""
        nodes, statements = self.graph.nodes, self.statements
        for wire in self.graph.incoming.get(item, ()):
            source = wire.source
            if source in self.gone or source not in self.seen or source not in nodes:
                return False
            meant = statements.binding(source, wire.output)
            if meant[0] not in nodes:
                return False
            names = nodes[meant[0]].names
            if meant[1] < len(names) and self.meaning.get(names[meant[1]]) != meant:
                return False
        return True

    def is_gone(self, source: ItemId, _item: ItemId) -> bool:
        """Whether something that cannot run stands before the item that is asked."""
        return source in self.gone

    def is_before(self, source: ItemId, _item: ItemId) -> bool:
        """Whether something that can run stands before the item that is asked."""
        return source in self.seen

    def meaning_at(self, _item: ItemId, name: str) -> Binding | None:
        """What a name means at the item that is asked."""
        return self.meaning.get(name)

    def why_gone(self, item: ItemId) -> str | None:
        """Why an item is not in the program that runs; None when it is."""
        owner = self.graph.nodes.get(item) or self.graph.blocks[item]
        if owner.muted:
            return MUTED
        reasons = []
        for wire in self.graph.incoming.get(item, ()):
            why = self._wire_reason(wire)
            if why == MUTED:
                return MUTED
            if why is not None:
                reasons.append((wire.port, why))
        own = self.forced.get(item)
        if own is None:
            own = self.own_reason(item)
        if own is not None:
            return own
        return min(reasons)[1] if reasons else None

    def _wire_reason(self, wire: Wire) -> str | None:
        port, source = wire.port, wire.source
        if port.startswith("next."):
            return None
        if self.is_gone(source, wire.target):
            return MUTED if self.gone[source] == MUTED else _because_of(title(self.graph, source))
        if not self.is_before(source, wire.target):
            return f"{READS}{title(self.graph, source)}' before that is made"
        if source in self.graph.blocks and source not in self.open:
            return "it reads from outside what exists only inside a block"
        meant = self.statements.binding(source, wire.output)
        name = self.statements.name(meant)
        if name and self.meaning_at(wire.target, name) != meant:
            return f"'{name}' means another statement here: give one of the two another name"
        if port.startswith("first.") and name != port[6:]:
            return f"'{port[6:]}' has another name before the loop"
        return None


def words_of(reason: Reason) -> str:
    """A reason in words."""
    return reason if isinstance(reason, str) else _because_of(names_of.node_title(reason))


def _because_of(title: str) -> str:
    return f"{READS}{title}', which cannot run"


class WholeWalkNeeded(GradStudioError):
    """What an edit touched does not tell what it changes."""


class LocalWalk(Walk):
    """Asks the items that an edit touched, and on from those of which another thing is said now.

    A name means what the nearest live statement before bound to it. Loops change that for what stands before them in
    their body, and blocks take what they hold with them: where they come into it, the whole is to be walked.
    """

    def __init__(self, statements: Statements, own_reason: OwnReason, gone: dict[ItemId, Reason]) -> None:
        """Begin with what could not run before the edit."""
        super().__init__(statements, own_reason, gone)
        self._numbers = self.graph.numbers()
        self._index = index_of(self.graph)
        self._waiting: set[ItemId] = set()
        self._heap: list[tuple[int, ItemId]] = []

    def follow(self, changed: Iterable[ItemId], names: Iterable[str]) -> None:
        """Ask what changed, and who reads it; `names` are those that it bore before.

        Raises:
            WholeWalkNeeded: it does not tell what else is another.
        """
        for item in changed:
            if item in self.graph:
                self._ask(item)
            else:
                self.gone.pop(item, None)
            self._ask_readers(item)
        for item in self.statements.far_sighted - self.graph.blocks.keys():
            self._ask(item)
            if not self.graph.nodes[item].names:
                self._ask_readers(item)
        for name in names:
            self._ask_readers_of(name)
        while self._heap:
            item = heapq.heappop(self._heap)[1]
            self._waiting.discard(item)
            self._look_at(item)

    def _look_at(self, item: ItemId) -> None:
        blocks = self.graph.blocks
        if blocks and any(ItemId(body) in self.gone for body in self.graph.ancestors(item)):
            raise WholeWalkNeeded
        if blocks and any(wire.source in blocks for wire in self.graph.incoming.get(item, ())):
            raise WholeWalkNeeded
        before, why = self.gone.get(item), self.why_gone(item)
        if why is None:
            self.gone.pop(item, None)
        else:
            self.gone[item] = why
        was_gone, is_gone = before not in (None, MUTED), why not in (None, MUTED)
        if is_gone and before is None and not blocks:
            self._take_along(item)
        elif was_gone is not is_gone or (before is None) is not (why is None):  # why it is gone its readers do not say
            self._ask_readers(item)

    def _take_along(self, item: ItemId) -> None:
        """All that reads what cannot run any more, by way of whatever, cannot either; only why is to be said.

        What another thing is said of, and what reads a name that means another thing now, is asked like all others.
        """
        lost = self._few_readers(item)
        if lost is None:
            lost = self._later_readers(item)
        nodes, shared = self.graph.nodes, self._index.shared
        if shared:
            for source in (item, *lost):
                for name in shared.intersection(nodes[source].names):
                    self._ask_readers_of(name)
        self.gone.update(zip(lost, [nodes[wire.source] for wire in lost.values()], strict=True))

    def _few_readers(self, item: ItemId) -> dict[ItemId, Wire] | None:
        """Those taken along, and by which wire, looked for from reader to reader; None where there are many."""
        first = dict[ItemId, Wire]()  # whoever loses one reads nothing else that is gone: it would be gone already
        waiting = [item]
        for source in waiting:
            if len(waiting) > FEW:
                return None
            for wire in self.graph.outgoing.get(source, ()):
                target = wire.target
                known = first.get(target)
                if known is not None:
                    if wire.port < known.port:
                        first[target] = wire
                elif self._goes_along(target):
                    first[target] = wire
                    waiting.append(target)
        return first

    def _later_readers(self, item: ItemId) -> dict[ItemId, Wire]:
        """The same, looked for among all that stand behind it: of thousands that is several times quicker."""
        gone, asked, incoming = self.gone, self._waiting, self.graph.incoming
        first = dict[ItemId, Wire]()
        lost = {item}
        for later in islice(self.graph.order(), self._numbers[item] + 1, None):
            found = None
            for wire in incoming.get(later, ()):
                if wire.source in lost and (found is None or wire.port < found.port):
                    found = wire
            if found is None:
                continue
            if later in gone:
                self._ask(later)
            elif later not in asked:
                first[later] = found
                lost.add(later)
        return first

    def _goes_along(self, target: ItemId) -> bool:
        """Whether nothing was said of a reader yet; one that was gone already is asked."""
        if target in self.gone:
            self._ask(target)
            return False
        return target in self.graph.nodes and target not in self._waiting

    def _ask(self, item: ItemId) -> None:
        if item in self.graph.blocks:
            raise WholeWalkNeeded
        if item in self.graph.nodes and item not in self._waiting:
            self._waiting.add(item)
            heapq.heappush(self._heap, (self._numbers[item], item))

    def _ask_readers(self, item: ItemId) -> None:
        """Those who read an item, or a name that it has in common with others."""
        for wire in self.graph.outgoing.get(item, ()):
            self._ask(wire.target)
        node = self.graph.nodes.get(item)
        for name in node.names if node is not None else ():
            if name in self._index.shared:
                self._ask_readers_of(name)

    def _ask_readers_of(self, name: str) -> None:
        """Those who read a name, also by way of what passes it on."""
        for binder in (*self._index.binders.get(name, ()), *self.statements.far_sighted):
            for wire in self.graph.outgoing.get(binder, ()):
                if self.statements.name(self.statements.binding(binder, wire.output)) == name:
                    self._ask(wire.target)

    def is_gone(self, source: ItemId, item: ItemId) -> bool:
        """Whether something that cannot run stands before an item."""
        return source in self.gone and self.is_before(source, item)

    def is_before(self, source: ItemId, item: ItemId) -> bool:
        """Whether something stands before an item."""
        return self._numbers.get(source, -1) < self._numbers[item]

    def meaning_at(self, item: ItemId, name: str) -> Binding | None:
        """What a name means at an item."""
        here = self._numbers[item]
        live = [other for other in self._index.binders.get(name, ()) if other not in self.gone]
        before = {number: other for other in live if (number := self._numbers[other]) < here}
        if not before:
            return None
        binder = before[max(before)]
        names = self.graph.nodes[binder].names
        if len(names) == 1:
            return binder, 0
        return binder, max(k for k, bound in enumerate(names) if bound == name)


def gone_since(
    statements: Statements,
    own_reason: OwnReason,
    gone: dict[ItemId, Reason],
    changed: frozenset[ItemId],
    names: frozenset[str],
) -> dict[ItemId, Reason] | None:
    """What cannot run after an edit, and why, in no order; None where the whole is to be walked.

    Args:
        statements: the items as they are printed now.
        own_reason: why an item cannot run whatever it reads.
        gone: what could not run before.
        changed: what the edit touched.
        names: those that it bore before.
    """
    graph = statements.graph
    if graph.edges is not None or index_of(graph).loops or not changed.isdisjoint(graph.blocks):
        return None
    walk = LocalWalk(statements, own_reason, gone.copy())
    try:
        walk.follow(changed, names)
    except WholeWalkNeeded:
        return None
    return walk.gone
