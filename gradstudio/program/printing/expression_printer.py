"""Expressions: what a node looks like where its value is used, for the script and for a traced run alike.

What is printed is what `ruff format` leaves as it is, on one line; `line_wrapping` breaks long lines.
"""

from gradstudio.graph.model import Node
from gradstudio.graph.operator_rows import GROUP
from gradstudio.graph.ports.arguments import Argument
from gradstudio.graph.text.allowed_calls import spelled_path
from gradstudio.graph.text.code_records import FREE_METHOD, FREE_PATH
from gradstudio.graph.text.conditionals import read_conditional
from gradstudio.graph.text.format_templates import pieces
from gradstudio.graph.text.literal_text import COMPARISON, NOT, NUMBER, POWER, PRIMARY, UNARY, quote, spell
from gradstudio.graph.text.record_checks import attribute_of, digest_of
from gradstudio.operators.model import Face, Kind, Operator
from gradstudio.program.printing.argument_printer import ArgumentPrinter
from gradstudio.program.printing.logical_line import Line
from gradstudio.program.printing.name_references import References
from gradstudio.program.printing.operand_precedence import INFIX, Operands
from gradstudio.program.printing.value_printer import ValuePrinter


class ExpressionPrinter:
    """Prints the expressions of one program's nodes.

    Attributes:
        values: prints what is in one port; asks here for a part that is printed in place.
        arguments: prints what a call is given.
        operands: what is known of what is printed.
        imports: what the printed text needs: ``torch``, ``F``, ``load_file``, ...
    """

    def __init__(self, references: References, *, device: bool, stem: str, traced: bool = False) -> None:
        """Print for the script, or with every part under its address (`traced`).

        Args:
            references: the names of the program.
            device: the script has a line ``device = ...``.
            stem: of the file beside which the stored tensors lie.
            traced: for a traced run.
        """
        self.imports: set[str] = set()
        self._references = references
        self._device = device
        self._validity = references.validity
        self._graph = references.graph
        self._stem = stem
        self.operands = Operands(references, traced=traced)
        script_values = self._script_values if traced else None
        self.values = ValuePrinter(references, self.operands, self.imports, self.write, script_values=script_values)
        self.arguments = ArgumentPrinter(references, self.values, self.imports, device=device, traced=traced)

    def write(self, line: Line, node: Node, operator: Operator) -> None:
        """The expression of a node."""
        _FACES[operator.face](self, line, node, operator)

    def _script_values(self) -> ValuePrinter:
        return ExpressionPrinter(self._references, device=self._device, stem=self._stem).values

    def _function(self, line: Line, node: Node, operator: Operator) -> None:
        self._path(line, operator.path)
        self.arguments.call(line, node, self._validity.arguments[node.id])

    def _path(self, line: Line, path: str) -> None:
        text, module = spelled_path(path)
        if module:
            self.imports.add(module)
        line.write(text)

    def _method(self, line: Line, node: Node, operator: Operator) -> None:
        receiver, *rest = self._validity.arguments[node.id]
        self.values.value(line, node, receiver.paths[0], receiver.parameter.kind, PRIMARY)
        line.write(f".{operator.symbol or operator.word}")
        self.arguments.call(line, node, rest)

    def _call(self, line: Line, node: Node, operator: Operator) -> None:
        module, *rest = self._validity.arguments[node.id]
        if node.operator == FREE_PATH:
            self._path(line, attribute_of(node))
            self.arguments.call(line, node, rest)
            return
        self.values.value(line, node, module.paths[0], module.parameter.kind, PRIMARY)
        if node.operator == FREE_METHOD:
            line.write(f".{attribute_of(node)}")
            rest = [argument for argument in rest if argument.parameter.kind is not Kind.NAME]
        self.arguments.call(line, node, rest)

    def _group(self, line: Line, node: Node, operator: Operator) -> None:
        line.write(node.operator.removeprefix(GROUP))
        self.arguments.call(line, node, self._validity.arguments[node.id])

    def _infix(self, line: Line, node: Node, operator: Operator) -> None:
        one, other = self._validity.arguments[node.id]
        left, right = one.paths[0], other.paths[0]
        precedence = INFIX[operator.symbol]
        floors = (precedence, precedence + 1)
        gap = " "
        if precedence == POWER:
            floors = (NUMBER, UNARY)
            if self._is_simple_operand(node, left, NUMBER) and self._is_simple_operand(node, right, UNARY):
                gap = ""
        elif precedence == COMPARISON:
            floors = (precedence + 1, precedence + 1)
        self.values.value(line, node, left, Kind.ANY, floors[0])
        line.write(f"{gap}{operator.symbol}{gap}")
        self.values.value(line, node, right, Kind.ANY, floors[1])

    def _is_simple_operand(self, node: Node, port: str, floor: int) -> bool:
        if self.operands.port_precedence(node, port) < floor:
            return False
        return self.operands.is_simple(node.id, port, in_power=True)

    def _prefix(self, line: Line, node: Node, operator: Operator) -> None:
        port = operator.parameters[0].name
        is_power = self.operands.port_precedence(node, port) == POWER
        line.write(operator.symbol)
        if is_power:
            floor = NUMBER
        elif operator.symbol == "not ":
            floor = NOT
        else:
            floor = UNARY
        self.values.value(line, node, port, Kind.ANY, floor)

    def _attribute(self, line: Line, node: Node, operator: Operator) -> None:
        self.values.value(line, node, operator.parameters[0].name, Kind.ANY, PRIMARY)
        line.write(f".{operator.symbol or attribute_of(node)}")

    def _item(self, line: Line, node: Node, operator: Operator) -> None:
        a, index = self._validity.arguments[node.id]
        self.values.value(line, node, a.paths[0], Kind.ANY, PRIMARY)
        self.arguments.index(line, node, index)

    def _passed(self, line: Line, node: Node, operator: Operator) -> None:
        self.values.value(line, node, operator.parameters[0].name, Kind.ANY)

    def _sequence(self, line: Line, node: Node, operator: Operator) -> None:
        """A tuple or a list: its elements, or Python's constructor around one that brings all."""
        argument = self._validity.arguments[node.id][0]
        is_list = operator.face is Face.LIST
        if argument.split:
            line.write("[" if is_list else "(")
            self.arguments.elements(line, node, argument)
            is_single_tuple = not is_list and len(argument.paths) == 1
            line.write("," if is_single_tuple else "")
            line.write("]" if is_list else ")")
            return
        text = self._whole(node, argument, is_list)
        if text is not None:
            line.write(text)
            return
        line.write("list(" if is_list else "tuple(")
        self.values.value(line, node, argument.paths[0], Kind.ANY)
        line.write(")")

    def _whole(self, node: Node, argument: Argument, is_list: bool) -> str | None:
        """The elements of a literal that brings all, in the right brackets."""
        literal = node.literals.get(argument.paths[0], "")
        if not literal or (node.id, argument.paths[0]) in self._graph.wires:
            return None
        spelled = spell(literal)
        self.imports.update(spelled.modules)
        if spelled.elements is None:
            return None
        inner = ", ".join(spelled.elements)
        if is_list:
            return f"[{inner}]"
        return f"({inner},)" if len(spelled.elements) == 1 else f"({inner})"

    def _formatted(self, line: Line, node: Node, operator: Operator) -> None:
        from gradstudio.program.printing.f_strings import write_formatted

        template, values = operator.parameters
        count = node.lengths.get(values.name, 0)
        paths = [f"{values.name}.{k}" for k in range(count)]
        write_formatted(
            line,
            pieces(node.literals.get(template.name, "")),
            paths,
            lambda into, path: self.values.value(into, node, path, Kind.ANY),
        )

    def _choice(self, line: Line, node: Node, operator: Operator) -> None:
        """One text with its values in it, parts and all: what Python would not run does not run here either."""
        template, values = operator.parameters
        found = read_conditional(node.literals.get(template.name, ""))
        self.imports.update(found.modules)
        for k, hole in enumerate(found.holes):
            line.write(hole.text)
            if hole.floor is not None:
                self.values.value(line, node, f"{values.name}.{k}", Kind.ANY, hole.floor)

    def _stored(self, line: Line, node: Node, operator: Operator) -> None:
        self.imports.update(("load_file", "Path"))
        file = quote(f"{self._stem}.tensors/{digest_of(node)}.safetensors")
        line.write(f'load_file(HERE / {file})["data"]')


_FACES = {
    Face.FUNCTION: ExpressionPrinter._function,
    Face.CONSTRUCTOR: ExpressionPrinter._function,
    Face.METHOD: ExpressionPrinter._method,
    Face.CALL: ExpressionPrinter._call,
    Face.GROUP: ExpressionPrinter._group,
    Face.INFIX: ExpressionPrinter._infix,
    Face.PREFIX: ExpressionPrinter._prefix,
    Face.ATTRIBUTE: ExpressionPrinter._attribute,
    Face.ITEM: ExpressionPrinter._item,
    Face.LITERAL: ExpressionPrinter._passed,
    Face.ALIAS: ExpressionPrinter._passed,
    Face.TUPLE: ExpressionPrinter._sequence,
    Face.LIST: ExpressionPrinter._sequence,
    Face.FORMAT: ExpressionPrinter._formatted,
    Face.CHOICE: ExpressionPrinter._choice,
    Face.STORED: ExpressionPrinter._stored,
}
