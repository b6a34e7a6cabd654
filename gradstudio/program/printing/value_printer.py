"""Values: what stands in a port – a name, a part printed in place, a literal, a slice."""

from collections.abc import Callable

from gradstudio.graph.analysis.program_analysis import STATEMENTS_ONLY
from gradstudio.graph.model import DOCUMENT_DEVICE, Block, ItemId, Node
from gradstudio.graph.ports.arguments import SLICE_PARTS, slice_parts
from gradstudio.graph.text.literal_text import TUPLE, spell, spell_index
from gradstudio.graph.text.record_checks import DEVICE_KINDS
from gradstudio.operators.model import Kind, Operator
from gradstudio.program.printing.logical_line import Line
from gradstudio.program.printing.name_references import References
from gradstudio.program.printing.operand_precedence import Operands

MISSING = "..."


class ValuePrinter:
    """Prints what is in a port; what a part printed in place looks like is another's to say."""

    def __init__(
        self,
        references: References,
        operands: Operands,
        imports: set[str],
        write_expression: Callable[[Line, Node, Operator], None],
        *,
        script_values: "Callable[[], ValuePrinter] | None" = None,
    ) -> None:
        """Print for the script, or with every part under its address.

        Args:
            references: the names of the program.
            operands: what is known of what is printed.
            imports: what the printed text needs is added to them.
            write_expression: prints a node's expression.
            script_values: for a traced run, what prints the script's.
        """
        self._references = references
        self._operands = operands
        self._imports = imports
        self._write_expression = write_expression
        self._script_values = script_values
        self._graph = references.graph
        self._validity = references.validity
        self._addresses = references.addresses

    def source(self, line: Line, item: ItemId, port: str, floor: int) -> None:
        """What is wired into a port: its name, or the part printed in place."""
        wire = self._graph.wires[item, port]
        name = self._references.read(wire)
        if name:
            line.write(name)
            return
        source = wire.source
        operator = self._validity.operators[source]
        if operator.face in STATEMENTS_ONLY:
            # the parts of what was written into are gone in a traced run: it is taken once more, as in the script
            values = self._script_values() if self._script_values is not None else self
            values.value(line, self._graph.nodes[source], operator.parameters[0].name, Kind.ANY, floor)
        elif self._script_values is not None and not self._operands.is_target(item, port):
            line.write(self._addresses[source])
        else:
            self._part(line, self._graph.nodes[source], operator, floor)

    def value(self, line: Line, owner: Node | Block, path: str, kind: Kind, floor: int = TUPLE) -> None:
        """One port: wired, or a literal, or the document's device."""
        if (owner.id, path) in self._graph.wires:
            self.source(line, owner.id, path, floor)
        elif kind is Kind.INDEX and (parts := slice_parts(self._graph, owner, path)):
            self._slice(line, owner, path, parts)
        else:
            self._literal(line, owner.literals.get(path, ""), kind, floor)

    def _part(self, line: Line, node: Node, operator: Operator, floor: int) -> None:
        """A node's expression inside another's, in parentheses where it binds less tightly than `floor`."""
        needs_parentheses = self._operands.precedence(node, operator) < floor
        if needs_parentheses:
            line.write("(")
        start = line.length
        place = len(line.marks)
        line.marks.append((node.id, start, start))  # before those of its own parts; its end is known below
        self._write_expression(line, node, operator)
        line.marks[place] = (node.id, start, line.length)
        if needs_parentheses:
            line.write(")")

    def _literal(self, line: Line, literal: str, kind: Kind, floor: int = TUPLE) -> None:
        if not literal:
            line.write(MISSING)
        elif literal == DOCUMENT_DEVICE and kind in DEVICE_KINDS:
            line.write("device")
        else:
            spelled = spell_index(literal) if kind is Kind.INDEX else spell(literal)
            self._imports.update(spelled.modules)
            line.write(f"({spelled.text})" if spelled.precedence < floor else spelled.text)

    def _slice(self, line: Line, owner: Node | Block, path: str, parts: tuple[str, ...]) -> None:
        """``start:stop:step``, spaced as ruff does: by whether every bound is simple."""
        start, stop, step = (f"{path}.{part}" if f"{path}.{part}" in parts else "" for part in SLICE_PARTS)
        gap = "" if all(self._operands.is_simple_bound(owner, part) for part in parts) else " "
        if start:
            self.value(line, owner, start, Kind.INT)
            line.write(gap)
        line.write(":")
        if stop:
            line.write(gap)
            self.value(line, owner, stop, Kind.INT)
        if step:
            line.write(f"{gap if stop else ''}:{gap}")
            self.value(line, owner, step, Kind.INT)
