"""Key gestures in a whole window with the real engine, and how many of our own calls and objects each takes."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import numpy as np
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

import gradstudio
from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits
from gradstudio.protocol.messages.requests import SampleMemory
from gradstudio.scene.camera import Camera
from gradstudio.ui.canvas.paint.level_of_detail import DISTANT
from gradstudio.ui.state.run.problem_store import REFRESH_MS
from gradstudio.ui.state.throttle import Throttle
from tests.ui.canvas.conftest import Hand
from tests.ui.desk import Desk, Key, Keys

OURS = str(Path(gradstudio.__file__).parent)
NUMPY = str(Path(np.__file__).parent)
MAKERS = frozenset({"__init__", "__new__"})
HELD_MS = 60_000
"""Longer than any gesture."""
ASKED_BY_QT = frozenset({"event", "eventFilter", "heightForWidth", "resizeEvent"})
"""Overrides that Qt calls as often as it happens to lay out and paint: more passes where the machine is busy."""
SOON_MS = 300
"""What waits so long at most belongs to the gesture."""


class Calls:
    """Calls in `gradstudio`, of numpy's functions in Python, and objects of classes written in Python."""

    def __init__(self) -> None:
        self.by_function = Counter[tuple[str, str]]()
        self.objects = self.of_numpy = 0

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        if event != "call":
            return
        code = frame.f_code
        if code.co_name in MAKERS:
            self.objects += 1
        self.of_numpy += code.co_filename.startswith(NUMPY)
        if code.co_filename.startswith(OURS):
            self.by_function[code.co_filename.removeprefix(OURS), code.co_name] += 1

    @property
    def total(self) -> int:
        """All calls."""
        return self.by_function.total()

    @property
    def own(self) -> int:
        """Those that do not hang on how often Qt passes over the window."""
        return sum(count for (_, name), count in self.by_function.items() if name not in ASKED_BY_QT)

    def told(self) -> str:
        """The functions that are called most."""
        lines = [f"{count:6} {path} {name}" for (path, name), count in self.by_function.most_common(20)]
        return "\n".join([f"{self.total} calls, {self.objects} objects, {self.of_numpy} calls of numpy", *lines])


@contextmanager
def counting() -> Iterator[Calls]:
    """Count what runs within."""
    calls = Calls()
    sys.setprofile(calls)
    try:
        yield calls
    finally:
        sys.setprofile(None)


def timers_about_to_fire(desk: Desk) -> list[QTimer]:
    """Those of the window and the session, in the order in which they will fire."""
    timers = [*desk.window.frame.findChildren(QTimer), *desk.session.findChildren(QTimer)]
    waiting = [timer for timer in timers if timer.isActive() and timer.isSingleShot() and timer.interval() < SOON_MS]
    return sorted(waiting, key=QTimer.remainingTime)


def is_quiet(desk: Desk) -> bool:
    """Whether nothing waits to be shown: no timer of the window or the session is about to fire."""
    return not timers_about_to_fire(desk)


def come_to_rest(desk: Desk) -> None:
    """Let all that a gesture began come to its end."""
    desk.rest()
    desk.until(lambda: is_quiet(desk))
    QApplication.processEvents()
    desk.until(lambda: is_quiet(desk))


def come_to_rest_at_once(desk: Desk) -> None:
    """The same where nobody counts how often anything is done: what waits a quarter of a second does not wait."""
    desk.rest()
    usual = dict[QTimer, int]()
    while waiting := timers_about_to_fire(desk):
        for timer in waiting:
            usual.setdefault(timer, timer.interval())
            timer.start(0)
        QApplication.processEvents()
    for timer, interval_ms in usual.items():
        timer.setInterval(interval_ms)
    come_to_rest(desk)


@contextmanager
def looked_at_last(desk: Desk) -> Iterator[Callable[[], None]]:
    """Look for mistakes when it is asked for: else it begins anew with each answer, and a busy machine's come late."""
    (throttle,) = desk.session.problems.findChildren(Throttle)
    throttle.set_interval(HELD_MS)
    try:
        yield throttle.flush
    finally:
        throttle.set_interval(REFRESH_MS)


NUMBERS = "torch.tensor([1.0, 2.0], requires_grad=True)"
"""Cards that say their values in figures."""
PICTURES = "torch.eye(6, requires_grad=True)"
"""Cards that show their values as pictures."""


