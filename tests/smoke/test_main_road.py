"""The main road, walked with mouse and keys from outside: draw, wire, run, save, reopen, export, run the export."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from gradstudio.cli import main
from gradstudio.document.file import load, save
from gradstudio.graph.model import Graph, ItemId
from gradstudio.scene.items import PortRef
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.results import NoResults
from gradstudio.scene.scene import Scene
from gradstudio.ui import theme as themes
from gradstudio.ui.canvas.edit.operator_commands import GRIP
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from tests.helpers.display import Display
from tests.helpers.patience import wait_until
from tests.helpers.window import Window

pytestmark = [pytest.mark.display, pytest.mark.slow]

SEARCH = (110, 119)
FIRST_HIT = (90, 153)
"""Pixels within the window of the library's search field and of the first operator found."""
Point = tuple[float, float]


class Hand:
    """The mouse on a canvas that shows a file at 100 %."""

    def __init__(self, screen: Display, window: Window, file: Path) -> None:
        self._screen, self._window, self._file = screen, window, file
        self._drops: list[tuple[ItemId, Point]] = []

    def add(self, query: str, x: int, y: int) -> ItemId:
        """Search the library, drag the first hit to a pixel, save, and tell which item came."""
        before = set(load(self._file).nodes)
        self._wait_until_idle()
        self._click(*SEARCH)
        self._window.press("ctrl+a")
        self._screen.hand("type", "--delay", "10", query)
        self._settle()
        self._drag(FIRST_HIT, (x, y))
        self._save_until(f"{query} is saved", lambda: len(load(self._file).nodes) > len(before))
        (item,) = set(load(self._file).nodes) - before
        self._drops.append((item, (x, y)))
        return item

    def wire(self, source: ItemId, target: ItemId, path: str) -> None:
        """Drag from the output to the input, and save."""
        start = self._pixel(self._scene().placement.anchor(PortRef(source, "output")))
        end = self._pixel(self._scene().placement.anchor(PortRef(target, "input", path)))
        self._drag(start, end)
        self._save_until(f"{path} is wired", lambda: (target, path) in load(self._file).wires)

    def choose(self, item: ItemId, path: str, *keys: str) -> None:
        """Click the field of a literal on the card, press keys, and save; again while the keys came too early."""

        def chosen() -> bool:
            self._wait_until_idle()
            if path in load(self._file).nodes[item].literals:
                return True
            self._click(*self._field(item, path))
            self._settle()
            self._window.press(*keys, "Escape")
            return False

        wait_until(f"{path} has a literal", chosen)

    def press_and_count(self, *keys: str) -> int:
        """Press keys, save, and count the nodes: keys pressed while a run is under way do nothing."""
        self._window.press(*keys, "ctrl+s")
        self._settle()
        return len(load(self._file).nodes)

    def _wait_until_idle(self) -> None:
        """Save, and wait for it: while a window is busy, X hands it of a whole drag the end alone."""
        before = self._file.stat().st_mtime_ns
        self._save_until("the window answers", lambda: self._file.stat().st_mtime_ns != before)

    def _save_until(self, what: str, holds: Callable[[], bool]) -> None:
        """Save until the file says so: a window takes no key while it is busy with a drop."""

        def saved() -> bool:
            self._window.press("ctrl+s")
            self._settle()
            return holds()

        wait_until(what, saved)

    def _scene(self) -> Scene:
        return Scene(load(self._file), NoResults(), Shown(), CanvasStyle(themes.theme("dark")).meter)

    def _pixel(self, point: Point) -> Point:
        """Where a scene point is: told by where cards were dropped, which snap to a grid."""
        places = load(self._file).places
        left = sum(pixel[0] - places[item].x - GRIP[0] for item, pixel in self._drops) / len(self._drops)
        top = sum(pixel[1] - places[item].y - GRIP[1] for item, pixel in self._drops) / len(self._drops)
        return point[0] + left, point[1] + top

    def _field(self, item: ItemId, path: str) -> Point:
        """The pixel in the middle of a literal's field."""
        scene = self._scene()
        box, layout = scene.placement.box(item), scene.placement.layout(item)
        assert box is not None
        assert layout is not None
        field = next(row.field for row in layout.inputs if row.path == path)
        assert field is not None
        return self._pixel((box.x + field.x + field.width / 2, box.y + field.y + field.height / 2))

    def _click(self, x: float, y: float) -> None:
        self._move(x, y)
        self._screen.hand("click", "1")

    def _drag(self, start: Point, end: Point) -> None:
        self._wait_until_idle()
        self._move(*start)
        self._screen.hand("mousedown", "1")
        self._settle()
        for k in range(1, 9):
            x, y = (start[i] + (end[i] - start[i]) * k / 8 for i in (0, 1))
            self._move(x, y)
            self._settle(1)
        self._settle()
        self._screen.hand("mouseup", "1")
        self._settle()

    def _move(self, x: float, y: float) -> None:
        self._screen.hand("mousemove", "--window", self._window.number, str(round(x)), str(round(y)))

    def _settle(self, steps: int = 4) -> None:
        """Let the window take in what happened: as many round trips to the X server."""
        for _ in range(steps):
            self._screen.hand("mousemove_relative", "--sync", "0", "0")


@pytest.fixture
def file(tmp_path: Path, qapp: QApplication) -> Path:
    """An empty document that has a name already."""
    path = tmp_path / "road.gsg"
    save(Graph(), path)
    return path


@pytest.fixture
def window(screen: Display, file: Path) -> Iterator[Window]:
    opened = Window(screen, file)
    opened.wait_until_open()
    wait_until("an engine is there", lambda: bool(opened.engines()))
    yield opened
    opened.close()


# Slow: a whole window on a display of its own, worked by mouse and keys.
def test_three_tensors_an_operator_and_a_loss_give_the_same_numbers_in_the_window_and_in_python(
    screen: Display, window: Window, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hand = Hand(screen, window, file)
    x = hand.add("tensor", 300, 120)
    w = hand.add("randn", 300, 340)
    target = hand.add("ones", 640, 400)
    product = hand.add("mul", 560, 150)
    loss = hand.add("mse_loss", 800, 200)
    hand.choose(w, "requires_grad", "Down", "Return")
    hand.choose(w, "size", "ctrl+a", "3", "Return")
    hand.choose(target, "size", "ctrl+a", "3", "Return")
    graph = load(file)
    first, second = (p.name for p in _parameters(graph, product)[:2])
    hand.wire(x, product, first)
    hand.wire(w, product, second)
    hand.wire(product, loss, "input")
    hand.wire(target, loss, "target")
    window.press("F7")
    wait_until("backward is appended and saved", lambda: hand.press_and_count("F6") == 6)
    window.press("ctrl+q")
    assert window.wait_for_end() == 0
    assert "Traceback" not in window.words()

    script = tmp_path / "road.py"
    assert main(["export", str(file), "-o", str(script)]) == 0
    printed = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True).stdout
    assert main(["run", str(file)]) == 0
    table = capsys.readouterr().out
    loss_there = re.search(r"^loss = tensor\((-?[\d.]+)", printed, re.MULTILINE)
    loss_here = re.search(r"^loss +(-?[\d.]+)", table, re.MULTILINE)
    assert loss_there is not None
    assert loss_here is not None
    assert float(loss_there[1]) == pytest.approx(float(loss_here[1]), rel=1e-3)
    assert f"{load(file).nodes[w].names[0]}.grad = tensor(" in printed


def _parameters(graph: Graph, item: ItemId):
    from gradstudio.graph.ports.item_ports import input_ports

    return [port.parameter for port in input_ports(graph, item)]
