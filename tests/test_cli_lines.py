"""Lines in reports are those of the file that was given, in every sentence."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from gradstudio.cli import main
from gradstudio.document.file import load, save
from gradstudio.graph.edits import apply_all
from gradstudio.graph.recipes.nodes import rename

WRITTEN_OVER = """\
import torch

# a note

x = torch.ones(2, requires_grad=True)
a = x.exp()


a.mul_(2)  # here

b = a.sum()
b.backward()
"""
TWICE = """\
import torch

x = torch.ones(2, requires_grad=True)

y = (x * x).sum()


y.backward()
# and

y.backward()
"""


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (WRITTEN_OVER, 12, "line 9 `a.mul_(2)` wrote into a, which line 6 `a = x.exp()` had saved"),
        (TWICE, 11, "Line 11 `y.backward()` is the second, the first was line 8 `y.backward()`."),
    ],
)
def test_an_explanation_names_the_lines_of_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, line: int, words: str
) -> None:
    path = tmp_path / "program.py"
    path.write_text(text)
    assert main(["run", str(path), "--trace", "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["line"] == line
    assert words in error["explanation"]
    if "clash" in error:
        assert (error["clash"]["line"], [one["line"] for one in error["clash"]["culprits"]]) == (6, [9])


def drawn(folder: Path, text: str) -> Path:
    """A document that was made of a text, which it keeps."""
    source = folder / "typed.py"
    source.write_text(text)
    assert main(["import", str(source), "-o", str(folder / "typed.gsg")]) == 0
    source.unlink()
    return folder / "typed.gsg"


def ran(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, Any]:
    """What a run reports."""
    capsys.readouterr()
    assert main(["run", *arguments, "--json"]) == code
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def test_a_document_made_of_a_text_runs_on_the_device_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = 'import torch\n\ndevice = torch.device("cuda:7")\nx = torch.ones(2, device=device)\n'
    report = ran(capsys, str(drawn(tmp_path, text)), "--device", "cpu")
    assert (report["device"], report["nodes"]["x"]["line"]) == ("cpu", 4)


def test_a_document_from_standard_input_has_the_lines_of_its_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = drawn(tmp_path, "import torch\n# here\n\n\n\n\nx = torch.ones(2)\n").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert ran(capsys, "-")["nodes"]["x"]["line"] == 7


def test_names_are_those_of_a_text_as_it_is_now(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = drawn(tmp_path, "import torch\n\nx = torch.ones(2)  # one\n")
    graph = load(path)
    apply_all(graph, rename(graph, next(iter(graph.nodes)), ("other",)))
    save(graph, path)
    report = ran(capsys, str(path))
    assert (list(report["nodes"]), report["statements"]) == (["other"], {})


@pytest.mark.parametrize("damage", ["x = ((((", "x = 1; global x", "x = '\0'"])
def test_a_damaged_text_of_a_document_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str) -> None:
    path = drawn(tmp_path, "import torch\n\n\n\nx = torch.ones(2)\n")
    graph = load(path)
    graph.original = damage
    save(graph, path)
    assert list(ran(capsys, str(path))["nodes"]) == ["x"]


def test_a_text_that_python_refuses_for_its_names_ends_in_what_python_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "refused.py"
    path.write_text("x=1; global x\n")
    with pytest.raises(SyntaxError, match="assigned to before global declaration") as python:
        compile(path.read_text(), str(path), "exec")
    error = ran(capsys, str(path), "--trust", code=1)["error"]
    assert (error["type"], error["line"]) == ("SyntaxError", 1)
    assert str(python.value.msg) in error["message"]
