"""What the search offers before and while somebody types."""

import pytest

from gradstudio.operators.search.filters import read
from gradstudio.scene.edit.search_suggestions import Wanted, complete_condition, hint, nearest, suggestions_for


def keys(typed: str, wanted: Wanted | None = None, recent: tuple[str, ...] = ()) -> list[str]:
    return [find.operator.key for find in suggestions_for(wanted or Wanted(), read(typed), recent, ())]


def test_before_words_suggestions_come_first_then_what_was_used_last() -> None:
    found = keys("", Wanted(first=("torch.exp",), why="often"), recent=("torch.relu",))
    assert found[:2] == ["torch.exp", "torch.relu"]


def test_words_find_and_what_cannot_stand_there_is_left_out() -> None:
    assert keys("matmul")[0] == "torch.matmul"
    only = Wanted(fits=lambda operator: operator.key == "torch.mm")
    assert set(keys("matmul", only)) <= {"torch.mm"}


@pytest.mark.parametrize(
    ("word", "first"),
    [
        ("linear", "torch.nn.Linear"),
        ("Conv2d", "torch.nn.Conv2d"),
        ("dropout", "torch.nn.Dropout"),
        ("relu", "torch.nn.functional.relu"),
        ("mse_loss", "torch.nn.functional.mse_loss"),
    ],
)
def test_a_layer_comes_before_the_function_that_would_have_to_be_given_its_weights(word: str, first: str) -> None:
    assert keys(word, recent=(f"torch.nn.functional.{word.lower()}",))[0] == first


def test_a_condition_at_the_end_is_offered_and_written_out() -> None:
    assert hint("cat:los", read("cat:los")).startswith("Tab: ")
    assert complete_condition("cat:los").lower().startswith("cat:los")
    assert complete_condition("relu") == ""


def test_what_is_nearest_to_a_slip_is_found() -> None:
    assert "torch.relu" in [find.operator.key for find in nearest(Wanted(), read("reluu"))]
