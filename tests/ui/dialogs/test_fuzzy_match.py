"""A few letters find the line that is meant."""

import pytest

from gradstudio.ui.dialogs.fuzzy_match import fit, fit_words

LINES = ("Zoom in", "Zoom out", "Tidy", "Save as", "Save", "Step out", "Toggle breakpoint", "Restart engine")


def best(typed: str) -> str:
    found = [(made.score, line) for line in LINES if (made := fit(typed, line)) is not None]
    return max(found)[1]


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("save", "Save"),
        ("sa", "Save"),
        ("as", "Save as"),
        ("zo", "Zoom in"),
        ("tb", "Toggle breakpoint"),
        ("break", "Toggle breakpoint"),
        ("tdy", "Tidy"),
        ("RESTART", "Restart engine"),
    ],
)
def test_the_best_line_is_the_one_that_is_meant(typed: str, line: str) -> None:
    assert best(typed) == line


def test_letters_that_are_not_there_fit_nothing() -> None:
    assert fit("xq", "Zoom in") is None
    assert fit("mooz", "Zoom") is None


def test_letters_too_far_from_each_other_fit_nothing() -> None:
    assert fit("ae", "a very long line in the middle") is not None
    assert fit("ge", "Gradcheck of all that was selected, at once") is not None
    assert fit("zn", "Zoom to everything that was drawn") is None


def test_the_letters_meant_are_told() -> None:
    made = fit("out", "Zoom out")
    assert made is not None and made.places == (5, 6, 7)
    scattered = fit("tdy", "Tidy")
    assert scattered is not None and scattered.places == (0, 2, 3)


def test_words_may_fit_what_stands_around() -> None:
    assert fit_words("theme dark", "Dark", "View › Theme") is not None
    assert fit_words("theme dark", "Dark", "View › Hints") is None
    inside, around = fit_words("view", "View", ""), fit_words("view", "Dark", "View")
    assert inside is not None and around is not None and inside.score > around.score
