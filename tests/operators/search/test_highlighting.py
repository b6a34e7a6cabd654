"""The letters of a title that were typed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstudio.operators.search.highlighting import highlight_spans


def letters(typed: str, title: str) -> str:
    return "|".join(title[first:last] for first, last in highlight_spans(typed, title))


@pytest.mark.parametrize(
    ("typed", "title", "what"),
    [
        ("soft", "softmax", "soft"),
        ("soft", "log_softmax", "soft"),
        ("cross ent", "cross_entropy", "cross|ent"),
        ("crossent", "CrossEntropyLoss", "CrossEnt"),
        ("conv 2d", "conv2d", "conv2d"),
        ("F.relu", "relu", "relu"),
        ("entropy cross", "cross_entropy", "cross|entropy"),
        ("sofmax", "softmax", "sof|max"),
        ("repmat", "tile", ""),
        ("+", "+=", "+"),
        ("a @ b", "@", "@"),
        ("", "relu", ""),
    ],
)
def test_what_was_typed_is_marked(typed: str, title: str, what: str) -> None:
    assert letters(typed, title) == what


@given(st.text(max_size=40), st.text(max_size=40))
def test_marks_lie_within_the_title_and_apart(typed: str, title: str) -> None:
    spans = highlight_spans(typed, title)
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(set(edges)) and all(0 <= edge <= len(title) for edge in edges)
