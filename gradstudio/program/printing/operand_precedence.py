"""Operands: how tightly what is printed in a port binds, and whether a formatter takes it for simple."""

from gradstudio.graph.model import DOCUMENT_DEVICE, Block, ItemId, Node
from gradstudio.graph.text.conditionals import read_conditional
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
    UNARY,
    first_operand,
    is_simple_power,
    spell,
)
from gradstudio.late_pattern import late
from gradstudio.operators.model import Face, Operator
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
_SIMPLE_BOUND = late(r"[-+~]*(?:\d[\w.]*|[^\W\d]\w*|\"[^\"]*\")(?:e-\d+)?")


class Operands:
    """What is known of the operands of one program's nodes before they are printed."""

    def __init__(self, references: References, *, traced: bool) -> None:
        """Of the script, or of a traced run (`traced`), where every part is a name."""
        self._references = references
        self._traced = traced
        self._graph = references.graph
        self._validity = references.validity

    def precedence(self, node: Node, operator: Operator) -> int:
        """How tightly a node's expression binds."""
        match operator.face:
            case Face.INFIX:
                return INFIX[operator.symbol]
            case Face.PREFIX:
                return NOT if operator.symbol == "not " else UNARY
            case Face.CHOICE:
                return read_conditional(node.literals.get(operator.parameters[0].name, "")).precedence
            case Face.LITERAL | Face.ALIAS:
                return self.port_precedence(node, operator.parameters[0].name)
            case _:
                return PRIMARY

    def port_precedence(self, node: Node, port: str) -> int:
        """How tightly what is in a port binds."""
        wire = self._graph.wires.get((node.id, port))
        if wire is None:
            literal = node.literals.get(port, "")
            if not literal or literal == DOCUMENT_DEVICE:
                return PRIMARY
            return spell(literal).precedence
        if self._references.read(wire) or self._traced:
            return PRIMARY
        operator = self._validity.operators[wire.source]
        return self.precedence(self._graph.nodes[wire.source], operator)

    def is_simple_bound(self, owner: Node | Block, path: str) -> bool:
        """Whether a part of a slice needs no spaces around the colon beside it."""
        if (owner.id, path) in self._graph.wires:
            return self.is_simple(owner.id, path, in_power=False)
        return _SIMPLE_BOUND.fullmatch(spell(owner.literals[path]).text) is not None

    def is_simple(self, item: ItemId, port: str, *, in_power: bool) -> bool:
        """Whether a wired value is a name, or `-` upon one; within a power also a dot upon one.

        Of a power within a power only the first operand counts: ``a**b**c`` is one chain.
        """
        while True:
            wire = self._graph.wires.get((item, port))
            if wire is None:
                literal = self._graph.nodes[item].literals.get(port, "")
                return bool(literal) and is_simple_power(first_operand(spell(literal).text))
            if self._references.read(wire) or (self._traced and not self.is_target(item, port)):
                return True
            item = wire.source
            operator = self._validity.operators[item]
            if not self._hands_on(operator, in_power):
                return False
            port = operator.parameters[0].name

    def is_target(self, item: ItemId, port: str) -> bool:
        """Whether the port is what `+=` writes into, which must stay where it is."""
        operator = self._validity.operators.get(item)
        return operator is not None and operator.face is Face.AUGMENTED and port == operator.parameters[0].name

    def _hands_on(self, operator: Operator, in_power: bool) -> bool:
        """Whether an expression is as simple as its first operand."""
        if operator.face in (Face.PREFIX, Face.LITERAL):
            return operator.symbol != "not "
        return in_power and (operator.face is Face.ATTRIBUTE or operator.symbol == "**")
