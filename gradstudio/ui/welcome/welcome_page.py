"""The welcome page: begin anew, go on with a recent file, or open an example; it lies over the window."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QImage, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QCheckBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gradstudio.ui.theme import Theme, icon, icon_pixmap, ui_font
from gradstudio.ui.theme.model import scale_px
from gradstudio.ui.welcome.arrow_navigation import nearest
from gradstudio.ui.welcome.example_gallery import Group
from gradstudio.ui.welcome.relative_date import relative_date
from gradstudio.ui.welcome.thumbnails import Thumbnails
from gradstudio.ui.welcome.tiles import ExamplePlace, Place, RecentPlace
from gradstudio.ui.widgets.form_layout import label

MAX_RECENT: Final = 6
COLUMN_PX: Final = 214
GAP_PX: Final = 12
MOST_COLUMNS: Final = 4
"""More would stay empty on most shelves."""
"""No example is narrower, as long as there is room for two."""
SIDE_PX: Final = 320
KEY_PRESS: Final = QEvent.Type.KeyPress
ARROWS: Final = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down)
VERBS: Final = (
    ("tour", "Take the tour", "tour", "Build, run and differentiate something: two minutes, on a live canvas"),
    ("new", "New", "new", "An empty canvas"),
    ("open", "Open…", "open", "A document, a Python text, or a picture that holds a document"),
    ("import", "Import module…", "import_module", "A torch.nn.Module of your own as a canvas"),
)
"""Id, text, icon and words of what begins something."""


class WelcomePage(QWidget):
    """Lies over the window until something is opened.

    Signals:
        asked(object): the id of a verb: "tour", "new", "open", "import".
        recent_chosen(object), example_chosen(object): the path.
        at_start_chosen(object): whether it is shown at the next start.
        left(): Esc: the window below is wanted.
    """

    asked = Signal(object)
    recent_chosen = Signal(object)
    example_chosen = Signal(object)
    at_start_chosen = Signal(object)
    left = Signal()

    def __init__(self, parent: QWidget, groups: Sequence[Group], pictures: Thumbnails, theme: Theme) -> None:
        """A page over a widget; `set_recent` tells it the files."""
        super().__init__(parent)
        self._theme, self._pictures, self._groups = theme, pictures, tuple(groups)
        self.setObjectName("welcome")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName("Welcome")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.verbs: dict[str, QPushButton] = {}
        self.recent: list[RecentPlace] = []
        self._of_path: dict[Path, list[Place]] = {}
        self.shelves = [Shelf(group, theme, self) for group in self._groups]
        self.at_start = QCheckBox("Show at start", self)
        self.at_start.setToolTip("Show this page when GradStudio starts without a file")
        self.at_start.toggled.connect(lambda on: self.at_start_chosen.emit(on))
        self._logo = QLabel(self)
        self.at_start.installEventFilter(self)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._side())
        row.addWidget(self._gallery(), 1)
        pictures.ready.connect(self._on_pictures_ready)
        parent.installEventFilter(self)
        self.set_theme(theme)

    # ------------------------------------------------------------------ what it shows

    @property
    def examples(self) -> tuple[ExamplePlace, ...]:
        """All examples in their order."""
        return tuple(place for shelf in self.shelves for place in shelf.places)

    def set_recent(self, paths: Sequence[Path], now: datetime) -> None:
        """The recent files, newest first; only those that are there."""
        for place in self.recent:
            place.setParent(None)
            place.deleteLater()
        self.recent = []
        for path in paths[:MAX_RECENT]:
            saved = datetime.fromtimestamp(path.stat().st_mtime)
            place = RecentPlace(
                path.name, f"{_at_home(path.parent)}\nSaved {relative_date(saved, now)}", self._theme, self
            )
            place.setToolTip(str(path))
            place.clicked.connect(lambda _checked=False, path=path: self.recent_chosen.emit(path))
            place.installEventFilter(self)
            self._recent_column.addWidget(place)
            self.recent.append(place)
        self._no_recent.setVisible(not self.recent)
        self._of_path = {}
        for path, one in zip(paths, self.recent, strict=False):
            self._of_path.setdefault(path, []).append(one)
        for shelf in self.shelves:
            for example, place_of in zip(shelf.group.examples, shelf.places, strict=True):
                self._of_path.setdefault(example.path, []).append(place_of)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self.setStyleSheet(
            f"QWidget#welcome, QWidget#welcome_gallery {{ background: {theme.window}; }}"
            f"QWidget#welcome_side {{ background: {theme.surface}; border-right: 1px solid {theme.line}; }}"
            "QWidget#welcome_side QPushButton { text-align: left; padding: 7px 12px; }"
        )
        self._logo.setPixmap(icon_pixmap("gradstudio", theme.color("accent"), scale_px(44), self.devicePixelRatioF()))
        for key, _text, picture, _words in VERBS:
            role = "accent_text" if self.verbs[key].isDefault() else "text"
            self.verbs[key].setIcon(icon(picture, theme, role))
        for place in (*self.recent, *self.examples):
            place.set_theme(theme)
        self._pictures.set_theme(theme)
        if self.isVisible():
            self._ask_pictures()

    def put_first(self, key: str) -> None:
        """The verb that a person is shown as the one to begin with."""
        for name, button in self.verbs.items():
            button.setDefault(name == key)
        self.set_theme(self._theme)

    def begin(self) -> None:
        """Lie over everything, with the keys on the first verb."""
        self._fill_parent()
        self.show()
        self.raise_()
        first = next((button for button in self.verbs.values() if button.isDefault()), self.verbs["new"])
        first.setFocus(Qt.FocusReason.OtherFocusReason)

    # ------------------------------------------------------------------ building

    def _side(self) -> QWidget:
        side = QWidget(self)
        side.setObjectName("welcome_side")
        side.setFixedWidth(scale_px(SIDE_PX))
        column = QVBoxLayout(side)
        column.setContentsMargins(24, 24, 24, 16)
        column.setSpacing(8)
        title = QLabel("GradStudio", side)
        title.setFont(ui_font(24, ui_font().weight().DemiBold))
        column.addWidget(self._logo)
        column.addWidget(title)
        column.addWidget(
            label("Draw a PyTorch computation, run it, watch values and gradients flow.", "dim", wrap=True)
        )
        column.addSpacing(10)
        for key, text, _picture, words in VERBS:
            column.addWidget(self._verb(key, text, words, side))
        column.addSpacing(14)
        column.addWidget(label("Recent", "heading"))
        self._no_recent = label("Files that you save or open stand here.", "dim", wrap=True)
        column.addWidget(self._no_recent)
        self._recent_column = QVBoxLayout()
        self._recent_column.setSpacing(2)
        column.addLayout(self._recent_column)
        column.addStretch(1)
        column.addWidget(self.at_start)
        return side

    def _verb(self, key: str, text: str, words: str, side: QWidget) -> QPushButton:
        button = QPushButton(text, side)
        button.setAutoDefault(False)
        button.setToolTip(words)
        button.setAccessibleDescription(words)
        button.clicked.connect(lambda: self.asked.emit(key))
        button.installEventFilter(self)
        self.verbs[key] = button
        return button

    def _gallery(self) -> QScrollArea:
        inner = QWidget(self)
        inner.setObjectName("welcome_gallery")
        column = QVBoxLayout(inner)
        column.setContentsMargins(28, 24, 28, 24)
        column.setSpacing(12)
        title = QLabel("Examples", inner)
        title.setFont(ui_font(17, ui_font().weight().DemiBold))
        column.addWidget(title)
        column.addWidget(label("Each opens as a document of your own, with a lesson beside it.", "dim"))
        for shelf in self.shelves:
            column.addSpacing(8)
            column.addWidget(label(shelf.group.title, "heading"))
            column.addWidget(shelf)
            for place, example in zip(shelf.places, shelf.group.examples, strict=True):
                place.clicked.connect(lambda _checked=False, path=example.path: self.example_chosen.emit(path))
                place.installEventFilter(self)
        column.addStretch(1)
        self.area = QScrollArea(self)
        self.area.setWidget(inner)
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        return self.area

    # ------------------------------------------------------------------ keys

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The page is as large as what it lies over; Enter presses what has the keys, arrows lead on."""
        if watched is self.parent() and event.type() == QEvent.Type.Resize and self.isVisible():
            self._fill_parent()
        if isinstance(watched, QAbstractButton) and isinstance(event, QKeyEvent) and event.type() == KEY_PRESS:
            key = Qt.Key(event.key())
            if key in ARROWS:  # else a button would give them to its neighbour in a row of Qt's
                self._go(key)
                return True
            if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                watched.click()
                return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_Escape:
            self.left.emit()
        elif key in ARROWS:
            self._go(key)
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab stays on the page: what lies below it is covered."""
        row = self._in_order()
        now = self.focusWidget()
        place = row.index(now) if isinstance(now, QAbstractButton) and now in row else -1
        self._give(row[(place + (1 if forward else -1)) % len(row)])
        return True

    def _in_order(self) -> list[QAbstractButton]:
        return [*self.verbs.values(), *self.recent, self.at_start, *self.examples]

    def _go(self, key: Qt.Key) -> None:
        now = self.focusWidget()
        row = self._in_order()
        if not isinstance(now, QAbstractButton) or now not in row:
            self._give(row[0])
            return
        boxes = [place.rect().translated(place.mapTo(self, QPoint(0, 0))) for place in row]
        found = nearest(boxes, row.index(now), key)
        if found is not None:
            self._give(row[found])

    def _give(self, place: QAbstractButton) -> None:
        place.setFocus(Qt.FocusReason.TabFocusReason)
        if isinstance(place, ExamplePlace):
            self.area.ensureWidgetVisible(place, 12, 40)

    # ------------------------------------------------------------------ slots and Qt overrides

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        QTimer.singleShot(0, self, self._ask_pictures)

    def hideEvent(self, event: QHideEvent) -> None:
        self._pictures.rest()
        super().hideEvent(event)

    def _ask_pictures(self) -> None:
        self._pictures.rest()
        for path in self._of_path:
            self._pictures.ask(path)

    def _on_pictures_ready(self, path: object, image: QImage) -> None:
        for place in self._of_path.get(path, ()) if isinstance(path, Path) else ():
            place.show_picture(image)

    def _fill_parent(self) -> None:
        """Everything below the menus."""
        parent = self.parentWidget()
        assert parent is not None
        bar = parent.menuBar() if isinstance(parent, QMainWindow) else None
        top = bar.geometry().bottom() + 1 if bar is not None and not bar.isNativeMenuBar() else 0
        self.setGeometry(parent.rect().adjusted(0, top, 0, 0))


class Shelf(QWidget):
    """The examples of one group, in as many columns as there is room for."""

    def __init__(self, group: Group, theme: Theme, parent: QWidget | None = None) -> None:
        """A place per example."""
        super().__init__(parent)
        self.group = group
        self.places = [ExamplePlace(one.title, one.sentence, theme, self) for one in group.examples]
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(GAP_PX)
        self._blanks = [QWidget(self) for _ in range(MOST_COLUMNS - len(self.places))]
        self._columns = 0
        self._arrange(4)

    def _arrange(self, columns: int) -> None:
        if columns == self._columns:
            return
        for number, place in enumerate((*self.places, *self._blanks)):
            self._grid.addWidget(place, number // columns, number % columns)
        self._columns = columns

    def minimumSizeHint(self) -> QSize:
        """It may become narrower than its places are now: they follow."""
        return QSize(scale_px(COLUMN_PX), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Columns are as wide on every shelf, also where a shelf fills fewer of them."""
        super().resizeEvent(event)
        self._arrange(max(1, min(MOST_COLUMNS, (self.width() + GAP_PX) // (scale_px(COLUMN_PX) + GAP_PX))))
        wide = (self.width() + GAP_PX) // self._columns - GAP_PX
        for place in (*self.places, *self._blanks):
            place.setFixedWidth(wide)


def _at_home(folder: Path) -> str:
    """A folder as a person writes it: ``~/work``."""
    try:
        return str(Path("~") / folder.relative_to(Path.home()))
    except (ValueError, RuntimeError):
        return str(folder)
