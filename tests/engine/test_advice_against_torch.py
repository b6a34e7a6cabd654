"""Each known error is provoked in the installed torch, and must be recognised."""

import pytest

from gradstudio.advice.explanation import explain_words
from gradstudio.advice.rules.error_rules import RULES
from tests.helpers.laws import check_each
from tests.helpers.seeds import seed_torch


def test_torch_still_says_what_the_rule_expects() -> None:
    check_each(((rule.name, rule) for rule in RULES), is_said_by_torch)


def is_said_by_torch(rule) -> None:
    seed_torch(0)
    with pytest.raises(Exception) as raised:
        exec(rule.example, {})
    kind, words = type(raised.value).__name__, str(raised.value)
    assert rule.match(kind, words) is not None, f"{kind}: {words}"
    assert explain_words(kind, words) == rule.match(kind, words)
