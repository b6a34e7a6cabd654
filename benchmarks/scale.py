"""A program of 10,000 nodes and 20,000 wires in the whole window: CPU of each gesture up to its picture.

Beside each figure stands the longest piece of work behind the gesture in which the window does not answer (shapes that
are asked for, the recovery file, the Code dock). The engine is the real process; its time is not in the figures.
"""

import gc
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint

from benchmarks._scale import Button, Key, Keys, Seat, seat, wide_program
from gradstudio.document.file import save
from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId

NODES = 10_000
MIDDLE, LATER = f"n{NODES // 2}", f"n{NODES // 2 + 5}"
TIMES = 3
OPEN_GOAL_MS, GOAL_MS = 1000, 16
Way = tuple[str, Callable[[], object], Callable[[], object] | None, Callable[[], object] | None]
"""A gesture, and what comes before and after it."""


def measure() -> list[dict[str, Any]]:
    """Opening, gestures before a run, the run, and gestures in its record."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, seat() as person:
        path = Path(folder) / "large.gsg"
        save(wide_program(NODES), path)
        gc.collect()
        gc.freeze()  # as the program does when its window stands
        person.time(lambda: person.window.file.open_path(path))
        rows.append(_row("opened and painted", [(person.first_ms, person.pause_ms)], OPEN_GOAL_MS))
        person.canvas.navigation.travel.smooth = False
        person.at_hundred(MIDDLE)
        person.rest()
        rows += [_timed(person, *way) for way in (*_looks(person), *_edits(person))]
        person.time(person.session.run.run)
        rows.append(_row("a recorded run begun", [(person.first_ms, person.pause_ms)], GOAL_MS))
        rows += [_timed(person, *way) for way in _moments(person)]
    return rows


def _looks(person: Seat) -> Iterator[Way]:
    view = person.canvas.viewport()
    middle = QPoint(view.width() // 2, view.height() // 2)
    back = lambda: person.at_hundred(MIDDLE)  # noqa: E731
    nothing = lambda: person.session.attention.select(())  # noqa: E731

    def pan() -> None:
        person.press(middle, Button.MiddleButton)
        person.move(middle + QPoint(30, 20), Button.MiddleButton)
        person.release(middle + QPoint(30, 20), Button.MiddleButton)

    yield "pan", pan, None, back
    yield "wheel", lambda: person.wheel(middle, 1), None, back
    yield "select", lambda: person.click(person.header(MIDDLE)), nothing, nothing
    yield "select all", person.window.actions["edit.select_all"].trigger, nothing, nothing
    yield "press on a port", lambda: person.press(person.port(MIDDLE)), None, lambda: person.key(Key.Key_Escape)


def _edits(person: Seat) -> Iterator[Way]:
    store = person.session.graph_store
    numbers = iter(range(3, 10**6))

    def drag() -> None:
        at = person.header(MIDDLE)
        person.drag(at, at + QPoint(20, 30))

    def literal() -> None:
        store.submit(recipes.set_literal(store.graph, ItemId("n0"), "size", f"({next(numbers)}, 3)"), "Set")

    def rename() -> None:
        store.submit(recipes.rename(store.graph, ItemId(MIDDLE), (f"name{next(numbers)}",)), "Rename")

    def add() -> None:
        at = person.canvas.camera.to_scene(300, 300)
        store.submit(recipes.add_operator(store.graph, "torch.relu", *at)[0], "Add")

    yield "drag and let go", drag, None, store.undo
    yield "literal", literal, None, store.undo
    yield "rename", rename, None, store.undo
    yield "wire", lambda: person.drag(person.port(MIDDLE), person.port(LATER, "input")), None, store.undo
    yield "drop", add, None, store.undo
    yield "undo", store.undo, add, None
    chosen = lambda: person.session.attention.select([ItemId(MIDDLE)])  # noqa: E731
    yield "duplicate", person.canvas.selection_commands.duplicate_selection, chosen, store.undo
    yield "delete", lambda: person.key(Key.Key_Delete), chosen, store.undo


def _moments(person: Seat) -> Iterator[Way]:
    now = person.window.actions["run.to_now"].trigger
    yield "step back", lambda: person.key(Key.Key_F10, Keys.ShiftModifier), now, None
    yield "step", lambda: person.key(Key.Key_F10), None, None
    yield "jump", lambda: person.session.attention.look_at(NODES // 3), now, now


def _timed(
    person: Seat,
    name: str,
    do: Callable[[], object],
    before: Callable[[], object] | None,
    after: Callable[[], object] | None,
) -> dict[str, Any]:
    """The least of some times, with the worst beside it."""
    taken = []
    for _ in range(TIMES):
        for step, is_timed in ((before, False), (do, True), (after, False)):
            if step is not None and is_timed:
                person.time(step)
                taken.append((person.first_ms, person.pause_ms))
            elif step is not None:
                step()
                person.rest()
    return _row(name, taken, GOAL_MS)


def _row(name: str, taken: list[tuple[float, float]], goal: float) -> dict[str, Any]:
    pictures, pauses = zip(*taken, strict=True)
    measured = min(pictures)
    worst = f", worst {max(pictures):.1f}" if len(taken) > 1 else ""
    return {
        "name": f"scale: {name}, {NODES:,} nodes",
        "measured": round(measured, 1),
        "goal": goal,
        "unit": "ms",
        "ok": measured <= goal,
        "compared_with": f"CPU, least of {len(taken)}{worst}; longest pause behind it {_span(pauses)} ms",
    }


def _span(values: tuple[float, ...]) -> str:
    """The least and the worst."""
    return f"{min(values):.0f}, worst {max(values):.0f}" if len(values) > 1 else f"{values[0]:.0f}"
