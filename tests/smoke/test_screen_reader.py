"""What a screen reader is told by the running program: canvas, outline and toolbar, read from another process."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.display import Display
from tests.helpers.patience import wait_until
from tests.helpers.screen_reader import Bus, Refused, Told, missing
from tests.helpers.window import Window

pytestmark = [pytest.mark.display, pytest.mark.slow]
CLOSED = ("menu bar", "tree", "table", "tool bar", "page tab list", "status bar")
"""What a search for the canvas need not look into."""


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bus]:
    if missing():
        pytest.skip(f"no bus for screen readers: {', '.join(missing())} not installed")
    with tempfile.TemporaryDirectory(prefix="gs") as folder, Bus(Path(folder)) as opened:
        if not opened.has_readers:
            pytest.skip("no bus for screen readers: at-spi2-core not installed")
        for name, value in opened.environment.items():
            monkeypatch.setenv(name, value)
        yield opened


@pytest.fixture
def told(bus: Bus, screen: Display, example: Path) -> Iterator[tuple[Window, Told]]:
    """The program, and its window as a screen reader meets it."""
    window = Window(screen, example)
    try:
        window.wait_until_open()
        wait_until("the program speaks", lambda: bool(bus.programs()))
        yield window, bus.programs()[0].children()[0]
    finally:
        window.close()


def canvas_of(frame: Told) -> Told:
    """The canvas, as soon as the window is filled."""
    found: list[Told] = []

    def is_there() -> bool:
        try:
            found.append(frame.find("list", "Canvas", CLOSED))
        except Refused:
            return False
        return bool(found[-1].children())

    wait_until("the canvas is told", is_there)
    return found[-1]


# Slow: a whole window on a display of its own, asked over D-Bus object by object.
@pytest.mark.feature(46)
def test_a_screen_reader_reads_cards_presses_them_and_hears_what_a_run_gave(told: tuple[Window, Told]) -> None:
    window, frame = told
    cards = canvas_of(frame).children()
    assert [card.name for card in cards][-2:] == ["+ y = add_1 + 1", "backward y.backward()"]
    x, last = cards[0], cards[-1]
    assert x.role == "list item" and "goes to" in x.description
    assert "Action" in [name.rpartition(".")[2] for name in x.interfaces]
    assert not last.is_selected and last.press()
    wait_until("it is selected", lambda: last.is_selected and not x.is_selected)
    window.press("F5")
    wait_until("its value and gradient are told", lambda: "gradient 8" in x.description)
    assert x.description.startswith("3")


@pytest.mark.feature(46)
def test_a_screen_reader_reads_the_outline_and_every_button_of_the_toolbar(told: tuple[Window, Told]) -> None:
    window, frame = told
    canvas_of(frame)
    panels = {child.name: child for child in frame.children() if child.role == "panel"}
    rows = [each.name for each in panels["Outline"].find("tree", "Outline").children()]
    assert {"Name", "Operator", "Value", "State", "x, tensor"} <= set(rows)
    bar = next(child for child in frame.children() if child.role == "tool bar")
    buttons = [each for each in bar.children() if each.role in ("push button", "check box")]
    names = [each.name for each in buttons]
    assert {"Run", "Backward", "Step back", "Stop", "Values", "Gradients"} <= set(names) and all(names)
    clear = [each.name for each in panels["Library"].below(("tree",)) if each.role == "push button"]
    assert all(clear), clear
    assert window.process.poll() is None
