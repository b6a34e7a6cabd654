"""The docks around the canvas: where each stands at first, and in the menu that shows and hides them."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QAction, QKeyEvent
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QMenu, QWidget

from gradstudio.ui.docks.dock_panels import DockPanels
from gradstudio.ui.docks.dock_registry import DOCKS, DockArea, docks_of, places
from gradstudio.ui.docks.dock_title import DockTitle
from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.page_stack import PageStack

Area = Qt.DockWidgetArea
AREAS: dict[DockArea, Area] = {
    "left": Area.LeftDockWidgetArea,
    "right": Area.RightDockWidgetArea,
    "bottom": Area.BottomDockWidgetArea,
}
WIDE_PX = 1600
"""From this width on code and log stand side by side."""
SIX_LINES_PX = 198
"""Height of the docks at the bottom that shows six lines of code, with bar, strip and tabs below them."""
LEAST_PX = 180
"""No dock is narrower, and none asks for more."""


class Docks(QObject):
    """The docks of a window, by id: all that the registry has, in its order.

    Signals:
        taken(): a person floated a dock or dragged it out.
        escaped(): Esc was pressed in a floating dock, and nothing there means it.
    """

    taken = Signal()
    escaped = Signal()

    def __init__(self, window: QMainWindow, theme: Theme) -> None:
        """Make every dock, empty."""
        super().__init__(window)
        self._window, self._theme = window, theme
        self._panels: DockPanels | None = None
        self._seen: set[str] = set()
        self._unbuilt: dict[str, Callable[[], object]] = {}
        self._chosen: set[QDockWidget] = set()
        self._offered: set[str] = set()
        self._left = frozenset(row.id for row in docks_of("left"))
        self._has_lesson = self._had_lesson = False
        self._front = self._before_lesson = "library"
        self._docks = {row.id: _dock(row.id, row.title, window, theme) for row in DOCKS}
        for key, dock in self._docks.items():
            dock.escaped.connect(self.escaped)
            dock.topLevelChanged.connect(self._on_dock_top_level_changed)
            dock.visibilityChanged.connect(partial(self._on_dock_visibility_changed, key))
        window.tabifiedDockWidgetActivated.connect(self._on_window_tabified_dock_widget_activated)
        window.setDockNestingEnabled(True)
        for corner, area in (
            (Qt.Corner.TopLeftCorner, Area.LeftDockWidgetArea),
            (Qt.Corner.BottomLeftCorner, Area.LeftDockWidgetArea),
            (Qt.Corner.TopRightCorner, Area.RightDockWidgetArea),
            (Qt.Corner.BottomRightCorner, Area.RightDockWidgetArea),
        ):
            window.setCorner(corner, area)

    def __getitem__(self, key: str) -> QDockWidget:
        """The dock of that id."""
        return self._docks[key]

    def fill(self, key: str, panel: QWidget) -> None:
        """Give a panel a page in its dock; the first one there is shown."""
        panel.setMinimumWidth(LEAST_PX)  # else a dock grows with what its panel shows
        self._pages(key).take_in(panel)

    def fill_when_seen(self, key: str, build: Callable[[], object]) -> None:
        """Build what fills a dock as soon as the dock is seen; a screen reader sees them all."""
        if key in self._seen or QAccessible.isActive():
            build()
        else:
            self._unbuilt[key] = build

    def take_in(self, panels: DockPanels) -> None:
        """Give these panels pages, those that are not built yet as soon as they are."""
        if self._panels is None:
            self._show_buttons()
        for key, panel in panels.built.items():
            self.fill(key, panel)
        panels.added = partial(self._on_panel_added, panels)

    def turn_to(self, panels: DockPanels) -> None:
        """Show the pages of these panels; one is built as soon as its dock is seen: a screen reader sees them all."""
        self._panels, all_seen = panels, QAccessible.isActive()
        while all_seen and self._unbuilt:
            self._unbuilt.popitem()[1]()
        for key in panels:
            if all_seen or key in panels.built or key in self._seen:
                self._pages(key).turn_to(panels[key])

    def take_out(self, panels: DockPanels) -> None:
        """These panels are needed no more."""
        for key, panel in panels.built.items():
            self._pages(key).take_out(panel)

    def _pages(self, key: str) -> PageStack:
        """What holds the pages of a dock."""
        pages = self._docks[key].widget()
        assert isinstance(pages, PageStack)
        return pages

    def _show_buttons(self) -> None:
        """The window is filled: the docks' buttons get pictures, and Tab reaches them."""
        for dock in self:
            title = dock.titleBarWidget()
            if isinstance(title, DockTitle):
                title.take_tab_focus()
                title.set_theme(self._theme)

    def __iter__(self) -> Iterator[QDockWidget]:
        """All docks."""
        return iter(self._docks.values())

    def is_wide(self, width_px: int) -> bool:
        """Whether code and log have room side by side in a window of that width."""
        return width_px >= WIDE_PX

    def sizes(self) -> tuple[QSize, ...]:
        """How large each dock is, and what is left to the canvas."""
        central = self._window.centralWidget()
        return (*(dock.size() for dock in self), central.size() if central is not None else QSize())

    def closed(self) -> tuple[QDockWidget, ...]:
        """Those that a person closed."""
        return tuple(dock for key, dock in self._docks.items() if dock.isHidden() and key != "lesson")

    def arrange(self, width_px: int, closed: Iterable[QDockWidget] = ()) -> None:
        """Put every dock where it stands at first, for a window of that width, and close some."""
        for dock in self:
            dock.setFloating(False)
            dock.show()
        for area in AREAS:
            self._place(area)
        if self.is_wide(width_px):
            self._split("bottom", Qt.Orientation.Horizontal)
        else:
            self._tabify([place[0].id for place in places("bottom")])
        for area in AREAS:
            for place in places(area):
                self._tabify([row.id for row in place])
        for dock in closed:
            dock.hide()
        self._docks["lesson" if self._has_lesson else "library"].raise_()
        for area in ("right", "bottom"):
            for place in reversed(places(area)):
                self._docks[place[0].id].raise_()
        self.settle_lesson()

    def _place(self, area: DockArea) -> None:
        """Put the first dock of each place into an area; what is behind it follows."""
        for place in places(area):
            self._window.addDockWidget(AREAS[area], self._docks[place[0].id])
        if area == "right":
            self._split(area, Qt.Orientation.Vertical)

    def _split(self, area: DockArea, direction: Qt.Orientation) -> None:
        firsts = [self._docks[place[0].id] for place in places(area)]
        for before, dock in pairwise(firsts):
            self._window.splitDockWidget(before, dock, direction)

    def _tabify(self, keys: Iterable[str]) -> None:
        for before, key in pairwise(keys):
            self._window.tabifyDockWidget(self._docks[before], self._docks[key])

    @property
    def has_lesson(self) -> bool:
        """Whether the lesson was offered last."""
        return self._has_lesson

    def offer_lesson(self, offered: bool) -> None:
        """Show the lesson over what lies at the left, or take its dock away: what a person had there comes back."""
        self._has_lesson = offered
        self._had_lesson |= offered
        self.settle_lesson()

    def settle_lesson(self) -> None:
        """A layout that was applied says nothing about whether there is a lesson."""
        dock = self._docks["lesson"]
        if dock.isHidden() != self._has_lesson:
            return
        if self._has_lesson:
            front, self._before_lesson = "lesson", self._front
        else:
            front = self._before_lesson if self._front == "lesson" else self._front
        dock.setVisible(self._has_lesson)
        if not self._docks[front].isHidden():
            self._docks[front].raise_()

    def share(self, width_px: int, height_px: int) -> None:
        """Give every dock its share of a window of that size; the canvas has the rest."""
        self._lay_out()  # sizes are dealt out among docks that were laid out, not among those to come
        across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        least, most = (248, 320) if self._had_lesson else (200, 280)
        left, right = _between(least, round(width_px * 0.16), most), _between(264, round(width_px * 0.2), 400)
        bottom = _between(152, max(round(height_px * 0.19), min(round(height_px * 0.25), SIX_LINES_PX)), 340)
        self._resize({row.id: left for row in docks_of("left")} | {row.id: right for row in docks_of("right")}, across)
        self._resize(_heights(height_px), down)
        self._resize(dict.fromkeys((row.id for row in docks_of("bottom")), bottom), down)
        if self.is_wide(width_px):
            room = width_px - left - right
            self._resize({row.id: round(room * row.share) for row in docks_of("bottom") if row.share}, across)
        self._lay_out()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        for dock in self:
            title = dock.titleBarWidget()
            if isinstance(title, DockTitle):
                title.set_theme(theme)

    def bring_forward(self, key: str) -> None:
        """Show a dock, also when another lies over it."""
        self._chosen.add(self._docks[key])
        self._docks[key].show()
        self._docks[key].raise_()

    def offer(self, key: str) -> None:
        """Bring a dock before those that lie over it: once, and not where a person has chosen among them, or types.

        Code is left in front, too: it is read, and who reads does not press anything.
        """
        dock = self._docks[key]
        if key in self._offered or key in self._seen or dock.isHidden() or dock.isFloating():
            return
        place = {dock, *self._window.tabifiedDockWidgets(dock)}
        is_over_code = self._docks["code"] in place and "code" in self._seen
        if place & self._chosen or is_over_code:
            return
        self._offered.add(key)
        focused = QApplication.focusWidget()
        if focused is None or not any(one.isAncestorOf(focused) for one in place):
            dock.raise_()

    def set_height(self, key: str, height_px: int) -> None:
        """Give a dock another height; the canvas has the rest."""
        wanted = height_px
        for _ in range(2):  # Qt counts the tabs below it
            self._resize({key: wanted}, Qt.Orientation.Vertical)
            self._lay_out()
            wanted += height_px - self._docks[key].height()

    def fill_menu(self, menu: QMenu) -> None:
        """An entry per dock that shows it, also from behind another, and hides it when it is seen."""
        for key, dock in self._docks.items():
            entry = QAction(dock.windowTitle(), menu, checkable=True, checked=not dock.isHidden())
            dock.windowTitleChanged.connect(entry.setText)
            dock.toggleViewAction().toggled.connect(entry.setChecked)
            entry.triggered.connect(partial(self._on_entry_triggered, key, entry))
            menu.addAction(entry)

    def _resize(self, sizes_px: dict[str, int], direction: Qt.Orientation) -> None:
        """Resize those that are seen and docked; what lies behind another tab has its size."""
        shown = {self._docks[key]: size for key, size in sizes_px.items() if self._is_docked(self._docks[key])}
        self._window.resizeDocks(list(shown), list(shown.values()), direction)

    def _lay_out(self) -> None:
        layout = self._window.layout()
        if layout is not None:
            layout.activate()

    def _is_docked(self, dock: QDockWidget) -> bool:
        return not dock.isHidden() and not dock.isFloating()

    def _on_entry_triggered(self, key: str, entry: QAction) -> None:
        if key in self._seen:
            self._docks[key].hide()
        else:
            self.bring_forward(key)
            entry.setChecked(True)

    def _on_panel_added(self, panels: DockPanels, key: str, panel: QWidget) -> None:
        self.fill(key, panel)
        if panels is self._panels:
            self._pages(key).turn_to(panel)

    def _on_dock_visibility_changed(self, key: str, shown: bool) -> None:
        """Also told when its tab comes to the front."""
        if not shown:
            self._seen.discard(key)
            return
        self._seen.add(key)
        if (build := self._unbuilt.pop(key, None)) is not None:
            build()
        if self._panels is not None and key in self._panels:
            self._pages(key).turn_to(self._panels[key])
        if key in self._left:
            self._front = key

    def _on_window_tabified_dock_widget_activated(self, dock: QDockWidget) -> None:
        """Also told when the program does it."""
        if QApplication.mouseButtons() != Qt.MouseButton.NoButton:
            self._chosen.add(dock)

    def _on_dock_top_level_changed(self, floating: bool) -> None:
        if floating:
            self.taken.emit()


def _heights(height_px: int) -> dict[str, int]:
    """What the docks of the right column get of that height: those with a share theirs, the others what is left."""
    parted = {row.id: _between(160, round(height_px * row.share), 340) for row in docks_of("right") if row.share}
    rest = height_px - sum(parted.values())
    return {row.id: parted.get(row.id, rest) for row in docks_of("right")}


def _between(low: int, wanted: int, high: int) -> int:
    return max(low, min(wanted, high))


class _Dock(QDockWidget):
    """Tells of Esc where it floats: a key that nobody takes ends at its window, and never reaches the main one."""

    escaped = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.isFloating():
            self.escaped.emit()
        else:
            super().keyPressEvent(event)


def _dock(key: str, title: str, window: QMainWindow, theme: Theme) -> _Dock:
    dock = _Dock(title, window)
    dock.setObjectName(key)
    dock.setWidget(PageStack(dock))
    dock.setTitleBarWidget(DockTitle(dock, theme))
    dock.setFeatures(
        QDockWidget.DockWidgetFeature.DockWidgetMovable
        | QDockWidget.DockWidgetFeature.DockWidgetClosable
        | QDockWidget.DockWidgetFeature.DockWidgetFloatable
    )
    return dock
