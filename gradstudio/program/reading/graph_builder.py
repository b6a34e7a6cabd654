"""The graph that a text becomes, as far as it has been read, and what its expressions stand for."""

import ast
from collections.abc import Mapping

import msgspec

from gradstudio.graph.model import DOCUMENT_DEVICE, ROOT, Block, BodyId, Definition, Graph, ItemId, Node, Wire
from gradstudio.graph.operator_rows import row_of
from gradstudio.graph.ports.item_ports import output_family
from gradstudio.graph.ports.module_calls import origin
from gradstudio.graph.text.code_records import CODE, FREE, FREE_PATH, PROCESSES
from gradstudio.graph.text.statements import SELF
from gradstudio.operators.calls import argument_binding
from gradstudio.operators.calls.argument_binding import Several, Slice, Written
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.families import call_results, operand_family
from gradstudio.operators.literals.parser import family_of
from gradstudio.operators.model import Face, Family, Operator

_HANDS_ON = frozenset(
    {Face.INFIX, Face.PREFIX, Face.AUGMENTED, Face.ALIAS, Face.ITEM, Face.CALL, Face.ATTRIBUTE, Face.TUPLE}
)
"""How what is made of something foreign is as foreign."""
WRAPPER = 'DistributedDataParallel"'
"""How the path of what wraps a module ends, as a literal."""
_CALLS_CODE = FREE - {CODE, FREE_PATH}
_PYTHON = ("python.", "builtins.", "operator.")
"""How the keys of what is no torch's and no numpy's begin."""


class WiredResult(argument_binding.Wired, frozen=True):
    """A result of an item that was read before."""

    source: ItemId = ItemId("")
    output: int = 0


Value = WiredResult | Written | Several | Slice
Port = WiredResult | Written


