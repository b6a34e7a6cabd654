"""Hundreds of wrong statements,: what torch says of them is explained."""

import copy
import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional

from gradstudio.advice.explanation import explain_words
from gradstudio.advice.rules.error_rules import RULES
from gradstudio.advice.rules.general_errors import GENERAL
from tests.advice.mistakes import STATEMENTS

UNEXPLAINED = {"copy.deepcopy(r * 2)"}
"""Nobody draws it: a copy of a computed tensor is no operator of the catalogue."""
RUNS = {"torch.add(1, 2)", "nn.Upsample(scale_factor=2, size=4)"}
"""torch takes these after all."""
LEAST_SPECIFIC = 0.93
"""Share of the statements that a rule of their own explains, not a general one."""


def world() -> dict[str, object]:
    torch.manual_seed(0)
    return {
        "torch": torch, "nn": nn, "F": functional, "copy": copy, "x": torch.randn(2, 3), "v": torch.rand(3) + 0.1,
        "w": torch.randn(4, 3), "s": torch.eye(3) * 2, "b": torch.randn(2, 3, 4), "i": torch.tensor([0, 1]),
        "n": torch.tensor([[0, 1, 2], [2, 1, 0]]), "z": torch.randn(2, 3, dtype=torch.complex64),
        "m": torch.tensor([[True, False, True], [False, True, False]]), "p": torch.randn(1, 3, 8, 8),
        "d": torch.randn(2, 3, dtype=torch.float64), "r": torch.ones(3, requires_grad=True),
        "t": torch.ones(2, 5, dtype=torch.int64),
    }  # fmt: skip


def said(text: str) -> tuple[str, str] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(text, world())
        except Exception as error:  # noqa: BLE001 - whatever torch raises is the answer
            return type(error).__name__, str(error)
    return None


@pytest.mark.parametrize("group", sorted({group for group, _ in STATEMENTS}))
def test_what_torch_says_of_usual_mistakes_is_explained(group: str) -> None:
    texts = [text for kind, text in STATEMENTS if kind == group]
    errors = {text: said(text) for text in texts}
    assert {text for text, error in errors.items() if error is None} <= RUNS
    silent = {text for text, error in errors.items() if error is not None and not explain_words(*error).explanation}
    assert silent <= UNEXPLAINED


def test_most_mistakes_have_a_rule_of_their_own() -> None:
    errors = [error for _, text in STATEMENTS if (error := said(text)) is not None]
    own = [rule for rule in RULES if rule not in GENERAL]
    specific = sum(any(rule.match(*error) for rule in own) for error in errors)
    assert specific / len(errors) >= LEAST_SPECIFIC
