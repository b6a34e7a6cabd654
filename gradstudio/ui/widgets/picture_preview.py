"""The first pictures of rows as they will be in X, one class after the other."""

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon, QImage, QPixmap
from PySide6.QtWidgets import QListWidget, QListWidgetItem

from gradstudio.document.data.model import Numbers, Rows
from gradstudio.ui.theme import scale_px

SHOWN = 40
SIDE_PX = 72
GAP_PX = 6


class PicturePreview(QListWidget):
    """Pictures with the names of their classes."""

    def __init__(self, shown: int = SHOWN, side_px: int = SIDE_PX) -> None:
        """Without a picture; at most `shown` come, each in a square of that side at the usual size of text."""
        super().__init__()
        self._shown = shown
        self.setAccessibleName("First pictures")
        self.setViewMode(QListWidget.ViewMode.IconMode)
        self.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.setMovement(QListWidget.Movement.Static)
        self.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setIconSize(QSize(scale_px(side_px), scale_px(side_px)))
        self.setSpacing(scale_px(GAP_PX))

    def show_rows(self, rows: Rows, classes: tuple[str, ...]) -> None:
        """Show the first of each class in turns; inputs ``(rows, 1 or 3, height, width)`` of uint8."""
        self.clear()
        for row in self._first(rows.target, len(rows.inputs), len(classes)):
            name = classes[int(rows.target[row])] if rows.target is not None else ""
            item = QListWidgetItem(QIcon(self._pixmap(rows.inputs[row])), name)
            item.setToolTip(name)
            self.addItem(item)

    def _first(self, target: Numbers | None, count: int, classes: int) -> list[int]:
        if target is None:
            return list(range(min(count, self._shown)))
        of_class = [np.flatnonzero(target == label)[: self._shown] for label in range(classes)]
        turns = [(turn, int(rows[turn])) for rows in of_class for turn in range(len(rows))]
        return [row for _, row in sorted(turns, key=lambda one: one[0])[: self._shown]]

    def _pixmap(self, row: NDArray[np.generic]) -> QPixmap:
        pixels = np.ascontiguousarray(row.transpose(1, 2, 0))
        height, width, channels = pixels.shape
        kind = QImage.Format.Format_Grayscale8 if channels == 1 else QImage.Format.Format_RGB888
        image = QImage(pixels.tobytes(), width, height, width * channels, kind)
        keep, mode = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.FastTransformation
        if max(width, height) > self.iconSize().width():
            mode = Qt.TransformationMode.SmoothTransformation
        return QPixmap.fromImage(image.scaled(self.iconSize(), keep, mode))
