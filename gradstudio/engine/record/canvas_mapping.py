"""What was recorded under provisional ids, under those of the drawing."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import zip_longest
from typing import TypeVar

import msgspec

from gradstudio.engine.record.folded_insides import NOTHING, InsideCalls, in_order, owners_of
from gradstudio.engine.record.step_text import SET_UP, StepText
from gradstudio.engine.record.step_values import Told
from gradstudio.graph.model import BodyId, Graph, ItemId, Wire
from gradstudio.graph.text.code_records import CODE
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced, EdgeValue, SavedTensor, WireGrad
from gradstudio.protocol.messages.events import Gradients, GradRow, Row, Traced, ValueNow
from gradstudio.protocol.messages.records import ModuleRecord, ObjectRecord, Record, TensorRecord

NOBODY = ItemId("")
CLASSES = {
    "torch.nn.ModuleList": "ModuleList",
    "torch.nn.Module.parameters": "generator",
    "python.attribute": "Tensor",
    "python.stored": "Tensor",
}
"""What parts of a statement give that are no statement of the script, by operator; the others a tuple."""
Output = tuple[ItemId, int]
RecordT = TypeVar("RecordT", bound=Record)


class CanvasMapping:
    """From provisional ids to those of a graph."""

    def __init__(self, graph: Graph, lines: Mapping[ItemId, int], text: StepText) -> None:
        """Find each call and each name in the graph that was read from the text.

        Args:
            graph: as it was read; `lines` says where in the text each of its items stands.
            text: what was read.
        """
        self._graph = graph
        self._outputs: dict[Output, Output] = {}
        self._nodes: dict[ItemId, ItemId] = {}
        self._into: dict[ItemId, list[Wire]] = {}
        for wire in sorted(graph.wires.values()):
            self._into.setdefault(wire.target, []).append(wire)
        self._ports: dict[tuple[ItemId, ItemId], dict[str, str]] = {}
        set_up = (block.id for block in graph.blocks.values() if block.title == SET_UP)
        self._set_up = next(set_up, NOBODY)
        owners = owners_of(graph)
        for provisional, name in text.names.items():
            if name in owners:
                self._outputs[provisional, 0] = owners[name]
                self._nodes[provisional] = owners[name][0]
        at_line = self._statements(lines)
        for line, number in text.lines.items():
            provisional = ItemId(str(number))
            bound = text.bound.get(number, [])
            for place, name in enumerate(bound):
                if name in owners:
                    self._outputs[provisional, place] = owners[name]
            found = [owners[name][0] for name in bound if name in owners]
            if found or line in at_line:
                self._nodes[provisional] = found[0] if found else at_line[line]
                self._outputs.setdefault((provisional, 0), (self._nodes[provisional], 0))

        self._inner = text.folding.inner
        for provisional, inner in self._inner.items():
            if inner.name in owners:
                self._outputs[provisional, 0] = owners[inner.name]
                self._nodes[provisional] = owners[inner.name][0]
        for source, name in text.folding.results.items():
            if name in owners:
                self._outputs[source] = owners[name]
        self._inside = InsideCalls(graph)
        for visit, members in text.folding.members.items():
            provisionals = [ItemId(str(number)) for number in members]
            call = self._nodes.get(provisionals[0])
            if call is not None:
                self._nodes.update(dict.fromkeys(provisionals, call))
            for provisional in provisionals:
                if (provisional, 0) not in text.folding.results:
                    self._outputs.pop((provisional, 0), None)
            folded = text.classes.get(visit)
            if folded is not None and call is not None and folded.name in graph.definitions:
                self._inside.add(call, folded, provisionals)  # else the class is code, and nothing looks into it
        self._wholes = {self._nodes[provisional] for provisional in self._inner if provisional in self._nodes}
        self._stated = {*self._nodes.values(), *(node for node, _ in self._outputs.values())}

    def node(self, provisional: ItemId) -> ItemId:
        """Whose it is; "" for nobody's."""
        return self._nodes.get(provisional, NOBODY)

    def deepest(self, provisional: ItemId) -> ItemId:
        """The same, inside of a folded module where it ran in one."""
        return self._inside.nodes.get(provisional) or self.node(provisional)

    def _statements(self, lines: Mapping[ItemId, int]) -> dict[int, ItemId]:
        """By line, the node that is the statement: the one whose results no other of the line takes."""
        found: dict[int, ItemId] = {}
        taken = {wire.source for wire in self._graph.wires.values() if lines.get(wire.source) == lines.get(wire.target)}
        for item, line in lines.items():
            if item in self._graph.nodes and item not in taken:
                found[line] = item
        return found

    # ------------------------------------------------------------------ messages

    def events(self, told: Iterable[Told]) -> list[Traced | BackwardTraced | Gradients]:
        """What is told, in messages; rows that follow one another go together."""
        told = list(told)
        self._inside.meet(one for one in told if isinstance(one, Row))
        found: list[Traced | BackwardTraced | Gradients] = []
        parts: set[ItemId] = set()
        mapped: list[Row | BackwardTraced | Gradients] = []
        for one in told:
            if isinstance(one, Row):
                mapped += self._inside.rows(one)
                for row in self._row(one):
                    mapped += [*self._before(row.node, parts), row]
            else:
                mapped.append(one)
        rows: list[Row] = []
        for one in self._in_drawn_order(mapped):
            if isinstance(one, Row):
                rows.append(one)
                continue
            if rows:
                found.append(Traced(revision=0, rows=self._joined(rows)))
                rows = []
            found.append(self._backward(one) if isinstance(one, BackwardTraced) else self._gradients(one))
        if rows:
            found.append(Traced(revision=0, rows=self._joined(rows)))
        return found

    def _in_drawn_order(self, told: list[Row | BackwardTraced | Gradients]) -> list[Row | BackwardTraced | Gradients]:
        """What was there before the step comes first, as it is drawn; as far as no optimizer has written yet."""
        end = next((place for place, one in enumerate(told) if _ends_set_up(one)), len(told))
        place_of = {item: place for place, item in enumerate(self._graph.bodies.get(BodyId(self._set_up), ()))}
        early = [one for one in told[:end] if isinstance(one, Row) and one.node in place_of]
        early.sort(key=lambda row: place_of[row.node])
        rest = [one for one in told[:end] if not (isinstance(one, Row) and one.node in place_of)]
        return [*early, *rest, *told[end:]]

    def _before(self, node: ItemId, told: set[ItemId]) -> Iterator[Row]:
        """Rows of the parts that a statement is made of, which the script has not as statements."""
        for wire in self._into.get(node, ()):
            part = wire.source
            if part in self._graph.nodes and part not in told and part not in self._stated:
                told.add(part)
                yield from self._before(part, told)
                name = CLASSES.get(self._graph.nodes[part].operator, "tuple")
                yield Row(step=0, node=part, outputs=(ObjectRecord(class_name=name),))

    def _row(self, row: Row) -> list[Row]:
        """It, or one for each node that has a part of what was given."""
        parts: dict[ItemId, dict[int, Record]] = {}
        for place, record in enumerate(map(partial(self._placed, row.node), row.outputs)):
            node, output = self._outputs.get((row.node, place), (NOBODY, 0))
            if node:
                parts.setdefault(node, {})[output] = record
        if not row.outputs and self.node(row.node):
            parts[self.node(row.node)] = {}
        return [
            msgspec.structs.replace(
                row,
                node=node,
                outputs=in_order(outputs),
            )
            for node, outputs in parts.items()
        ]

    def _placed(self, provisional: ItemId, record: RecordT) -> RecordT | ModuleRecord:
        """A record under the paths of the folded module that it is a part of."""
        inner = self._inner.get(provisional)
        if inner is None:
            return record
        parameters: dict[str, TensorRecord] = {}
        buffers: dict[str, TensorRecord] = {}
        if isinstance(record, TensorRecord):
            parameters[inner.path] = record
        elif isinstance(record, ModuleRecord):
            parameters = {f"{inner.path}{name}": one for name, one in record.parameters.items()}
            buffers = {f"{inner.path}{name}": one for name, one in record.buffers.items()}
        return ModuleRecord(class_name=inner.class_name, parameters=parameters, buffers=buffers)

    def _path(self, provisional: ItemId, path: str) -> str:
        inner = self._inner.get(provisional)
        return path if inner is None else f"{inner.path}{path}"

    def _joined(self, rows: list[Row]) -> tuple[Row, ...]:
        """Rows of one card of code are one, as its statements stand on it together; so are the parts of a module."""
        found: dict[tuple[ItemId, int], Row] = {}
        for row in rows:
            node = self._graph.nodes.get(row.node)
            is_whole = row.node in self._wholes or (node is not None and node.operator == CODE)
            key = (row.node, 0 if is_whole else row.step)
            known = found.get(key)
            if known is not None:
                both = zip_longest(known.outputs, row.outputs, fillvalue=NOTHING)
                row = msgspec.structs.replace(row, outputs=tuple(_both(one, other) for one, other in both))
            found[key] = row
        return tuple(found.values())

    def _backward(self, traced: BackwardTraced) -> BackwardTraced:
        wires = [wire for one in traced.wires for wire in self._wire(one)]
        sent = Counter((wire.target, wire.port) for wire in wires)
        return msgspec.structs.replace(
            traced,
            statement=self.node(traced.statement),
            rows=tuple(map(self._autograd, traced.rows)),
            wires=tuple(wire for wire in wires if sent[wire.target, wire.port] == 1),  # several parts: no sum is known
        )

    def _autograd(self, row: AutogradRow) -> AutogradRow:
        return msgspec.structs.replace(
            row,
            node=self.deepest(row.node),
            values=tuple(one for value in row.values for one in self._edge(value)),
            saved=tuple(map(self._saved, row.saved)),
        )

    def _edge(self, value: EdgeValue) -> list[EdgeValue]:
        node, output = self._outputs.get((value.node, value.output), (NOBODY, 0))
        path = self._path(value.node, value.path)
        outer = [msgspec.structs.replace(value, node=node, output=output, path=path)] if node else []
        inside = self._inside.outputs((value.node, value.output))
        return [*outer, *(msgspec.structs.replace(value, node=one, output=place) for one, place in inside)]

    def _saved(self, saved: SavedTensor) -> SavedTensor:
        inside = self._inside.outputs((saved.node, saved.output))
        node, output = self._outputs.get((saved.node, saved.output)) or next(iter(inside), (NOBODY, 0))
        return msgspec.structs.replace(saved, node=node, output=output)

    def _wire(self, wire: WireGrad) -> list[WireGrad]:
        given = (wire.source, wire.output)
        outer = self._outputs.get(given)
        found = self._wire_to(wire, self.node(wire.target), [outer] if outer is not None else [])
        inner = self._inside.nodes.get(wire.target)
        if inner is not None:
            found += self._wire_to(wire, inner, self._inside.sources(wire.target, given))
        return found

    def _wire_to(self, wire: WireGrad, target: ItemId, sources: Iterable[Output]) -> list[WireGrad]:
        for source, output in sources:
            if target and (port := self._port(target, wire.target, wire.port, source, output)):
                return [msgspec.structs.replace(wire, source=source, output=output, target=target, port=port)]
        return []

    def _port(self, target: ItemId, provisional: ItemId, place: str, source: ItemId, output: int) -> str:
        """The port of the wire that brought it: of several from one source, each is taken once."""
        ports = self._ports.setdefault((target, provisional), {})
        if not ports.get(place):
            wires = self._into.get(target) or self._inside.wires.get(target, [])
            from_there = (wire.port for wire in wires if (wire.source, wire.output) == (source, output))
            ports[place] = next((port for port in from_there if port not in ports.values()), "")
        return ports[place]

    def _gradients(self, told: Gradients) -> Gradients:
        return msgspec.structs.replace(
            told,
            rows=tuple(row for one in told.rows for row in self._gradient(one)),
            written=self._now(told.written),
        )

    def _gradient(self, row: GradRow) -> list[GradRow]:
        node, output = self._outputs.get((row.node, row.output), (NOBODY, 0))
        path, cause = self._path(row.node, row.path), self.node(row.cause)
        outer = [msgspec.structs.replace(row, node=node, output=output, path=path, cause=cause)] if node else []
        inside = self._inside.outputs((row.node, row.output))
        return [*outer, *(msgspec.structs.replace(row, node=one, output=n, cause=cause) for one, n in inside)]

    def _now(self, values: Iterable[ValueNow]) -> tuple[ValueNow, ...]:
        found: dict[Output, ValueNow] = {}
        for value in values:
            node, output = self._outputs.get((value.node, value.output), (NOBODY, 0))
            record = self._placed(value.node, value.record)
            known = found.get((node, output))
            if known is not None and isinstance(record, ModuleRecord):
                record = _both(known.record, record)
            if node:
                found[node, output] = ValueNow(node=node, step=value.step, record=record, output=output)
        return tuple(found.values())


def _ends_set_up(one: Row | BackwardTraced | Gradients) -> bool:
    return bool(one.writes) if isinstance(one, Row) else isinstance(one, BackwardTraced)


def _both(one: RecordT, other: RecordT) -> RecordT:
    """What two statements on one card gave at one place: a module is put together, else the last counts."""
    if isinstance(one, ModuleRecord) and isinstance(other, ModuleRecord):
        return msgspec.structs.replace(
            other, parameters=one.parameters | other.parameters, buffers=one.buffers | other.buffers
        )
    return one if other == NOTHING else other
