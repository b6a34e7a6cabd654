"""A training whose engine or window is killed in the middle goes on from its last checkpoint, to the last bit."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import numpy as np
import pytest
from pytestqt.qtbot import QtBot
from safetensors import safe_open

from gradstudio.document.runs.kept_run import PARAMETERS, KeptRun, kept_runs
from gradstudio.graph.recipes import set_literal
from gradstudio.graph.recipes.nodes import set_header
from gradstudio.protocol.messages.records import OptimizerRecord
from gradstudio.ui.widgets.offer_field import OfferField
from tests.helpers import engine_forks
from tests.ui.desk import Desk
from tests.ui.test_runs_by_hand import LINE

ENDLESS = LINE.replace("range(30)", "range(100_000_000)").replace("optim.SGD([w], lr=0.1)", "optim.Adam([w], lr=0.1)")
ORACLE = """
import sys, torch
turns, target = int(sys.argv[1]), sys.argv[2]
names = {}
exec(open(sys.argv[3]).read().replace("100_000_000", str(turns)).replace("    opt.step()", LINES), names)
import numpy
numpy.savez(target, w=names["w"].detach().numpy(), losses=names["losses"])
""".replace(
    "LINES", repr("    opt.step()\n    losses = globals().setdefault('losses', [])\n    losses.append(loss.item())")
)
WINDOW = """
import sys
from pathlib import Path
from PySide6.QtWidgets import QApplication
from tests.ui.desk import standing
app = QApplication([])
with standing(app, Path(sys.argv[1])) as desk:
    desk.session.open(Path(sys.argv[2]))
    desk.session.engine.start()
    desk.session.run.run()
    app.exec()
"""


@pytest.fixture
def path(desk: Desk, qtbot: QtBot, tmp_path: Path) -> Path:
    desk.sit_down(qtbot)
    desk.open(ENDLESS)
    path = tmp_path / "line.gsg"
    desk.session.save(path)
    (tmp_path / "line.py").write_text(ENDLESS)
    return path


def newest(path: Path) -> KeptRun | None:
    return next(kept_runs(path.with_name("line.runs")), None)


def learnt(path: Path) -> int:
    """How many turns there were at the newest checkpoint; 0 while its file is not there yet."""
    run = newest(path)
    return run.learnt_turns if run is not None and (run.folder / PARAMETERS).is_file() else 0


def check_against_plain_torch(path: Path) -> None:
    """What is kept, parameters and curve, is what the same text learns in a process of its own."""
    run = newest(path)
    assert run is not None
    turns = run.learnt_turns
    with safe_open(run.folder / PARAMETERS, "np") as file:
        learnt_then = file.get_tensor("state.w")
    words = [sys.executable, "-c", ORACLE, str(turns), str(path.parent / "w.npz"), str(path.with_name("line.py"))]
    subprocess.run(words, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    with np.load(path.parent / "w.npz") as read:
        plain = dict(read)
    assert np.array_equal(learnt_then, plain["w"])
    steps, values = run.curves()["loss"]
    assert np.array_equal(steps[:turns], np.arange(turns))
    assert np.array_equal(values[:turns], plain["losses"].astype(np.float32).astype(float))


def shown_rate(desk: Desk) -> object:
    """What the optimizer's card says."""
    (record,) = desk.session.results.outputs(desk.node("opt")) or (None,)
    return record.groups[0]["lr"] if isinstance(record, OptimizerRecord) else None


def offered(desk: Desk) -> OfferField:
    menus = desk.window.room.status_menus
    desk.until(lambda: menus.offer is not None and menus.offer.isVisible())
    assert menus.offer is not None
    return menus.offer


def go_on(desk: Desk, path: Path) -> None:
    """Take what is offered, and train until there is a further checkpoint."""
    before, run = learnt(path), newest(path)
    assert run is not None
    field = offered(desk)
    assert field.accept.text() == f"Continue from turn {before:,}" and "cut off at turn" in field.words.full
    field.accept.click()
    desk.until(lambda: learnt(path) > before)
    now = newest(path)
    assert now is not None and now.id == run.id and now.state == "running" and not field.isVisible()
    steps, _ = desk.session.results.tables.curves.points(desk.session.results.tables.curves.names[0])
    assert np.array_equal(steps, np.arange(len(steps)))
    desk.window.actions["run.stop"].trigger()
    desk.rest()


def paused(desk: Desk, path: Path) -> KeptRun:
    """A training that was begun, has learnt something and stands still."""
    desk.window.actions["run.again"].trigger()
    desk.until(lambda: learnt(path))
    desk.window.actions["run.pause"].trigger()
    desk.rest()
    run = newest(path)
    assert run is not None and run.state == "paused"
    return run


def go_on_in_another_window(desk: Desk, path: Path) -> None:
    """The window in which it ran was killed."""
    run = newest(path)
    assert run is not None and run.state == "ended" and run.was_cut_off
    desk.session.offer_cut_off_run()
    go_on(desk, path)
    check_against_plain_torch(path)


def test_the_engine_is_killed_and_its_training_goes_on(desk: Desk, path: Path) -> None:
    desk.window.actions["run.again"].trigger()
    desk.until(lambda: learnt(path))
    os.kill(desk.session.engine.pid, signal.SIGKILL)
    go_on(desk, path)
    check_against_plain_torch(path)


def test_the_engine_is_killed_while_its_training_is_paused(desk: Desk, path: Path) -> None:
    run = paused(desk, path)
    turns = run.record.turns
    desk.until(lambda: learnt(path) == turns)  # where it rests it is kept
    os.kill(desk.session.engine.pid, signal.SIGKILL)
    field = offered(desk)
    assert "was killed" in field.words.full and field.words.full.endswith(f"cut off at turn {turns:,}.")
    run = newest(path)
    assert run is not None and run.state == "ended"
    go_on(desk, path)
    check_against_plain_torch(path)


