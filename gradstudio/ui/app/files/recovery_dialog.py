"""Offers what programs left behind unsaved: all of it at the start, a file's own when that file is opened."""

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QListView,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gradstudio.document.errors import DocumentError
from gradstudio.document.journal import Recovered, recoverable
from gradstudio.ui.app.files.documents import Documents, Tab
from gradstudio.ui.state.document.file_stamp import stamp_of
from gradstudio.ui.state.session import Session

Role = QDialogButtonBox.ButtonRole
LATER, DISCARD, RECOVER = 0, 1, 2
NAMES_TOLD = 3
"""So many names of a document without one."""


class RecoveryOffer(QObject):
    """Looks into the folder of journals and asks.

    Signals:
        typed_again(object, object): a `Tab` and the text that stood unapplied in its Code dock.
        refused(object): a journal cannot be read; the words.
    """

    typed_again = Signal(object, object)
    refused = Signal(object)

    def __init__(self, documents: Documents, folder: Path, window: QWidget) -> None:
        """Nothing is asked yet."""
        super().__init__(documents)
        self._documents, self._folder, self._window = documents, folder, window
        self._later: set[Path] = set()
        self._has_begun = self._asks = False

    def left_behind(self) -> list[Recovered]:
        """Documents that programs left unsaved when they ended, the newest first."""
        found = recoverable(self._folder) if self._folder.is_dir() else []
        return [left for left in found if left.path not in self._later]

    def offer_all(self) -> int:
        """Ask about everything that was left behind; how many documents were brought back."""
        self._has_begun = True
        return self._offer(self.left_behind())

    def offer_for(self, path: Path) -> int:
        """Ask about what was left behind of one file, which was opened just now."""
        if not self._has_begun:
            return 0
        wanted = path.resolve()
        return self._offer([left for left in self.left_behind() if left.document and left.document.resolve() == wanted])

    def _offer(self, found: Sequence[Recovered]) -> int:
        if not found or self._asks:
            return 0
        self._asks = True
        try:
            return self._ask(found)
        finally:
            self._asks = False

    def _ask(self, found: Sequence[Recovered]) -> int:
        dialog = RecoveryDialog(found, self._window)
        answer, chosen = dialog.exec(), dialog.chosen
        dialog.deleteLater()
        self._later |= {left.path for left in found if answer == LATER or (answer == RECOVER and left not in chosen)}
        if answer == DISCARD:
            for left in chosen:
                left.discard()
        return sum(self._recover(left) for left in reversed(chosen)) if answer == RECOVER else 0

    def _recover(self, left: Recovered) -> bool:
        """In the tab that has its file unchanged, else in one of its own."""
        tab = self._documents.find(left.document) if left.document is not None else None
        try:
            if tab is None or tab.is_changed:
                tab = self._put_into_new(left)
            else:
                self._documents.show(tab)
                tab.recovery.take(left)
        except DocumentError as error:
            self.refused.emit(f"The unsaved changes cannot be read: {error}")
            return False
        self._documents.filled.emit(tab)
        if left.unapplied:
            self.typed_again.emit(tab, left.unapplied)
        return True

    def _put_into_new(self, left: Recovered) -> Tab:
        error = self._documents.take(lambda session: _restore(left, session))
        if error is not None:
            raise error
        self._documents.current.recovery.write()
        left.discard()
        return self._documents.current


def _restore(left: Recovered, session: Session) -> None:
    graph, _view = left.load()
    session.restore(graph, left.document, left.subject, identity=left.identity)


class RecoveryDialog(QDialog):
    """What was left behind, a line each; what is ticked is brought back or thrown away."""

    def __init__(self, found: Sequence[Recovered], parent: QWidget) -> None:
        """List what there is, everything ticked."""
        super().__init__(parent)
        self._found = list(found)
        self.setWindowTitle("Recover unsaved changes")
        many = f"{len(found)} documents had" if len(found) > 1 else f"“{_name(found[0])}” had"
        heading = QLabel(f"{many} unsaved changes when GradStudio ended.", self)
        heading.setProperty("role", "title")
        heading.setWordWrap(True)
        words = QLabel("They were kept. Opening them changes no file: save them when you have looked at them.", self)
        words.setWordWrap(True)
        self.list = QListWidget(self)
        self.list.setAccessibleName("Documents with unsaved changes")
        self.list.setWordWrap(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setResizeMode(QListView.ResizeMode.Adjust)
        alike = Counter(_name(left) for left in found)
        for left in found:
            has_twin = alike[_name(left)] > 1
            contents = _contents(left) if left.document is None or has_twin else ""
            item = QListWidgetItem(_line(left, by_second=has_twin) + contents, self.list)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked)
            item.setToolTip(str(left.document or "Never saved"))
        self.buttons = QDialogButtonBox(self)
        self.recover = self.buttons.addButton("Recover", Role.AcceptRole)
        self.discard = self.buttons.addButton("Discard", Role.DestructiveRole)
        self.later = self.buttons.addButton("Ask later", Role.RejectRole)
        self.recover.setDefault(True)
        self.recover.setFocus()
        for button, code in ((self.recover, RECOVER), (self.discard, DISCARD), (self.later, LATER)):
            button.clicked.connect(lambda _checked=False, code=code: self.done(code))
        column = QVBoxLayout(self)
        column.setContentsMargins(18, 16, 18, 14)
        column.setSpacing(10)
        for widget in (heading, words, self.list, self.buttons):
            column.addWidget(widget)
        self.resize(520, 300)

    @property
    def chosen(self) -> list[Recovered]:
        """What is ticked."""
        ticked = Qt.CheckState.Checked
        return [left for k, left in enumerate(self._found) if self.list.item(k).checkState() == ticked]


def _name(left: Recovered) -> str:
    return left.document.name if left.document is not None else left.subject or left.title or "an untitled document"


def _contents(left: Recovered) -> str:
    """`` – 5 nodes: x, w, y …``: what tells a document from another of its name; "" where it cannot be read."""
    try:
        graph, _view = left.load()
    except DocumentError:
        return ""
    count = len(graph.nodes)
    names = [name for item in graph.order() if item in graph.nodes for name in graph.nodes[item].names if name]
    first = ", ".join(names[:NAMES_TOLD]) + (" …" if len(names) > NAMES_TOLD else "")
    return f" – {count} node{'s' * (count != 1)}" + (f": {first}" if first else "")


def _line(left: Recovered, *, by_second: bool) -> str:
    """``mine.gsg – kept on 04 Mar 14:32, text in the Code dock``, and whether the file was written since."""
    clock = "%H:%M:%S" if by_second else "%H:%M"
    facts = [time.strftime(f"kept on %d %b {clock}", time.localtime(left.written))]
    if left.unapplied:
        facts.append("with text typed in the Code dock")
    if left.document is not None:
        modified = stamp_of(left.document).modified_ns / 1e9
        facts += ["its file is gone"] if modified < 0 else []
        facts += ["its file was written since"] if modified > left.written else []
    return f"{_name(left)} – {', '.join(facts)}"
