"""The driver that kills windows: what it counts as lost, and a few windows."""

import sys
import time
from pathlib import Path

import pytest

from gradstudio.document.journal import Journal
from gradstudio.graph import recipes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph
from tools.campaign.window_hand import TOLD, digest
from tools.campaign.window_kills import kill_windows, lost_gestures

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="windows are forked")


def left_behind(folder: Path, gestures: str) -> tuple[int, str]:
    """What the driver says when the last of these gestures ("w": kept, "-": not kept) is the newest that was told."""
    graph, journal = Graph(), Journal(folder)
    lines = [f"ready {folder} {digest(graph)}"]
    for kept in gestures:
        apply_all(graph, recipes.add_operator(graph, "torch.ones", 0.0, 0.0)[0])
        lines += [f"edit {digest(graph)}", "gesture drop"]
        if kept == "w":
            journal.write(graph, None)
    (folder / TOLD).write_text("\n".join([*lines, "edit of which only a part was to"]))
    journal.close()
    return lost_gestures(folder)


@pytest.mark.parametrize(("gestures", "lost"), [("ww", 0), ("www-", 1), ("", 0), ("-", 1)])
def test_what_is_missing_of_what_was_told_is_lost(tmp_path: Path, gestures: str, lost: int) -> None:
    assert left_behind(tmp_path, gestures) == (lost, "")


def test_more_than_the_newest_gesture_is_a_failure(tmp_path: Path) -> None:
    assert left_behind(tmp_path, "w--") == (2, "2 gestures were lost")


def test_a_journal_of_another_document_and_a_broken_one_are_failures(tmp_path: Path) -> None:
    left_behind(tmp_path, "w")
    graph, journal = Graph(), next(tmp_path.glob("*.recovery"))
    apply_all(graph, recipes.add_operator(graph, "torch.zeros", 0.0, 0.0)[0])
    text = journal.read_text()
    journal.write_text(text.replace("torch.ones", "torch.zeros"))
    assert "never on the canvas" in lost_gestures(tmp_path)[1]
    journal.write_text(text[: len(text) // 2])
    assert "unreadable" in lost_gestures(tmp_path)[1]


def test_windows_that_are_killed_lose_no_more_than_the_newest_gesture() -> None:
    tally = kill_windows(seed=2026, cases=range(2), until=time.monotonic())
    assert tally.cases == 1
    assert [one.reason for one in tally.failures] == []