def test_a_rate_changed_in_the_middle_is_the_one_of_the_program_that_is_kept(desk: Desk, path: Path) -> None:
    """What is kept as the program is what torch learns with where the newest checkpoint was made."""
    desk.window.actions["run.again"].trigger()
    desk.until(lambda: learnt(path))
    store = desk.session.graph_store
    desk.window.actions["run.stop"].trigger()
    desk.rest()
    assert store.attempt(set_literal, "Set lr", desk.node("opt"), "lr", "0.03")
    desk.until(lambda: shown_rate(desk) == 0.03)  # paused still
    desk.window.actions["edit.undo"].trigger()
    desk.until(lambda: shown_rate(desk) == 0.1)
    desk.window.actions["edit.redo"].trigger()
    desk.until(lambda: shown_rate(desk) == 0.03)
    desk.rest()
    desk.window.actions["run.run"].trigger()
    desk.until(lambda: (run := newest(path)) is not None and "lr=0.03)" in run.program())  # one of before may be late
    os.kill(desk.session.engine.pid, signal.SIGKILL)
    offered(desk)
    run = newest(path)
    assert run is not None and "lr=0.03)" in run.program() and run.record.literals["opt.lr"] == "0.03"
    assert run.record.marks and run.record.marks[-1].endswith("opt: lr 0.1 → 0.03")
    with safe_open(run.folder / PARAMETERS, "np") as file:
        assert any('"lr": 0.03' in words or '"lr":0.03' in words for words in file.metadata().values())


def test_behind_a_further_change_what_is_offered_puts_the_program_back(desk: Desk, path: Path) -> None:
    desk.window.actions["run.again"].trigger()
    desk.until(lambda: learnt(path))
    store = desk.session.graph_store
    store.submit(set_header(store.graph, msgspec.structs.replace(store.graph.header, seed=77)), "Seed")
    os.kill(desk.session.engine.pid, signal.SIGKILL)
    assert "put back" in offered(desk).toolTip()
    go_on(desk, path)
    assert store.graph.header.seed != 77


def test_a_run_that_is_cut_off_says_its_own_time(desk: Desk, path: Path) -> None:
    desk.session.run.status.set(seconds=3600.0)  # as a longer run before it leaves it
    desk.window.actions["run.again"].trigger()
    desk.until(lambda: learnt(path))
    run = newest(path)
    assert run is not None and 0 < run.record.seconds < 3600
    os.kill(desk.session.engine.pid, signal.SIGKILL)
    offered(desk)
    run = newest(path)
    assert run is not None and run.state == "ended" and 0 < run.record.seconds < 3600
    assert run.record.reason.endswith(f"; what it learnt up to turn {run.learnt_turns:,} is kept: Continue in Runs.")


def test_the_window_is_killed_and_its_training_goes_on(desk: Desk, path: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-c", WINDOW, str(tmp_path / "settings"), str(path)]
    with engine_forks.everywhere(), subprocess.Popen(words) as child:
        pause = threading.Event()
        while not learnt(path):
            assert child.poll() is None and not pause.wait(0.05)
        child.kill()
    go_on_in_another_window(desk, path)


def test_the_window_is_killed_while_its_training_is_paused(desk: Desk, path: Path, tmp_path: Path) -> None:
    pauses = "    runs, run = desk.session.runs, desk.session.run\n"
    pauses += "    runs.changed.connect(lambda: run.status.kept_turns() and run.stop(behind_turn=True))\n"
    paused = WINDOW.replace("    app.exec()", pauses + "    app.exec()")
    words = [sys.executable, "-c", paused, str(tmp_path / "settings"), str(path)]
    with engine_forks.everywhere(), subprocess.Popen(words) as child:
        pause = threading.Event()
        while not ((run := newest(path)) is not None and run.state == "paused" and learnt(path) == run.record.turns):
            assert child.poll() is None and not pause.wait(0.05)
        child.kill()
    go_on_in_another_window(desk, path)


def test_who_closes_a_paused_training_is_not_asked_whether_it_goes_on(desk: Desk, path: Path) -> None:
    paused(desk, path)
    desk.session.runs.close()
    run = newest(path)
    assert run is not None and run.state == "stopped" and run.can_go_on and not run.was_cut_off


def test_a_paused_training_whose_engine_is_restarted_is_paused_no_more(desk: Desk, path: Path) -> None:
    run = paused(desk, path)
    desk.session.run.restart_engine()
    run = newest(path)
    assert run is not None and run.state == "stopped" and run.can_go_on and not run.was_cut_off


def test_a_no_is_remembered(desk: Desk, path: Path) -> None:
    desk.window.actions["run.again"].trigger()
    desk.until(lambda: learnt(path))
    os.kill(desk.session.engine.pid, signal.SIGKILL)
    field = offered(desk)
    field.decline.click()
    desk.session.offer_cut_off_run()
    assert not field.isVisible()


def test_another_program_is_not_trained_on(desk: Desk, path: Path) -> None:
    desk.window.actions["run.again"].trigger()
    desk.until(lambda: learnt(path))
    os.kill(desk.session.engine.pid, signal.SIGKILL)
    field = offered(desk)
    store, said = desk.session.graph_store, list[str]()
    desk.session.run.status.refused.connect(said.append)
    store.submit(set_header(store.graph, msgspec.structs.replace(store.graph.header, seed=77)), "Seed")
    field.accept.click()
    assert not desk.session.run.state.busy and "not the one that was cut off" in said[0]
