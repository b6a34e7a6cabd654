"""The scalars around a node, to stand in its formula: operands, literals and the result. No widgets."""

import math
from collections.abc import Callable
from typing import NamedTuple

from gradstudio.advice.derivatives import local_rules
from gradstudio.advice.derivatives.local_rules import InputRule, LocalRule
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.ports.item_ports import input_ports, operator_of
from gradstudio.protocol.messages.records import PlainRecord, Record, TensorRecord
from gradstudio.scene import value_format

Outputs = Callable[[ItemId], tuple[Record, ...] | None]


class Operands(NamedTuple):
    """What is known of a node's operands.

    Attributes:
        numbers: scalar operands, literals and the result ("y") by parameter; n for the losses.
        constants: wired parameters whose value requires no gradient: nothing leaves along them.
    """

    numbers: dict[str, float]
    constants: frozenset[str] = frozenset()

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


def operands_of(graph: Graph, item: ItemId, outputs: Outputs) -> Operands:
    """The operands of a node, from the records of what feeds it."""
    operator = operator_of(graph, item) if item in graph.nodes else None
    if operator is None:
        return Operands({})
    numbers: dict[str, float] = {}
    constants: set[str] = set()
    for parameter in operator.parameters:
        literal = graph.nodes[item].literals.get(parameter.name, parameter.default or "")
        _put(numbers, parameter.name, _parsed(literal))
    for port in input_ports(graph, item):
        wire = graph.wire_into(item, port.path)
        if wire is None:
            if port.path in numbers:
                constants.add(port.path)
            continue
        record = _at(outputs(wire.source), wire.output)
        _put(numbers, port.path, scalar(record))
        if isinstance(record, TensorRecord) and not record.requires_grad:
            constants.add(port.path)
        if port.path == operator.parameters[0].name and isinstance(record, TensorRecord):
            numbers["n"] = _averaged(graph, item, record)
    _put(numbers, "y", scalar(_at(outputs(item), 0)))
    return Operands(numbers, frozenset(constants))


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
