"""The toolbar: device, the verbs of a run, and the overlays at the right."""

import math
from collections.abc import Iterable
from typing import Final

from PySide6.QtCore import QEvent, QObject, QSize, Qt, SignalInstance
from PySide6.QtGui import QAction, QWheelEvent
from PySide6.QtWidgets import QComboBox, QLabel, QSizePolicy, QToolBar, QToolButton, QWidget

from gradstudio.scene.overlay_registry import OVERLAYS
from gradstudio.ui.actions.action_set import ActionSet
from gradstudio.ui.actions.run_commands import HostCommands
from gradstudio.ui.state.document.overlays import Overlays
from gradstudio.ui.state.engines.device_choices import DeviceChoice
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme, icon, icon_pixmap

VERBS = ("run.run", "run.forward", "run.backward", "run.step_back", "run.step", "run.stop", "run.zero_grad")
WORDLESS = ("run.step_back",)
OVERLAY_KEYS = tuple(f"view.{row.id}" for row in OVERLAYS if row.in_toolbar)
DOCUMENT = ("file.new", "file.open", "file.save")
HISTORY = ("edit.undo", "edit.redo")
WORDS_FROM_PX = 1500
"""From this width on the overlays' switches have words beside their icons."""
SHORTENED = (("run.zero_grad",), ("run.stop", "run.step"), ("run.forward", "run.backward"))
"""Verbs that lose their words, one group after the other, where the bar has no room for all."""
SPARE_PX = 40
"""What the Run button may grow by when it says something else."""
ALL_RANKS: Final = "all"
ALL_RANKS_TIP: Final = "Cards say whether all processes hold the same, by how much not, and which has a NaN"
LIST_MARGIN_PX = 24
Style = Qt.ToolButtonStyle


