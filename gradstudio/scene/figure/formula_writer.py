"""A statement as mathematics: ``y_hat = W @ x + b`` is ŷ = W x + b; parts stand within, as in the text. No Qt."""

from collections.abc import Iterable
from typing import Final

from gradstudio.graph.card_grouping import CALL, CALLED
from gradstudio.graph.model import DEFINITION_INPUTS, Graph, ItemId, Wire
from gradstudio.graph.ports.item_ports import Port, input_ports, operator_of
from gradstudio.graph.text.item_titles import EDGES, title
from gradstudio.operators.model import Face, Kind, Operator
from gradstudio.scene.figure import formula_table as table
from gradstudio.scene.figure.drawing import Formula, Run, flat, upright
from gradstudio.scene.figure.formula_table import ATOM, COMPARE, POWER, PRODUCT, SIGN, SUM
from gradstudio.scene.figure.literal_formula import Term, literal_term, power
from gradstudio.scene.figure.literal_formula import within as _within
from gradstudio.scene.figure.math_symbols import lowered, number, raised, symbol

DEEPEST: Final = 12
"""Parts within parts that are written out; what is deeper is "…"."""
MOST_ARGUMENTS: Final = 4
MOST_LETTERS: Final = 12
"""Of a literal; a longer one is "…"."""
SILENT: Final = frozenset({Kind.DEVICE, Kind.DTYPE, Kind.BOOL, Kind.LAYOUT, Kind.MEMORY_FORMAT, Kind.GENERATOR})
"""Arguments that a formula does not say."""
UNSAID: Final = frozenset({"dim", "keepdim"})


DOTS: Final = Term(upright("…"))


