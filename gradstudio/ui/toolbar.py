"""The toolbar: device, the verbs of a run, and the overlays at the right."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QComboBox, QLabel, QSizePolicy, QToolBar, QToolButton, QWidget

from gradstudio.ui.actions import ActionSet
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme, tinted

VERBS = ("run.run", "run.forward", "run.backward", "run.step", "run.stop", "run.zero_grad")
OVERLAYS = ("view.values", "view.shapes", "view.dtype_device", "view.grad_fn", "view.gradients")
DOCUMENT = ("file.new", "file.open", "file.save")
HISTORY = ("edit.undo", "edit.redo")


class ToolBar(QObject):
    """Made from the actions; the device follows the document and what torch really has."""

    def __init__(
        self, bar: QToolBar, session: Session, actions: ActionSet, set_device: Callable[[str], None], theme: Theme
    ) -> None:
        """Fill an empty bar; `set_device` changes the document's header."""
        super().__init__(bar)
        self._bar, self._session, self._set_device = bar, session, set_device
        self.device = QComboBox(bar)
        self._device_icon = QLabel(bar)
        self._add_all(actions)
        self.set_theme(theme)
        self.device.setAccessibleName("Device of the document")
        self.device.setToolTip("The device on which creation nodes create")
        self.device.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.device.activated.connect(self._on_device_activated)
        session.graph_store.edited.connect(self.show_device)
        session.graph_store.replaced.connect(self.show_device)
        session.engine.state_changed.connect(self.show_device)
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

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._device_icon.setPixmap(tinted("device", theme.color("text_dim"), 17, 2.0))

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
        for key in VERBS:
            self._add(actions, key, text=True)
        spring = QWidget(self._bar)
        spring.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._bar.addWidget(spring)
        for key in OVERLAYS:
            self._add(actions, key, text=False)

    def _add(self, actions: ActionSet, key: str, *, text: bool) -> None:
        actions.show_icon(key)
        self._bar.addAction(actions[key])
        button = self._bar.widgetForAction(actions[key])
        if isinstance(button, QToolButton):
            style = Qt.ToolButtonStyle
            button.setToolButtonStyle(style.ToolButtonTextBesideIcon if text else style.ToolButtonIconOnly)
            button.setObjectName({"run.run": "primary", "run.stop": "danger"}.get(key, key))
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def _on_device_activated(self, _index: int) -> None:
        self._set_device(self.device.currentText())
