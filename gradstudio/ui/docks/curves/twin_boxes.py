"""Two axes of values over one axis of turns: what is drawn by each, and how the mouse moves both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyqtgraph

Y = pyqtgraph.ViewBox.YAxis


class RightBox(pyqtgraph.ViewBox):  # type: ignore[misc]  # pyqtgraph has no types
    """What is drawn by the axis at the right. The mouse over the plot is the left box's, over the axis its own."""

    def __init__(self, left: LeftBox) -> None:
        """Nothing is drawn by it yet; its turns are those of `left`."""
        super().__init__(enableMenu=False)
        self._left = left
        self.setMouseEnabled(x=False, y=True)
        self.setXLink(left)
        self.hide()

    def follow(self, before: tuple[float, float], after: tuple[float, float]) -> None:
        """The left axis was moved by hand, from values to others: move by the same share of the height."""
        low, high = self.viewRange()[Y]
        scale = (high - low) / (before[1] - before[0])
        first, last = (low + (one - before[0]) * scale for one in after)
        self.setYRange(first, last, padding=0)

    def itemBoundsChanged(self, item: object) -> None:
        super().itemBoundsChanged(item)
        self._left.itemBoundsChanged(item)  # it may reach over more turns than what is drawn there

    def wheelEvent(self, event: object, axis: int | None = None) -> None:
        if axis is None:
            event.ignore()  # type: ignore[attr-defined]  # pyqtgraph's
        else:
            super().wheelEvent(event, axis)

    def mouseDragEvent(self, event: object, axis: int | None = None) -> None:
        if axis is None:
            event.ignore()  # type: ignore[attr-defined]  # pyqtgraph's
        else:
            super().mouseDragEvent(event, axis)


class LeftBox(pyqtgraph.ViewBox):  # type: ignore[misc]  # pyqtgraph has no types
    """What is drawn by the axis at the left, and where the mouse is over both.

    Attributes:
        right: what is drawn by the other axis.
    """

    def __init__(self) -> None:
        """Nothing is drawn yet."""
        super().__init__(enableMenu=False)
        self.right = RightBox(self)

    def childrenBounds(self, *args: object, **options: object) -> list[list[float] | None]:
        """What there is to see: turns of both, values of its own."""
        turns, values = super().childrenBounds(*args, **options)
        if self.right.isVisible() and (others := self.right.childrenBounds()[0]) is not None:
            turns = others if turns is None else [min(turns[0], others[0]), max(turns[1], others[1])]
        return [turns, values]

    def wheelEvent(self, event: object, axis: int | None = None) -> None:
        with self._both(axis):
            super().wheelEvent(event, axis)

    def mouseDragEvent(self, event: object, axis: int | None = None) -> None:
        with self._both(axis):
            super().mouseDragEvent(event, axis)

    @contextmanager
    def _both(self, axis: int | None) -> Iterator[None]:
        """What moves the values of this box over the plot moves those of the other, too."""
        before = tuple(self.viewRange()[Y])
        yield
        after = tuple(self.viewRange()[Y])
        if axis is None and after != before and self.right.isVisible():
            self.right.follow(before, after)
