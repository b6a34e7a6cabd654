"""A program is run as Python runs a file, each by itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.program_runs import ProgramRuns


@pytest.fixture(scope="module")
def python() -> Iterator[ProgramRuns]:
    with ProgramRuns() as runs:
        yield runs


def test_each_is_the_main_module_in_its_folder_and_leaves_the_next_nothing(tmp_path: Path, python: ProgramRuns) -> None:
    text = "import os, sys, torch\nprint(__name__, os.getcwd(), sys.argv, hasattr(torch, 'mark'))\ntorch.mark = 1\n"
    for _ in range(2):
        assert python.printed(text, tmp_path) == f"__main__ {tmp_path} ['program.py'] False\n"


@pytest.mark.parametrize(("text", "said"), [("print(1)\n1 / 0\n", "ZeroDivisionError"), ("exit(3)\n", "SystemExit: 3")])
def test_one_that_fails_is_said_with_its_words(text: str, said: str, tmp_path: Path, python: ProgramRuns) -> None:
    with pytest.raises(AssertionError, match=said):
        python.printed(text, tmp_path)
