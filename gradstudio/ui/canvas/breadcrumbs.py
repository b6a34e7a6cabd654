"""The path to what is shown, above the canvas: Program ▸ attention ▸ head. A click steps out to there.

Beside it stands what the text defines and nothing drawn calls: a click looks into it.
"""

from collections.abc import Callable
from itertools import accumulate

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QMenu, QToolButton, QWidget

from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.edit.group_commands import GroupCommands
from gradstudio.ui.theme import Theme

BAR_PX = 34
MOST_BESIDE = 5
"""So many groups have a button of their own at most; those without room for their whole names are in a list."""
MORE_PX = 108
"""Room for the button of that list, and at both ends."""


class Breadcrumbs(QFrame):
    """Shown while the inside of a group is, or there is one that nothing leads to; a button for every scope around it.

    Attributes:
        buttons: of the path.
        beside: of the groups that nothing leads to, as far as they have room.
    """

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
        self.beside: list[QToolButton] = []
        self._defined: tuple[str, ...] = ()
        self._path_px = self._shown_count = 0
        self._way_px: list[int] = []
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
        self._defined = self._scope.beside()
        self._add_beside()
        self._take_place()
        is_there = bool(self._scope.path or self._defined)
        self.setVisible(is_there)
        self.make_room(BAR_PX if is_there else 0)

    def _add_beside(self) -> None:
        """Buttons of the groups that nothing leads to, and a list of those without room."""
        if self._defined:
            self._row.addWidget(QLabel("Also defined" if self._scope.path else "Defined, not called here", self))
        entries = [self._row.itemAt(k) for k in range(self._row.count())]
        before = [widget for one in entries if one is not None and (widget := one.widget()) is not None]
        ways = [self._way_in(name) for name in self._defined[:MOST_BESIDE]]
        self._path_px, self._way_px = sum(map(self._width, before)), [self._width(way) for way in ways]
        self._shown_count = self._count_with_room()
        self.beside = ways[: self._shown_count]
        for way in ways[self._shown_count :]:
            way.hide()  # a dialog that is open puts its end off
            way.deleteLater()
        if others := self._defined[len(self.beside) :]:
            more = self._plain_button(f"{len(others)} more", "What else is defined")
            menu = QMenu(more)
            for name in others:
                menu.addAction(name).triggered.connect(lambda _checked, name=name: self._scope.look_into(name))
            more.setMenu(menu)
            more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
            self.beside.append(more)
        for one in self.beside:
            self._row.addWidget(one)

    def _count_with_room(self) -> int:
        """How many of the first groups have room for their whole names."""
        free = self._room.width() - MORE_PX - self._path_px
        return sum(1 for taken in accumulate(self._way_px) if taken <= free)

    def _width(self, widget: QWidget) -> int:
        """Of what is not shown yet, which its layout leaves out."""
        widget.ensurePolished()
        return widget.sizeHint().width() + self._row.spacing()

    def _way_in(self, name: str) -> QToolButton:
        made = self._plain_button(name, f"Look into {name}, which nothing on the canvas calls")
        made.clicked.connect(lambda: self._scope.look_into(name))
        return made

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """As wide as the canvas, with as many names as have room in it."""
        if event.type() == QEvent.Type.Resize:
            if self._count_with_room() != self._shown_count:
                self.refresh()
            self._take_place()
        return False

    def _take_place(self) -> None:
        self.setGeometry(0, 0, self._room.width(), BAR_PX)

    def _button(self, depth: int, title: str, count: int) -> QToolButton:
        is_last = depth == count - 1
        keys = " (Ctrl+U)" if depth == count - 2 else ""
        made = self._plain_button(title, "What is shown" if is_last else f"Step out to {title}{keys}")
        made.setEnabled(not is_last)
        made.setAccessibleName(title if is_last else f"Step out to {title}")
        made.clicked.connect(lambda: self._group_commands.step_out(depth))
        return made

    def _plain_button(self, title: str, words: str) -> QToolButton:
        made = QToolButton(self)
        made.setText(title)
        made.setAutoRaise(True)
        made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        made.setToolTip(words)
        return made

    def _on_root_edited(self, _edits: object) -> None:
        """A group of the path may have another name, and others may be called now, or no more."""
        if not self._scope.path and not self._defined and not self._scope.root.graph.definitions:
            return
        is_path = not self._scope.path or [one.text() for one in self.buttons] == list(self._scope.titles())
        if not is_path or self._scope.beside() != self._defined:
            self.refresh()
