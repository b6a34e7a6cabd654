"""Ways of a gradient between the items of a program, read from the text alone. No networkx here."""

from collections.abc import Iterator

from gradstudio.graph.analysis.module_modes import has_parameters
from gradstudio.graph.analysis.program_analysis import Analysis, analyse
from gradstudio.graph.card_grouping import makes_module
from gradstudio.graph.model import BodyId, Graph, ItemId, Wire
from gradstudio.graph.operator_rows import row_of
from gradstudio.graph.shared_storage import Value, receiver_wire, storage_of, written_values
from gradstudio.graph.structure.dependencies import REPEATING, is_inside
from gradstudio.operators.model import Effect, Face, Operator

Way = tuple[ItemId, ItemId]
"""From the item that is computed with to the item that computes with it; the gradient goes the other way."""
PASSING_MODULES = frozenset({Face.ALIAS, Face.ITEM, Face.TUPLE, Face.LIST})


class GradientFlows:
    """Which item sends its gradient on to which, wherever torch may do so (semantics §5).

    What the text leaves open is counted as a way, so a node that is on every way here is on every way that torch
    takes. A write into memory is on the way of all that is read there later; one under `no_grad` is not.

    Attributes:
        ways: every pair, the one nearer to the leaves first; loops make rings.
        leaves: leaves that require grad and modules with parameters, in program order.
        roots: the items a backward starts from: the one marked so, else what backward statements are given,
            else what an appended backward would start from (semantics §6).
    """

    def __init__(self, graph: Graph) -> None:
        """Read the graph once, in program order."""
        self.graph = graph
        self._analysis: Analysis = analyse(graph)
        self._may, self._leaf_values = self._analysis.gradients.may, self._analysis.gradients.leaves
        self._unrecorded = frozenset(item for item in graph.nodes if self._is_unrecorded(item))
        self._modules: set[Value] = set()
        self._writers: dict[Value, list[ItemId]] = {}
        self._place = {item: k for k, item in enumerate(graph.order())}
        for item in graph.order():
            if self._analysis.validity.is_live(item):
                self._note(item)
        self.ways: tuple[Way, ...] = tuple(dict.fromkeys(self._ways()))
        self.leaves = tuple(self._leaves())
        self.roots = tuple(dict.fromkeys(self._roots()))

    # ------------------------------------------------------------- what there is

    def _note(self, item: ItemId) -> None:
        """Modules and what passes them on; writers that torch records."""
        graph, operator = self.graph, self._operator(item)
        if operator is None:
            return
        passes = operator.face in PASSING_MODULES
        if makes_module(operator) or (passes and any(self._is_module(wire) for wire in graph.wires_to(item))):
            self._modules.add((item, 0))
        if item not in self._unrecorded and not self._writes_past_a_cut(item):
            for base in written_values(graph, item):
                self._writers.setdefault(base, []).append(item)

    def _operator(self, item: ItemId) -> Operator | None:
        node = self.graph.nodes.get(item)
        return row_of(self.graph, node) if node is not None else None

    def _is_module(self, wire: Wire) -> bool:
        return (wire.source, wire.output) in self._modules

    def _is_unrecorded(self, item: ItemId) -> bool:
        """Whether the innermost block that says so switches recording off around the item."""
        for body in self.graph.ancestors(item):
            block = self.graph.blocks.get(ItemId(body))
            if block is None or block.kind == "enable_grad":
                return False
            if block.kind in ("no_grad", "inference_mode"):
                return True
            if block.kind == "set_grad_enabled":
                return block.literals.get("mode") == "False"
        return False

    def _writes_past_a_cut(self, item: ItemId) -> bool:
        """Whether it writes into a `detach`, so that autograd does not hear of it."""
        wire = receiver_wire(self.graph, item)
        while wire is not None:
            operator = self._operator(wire.source)
            if operator is None:
                return False
            if operator.cuts:
                return True
            is_view = operator.view or operator.face is Face.ALIAS
            into = receiver_wire(self.graph, wire.source, wire.output) if operator.writes else None
            wire = into or (next(iter(self.graph.wires_to(wire.source)), None) if is_view else None)
        return False

    # ------------------------------------------------------------------- ways

    def _ways(self) -> Iterator[Way]:
        for item in self.graph.order():
            if self._analysis.validity.is_live(item):
                for wire in self.graph.wires_to(item):
                    if wire.source in self.graph and self._takes_part(item, wire):
                        yield from ((source, item) for source in self._sources(item, wire))

    def _takes_part(self, item: ItemId, wire: Wire) -> bool:
        """Whether a gradient that reaches the item may leave it along the wire."""
        value, operator = (wire.source, wire.output), self._operator(item)
        gives = value in self._may or value in self._modules
        if not gives or not self._analysis.validity.is_live(wire.source):
            return False
        if item in self.graph.blocks:
            return not wire.port.startswith(("range.", "condition"))
        if operator is None:
            return item in self._analysis.tensors
        if operator.cuts or (item in self._unrecorded and not operator.view):
            return False
        if (item, 0) in self._leaf_values and value not in self._leaf_values:
            return False  # a leaf begins anew
        writes_there = any(base in self._may for base in written_values(self.graph, item))
        return item in self._analysis.tensors or (item, 0) in self._modules or writes_there

    def _sources(self, reader: ItemId, wire: Wire) -> Iterator[ItemId]:
        """Where the gradient goes on to: who wrote last into what is read, and who made it while nobody surely has."""
        source, output = self._recorded(wire.source, wire.output)
        writers = self._writers.get(storage_of(self.graph, source, output), ())
        place = self._place[reader]
        yield from (one for one in writers if self._place[one] > place and self._share_a_loop(one, reader))
        for writer in reversed([one for one in writers if self._place[one] < place]):
            yield writer
            if writer == source or self._surely_ran(writer, reader):
                return
        yield source

    def _recorded(self, item: ItemId, output: int) -> Value:
        """The value itself; of a write under `no_grad` what it wrote into, for autograd knows nothing of it."""
        while item in self._unrecorded and (wire := receiver_wire(self.graph, item, output)) is not None:
            item, output = wire.source, wire.output
        return item, output

    def _share_a_loop(self, one: ItemId, other: ItemId) -> bool:
        loops = (block for block in self.graph.blocks.values() if block.kind == "for")
        return any(is_inside(self.graph, one, b.id) and is_inside(self.graph, other, b.id) for b in loops)

    def _surely_ran(self, writer: ItemId, reader: ItemId) -> bool:
        """Whether the writer ran wherever the reader runs: it is in no loop or condition that the reader is not in."""
        around = (ItemId(body) for body in self.graph.ancestors(writer) if body)
        deciding = (block for block in around if self.graph.blocks[block].kind in REPEATING)
        return all(BodyId(block) in self.graph.ancestors(reader) for block in deciding)

    # ------------------------------------------------------------------- ends

    def _leaves(self) -> Iterator[ItemId]:
        leaf_items = {item for item, _ in self._leaf_values}
        renamed = {target for source, target in self.ways if source in leaf_items and target in leaf_items}
        for item in self.graph.order():
            if not self._analysis.validity.is_live(item):
                continue
            own_leaf = item in leaf_items and item not in renamed and item not in self._unrecorded_writers
            makes = makes_module(self._operator(item))
            if own_leaf or (makes and has_parameters(self.graph, item)):
                yield item

    @property
    def _unrecorded_writers(self) -> frozenset[ItemId]:
        return frozenset(item for item in self._unrecorded if written_values(self.graph, item))

    def _roots(self) -> Iterator[ItemId]:
        marked = [item for item in self.graph.order() if item in self.graph.nodes and self._is_marked(item)]
        backwards = [item for item in self.graph.order() if self._is_backward(item)]
        if marked:
            yield from marked
        elif backwards:
            yield from self._given_to(backwards)
        elif self._analysis.root is not None:
            yield self._analysis.root

    def _is_marked(self, item: ItemId) -> bool:
        return "root" in self.graph.nodes[item].marks and self._analysis.validity.is_live(item)

    def _is_backward(self, item: ItemId) -> bool:
        operator = self._operator(item)
        return operator is not None and Effect.BACKWARD in operator.effects and self._analysis.validity.is_live(item)

    def _given_to(self, backwards: list[ItemId]) -> Iterator[ItemId]:
        for item in backwards:
            operator = self._operator(item)
            first = operator.parameters[0].name if operator is not None and operator.parameters else ""
            for wire in self.graph.wires_to(item):
                if wire.port.partition(".")[0] == first and (wire.source, wire.output) in self._may:
                    yield from self._sources(item, wire)
