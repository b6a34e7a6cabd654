"""The row of tabs above the canvas; hidden while one document is open."""

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QIcon, QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QTabBar, QToolButton, QWidget

from gradstudio.ui.actions.action_set import ActionSet
from gradstudio.ui.actions.tab_commands import TabCommands
from gradstudio.ui.app.files.documents import Documents, Tab
from gradstudio.ui.theme import Theme, icon

ICON_PX = 14
LEAST_LETTERS, TAB_PADDING_PX = 12, 32
"""What of a title can be read in the narrowest tab, and the empty room in a tab."""
CHANGED = "●"
MARKS = {"running": ("run", "accent"), "done": ("check", "ok"), "failed": ("error", "danger")}
"""Icon and colour of what a run does, or has come to, in a tab behind."""
MARK_WORDS = {"running": "Running", "done": "Ran while you were elsewhere", "failed": "Failed while you were elsewhere"}


class TabStrip(QWidget):
    """A tab per document and a button for one more."""

    def __init__(self, documents: Documents, commands: TabCommands, actions: ActionSet, theme: Theme) -> None:
        """Follow the documents."""
        super().__init__()
        self._documents = documents
        self._commands = commands
        self._actions = actions
        self._theme = theme
        self._filling = False
        self.setObjectName("document_tabs")
        self.bar = _Bar(self)
        self.plus = QToolButton(self)
        self.plus.setDefaultAction(actions.on_button("file.new"))
        self.plus.setObjectName("dock_button")
        self.plus.setIconSize(QSize(ICON_PX, ICON_PX))
        self.plus.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        self.plus.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 0, 6, 0)
        row.setSpacing(4)
        row.addWidget(self.bar)
        row.addWidget(self.plus)
        row.addStretch(1)
        self.bar.currentChanged.connect(self._on_bar_current_changed)
        self.bar.tabMoved.connect(self._on_bar_tab_moved)
        self.bar.customContextMenuRequested.connect(self._on_bar_menu_requested)
        documents.changed.connect(self._refresh)
        documents.marked.connect(self._on_documents_marked)
        documents.shown.connect(self._on_documents_shown)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self.plus.setIcon(icon("add", theme, "text_dim"))
        for number in range(self.bar.count()):
            self._button(number).setIcon(icon("close", theme, "text_dim"))
        self._refresh()

    def menu_of(self, tab: Tab) -> QMenu:
        """What can be done with one tab."""
        menu = QMenu(self)
        has_path, others = tab.session.path is not None, len(self._documents.tabs) > 1
        menu.addAction("Close").triggered.connect(lambda: self._commands.close(tab))
        menu.addAction("Close others").triggered.connect(lambda: self._commands.close_others(tab))
        menu.actions()[-1].setEnabled(others)
        menu.addAction(self._actions["file.reopen"])
        menu.addSeparator()
        for text, command in (("Copy path", self._commands.copy_path), ("Show in folder", self._commands.reveal)):
            action = menu.addAction(text)
            action.triggered.connect(lambda _checked=False, command=command: command(tab))
            action.setEnabled(has_path)
        return menu

    # ------------------------------------------------------------------ inner workings

    def _refresh(self) -> None:
        """Show the tabs as they stand now."""
        tabs = self._documents.tabs
        self._filling = True
        while self.bar.count() > len(tabs):
            self.bar.removeTab(self.bar.count() - 1)
        while self.bar.count() < len(tabs):
            number = self.bar.addTab(_text(tabs[self.bar.count()]))
            self.bar.setTabData(number, ("", self._theme))
            self._add_button(number)
        for number, tab in enumerate(tabs):
            self._show_tab(number, tab)
        if self._documents.is_any_shown and self._documents.current in tabs:
            self.bar.setCurrentIndex(self._documents.place)
        self._filling = False
        self.setVisible(len(tabs) > 1)

    @property
    def _has_all(self) -> bool:
        """Whether no document waits for `_refresh` to get its tab, or to lose it."""
        return self.bar.count() == len(self._documents.tabs)

    def _show_tab(self, number: int, tab: Tab) -> None:
        session = tab.session
        text = _text(tab)
        if self.bar.tabText(number) != text:
            self.bar.setTabText(number, text)
        where = str(session.path) if session.path is not None else "Not saved yet"
        words = [where, *(["Unsaved changes"] if tab.is_changed else []), *filter(None, [MARK_WORDS.get(tab.mark, "")])]
        self.bar.setTabToolTip(number, "\n".join(words))
        self._button(number).setAccessibleName(f"Close {session.title}")
        if self.bar.tabData(number) != (tab.mark, self._theme):  # an icon lays out all tabs anew
            mark = MARKS.get(tab.mark)
            self.bar.setTabData(number, (tab.mark, self._theme))
            self.bar.setTabIcon(number, icon(mark[0], self._theme, mark[1]) if mark else QIcon())

    def _add_button(self, number: int) -> None:
        made = QToolButton(self.bar)
        made.setObjectName("dock_button")
        made.setIcon(icon("close", self._theme, "text_dim"))
        made.setIconSize(QSize(ICON_PX, ICON_PX))
        made.setToolTip("Close  (Ctrl+W)")
        made.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        made.clicked.connect(lambda: self._commands.close(self._documents.tabs[self._place_of(made)]))
        self.bar.setTabButton(number, QTabBar.ButtonPosition.RightSide, made)

    def _button(self, number: int) -> QToolButton:
        found = self.bar.tabButton(number, QTabBar.ButtonPosition.RightSide)
        assert isinstance(found, QToolButton)
        return found

    def _place_of(self, button: QToolButton) -> int:
        return next(number for number in range(self.bar.count()) if self._button(number) is button)

    # ------------------------------------------------------------------ slots

    def _on_documents_marked(self, tab: Tab) -> None:
        if self._has_all:
            self._show_tab(self._documents.tabs.index(tab), tab)

    def _on_documents_shown(self, _tab: Tab) -> None:
        if self._has_all:
            self._filling = True
            self.bar.setCurrentIndex(self._documents.place)
            self._filling = False

    def _on_bar_current_changed(self, number: int) -> None:
        if not self._filling and 0 <= number < len(self._documents.tabs):
            self._documents.show(self._documents.tabs[number])

    def _on_bar_tab_moved(self, start: int, end: int) -> None:
        if not self._filling:
            self._filling = True
            self._documents.move(start, end)
            self._filling = False

    def _on_bar_menu_requested(self, place: QPoint) -> None:
        number = self.bar.tabAt(place)
        if number >= 0:
            self.menu_of(self._documents.tabs[number]).popup(self.bar.mapToGlobal(place))

    def close_at(self, place: QPoint) -> None:
        """Close the tab at a place of the bar."""
        number = self.bar.tabAt(place)
        if number >= 0:
            self._commands.close(self._documents.tabs[number])


