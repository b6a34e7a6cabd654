"""Statements: the lines of nodes, with the names they bind, and the heads of blocks."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gradstudio.graph.context_paths import context_path
from gradstudio.graph.model import Block, BodyId, ItemId, Node
from gradstudio.graph.ports.arguments import Argument
from gradstudio.graph.ports.item_ports import target_port
from gradstudio.graph.text.allowed_calls import spelled_path
from gradstudio.graph.text.code_records import PRINT, READ, code_names, code_of, imports_needed, is_code_at, new_names
from gradstudio.graph.text.code_text import renamed_code
from gradstudio.graph.text.drawn_bodies import body_places, with_bodies
from gradstudio.graph.text.literal_text import CONDITIONAL, PRIMARY, TUPLE
from gradstudio.graph.text.loop_targets import Target
from gradstudio.graph.text.record_checks import attribute_of
from gradstudio.graph.text.while_heads import ALWAYS, condition_in
from gradstudio.operators.model import Face, Kind, Operator
from gradstudio.program.model import Span
from gradstudio.program.printing.expression_printer import ExpressionPrinter
from gradstudio.program.printing.logical_line import Line
from gradstudio.program.printing.name_references import References

ONCE, ONCE_PORT = "builtins.bool", "x"
"""What the number of turns of an ``if`` is, and what it is of."""
CALLS = (Face.FUNCTION, Face.METHOD, Face.CALL)


class PrintedBody(NamedTuple):
    """The lines of a function in code whose statements are drawn, without indentation, and what they need.

    Attributes:
        spans: its items; line 1 is the first of `lines`.
    """

    lines: tuple[str, ...]
    imports: frozenset[str]
    spans: tuple[Span, ...] = ()


PrintedBodies = Mapping[str, PrintedBody]


class StatementPrinter:
    """Prints nodes of one program as statements and expressions, and the heads of its blocks.

    Attributes:
        references: the names they read and bind.
        expressions: prints what stands right of the names.
        imports: what the printed text needs: ``torch``, ``F``, ``load_file``, ...
    """

    def __init__(
        self,
        references: References,
        *,
        device: bool,
        stem: str,
        bodies: PrintedBodies,
        traced: bool = False,
        is_main: bool = True,
        is_body: bool = False,
    ) -> None:
        """Print for the script, or with every part under its address (`traced`).

        Args:
            references: the names of the program.
            device: the script has a line ``device = ...``.
            stem: of the file beside which the stored tensors lie.
            bodies: of functions in code, as they are printed.
            traced: for a traced run.
            is_main: not for a definition, where the reader would take the branch that every call decides.
            is_body: for a part of code, of which nothing that is drawn knows a call.
        """
        self._bodies, self._is_body = bodies, is_body
        self._has_ifs = (is_main and not traced) or is_body
        self.references = references
        self.expressions = ExpressionPrinter(references, device=device, stem=stem, traced=traced)
        self.imports = self.expressions.imports
        self._values = self.expressions.values
        self._arguments = self.expressions.arguments
        self._graph = references.graph
        self._validity = references.validity

    def statement(self, line: Line, item: ItemId) -> None:
        """A node as a statement: what it binds, and its expression."""
        node = self._graph.nodes[item]
        start = len(line.marks)
        line.marks.append((item, 0, 0))
        names = self.references.bound(item)
        operator = self._validity.operators.get(item)
        if node.bypassed:
            line.write(f"{names[0]} = ")
            self._values.source(line, item, self._validity.ports[item][0], TUPLE)
        elif operator is not None and operator.face in _STATEMENTS:
            _STATEMENTS[operator.face](self, line, node, operator)
        elif operator is not None:
            if names:
                line.write(f"{', '.join(names)} = ")
            if operator.face is Face.TUPLE and len(names) > 1:
                self._bare_tuple(line, node, self._validity.arguments[item])
            else:
                self.expressions.write(line, node, operator)
        line.marks[start] = (item, 0, line.length)

    def value(self, line: Line, item: ItemId) -> None:
        """A node's expression alone, as a part that stands on a line of its own is assigned."""
        self.expressions.write(line, self._graph.nodes[item], self._validity.operators[item])

    def head(self, line: Line, block: Block) -> tuple[str, str]:
        """The head of a block with its colon; also its expression, and the loop variable."""
        start = line.length
        place = len(line.marks)
        line.marks.append((block.id, start, start))
        variable = ""
        match block.kind:
            case "for" if block.endless:
                self._while(line, block)
                begin = len(line.pieces)
            case "for" if (condition := self._condition(block)) is not None:
                begin = len(line.pieces) + 1
                self._if(line, condition)
            case "for":
                variable = self.references.variable(block.id)
                self._loop_target(line, block.id, variable)
                begin = len(line.pieces)
                self._iterable(line, block)
            case "if":
                line.write("if ")
                begin = len(line.pieces)
                self._arguments.argument(line, block, self._validity.arguments[block.id][0])
            case _:
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
        self._values.source(line, item, port, TUPLE)
        return line.text

    def target(self, item: ItemId) -> str:
        """The object that a node writes into, as an expression; "" when it is not wired."""
        port = target_port(self._validity.operators[item])
        return self.text(item, port) if (item, port) in self._graph.wires else ""

    def is_target(self, item: ItemId, port: str) -> bool:
        """Whether the port is what `+=` writes into, where a part is printed in place in a traced run too."""
        return self.expressions.operands.is_target(item, port)

    def _bare_tuple(self, line: Line, node: Node, printed: Sequence[Argument]) -> None:
        argument = printed[0]
        if argument.split and len(argument.paths) > 1:
            self._arguments.elements(line, node, argument)
        elif (node.id, argument.paths[0]) in self._graph.wires:
            self._values.value(line, node, argument.paths[0], Kind.ANY)  # `B, T = x.shape`
        else:
            text = Line()
            self.expressions.write(text, node, self._validity.operators[node.id])
            line.write(text.text)

    def _augmented(self, line: Line, node: Node, operator: Operator) -> None:
        a, b = self._validity.arguments[node.id]
        self._values.value(line, node, a.paths[0], Kind.ANY, PRIMARY)
        line.write(f" {operator.symbol} ")
        self._values.value(line, node, b.paths[0], b.parameter.kind)

    def _set_item(self, line: Line, node: Node, operator: Operator) -> None:
        a, index, value = self._validity.arguments[node.id]
        self._values.value(line, node, a.paths[0], Kind.ANY, PRIMARY)
        self._arguments.index(line, node, index)
        line.write(" = ")
        self._values.value(line, node, value.paths[0], value.parameter.kind)

    def _set_attribute(self, line: Line, node: Node, operator: Operator) -> None:
        printed = self._validity.arguments[node.id]
        self._values.value(line, node, printed[0].paths[0], Kind.ANY, PRIMARY)
        line.write(f".{operator.symbol or attribute_of(node)} = ")
        self._values.value(line, node, printed[-1].paths[0], printed[-1].parameter.kind)

    def _code(self, line: Line, node: Node, operator: Operator) -> None:
        wires = self._graph.wires_to(node.id)
        brought = {wire.port.removeprefix(READ): self.references.read(wire) for wire in wires}
        self.imports.update(imports_needed(node, self._graph.header))
        code = renamed_code(code_of(node), new_names(node, brought, self.references.bound(node.id)))
        here = {one.name: self._bodies[one.name] for one in body_places(code) if one.name in self._graph.definitions}
        for body in here.values():
            self.imports.update(body.imports - code_names(node).surely)
        line.write(with_bodies(code, {name: body.lines for name, body in here.items()}))

    def _set_path(self, line: Line, node: Node, operator: Operator) -> None:
        text, module = spelled_path(operator.path.removesuffix("="))
        self.imports.add(module)
        line.write(f"{text} = ")
        self._values.value(line, node, operator.parameters[0].name, Kind.ANY)

    def _assert(self, line: Line, node: Node, operator: Operator) -> None:
        line.write("assert ")
        condition, *message = self._validity.arguments[node.id]
        self._values.value(line, node, condition.paths[0], Kind.ANY, CONDITIONAL)
        for argument in message:
            line.write(", ")
            self._values.value(line, node, argument.paths[0], Kind.ANY, CONDITIONAL)

    def _condition(self, block: Block) -> Node | None:
        """What decides on the one turn of ``for _ in range(bool(c))`` that a person would write as an ``if``.

        It calls what binds nothing, and is read as that loop again; in a traced run its one turn is counted as such.
        In a part of code it is every such loop: an `if` that is no choice between values was typed there.
        """
        wire = self._graph.wires.get((block.id, "range.0"))
        made = self._graph.nodes.get(wire.source) if wire is not None else None
        if not self._has_ifs or wire is None or made is None or made.operator != ONCE or self.references.read(wire):
            return None
        is_one = block.variable in ("", "_") and block.lengths.get("range") == 1
        is_chosen = (made.id, ONCE_PORT) in self._graph.wires
        body = self._graph.bodies[BodyId(block.id)]
        if self._is_body:  # an `if` that holds code alone is read as code
            return made if is_one and is_chosen and not all(is_code_at(self._graph, item) for item in body) else None
        is_one = is_one and not block.carried
        is_more = not all(item in self._graph.nodes and self._graph.nodes[item].operator == PRINT for item in body)
        return made if is_one and is_chosen and is_more and all(map(self._only_calls, body)) else None

    def _only_calls(self, item: ItemId) -> bool:
        """Whether a statement is a call that binds nothing."""
        node, operator = self._graph.nodes.get(item), self._validity.operators.get(item)
        if node is None or operator is None or node.bypassed or not self._validity.is_live(item):
            return False
        return operator.face in CALLS and not self.references.bound(item)

    def _if(self, line: Line, condition: Node) -> None:
        line.write("if ")
        place = len(line.marks)
        line.marks.append((condition.id, line.length, line.length))
        start = line.length
        self._values.source(line, condition.id, ONCE_PORT, TUPLE)
        line.marks[place] = (condition.id, start, line.length)

    def _loop_target(self, line: Line, block: ItemId, variable: str) -> None:
        """``for … in``, up to what is gone over."""
        line.write("for ")
        target = self.references.targets.get(block)
        if target is None:
            line.write(variable)
        else:
            self._target(line, target)
        line.write(" in ")

    def _while(self, line: Line, block: Block) -> None:
        line.write("while ")
        item = self.references.conditions.get(block.id)
        if item is None:
            line.write(ALWAYS)
            return
        code = Line()
        self.statement(code, item)
        start = line.length
        line.write(condition_in(code.text))
        line.marks.append((item, start, line.length))

    def _target(self, line: Line, target: Target, inside: bool = False) -> None:
        """What a loop binds at its head: ``i, (a, b)``."""
        start = line.length
        place = len(line.marks)
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
        printed = self._validity.arguments[block.id]
        if not printed:
            line.write("...")  # incomplete: it stands in a comment
        elif printed[0].parameter.name == "range":
            line.write("range")
            self._arguments.call(line, block, printed[:1])
        else:
            self._arguments.argument(line, block, printed[0])

    def _context(self, line: Line, block: Block) -> None:
        self.imports.add("torch")
        line.write(context_path(block.kind))
        printed = self._validity.arguments[block.id]
        if block.kind == "autocast":
            line.write("(")
            for k, argument in enumerate(printed):
                line.write(f", {argument.parameter.name}=" if k else f"{argument.parameter.name}=")
                self._arguments.argument(line, block, argument)
            line.write(")")
        else:
            self._arguments.call(line, block, printed)


_STATEMENTS = {
    Face.AUGMENTED: StatementPrinter._augmented,
    Face.SET_ITEM: StatementPrinter._set_item,
    Face.SET_ATTRIBUTE: StatementPrinter._set_attribute,
    Face.SET_PATH: StatementPrinter._set_path,
    Face.ASSERT: StatementPrinter._assert,
    Face.CODE: StatementPrinter._code,
}
