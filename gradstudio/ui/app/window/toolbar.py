"""The toolbar: device, the verbs of a run, and the overlays at the right."""

from collections.abc import Callable, Iterable

from PySide6.QtCore import QEvent, QObject, Qt, SignalInstance
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QComboBox, QLabel, QSizePolicy, QToolBar, QToolButton, QWidget

from gradstudio.scene.overlay_registry import OVERLAYS
from gradstudio.ui.actions.action_set import ActionSet
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
Style = Qt.ToolButtonStyle


class ToolBar(QObject):
    """Made from the actions; the device follows the document and what torch really has."""

    def __init__(
        self, bar: QToolBar, session: Session, actions: ActionSet, set_device: Callable[[str], None], theme: Theme
    ) -> None:
        """Fill an empty bar; `set_device` changes the document's header."""
        super().__init__(bar)
        self._bar = bar
        self._session = session
        self._set_device = set_device
        self._actions = actions
        self.device = QComboBox(bar)
        self._device_icon = QLabel(bar)
        self.run_button = _OwnIconButton(actions.on_button("run.run"), bar)
        self.overlay_buttons: list[QToolButton] = []
        self._verbs: dict[str, QToolButton] = {}
        self._add_all(actions)
        self.set_theme(theme)
        bar.installEventFilter(self)
        self.fit_words()
        self.device.setAccessibleName("Device of the document")
        self._device_icon.setAccessibleName("Device of the document")
        self._device_icon.setBuddy(self.device)  # a screen reader on Linux calls a list by its label
        self.device.setToolTip("The device on which creation nodes create")
        self.device.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.device.activated.connect(self._on_device_activated)
        self._listen()

    def take(self, session: Session, set_device: Callable[[str], None]) -> None:
        """Follow another document."""
        if session is self._session:
            return
        for signal in self._heard():
            signal.disconnect(self.show_device)
        self._session, self._set_device = session, set_device
        self._listen()

    def _heard(self) -> tuple[SignalInstance, ...]:
        session = self._session
        return (session.graph_store.edited, session.graph_store.replaced, session.engine.state_changed)

    def _listen(self) -> None:
        for signal in self._heard():
            signal.connect(self.show_device)
        self.show_device()

    def show_device(self) -> None:
        """Offer the devices there are and show the document's."""
        wanted = self._session.graph_store.graph.header.device
        names = [device.name for device in self._session.engine.devices] or ["cpu"]
        offered = ["auto", *names] if wanted in ("auto", *names) else ["auto", *names, wanted]
        if offered != [self.device.itemText(k) for k in range(self.device.count())]:
            self.device.clear()
            self.device.addItems(offered)
            titles = {device.name: device.title for device in self._session.engine.devices}
            titles["auto"] = "cuda where there is one, else the CPU"
            for k, name in enumerate(offered):
                self.device.setItemData(k, titles.get(name, name), Qt.ItemDataRole.ToolTipRole)
        self.device.setCurrentText(wanted)

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
        if event.type() == QEvent.Type.Resize:
            self.fit_words()
        return super().eventFilter(watched, event)

    def fit_words(self) -> None:
        """Words beside the icons as far as there is room: those of the overlays go first, then verb by verb."""
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
        widgets = [self._bar.widgetForAction(action) for action in self._bar.actions()]
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
        self._set_device(self.device.currentText())


def _style(buttons: Iterable[QToolButton], *, words: bool) -> None:
    for button in buttons:
        button.setToolButtonStyle(Style.ToolButtonTextBesideIcon if words else Style.ToolButtonIconOnly)


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
