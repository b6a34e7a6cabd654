"""The title of a dock: its words, and buttons of our own drawing to float and to close it."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QApplication, QDockWidget, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from gradstudio.ui.theme import Theme, icon

ICON_PX = 15
HEIGHT_PX = 27
WORDS_PX = 6


class DockTitle(QWidget):
    """Stands over a dock's panel; what is pressed beside the buttons drags the dock."""

    def __init__(self, dock: QDockWidget, theme: Theme) -> None:
        """The title of that dock, as it is and as it will be called."""
        super().__init__(dock)
        self.setObjectName("dock_title")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._dock = dock
        self.words = QLabel(dock.windowTitle(), self)
        self.words.setProperty("role", "heading")
        # A tab's title may be long, and must not keep the dock wide.
        self.words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.words.setMinimumWidth(WORDS_PX)
        self.float_button, self.close_button = self._button("Float"), self._button("Close")
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 6, 0)
        row.setSpacing(2)
        row.addStrut(HEIGHT_PX)  # no `sizeHint` in Python: the docks' layout asks for it thousands of times
        row.addWidget(self.words, 1)
        row.addWidget(self.float_button)
        row.addWidget(self.close_button)
        self.float_button.clicked.connect(lambda: dock.setFloating(not dock.isFloating()))
        self.close_button.clicked.connect(dock.close)
        dock.windowTitleChanged.connect(self._on_dock_window_title_changed)
        dock.topLevelChanged.connect(self._on_dock_top_level_changed)
        self._on_dock_window_title_changed(dock.windowTitle())
        self._theme = theme

    def set_theme(self, theme: Theme) -> None:
        """Tint the buttons; also asked for when the window has been painted, which need not wait for pictures."""
        self._theme = theme
        self.float_button.setIcon(icon("dock" if self._dock.isFloating() else "float", theme, "text_dim"))
        self.close_button.setIcon(icon("close", theme, "text_dim"))

    def take_tab_focus(self) -> None:
        """Let Tab reach the buttons, as soon as anything in the window has the focus.

        Earlier Qt would give it to the first of them: an active window in which nothing has the focus, as it is
        while the canvas is still hidden, looks for the first widget that Tab reaches.
        """
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._on_application_focus_changed)

    def _on_application_focus_changed(self, _old: QWidget | None, now: QWidget | None) -> None:
        window = self._dock.parentWidget()
        if now is None or window is None or not window.isAncestorOf(now):
            return
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.disconnect(self._on_application_focus_changed)
        for button in (self.float_button, self.close_button):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def _button(self, verb: str) -> QToolButton:
        made = QToolButton(self)
        made.setObjectName("dock_button")
        made.setIconSize(QSize(ICON_PX, ICON_PX))
        made.setToolTip(verb)
        made.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        return made

    def _on_dock_window_title_changed(self, title: str) -> None:
        self.words.setText(title)
        self.close_button.setAccessibleName(f"Close {title}")
        self.float_button.setAccessibleName(f"Float {title}")

    def _on_dock_top_level_changed(self, floating: bool) -> None:
        self.float_button.setToolTip("Put back into the window" if floating else "Float")
        self.set_theme(self._theme)