class ToolBar(QObject):
    """Made from the actions; the device follows the document and what torch really has."""

    def __init__(
        self, bar: QToolBar, session: Session, actions: ActionSet, hosts: HostCommands, overlays: Overlays, theme: Theme
    ) -> None:
        """Fill an empty bar; `hosts` know the devices."""
        super().__init__(bar)
        self._bar = bar
        self._session = session
        self._hosts = hosts
        self._overlays = overlays
        self._actions = actions
        self.device = _DeviceList(bar)
        self._device_icon = QLabel(bar)
        self.rank_list: _DeviceList | None = None
        self._rank_action: QAction | None = None
        self._offered: tuple[DeviceChoice, ...] = ()
        self.run_button = _OwnIconButton(actions.on_button("run.run"), bar)
        self.overlay_buttons: list[QToolButton] = []
        self._verbs: dict[str, QToolButton] = {}
        self._add_all(actions)
        self.set_theme(theme)
        bar.installEventFilter(self)
        self.device.setAccessibleName("Device of the document")
        self._device_icon.setAccessibleName("Device of the document")
        self._device_icon.setBuddy(self.device)  # a screen reader on Linux calls a list by its label
        self.device.setToolTip("The device on which creation nodes create")
        self.device.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.device.activated.connect(self._on_device_activated)
        self._listen()

    def take(self, session: Session, hosts: HostCommands) -> None:
        """Follow another document."""
        if session is self._session:
            return
        for signal in self._heard():
            signal.disconnect(self.show_device)
        self._session, self._hosts = session, hosts
        self._listen()

    def _heard(self) -> tuple[SignalInstance, ...]:
        session = self._session
        return (session.graph_store.edited, session.graph_store.replaced, session.engine.state_changed)

    def _listen(self) -> None:
        for signal in self._heard():
            signal.connect(self.show_device)
        self.show_device()

    def show_device(self) -> None:
        """Offer the devices there are, here and on hosts, and show the document's."""
        offered = self._hosts.choices()
        if offered != self._offered:
            self._offered = offered
            self.device.clear()
            self.device.addItems([choice.text for choice in offered])
            for k, choice in enumerate(offered):
                self.device.setItemData(k, choice.tip, Qt.ItemDataRole.ToolTipRole)
            self.device.insertSeparator(len(offered))
            self.device.addItem(self._actions["run.add_host"].text())
        texts = [choice.text for choice in offered if choice.place == self._hosts.place]
        wider = self.device.take_widths(texts)
        self.device.setCurrentText(self._hosts.current())
        self._show_ranks()
        moved = self._back_action.isVisible() != self._hosts.is_away()
        if moved:
            self._back_action.setVisible(self._hosts.is_away())
        if moved or wider:
            self.fit_words()

    def _show_ranks(self) -> None:
        """Which rank is shown can be chosen where there are several."""
        ranks, shown = self._hosts.ranks, self.rank_list
        if ranks is not None:
            if shown is None:
                shown = self.rank_list = _DeviceList(self._bar)
                self._rank_action = self._bar.insertWidget(self._back_action, shown)
                shown.setAccessibleName("Rank that is shown")
                shown.setToolTip("Which process the cards show; where ranks differ, a card says so")
                shown.activated.connect(self._on_rank_activated)
            if shown.count() != ranks.count:
                shown.clear()
                shown.addItems([*(f"rank {number}" for number in range(ranks.count)), ALL_RANKS])
                shown.setItemData(ranks.count, ALL_RANKS_TIP, Qt.ItemDataRole.ToolTipRole)
                shown.take_widths([shown.itemText(0)])
            shown.setCurrentIndex(ranks.count if ranks.shows_all else ranks.shown)
        self._overlays.show_over_ranks(ranks is not None and ranks.shows_all)
        if self._rank_action is not None:
            self._rank_action.setVisible(ranks is not None)

    def button(self, key: str) -> QWidget | None:
        """What stands in the bar for an action; None where it has no room."""
        button = self.run_button if key == VERBS[0] else self._bar.widgetForAction(self._actions[key])
        return button if isinstance(button, QToolButton) and button.isVisible() else None

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._device_icon.setPixmap(icon_pixmap("device", theme.color("text_dim"), 17, 2.0))
        self.run_button.setIcon(icon("run", theme, "accent_text"))
        for more in self._bar.findChildren(QToolButton, "qt_toolbar_ext_button"):
            more.setIcon(icon("more", theme))  # Qt's own is black on black
            more.setAccessibleName("More of the toolbar")
        self.fit_words()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Words come and go with the width."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show):
            self.fit_words()
        return super().eventFilter(watched, event)

    def fit_words(self) -> None:
        """Words beside the icons as far as there is room: those of the overlays go first, then verb by verb.

        Of a bar that is not seen the width is not known yet.
        """
        if not self._bar.isVisible():
            return
        room_px = self._bar.width()
        _style(self.overlay_buttons, words=room_px >= WORDS_FROM_PX)
        _style(self._verbs.values(), words=True)
        if self._wanted_px() > room_px:
            _style(self.overlay_buttons, words=False)
        for keys in SHORTENED:
            if self._wanted_px() > room_px:
                _style((self._verbs[key] for key in keys), words=False)

    def _wanted_px(self) -> int:
        """How wide everything in the bar would be, side by side."""
        widgets = [self._bar.widgetForAction(action) for action in self._bar.actions() if action.isVisible()]
        around = self._bar.contentsMargins()
        gaps = 3 * len(widgets) + 16 + around.left() + around.right()
        return sum(widget.sizeHint().width() for widget in widgets) + gaps + SPARE_PX

    def _add_all(self, actions: ActionSet) -> None:
        for key in DOCUMENT:
            self._add(actions, key, text=False)
        self._bar.addSeparator()
        for key in HISTORY:
            self._add(actions, key, text=False)
        self._bar.addSeparator()
        self._device_icon.setContentsMargins(4, 0, 2, 0)
        self._bar.addWidget(self._device_icon)
        self._bar.addWidget(self.device)
        self.way_back = QToolButton(self._bar)
        self.way_back.setDefaultAction(actions.on_button("run.here"))
        self.way_back.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.way_back.setToolButtonStyle(Style.ToolButtonTextOnly)
        self._back_action = self._bar.addWidget(self.way_back)
        self._back_action.setVisible(False)
        self._bar.addSeparator()
        self._bar.addWidget(self.run_button)
        for key in VERBS[1:]:
            self._add(actions, key, text=key not in WORDLESS)
        spring = QWidget(self._bar)
        spring.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._bar.addWidget(spring)
        for key in OVERLAY_KEYS:
            self._add(actions, key, text=False)
        buttons = (self._bar.widgetForAction(actions[key]) for key in OVERLAY_KEYS)
        self.overlay_buttons = [button for button in buttons if isinstance(button, QToolButton)]

    def _add(self, actions: ActionSet, key: str, *, text: bool) -> None:
        actions.show_icon(key)
        self._bar.addAction(actions.on_button(key))
        button = self._bar.widgetForAction(actions[key])
        if isinstance(button, QToolButton):
            _style((button,), words=text)
            button.setObjectName({"run.stop": "danger"}.get(key, key))
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            if text:
                self._verbs[key] = button

    def _on_device_activated(self, _index: int) -> None:
        chosen = next((one for one in self._offered if one.text == self.device.currentText()), None)
        self.show_device()  # what was, until it is another
        if chosen is not None:
            self._hosts.choose(chosen)
        else:
            self._actions["run.add_host"].trigger()
        self.show_device()

    def _on_rank_activated(self, place: int) -> None:
        ranks = self._hosts.ranks
        if ranks is not None and place == ranks.count:
            ranks.show_all()
        elif ranks is not None:
            ranks.look_at(place)
        self._show_ranks()


def _style(buttons: Iterable[QToolButton], *, words: bool) -> None:
    for button in buttons:
        button.setToolButtonStyle(Style.ToolButtonTextBesideIcon if words else Style.ToolButtonIconOnly)


class _DeviceList(QComboBox):
    """A list that the wheel passes by: turning it over the bar is to start no engine elsewhere."""

    def take_widths(self, texts: Iterable[str]) -> bool:
        """Be as wide as what may stand in it now, and the list as wide as all that is offered; whether that is news."""
        metrics = self.fontMetrics()
        width_px = max(map(metrics.horizontalAdvance, texts), default=0)
        characters = math.ceil(width_px / metrics.horizontalAdvance("X"))  # as Qt counts them
        if characters == self.minimumContentsLength():
            return False
        self.setIconSize(QSize(0, 0))  # the policy keeps room for an icon, and there is none
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(characters)
        self.view().setMinimumWidth(self.view().sizeHintForColumn(0) + LIST_MARGIN_PX)
        return True

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class _OwnIconButton(QToolButton):
    """A button of an action with an icon of its own: the action's would be unreadable on its ground."""

    def __init__(self, action: QAction, parent: QWidget) -> None:
        super().__init__(parent)
        self._action = action
        self.setObjectName("primary")
        self.setToolButtonStyle(Style.ToolButtonTextBesideIcon)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.clicked.connect(action.trigger)
        action.changed.connect(self._on_action_changed)
        self._on_action_changed()

    def _on_action_changed(self) -> None:
        self.setText(self._action.text())
        self.setToolTip(self._action.toolTip())
        self.setEnabled(self._action.isEnabled())
