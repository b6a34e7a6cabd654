"""Expressions: the one printer of a node's Python, for the script and for a traced run alike.

What it prints is what `ruff format` leaves as it is, on one line; `wrap` breaks long lines.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from gradstudio.graph.analysis import Analysis
from gradstudio.graph.arguments import GROUP, SLICE_PARTS, Argument, slice_parts
from gradstudio.graph.model import DOCUMENT_DEVICE, Block, ItemId, Node
from gradstudio.graph.soundness import attribute_of, digest_of
from gradstudio.graph.spelling import (
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    COMPARISON,
    NUMBER,
    POWER,
    PRIMARY,
    PRODUCT,
    SHIFT,
    SUM,
    TUPLE,
    UNARY,
    is_simple_power,
    quote,
    spell,
    spell_index,
)
from gradstudio.operators.model import Face, Kind, Operator
from gradstudio.program.references import References

INFIX = {
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), COMPARISON),
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
_MODULES = (
    ("torch.nn.functional.", "F."),
    ("torch.nn.", "nn."),
    ("torch.optim.", "optim."),
    ("torch.", "torch."),
    ("numpy.", "np."),
    ("math.", "math."),
)


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


class Printer:
    """Prints nodes of one program.

    Attributes:
        imports: what the printed text needs: ``torch``, ``F``, ``load_file``, ...
    """

    def __init__(
        self, references: References, *, device: bool, stem: str, traced: bool = False, imports: set[str] | None = None
    ) -> None:
        """Print for the script, or with every part under its address (`traced`)."""
        self.references, self.traced, self._device, self._stem = references, traced, device, stem
        self.imports: set[str] = set() if imports is None else imports
        analysis: Analysis = references.analysis
        self._graph, self._soundness, self._addresses = analysis.graph, analysis.soundness, analysis.addresses

    def statement(self, line: Line, item: ItemId) -> None:
        """A node as a statement: what it binds, and its expression."""
        node = self._graph.nodes[item]
        start = len(line.marks)
        line.marks.append((item, 0, 0))
        names = self.references.bound(item)
        operator = self._soundness.operators.get(item)
        if node.bypassed:
            line.write(f"{names[0]} = ")
            self._source(line, item, self._soundness.ports[item][0], TUPLE)
        elif operator is not None and operator.face in _STATEMENTS:
            _STATEMENTS[operator.face](self, line, node, operator)
        elif operator is not None:
            if names:
                line.write(f"{', '.join(names)} = ")
            if operator.face is Face.TUPLE and len(names) > 1:
                self._bare_tuple(line, node, self._soundness.arguments[item])
            else:
                self._face(line, node, operator)
        line.marks[start] = (item, 0, line.length)

    def value(self, line: Line, item: ItemId) -> None:
        """A node's expression alone, as a part that stands on a line of its own is assigned."""
        node, operator = self._graph.nodes[item], self._soundness.operators[item]
        self._face(line, node, operator)

    def head(self, line: Line, block: Block) -> tuple[str, str]:
        """The head of a block with its colon; also its expression, and the loop variable."""
        start = line.length
        match block.kind:
            case "for":
                variable = self.references.variable(block.id)
                line.write(f"for {variable} in ")
                begin = len(line.pieces)
                self._iterable(line, block)
            case "if":
                variable = ""
                line.write("if ")
                begin = len(line.pieces)
                self._argument(line, block, self._soundness.arguments[block.id][0])
            case _:
                variable = ""
                line.write("with ")
                begin = len(line.pieces)
                self._context(line, block)
        expression = "".join(line.pieces[begin:])
        line.write(":")
        line.marks.append((block.id, start, line.length))
        return expression, variable

    def text(self, item: ItemId, port: str) -> str:
        """The Python text of one wired port."""
        line = Line()
        self._source(line, item, port, TUPLE)
        return line.text

    def target(self, item: ItemId) -> str:
        """The object that a node writes into, as an expression; "" when it is not wired."""
        operator = self._soundness.operators[item]
        port = operator.parameters[0].name
        return self.text(item, port) if (item, port) in self._graph.wires else ""

    # ---------------------------------------------------------------- values

    def _source(self, line: Line, item: ItemId, port: str, floor: int) -> None:
        """What is wired into a port: its name, or the part printed in place."""
        wire = self._graph.wires[item, port]
        name = self.references.read(wire)
        if name:
            line.write(name)
            return
        source = wire.source
        operator = self._soundness.operators[source]
        if operator.face in _STATEMENTS:
            self._source(line, source, operator.parameters[0].name, floor)
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
                return UNARY
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
        elif literal == DOCUMENT_DEVICE and kind in (Kind.DEVICE, Kind.ANY):
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
                self._value(line, owner, argument.paths[0], parameter.kind)
        elif spreads and (argument.paths or parameter.kind is not Kind.SHAPE):
            self._elements(line, owner, argument)
        elif parameter.kind is Kind.SHAPE:
            line.write("(")
            self._elements(line, owner, argument)
            line.write(",)" if len(argument.paths) == 1 else ")")
        else:
            line.write("[")
            self._elements(line, owner, argument)
            line.write("]")

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
            return self._is_simple(owner.id, path, attributes=False)
        return _SIMPLE_BOUND.fullmatch(spell(owner.literals[path]).text) is not None

    def _is_simple(self, item: ItemId, port: str, *, attributes: bool) -> bool:
        """Whether a wired value is a name, or `-` (or a dot) upon one."""
        while True:
            wire = self._graph.wires.get((item, port))
            if wire is None:
                literal = self._graph.nodes[item].literals.get(port, "")
                return bool(literal) and is_simple_power(spell(literal).text)
            if self.references.read(wire):
                return True
            if self.traced and not self._is_target(item, port):
                return True
            item = wire.source
            operator = self._soundness.operators[item]
            if operator.face is not Face.PREFIX and not (attributes and operator.face is Face.ATTRIBUTE):
                return operator.face is Face.LITERAL and is_simple_power(
                    spell(self._graph.nodes[item].literals.get("value", "...")).text
                )
            port = operator.parameters[0].name

    # ---------------------------------------------------------------- faces

    def _face(self, line: Line, node: Node, operator: Operator) -> None:
        _FACES[operator.face](self, line, node, operator)

    def _function(self, line: Line, node: Node, operator: Operator) -> None:
        text, module = spelled_path(operator.path)
        if module:
            self.imports.add(module)
        line.write(text)
        self._arguments(line, node, self._soundness.arguments[node.id])

    def _method(self, line: Line, node: Node, operator: Operator) -> None:
        receiver, *rest = self._soundness.arguments[node.id]
        self._value(line, node, receiver.paths[0], receiver.parameter.kind, PRIMARY)
        line.write(f".{operator.symbol or operator.word}")
        self._arguments(line, node, rest)

    def _call(self, line: Line, node: Node, operator: Operator) -> None:
        module, *rest = self._soundness.arguments[node.id]
        self._value(line, node, module.paths[0], module.parameter.kind, PRIMARY)
        self._arguments(line, node, rest)

    def _group(self, line: Line, node: Node, operator: Operator) -> None:
        line.write(node.operator.removeprefix(GROUP))
        self._arguments(line, node, self._soundness.arguments[node.id])

    def _infix(self, line: Line, node: Node, operator: Operator) -> None:
        left, right = (argument.paths[0] for argument in self._soundness.arguments[node.id])
        precedence = INFIX[operator.symbol]
        floors = (precedence, precedence + 1)
        gap = " "
        if precedence == POWER:
            floors = (NUMBER, UNARY)
            if self._is_simple_operand(node, left, NUMBER) and self._is_simple_operand(node, right, UNARY):
                gap = ""
        elif precedence == COMPARISON:
            floors = (precedence + 1, precedence + 1)
        self._value(line, node, left, Kind.ANY, floors[0])
        line.write(f"{gap}{operator.symbol}{gap}")
        self._value(line, node, right, Kind.ANY, floors[1])

    def _is_simple_operand(self, node: Node, port: str, floor: int) -> bool:
        if self._port_precedence(node, port) < floor:
            return False
        return self._is_simple(node.id, port, attributes=True)

    def _prefix(self, line: Line, node: Node, operator: Operator) -> None:
        port = operator.parameters[0].name
        is_power = self._port_precedence(node, port) == POWER
        line.write(operator.symbol)
        self._value(line, node, port, Kind.ANY, NUMBER if is_power else UNARY)

    def _attribute(self, line: Line, node: Node, operator: Operator) -> None:
        self._value(line, node, operator.parameters[0].name, Kind.ANY, PRIMARY)
        line.write(f".{operator.symbol or attribute_of(node)}")

    def _item(self, line: Line, node: Node, operator: Operator) -> None:
        a, index = self._soundness.arguments[node.id]
        self._value(line, node, a.paths[0], Kind.ANY, PRIMARY)
        self._index(line, node, index)

    def _passed(self, line: Line, node: Node, operator: Operator) -> None:
        self._value(line, node, operator.parameters[0].name, Kind.ANY)

    def _sequence(self, line: Line, node: Node, operator: Operator) -> None:
        """A tuple or a list: its elements, or Python's constructor around one that brings all."""
        argument = self._soundness.arguments[node.id][0]
        is_list = operator.face is Face.LIST
        if not argument.split and (text := self._whole(node, argument, is_list)) is not None:
            line.write(text)
        elif not argument.split:
            line.write("list(" if is_list else "tuple(")
            self._value(line, node, argument.paths[0], Kind.ANY)
            line.write(")")
        else:
            line.write("[" if is_list else "(")
            self._elements(line, node, argument)
            line.write("]" if is_list else ",)" if len(argument.paths) == 1 else ")")

    def _whole(self, node: Node, argument: Argument, is_list: bool) -> str | None:
        """The elements of a literal that brings all, in the right brackets."""
        literal = node.literals.get(argument.paths[0], "")
        if not literal or (node.id, argument.paths[0]) in self._graph.wires:
            return None
        spelled = spell(literal)
        self.imports |= spelled.modules
        if spelled.elements is None:
            return None
        inner = ", ".join(spelled.elements)
        if is_list:
            return f"[{inner}]"
        return f"({inner},)" if len(spelled.elements) == 1 else f"({inner})"

    def _bare_tuple(self, line: Line, node: Node, printed: Sequence[Argument]) -> None:
        argument = printed[0]
        if argument.split and len(argument.paths) > 1:
            self._elements(line, node, argument)
        else:
            text = Line()
            self._sequence(text, node, self._soundness.operators[node.id])
            line.write(text.text)

    def _stored(self, line: Line, node: Node, operator: Operator) -> None:
        self.imports |= {"load_file", "Path"}
        file = quote(f"{self._stem}.tensors/{digest_of(node)}.safetensors")
        line.write(f'load_file(HERE / {file})["data"]')

    # ---------------------------------------------------------------- statements and blocks

    def _augmented(self, line: Line, node: Node, operator: Operator) -> None:
        a, b = self._soundness.arguments[node.id]
        self._value(line, node, a.paths[0], Kind.ANY, PRIMARY)
        line.write(f" {operator.symbol} ")
        self._value(line, node, b.paths[0], b.parameter.kind)

    def _set_item(self, line: Line, node: Node, operator: Operator) -> None:
        a, index, value = self._soundness.arguments[node.id]
        self._value(line, node, a.paths[0], Kind.ANY, PRIMARY)
        self._index(line, node, index)
        line.write(" = ")
        self._value(line, node, value.paths[0], value.parameter.kind)

    def _set_attribute(self, line: Line, node: Node, operator: Operator) -> None:
        printed = self._soundness.arguments[node.id]
        self._value(line, node, printed[0].paths[0], Kind.ANY, PRIMARY)
        line.write(f".{operator.symbol or attribute_of(node)} = ")
        self._value(line, node, printed[-1].paths[0], printed[-1].parameter.kind)

    def _iterable(self, line: Line, block: Block) -> None:
        argument = self._soundness.arguments[block.id][0]
        if argument.parameter.name == "range":
            line.write("range")
            self._arguments(line, block, (argument,))
        else:
            self._argument(line, block, argument)

    def _context(self, line: Line, block: Block) -> None:
        self.imports.add("torch")
        line.write(f"torch.{block.kind}")
        printed = self._soundness.arguments[block.id]
        if block.kind == "autocast":
            line.write("(")
            for k, argument in enumerate(printed):
                line.write(f", {argument.parameter.name}=" if k else f"{argument.parameter.name}=")
                self._argument(line, block, argument)
            line.write(")")
        else:
            self._arguments(line, block, printed)


