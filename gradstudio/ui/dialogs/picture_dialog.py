"""Asks how a picture of the canvas shall look, and shows it. It knows nothing of documents."""

from collections.abc import Callable
from typing import Final, NamedTuple

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QBrush, QImage, QPainter, QPixmap
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from gradstudio.ui.pictures.picture_formats import Style
from gradstudio.ui.theme import Theme
from gradstudio.ui.theme.model import scale_px

SCALES: Final = (1, 2, 4)
THEMES: Final = (("", "As in the window; a paper is white"), ("light", "Light"), ("dark", "Dark"))
STYLES: Final[tuple[tuple[Style, str], ...]] = (
    ("window", "Cards, as in the window"),
    ("paper", "Paper: small boxes with formulas"),
)
PREVIEW_PX: Final = (480, 300)
SQUARE_PX: Final = 8
"""Side of the squares that are seen where a picture is transparent."""


NOTE: Final = (
    "A PNG also holds the whole document, and opens here again. SVG, PDF and TikZ have no scale. "
    "TikZ, the page that steps and films are drawn as in a paper."
)


class PictureChoice(NamedTuple):
    """How a picture shall look.

    Attributes:
        scale: picture pixels a scene pixel.
        selection: only what is selected.
        theme: "light", "dark", or "": that of the window.
        transparent: without the canvas's ground.
        style: cards, or the small boxes of a paper.
        formulas: of a paper, nothing of a run.
    """

    scale: int = 2
    selection: bool = False
    theme: str = ""
    transparent: bool = False
    style: Style = "window"
    formulas: bool = False


class PictureDialog(QDialog):
    """The choices, and the picture as it will be.

    Signals:
        save_asked(): the dialog stays until it is accepted.
    """

    save_asked = Signal()

    def __init__(
        self,
        choice: PictureChoice,
        draw: Callable[[PictureChoice, QSize], tuple[QImage, QSize]],
        theme: Theme,
        parent: QWidget | None = None,
        *,
        selected: int = 0,
    ) -> None:
        """Begin with a choice.

        Args:
            choice: what was chosen last.
            draw: a picture that fits a size in device pixels, and the size in pixels of the one to be written.
            theme: colours of what lies behind a transparent picture.
            parent: the window.
            selected: how many nodes are selected; with none the choice of the selection is not to be had.
        """
        super().__init__(parent)
        self.setWindowTitle("Export picture")
        self._draw, self._theme = draw, theme
        self.styles, self.scale, self.themes = QComboBox(self), QComboBox(self), QComboBox(self)
        self.selection = QCheckBox(f"Only what is &selected ({selected})" if selected else "Only what is &selected")
        self.transparent = QCheckBox("&Transparent ground")
        self.formulas = QCheckBox("&Formulas alone, without values and gradients")
        self.size_words, self.preview = QLabel(self), QLabel(self)
        self._fill(choice, selected)
        self._build()
        for box in (self.styles, self.scale, self.themes):
            box.currentIndexChanged.connect(self._show)
        for check in (self.selection, self.transparent, self.formulas):
            check.toggled.connect(self._show)
        self._show()

    @property
    def choice(self) -> PictureChoice:
        """What is chosen now."""
        return PictureChoice(
            SCALES[self.scale.currentIndex()],
            self.selection.isChecked(),
            THEMES[self.themes.currentIndex()][0],
            self.transparent.isChecked(),
            STYLES[self.styles.currentIndex()][0],
            self.formulas.isChecked(),
        )

    # ------------------------------------------------------------------ inner workings

    def _fill(self, choice: PictureChoice, selected: int) -> None:
        self.scale.addItems([f"{scale}×" for scale in SCALES])
        self.scale.setCurrentIndex(SCALES.index(choice.scale))
        self.themes.addItems([words for _, words in THEMES])
        self.themes.setCurrentIndex([name for name, _ in THEMES].index(choice.theme))
        self.selection.setEnabled(bool(selected))
        self.selection.setChecked(choice.selection and bool(selected))
        if not selected:
            self.selection.setToolTip("Nothing is selected")
        self.transparent.setChecked(choice.transparent)
        self.styles.addItems([words for _, words in STYLES])
        self.styles.setCurrentIndex([name for name, _ in STYLES].index(choice.style))
        self.formulas.setChecked(choice.formulas)

    def _build(self) -> None:
        self.preview.setFixedSize(*map(scale_px, PREVIEW_PX))
        self.preview.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.preview.setAccessibleName("Preview")
        self.size_words.setProperty("role", "dim")
        form = QFormLayout()
        form.addRow("St&yle", self.styles)
        form.addRow("S&cale", self.scale)
        form.addRow("T&heme", self.themes)
        form.addRow("", self.selection)
        form.addRow("", self.transparent)
        form.addRow("", self.formulas)
        note = QLabel(NOTE, self)
        note.setProperty("role", "dim")
        note.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 18)
        column.setSpacing(12)
        column.addWidget(self.preview)
        column.addWidget(self.size_words, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addLayout(form)
        column.addWidget(note)
        column.addLayout(self._buttons())
        self.styles.setFocus()

    def _buttons(self) -> QHBoxLayout:
        self.save, cancel = QPushButton("&Save…", self), QPushButton("Cancel", self)
        self.save.setDefault(True)
        cancel.setAutoDefault(False)
        self.save.clicked.connect(self.save_asked)
        cancel.clicked.connect(self.reject)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(cancel)
        row.addWidget(self.save)
        return row

    def _show(self) -> None:
        self.formulas.setEnabled(self.choice.style == "paper")
        ratio = self.devicePixelRatioF()
        image, size = self._draw(self.choice, self.preview.size() * ratio)
        pixmap = QPixmap.fromImage(self._on_squares(image, round(SQUARE_PX * ratio)))
        pixmap.setDevicePixelRatio(ratio)
        self.preview.setPixmap(pixmap)
        self.size_words.setText(f"{size.width():,} × {size.height():,} pixels")
        self.preview.setAccessibleDescription(self.size_words.text())

    def _on_squares(self, image: QImage, side: int) -> QImage:
        """The picture over squares of two shades, which are seen where it is transparent."""
        tile = QPixmap(2 * side, 2 * side)
        tile.fill(self._theme.color("surface"))
        painter = QPainter(tile)
        for x, y in ((0, 0), (side, side)):
            painter.fillRect(x, y, side, side, self._theme.color("surface_raised"))
        painter.end()
        shown = QImage(image.size(), QImage.Format.Format_ARGB32_Premultiplied)
        painter = QPainter(shown)
        painter.fillRect(shown.rect(), QBrush(tile))
        painter.drawImage(0, 0, image)
        painter.end()
        return shown
