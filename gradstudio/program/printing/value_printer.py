"""Values: what stands in an argument – a name, a part printed in place, a literal, a slice."""

import re
from collections.abc import Sequence

from gradstudio.graph.analysis.program_analysis import STATEMENTS_ONLY
from gradstudio.graph.model import DOCUMENT_DEVICE, Block, ItemId, Node, Wire
from gradstudio.graph.ports.arguments import SLICE_PARTS, Argument, slice_parts
from gradstudio.graph.text.conditionals import choice
from gradstudio.graph.text.literal_text import (
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    COMPARISON,
    NOT,
    POWER,
    PRIMARY,
    PRODUCT,
    SHIFT,
    SUM,
    TUPLE,
    UNARY,
    first_operand,
    is_simple_power,
    spell,
    spell_index,
)
from gradstudio.graph.text.record_checks import DEVICE_KINDS
from gradstudio.operators.catalogue.out_variants import OUT
from gradstudio.operators.model import Face, Kind, Operator
from gradstudio.program.printing.name_references import References

INFIX = {
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"), COMPARISON),
    "|": BIT_OR,
    "^": BIT_XOR,
    "&": BIT_AND,
    **dict.fromkeys(("<<", ">>"), SHIFT),
    **dict.fromkeys(("+", "-"), SUM),
    **dict.fromkeys(("*", "/", "//", "%", "@"), PRODUCT),
    "**": POWER,
}
MISSING = "..."
_SIMPLE_BOUND = re.compile(r"[-+~]*(?:\d[\w.]*|[^\W\d]\w*|\"[^\"]*\")(?:e-\d+)?")


_STARRED = frozenset({Kind.TENSORS, Kind.VALUES, Kind.MODULES})
"""What a list that brings all of it is unpacked into: ``nn.Sequential(*layers)``; sizes are taken whole."""


class Line:
    """One logical line that grows; remembers where each node's text stands in it."""

    __slots__ = ("length", "marks", "pieces")

    def __init__(self) -> None:
        """An empty line."""
        self.pieces: list[str] = []
        self.length = 0
        self.marks: list[tuple[ItemId, int, int]] = []

    def write(self, text: str) -> None:
        """Append a text."""
        self.pieces.append(text)
        self.length += len(text)

    @property
    def text(self) -> str:
        """All that was written."""
        return "".join(self.pieces)


