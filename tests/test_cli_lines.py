"""Lines in reports are those of the file that was given, in every sentence."""

import json
from pathlib import Path

import pytest

from gradstudio.cli import main

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
