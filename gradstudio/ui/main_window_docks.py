"""The docks around the canvas: where each stands at first, and in the menu that shows and hides them."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QMainWindow, QMenu, QWidget

Area = Qt.DockWidgetArea
WIDE_PX = 1600
"""From this width on code and log stand side by side."""


class Docks:
    """The docks of a window, by id, in the order of the menu."""

    def __init__(self, window: QMainWindow, titles: dict[str, str]) -> None:
        """Make empty docks: library, inspector, memory, code, log, problems."""
        self._window = window
        self._docks = {key: _dock(key, title, window) for key, title in titles.items()}
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

    def fill(self, panels: dict[str, QWidget]) -> None:
        """Put a panel into each dock."""
        for key, panel in panels.items():
            empty = self._docks[key].widget()
            self._docks[key].setWidget(panel)
            empty.deleteLater()

    def arrange(self, width_px: int, height_px: int) -> None:
        """Put every dock where it stands at first, for a window of that size."""
        window, docks = self._window, self._docks
        for dock in docks.values():
            dock.setFloating(False)
        window.addDockWidget(Area.LeftDockWidgetArea, docks["library"])
        window.addDockWidget(Area.RightDockWidgetArea, docks["inspector"])
        window.addDockWidget(Area.RightDockWidgetArea, docks["memory"])
        window.addDockWidget(Area.BottomDockWidgetArea, docks["code"])
        window.addDockWidget(Area.BottomDockWidgetArea, docks["log"])
        window.addDockWidget(Area.BottomDockWidgetArea, docks["problems"])
        window.splitDockWidget(docks["inspector"], docks["memory"], Qt.Orientation.Vertical)
        if width_px >= WIDE_PX:
            window.splitDockWidget(docks["code"], docks["log"], Qt.Orientation.Horizontal)
        else:
            window.tabifyDockWidget(docks["code"], docks["log"])
        window.tabifyDockWidget(docks["log"], docks["problems"])
        for dock in docks.values():
            dock.show()
        docks["log"].raise_()
        docks["code"].raise_()
        self._resize(width_px, height_px)

    def bring_forward(self, key: str) -> None:
        """Show a dock, also when another lies over it."""
        self._docks[key].show()
        self._docks[key].raise_()

    def fill_menu(self, menu: QMenu) -> None:
        """An entry per dock that shows and hides it."""
        for dock in self._docks.values():
            menu.addAction(dock.toggleViewAction())

    def _resize(self, width_px: int, height_px: int) -> None:
        window, docks = self._window, self._docks
        wide = width_px >= WIDE_PX
        across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        window.resizeDocks([docks["library"], docks["inspector"]], [250 if wide else 216, 380 if wide else 300], across)
        memory = round(height_px * (0.3 if wide else 0.26))
        window.resizeDocks([docks["inspector"], docks["memory"]], [height_px - memory, memory], down)
        window.resizeDocks([docks["code"]], [round(height_px * (0.27 if wide else 0.25))], down)
        if wide:
            room = width_px - 640
            window.resizeDocks([docks["code"], docks["log"]], [round(room * 0.54), round(room * 0.46)], across)


def _dock(key: str, title: str, window: QMainWindow) -> QDockWidget:
    dock = QDockWidget(title, window)
    dock.setObjectName(key)
    dock.setWidget(QWidget(dock))
    dock.setFeatures(
        QDockWidget.DockWidgetFeature.DockWidgetMovable
        | QDockWidget.DockWidgetFeature.DockWidgetClosable
        | QDockWidget.DockWidgetFeature.DockWidgetFloatable
    )
    return dock
