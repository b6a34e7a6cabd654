"""The tables of local rules: whole, in the catalogue's names, and readable with numbers filled in."""

import math
import re

import pytest

from gradstudio.advice.derivatives import local_rules
from gradstudio.advice.derivatives.local_rules import LocalRule
from gradstudio.operators.catalogue.loader import load


def rule(key: str) -> LocalRule:
    found = local_rules.rule_of(load()[key])
    assert found is not None
    return found


def test_every_row_is_of_an_operator_of_the_catalogue() -> None:
    known = {operator.key for operator in load()}
    used = {id(row) for key, row in local_rules.table().items() if key in known}
    assert [row.keys for row in local_rules.table().values() if id(row) not in used] == []


def test_at_least_120_operators_have_a_rule() -> None:
    rules = {id(local_rules.table()[op.key]) for op in load() if op.key in local_rules.table()}
    assert len(rules) >= 120


def test_rules_name_parameters_that_the_operator_has() -> None:
    for operator in load():
        found = local_rules.rule_of(operator)
        names = {parameter.name for parameter in operator.parameters}
        if found is not None:
            assert found.inputs, operator.key
            assert {part.parameter for part in found.inputs} <= names
            assert "$" not in "".join((found.forward, *(part.formula + part.vjp for part in found.inputs)))


@pytest.mark.parametrize("key", ["torch.mul", "torch.Tensor.mul", "torch.Tensor.mul_", "operator.mul", "operator.imul"])
def test_spellings_of_one_operator_share_a_rule_in_their_own_names(key: str) -> None:
    first, second = (parameter.name for parameter in load()[key].parameters[:2])
    found = rule(key)
    assert found.source == "derivatives.yaml: mul.Tensor"
    assert found.inputs[0].formula == f"∂y/∂{first} = {second}"
    assert found.inputs[0].vjp == f"grad_{first} = grad · {second}, summed over broadcast dimensions"


def test_sums_are_bracketed_in_the_gradient_that_leaves() -> None:
    assert rule("torch.tanh").inputs[0].vjp == "grad_input = grad · (1 − y²)"
    assert rule("torch.exp").inputs[0].vjp == "grad_input = grad · y"


def test_scalars_stand_in_the_formula_and_give_its_value() -> None:
    power = rule("torch.pow").inputs[0]
    assert local_rules.fill_in(power, {"input": "3", "exponent": "2"}) == "2 · 3^(2 − 1)"
    assert local_rules.value_at(power.python, {"a": 3.0, "b": 2.0}) == 6.0
    division = rule("operator.truediv").inputs[1]
    assert local_rules.fill_in(division, {"a": "-3", "b": "2"}) == "−(-3) / 2²"


def test_a_rule_without_a_value_there_gives_none() -> None:
    assert local_rules.value_at("1 / a", {"a": 0.0}) is None
    assert local_rules.value_at("log(a)", {"a": -1.0}) is None
    assert local_rules.value_at("a * b", {"a": 1.0}) is None


def test_only_arithmetic_is_understood() -> None:
    for text in ("__import__('os')", "a.real", "[a][0]", "(lambda: a)()", "exp(a)(a)"):
        assert local_rules.value_at(text, {"a": 1.0}) is None


def test_ports_of_lists_have_the_rule_of_their_list() -> None:
    cat = rule("torch.cat")
    assert cat.input("tensors.1") is cat.input("tensors") is not None
    assert cat.input("dim") is None


@pytest.mark.parametrize(
    ("module", "function"),
    [
        ("Linear", "linear"),
        ("ReLU", "relu"),
        ("BatchNorm2d", "batch_norm"),
        ("CrossEntropyLoss", "cross_entropy"),
        ("GELU", "gelu"),
    ],
)
def test_a_module_has_the_rule_of_the_function_it_applies(module: str, function: str) -> None:
    assert local_rules.key_of_module(module) == f"torch.nn.functional.{function}"


def test_a_module_of_no_function_has_none() -> None:
    assert local_rules.key_of_module("Sequential") == ""


def test_plain_numbers_and_formulas_agree() -> None:
    sigmoid = rule("torch.sigmoid").inputs[0]
    y = 1 / (1 + math.exp(-0.3))
    assert local_rules.value_at(sigmoid.python, {"a": 0.3, "y": y}) == pytest.approx(y * (1 - y), rel=1e-15)
    assert re.fullmatch(r"0\.57 · \(1 − 0\.57\)", local_rules.fill_in(sigmoid, {"y": "0.57"}))
