"""What happened inside of folded modules, under the ids of a run: ``call/inner``, as if the class had been run."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from gradstudio.engine.record.folded_classes import FoldedClass
from gradstudio.graph.groups.call_ids import INPUTS, call_item_id
from gradstudio.graph.model import Graph, ItemId, Wire
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import PlainRecord, Record

Output = tuple[ItemId, int]
NOTHING: Record = PlainRecord(what="none", class_name="NoneType")


class InsideCalls:
    """Of every call of a folded module that has a class.

    Attributes:
        nodes: by provisional id of what was called inside, the statement of the definition in that call.
        wires: by id of such a statement, the wires into it.
    """

    def __init__(self, graph: Graph) -> None:
        """No call yet; definitions are those of the graph."""
        self.nodes: dict[ItemId, ItemId] = {}
        self.wires: dict[ItemId, list[Wire]] = {}
        self._graph = graph
        self._outputs: dict[Output, list[Output]] = {}
        self._given: dict[ItemId, dict[ItemId, list[Output]]] = {}
        self._last: dict[Output, Record] = {}
        self._entered: set[ItemId] = set()
        self._call_of: dict[ItemId, ItemId] = {}

    def add(self, call: ItemId, folded: FoldedClass, members: Sequence[ItemId]) -> None:
        """What one call did, by the provisional ids of what was called inside of it."""
        inner = self._graph.definitions[folded.name].graph
        owners = owners_of(inner)
        for wire in sorted(inner.wires.values()):
            target = call_item_id(call, wire.target)
            source = call_item_id(call, wire.source)
            self.wires.setdefault(target, []).append(Wire(source, wire.output, target, wire.port))
        for provisional, names in zip(members, folded.bound, strict=True):
            found = [owners.get(name) for name in names]
            for place, owner in enumerate(found):
                if owner is not None:
                    self._outputs.setdefault((provisional, place), []).append((call_item_id(call, owner[0]), owner[1]))
                    self.nodes[provisional] = call_item_id(call, owner[0])
            self._call_of[provisional] = call
        given = self._given[call] = {call_item_id(call, INPUTS): list(folded.given)}
        for part, name in folded.parts.items():
            if name in owners:
                node = call_item_id(call, owners[name][0])
                given[node] = [(part, 0)]
                self._outputs.setdefault((part, 0), []).append((node, owners[name][1]))

    def outputs(self, source: Output) -> list[Output]:
        """Where inside something is, that was made inside or is a part of the module."""
        return self._outputs.get(source, [])

    def sources(self, provisional: ItemId, source: Output) -> list[Output]:
        """As what a statement inside reads it: also what the call was given."""
        call = self._call_of[provisional]
        inputs = call_item_id(call, INPUTS)
        given = [(inputs, place) for place, one in enumerate(self._given[call][inputs]) if one == source]
        return [*given, *self.outputs(source)]

    def meet(self, rows: Iterable[Row]) -> None:
        """Every row of the step, before its rows inside are asked for: a module has all of its parts from the start."""
        for row in rows:
            for place, record in enumerate(row.outputs):
                if (row.node, place) in self._outputs and row.node not in self.nodes:
                    self._last.setdefault((row.node, place), record)

    def rows(self, row: Row) -> Iterator[Row]:
        """The rows inside that one of the step is; before the first of a call what it was given."""
        for place, record in enumerate(row.outputs):
            self._last[row.node, place] = record
        call = self._call_of.get(row.node)
        if call is None:
            return
        if call not in self._entered:
            self._entered.add(call)
            for node, sources in self._given[call].items():
                records = tuple(self._last.get(source, NOTHING) for source in sources)
                yield msgspec.structs.replace(row, node=node, outputs=records, seconds=0.0, writes=())
        made: dict[ItemId, dict[int, Record]] = {}
        for place, record in enumerate(row.outputs):
            for node, output in self.outputs((row.node, place)):
                made.setdefault(node, {})[output] = record
        for node, outputs in made.items():
            yield msgspec.structs.replace(row, node=node, outputs=in_order(outputs), writes=())


def owners_of(graph: Graph) -> dict[str, Output]:
    """Which output of which node has a name."""
    nodes = graph.nodes.values()
    return {name: (node.id, place) for node in nodes for place, name in enumerate(node.names) if name != "_"}


def in_order(outputs: Mapping[int, Record]) -> tuple[Record, ...]:
    """The records of a node by place, with nothing where none is known."""
    return tuple([outputs.get(place, NOTHING) for place in range(max(outputs, default=-1) + 1)])
