"""The corpus: snippets in the manner of tutorials mean what Python means by them, in every view of the program.

`accepted/` holds what is read, run, exported and read again; `refused/` what a canvas does not draw, at the line
that is marked `# refused: words` and with these words in the reason: typed or pasted it is refused, in a file it
is code.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradstudio.document.file import load, save
from gradstudio.graph.analysis.program_analysis import incomplete
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_script
from gradstudio.protocol.client import EngineProcess
from tests.corpus.running import by_engine, by_python, differences, likeness, refused_line

HERE = Path(__file__).parent
ACCEPTED = sorted((HERE / "accepted").glob("*.py"))
REFUSED = sorted((HERE / "refused").glob("*.py"))
UNREADABLE = 4
NOT_PYTHON = {"magic", "syntax"}


def snippets(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    with EngineProcess() as process:
        process.wait_until_ready()
        yield process


def lines_of(printed: str) -> list[str]:
    return [line.rstrip() for line in printed.splitlines() if line.strip()]


def exported(path: Path) -> str:
    return write_script(read_script(path.read_text(encoding="utf-8")).graph, stem=path.stem)


@snippets(ACCEPTED)
def test_every_view_has_the_values_and_gradients_of_python(path: Path, engine: EngineProcess) -> None:
    text = path.read_text(encoding="utf-8")
    graph = read_script(text).graph
    assert incomplete(graph) == {}
    canvas, outcome = by_engine(engine, graph, path.stem)
    assert outcome.failed is None, outcome.failed and f"{outcome.failed.address}: {outcome.failed.message}"
    python = by_python(text, str(path), outcome.report.seed)
    assert python.variables or python.printed
    assert differences(python, canvas) == []
    assert lines_of(canvas.printed) == lines_of(python.printed)
    script = by_python(exported(path), str(path), outcome.report.seed)
    assert differences(python, script) == []
    assert script.printed.startswith(python.printed)


@snippets(ACCEPTED)
def test_what_is_exported_reads_back_as_the_same_program(path: Path) -> None:
    graph = read_script(path.read_text(encoding="utf-8")).graph
    text = write_script(graph, stem=path.stem)
    again = read_script(text).graph
    assert write_script(again, stem=path.stem) == text
    assert likeness(again) == likeness(graph)


@snippets(ACCEPTED)
def test_what_is_saved_as_a_document_opens_as_the_same_program(path: Path, tmp_path: Path) -> None:
    graph = read_script(path.read_text(encoding="utf-8")).graph
    save(graph, tmp_path / "saved.gsg")
    opened = load(tmp_path / "saved.gsg")
    assert write_script(opened, stem=path.stem) == write_script(graph, stem=path.stem)
    assert likeness(opened) == likeness(graph)


def test_what_is_exported_is_formatted_and_clean(tmp_path: Path) -> None:
    for path in ACCEPTED:
        (tmp_path / path.name).write_text(exported(path), encoding="utf-8")
    ruff = str(Path(sys.executable).with_name("ruff"))
    for verb in (["format", "--check", "--diff"], ["check", "--select", "E4,E7,E9,F", "--ignore", "E741"]):
        done = subprocess.run([ruff, *verb, "--isolated", str(tmp_path)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@snippets(REFUSED)
def test_what_cannot_be_drawn_is_refused_at_its_line_in_words(path: Path) -> None:
    line, words = refused_line(path)
    with pytest.raises(NotReadable) as refusal:
        read_script(path.read_text(encoding="utf-8"))
    assert refusal.value.line == line
    assert refusal.value.column >= 0
    assert words in str(refusal.value)


@pytest.fixture(scope="module")
def untrusted() -> dict[str, dict[str, Any]]:
    """What the command line says of each of them, as a file of code that nobody has said yes to."""
    done = subprocess.run(
        [sys.executable, "-m", "gradstudio", "run", "--json", *map(str, REFUSED)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == UNREADABLE, done.stderr
    return {one["file"]: one for one in map(json.loads, done.stdout.splitlines())}


@snippets(REFUSED)
def test_a_file_with_what_cannot_be_drawn_shows_that_line_before_it_runs(
    path: Path, untrusted: dict[str, dict[str, Any]]
) -> None:
    line, _ = refused_line(path)
    told = untrusted[str(path)]
    assert told["nodes"] == {}
    if path.stem in NOT_PYTHON:
        assert (told["error"]["type"], told["error"]["line"]) == ("UnreadableFile", line)
        return
    assert told["error"]["type"] == "NotTrusted"
    code = {one["line"] + k for one in told["code"] for k in range(one["text"].count("\n") + 1)}
    assert line in code
