"""Working without a mouse: walking, wiring, going round the window: canvas, timeline and every dock that is seen."""

from collections.abc import Callable, Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from gradstudio.ui.actions.action_set import ActionRow, Row
from gradstudio.ui.app.window.window_frame import Frame
from gradstudio.ui.canvas.view import CanvasView
from gradstudio.ui.docks.dock_registry import DockArea, docks_of

ORDER: tuple[DockArea, ...] = ("left", "bottom", "right")
"""Of the docks, as the eye goes."""
WALKS = "View/Walk"


class AccessCommands:
    """Moves the keyboard's focus from part to part."""

    def __init__(self, frame: Frame, middle: Callable[[], dict[str, QWidget]], told: Callable[[str], None]) -> None:
        """`middle` are canvas and timeline by what they are called; `told` says where the focus is now."""
        self._frame, self._middle, self._told = frame, middle, told

    def next_part(self) -> None:
        """The next part of the window that is seen gets the keys."""
        self._go(1)

    def previous_part(self) -> None:
        """The one before."""
        self._go(-1)

    def _go(self, by: int) -> None:
        parts = list(self._parts())
        focused = QApplication.focusWidget()
        holders = [k for k, (_, part) in enumerate(parts) if focused is not None and _holds(part, focused)]
        if holders:
            place = holders[0]
        elif by > 0:
            place = -1
        else:
            place = 0
        for turn in range(1, len(parts) + 1):
            name, part = parts[(place + by * turn) % len(parts)]
            if (goal := focus_target(part)) is not None:
                goal.setFocus(Qt.FocusReason.TabFocusReason)
                self._told(name)
                return

    def _parts(self) -> Iterator[tuple[str, QWidget]]:
        for name, part in self._middle().items():
            if part.isVisible():
                yield name, part
        for row in (row for area in ORDER for row in docks_of(area)):
            dock = self._frame.docks[row.id]
            inner: QWidget | None = dock.widget()
            if inner is not None and dock.isVisible() and not inner.visibleRegion().isEmpty():
                yield dock.windowTitle(), inner


def focus_target(part: QWidget) -> QWidget | None:
    """What gets the keys in a part: what had them last, else the first that takes them."""
    last: QWidget | None = part.focusWidget()
    if last is not None and _takes(last):
        return last
    if _takes(part):
        return part.focusProxy() or part
    return next((child for child in part.findChildren(QWidget) if _takes(child) and child.focusProxy() is None), None)


def _takes(widget: QWidget) -> bool:
    by_tab = widget.focusPolicy() & Qt.FocusPolicy.TabFocus == Qt.FocusPolicy.TabFocus
    return by_tab and widget.isEnabled() and widget.isVisible()


def _holds(part: QWidget, focused: QWidget) -> bool:
    return focused is part or part.isAncestorOf(focused)


def access_rows(canvas: CanvasView, c: AccessCommands) -> Iterator[Row]:
    """Everything that a mouse does without a menu."""
    yield from _walk_rows(canvas)
    next_words = "Canvas, timeline and docks that are seen get the keys one after the other"
    yield ActionRow("access.next_part", "Next part", WALKS, 2, c.next_part, ("Ctrl+F6",), tooltip=next_words)
    yield ActionRow("access.previous_part", "Previous part", WALKS, 2, c.previous_part, ("Ctrl+Shift+F6",))
    yield from _wire_rows(canvas)


def _walk_rows(canvas: CanvasView) -> Iterator[Row]:
    yield ActionRow(
        "access.back",
        "To what feeds it",
        WALKS,
        1,
        canvas.keyboard_navigation.walk_back,
        ("Alt+Left",),
        tooltip="Go along the first wire into the current card, or back",
        canvas_only=True,
    )
    yield ActionRow(
        "access.on",
        "To what follows",
        WALKS,
        1,
        canvas.keyboard_navigation.walk_on,
        ("Alt+Right",),
        tooltip="Go along the first wire out of the current card, or back",
        canvas_only=True,
    )
    yield ActionRow(
        "access.before",
        "Statement before",
        WALKS,
        1,
        canvas.keyboard_navigation.statement_before,
        ("Ctrl+Up",),
        tooltip="Go to the statement in front of the current one",
        canvas_only=True,
    )
    yield ActionRow(
        "access.after",
        "Statement after",
        WALKS,
        1,
        canvas.keyboard_navigation.statement_after,
        ("Ctrl+Down",),
        tooltip="Go to the statement behind the current one",
        canvas_only=True,
    )


def _wire_rows(canvas: CanvasView) -> Iterator[Row]:
    yield ActionRow(
        "access.wire_from",
        "Wire from here…",
        "Graph",
        3,
        canvas.keyboard_navigation.wire_from_here,
        ("W",),
        tooltip="Choose, by typing, what a result of the current card shall flow into",
        canvas_only=True,
    )
    yield ActionRow(
        "access.wire_into",
        "Wire into here…",
        "Graph",
        3,
        canvas.keyboard_navigation.wire_into_here,
        ("Shift+W",),
        tooltip="Choose, by typing, what shall flow into an input of the current card",
        canvas_only=True,
    )
