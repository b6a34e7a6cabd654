"""Explains a failure: which known error it is, and what can be done."""

import re

from gradstudio.advice.model import Advice
from gradstudio.advice.rules import RULES
from gradstudio.graph.model import Graph
from gradstudio.protocol.messages import Failed
from gradstudio.protocol.records import Record, TensorRecord

MAX_OPERANDS = 4


def explain_words(type_name: str, message: str) -> Advice:
    """Advice for torch's words alone; empty when they are not known."""
    for rule in RULES:
        advice = rule.match(type_name, message)
        if advice is not None:
            return advice
    return Advice()


def explain(failed: Failed, _graph: Graph | None = None) -> Advice:
    """Advice for a failure, with what went into the node that failed."""
    advice = explain_words(failed.type_name, failed.message)
    operands = describe_operands(failed.operands)
    if not advice.explanation or not operands or re.search(r"memory", advice.explanation):
        return advice
    return Advice(f"{advice.explanation} {operands}", advice.fixes)


def describe_operands(operands: tuple[tuple[str, Record], ...]) -> str:
    """Name the tensors that went in: "Here self is float32 (2, 3), other is float32 (2,)"."""
    parts = [
        f"{port} is {record.summary.dtype} {record.summary.shape}"
        for port, record in operands
        if isinstance(record, TensorRecord)
    ]
    return f"Here {', '.join(parts[:MAX_OPERANDS])}." if parts else ""
