"""`input()` of a trusted program: the line is asked for, and what is typed is what Python reads; an end in words."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.program.trust import code_digest
from gradstudio.protocol.client import COMMAND, RUNS_CODE, EngineProcess
from gradstudio.protocol.messages.events import Event, Failed, Paused, Printed
from gradstudio.protocol.messages.progress import Asked
from gradstudio.protocol.messages.requests import Answer, Do, Load, Stop, Trust
from gradstudio.protocol.report import printed_json

ASKS = """import torch
import sys

first = input("How many? ")
x = torch.ones(int(first))
rest = [line.strip() for line in sys.stdin]
print(first, rest, x.sum())
"""
LEAVES = """import torch
import sys

x = torch.ones(2)
if x.sum() > 1:
    sys.exit(0)
y = x * 2
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    with EngineProcess((*COMMAND, RUNS_CODE)) as process:
        process.wait_until_ready()
        yield process


def begin(engine: EngineProcess, text: str, folder: Path, *, trace: bool, answers: bool = True) -> None:
    program = compile_graph(read_script(text, keeps_code=True).graph)
    trust = Trust(code_digest(program), str(folder / "program.py"), str(folder))
    engine.send(Load(document=text, revision=1, program=program, tensors={}))
    engine.send(Do(verb="run", trace=trace, trust=trust, restart=True, answers=answers))


def paused(engine: EngineProcess, heard: list[Event]) -> Paused:
    event = engine.wait_for(Paused, on_event=heard.append)
    assert isinstance(event, Paused)
    return event


@pytest.mark.parametrize("trace", [False, True], ids=["plain", "traced"])
def test_what_is_typed_is_what_python_reads(engine: EngineProcess, tmp_path: Path, *, trace: bool) -> None:
    typed = ["3", "one", "", "two words"]
    begin(engine, ASKS, tmp_path, trace=trace)
    heard: list[Event] = []
    prompts = []
    for line in (*typed, None):
        asked = engine.wait_for(Asked, on_event=heard.append)
        assert isinstance(asked, Asked)
        prompts.append(asked.prompt)
        engine.send(Answer(text=line))
    assert paused(engine, heard).outcome == "done"
    assert prompts == ["How many? ", *[""] * 4]
    lines = "".join(f"{line}\n" for line in typed)
    done = subprocess.run([sys.executable, "-c", ASKS], input=lines, capture_output=True, text=True, check=True)
    told = [event.text for event in heard if isinstance(event, Printed) and not event.passing]
    assert told == done.stdout.splitlines()


@pytest.mark.parametrize("trace", [False, True], ids=["plain", "traced"])
def test_stop_ends_a_program_that_waits(engine: EngineProcess, tmp_path: Path, *, trace: bool) -> None:
    begin(engine, ASKS, tmp_path, trace=trace)
    engine.wait_for(Asked)
    engine.send(Stop())
    assert paused(engine, []).outcome == "stopped"
    begin(engine, ASKS, tmp_path, trace=trace)
    engine.wait_for(Asked)
    engine.send(Answer(text=None))
    heard: list[Event] = []
    assert paused(engine, heard).outcome == "failed"
    (failed,) = [event for event in heard if isinstance(event, Failed)]
    assert failed.type_name == "EOFError"


def test_without_anybody_to_answer_input_is_at_its_end(engine: EngineProcess, tmp_path: Path) -> None:
    begin(engine, ASKS, tmp_path, trace=True, answers=False)
    heard: list[Event] = []
    assert paused(engine, heard).outcome == "failed"
    assert not [event for event in heard if isinstance(event, Asked)]


@pytest.mark.parametrize("trace", [False, True], ids=["plain", "traced"])
def test_a_program_that_ends_itself_says_so(engine: EngineProcess, tmp_path: Path, *, trace: bool) -> None:
    begin(engine, LEAVES, tmp_path, trace=trace)
    event = paused(engine, [])
    assert (event.outcome, event.at_end) == ("done", True)
    assert event.reason == "The program ended itself at “sys.exit(0)”: what follows was not run."
    begin(engine, LEAVES.replace("> 1", "> 9"), tmp_path, trace=trace)
    assert paused(engine, []).reason == ""


def test_what_goes_to_standard_error_says_so(engine: EngineProcess, tmp_path: Path) -> None:
    text = 'import torch\nimport sys\n\nprint("out")\nprint("err", file=sys.stderr)\nsys.stdout.write("again")\n'
    begin(engine, text, tmp_path, trace=False)
    heard: list[Event] = []
    paused(engine, heard)
    told = [event for event in heard if isinstance(event, Printed)]
    assert [(event.text, event.is_error) for event in told] == [("out", False), ("err", True), ("again", False)]
    rows = printed_json(told, {})
    assert [row.get("stream", "") for row in rows] == ["", "stderr", ""]
