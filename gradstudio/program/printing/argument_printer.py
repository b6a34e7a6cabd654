"""Arguments: what stands between the parentheses of a call, and between the brackets of an index."""

from collections.abc import Sequence

from gradstudio.graph.model import DOCUMENT_DEVICE, Block, ItemId, Node, Wire
from gradstudio.graph.ports.arguments import Argument
from gradstudio.graph.text.conditionals import read_conditional
from gradstudio.graph.text.literal_text import TUPLE, spell
from gradstudio.operators.catalogue.out_variants import OUT
from gradstudio.operators.model import Face, Kind
from gradstudio.program.printing.logical_line import Line
from gradstudio.program.printing.name_references import References
from gradstudio.program.printing.value_printer import ValuePrinter

_STARRED = frozenset({Kind.TENSORS, Kind.VALUES, Kind.MODULES})
"""What a list that brings all of it is unpacked into: ``nn.Sequential(*layers)``; sizes are taken whole."""


class ArgumentPrinter:
    """Prints the arguments of nodes and blocks."""

    def __init__(
        self, references: References, values: ValuePrinter, imports: set[str], *, device: bool, traced: bool
    ) -> None:
        """Print for the script, or with every part under its address (`traced`).

        Args:
            references: the names of the program.
            values: prints what is in one port.
            imports: what the printed text needs is added to them.
            device: the script has a line ``device = ...``.
            traced: for a traced run.
        """
        self._references = references
        self._values = values
        self._imports = imports
        self._device = device
        self._traced = traced
        self._graph = references.graph
        self._validity = references.validity

    def call(self, line: Line, owner: Node | Block, printed: Sequence[Argument]) -> None:
        """The parentheses of a call, with its arguments."""
        line.write("(")
        before = line.length
        for argument in printed:
            if argument.parameter.kind is Kind.DEVICE and not self._device and _is_document_device(owner, argument):
                continue
            if line.length > before:
                line.write(", ")
            if argument.keyword:
                line.write(f"{argument.parameter.name}=")
            self.argument(line, owner, argument)
        line.write(")")

    def argument(self, line: Line, owner: Node | Block, argument: Argument) -> None:
        """The value of one argument, without its name."""
        parameter = argument.parameter
        spreads = parameter.variadic and not argument.keyword
        if not argument.split:
            if spreads:
                self._spread(line, owner, argument)
            else:
                self._values.value(line, owner, argument.paths[0], parameter.kind)
        elif spreads and (argument.paths or parameter.kind is not Kind.SHAPE):
            self.elements(line, owner, argument)
        elif parameter.kind is Kind.SHAPE or parameter.name == OUT or self._is_call(owner):  # ``lstm(x, hx=(h, c))``
            line.write("(")
            self.elements(line, owner, argument)
            line.write(",)" if len(argument.paths) == 1 else ")")
        else:
            line.write("[")
            self.elements(line, owner, argument)
            line.write("]")

    def elements(self, line: Line, owner: Node | Block, argument: Argument) -> None:
        """The values of a list whose every element has a port."""
        for k, path in enumerate(argument.paths):
            if k:
                line.write(", ")
            self._values.value(line, owner, path, argument.parameter.kind)

    def index(self, line: Line, node: Node, argument: Argument) -> None:
        """What stands behind a value in brackets."""
        line.write("[")
        if argument.split and not argument.paths:
            line.write("()")
        else:
            self.elements(line, node, argument)
        line.write("]")

    def _spread(self, line: Line, owner: Node | Block, argument: Argument) -> None:
        """A list that comes whole, given to a variadic argument: a name, a call, a literal."""
        parameter = argument.parameter
        wire = self._graph.wires.get((owner.id, parameter.name))
        if wire is None:
            literal = owner.literals.get(argument.paths[0], "")
            is_free = isinstance(owner, Block) or owner.positional is None or parameter.kind is Kind.VALUES
            if is_free and literal.startswith("("):
                self._without_parentheses(line, literal)
                return
        elif self._is_display(wire):
            self._without_brackets(line, owner.id, parameter.name)
            return
        elif parameter.kind in _STARRED or self._is_lazy(wire):
            line.write("*")
        self._values.value(line, owner, argument.paths[0], parameter.kind)

    def _without_parentheses(self, line: Line, literal: str) -> None:
        """A tuple given to a variadic argument: ``torch.zeros(2, 3)``."""
        spelled = spell(literal)
        self._imports.update(spelled.modules)
        if spelled.elements and spelled.text.startswith("("):
            line.write(", ".join(spelled.elements))
        else:
            line.write(spelled.text)

    def _is_lazy(self, wire: Wire) -> bool:
        """Whether it is `range(n)` or `reversed(xs)`, which torch does not take as a size."""
        operator = self._validity.operators.get(wire.source)
        return operator is not None and operator.key in ("builtins.range", "builtins.reversed")

    def _is_display(self, wire: Wire) -> bool:
        """Whether a part is printed here that is a list with stars: ``*sizes, 2`` between the parentheses."""
        node = self._graph.nodes.get(wire.source)
        operator = self._validity.operators.get(wire.source)
        if self._traced or node is None or operator is None or operator.face is not Face.CHOICE:
            return False
        found = read_conditional(node.literals.get(operator.parameters[0].name, ""))
        return found.is_display and found.text.startswith("[") and not self._references.read(wire)

    def _without_brackets(self, line: Line, item: ItemId, port: str) -> None:
        """A part that is a list, without its brackets."""
        pieces = len(line.pieces)
        marks = len(line.marks)
        start = line.length
        self._values.source(line, item, port, TUPLE)
        line.pieces[pieces] = line.pieces[pieces][1:]
        line.pieces[-1] = line.pieces[-1][:-1]
        line.length -= 2
        # all that was just written stands one to the left; the list itself lost a character at both ends
        line.marks[marks:] = [
            (part, max(start, first - 1), min(line.length, last - 1)) for part, first, last in line.marks[marks:]
        ]

    def _is_call(self, owner: Node | Block) -> bool:
        operator = self._validity.operators.get(owner.id)
        return operator is not None and operator.face is Face.CALL


def _is_document_device(owner: Node | Block, argument: Argument) -> bool:
    """Whether an argument names the document's device, which a script without such a line leaves to torch."""
    return owner.literals.get(argument.paths[0]) == DOCUMENT_DEVICE
