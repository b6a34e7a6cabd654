"""Soundness: which items are part of the program, and why the others cannot run.

Muted items and what reads them are left out. An item is incomplete when an argument is missing
or is no literal, when its operator is unknown, when its text would not mean what its wires say,
or when it reads something that is incomplete (semantics §12). A call of a group whose inside cannot give what the
call is asked for is incomplete, too.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from gradstudio.graph.analysis.incomplete_reasons import block_reason, node_reason
from gradstudio.graph.analysis.validity_walk import MUTED, READS, Reason, Walk, gone_since, words_of
from gradstudio.graph.groups.definitions import definition_graph, definition_reason, setup_of
from gradstudio.graph.memo_table import MemoTable
from gradstudio.graph.model import (
    DEFINITION_OUTPUTS,
    Definition,
    Graph,
    ItemId,
    Node,
)
from gradstudio.graph.operator_rows import GROUP, called_in
from gradstudio.graph.text.item_titles import title
from gradstudio.graph.text.statements import Statements, without

INSIDE = "inside '"
"""How the reason of a call begins whose group cannot give what it is asked for."""


class Validity(Statements):
    """One walk over a program.

    Attributes:
        muted: items that are not part of the program.
        is_whole: nothing is incomplete.
    """

    def __init__(
        self,
        graph: Graph,
        inputs: tuple[str, ...] = (),
        earlier: "Validity | None" = None,
        changed: frozenset[ItemId] = frozenset(),
        names: frozenset[str] = frozenset(),
    ) -> None:
        """Walk the graph; `inputs` are the names a definition is given, `earlier` and `changed` as in `Statements`.

        `names` are those that what changed bore before.
        """
        super().__init__(graph, inputs, earlier, changed)
        self._blocks = frozenset(graph.blocks)
        self._own: dict[ItemId, str | None] = {} if earlier is None else without(earlier._own, self.anew)
        gone = self._gone_since(earlier, changed, names) if earlier is not None else None
        self._gone: dict[ItemId, Reason] = gone if gone is not None else {}
        if gone is None:
            self._walk()
        self.muted = frozenset(item for item, why in self._gone.items() if why == MUTED)
        self.is_whole = len(self.muted) == len(self._gone)
        self._places = graph.numbers() if gone is not None and not self.is_whole else None  # of an unordered table

    @cached_property
    def incomplete(self) -> dict[ItemId, str]:
        """Items that cannot run, and why, in program order."""
        found = {item: words_of(why) for item, why in self._gone.items() if why != MUTED}
        if self._places is None:
            return found
        return {item: found[item] for item in sorted(found, key=self._places.__getitem__)}

    def _walk(self) -> None:
        """Ask every item in program order; again where loops turn out to be broken."""
        forced: dict[ItemId, str] = {}
        sound = self.sound_alone if self.graph.edges is None else frozenset[ItemId]()
        while True:
            self._gone = {}
            Walk(self, self.own_reason, self._gone).begin(self._inputs, forced, sound)
            sound = frozenset()
            found = {block: why for block, why in self._broken_loops() if block not in forced}
            if not found:
                break
            forced.update(found)

    def _gone_since(
        self, earlier: "Validity", changed: frozenset[ItemId], names: frozenset[str]
    ) -> dict[ItemId, Reason] | None:
        if self._blocks != earlier._blocks:
            return None
        return gone_since(self, self.own_reason, earlier._gone, changed, names)

    def is_live(self, item: ItemId) -> bool:
        """Whether the item is printed and run."""
        return item not in self._gone

    def gone_of(self, items: frozenset[ItemId]) -> frozenset[ItemId]:
        """Those of some items that are neither printed nor run."""
        return items & self._gone.keys()

    def left_by(self, later: "Validity") -> frozenset[ItemId]:
        """What can run in one of the two alone, or has another row or other wired ports there, of what is in both."""
        others = [item for item in later.anew if item in later.operators]
        found = {
            item
            for item in others
            if self.operators.get(item) is not later.operators[item] or self.ports.get(item) != later.ports[item]
        }
        return frozenset(found | (self._gone.keys() ^ later._gone.keys()))

    def changed_since(self, before: "Validity") -> list[ItemId]:
        """Items with another row than before, whose results have another binding, and ends of what came or went."""
        known, operators = before.operators, self.operators
        found = [item for item, operator in operators.items() if known.get(item, operator) is not operator]
        gone = [item for item in self._gone.keys() ^ before._gone.keys() if item in self.graph.nodes]
        found += gone
        found += [wire.source for item in gone for wire in self.graph.wires_to(item)]
        read = {(item, wire.output) for item in self._far for wire in self.graph.wires_from(item)}
        read.update(before.bindings)
        found += [key[0] for key in read if key[0] in self.graph.nodes and self.binding(*key) != before.meant(key)]
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
                    is_muted = self._gone[wire.source] == MUTED
                    yield block.id, MUTED if is_muted else f"'{name}' is carried, but what binds it cannot run"
                elif self.name(self.binding(wire.source, wire.output)) != name:
                    yield block.id, f"'{name}' is carried, but the body binds it under another name"


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
    where = "" if deeper is not None else f"{title(sound.graph, item)}: "
    words = f"{INSIDE}{name}', {where}{sound.incomplete[item]}"
    return InvalidOutput(words, deeper.item if deeper is not None and deeper.item is not None else item)
