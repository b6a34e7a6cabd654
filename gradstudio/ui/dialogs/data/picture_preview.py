"""The first pictures of rows as they will be in X, one class after the other."""

import numpy as np
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon, QImage, QPixmap
from PySide6.QtWidgets import QListWidget, QListWidgetItem

from gradstudio.document.data.model import Prepared
from gradstudio.ui.theme import scale_px

SHOWN = 40
SIDE_PX = 72
GAP_PX = 6


class PicturePreview(QListWidget):
    """Pictures with the names of their classes."""

    def __init__(self) -> None:
        """Without a picture."""
        super().__init__()
        self.setAccessibleName("First pictures")
        self.setViewMode(QListWidget.ViewMode.IconMode)
        self.setResizeMode(QListWidget.ResizeMode.Adjust)
        self.setMovement(QListWidget.Movement.Static)
        self.setSelectionMode(QListWidget.SelectionMode.NoSelection)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setIconSize(QSize(scale_px(SIDE_PX), scale_px(SIDE_PX)))
        self.setSpacing(scale_px(GAP_PX))

    def show_rows(self, data: Prepared) -> None:
        """Show the first of each class in turns."""
        self.clear()
        target = data.train.target
        assert target is not None
        of_class = [np.flatnonzero(target == label)[:SHOWN] for label in range(len(data.classes))]
        turns = [(turn, rows[turn]) for rows in of_class for turn in range(len(rows))]
        for _, row in sorted(turns, key=lambda one: one[0])[:SHOWN]:
            item = QListWidgetItem(QIcon(self._pixmap(data, int(row))), data.classes[int(target[row])])
            self.addItem(item)

    def _pixmap(self, data: Prepared, row: int) -> QPixmap:
        pixels = np.ascontiguousarray(data.train.inputs[row].transpose(1, 2, 0))
        height, width, channels = pixels.shape
        kind = QImage.Format.Format_Grayscale8 if channels == 1 else QImage.Format.Format_RGB888
        image = QImage(pixels.tobytes(), width, height, width * channels, kind)
        keep, mode = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.FastTransformation
        if max(width, height) > self.iconSize().width():
            mode = Qt.TransformationMode.SmoothTransformation
        return QPixmap.fromImage(image.scaled(self.iconSize(), keep, mode))
