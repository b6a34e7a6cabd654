"""Holds a law against every row of a table in one test: a thousand rows are no thousand tests."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeVar

import pytest

Row = TypeVar("Row")
NOT_A_FAILURE = (KeyboardInterrupt, pytest.exit.Exception)


def check_each(rows: Iterable[tuple[str, Row]], law: Callable[[Row], object]) -> None:
    """Calls the law with each row, also behind one that breaks it, and fails with all that do.

    Args:
        rows: what a row is called in the report, and the row.
        law: raises what a test would raise when the row breaks it.
    """
    broken, count = [], 0
    for name, row in rows:
        count += 1
        call = pytest.CallInfo.from_call(partial(law, row), "call", NOT_A_FAILURE)
        if call.excinfo is not None:
            broken.append(f"{name}: {call.excinfo.exconly()}")
    assert count, "a law without rows says nothing"
    if broken:
        pytest.fail("\n".join([f"{len(broken)} of {count} rows break the law:", *broken]), pytrace=False)
