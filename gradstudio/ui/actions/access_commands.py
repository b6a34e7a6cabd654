"""Going round the window by keys: the canvas, the timeline and every dock that is seen."""

from collections.abc import Callable, Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from gradstudio.ui.app.window.window_frame import Frame
from gradstudio.ui.docks.dock_registry import DockArea, docks_of

ORDER: tuple[DockArea, ...] = ("left", "bottom", "right")
"""Of the docks, as the eye goes."""


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
        place = holders[0] if holders else -1 if by > 0 else 0
        for turn in range(1, len(parts) + 1):
            name, part = parts[(place + by * turn) % len(parts)]
            if (goal := within(part)) is not None:
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


def within(part: QWidget) -> QWidget | None:
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
