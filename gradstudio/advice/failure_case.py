"""A failure at its node: what went in, from where, and what the statement says; read by the makers of fixes."""

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

from gradstudio.advice.quotations import source_name
from gradstudio.graph.edits import Edits
from gradstudio.graph.model import Graph, ItemId, Node, Wire
from gradstudio.graph.ports.arguments import find_operator
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.model import Operator
from gradstudio.protocol.messages.events import Failed
from gradstudio.protocol.messages.records import ModuleRecord, Record, TensorRecord

Lookup = Callable[[ItemId, int], Record | None]
"""What is known of a value: of an item's output, its newest record."""
Offer = tuple[str, Callable[[Graph], Edits]]
"""A title, and the recipe that may still refuse."""
MAX_STEPS = 10_000
WHOLE, NUMBERS = re.compile(r"[\s\d,\[\]()-]*"), re.compile(r"-?\d+")


class Operand(NamedTuple):
    """A tensor that went in: the port's path, the wire that brought it, its dtype ("float32") and shape."""

    port: str
    wire: Wire
    dtype: str
    shape: tuple[int, ...]
    device: str
    maximum: float | int | None


class Case:
    """One failure in one graph.

    Attributes:
        groups: what the rule's pattern found in torch's words.
        node: None for a block.
    """

    def __init__(self, graph: Graph, failed: Failed, groups: dict[str, str], lookup: Lookup) -> None:
        """Hold the failure; nothing is changed."""
        self.graph = graph
        self.failed = failed
        self.groups = groups
        self.lookup = lookup
        self.item = failed.node
        self.node: Node | None = graph.nodes.get(failed.node)

    @cached_property
    def operator(self) -> Operator | None:
        """The failing node's row in the catalogue."""
        return find_operator(self.graph, self.node) if self.node is not None else None

    @cached_property
    def operands(self) -> tuple[Operand, ...]:
        """The tensors that went in by wire, in the order of the arguments."""
        told = dict(self.failed.operands)
        found = []
        for wire in self.graph.wires_to(self.item):
            record = told.get(wire.port) or self.lookup(wire.source, wire.output)
            if isinstance(record, TensorRecord):
                s = record.summary
                largest = s.maximum if s.maximum is not None else self._largest_written(wire)
                found.append(Operand(wire.port, wire, s.dtype, s.shape, record.device, largest))
        order = [parameter.name for parameter in self.operator.parameters] if self.operator is not None else []
        return tuple(sorted(found, key=lambda operand: place_of(order, operand.port)))

    def _largest_written(self, wire: Wire) -> int | None:
        """The largest whole number of a tensor that is written out; None where it is not."""
        node = self.graph.nodes.get(wire.source)
        text = node.literals.get("data", "") if node is not None and node.operator == "torch.tensor" else ""
        return max((int(number) for number in NUMBERS.findall(text)), default=None) if WHOLE.fullmatch(text) else None

    def operand(self, port: str) -> Operand | None:
        """The tensor that went into a port, or into the first element of a list of that name."""
        return next((o for o in self.operands if o.port == port or o.port.partition(".")[0] == port), None)

    @property
    def target(self) -> Operand | None:
        """What a loss compares with: its argument of that name, or the second thing that its module is called with."""
        return self.operand("target") or next((o for o in self.operands if o.port == "inputs.1"), None)

    @property
    def first(self) -> Wire | None:
        """The wire of the first argument that has one."""
        if self.operands:
            return self.operands[0].wire
        return next(iter(self.graph.wires_to(self.item)), None)

    def name(self, item: ItemId) -> str:
        """How a person calls an item."""
        return title(self.graph, item)

    def source_name(self, wire: Wire) -> str:
        """How a person calls what a wire brings."""
        return source_name(self.graph, wire)

    def literals(self) -> dict[str, str]:
        """What is written into the failing item's ports."""
        owner = self.node or self.graph.blocks.get(self.item)
        return owner.literals if owner is not None else {}

    def modules(self) -> Iterator[Node]:
        """The module that was called, and those inside it."""
        wire = self.graph.wire_into(self.item, "module")
        yield from (node for node in self.above(wire.source if wire else self.item) if wire is not None)

    def module_dtype(self) -> str:
        """The dtype of the called module's parameters; "" when there are none."""
        for _, record in self.failed.operands:
            if isinstance(record, ModuleRecord):
                return next((p.summary.dtype for p in record.parameters.values()), "")
        return ""

    def above(self, item: ItemId) -> Iterator[Node]:
        """The node and all that it was made from, nearest first."""
        seen: set[ItemId] = set()
        queue = [item]
        while queue and len(seen) < MAX_STEPS:
            here = queue.pop(0)
            if here in seen or here not in self.graph:
                continue
            seen.add(here)
            if here in self.graph.nodes:
                yield self.graph.nodes[here]
            queue += [wire.source for wire in self.graph.wires_to(here)]

    def before(self) -> Iterator[Node]:
        """The nodes in front of the failing one, the nearest first."""
        items = list(self.graph.order())
        at = items.index(self.item) if self.item in items else len(items)
        yield from (self.graph.nodes[item] for item in reversed(items[:at]) if item in self.graph.nodes)


def place_of(order: list[str], port: str) -> tuple[int, str]:
    """What sorts ports as the operator's parameters stand."""
    head = port.partition(".")[0]
    return (order.index(head) if head in order else len(order), port)