class FormulaWriter:
    """Writes the statements of a graph.

    Args:
        graph: the program.
        arrays: outputs that are known to have dimensions: their products are ⊙.
    """

    def __init__(self, graph: Graph, arrays: frozenset[tuple[ItemId, int]] = frozenset()) -> None:
        """Nothing is written yet."""
        self._graph, self._arrays = graph, arrays

    def statement(self, item: ItemId, depth: int = DEEPEST) -> Formula:
        """The statement of an item: its names, "=" and what they are; a leaf or data is its name alone."""
        node = self._graph.nodes[item]
        names = [name for name in node.names if name != "_"]
        operator = operator_of(self._graph, item)
        wired = any(port.state == "wired" for port in input_ports(self._graph, item))
        if names and not wired and not (operator is not None and operator.face is Face.LITERAL):
            return _joined([symbol(name) for name in names])
        right = self._expression(item, depth).formula
        if names and operator is not None and _word(operator) in table.COMPARISONS:
            right = _bracketed(right)
        return (*_joined([symbol(name) for name in names]), Run(" = "), *right) if names else right

    def detail(self, item: ItemId) -> Formula:
        """What stands below a call of a module: the layer and its sizes."""
        node = self._graph.nodes[item]
        wire = self._graph.wires.get((item, CALLED)) if node.operator == CALL else None
        module = self._graph.nodes.get(wire.source) if wire is not None else None
        operator = operator_of(self._graph, module.id) if module is not None else None
        if module is None or operator is None or not module.names:
            return ()
        literals = [port.literal for port in input_ports(self._graph, module.id) if _is_said(port)]
        return upright(f"{operator.title}({', '.join(literals)})" if literals else operator.title)

    # ------------------------------------------------------------------ inner workings

    def _expression(self, item: ItemId, depth: int) -> Term:
        operator = operator_of(self._graph, item)
        if depth <= 0:
            return DOTS
        if operator is None:
            return Term(upright(title(self._graph, item)))
        word = _word(operator)
        ports = {port.path: port for port in input_ports(self._graph, item)}
        given = [port for port in ports.values() if port.state == "wired" or _is_said(port, word in table.BIG)]
        special = self._special(item, operator, word, given, depth)
        return special if special is not None else self._function(item, operator, word, given, depth)

    def _special(self, item: ItemId, operator: Operator, word: str, given: list[Port], depth: int) -> Term | None:
        """What mathematics writes otherwise than as a function of arguments."""
        operands = [self._operand(item, port, depth - 1) for port in given]
        match operands:
            case []:
                return None
            case [one]:
                return self._of_one(operator, word, one)
            case [one, *others]:
                if operator.face in (Face.SET_ATTRIBUTE, Face.SET_ITEM):
                    return self._set(item, operator, operands)
                if operator.face is Face.ITEM:
                    index = _joined([other.formula for other in others])
                    return Term((*_within(one, ATOM), *lowered(index)), POWER)
                if word == "linear":
                    weighted = (*_within(one, PRODUCT), Run(" "), *_within(others[0], POWER), Run("⊤", level=1))
                    bias = (Run(" + "), *_within(others[1], SUM)) if len(others) > 1 else ()
                    return Term((*weighted, *bias), SUM if bias else PRODUCT)
                if word in table.SWAPPING and {flat(other.formula) for other in others} == {"−2", "−1"}:
                    return _transposed(one)
                if len(others) == 1:
                    return self._of_two(item, word, one, others[0])
                return one if word in table.PASSING else None
        return None

    def _set(self, item: ItemId, operator: Operator, operands: list[Term]) -> Term:
        """What is written into an attribute or into items: ∇w ← None, w_0 ← 3."""
        owner, *inner, value = operands
        into = (*_within(owner, ATOM), *lowered(_joined([index.formula for index in inner])))
        if operator.face is Face.SET_ATTRIBUTE:
            name = operator.symbol or self._graph.nodes[item].literals.get("name", "")
            written = Run("∇"), *lowered(owner.formula)
            into = written if name == "grad" else (*_within(owner, ATOM), *upright(f".{name}"))
        return Term((*into, Run(" ← "), *value.formula), COMPARE)

    def _of_one(self, operator: Operator, word: str, one: Term) -> Term | None:
        if word in table.PASSING:
            return one
        if word in table.TRANSPOSING:
            return _transposed(one)
        if word in table.FENCES:
            left, right = table.FENCES[word]
            return Term((Run(left), *one.formula, Run(right)))
        if word in table.POWERS:
            return Term((*_within(one, ATOM), Run(table.POWERS[word], level=1)), POWER)
        if word in table.BIG:
            return Term((Run(table.BIG[word] + " "), *_within(one, PRODUCT)), PRODUCT)
        if word == "sqrt":
            return Term((Run("√"), *_within(one, ATOM)), SIGN)
        if word == "neg":
            return Term((Run("−"), *_within(one, PRODUCT)), SIGN)
        if word == "backward":
            return Term((Run("∇ "), *_within(one, ATOM)), SIGN)
        if word == "grad" and operator.face is Face.ATTRIBUTE:
            return Term((Run("∇"), *lowered(one.formula)), POWER)
        return None

    def _of_two(self, item: ItemId, word: str, one: Term, other: Term) -> Term | None:
        if word == "pow":
            return power(one, other.formula)
        if word == "ipow":
            return Term((*one.formula, Run(" ← "), *_within(one, ATOM), *raised(other.formula)), COMPARE)
        base = table.IN_PLACE.get(word) or table.WRITTEN_IN_PLACE.get(word)
        if base is not None:
            return Term((*one.formula, Run(" ← "), *self._joined_by(item, base, one, other).formula), COMPARE)
        if word in table.INFIX:
            return self._joined_by(item, word, one, other)
        if word in table.BIG:
            return Term((Run(table.BIG[word]), *lowered(other.formula), Run(" "), *_within(one, PRODUCT)), PRODUCT)
        if word in table.PASSING:
            return one
        return None

    def _joined_by(self, item: ItemId, word: str, one: Term, other: Term) -> Term:
        """Two operands with a sign between; the right one of what is not associative is bracketed sooner."""
        sign = table.INFIX[word]
        text = sign.text
        if word in ("mul", "multiply"):
            text = self._product_sign(item, one, other)
        if word == "eq":  # a bare one would read as a second "=" of the statement, or as a keyword
            return Term(_bracketed((*_within(one, SUM), Run(text), *_within(other, SUM))))
        strict = word in ("sub", "div", "truediv", "mod")
        right = _within(other, sign.precedence + (1 if strict else 0))
        return Term((*_within(one, sign.precedence), Run(text), *right), sign.precedence)

    def _product_sign(self, item: ItemId, one: Term, other: Term) -> str:
        """A number stands directly before a variable; two arrays are multiplied element by element."""
        sources = [(wire.source, wire.output) for wire in self._graph.wires_to(item)]
        if len(sources) == 2 and all(source in self._arrays for source in sources):
            return " ⊙ "
        is_number = all(not run.is_italic and run.text[-1:].isdigit() for run in one.formula)
        first = other.formula[0] if other.formula else Run("")
        starts_with_letter = first.is_italic or first.text[:1] in ("∇", *table.BIG.values())
        return " " if is_number and starts_with_letter else " · "

    def _function(self, item: ItemId, operator: Operator, word: str, given: list[Port], depth: int) -> Term:
        if operator.face in (Face.LITERAL, Face.ALIAS, Face.TUPLE) and given:
            return Term(_joined([self._operand(item, port, depth - 1).formula for port in given]))
        wanted = given[:MOST_ARGUMENTS]
        if operator.face is Face.CALL:
            name = self._operand(item, wanted[0], depth - 1).formula if wanted else upright("call")
            wanted = wanted[1:]
        elif operator.face in (Face.LIST, Face.FORMAT):
            name = ()
        else:
            name = upright(table.NAMES.get(word, _spoken(operator)))
        arguments = [self._argument(item, port, depth - 1) for port in wanted]
        if len(given) > MOST_ARGUMENTS:
            arguments.append(upright("…"))
        return Term((*name, Run("("), *_joined(arguments), Run(")")))

    def _argument(self, item: ItemId, port: Port, depth: int) -> Formula:
        """What a function is given; sizes as the numbers they are: ``randn(4, 8)``."""
        sizes = port.literal.strip() if port.state == "literal" and port.parameter.kind is Kind.SHAPE else ""
        if sizes[:1] in ("(", "[") and len(sizes) <= MOST_LETTERS + 2:
            return number(sizes[1:-1].rstrip(", "))
        return self._operand(item, port, depth).formula

    def _operand(self, item: ItemId, port: Port, depth: int) -> Term:
        wire = self._graph.wire_into(item, port.path)
        if wire is None:
            return _literal(port.literal)
        name = self._name_of(wire)
        if name:
            return Term(symbol(name))
        operator = operator_of(self._graph, wire.source)
        if operator is None:
            return DOTS
        target = next((one for one in input_ports(self._graph, wire.source) if one.path in operator.writes), None)
        if target is not None and depth > 0:  # a value after a write in place has the name of what was written into
            return self._operand(wire.source, target, depth - 1)
        return self._expression(wire.source, depth)

    def _name_of(self, wire: Wire) -> str:
        """The variable that a wire brings; "" for a part without a name."""
        graph = self._graph
        node = graph.nodes.get(wire.source)
        if node is not None:
            name = node.names[wire.output] if wire.output < len(node.names) else ""
            return "" if name == "_" else name
        block = graph.blocks.get(wire.source)
        if block is not None:
            names = (block.variable, *block.carried)
            return names[wire.output] if wire.output < len(names) else ""
        return EDGES.get(wire.source, "") if wire.source != DEFINITION_INPUTS else f"input{wire.output + 1}"


