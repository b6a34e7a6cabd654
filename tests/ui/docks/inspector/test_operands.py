"""The figures of what leaves a node: the rule with the numbers in it, and what torch sent."""

import pytest

from gradstudio.advice.derivatives.local_rules import rule_of
from gradstudio.operators.catalogue.loader import load
from gradstudio.protocol.messages.records import Summary
from gradstudio.ui.docks.inspector.operands import Operands, small_text


def summary(value: object) -> Summary:
    shape = (len(value),) if isinstance(value, list) else ()
    shape = (1, 1) if shape and isinstance(value[0], list) else shape  # type: ignore[index]  # a list
    return Summary(dtype="float32", shape=shape, value=value)


def figures(key: str, parameter: str, operands: Operands, arrived: object, sent: object) -> str:
    rule = rule_of(load()[key])
    assert rule is not None
    part = rule.input(parameter)
    assert part is not None
    return operands.figures(rule, part, summary(arrived), summary(sent))


@pytest.mark.parametrize(
    ("key", "parameter", "numbers", "arrived", "sent", "text"),
    [
        ("operator.mul", "a", {"a": 5.0, "b": 3.0}, 16.0, 48.0, "16 · 3 = 48"),
        ("operator.mul", "b", {"a": -5.0, "b": 3.0}, 2.0, -10.0, "2 · (-5) = -10"),
        ("torch.exp", "input", {"input": 0.0, "y": 1.0}, 4.0, 4.0, "4 · 1 = 4"),
        ("operator.add", "a", {"a": 1.0, "b": 2.0}, 4.0, 4.0, "4"),
        ("operator.mul", "a", {"a": 5.0}, 16.0, 48.0, "48"),
        ("operator.mul", "a", {"a": 5.0, "b": 4.0}, 16.0, 48.0, "48"),
        ("operator.pow", "a", {"a": 2.044, "b": 2.0}, 1.0, 4.0873, "1 · 2 · 2.044^(2 − 1) ≈ 4.087"),
        ("torch.mean", "input", {"n": 2.0}, 3.0, [1.5, 1.5], "3 / 2 = [1.5, 1.5]"),
        ("torch.matmul", "input", {}, 3.0, [3.0, 6.0], "[3, 6]"),
    ],
)
def test_numbers_stand_in_the_rule_with_what_was_sent(key, parameter, numbers, arrived, sent, text) -> None:
    assert figures(key, parameter, Operands(numbers), arrived, sent) == text


def test_small_vectors_do_too_and_what_is_summed_or_large_does_not() -> None:
    operands = Operands({}, texts={"a": "[1, 2]", "b": "[3, 4]"})
    assert figures("operator.mul", "a", operands, [10.0, 1.0], [30.0, 4.0]) == "[10, 1] · [3, 4] = [30, 4]"
    assert figures("operator.mul", "a", operands, [10.0, 1.0], 34.0) == "Σ [10, 1] · [3, 4] = 34"
    assert figures("operator.mul", "a", operands, [10.0, 1.0], [[30.0]]) == ""
    assert small_text(summary([1.0] * 5)) == ""
    assert small_text(summary([1.0, "nan"])) == ""
