"""Expressions: the one printer of a node's Python, for the script and for a traced run alike.

What it prints is what `ruff format` leaves as it is, on one line; `line_wrapping` breaks long lines.
"""

from collections.abc import Sequence

from gradstudio.graph.model import Block, ItemId, Node, context_path
from gradstudio.graph.operator_rows import GROUP
from gradstudio.graph.ports.arguments import Argument
from gradstudio.graph.text.allowed_calls import spelled_path
from gradstudio.graph.text.conditionals import choice
from gradstudio.graph.text.format_templates import pieces
from gradstudio.graph.text.literal_text import (
    COMPARISON,
    CONDITIONAL,
    NOT,
    NUMBER,
    POWER,
    PRIMARY,
    TUPLE,
    UNARY,
    quote,
    spell,
)
from gradstudio.graph.text.loop_targets import Target
from gradstudio.graph.text.record_checks import attribute_of, digest_of
from gradstudio.operators.model import Face, Kind, Operator
from gradstudio.program.printing.f_strings import write_formatted
from gradstudio.program.printing.value_printer import INFIX, Line, ValuePrinter


class Printer(ValuePrinter):
    """Prints nodes of one program as statements and expressions, and the heads of its blocks."""

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
        start, place = line.length, len(line.marks)
        line.marks.append((block.id, start, start))
        match block.kind:
            case "for":
                variable = self.references.variable(block.id)
                line.write("for ")
                target = self.references.targets.get(block.id)
                if target is None:
                    line.write(variable)
                else:
                    self._target(line, target)
                line.write(" in ")
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
        line.marks[place] = (block.id, start, line.length)
        return expression, variable

    def text(self, item: ItemId, port: str) -> str:
        """The Python text of one wired port."""
        name = self.references.read(self._graph.wires[item, port])
        if name:
            return name
        line = Line()
        self._source(line, item, port, TUPLE)
        return line.text

    def target(self, item: ItemId) -> str:
        """The object that a node writes into, as an expression; "" when it is not wired."""
        operator = self._soundness.operators[item]
        port = operator.writes[0] if operator.writes else operator.parameters[0].name
        return self.text(item, port) if (item, port) in self._graph.wires else ""

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
        return self._is_simple(node.id, port, in_power=True)

    def _prefix(self, line: Line, node: Node, operator: Operator) -> None:
        port = operator.parameters[0].name
        is_power = self._port_precedence(node, port) == POWER
        line.write(operator.symbol)
        floor = NUMBER if is_power else NOT if operator.symbol == "not " else UNARY
        self._value(line, node, port, Kind.ANY, floor)

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
        elif (node.id, argument.paths[0]) in self._graph.wires:
            self._value(line, node, argument.paths[0], Kind.ANY)  # `B, T = x.shape`
        else:
            text = Line()
            self._sequence(text, node, self._soundness.operators[node.id])
            line.write(text.text)

    def _formatted(self, line: Line, node: Node, operator: Operator) -> None:
        template, values = operator.parameters
        count = node.lengths.get(values.name, 0)
        paths = [f"{values.name}.{k}" for k in range(count)]
        write_formatted(
            line,
            pieces(node.literals.get(template.name, "")),
            paths,
            lambda into, path: self._value(into, node, path, Kind.ANY),
        )

    def _choice(self, line: Line, node: Node, operator: Operator) -> None:
        """One text with its values in it, parts and all: what Python would not run does not run here either."""
        template, values = operator.parameters
        found = choice(node.literals.get(template.name, ""))
        self.imports |= found.modules
        for k, hole in enumerate(found.holes):
            line.write(hole.text)
            if hole.floor is not None:
                self._value(line, node, f"{values.name}.{k}", Kind.ANY, hole.floor)

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

    def _set_path(self, line: Line, node: Node, operator: Operator) -> None:
        text, module = spelled_path(operator.path.removesuffix("="))
        self.imports.add(module)
        line.write(f"{text} = ")
        self._value(line, node, operator.parameters[0].name, Kind.ANY)

    def _assert(self, line: Line, node: Node, operator: Operator) -> None:
        line.write("assert ")
        condition, *message = self._soundness.arguments[node.id]
        self._value(line, node, condition.paths[0], Kind.ANY, CONDITIONAL)
        for argument in message:
            line.write(", ")
            self._value(line, node, argument.paths[0], Kind.ANY, CONDITIONAL)

    def _target(self, line: Line, target: Target, inside: bool = False) -> None:
        """What a loop binds at its head: ``i, (a, b)``."""
        start, place = line.length, len(line.marks)
        line.marks.append((target.node, start, start))
        line.write("(" if inside else "")
        for k, (name, part) in enumerate(zip(self.references.bound(target.node), target.parts, strict=True)):
            line.write(", " if k else "")
            if part is None:
                line.write(name)
            else:
                self._target(line, part, inside=True)
        line.write(")" if inside else "")
        line.marks[place] = (target.node, start, line.length)

    def _iterable(self, line: Line, block: Block) -> None:
        printed = self._soundness.arguments[block.id]
        if not printed:
            line.write("...")  # incomplete: it stands in a comment
        elif printed[0].parameter.name == "range":
            line.write("range")
            self._arguments(line, block, printed[:1])
        else:
            self._argument(line, block, printed[0])

    def _context(self, line: Line, block: Block) -> None:
        self.imports.add("torch")
        line.write(context_path(block.kind))
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
    Face.FORMAT: Printer._formatted,
    Face.CHOICE: Printer._choice,
    Face.STORED: Printer._stored,
}
_STATEMENTS = {
    Face.AUGMENTED: Printer._augmented,
    Face.SET_ITEM: Printer._set_item,
    Face.SET_ATTRIBUTE: Printer._set_attribute,
    Face.SET_PATH: Printer._set_path,
    Face.ASSERT: Printer._assert,
}