class ValuePrinter:
    """Prints values and arguments of nodes; what a node itself looks like is left to `_face`.

    Attributes:
        imports: what the printed text needs: ``torch``, ``F``, ``load_file``, ...
    """

    def __init__(
        self, references: References, *, device: bool, stem: str, traced: bool = False, imports: set[str] | None = None
    ) -> None:
        """Print for the script, or with every part under its address (`traced`)."""
        self.references, self.traced, self._device, self._stem = references, traced, device, stem
        self.imports: set[str] = set() if imports is None else imports
        self._graph, self._soundness, self._addresses = references.graph, references.soundness, references.addresses

    def _face(self, line: Line, node: Node, operator: Operator) -> None:
        raise NotImplementedError

    def _source(self, line: Line, item: ItemId, port: str, floor: int) -> None:
        """What is wired into a port: its name, or the part printed in place."""
        wire = self._graph.wires[item, port]
        name = self.references.read(wire)
        if name:
            line.write(name)
            return
        source = wire.source
        operator = self._soundness.operators[source]
        if operator.face in STATEMENTS_ONLY:
            self._value(line, self._graph.nodes[source], operator.parameters[0].name, Kind.ANY, floor)
        elif self.traced and not self._is_target(item, port):
            line.write(self._addresses[source])
        else:
            self._part(line, self._graph.nodes[source], operator, floor)

    def _is_target(self, item: ItemId, port: str) -> bool:
        """Whether the port is what `+=` writes into, which must stay where it is."""
        operator = self._soundness.operators.get(item)
        return operator is not None and operator.face is Face.AUGMENTED and port == operator.parameters[0].name

    def _part(self, line: Line, node: Node, operator: Operator, floor: int) -> None:
        needs_parentheses = self._precedence(node, operator) < floor
        if needs_parentheses:
            line.write("(")
        start, place = line.length, len(line.marks)
        line.marks.append((node.id, start, start))
        self._face(line, node, operator)
        line.marks[place] = (node.id, start, line.length)
        if needs_parentheses:
            line.write(")")

    def _precedence(self, node: Node, operator: Operator) -> int:
        match operator.face:
            case Face.INFIX:
                return INFIX[operator.symbol]
            case Face.PREFIX:
                return NOT if operator.symbol == "not " else UNARY
            case Face.CHOICE:
                return choice(node.literals.get(operator.parameters[0].name, "")).precedence
            case Face.LITERAL | Face.ALIAS:
                return self._port_precedence(node, operator.parameters[0].name)
            case _:
                return PRIMARY

    def _port_precedence(self, node: Node, port: str) -> int:
        wire = self._graph.wires.get((node.id, port))
        if wire is None:
            literal = node.literals.get(port, "")
            return spell(literal).precedence if literal and literal != DOCUMENT_DEVICE else PRIMARY
        if self.references.read(wire) or self.traced:
            return PRIMARY
        operator = self._soundness.operators[wire.source]
        return self._precedence(self._graph.nodes[wire.source], operator)

    def _value(self, line: Line, owner: Node | Block, path: str, kind: Kind, floor: int = TUPLE) -> None:
        """One port: wired, or a literal, or the document's device."""
        if (owner.id, path) in self._graph.wires:
            self._source(line, owner.id, path, floor)
        elif kind is Kind.INDEX and (parts := slice_parts(self._graph, owner, path)):
            self._slice(line, owner, path, parts)
        else:
            self._literal(line, owner.literals.get(path, ""), kind, floor)

    def _literal(self, line: Line, literal: str, kind: Kind, floor: int = TUPLE) -> None:
        if not literal:
            line.write(MISSING)
        elif literal == DOCUMENT_DEVICE and kind in DEVICE_KINDS:
            line.write("device")
        else:
            spelled = spell_index(literal) if kind is Kind.INDEX else spell(literal)
            self.imports |= spelled.modules
            line.write(f"({spelled.text})" if spelled.precedence < floor else spelled.text)

    # ---------------------------------------------------------------- arguments

    def _arguments(self, line: Line, owner: Node | Block, printed: Sequence[Argument]) -> None:
        line.write("(")
        before = line.length
        for argument in printed:
            if argument.parameter.kind is Kind.DEVICE and not self._device and _is_document_device(owner, argument):
                continue
            if line.length > before:
                line.write(", ")
            if argument.keyword:
                line.write(f"{argument.parameter.name}=")
            self._argument(line, owner, argument)
        line.write(")")

    def _argument(self, line: Line, owner: Node | Block, argument: Argument) -> None:
        parameter = argument.parameter
        spreads = parameter.variadic and not argument.keyword
        if not argument.split:
            literal = owner.literals.get(argument.paths[0], "")
            is_free = isinstance(owner, Block) or owner.positional is None
            if spreads and is_free and literal.startswith("(") and (owner.id, parameter.name) not in self._graph.wires:
                self._spread(line, literal)
            else:
                wire = self._graph.wires.get((owner.id, parameter.name))
                if spreads and wire is not None and self._is_display(wire):
                    self._unwrapped(line, owner.id, parameter.name)
                    return
                if spreads and wire is not None and (parameter.kind in _STARRED or self._is_lazy(wire)):
                    line.write("*")
                self._value(line, owner, argument.paths[0], parameter.kind)
        elif spreads and (argument.paths or parameter.kind is not Kind.SHAPE):
            self._elements(line, owner, argument)
        elif parameter.kind is Kind.SHAPE or parameter.name == OUT or self._is_call(owner):  # ``lstm(x, hx=(h, c))``
            line.write("(")
            self._elements(line, owner, argument)
            line.write(",)" if len(argument.paths) == 1 else ")")
        else:
            line.write("[")
            self._elements(line, owner, argument)
            line.write("]")

    def _is_lazy(self, wire: Wire) -> bool:
        """Whether it is `range(n)` or `reversed(xs)`, which torch does not take as a size."""
        operator = self._soundness.operators.get(wire.source)
        return operator is not None and operator.key in ("builtins.range", "builtins.reversed")

    def _is_display(self, wire: Wire) -> bool:
        """Whether a part is printed here that is a list with stars: ``*sizes, 2`` between the parentheses."""
        node, operator = self._graph.nodes.get(wire.source), self._soundness.operators.get(wire.source)
        if self.traced or node is None or operator is None or operator.face is not Face.CHOICE:
            return False
        found = choice(node.literals.get(operator.parameters[0].name, ""))
        return found.is_display and found.text.startswith("[") and not self.references.read(wire)

    def _unwrapped(self, line: Line, item: ItemId, port: str) -> None:
        """A part that is a list, without its brackets."""
        pieces, marks, start = len(line.pieces), len(line.marks), line.length
        self._source(line, item, port, TUPLE)
        line.pieces[pieces] = line.pieces[pieces][1:]
        line.pieces[-1] = line.pieces[-1][:-1]
        line.length -= 2
        line.marks[marks:] = [
            (part, max(start, first - 1), min(line.length, last - 1)) for part, first, last in line.marks[marks:]
        ]

    def _is_call(self, owner: Node | Block) -> bool:
        operator = self._soundness.operators.get(owner.id)
        return operator is not None and operator.face is Face.CALL

    def _elements(self, line: Line, owner: Node | Block, argument: Argument) -> None:
        for k, path in enumerate(argument.paths):
            if k:
                line.write(", ")
            self._value(line, owner, path, argument.parameter.kind)

    def _spread(self, line: Line, literal: str) -> None:
        """A tuple given to a variadic argument: ``torch.zeros(2, 3)``."""
        spelled = spell(literal)
        self.imports |= spelled.modules
        is_tuple = spelled.text.startswith("(") and spelled.elements
        line.write(", ".join(spelled.elements) if is_tuple and spelled.elements else spelled.text)

    def _index(self, line: Line, node: Node, argument: Argument) -> None:
        line.write("[")
        if argument.split and not argument.paths:
            line.write("()")
        else:
            self._elements(line, node, argument)
        line.write("]")

    def _slice(self, line: Line, owner: Node | Block, path: str, parts: tuple[str, ...]) -> None:
        """``start:stop:step``, spaced as ruff does: by whether every bound is simple."""
        start, stop, step = (f"{path}.{part}" if f"{path}.{part}" in parts else "" for part in SLICE_PARTS)
        gap = "" if all(self._is_simple_bound(owner, part) for part in parts) else " "
        if start:
            self._value(line, owner, start, Kind.INT)
            line.write(gap)
        line.write(":")
        if stop:
            line.write(gap)
            self._value(line, owner, stop, Kind.INT)
        if step:
            line.write(f"{gap if stop else ''}:{gap}")
            self._value(line, owner, step, Kind.INT)

    def _is_simple_bound(self, owner: Node | Block, path: str) -> bool:
        if (owner.id, path) in self._graph.wires:
            return self._is_simple(owner.id, path, in_power=False)
        return _SIMPLE_BOUND.fullmatch(spell(owner.literals[path]).text) is not None

    def _is_simple(self, item: ItemId, port: str, *, in_power: bool) -> bool:
        """Whether a wired value is a name, or `-` upon one; within a power also a dot upon one.

        Of a power within a power only the first operand counts: ``a**b**c`` is one chain.
        """
        while True:
            wire = self._graph.wires.get((item, port))
            if wire is None:
                literal = self._graph.nodes[item].literals.get(port, "")
                return bool(literal) and is_simple_power(first_operand(spell(literal).text))
            if self.references.read(wire) or (self.traced and not self._is_target(item, port)):
                return True
            item = wire.source
            operator = self._soundness.operators[item]
            if not self._hands_on(operator, in_power):
                return False
            port = operator.parameters[0].name

    def _hands_on(self, operator: Operator, in_power: bool) -> bool:
        """Whether an expression is as simple as its first operand."""
        if operator.face in (Face.PREFIX, Face.LITERAL):
            return operator.symbol != "not "
        return in_power and (operator.face is Face.ATTRIBUTE or operator.symbol == "**")


def _is_document_device(owner: Node | Block, argument: Argument) -> bool:
    return owner.literals.get(argument.paths[0]) == DOCUMENT_DEVICE
