"""The path to what is shown, above the canvas: Program ▸ attention ▸ head. A click steps out to there."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton

from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.edit.group_commands import GroupCommands
from gradstudio.ui.theme import Theme

BAR_PX = 34


class Breadcrumbs(QFrame):
    """Shown while the inside of a group is; a button for every scope around it."""

    def __init__(
        self, canvas: CanvasContext, group_commands: GroupCommands, theme: Theme, make_room: Callable[[int], None]
    ) -> None:
        """Follow the scope, at the upper edge of the canvas, whose viewport makes room."""
        super().__init__(canvas.widget)
        room, scope = canvas.widget, canvas.session.scope
        self._room, self._group_commands, self._scope = room, group_commands, scope
        self.make_room = make_room
        self.setObjectName("breadcrumbs")
        self.setAccessibleName("Path to the group that is shown")
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(8, 0, 10, 0)
        self._row.setSpacing(1)
        self.buttons: list[QToolButton] = []
        self.set_theme(theme)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        scope.changed.connect(self.refresh)
        canvas.session.shown_store.root.edited.connect(self._on_root_edited)
        room.installEventFilter(self)
        self.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Take the theme's colours."""
        self.setStyleSheet(
            f"#breadcrumbs {{ background: {theme.surface}; border: none; border-bottom: 1px solid {theme.line}; }}"
            f"QToolButton {{ background: transparent; border: 1px solid transparent; border-radius: 4px;"
            f" padding: 2px 6px; color: {theme.text_dim}; }}"
            f"QToolButton:hover, QToolButton:focus {{ border-color: {theme.accent}; color: {theme.text}; }}"
            f"QToolButton:disabled {{ color: {theme.text}; font-weight: 600; }}"
            f"QLabel {{ color: {theme.text_dim}; background: transparent; }}"
        )

    def refresh(self) -> None:
        """Show the path that leads to what is shown now."""
        while (entry := self._row.takeAt(0)) is not None:
            if (widget := entry.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        titles = self._scope.titles()
        self.buttons = [self._button(depth, title, len(titles)) for depth, title in enumerate(titles)]
        for depth, one in enumerate(self.buttons):
            if depth:
                self._row.addWidget(QLabel("▸", self))
            self._row.addWidget(one)
        self._row.addStretch(1)
        self._take_place()
        self.setVisible(bool(self._scope.path))
        self.make_room(BAR_PX if self._scope.path else 0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """As wide as the canvas."""
        if event.type() == QEvent.Type.Resize:
            self._take_place()
        return False

    def _take_place(self) -> None:
        self.setGeometry(0, 0, self._room.width(), BAR_PX)

    def _button(self, depth: int, title: str, count: int) -> QToolButton:
        made = QToolButton(self)
        made.setText(title)
        made.setAutoRaise(True)
        is_last = depth == count - 1
        made.setEnabled(not is_last)
        made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        keys = " (Ctrl+U)" if depth == count - 2 else ""
        made.setToolTip("What is shown" if is_last else f"Step out to {title}{keys}")
        made.setAccessibleName(title if is_last else f"Step out to {title}")
        made.clicked.connect(lambda: self._group_commands.step_out(depth))
        return made

    def _on_root_edited(self, _edits: object) -> None:
        """A group of the path may have another name."""
        if self._scope.path and [one.text() for one in self.buttons] != list(self._scope.titles()):
            self.refresh()
