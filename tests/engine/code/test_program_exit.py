"""A program that ends itself with a code or words: `run` ends as Python does, and says so."""

import json
from pathlib import Path

import pytest

from gradstudio.cli import main
from tests.helpers.program_runs import End, ProgramRuns

ENDS = (
    "sys.exit(3)",
    "raise SystemExit(4)",
    "exit(5)",
    "quit()",
    "sys.exit('no data')",
    "sys.exit('1')",
    "sys.exit(-1)",
)
WITHIN = "def leave():\n    with open(__file__):\n        {}\n\n\nleave()"
HEAD = "import sys\nimport torch\n\nx = torch.ones(2)\n"


TEXTS = [f"{HEAD}{end}\ny = x * 2\n" for end in (*ENDS, WITHIN.format("sys.exit(6)"))]


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> list[End]:
    """The code and the words of each, by Python."""
    folder = tmp_path_factory.mktemp("ends")
    with ProgramRuns() as python:
        return [python.end(text, folder) for text in TEXTS]


@pytest.mark.parametrize("options", [[], ["--trace"]], ids=["plain", "traced"])
def test_each_end_has_pythons_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ends: list[End], options: list[str]
) -> None:
    paths = [tmp_path / f"ends_{k}.py" for k, _ in enumerate(TEXTS)]
    for path, text in zip(paths, TEXTS, strict=True):
        path.write_text(text)
    found = main(["run", "--trust", "--json", *options, *map(str, paths)])
    said, errors = capsys.readouterr()
    told = [json.loads(line) for line in said.splitlines()]
    codes = [one["error"]["exit_code"] if one["error"] is not None else 0 for one in told]
    assert codes == [end.code for end in ends]
    assert found == max(codes)
    assert errors == "".join(end.printed for end in ends)
    assert all("y" not in one["nodes"] and "x" in one["nodes"] for one in told)


def test_one_program_ends_as_python_and_says_so_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ends.py"
    path.write_text(f"{HEAD}sys.exit(3)\n")
    assert main(["run", "--trust", str(path)]) == 3
    assert "line 5): The program ended itself with code 3: what follows was not run." in capsys.readouterr().out
    path.write_text(f"{HEAD}sys.exit('no data')\n")
    assert main(["run", "--trust", str(path)]) == 1
    said, errors = capsys.readouterr()
    assert "The program ended itself with “no data” (code 1): what follows was not run." in said
    assert errors == "no data\n"