class GraphBuilder:
    """A graph to which statements are added in their order.

    Attributes:
        body: where the next item goes.
        line: of the statement that is being read.
        lines: of every item.
        kept: nodes whose names were bound as attributes of a module.
    """

    def __init__(self, canvas: Graph | None = None, *, of_code: bool = False) -> None:
        """An empty program without a seed, or one that goes on where a canvas ends.

        Args:
            canvas: that one.
            of_code: its statements are those of a function in code, which is given whatever code likes.
        """
        self.of_code = of_code
        self.graph = canvas.copy() if canvas is not None else Graph()
        self.graph.tails = {}
        self._canvas = canvas
        self.body: BodyId = ROOT
        self.line = 1
        self.lines: dict[ItemId, int] = {}
        self._families: dict[tuple[ItemId, int], Family] = {}
        self._operators: set[str] = set()
        self._count = 0
        self._orders: dict[BodyId, list[ItemId]] = {ROOT: []}
        self.kept: list[ItemId] = []
        self._foreign: set[tuple[ItemId, int]] = set()
        self._of_torch: set[tuple[ItemId, int]] = set()
        self._pretended: set[ItemId] = set()
        self._wrapped: dict[ItemId, Port | None] = {}

    def node(
        self,
        key: str,
        ports: Mapping[str, Port],
        *,
        names: tuple[str, ...] = (),
        lengths: Mapping[str, int] | None = None,
        positional: tuple[str, ...] | None = None,
        nested: bool = False,
    ) -> WiredResult:
        """Add a node at the end of the body, with its wires and literals."""
        item = self._fresh()
        self._operators.add(key)
        if any(name.startswith(SELF) for name in names):
            self.kept.append(item)
            names = tuple(name.removeprefix(SELF) for name in names)
        literals = {path: value.text for path, value in ports.items() if isinstance(value, Written)}
        self.graph.nodes[item] = Node(
            id=item,
            operator=key,
            names=names,
            literals=literals,
            lengths=dict(lengths or {}),
            positional=positional,
            nested=nested and not names,
        )
        self._place(item)
        for path, value in ports.items():
            if isinstance(value, WiredResult):
                self.wire(value, item, path)
        self.know(item, ports)
        return self.result(item)

    def result(self, item: ItemId, output: int = 0) -> WiredResult:
        """A result of an item, with what flows from it."""
        value = WiredResult(source=item, output=output)
        return WiredResult(family=self.family(value), source=item, output=output)

    def block(self, block: Block, ports: Mapping[str, Port]) -> None:
        """Add an empty block at the end of the body; its id comes from `block_id`."""
        self.graph.blocks[block.id] = block
        self._place(block.id)
        self._orders[BodyId(block.id)] = []
        for path, value in ports.items():
            if isinstance(value, WiredResult):
                self.wire(value, block.id, path)

    def block_id(self) -> ItemId:
        """An id for the next block."""
        return self._fresh()

    def wire(self, value: WiredResult, target: ItemId, path: str) -> None:
        """Draw a wire."""
        wire = Wire(value.source, value.output, target, path)
        self.graph.draw(wire)

    def binds(self, value: WiredResult, name: str) -> bool:
        """Whether the statement that a value comes from binds the name, and does not only write into what it means."""
        node = self.graph.nodes.get(value.source)
        return node is None or name.removeprefix(SELF) in node.names

    def follow_document_device(self) -> None:
        """Without a line `device = …`, what creates tensors is on the document's device, the CPU (semantics §11)."""
        for item, node in self.graph.nodes.items():
            operator = load().get(node.operator)
            if (
                item not in self.lines
                or operator is None
                or not operator.creates
                or operator.parameter("device") is None
            ):
                continue
            if "device" not in node.literals and (item, "device") not in self.graph.wires:
                literals = {**node.literals, "device": DOCUMENT_DEVICE}
                self.graph.nodes[item] = msgspec.structs.replace(node, literals=literals)

    def holds_only(self, key: str) -> bool:
        """Whether all nodes so far are of one operator, and no block is there."""
        return not self.graph.blocks and self._operators <= {key}

    def finish(self) -> Graph:
        """The graph, with the order of its statements."""
        bodies = {body: tuple(order) for body, order in self._orders.items()}
        if self._canvas is not None:
            bodies = {**self._canvas.bodies, **bodies, ROOT: (*self._canvas.bodies[ROOT], *bodies[ROOT])}
        self.graph.bodies = bodies
        return self.graph

    def part(self) -> tuple[Graph, tuple[Wire, ...]]:
        """What was read, as a graph of its own, and the wires into it from the canvas that it goes on from."""
        if self._canvas is None:
            return self.graph, ()
        part, outer = Graph(), []
        part.header = self.graph.header
        part.tensors = self.graph.tensors
        part.tails = self.graph.tails
        part.definitions = dict(self.graph.definitions)
        part.nodes = {item: node for item, node in self.graph.nodes.items() if item in self.lines}
        part.blocks = {item: block for item, block in self.graph.blocks.items() if item in self.lines}
        part.parents = {item: self.graph.parents[item] for item in self.lines}
        part.bodies = {body: tuple(order) for body, order in self._orders.items()}
        for (target, _), wire in self.graph.wires.items():
            if target in self.lines and wire.source in self.lines:
                part.draw(wire)
            elif target in self.lines:
                outer.append(wire)
        return part, tuple(outer)

    def order(self, body: BodyId) -> tuple[ItemId, ...]:
        """The items of a body so far."""
        return tuple(self._orders[body])

    def inside(self) -> "GraphBuilder":
        """An empty draft for a definition of this program: its items have ids of their own."""
        inner = GraphBuilder(of_code=self.of_code)
        inner.graph.definitions, inner._count, inner.line = self.graph.definitions, self._count, self.line
        return inner

    def define(self, definition: Definition, inner: "GraphBuilder") -> None:
        """Take a definition that was read into such a draft."""
        self.graph.definitions[definition.name] = definition
        self.graph.tensors.update(inner.graph.tensors)
        self._count = inner._count

    def last_of(self, body: BodyId) -> ItemId | None:
        """The last item of a body so far."""
        order = self._orders[body]
        return order[-1] if order else None

    def count_in(self, body: BodyId) -> int:
        """How many items a body has so far."""
        return len(self._orders[body])

    def has_statement_since(self, count: int) -> bool:
        """Whether an item was added to the body, after it had so many, that is no part of a statement."""
        added = (self.graph.nodes.get(item) for item in self._orders[self.body][count:])
        return any(node is None or not node.nested for node in added)

    def is_of_code_alone(self, body: BodyId, count: int) -> bool:
        """Whether what a body got, after it had so many items, only calls what code made, with what code made."""
        if self._operators.isdisjoint(_CALLS_CODE):
            return False
        added = self._orders[body][count:]
        nodes = [self.graph.nodes.get(item) for item in added]
        keys = {node.operator if node is not None else "" for node in nodes}
        if _CALLS_CODE.isdisjoint(keys) or not all(key.startswith(_PYTHON) for key in keys):
            return False
        wires = [wire for item in added for wire in self.graph.wires_to(item)]
        if any((wire.source, wire.output) in self._of_torch for wire in wires):
            return False
        sources = {wire.source for wire in wires} - set(added)
        if not sources.isdisjoint(self._pretended):
            return False
        return all(source in self.graph.nodes and self.graph.nodes[source].operator == CODE for source in sources)

    def pretend(self, item: ItemId, refused: ast.stmt) -> None:
        """An item stands for what was refused: a definition may be none of code when the text is read again."""
        if isinstance(refused, ast.FunctionDef | ast.ClassDef):
            self._pretended.add(item)

    def ports_of(self, node: Node) -> dict[str, Port]:
        """What a node that was added is given."""
        ports: dict[str, Port] = {path: Written(text) for path, text in node.literals.items()}
        for wire in self.graph.wires_to(node.id):
            ports[wire.port] = self.result(wire.source, wire.output)
        return ports

    def family(self, value: Value) -> Family:
        """What flows from a value, as far as the text tells."""
        match value:
            case WiredResult(source=source, output=output):
                known = self._families.get((source, output))
                return known if known is not None else output_family(self.graph, source, output)
            case Written(text=text):
                return family_of(text)
            case Several():
                return Family.TUPLE
            case Slice():
                return Family.TEXT

    def set_family(self, item: ItemId, output: int, family: Family) -> None:
        """Remember what flows from a result."""
        self._families[item, output] = family

    @property
    def is_in_loop(self) -> bool:
        """Whether what is added next stands in a loop."""
        body = ItemId(self.body)
        block = self.graph.blocks.get(body)
        return block is not None and (block.kind == "for" or self.graph.loop_around(body) is not None)

    @property
    def has_code(self) -> bool:
        """Whether undrawn Python stands somewhere above."""
        return CODE in self._operators

    def set_foreign(self, item: ItemId, output: int) -> None:
        """A result is a class, a module or an object of which nothing but undrawn Python knows."""
        self._foreign.add((item, output))

    def set_of_torch(self, item: ItemId, output: int) -> None:
        """A result is a part of torch that undrawn Python imported."""
        self._of_torch.add((item, output))

    def is_foreign(self, value: Value) -> bool:
        """Whether a value is such, so that a method of it is none of torch's."""
        return isinstance(value, WiredResult) and (value.source, value.output) in self._foreign

    def comment(self, item: ItemId, note: str, beside: str, blank: bool) -> None:
        """Give an item its comments and the blank line above it."""
        owner = self.graph.nodes.get(item) or self.graph.blocks[item]
        words = {"note": note or owner.note, "beside": beside or owner.beside}
        record = msgspec.structs.replace(owner, **words, blank_before=blank)
        if isinstance(record, Node):
            self.graph.nodes[item] = record
        else:
            self.graph.blocks[item] = record

    def maker(self, value: WiredResult) -> Node | None:
        """The node a value comes from, seen through second names."""
        node = self.graph.nodes.get(value.source)
        return origin(self.graph, node) if node is not None else None

    # -------------------------------------------------------------- what flows

    def know(self, item: ItemId, ports: Mapping[str, Port]) -> None:
        """Where a node's row does not say what flows, the operands do: `n * 2` of a number is a number."""
        node = self.graph.nodes[item]
        operator = row_of(self.graph, node)
        if operator is None:
            return
        if operator.key in PROCESSES:
            if any(result.family is not Family.NUMBER for result in operator.results):
                self._wrapped[item] = ports.get("module")
                self._foreign.add((item, 0))  # it has methods that no row tells
            return
        if operator.key in FREE and operator.key != CODE:
            if node.literals.get("name", "").endswith(WRAPPER):
                self._wrapped[item] = ports.get("inputs.0")
            self._foreign.update((item, k) for k in range(max(1, len(node.names))))
            return
        values = list(ports.values())
        wrapped = self._wrapped_by(values[0]) if operator.face is Face.CALL and values else None
        if wrapped is not None:
            values[0] = wrapped
        if self._foreign and operator.face in _HANDS_ON and any(map(self.is_foreign, values)):
            self._foreign.update((item, k) for k in range(max(1, len(node.names))))
        families = [self.family(value) for value in values]
        if operator.face in (Face.INFIX, Face.PREFIX, Face.AUGMENTED) and operator.results[0].family is Family.TENSOR:
            self._families[item, 0] = operand_family(families)
        elif operator.face is Face.ALIAS and families:
            self._families[item, 0] = families[0]
        elif operator.face is Face.ITEM and values:
            sliced = any(":" in v.text for v in values[1:] if isinstance(v, Written)) or "index.0" not in ports
            known = Family.TUPLE if sliced and families[0] is Family.TUPLE else self._of_item(values, families)
            self._families[item, 0] = known
        elif operator.face is Face.CALL and values and isinstance(values[0], WiredResult):
            self._know_call(item, values[0])
        elif operator.face is Face.TUPLE and len(node.names) > 1:
            self._know_parts(node, ports)
        elif operator.key.startswith("numpy.") and _is_unknown(operator):
            self._families[item, 0] = Family.ARRAY  # or a number of numpy's, which has the same methods
        elif len(operator.results) > 1 and not node.names and not operator.writes:
            self._families[item, 0] = Family.TUPLE  # a part is read as a whole: `x.max(dim=1)[0]`

    def _wrapped_by(self, callee: Port) -> WiredResult | None:
        """The module that is called through a wrapper, which gives what that gives; None of any other callee."""
        wrapped = self._wrapped.get(callee.source) if isinstance(callee, WiredResult) else None
        return wrapped if isinstance(wrapped, WiredResult) else None

    def _of_item(self, values: list[Port], families: list[Family]) -> Family:
        if families[0] in (Family.ARRAY, Family.TEXT):
            return families[0]
        if families[0] is not Family.TUPLE:
            return Family.TENSOR if families[0] is Family.TENSOR else Family.UNKNOWN
        if not isinstance(values[0], WiredResult):
            return Family.UNKNOWN
        if self._is_shape(values[0]) and len(families) == 2 and families[1] is Family.NUMBER:
            return Family.NUMBER
        return Family.UNKNOWN

    def _is_shape(self, value: WiredResult) -> bool:
        maker = self.maker(value)
        return maker is not None and maker.operator.partition(":")[0] in ("torch.Tensor.shape", "torch.Tensor.size")

    def _know_call(self, item: ItemId, module: WiredResult) -> None:
        maker = self.maker(module)
        results = call_results(row_of(self.graph, maker) if maker is not None else None)
        for k, result in enumerate(results):
            family = Family.TUPLE if len(results) > 1 and len(self.graph.nodes[item].names) < 2 else result.family
            self._families[item, k] = family

    def _know_parts(self, node: Node, ports: Mapping[str, Port]) -> None:
        whole = ports.get("items")
        for k in range(len(node.names)):
            part = ports.get(f"items.{k}")
            if part is not None:
                self._families[node.id, k] = self.family(part)
            elif isinstance(whole, WiredResult):
                self._families[node.id, k] = Family.NUMBER if self._is_shape(whole) else Family.UNKNOWN

    # -------------------------------------------------------------- places

    def _fresh(self) -> ItemId:
        self._count += 1
        while ItemId(f"n{self._count}") in self.graph:
            self._count += 1
        return ItemId(f"n{self._count}")

    def _place(self, item: ItemId) -> None:
        self.graph.parents[item] = self.body
        self.lines[item] = self.line
        self._orders[self.body].append(item)


def _is_unknown(operator: Operator) -> bool:
    return bool(operator.results) and operator.results[0].family is Family.UNKNOWN
