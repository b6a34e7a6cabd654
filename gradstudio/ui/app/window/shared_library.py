"""The Library, one for all documents: what a person keeps at hand, and what is done with the operator looked at."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from gradstudio.ui.actions.key_map import keys_now
from gradstudio.ui.app.window.document_window import DocumentWindow
from gradstudio.ui.app.window.window_host import WindowHost
from gradstudio.ui.state.document.group_scope import ShownStore
from gradstudio.ui.state.library.connection_statistics import ConnectionStatistics
from gradstudio.ui.state.library.favourites import Favourites
from gradstudio.ui.state.library.published_groups import PublishedGroups
from gradstudio.ui.state.library.user_groups import definition_of, is_own
from gradstudio.ui.theme import Theme

if TYPE_CHECKING:
    from gradstudio.ui.docks.library.library_groups import LibraryGroups
    from gradstudio.ui.docks.library.panel import LibraryPanel

CARD_SCALE = 0.85
"""Of the cards in the Library's help."""


class SharedLibrary(QObject):
    """The Library's panel with all that is wired to it; built when its dock is first seen, or it is asked for."""

    def __init__(self, window: WindowHost, shelf: Favourites, habits: ConnectionStatistics, parent: QObject) -> None:
        """Nothing is built; `wire` makes it reach the document in front, when there is one."""
        super().__init__(parent)
        self._window, self._shelf, self._habits = window, shelf, habits
        self._published = shelf.published = PublishedGroups(window.settings.folder / "groups", self)
        self._panel: LibraryPanel | None = None
        self._groups: LibraryGroups | None = None
        self._store: ShownStore | None = None
        self._keeps_habits = False  # they are about to be written

    @property
    def panel(self) -> "LibraryPanel":
        """What stands in the dock."""
        if self._panel is None:
            self._panel = self._build()
        return self._panel

    def _build(self) -> "LibraryPanel":
        from gradstudio.operators.catalogue.loader import load
        from gradstudio.ui.docks.library.library_groups import LibraryGroups
        from gradstudio.ui.docks.library.panel import LibraryPanel

        window = self._window
        panel = LibraryPanel(load(), window.theme, self._shelf)
        self._groups = LibraryGroups(panel, self._published)
        if self._store is not None:
            self._groups.follow(self._store)
        panel.tree.first_words = lambda key: "" if is_own(key) else window.session.pages.first_sentence(key)
        panel.tree.picture = self._card_of
        self._wire_panel(panel)
        window.frame.docks.fill("library", panel)
        return panel

    def wire(self) -> None:
        """Keep what a person keeps at hand, and fill the dock as soon as it is seen."""
        self._shelf.changed.connect(self._on_shelf_changed)
        self._habits.changed.connect(self._on_habits_changed)
        docks = self._window.frame.docks
        # Not at once: the document that is opened after this may have a lesson, which lies over the Library.
        QTimer.singleShot(0, self, lambda: docks.fill_when_seen("library", lambda: self.panel))

    def _wire_panel(self, panel: "LibraryPanel") -> None:
        """Let what is chosen there reach the document in front."""
        window = self._window
        panel.chosen.connect(lambda key: window.canvas.operator_commands.add_operator(key))
        panel.carried.connect(lambda key: window.canvas.ghost.carry_operator(key))
        panel.said.connect(window.status.say)
        panel.tree.selectionModel().currentChanged.connect(self._on_current_changed)
        panel.keys_of = partial(keys_now, window.actions, window.settings)

    def turn_to(self, document: DocumentWindow) -> None:
        """Another document is in front: its groups are shown."""
        self._store = document.session.shown_store
        if self._groups is not None:
            self._groups.follow(self._store)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        if self._panel is not None:
            self._panel.set_theme(theme)

    def looked_up(self) -> str:
        """The operator that a person looks at: where the focus is, else on the canvas, else in the Library."""
        from gradstudio.ui.docks.documentation.operator_source import OperatorSource, operator_of_card

        widget: QWidget | None = self._window.frame.focusWidget()
        while widget is not None:
            if isinstance(widget, OperatorSource):
                return widget.documented_operator()
            widget = widget.parentWidget()
        shown = operator_of_card(self._window.session.graph_store.graph, self._window.inspector.item)
        return shown or (self._panel.documented_operator() if self._panel is not None else "")

    def toggle_favourite(self) -> None:
        """Make the operator that a person looks at a favourite, or no longer, and say so."""
        key, status = self.looked_up(), self._window.status
        if key:
            words = "is a favourite now" if self._shelf.toggle(key) else "is no favourite any more"
            status.confirm(f"{key} {words}.")
        else:
            status.say("Select an operator in the Library or a node first.")

    def find_operator(self) -> None:
        """Put the cursor into the Library's search."""
        self._window.frame.docks.bring_forward("library")
        self.panel.focus_search()

    # ------------------------------------------------------------------ inner workings

    def _card_of(self, key: str) -> str:
        """An operator's card, for the Library's help."""
        from gradstudio.ui.canvas.paint.card_picture import as_rich_text

        window = self._window
        pictures, ratio = window.canvas.searching.pictures, window.frame.devicePixelRatioF()
        if is_own(key):
            graph = window.session.shown_store.root.graph
            pictures.definition_of = partial(definition_of, graph=graph, published=self._published)
        return as_rich_text(pictures.of(key, window.theme, CARD_SCALE, ratio))

    def _on_current_changed(self) -> None:
        self._window.documentation.show_operator(self.panel.documented_operator())

    def _on_shelf_changed(self) -> None:
        """What a person keeps at hand is there the next time, too."""
        self._window.settings.change(favourites=self._shelf.favourites, recent_operators=self._shelf.recent)

    def _on_habits_changed(self) -> None:
        """What a person usually wires is known the next time, too; the file is written when the wire is seen."""
        if not self._keeps_habits:
            self._keeps_habits = True
            QTimer.singleShot(0, self, self._keep_habits)

    def _keep_habits(self) -> None:
        self._keeps_habits = False
        self._window.settings.change(habits=self._habits.kept)
