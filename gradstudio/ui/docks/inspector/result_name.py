"""The name of what a call gives, where the card's own name is its module's."""

from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import mono_font
from gradstudio.ui.widgets.form_layout import field_row, label


class ResultName(QWidget):
    """A field for it, and why a name is refused."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        """Hidden, until a call that shares the card of its module is shown."""
        super().__init__(parent)
        self._session = session
        self._call: ItemId | None = None
        self._why_not = ""
        self.name = QLineEdit(self)
        self.name.setFont(mono_font())
        self.name.setAccessibleName("Name of the result")
        self.name.setPlaceholderText("no name")
        self.name.setToolTip("What the call gives; several names, with commas, where it gives several")
        self.problem = label("", "danger", wrap=True)
        self.problem.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(field_row("result", self.name))
        column.addWidget(self.problem)
        self.name.editingFinished.connect(self._on_name_editing_finished)
        self.name.textEdited.connect(lambda _text: self.problem.hide())
        session.shown_store.refused.connect(self._on_store_refused)
        self.hide()

    def show_item(self, call: ItemId | None) -> None:
        """Show the names that a call binds; None: it has a card of its own."""
        if call != self._call:
            self.problem.hide()
        self._call = call
        self.setVisible(call is not None)
        if call is not None and not (self.name.hasFocus() and self.name.isModified()):
            self.name.setText(", ".join(self._session.shown_store.graph.nodes[call].names))

    def _on_name_editing_finished(self) -> None:
        graph = self._session.shown_store.graph
        if self._call is None or self._call not in graph.nodes or not self.name.isModified():
            return
        self.name.setModified(False)
        names = tuple(part.strip() for part in self.name.text().split(",") if part.strip())
        if names != graph.nodes[self._call].names and not self._session.shown_store.attempt(
            recipes.rename, "Rename", self._call, names
        ):
            self.problem.setText(self._why_not)
            self.problem.show()
            self.name.setText(", ".join(graph.nodes[self._call].names))

    def _on_store_refused(self, words: object) -> None:
        self._why_not = str(words)
