"""Figures that code draws are told as pictures at its node, and `show` waits for nobody."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gradstudio.program.compile import compile_graph
from gradstudio.program.model import Program, Statement
from gradstudio.program.reading.reader import read_script
from gradstudio.program.trust import code_digest
from gradstudio.protocol import client
from gradstudio.protocol.client import RUNS_CODE, EngineProcess
from gradstudio.protocol.messages.drawn_figures import Figured
from gradstudio.protocol.messages.events import Event, Failed, Loaded, Paused, Printed
from gradstudio.protocol.messages.requests import Do, Load, Trust
from tests.engine.code.stand_in_matplotlib import BLACK, WHITE, write_stand_in

DRAWS = """import torch
import matplotlib.pyplot as plt

losses = [3.0, 2.0]
plt.plot(losses)

x = torch.ones(2)

plt.show()
print(plt.get_fignums())
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    with EngineProcess((*client.COMMAND, RUNS_CODE)) as process:
        process.wait_until_ready()
        yield process


def run(engine: EngineProcess, text: str, folder: Path, **options: bool) -> tuple[Program, Paused, list[Event]]:
    program = compile_graph(read_script(text, keeps_code=True).graph)
    heard: list[Event] = []
    trust = Trust(code_digest(program), str(folder / "program.py"), str(folder))
    engine.send(Load(document=str(folder), revision=0, program=program))
    engine.wait_for(Loaded)
    engine.send(Do(verb="run", trust=trust, restart=True, **options))  # type: ignore[arg-type]  # of the options
    paused = engine.wait_for(Paused, on_event=heard.append)
    assert isinstance(paused, Paused)
    return program, paused, heard


def figures(heard: list[Event]) -> list[Figured]:
    return [event for event in heard if isinstance(event, Figured)]


@pytest.mark.parametrize("trace", [True, False], ids=["traced", "plain"])
def test_a_figure_is_told_where_it_is_shown_for_both_grounds_and_closed(
    engine: EngineProcess, tmp_path: Path, trace: bool
) -> None:
    write_stand_in(tmp_path)
    program, paused, heard = run(engine, DRAWS, tmp_path, pictures=True, trace=trace)
    assert paused.outcome == "done"
    last = figures(heard)[-1]
    shows = next(code for code in program.codes if "plt.show()" in code.text)
    assert (last.node, last.line) == (shows.node, shows.line)
    assert last.title == "loss"
    assert (last.picture.width, last.picture.height) == (64, 48)
    assert (last.picture.light, last.picture.dark) == (WHITE, BLACK)
    assert [event.text for event in heard if isinstance(event, Printed)] == ["[]"]
    assert len({one.figure for one in figures(heard)}) == 1


def test_a_figure_that_is_never_shown_is_told_as_it_is_in_the_end(engine: EngineProcess, tmp_path: Path) -> None:
    write_stand_in(tmp_path)
    text = DRAWS.replace("plt.show()\n", "plt.figure(7).plot([1])\n")
    program, _, heard = run(engine, text, tmp_path, pictures=True)
    assert len({one.figure for one in figures(heard)}) == 2
    second = figures(heard)[-1]
    assert second.node == next(code.node for code in program.codes if "figure(7)" in code.text)
    _, _, again = run(engine, text, tmp_path, pictures=True)
    assert [event.text for event in again if isinstance(event, Printed)] == ["[1, 7]"], "each run begins without any"


def test_a_figure_stays_with_the_statement_that_drew_on_it_whatever_runs_behind_it(
    engine: EngineProcess, tmp_path: Path
) -> None:
    write_stand_in(tmp_path)
    text = DRAWS.replace("plt.show()\n", "plt.plot(losses)\n\ny = x.max()\n")
    program, _, heard = run(engine, text, tmp_path, pictures=True)
    draws = [one for one in program.statements if isinstance(one, Statement) and ".plot(" in one.text]
    assert len(draws) == 2
    assert (figures(heard)[-1].node, figures(heard)[-1].line) == (draws[1].node, draws[1].line)


def test_nobody_who_does_not_ask_pays_for_pictures(engine: EngineProcess, tmp_path: Path) -> None:
    write_stand_in(tmp_path)
    _, paused, heard = run(engine, DRAWS, tmp_path)
    assert paused.outcome == "done"
    assert figures(heard) == []


def test_a_figure_that_cannot_be_painted_breaks_no_run(engine: EngineProcess, tmp_path: Path) -> None:
    write_stand_in(tmp_path)
    text = DRAWS.replace("x = torch.ones(2)", "plt.figure(1).ground = 'broken'")
    _, paused, heard = run(engine, text, tmp_path, pictures=True)
    assert paused.outcome == "done"
    assert not any(isinstance(event, Failed) for event in heard)
