"""The rules are data that must be true: every pattern fills its explanation."""

import re

from gradstudio.advice.explanation import describe_operands, explain, explain_words
from gradstudio.advice.rules.error_rules import RULES
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Failed
from gradstudio.protocol.messages.records import PlainRecord, Summary, TensorRecord
from tests.helpers.laws import check_each


def test_names_are_unique() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_explanations_use_only_groups_of_their_pattern() -> None:
    check_each(((rule.name, rule) for rule in RULES), uses_only_groups_of_its_pattern)


def uses_only_groups_of_its_pattern(rule) -> None:
    groups = set(re.compile(rule.pattern).groupindex)
    used = set(re.findall(r"{(\w+)}", rule.explanation))
    assert used <= groups


def test_every_rule_offers_a_way_out() -> None:
    check_each(((rule.name, rule) for rule in RULES), offers_a_way_out)


def offers_a_way_out(rule) -> None:
    assert rule.fixes and not any("{" in fix for fix in rule.fixes)


def test_shapes_are_named() -> None:
    advice = explain_words("RuntimeError", "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)")
    assert "columns of the left (3)" in advice.explanation


def test_unknown_words_give_no_advice() -> None:
    assert explain_words("RuntimeError", "something else").explanation == ""


def test_operands_are_described_by_dtype_and_shape() -> None:
    tensor = TensorRecord(device="cpu", summary=Summary(dtype="float32", shape=(3,)))
    words = describe_operands((("a", tensor), ("b", PlainRecord(what="number", class_name="int", value=2))))
    assert words == "Here a is float32 [3]."


def test_the_engines_own_refusal_of_a_size_is_known() -> None:
    advice = explain_words("TooLarge", "zeros would take 3.6 TiB; 20.1 GiB are free on cpu. It was not run.")
    assert "not enough memory" in advice.explanation


def failure(message: str) -> Failed:
    tensor = TensorRecord(device="cpu", summary=Summary(dtype="float32", shape=(2, 3)))
    return Failed(
        revision=1,
        node=ItemId("n1"),
        address="y",
        line=1,
        type_name="RuntimeError",
        message=message,
        operands=(("self", tensor), ("other", tensor)),
    )


def test_a_failure_is_explained_with_what_went_into_the_node() -> None:
    advice = explain(failure("mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"))
    assert advice.explanation.endswith("Here self is float32 [2, 3], other is float32 [2, 3].")
    assert advice.fixes


def test_a_failure_that_is_not_known_is_left_to_torchs_own_words() -> None:
    assert explain(failure("something else")).explanation == ""
