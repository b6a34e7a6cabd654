"""The local rules against PyTorch: entries of its derivatives.yaml by name, elementwise formulas by autograd."""

import math
import re
from pathlib import Path

import pytest
import torch
import torchgen

from gradstudio.advice.derivatives import local_rules
from gradstudio.advice.derivatives.local_rules import LocalRule
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Operator
from tests.helpers.laws import check_each
from tests.helpers.seeds import seed_torch

NAMESPACE = {
    **{name: getattr(torch, name) for name in ("exp", "log", "sqrt", "sin", "cos", "sinh", "cosh", "tanh", "erf")},
    **{name: getattr(torch, name) for name in ("floor", "trunc", "abs", "sign", "sigmoid", "digamma", "where")},
    "trigamma": lambda x: torch.polygamma(1, x),
    "log": lambda x: torch.log(torch.as_tensor(x, dtype=torch.float64)),
    "sqrt": lambda x: torch.sqrt(torch.as_tensor(x, dtype=torch.float64)),
    "pi": math.pi,
}
"""What the Python form of a rule may name, here for tensors."""
LITERALS = {
    "alpha": 0.7,
    "value": 1.3,
    "beta": 0.8,
    "delta": 0.6,
    "margin": 1.0,
    "threshold": 0.4,
    "negative_slope": 0.02,
    "min": 0.3,
    "max": 0.7,
    "min_val": 0.3,
    "max_val": 0.7,
}
TOLERANCES = {"torch.nn.functional.hardsigmoid": 1e-7}
"""torch multiplies by one sixth rounded to float32 there."""
ABOVE_ONE = frozenset({"torch.acosh"})
MEAN_OF = 6

ELEMENTWISE = [
    operator
    for operator in load()
    if operator.key in local_rules.table()
    and operator.key.startswith(("torch.", "operator."))
    and ":" not in operator.key
    and not operator.writes
    and not operator.key.startswith(("torch.Tensor.", "torch.nn.BCE"))
    and any(part.python for part in local_rules.table()[operator.key].parts)
    and operator.face != "augmented"
]


def test_every_source_is_an_entry_of_pytorch() -> None:
    text = (Path(torchgen.__file__).parent / "packaged/autograd/derivatives.yaml").read_text(encoding="utf-8")
    entries = set(re.findall(r"^- name: ([\w.]+)\(", text, re.MULTILINE))
    named = {row.source for row in local_rules.table().values() if row.source}
    assert named <= entries


@pytest.mark.filterwarnings("ignore:reduction. 'mean' divides the total loss")
def test_elementwise_formulas_agree_with_autograd() -> None:
    """float64 to 1e-12: the same mathematics in another order of operations."""
    check_each(((operator.key, operator) for operator in ELEMENTWISE), agrees_with_autograd)


def agrees_with_autograd(operator: Operator) -> None:
    seed_torch(0)
    rule = local_rules.rule_of(operator)
    assert rule is not None
    operands = _operands(operator)
    literals = {p.name: LITERALS[p.name] for p in operator.parameters if p.name in LITERALS and p.name not in operands}
    if operator.key == "torch.nn.functional.softplus":
        literals.pop("threshold")  # beyond it the function is a line
    y = _target(operator.key)(*operands.values(), **literals)
    values = {letter: operands[name] for letter, name in rule.names.items() if name in operands}
    for part in rule.inputs:
        if part.python:
            (wanted,) = torch.autograd.grad(
                y, operands[part.parameter], torch.ones_like(y), retain_graph=True, allow_unused=True
            )
            with torch.no_grad():
                got = _evaluated(part.python, {**NAMESPACE, **literals, **values, "y": y, "n": MEAN_OF})
            wanted = torch.zeros_like(got) if wanted is None else wanted
            tolerance = TOLERANCES.get(operator.key, 1e-12)
            torch.testing.assert_close(*torch.broadcast_tensors(got, wanted), rtol=tolerance, atol=tolerance)


def test_plain_numbers_give_what_tensors_give() -> None:
    compared = 0
    for operator in ELEMENTWISE:
        rule = local_rules.rule_of(operator)
        assert rule is not None
        scalars = {letter: 1.6 if operator.key in ABOVE_ONE else 0.3 + 0.2 * k for k, letter in enumerate("abc")}
        known = {**scalars, **LITERALS, "y": 0.45, "n": 6.0}
        tensors = {name: torch.tensor(value, dtype=torch.float64) for name, value in known.items()}
        for part in rule.inputs:
            number = local_rules.value_at(part.python, known) if part.python else None
            if number is not None:
                compared += 1
                assert number == pytest.approx(float(_evaluated(part.python, {**NAMESPACE, **tensors})), rel=1e-12)
    assert compared > 80


def _operands(operator: Operator) -> dict[str, torch.Tensor]:
    rule: LocalRule | None = local_rules.rule_of(operator)
    assert rule is not None
    torch.manual_seed(1)
    named = {part.parameter for part in rule.inputs}
    count = 2 if operator.category == "Losses" else 1
    wanted = [p.name for k, p in enumerate(operator.parameters) if p.name in named or k < count]
    if operator.key == "torch.where":
        wanted = ["condition", "input", "other"]
    low, high = (1.2, 2.2) if operator.key in ABOVE_ONE else (0.1, 0.9)
    shape = (3,) if operator.key == "torch.dot" else (2, 3)
    made = {
        name: (low + (high - low) * torch.rand(shape, dtype=torch.float64)).requires_grad_(name in named)
        for name in wanted
    }
    if operator.word == "prelu":
        made["weight"] = torch.tensor([0.25, 0.5, 0.75], dtype=torch.float64, requires_grad=True)
        made["input"] = torch.tensor([[-0.3, 0.4, -0.5]], dtype=torch.float64, requires_grad=True)
    if operator.key == "torch.nn.functional.hinge_embedding_loss":
        made["target"] = torch.tensor([[1.0, -1.0, 1.0], [-1.0, -1.0, 1.0]], dtype=torch.float64)
    if operator.key == "torch.where":
        made["condition"] = torch.tensor([[True, False, True], [False, True, True]])
    return made


def _target(key: str):  # type: ignore[no-untyped-def]  # a function of torch or of Python's operator module
    import operator as python_operator

    found: object = {"operator": python_operator, "torch": torch}[key.partition(".")[0]]
    for name in key.split(".")[1:]:
        found = getattr(found, name)
    return found


def _evaluated(python: str, names: dict[str, object]) -> torch.Tensor:
    """A formula of our own tables over tensors; plain numbers are spread over the operands."""
    spread = {**names, "where": _where}
    return torch.as_tensor(eval(python, {}, spread), dtype=torch.float64)


def _where(condition: torch.Tensor, yes: object, no: object) -> torch.Tensor:
    return torch.where(
        condition != 0, torch.as_tensor(yes, dtype=torch.float64), torch.as_tensor(no, dtype=torch.float64)
    )
