"""What the status bar offers: at its left by a button, behind the device and the engine by a click or Enter."""

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QAction, QActionGroup, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QMenu, QWidget

from gradstudio.ui.actions.run_commands import HostCommands
from gradstudio.ui.app.window.status_bar import StatusBar
from gradstudio.ui.app.window.status_parts import StatusWords
from gradstudio.ui.state.engines.device_choices import DeviceChoice
from gradstudio.ui.state.run.run_status import Offer, RunStatus
from gradstudio.ui.theme import Theme

if TYPE_CHECKING:
    from gradstudio.ui.widgets.offer_field import OfferField

OPENS: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class StatusMenus(QObject):
    """Two menus of one status bar, and what a run offers.

    Attributes:
        offer: made with the first one; None: nothing was offered.
    """

    def __init__(
        self, bar: StatusBar, hosts: HostCommands, engine: Iterable[QAction], status: RunStatus, theme: Theme
    ) -> None:
        """`hosts` know the devices; `status` offers what a run can do.

        `engine` are the commands about the engine; the first one takes up a run again, and is there only where it can.
        """
        super().__init__(bar)
        self._bar, self._hosts, self._status, self._theme = bar, hosts, status, theme
        self.device, self.engine = QMenu(bar), QMenu(bar)
        self._take_up, *others = engine
        self.engine.addActions(others)
        self._take_up.enabledChanged.connect(self._on_take_up_changed)
        self._on_take_up_changed(self._take_up.isEnabled())
        self._menus: dict[QWidget, QMenu] = {bar.device: self.device, bar.light: self.engine}
        tips = ("Device of the document: click to choose another", "Engine: click to restart it")
        for widget, tip in zip(self._menus, tips, strict=True):
            widget.setToolTip(tip)
            widget.setAccessibleName(tip)
            widget.setCursor(Qt.CursorShape.PointingHandCursor)
            widget.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            widget.installEventFilter(self)
        self.device.aboutToShow.connect(self._fill_devices)
        self.offer: OfferField | None = None
        status.offered.connect(self._on_status_offered)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A click or a key opens the menu above its place."""
        menu = self._menus.get(watched) if isinstance(watched, QWidget) else None
        if menu is None or not isinstance(watched, QWidget):
            return super().eventFilter(watched, event)
        is_click = (
            isinstance(event, QMouseEvent)
            and event.type() == QEvent.Type.MouseButtonRelease
            and event.button() == Qt.MouseButton.LeftButton
        )
        is_key = isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in OPENS
        if not is_click and not is_key:
            return super().eventFilter(watched, event)
        menu.popup(watched.mapToGlobal(QPoint(0, -menu.sizeHint().height())))
        return True

    def _on_take_up_changed(self, is_enabled: bool) -> None:
        if is_enabled:
            self.engine.insertAction(self.engine.actions()[0], self._take_up)
        else:
            self.engine.removeAction(self._take_up)

    def _fill_devices(self) -> None:
        """The devices there are, the document's ticked."""
        self.device.clear()
        group, current = QActionGroup(self.device), self._hosts.current()
        for choice in self._hosts.choices():
            action = self.device.addAction(choice.text)
            action.setCheckable(True)
            action.setChecked(choice.text == current)
            group.addAction(action)
            action.triggered.connect(partial(self._on_device_triggered, choice))

    def _on_device_triggered(self, choice: DeviceChoice, _checked: bool = False) -> None:
        self._hosts.choose(choice)

    def _on_status_offered(self, offer: Offer | None) -> None:
        if self.offer is None:
            from gradstudio.ui.widgets.offer_field import OfferField

            self.offer = OfferField(self._status, self._theme, StatusWords(self._bar), self._bar)
            self.offer.stands.connect(self._bar.make_room)
            self._bar.insertWidget(0, self.offer)
        self.offer.show_offer(offer)
        if offer is None:
            return
        QTimer.singleShot(0, self._bar, lambda: self._bar.say(""))  # what the engine said of its end has no room beside
