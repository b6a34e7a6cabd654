"""The preferences: pages at the left, a row for each thing to choose; everything takes effect at once."""

from collections.abc import Callable
from typing import Final

import msgspec
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from gradstudio.ui.actions.key_map import KeyMap
from gradstudio.ui.dialogs.dialog_size import fit_dialog
from gradstudio.ui.dialogs.preferences.key_page import KeyPage
from gradstudio.ui.dialogs.preferences.preference_fields import Field, Themes, field_of
from gradstudio.ui.dialogs.preferences.preference_rows import APPEARANCE, KEYS, PAGES, PreferenceRow, rows_of
from gradstudio.ui.state.settings import Preferences, Settings
from gradstudio.ui.theme import Theme, ui_font
from gradstudio.ui.widgets.form_layout import label

WIDTH_PX, HEIGHT_PX = 900, 620
PAGES_PX: Final = 150


class PreferencesDialog(QDialog):
    """All that can be chosen, by page."""

    def __init__(
        self, settings: Settings, keys: KeyMap, themes: Themes, theme: Theme, parent: QWidget | None = None
    ) -> None:
        """Show what holds now; `themes` lists the names and titles of themes there are."""
        super().__init__(parent)
        self.setWindowTitle("Preferences")
        self._settings, self._themes, self._theme = settings, themes, theme
        self._first = Preferences()
        self.fields: dict[str, Field] = {}
        self.pages, self._stack = QListWidget(self), QStackedWidget(self)
        self.keys = KeyPage(keys, theme, self)
        self._reset = QPushButton("Reset this page", self)
        self._close = QPushButton("Close", self)
        self._fill_pages()
        self._lay_out()
        self._reset.clicked.connect(self.reset_page)
        self._close.clicked.connect(self.close)
        self.pages.currentRowChanged.connect(self._on_pages_current_row_changed)
        settings.changed.connect(self._show_values)
        self._show_values()
        self.pages.setCurrentRow(0)
        fit_dialog(self, WIDTH_PX, HEIGHT_PX)

    def _fill_pages(self) -> None:
        for page in PAGES:
            rows = rows_of(page)
            if not rows and page != KEYS:
                continue
            self.pages.addItem(page)
            self._stack.addWidget(self.keys if page == KEYS else _scrolling(self._page(page, rows)))
        self.pages.setAccessibleName("Pages")
        self.pages.setObjectName("pages")

    def _page(self, page: str, rows: tuple[PreferenceRow, ...]) -> QWidget:
        inner = QWidget()
        grid = QGridLayout(inner)
        grid.setContentsMargins(4, 0, 16, 8)
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(0, 1)
        for number, row in enumerate(rows):
            field = field_of(row, self._themes, self._chooser(row.field))
            self.fields[row.field] = field
            name = QLabel(row.text)
            name.setBuddy(field)
            words = label(row.words, "dim", wrap=True)
            words.setContentsMargins(0, 0, 0, 14)
            grid.addWidget(name, 2 * number, 0, Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(field, 2 * number, 1, Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(words, 2 * number + 1, 0, 1, 2)
        if page == APPEARANCE:
            grid.addWidget(self._folder_button(), grid.rowCount(), 0, Qt.AlignmentFlag.AlignLeft)
        grid.setRowStretch(grid.rowCount(), 1)
        return inner

    def _folder_button(self) -> QPushButton:
        button = QPushButton("Open the folder of own themes")
        button.setAutoDefault(False)
        button.clicked.connect(self._on_folder_clicked)
        return button

    def _lay_out(self) -> None:
        self.pages.setFixedWidth(round(PAGES_PX * ui_font().pixelSize() / 13))
        middle = QHBoxLayout()
        middle.setSpacing(16)
        middle.addWidget(self.pages)
        middle.addWidget(self._stack, 1)
        foot = QHBoxLayout()
        foot.addWidget(self._reset)
        foot.addStretch(1)
        foot.addWidget(self._close)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 12)
        column.setSpacing(12)
        column.addLayout(middle, 1)
        column.addLayout(foot)
        for button in (self._reset, self._close):
            button.setAutoDefault(False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses the button that has the focus, and never one that has not."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            focused = self.focusWidget()
            if isinstance(focused, QPushButton) and not event.isAutoRepeat():
                focused.click()
            event.accept()
            return
        super().keyPressEvent(event)

    def show_page(self, page: str) -> None:
        """Turn to a page."""
        for item in self.pages.findItems(page, Qt.MatchFlag.MatchExactly):
            self.pages.setCurrentItem(item)

    def reset_page(self) -> None:
        """Everything of the page that is shown is as it is at first."""
        page = self.pages.currentItem().text()
        if page == KEYS:
            self._settings.change(keys={})
        else:
            self._settings.change(**{row.field: getattr(self._first, row.field) for row in rows_of(page)})

    def _chooser(self, field: str) -> Callable[[object], None]:
        return lambda value: self._settings.change(**{field: value})

    def _show_values(self, *_said: object) -> None:
        known = msgspec.structs.asdict(self._settings.preferences)
        for name, field in self.fields.items():
            field.show_value(known[name])

    def _on_pages_current_row_changed(self, row: int) -> None:
        self._stack.setCurrentIndex(row)

    def _on_folder_clicked(self) -> None:
        folder = self._settings.folder / "themes"
        folder.mkdir(parents=True, exist_ok=True)
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


def _scrolling(page: QWidget) -> QScrollArea:
    area = QScrollArea()
    area.setWidget(page)
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return area
