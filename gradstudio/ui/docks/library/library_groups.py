"""The groups in the Library: those of the document that is shown, those a person published, and the data sets."""

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QInputDialog, QMenu, QMessageBox

from gradstudio.graph.edits import SetDefinition
from gradstudio.graph.errors import Refused
from gradstudio.ui.docks.library.panel import LibraryPanel
from gradstudio.ui.state.document.group_scope import ShownStore
from gradstudio.ui.state.library.published_groups import PublishedGroups
from gradstudio.ui.state.library.user_groups import (
    DATA_SET_ROWS,
    DATA_SETS,
    MINE,
    OF_DOCUMENT,
    PUBLISHED,
    document_rows,
    published_rows,
)


class LibraryGroups(QObject):
    """Keeps three categories of the Library up to date, and adds to its menu what can be done with published groups."""

    def __init__(self, library: LibraryPanel, published: PublishedGroups) -> None:
        """Show what is published; a document's groups after `follow`."""
        super().__init__(library)
        self._library, self._published = library, published
        self._store: ShownStore | None = None
        published.changed.connect(self.refresh)
        library.menu_extra = self.fill_menu
        self.refresh()

    def follow(self, store: ShownStore) -> None:
        """Another document is shown."""
        if self._store is not None:
            self._store.root.edited.disconnect(self._on_root_edited)
            self._store.root.replaced.disconnect(self.refresh)
        self._store = store
        store.root.edited.connect(self._on_root_edited)
        store.root.replaced.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the groups there are now."""
        rows = document_rows(self._store.root.graph) if self._store is not None else ()
        mine = published_rows(self._published)
        self._library.show_own(((OF_DOCUMENT, rows), (MINE, mine), (DATA_SETS, DATA_SET_ROWS)))

    def fill_menu(self, menu: QMenu, key: str) -> None:
        """What can be done with a published group beside adding it."""
        if key.startswith(PUBLISHED):
            name = key.removeprefix(PUBLISHED)
            menu.addAction("Rename…").triggered.connect(lambda: self._rename(name))
            menu.addAction("Delete…").triggered.connect(lambda: self._delete(name))

    def _rename(self, name: str) -> None:
        text, taken = QInputDialog.getText(self._library, "Rename", f"Another name for '{name}':", text=name)
        if taken and text.strip():
            self._try(lambda: self._published.rename(name, text.strip()))

    def _delete(self, name: str) -> None:
        words = f"Delete '{name}' from {MINE}? Documents that use it keep their copy. This cannot be undone."
        if QMessageBox.question(self._library, "Delete", words) == QMessageBox.StandardButton.Yes:
            self._try(lambda: self._published.delete(name))

    def _try(self, does: object) -> None:
        assert callable(does)
        try:
            does()
        except Refused as refusal:
            QMessageBox.warning(self._library, MINE, str(refusal))

    def _on_root_edited(self, edits: object) -> None:
        assert isinstance(edits, tuple)
        if any(isinstance(edit, SetDefinition) for edit in edits):
            self.refresh()
