"""A law that is held against a table tells every row that breaks it, and passes only when it was held against one."""

import pytest

from tests.helpers.laws import check_each


def is_even(number: int) -> None:
    assert number % 2 == 0


def test_what_holds_everywhere_passes() -> None:
    check_each([("two", 2), ("four", 4)], is_even)


def test_every_row_that_breaks_it_is_named_with_its_reason() -> None:
    with pytest.raises(pytest.fail.Exception) as failed:
        check_each([("one", 1), ("two", 2), ("three", 3)], is_even)
    words = str(failed.value)
    assert "2 of 3 rows" in words
    assert "one: assert (1 % 2) == 0" in words or "one: AssertionError" in words
    assert "three:" in words
    assert "two:" not in words


def test_another_exception_breaks_it_too_and_the_next_rows_are_still_asked() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"(?s)zero: ZeroDivisionError.*nought: ZeroDivisionError"):
        check_each([("zero", 0), ("one", 1), ("nought", 0)], lambda number: 1 / number)


def test_a_missing_refusal_inside_it_counts() -> None:
    def refuses(text: str) -> None:
        with pytest.raises(ValueError):
            int(text)

    with pytest.raises(pytest.fail.Exception, match="1 of 2 rows"):
        check_each([("a word", "x"), ("a number", "1")], refuses)


def test_a_table_without_rows_is_no_law() -> None:
    with pytest.raises(AssertionError, match="without rows"):
        check_each([], is_even)