def program(nodes: int, leaf: str) -> str:
    """A chain of `nodes` cards, all of them on the way from a leaf to a loss and back."""
    lines = ["import torch", "", f"x0 = {leaf}", "scale = torch.tensor(0.5)"]
    lines += [f"x{k} = torch.tanh(x{k - 1})" if k % 2 else f"x{k} = x{k - 1} * scale" for k in range(1, nodes - 3)]
    return "\n".join([*lines, f"loss = x{nodes - 4}.sum()", "loss.backward()", ""])


@dataclass(frozen=True)
class Gesture:
    """What is done, what is done before it so that it can be, and what after it for the next one."""

    do: Callable[[], object]
    before: tuple[Callable[[], object], ...] = ()
    after: tuple[Callable[[], object], ...] = ()


class Gestures:
    """A person before a program that has run, the cards around its beginning in view at 100 %."""

    def __init__(self, desk: Desk, qtbot: QtBot, nodes: int, leaf: str = NUMBERS) -> None:
        self.desk, self.window = desk, desk.window
        desk.sit_down(qtbot)
        desk.session.engine.send(SampleMemory(every_ms=0))
        desk.open(program(nodes, leaf))
        desk.until(lambda: desk.session.results.tables.inference)
        self.hand = Hand(desk.window.canvas, desk.session)
        self.values = 0
        self.run()
        self.window.canvas.navigation.travel.smooth = False
        self.at_hundred()
        come_to_rest(desk)

    def at_hundred(self) -> None:
        """The first cards at 100 %."""
        box = self.window.canvas.scene.placement.box(self.desk.node("x1"))
        assert box is not None
        self.window.canvas.navigation.set_camera(Camera(1.0, box.x - 300, box.y - 200))

    def from_afar(self) -> None:
        """The same cards and those around them as plates."""
        box = self.window.canvas.scene.placement.box(self.desk.node("x1"))
        assert box is not None
        self.window.canvas.navigation.set_camera(Camera(DISTANT - 0.1, box.x - 300, box.y - 200))

    def run(self) -> None:
        """F5 to the last row."""
        self.desk.session.run.run()
        self.desk.until(lambda: self.desk.session.run.state.at_end)
        come_to_rest(self.desk)

    def key(self, key: Key, keys: Keys = Keys.NoModifier) -> Callable[[], None]:
        """A key on the canvas."""
        return lambda: self.desk.key(key, keys)

    def undo(self) -> None:
        self.desk.session.graph_store.undo_stack.undo()

    def redo(self) -> None:
        self.desk.session.graph_store.undo_stack.redo()

    def select(self, *names: str) -> None:
        self.desk.session.attention.select([self.desk.node(name) for name in names])

    def drop(self) -> None:
        """Out of the Library over an empty place."""
        view = self.window.canvas.viewport()
        self.hand.drop("torch.relu", self.window.canvas.camera.to_scene(view.width() / 2, view.height() - 20))

    def wire(self) -> None:
        """From an output that is in view to another input that is."""
        hand = self.hand
        hand.drag(hand.output(self.desk.node("x0")), hand.input(self.desk.node("x2"), "other"))

    def literal(self) -> None:
        """Another number in a field."""
        self._set("0.25" if self.values % 2 else "0.75", self._submit)

    def slide(self) -> None:
        """One move of a slider, up to the painted loss."""
        run = self.desk.session.run
        self._set(f"0.{50 + self.values % 40}", lambda edits: run.follow(edits, "Slide data", "slide"))

    def _set(self, text: str, submit: Callable[..., object]) -> None:
        self.values += 1
        submit(recipes.set_literal(self.desk.graph, self.desk.node("scale"), "data", text))

    def _submit(self, edits: Edits) -> None:
        self.desk.session.graph_store.submit(edits, "Edit data")

    def jump(self) -> None:
        """To the first moment."""
        self.desk.session.attention.look_at(1)

    def wheel(self, notches: int) -> Callable[[], None]:
        """One notch over the first card."""
        return lambda: self.hand.wheel(self.hand.header(self.desk.node("x1")), notches)

    def pan(self, pixels: int) -> Callable[[], None]:
        """By the middle button."""
        camera, middle = self.window.canvas.camera, Qt.MouseButton.MiddleButton

        def gesture() -> None:
            self.hand.drag(camera.to_scene(300, 300), camera.to_scene(300 + pixels, 300), middle)

        return gesture

    def move(self, pixels: int) -> Callable[[], None]:
        """A card dragged a little way."""

        def gesture() -> None:
            x, y = self.hand.header(self.desk.node("x1"))
            self.hand.drag((x, y), (x, y + pixels))

        return gesture

    def hover(self) -> None:
        """Over a card, from the empty canvas."""
        self.hand.move(self.hand.header(self.desk.node("x1")), Qt.MouseButton.NoButton)

    def leave(self) -> None:
        """Away from it."""
        self.hand.move(self.window.canvas.camera.to_scene(4, 4), Qt.MouseButton.NoButton)

    def overlay(self) -> None:
        """The types on the cards, on or off."""
        overlays = self.window.overlays
        overlays.switch("dtype_device", not overlays["dtype_device"])

    def click(self) -> None:
        """On the header of a card."""
        self.hand.click(self.hand.header(self.desk.node("x1")))

    def nothing_selected(self) -> None:
        self.desk.session.attention.select(())

    def letter(self) -> None:
        """A space at the end of a line of the Code dock."""
        editor = self.window.room.code.editor
        editor.go_to(3, 10**6)
        QTest.keyClick(editor, Key.Key_Space)

    def no_letter(self) -> None:
        QTest.keyClick(self.window.room.code.editor, Key.Key_Backspace)

    def command(self, identifier: str) -> Callable[[], None]:
        """A command, as its menu or key gives it."""
        return lambda: self.window.actions[identifier].trigger()

    def escape(self) -> None:
        popup = QApplication.activePopupWidget() or QApplication.activeModalWidget() or QApplication.focusWidget()
        assert popup is not None
        QTest.keyClick(popup, Key.Key_Escape)

    def two_tabs(self) -> None:
        """Another document behind this one."""
        if len(self.window.documents.tabs) == 1:
            self.command("file.new")()
            self.command("view.previous_tab")()

    def one_tab(self) -> None:
        documents = self.window.documents
        documents.show(documents.tabs[0])
        documents.close(documents.tabs[1])


