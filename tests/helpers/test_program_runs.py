"""A program is run as Python runs a file, each by itself."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.program_runs import End, ProgramRuns


@pytest.fixture(scope="module")
def python() -> Iterator[ProgramRuns]:
    with ProgramRuns() as runs:
        yield runs


def test_each_is_the_main_module_in_its_folder_and_leaves_the_next_nothing(tmp_path: Path, python: ProgramRuns) -> None:
    text = "import os, sys, torch\nprint(__name__, os.getcwd(), sys.argv, hasattr(torch, 'mark'))\ntorch.mark = 1\n"
    for _ in range(2):
        assert python.printed(text, tmp_path) == f"__main__ {tmp_path} ['program.py'] False\n"


@pytest.mark.parametrize(
    ("text", "said"), [("print(1)\n1 / 0\n", "ZeroDivisionError"), ("exit(3)\n", "ended with code 3")]
)
def test_one_that_fails_is_said_with_its_words(text: str, said: str, tmp_path: Path, python: ProgramRuns) -> None:
    with pytest.raises(AssertionError, match=said):
        python.printed(text, tmp_path)


@pytest.mark.parametrize(("text", "code", "said"), [("exit(3)", 3, ""), ("exit('no')", 1, "no\n"), ("exit()", 0, "")])
def test_one_that_ends_itself_ends_as_python_does(
    text: str, code: int, said: str, tmp_path: Path, python: ProgramRuns
) -> None:
    assert python.end(text, tmp_path) == End(code, said)


def test_several_run_beside_one_another(tmp_path: Path, python: ProgramRuns) -> None:
    """Each opens a pipe that the other holds: none would come to its end alone."""
    os.mkfifo(tmp_path / "there")
    os.mkfifo(tmp_path / "back")
    text = """import os, sys
way = os.environ["WAY"]
first, second = [("r", "w"), ("w", "r")][way == "1"]
with open("../there", first) as one, open("../back", second) as other:
    if way == "0":
        print(one.read(2))
    else:
        one.write("hi")
print("no result", file=sys.stderr)
exit(int(way))
"""
    ends = python.end_together(text, tmp_path, [{"WAY": "0"}, {"WAY": "1"}])
    assert ends == [End(0, "hi\n"), End(1, "")]
