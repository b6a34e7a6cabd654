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


@pytest.mark.parametrize(
    ("word", "first", "later"),
    [
        ("lin", ("torch.nn.Linear", "torch.nn.functional.linear"), ("torch.linspace", "numpy.linspace")),
        ("cross", ("torch.nn.functional.cross_entropy",), ("torch.cross", "torch.linalg.cross", "numpy.cross")),
        ("linspace", ("torch.linspace",), ()),
        ("zeros", ("torch.zeros",), ()),
    ],
)
def test_for_a_tensor_comes_first_what_takes_one_and_accepts_its_shape(
    word: str, first: tuple[str, ...], later: tuple[str, ...]
) -> None:
    found = keys(word, Wanted(for_tensor=True, shape=(2, 8)))
    assert tuple(found[: len(first)]) == first
    assert all(found.index(key) >= len(first) for key in later)
    assert sorted(found) == sorted(keys(word)), "nothing is left out"
    assert keys("cross", Wanted(for_tensor=True, shape=(2, 3)))[0] == "torch.cross"
