"""Programs that fail as learners' do: the first words are what, where and what to do; torch's own stand below."""

import json
import re
from pathlib import Path

import pytest

from gradstudio.cli import main
from tests.advice.teaching_programs import Teaching, programs

IMPORTS = "import torch\nfrom torch import nn\n\n"
FAILING = programs("failing")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, object]]:
    """By program, the failure that `gradstudio run` reports."""
    folder, paths = tmp_path_factory.mktemp("failing"), list[str]()
    for program in FAILING:
        path = folder / f"{program.name}.py"
        path.write_text(IMPORTS + program.text, encoding="utf-8")
        paths.append(str(path))
    patch = pytest.MonkeyPatch()
    lines = list[str]()
    with patch.context() as at:
        at.setattr("builtins.print", lambda text="", **_: lines.append(str(text)))
        assert main(["run", "--trust", "--json", *paths]) == 1
    reports = [json.loads(line) for line in lines if line.startswith("{")]
    return {Path(report["file"]).stem: report["error"] for report in reports}


@pytest.mark.parametrize("program", FAILING, ids=lambda program: program.name)
def test_a_failure_is_told_in_plain_words_with_a_way_out(
    errors: dict[str, dict[str, object]], program: Teaching
) -> None:
    error = errors[program.name]
    explanation, address = str(error["explanation"]), str(error["node"])
    assert {address, address.partition("/")[0]} & set(program.addresses), address
    assert re.search(program.pattern, explanation), explanation
    assert error["message"] != explanation, "torch's words stand below ours"
    assert error["fixes"], "what to do"


def test_a_slip_in_code_is_told_before_it_is_trusted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "slip.py"
    path.write_text(f"# a comment\n{IMPORTS}x = torch.randn(3, 4)\n\n\ny = torch.sum(x, dims=1)\n", encoding="utf-8")
    assert main(["run", str(path)]) == 4
    assert "line 8: sum has no argument 'dims'. Did you mean 'dim'?" in "".join(capsys.readouterr())


def test_there_are_enough_of_them() -> None:
    assert len(FAILING) >= 40
