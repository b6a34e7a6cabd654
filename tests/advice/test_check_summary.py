"""What `gradstudio check` says of code, of the yes and of packages: as data, and in lines for people."""

import sys
from pathlib import Path

from gradstudio.advice.check_summary import Json, summary_json, summary_lines, verdict
from gradstudio.program.compile import compile_graph
from gradstudio.program.file_lines import FileText
from gradstudio.program.reading.reader import read_script

CODE = """import torch

x = torch.ones(3)
try:
    import no_such_package.part
    from sklearn_of_nobody import model
    from . import own
except ImportError:
    pass
assert isinstance(x, torch.Tensor), "a sentence that is longer than what is shown of one"
torch.save(x, "x.pt")
"""


def summary(text: str, folder: Path) -> Json:
    graph = read_script(text, keeps_code=True).graph
    return summary_json(graph, compile_graph(graph), FileText(), folder)


def test_code_is_told_by_its_lines_and_needs_a_yes(tmp_path: Path) -> None:
    told = summary(CODE, tmp_path)
    assert next(row["text"] for row in told["code"]) == "try:"
    assert told["drawn"] == told["statements"] - len(told["code"])
    assert [row["text"] for row in told["asks"]] == ['torch.save(x, "x.pt")']
    lines = list(summary_lines(told))
    assert lines[0] == f"  drawn: {told['drawn']} of {told['statements']} statements; kept as code, as typed:"
    assert "  to run it needs your yes: gradstudio run --trust" in lines
    assert any(line.startswith("  drawn, and does more than compute: line ") for line in lines)
    assert all(len(row["text"]) <= 60 for row in told["code"])


def test_packages_that_are_not_there_are_told_with_what_installs_them(tmp_path: Path) -> None:
    (tmp_path / "sklearn_of_nobody.py").touch()
    missing = summary(CODE, tmp_path)["missing"]
    python = Path(sys.executable).name
    assert missing == [{"package": "no_such_package", "install": f"{python} -m pip install no_such_package"}]


def test_of_a_program_that_is_drawn_as_a_whole_nothing_is_said(tmp_path: Path) -> None:
    told = summary("import torch\n\nx = torch.ones(3)\n", tmp_path)
    assert told["drawn"] == told["statements"] == 1 and list(summary_lines(told)) == []


def test_a_verdict_counts() -> None:
    assert [verdict("a" * count) for count in range(3)] == ["fine", "1 problem", "2 problems"]