def _text(tab: Tab) -> str:
    return tab.session.title.replace("&", "&&") + (f"  {CHANGED}" if tab.is_changed else "")


class _Bar(QTabBar):
    """Tabs that can be dragged; the middle button closes one."""

    def __init__(self, strip: TabStrip) -> None:
        super().__init__(strip)
        self._strip = strip
        self.setObjectName("documents")
        self.setMovable(True)
        self.setExpanding(False)
        self.setUsesScrollButtons(True)
        self.setElideMode(Qt.TextElideMode.ElideMiddle)
        self.setIconSize(QSize(ICON_PX, ICON_PX))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName("Open documents")

    def minimumTabSizeHint(self, index: int) -> QSize:
        """So many letters can always be read; where that has no room, buttons scroll the row."""
        least, whole = super().minimumTabSizeHint(index), self.tabSizeHint(index)
        title = self.fontMetrics().averageCharWidth() * LEAST_LETTERS
        cross = self.tabButton(index, QTabBar.ButtonPosition.RightSide)
        beside = TAB_PADDING_PX + (cross.width() if isinstance(cross, QToolButton) else 0)
        return QSize(min(whole.width(), title + beside), least.height())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.MiddleButton:
            self._strip.close_at(event.position().toPoint())
            return
        super().mouseReleaseEvent(event)
