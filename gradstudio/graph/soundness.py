"""Soundness: which items are part of the program, and why the others cannot run.

Muted items and what reads them are left out. An item is incomplete when an argument is missing
or is no literal, when its operator is unknown, when its text would not mean what its wires say,
or when it reads something that is incomplete (SEMANTICS 12).
"""

from collections.abc import Iterator

from gradstudio.graph import names as names_of
from gradstudio.graph.model import DEFINITION_INPUTS, ROOT, Block, BodyId, Graph, ItemId, Node, Wire
from gradstudio.graph.reasons import block_reason, node_reason
from gradstudio.graph.statements import Binding, Statements, own_names

MAX_BLOCKS = 20
"""Python allows that many blocks within one another."""
MUTED = ""


class Soundness(Statements):
    """One walk over a program.

    Attributes:
        muted: items that are not part of the program.
        incomplete: items that cannot run, and why.
    """

    def __init__(self, graph: Graph, inputs: tuple[str, ...] = ()) -> None:
        """Walk the graph; `inputs` are the names a definition is given."""
        super().__init__(graph, inputs)
        self._own: dict[ItemId, str | None] = {}
        self._gone: dict[ItemId, str] = {}
        forced: dict[ItemId, str] = {}
        while True:
            self._gone = {}
            _Walk(self, self._inputs, forced, self._gone).body(ROOT, 0)
            found = {block: why for block, why in self._broken_loops() if block not in forced}
            if not found:
                break
            forced.update(found)
        self.muted = frozenset(item for item, why in self._gone.items() if why == MUTED)
        self.incomplete = {item: why for item, why in self._gone.items() if why != MUTED}

    def is_live(self, item: ItemId) -> bool:
        """Whether the item is printed and run."""
        return item not in self._gone

    def own_reason(self, item: ItemId) -> str | None:
        """Why the item cannot run whatever it reads; None when it can."""
        if item not in self._own:
            node = self.graph.nodes.get(item)
            self._own[item] = node_reason(self, node) if node else block_reason(self, self.graph.blocks[item])
        return self._own[item]

    def is_same_with(self, node: Node) -> bool:
        """Whether all of this stands when a node, already in the graph, has other literals."""
        if self._own.get(node.id, MUTED) == MUTED:
            return False  # nobody has asked
        return self.prints_same(node) and node_reason(self, node) == self._own[node.id]

    def _broken_loops(self) -> Iterator[tuple[ItemId, str]]:
        """Loops whose carried values do not come back from the body."""
        for block in self.graph.blocks.values():
            if block.id in self._gone:
                continue
            for name in block.carried:
                wire = self.graph.wires.get((block.id, f"next.{name}"))
                if (block.id, f"first.{name}") not in self.graph.wires:
                    yield block.id, f"'{name}' is carried, but nothing binds it before the loop"
                elif wire is None:
                    yield block.id, f"'{name}' is carried, but the body does not bind it"
                elif wire.source in self._gone:
                    yield block.id, self._gone[wire.source] and f"'{name}' is carried, but what binds it cannot run"
                elif self.name(self.binding(wire.source, wire.output)) != name:
                    yield block.id, f"'{name}' is carried, but the body binds it under another name"


class _Walk:
    """The walk in program order, with what every name means at each place."""

    def __init__(
        self, soundness: Soundness, inputs: tuple[str, ...], forced: dict[ItemId, str], gone: dict[ItemId, str]
    ) -> None:
        self.soundness, self.graph, self.forced, self.gone = soundness, soundness.graph, forced, gone
        self.seen: set[ItemId] = {DEFINITION_INPUTS}
        self.open: set[ItemId] = set()
        self.meaning: dict[str, Binding | None] = {name: (DEFINITION_INPUTS, k) for k, name in enumerate(inputs)}

    def body(self, body: BodyId, depth: int) -> None:
        for item in self.graph.bodies[body]:
            why = self._why_gone(item)
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

    def _why_gone(self, item: ItemId) -> str | None:
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
            own = self.soundness.own_reason(item)
        return own if own is not None else (min(reasons)[1] if reasons else None)

    def _wire_reason(self, wire: Wire) -> str | None:
        port, source = wire.port, wire.source
        if port.startswith("next."):
            return None
        if source in self.gone:
            return self.gone[source] and f"it reads '{names_of.title(self.graph, source)}', which cannot run"
        if source not in self.seen:
            return f"it reads '{names_of.title(self.graph, source)}' before that is made"
        if source in self.graph.blocks and source not in self.open:
            return "it reads from outside what exists only inside a block"
        key = source, wire.output
        meant = self.soundness.bindings.get(key) or self.soundness.binding(*key)
        name = self.soundness.name(meant)
        if name and self.meaning.get(name) != meant:
            return f"'{name}' means another statement here: give one of the two another name"
        if port.startswith("first.") and name != port[6:]:
            return f"'{port[6:]}' has another name before the loop"
        return None