_FACES = {
    Face.FUNCTION: Printer._function,
    Face.CONSTRUCTOR: Printer._function,
    Face.METHOD: Printer._method,
    Face.CALL: Printer._call,
    Face.GROUP: Printer._group,
    Face.INFIX: Printer._infix,
    Face.PREFIX: Printer._prefix,
    Face.ATTRIBUTE: Printer._attribute,
    Face.ITEM: Printer._item,
    Face.LITERAL: Printer._passed,
    Face.ALIAS: Printer._passed,
    Face.TUPLE: Printer._sequence,
    Face.LIST: Printer._sequence,
    Face.STORED: Printer._stored,
}
_STATEMENTS = {
    Face.AUGMENTED: Printer._augmented,
    Face.SET_ITEM: Printer._set_item,
    Face.SET_ATTRIBUTE: Printer._set_attribute,
}


@lru_cache(maxsize=4096)
def spelled_path(path: str) -> tuple[str, str]:
    """How a target is written, and the module it needs: ``F.relu`` and ``F``; built-in functions need none."""
    for prefix, short in _MODULES:
        if path.startswith(prefix):
            return short + path.removeprefix(prefix), short[:-1]
    return path.removeprefix("builtins."), ""


def _is_document_device(owner: Node | Block, argument: Argument) -> bool:
    return owner.literals.get(argument.paths[0]) == DOCUMENT_DEVICE
