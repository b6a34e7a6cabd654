"""Programs that are run by Python itself."""

from collections.abc import Iterator

import pytest

from tests.helpers.program_runs import ProgramRuns


@pytest.fixture(scope="module")
def python() -> Iterator[ProgramRuns]:
    """Runs programs, each in a process of its own."""
    with ProgramRuns() as runs:
        yield runs