def gestures(at: Gestures) -> dict[str, Gesture]:
    """All of them by name, in an order in which each finds what it needs."""
    back, step = at.key(Key.Key_F10, Keys.ShiftModifier), at.key(Key.Key_F10)
    to_now, undo = at.command("run.to_now"), at.undo
    return {
        "run": Gesture(at.run),
        "step back": Gesture(back, before=(to_now,)),
        "step": Gesture(step, before=(to_now, back, back)),
        "jump": Gesture(at.jump, before=(to_now,), after=(to_now,)),
        "zoom": Gesture(at.wheel(1), after=(at.at_hundred,)),
        "pan": Gesture(at.pan(60), after=(at.at_hundred,)),
        "hover": Gesture(at.hover, before=(at.leave,), after=(at.leave,)),
        "select": Gesture(at.click, before=(at.nothing_selected,), after=(at.nothing_selected,)),
        "overlay": Gesture(at.overlay, after=(at.overlay,)),
        "search": Gesture(at.key(Key.Key_Tab), after=(at.escape,)),
        "palette": Gesture(at.command("help.palette"), after=(at.escape,)),
        "tab change": Gesture(at.command("view.next_tab"), before=(at.two_tabs,), after=(at.one_tab,)),
        "key in the code": Gesture(at.letter, after=(at.no_letter,)),
        "slider move": Gesture(at.slide),
        "literal": Gesture(at.literal, after=(undo,)),
        "undo": Gesture(undo, before=(at.literal,)),
        "redo": Gesture(at.redo, before=(at.literal, undo), after=(undo,)),
        "drag": Gesture(at.move(40), after=(undo,)),
        "drop": Gesture(at.drop, after=(undo,)),
        "wire": Gesture(at.wire, after=(undo,)),
        "duplicate": Gesture(at.command("edit.duplicate"), before=(lambda: at.select("x2"),), after=(undo,)),
        "delete": Gesture(at.command("edit.delete"), before=(lambda: at.select("x2"),), after=(undo,)),
    }


def picture_gestures(at: Gestures) -> dict[str, Gesture]:
    """Those whose values come as pictures: what is worked out of a thousand numbers for each card and move."""
    return {
        "slider move, pictures": Gesture(at.slide),
        "slider move, pictures from afar": Gesture(at.slide, before=(at.from_afar,), after=(at.at_hundred,)),
    }


def count(at: Gestures, gesture: Gesture) -> Calls:
    """What a gesture takes the second or third time: the less, for what is done at leisure may fall into one."""
    found = list[Calls]()
    for rest in (come_to_rest_at_once, come_to_rest, come_to_rest):
        for each in gesture.before:
            each()
            come_to_rest_at_once(at.desk)
        with looked_at_last(at.desk) as look, counting() as calls:
            gesture.do()
            rest(at.desk)
            look()
            rest(at.desk)
        for each in gesture.after:
            each()
            come_to_rest_at_once(at.desk)
        found.append(calls)
    return min(found[1:], key=lambda calls: calls.total)
