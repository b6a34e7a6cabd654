"""What flows from the nodes of a canvas, as reading their text would have told: for statements that are read there."""

from collections.abc import Iterator

from gradstudio.graph.model import Graph, ItemId, Node
from gradstudio.graph.operator_rows import row_of
from gradstudio.operators.calls.argument_binding import Written
from gradstudio.operators.model import Face, Family
from gradstudio.program.reading.graph_builder import GraphBuilder, Port, WiredResult

_OF_TWO = frozenset({Face.INFIX, Face.AUGMENTED})
_BY_OPERANDS = _OF_TWO | {Face.PREFIX, Face.ALIAS, Face.ITEM, Face.TUPLE}
"""What flows from these follows from what flows into them."""


class CanvasFamilies:
    """What flows from results of one canvas; no more is looked at than what each follows from."""

    def __init__(self, graph: Graph) -> None:
        """Nothing is known yet."""
        self._graph = graph
        self._draft = GraphBuilder(graph)
        self._known: set[ItemId] = set()

    def of(self, item: ItemId, output: int) -> Family:
        """What flows from a result."""
        waiting = [item]
        while waiting:
            item_now = waiting[-1]
            needed = None if item_now in self._known else next(self._needed(item_now), None)
            if needed is None or needed in waiting:  # statements that feed one another in a ring end the search
                waiting.pop()
                self._take(item_now)
            else:
                waiting.append(needed)
        return self._draft.family(WiredResult(source=item, output=output))

    def _needed(self, item: ItemId) -> Iterator[ItemId]:
        """The items that have to be known before an item is."""
        node = self._graph.nodes.get(item)
        operator = row_of(self._graph, node) if node is not None else None
        if node is not None and (operator is None or operator.face not in _BY_OPERANDS):
            return
        if operator is not None and operator.face in _OF_TWO:
            first = self._graph.wires.get((item, operator.parameters[0].name))
            if first is not None:
                if first.source not in self._known:
                    yield first.source
                    return
                if self._draft.family(WiredResult(source=first.source, output=first.output)) is Family.TENSOR:
                    return  # a tensor and anything are a tensor
        for wire in self._graph.wires_to(item):
            is_read = node is not None or wire.port.startswith("first.")
            if is_read and wire.source not in self._known:
                yield wire.source

    def _take(self, item: ItemId) -> None:
        if item in self._known:
            return
        self._known.add(item)
        node = self._graph.nodes.get(item)
        if node is not None:
            self._draft.know(item, self._ports(node))
            return
        block = self._graph.blocks.get(item)
        for k, name in enumerate(block.carried if block is not None else ()):
            wire = self._graph.wire_into(item, f"first.{name}")
            if wire is not None:
                self._draft.set_family(item, k + 1, self._draft.family(self._result(wire.source, wire.output)))

    def _result(self, source: ItemId, output: int) -> WiredResult:
        return self._draft.result(source, output)

    def _ports(self, node: Node) -> dict[str, Port]:
        """What stands in the ports of a node, in the order of the operator's parameters."""
        operator = row_of(self._graph, node)
        places = {one.name: k for k, one in enumerate(operator.parameters)} if operator is not None else {}
        ports: dict[str, Port] = {path: Written(text) for path, text in node.literals.items()}
        ports |= {wire.port: self._result(wire.source, wire.output) for wire in self._graph.wires_to(node.id)}
        return {path: ports[path] for path in sorted(ports, key=lambda path: _place(path, places))}


def _place(path: str, places: dict[str, int]) -> tuple[int, int, str]:
    root, _, rest = path.partition(".")
    number = rest.partition(".")[0]
    return places.get(root, len(places)), int(number) if number.isdecimal() else -1, rest
