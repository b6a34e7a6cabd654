"""Soundness: which items are part of the program, and why the others cannot run.

Muted items and what reads them are left out. An item is incomplete when an argument is missing
or is no literal, when its operator is unknown, when its text would not mean what its wires say,
or when it reads something that is incomplete (semantics §12). A call of a group whose inside cannot give what the
call is asked for is incomplete, too.
"""

from collections.abc import Iterator
from typing import NamedTuple

from gradstudio.graph import names as names_of
from gradstudio.graph.analysis.incomplete_reasons import block_reason, node_reason
from gradstudio.graph.groups.definitions import definition_graph, definition_reason, setup_of
from gradstudio.graph.memo_table import MemoTable
from gradstudio.graph.model import (
    DEFINITION_INPUTS,
    DEFINITION_OUTPUTS,
    ROOT,
    Block,
    BodyId,
    Definition,
    Graph,
    ItemId,
    Node,
    Wire,
)
from gradstudio.graph.operator_rows import GROUP, called_in
from gradstudio.graph.text.statements import Binding, Statements, own_names

MAX_BLOCKS = 20
"""Python allows that many blocks within one another."""
MUTED = ""
READS = "it reads '"
INSIDE = "inside '"
"""How the reason of a call begins whose group cannot give what it is asked for."""


class Validity(Statements):
    """One walk over a program.

    Attributes:
        muted: items that are not part of the program.
        incomplete: items that cannot run, and why.
    """

    def __init__(
        self,
        graph: Graph,
        inputs: tuple[str, ...] = (),
        earlier: "Validity | None" = None,
        changed: frozenset[ItemId] = frozenset(),
    ) -> None:
        """Walk the graph; `inputs` are the names a definition is given, `earlier` and `changed` as in `Statements`."""
        super().__init__(graph, inputs, earlier, changed)
        self._own: dict[ItemId, str | None] = {}
        if earlier is not None:
            self._own = {item: why for item, why in earlier._own.items() if item in self.kept}
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

    def left_by(self, later: "Validity") -> frozenset[ItemId]:
        """What can run in one of the two alone, or has another row or other wired ports there, of what is in both."""
        others = [item for item in later.operators if item not in later.kept]
        found = {
            item
            for item in others
            if self.operators.get(item) is not later.operators[item] or self.ports.get(item) != later.ports[item]
        }
        return frozenset(found | (self._gone.keys() ^ later._gone.keys()))

    def changed_since(self, before: "Validity") -> list[ItemId]:
        """Items with another row than before, whose results have another binding, and ends of what came or went."""
        known, operators, bindings = before.operators, self.operators, self.bindings
        found = [item for item, operator in operators.items() if known.get(item, operator) is not operator]
        gone = [item for item in self._gone.keys() ^ before._gone.keys() if item in self.graph.nodes]
        found += gone
        found += [wire.source for item in gone for wire in self.graph.wires_to(item)]
        read = [(key, meant) for key, meant in before.bindings.items() if bindings.get(key) != meant]
        found += [key[0] for key, meant in read if key[0] in self.graph.nodes and self.binding(*key) != meant]
        return found

    @property
    def sound_alone(self) -> frozenset[ItemId]:
        """Nodes of which is known already that they can run when what they read can."""
        return frozenset(item for item, why in self._own.items() if why is None and item in self.kept)

    def own_reason(self, item: ItemId) -> str | None:
        """Why the item cannot run whatever it reads; None when it can."""
        if item not in self._own:
            node = self.graph.nodes.get(item)
            self._own[item] = self._node_reason(node) if node else block_reason(self, self.graph.blocks[item])
        return self._own[item]

    def _node_reason(self, node: Node) -> str | None:
        reason = node_reason(self, node)
        if reason is not None or node.bypassed or not node.operator.startswith(GROUP):
            return reason
        used = {wire.output for wire in self.graph.wires_from(node.id)}
        trouble = _trouble(self.graph, node.operator.removeprefix(GROUP), used)
        return trouble.words if trouble is not None else None

    def is_same_with(self, node: Node) -> bool:
        """Whether all of this stands when a node, already in the graph, has other literals."""
        if self._own.get(node.id, MUTED) == MUTED:
            return False  # nobody has asked
        return self.prints_same(node) and self._node_reason(node) == self._own[node.id]

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
        self, validity: Validity, inputs: tuple[str, ...], forced: dict[ItemId, str], gone: dict[ItemId, str]
    ) -> None:
        self.validity = validity
        self.graph = validity.graph
        self.forced = forced
        self.gone = gone
        self.sound = validity.sound_alone if not gone and not forced and validity.graph.edges is None else frozenset()
        self.seen: set[ItemId] = {DEFINITION_INPUTS}
        self.open: set[ItemId] = set()
        self.meaning: dict[str, Binding | None] = {name: (DEFINITION_INPUTS, k) for k, name in enumerate(inputs)}

    def body(self, body: BodyId, depth: int) -> None:
        nodes, sound = self.graph.nodes, self.sound
        for item in self.graph.bodies[body]:
            if item in sound and not nodes[item].muted and self._reads_well(item):
                self.seen.add(item)
                for k, name in enumerate(nodes[item].names):
                    self.meaning[name] = (item, k)
                continue
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

    def _reads_well(self, item: ItemId) -> bool:
        """Whether what it reads are nodes before it whose names mean what they should; False: that is to be seen."""
        nodes, bindings = self.graph.nodes, self.validity.bindings
        for wire in self.graph.incoming.get(item, ()):
            source = wire.source
            if source in self.gone or source not in self.seen or source not in nodes:
                return False
            meant = bindings.get((source, wire.output))
            if meant is None or meant[0] not in nodes:
                return False
            names = nodes[meant[0]].names
            if meant[1] < len(names) and self.meaning.get(names[meant[1]]) != meant:
                return False
        return True

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
            own = self.validity.own_reason(item)
        if own is not None:
            return own
        return min(reasons)[1] if reasons else None

    def _wire_reason(self, wire: Wire) -> str | None:
        port, source = wire.port, wire.source
        if port.startswith("next."):
            return None
        if source in self.gone:
            return self.gone[source] and f"{READS}{names_of.title(self.graph, source)}', which cannot run"
        if source not in self.seen:
            return f"{READS}{names_of.title(self.graph, source)}' before that is made"
        if source in self.graph.blocks and source not in self.open:
            return "it reads from outside what exists only inside a block"
        key = source, wire.output
        meant = self.validity.bindings.get(key) or self.validity.binding(*key)
        name = self.validity.name(meant)
        if name and self.meaning.get(name) != meant:
            return f"'{name}' means another statement here: give one of the two another name"
        if port.startswith("first.") and name != port[6:]:
            return f"'{port[6:]}' has another name before the loop"
        return None


