"""The window before it is filled: menu titles, toolbar, empty docks, an empty canvas.

It is laid out first, under a cover of one colour, so that a window stands while catalogue, canvas and panels are still
being loaded; so neither numpy nor any panel may be imported here. The first picture of docks and canvas is the final
one.
"""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QByteArray, QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QMainWindow, QMenu, QStackedWidget, QToolBar, QWidget

from gradstudio.ui.app.window.window_layout import LayoutKeeper
from gradstudio.ui.docks.dock_set import Docks
from gradstudio.ui.state.settings import Settings
from gradstudio.ui.theme import Theme

SUFFIX = ".gsg"
OPENED = (SUFFIX, ".py", ".ipynb", ".png")
"""Suffixes of what can be dropped on the window: documents, Python texts and notebooks."""
MENUS = ("File", "Edit", "View", "Graph", "Run", "Help")
FIRST_WIDTH_PX, FIRST_HEIGHT_PX = 1720, 1040
LARGE_SCREEN_PX = 1920
"""Screens up to this width are filled at the first start."""
TOOLBAR_HEIGHT_PX, STATUS_HEIGHT_PX = 47, 33
"""As high as they are when they are filled, so that no dock moves then."""


class Frame(QMainWindow):
    """What stands around everything.

    Attributes:
        may_close: asked when the window is about to be closed; False keeps it open.
        expect_key: told of each key that nothing inside the window claimed, before Qt looks for its command.

    Signals:
        first_painted(): once, after the window was painted for the first time where it can be seen.
        closed(): it closes for good.
        files_dropped(object): the paths of documents that were dropped onto it.
        escaped(): Esc was pressed where nothing else means it: in a dock, floating or not, or beside the canvas.
    """

    first_painted = Signal()
    closed = Signal()
    files_dropped = Signal(object)
    escaped = Signal()

    def __init__(self, settings: Settings, theme: Theme) -> None:
        """An empty window, as large and arranged as it was left."""
        super().__init__()
        self._settings, self._painted = settings, False
        self.may_close: Callable[[], bool] = _always
        self.expect_key: Callable[[QKeyEvent], None] = _nothing
        self.setObjectName("main")
        self.setWindowTitle("GradStudio")
        self.setAcceptDrops(True)
        self.menus: dict[str, QMenu] = {name: self.menuBar().addMenu(f"&{name}") for name in MENUS}
        self.toolbar = QToolBar("Toolbar", self)
        self.toolbar.setObjectName("toolbar")
        self.toolbar.setMovable(False)
        self.toolbar.setIconSize(QSize(18, 18))
        self.toolbar.setMinimumHeight(TOOLBAR_HEIGHT_PX)
        self.addToolBar(self.toolbar)
        self.docks = Docks(self, theme)
        self.docks.escaped.connect(self.escaped)
        self.layout_keeper = LayoutKeeper(self, self.docks, settings)
        self._middle = QStackedWidget(self)
        self._ground = QWidget(self._middle)
        self._ground.setStyleSheet(f"background: {theme.canvas};")
        self._middle.addWidget(self._ground)
        self.setCentralWidget(self._middle)
        self.statusBar().setMinimumHeight(STATUS_HEIGHT_PX)
        self._cover: _Cover | None = None
        self._restore_geometry()
        self.layout_keeper.restore()

    def cover(self, theme: Theme) -> None:
        """Show one colour until `uncover`: docks without what is in them are no picture to look at."""
        self._cover = _Cover(theme, self)
        self._cover.show()

    def uncover(self) -> None:
        """All is in its place."""
        if self._cover is not None:
            self._cover.hide()
            self._cover.deleteLater()
            self._cover = None

    def fill_middle(self, widget: QWidget) -> None:
        """Show a widget where the ground is, as soon as what is being built stands.

        The central widget stays: another one is hidden at first, and until it is shown every layout, and there are
        dozens, gives its room to the docks.
        """
        self._middle.addWidget(widget)
        QTimer.singleShot(0, widget, lambda: self._middle.setCurrentWidget(widget))

    def _restore_geometry(self) -> None:
        saved = self._settings.window.value("geometry")
        if isinstance(saved, QByteArray) and self.restoreGeometry(saved):
            return
        screen = self.screen().availableGeometry()
        self.resize(min(FIRST_WIDTH_PX, screen.width()), min(FIRST_HEIGHT_PX, screen.height()))
        if screen.width() <= LARGE_SCREEN_PX:
            self.setWindowState(Qt.WindowState.WindowMaximized)

    # ------------------------------------------------------------------ Qt overrides

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride:
            self.expect_key(event)
        handled = super().event(event)
        if not self._painted and event.type() in (QEvent.Type.UpdateRequest, QEvent.Type.Paint) and self._is_exposed():
            self._painted = True
            self.first_painted.emit()
        return handled

    def _is_exposed(self) -> bool:
        """Whether the display shows it by now: a window that is painted before stays black if it is filled at once."""
        return self.internalWinId() != 0 and self.windowHandle().isExposed()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._cover is not None:
            self._cover.setGeometry(self.rect())
            self._cover.raise_()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.may_close():
            event.ignore()
            return
        self.layout_keeper.save()
        event.accept()
        self.closed.emit()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_files(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if paths := dropped_files(event):
            event.acceptProposedAction()
            self.files_dropped.emit(paths)


class _Cover(QWidget):
    """One colour over everything; nothing below it is painted."""

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self.setGeometry(window.rect())
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._ground = theme.color("canvas")

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), self._ground)
        painter.end()


def dropped_files(event: QDropEvent) -> tuple[Path, ...]:
    """The documents and Python texts that are being dropped; none when there is anything else among them."""
    urls = event.mimeData().urls()
    paths = tuple(Path(url.toLocalFile()) for url in urls if url.isLocalFile())
    return paths if len(paths) == len(urls) and all(path.suffix in OPENED for path in paths) else ()


def _always() -> bool:
    return True


def _nothing(_event: QKeyEvent) -> None:
    """No command has a key yet."""
