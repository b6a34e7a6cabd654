"""The program as a user starts it: a real window, real keys, a real engine."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from PySide6.QtGui import QImage

from gradstudio.ui.theme import theme
from tests.helpers.display import Display, missing
from tests.helpers.patience import PATIENCE_SECONDS, wait_until
from tests.helpers.window import Window

pytestmark = [pytest.mark.display, pytest.mark.slow]


def items(file: Path) -> list[object]:
    return list(json.loads(file.read_text())["items"])


def test_what_is_deleted_with_the_keys_is_gone_from_the_saved_file_and_undone_it_is_back(
    window: Window, example: Path
) -> None:
    before = items(example)
    window.press("ctrl+a", "Delete", "ctrl+s")
    wait_until("the file is empty", lambda: items(example) == [])
    window.press("ctrl+z", "ctrl+s")
    wait_until("the file is as before", lambda: items(example) == before)
    window.press("ctrl+q")
    assert window.wait_for_end() == 0
    assert "Traceback" not in window.words()


def test_the_window_outlives_its_engine_and_starts_another(window: Window) -> None:
    wait_until("an engine is there", lambda: bool(window.engines()))
    killed = window.engines()
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    wait_until("another engine is there", lambda: bool(window.engines() - killed))
    window.press("F5", "ctrl+q")
    assert window.wait_for_end() == 0
    assert "Traceback" not in window.words()


def test_no_process_stays_when_the_window_is_closed(window: Window) -> None:
    children = window.children()
    window.press("ctrl+q")
    assert window.wait_for_end() == 0
    _, alive = psutil.wait_procs(children, timeout=PATIENCE_SECONDS)
    assert alive == []


def test_without_a_display_it_says_so_and_ends_with_3(example: Path) -> None:
    names = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    command = [sys.executable, "-m", "gradstudio", str(example)]
    child = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert child.returncode == 3
    assert "display" in child.stderr
    assert "Traceback" not in child.stderr


def canvas_share(screen: Display, picture: Path) -> float:
    """How much of the display the canvas has: the extent of its colour, whatever is drawn on it."""
    subprocess.run(["scrot", "-o", str(picture)], env=screen.environment, check=True)
    image = QImage(str(picture))
    ground = {theme(name).canvas for name in ("dark", "light")}
    columns, rows = range(3, image.width(), 9), range(3, image.height(), 9)
    is_canvas = [[image.pixelColor(x, y).name() in ground for x in columns] for y in rows]
    high = extent([sum(row) > len(columns) / 5 for row in is_canvas])
    wide = extent([sum(column) > len(rows) / 5 for column in zip(*is_canvas, strict=True)])
    return high * wide / (len(columns) * len(rows))


def extent(marks: list[bool]) -> int:
    """From the first that is marked to the last."""
    return len(marks) - marks.index(True) - marks[::-1].index(True) if True in marks else 0


@pytest.mark.parametrize("size", ["1280x800", "1920x1080"])
def test_under_a_window_manager_the_canvas_has_most_of_the_window_at_the_first_start_and_the_next(
    example: Path, size: str
) -> None:
    if missing() or not shutil.which("scrot"):
        pytest.skip("no virtual display, or scrot is not installed")
    picture = example.with_suffix(".png")
    with Display(size) as screen:
        for _ in range(2):
            opened = Window(screen, example)
            try:
                opened.wait_until_open()
                wait_until("the canvas is large", lambda: canvas_share(screen, picture) > 0.3)
                opened.press("ctrl+q")
                assert opened.wait_for_end() == 0
                assert "Traceback" not in opened.words()
            finally:
                opened.close()