def _spoken(operator: Operator) -> str:
    """A function's name without underscores and without what tells its forms apart: ``max pool``."""
    return operator.title.partition(" (")[0].strip("._").replace("_", " ")


def _is_said(port: Port, has_limits: bool = False) -> bool:
    """Whether a literal belongs into a formula; `has_limits`: a sum says over which dimension."""
    parameter = port.parameter
    if parameter.name in UNSAID:
        return port.state == "literal" and has_limits and parameter.name == "dim"
    is_spoken = parameter.kind not in SILENT and not parameter.keyword_only
    return port.state == "literal" and is_spoken


def _word(operator: Operator) -> str:
    """The last word of its path, which tables have as their key."""
    return operator.key.rsplit(".", 1)[-1]


def _transposed(term: Term) -> Term:
    return Term((*_within(term, ATOM), Run("⊤", level=1)), POWER)


def _bracketed(comparison: Formula) -> Formula:
    """Iverson's brackets: 1 where it holds, else 0."""
    return comparison if comparison[0].text == "[" else (Run("["), *comparison, Run("]"))


def _literal(text: str) -> Term:
    term = literal_term(text)
    if term is not None and len(flat(term.formula)) <= MOST_LETTERS:
        return term
    shown = text.strip("'\"").removeprefix("torch.")
    if len(shown) > MOST_LETTERS:
        return DOTS
    negative = shown.startswith("-")
    return Term(number(shown), SIGN if negative else ATOM)


def _joined(parts: Iterable[Formula]) -> Formula:
    found: list[Run] = []
    for part in parts:
        if found:
            found.append(Run(", "))
        found += part
    return tuple(found)
