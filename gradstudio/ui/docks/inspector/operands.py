"""The scalars around a node, to stand in its formula: operands, literals and the result. No widgets."""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from gradstudio.advice.derivatives import local_rules
from gradstudio.advice.derivatives.local_rules import InputRule, LocalRule
from gradstudio.advice.derivatives.rule_rows import BROADCAST, SPREAD
from gradstudio.graph.model import Graph, ItemId, Wire
from gradstudio.graph.ports.item_ports import input_ports, operator_of
from gradstudio.protocol.messages.records import PlainRecord, Record, Summary, TensorRecord
from gradstudio.scene import value_format

NEARLY = 0.02
"""Figures of four digits give a result that differs by no more; by more, the operands are not those of this step."""
SPOKEN = frozenset({"cos", "sin", "cosh", "sinh", "tanh", "ln", "sign", "where", "else", "e"})
"""Words that may stand in a formula with figures."""
MOST_ELEMENTS = 4
"""So many elements a vector has at most whose figures are written out."""
WentIn = Callable[[Wire], Record | None]
Outputs = Callable[[ItemId], tuple[Record, ...] | None]


class Operands(NamedTuple):
    """What is known of a node's operands.

    Attributes:
        numbers: scalar operands, literals and the result ("y") by parameter; n for the losses.
        constants: wired parameters whose value requires no gradient: nothing leaves along them.
        texts: scalar operands and small vectors by parameter, as they are written.
    """

    numbers: dict[str, float]
    constants: frozenset[str] = frozenset()
    texts: dict[str, str] = {}  # noqa: RUF012 - never changed

    def is_differentiated(self, parameter: str) -> bool:
        """Whether a gradient is asked for with respect to the parameter, as far as is known."""
        return parameter not in self.constants

    def filled_in(self, rule: LocalRule, part: InputRule) -> tuple[str, str]:
        """The rule with numbers in the place of names, and its value; "" for what is not known."""
        if not part.python:
            return "", ""
        letters = {letter: self.numbers[name] for letter, name in rule.names.items() if name in self.numbers}
        value = local_rules.value_at(part.python, {**self.numbers, **letters})
        if value is None:
            return "", ""
        texts = {name: value_format.number(number) for name, number in self.numbers.items()}
        filled, number = local_rules.fill_in(part, texts), value_format.number(float(value))
        return (filled if filled not in (number, part.right) else "", number if part.right != number else "")

    def figures(self, rule: LocalRule, part: InputRule, arrived: Summary, sent: Summary) -> str:
        """What leaves, with its figures: "16 · 3 = 48"; the result alone where the rule is no formula of elements.

        "" for what is large. "≈" where the figures as they are written do not give the result as it is written.

        Args:
            arrived: the gradient that came, sent: the one that torch sent on.
        """
        result, grad = small_text(sent), small_text(arrived)
        formula = part.vjp.partition(" = ")[2].removesuffix(BROADCAST).removesuffix(SPREAD)
        if not result or not grad or not part.python or formula in ("grad", "−grad"):
            return result
        texts = (
            {name: value_format.number(number) for name, number in self.numbers.items()} | self.texts | {"grad": grad}
        )
        filled = local_rules.fill_text(formula, texts)
        if "grad" not in local_rules.names_in(formula) or "∂" in formula or local_rules.names_in(filled) - SPOKEN:
            return result
        mark = _mark(rule, part, texts, sent)
        if not mark:
            return result
        is_sum = sent.shape == () and arrived.shape != ()
        return f"{'Σ ' if is_sum else ''}{filled} {mark} {result}"


def _mark(rule: LocalRule, part: InputRule, texts: Mapping[str, str], sent: Summary) -> str:
    """``=`` where the rule gives what was sent with the figures as they are written, ``≈`` where nearly; else ""."""
    known = {name: _elements(text) for name, text in texts.items()}
    known |= {letter: known[name] for letter, name in rule.names.items() if name in known}
    count, wanted = len(known["grad"]), _elements(small_text(sent))
    given = list[float]()
    for k in range(max(count, len(wanted))):
        one = {name: numbers[min(k, len(numbers) - 1)] for name, numbers in known.items()}
        factor = local_rules.value_at(part.python, one)
        if factor is None:
            return ""
        given.append(one["grad"] * factor)
    pairs = list(zip(given if len(wanted) == len(given) else [sum(given)], wanted, strict=False))
    if all(value_format.number(one) == value_format.number(other) for one, other in pairs):
        return "="
    return "≈" if all(math.isclose(one, other, rel_tol=NEARLY, abs_tol=1e-6) for one, other in pairs) else ""


def _elements(text: str) -> list[float]:
    """The numbers of a text that `small_text` made."""
    return [float(one) for one in text.strip("[]").split(", ")]


def small_text(summary: Summary) -> str:
    """A number, or a vector of a few: "48", "[1, 2]"; "" for anything larger, or not finite."""
    value = summary.value
    if summary.shape == () and isinstance(value, int | float):
        return value_format.number(float(value))
    if len(summary.shape) != 1 or not isinstance(value, list | tuple) or not 0 < len(value) <= MOST_ELEMENTS:
        return ""
    numbers = [value_format.number(float(one)) for one in value if isinstance(one, int | float)]
    return f"[{', '.join(numbers)}]" if len(numbers) == len(value) else ""


def operands_of(graph: Graph, item: ItemId, outputs: Outputs, went_in: WentIn) -> Operands:
    """The operands of a node, from the records of what went into it: a leaf may be another by now."""
    operator = operator_of(graph, item) if item in graph.nodes else None
    if operator is None:
        return Operands({})
    numbers: dict[str, float] = {}
    constants: set[str] = set()
    texts: dict[str, str] = {}
    for parameter in operator.parameters:
        literal = graph.nodes[item].literals.get(parameter.name, parameter.default or "")
        _put(numbers, parameter.name, _parsed(literal))
    for port in input_ports(graph, item):
        wire = graph.wire_into(item, port.path)
        if wire is None:
            if port.path in numbers:
                constants.add(port.path)
            continue
        record = went_in(wire)
        _put(numbers, port.path, scalar(record))
        if isinstance(record, TensorRecord) and (text := small_text(record.summary)):
            texts[port.path] = text
        if isinstance(record, TensorRecord) and not record.requires_grad:
            constants.add(port.path)
        if port.path == operator.parameters[0].name and isinstance(record, TensorRecord):
            numbers["n"] = _averaged(graph, item, record)
    result = _at(outputs(item), 0)
    _put(numbers, "y", scalar(result))
    if isinstance(result, TensorRecord) and (text := small_text(result.summary)):
        texts["y"] = text
    return Operands(numbers, frozenset(constants), texts)


def scalar(record: Record | None) -> float | None:
    """The number of a 0-d tensor or a plain one; None for anything else."""
    match record:
        case TensorRecord(summary=summary) if summary.shape == ():
            value = summary.value
        case PlainRecord(what="number", value=value):
            pass
        case _:
            return None
    return float(value) if isinstance(value, float | int) and math.isfinite(value) else None


def _averaged(graph: Graph, item: ItemId, record: TensorRecord) -> float:
    reduction = graph.nodes[item].literals.get("reduction", '"mean"')
    return float(value_format.element_count(record.summary.shape)) if "mean" in reduction else 1.0


def _at(records: tuple[Record, ...] | None, output: int) -> Record | None:
    return records[output] if records is not None and output < len(records) else None


def _put(numbers: dict[str, float], name: str, value: float | None) -> None:
    if value is not None:
        numbers[name] = value


def _parsed(literal: str) -> float | None:
    try:
        return float(literal)
    except ValueError:
        return None