# ------------------------------------------------------------------ the insides of groups


class InvalidOutput(NamedTuple):
    """Why a group cannot give what it is asked for.

    Attributes:
        words: with the name of the group.
        item: what is wrong there, or in a group inside it; None where an output is simply not given.
    """

    words: str
    item: ItemId | None


_inner: MemoTable[Validity] = MemoTable()


def validity_inside(graph: Graph, name: str) -> Validity:
    """The validity of a definition's inside; kept as long as the inside is."""
    inner = definition_graph(graph, name)
    known = _inner.get(inner)
    if known is None:
        known = _inner[inner] = Validity(inner, graph.definitions[name].inputs)
    return known


def incomplete_inside(graph: Graph) -> dict[ItemId, str]:
    """What cannot run inside the groups that a program calls, straight or by way of others, and why."""
    found: dict[ItemId, str] = {}
    waiting = list(called_in(graph))
    seen = set[str]()
    while waiting:
        name = waiting.pop(0)
        if name not in seen and definition_reason(graph, GROUP + name) is None:
            seen.add(name)
            found.update(validity_inside(graph, name).incomplete)
            waiting += called_in(graph.definitions[name].graph)
    return found


def trouble_inside(graph: Graph, call: ItemId) -> InvalidOutput | None:
    """Why a call cannot run for what is inside its group, and which item is to blame."""
    node = graph.nodes.get(call)
    name = node.operator.removeprefix(GROUP) if node is not None and node.operator.startswith(GROUP) else ""
    if not name or definition_reason(graph, GROUP + name) is not None:
        return None
    return _trouble(graph, name, {wire.output for wire in graph.wires_from(call)})


def _trouble(graph: Graph, name: str, used: set[int]) -> InvalidOutput | None:
    definition = graph.definitions[name]
    sound = validity_inside(graph, name)
    for item in _asked(definition, sound.graph):
        if item in sound.incomplete:
            return _to_blame(sound, name, item)
    for number in sorted(used) if not definition.is_module else ():
        wire = sound.graph.wire_into(DEFINITION_OUTPUTS, str(number))
        if number < len(definition.outputs) and (wire is None or wire.source in sound.muted):
            how = "nothing is wired to the output" if wire is None else "what is muted would give the output"
            return InvalidOutput(
                f"{INSIDE}{name}', {how} '{definition.outputs[number]}'", wire.source if wire else None
            )
    return None


def _asked(definition: Definition, inner: Graph) -> Iterator[ItemId]:
    """What every call needs: what gives an output, and what a module makes first."""
    yield from setup_of(definition)
    wires = sorted(inner.wires_to(DEFINITION_OUTPUTS), key=lambda wire: int(wire.port))
    yield from (wire.source for wire in wires)


def _to_blame(sound: Validity, name: str, item: ItemId) -> InvalidOutput:
    """Where it begins that an item cannot run, by way of what it reads and of groups that it calls."""
    seen = {item}
    while sound.incomplete[item].startswith(READS):
        broken = (wire.source for wire in sound.graph.wires_to(item) if wire.source in sound.incomplete)
        source = next((one for one in broken if one not in seen), None)
        if source is None:
            break
        seen.add(source)
        item = source
    deeper = trouble_inside(sound.graph, item) if sound.incomplete[item].startswith(INSIDE) else None
    title = "" if deeper is not None else f"{names_of.title(sound.graph, item)}: "
    words = f"{INSIDE}{name}', {title}{sound.incomplete[item]}"
    return InvalidOutput(words, deeper.item if deeper is not None and deeper.item is not None else item)
