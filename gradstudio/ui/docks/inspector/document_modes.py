"""Training or evaluation: the switch between the two, and that of every module of a document."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from gradstudio.graph import recipes
from gradstudio.graph.analysis import module_modes
from gradstudio.graph.text.item_titles import title
from gradstudio.ui.state.session import Session
from gradstudio.ui.widgets.form_layout import Section, field_row, label


class TwoWays(QWidget):
    """Two buttons, of which one is down; both are up where neither holds.

    Signals:
        chosen(object): True for the first.
    """

    chosen = Signal(object)

    def __init__(self, first: str, second: str, parent: QWidget | None = None) -> None:
        """Nothing is shown yet."""
        super().__init__(parent)
        self.first, self.second = QPushButton(first, self), QPushButton(second, self)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        for button, is_first in ((self.first, True), (self.second, False)):
            button.setCheckable(True)
            button.setProperty("role", "way")
            button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
            button.clicked.connect(lambda _checked=False, is_first=is_first: self.chosen.emit(is_first))
            row.addWidget(button, 1)

    def show_way(self, first: bool | None) -> None:
        """Which one is down; None: neither."""
        self.first.setChecked(first is True)
        self.second.setChecked(first is False)


class ModeSwitch(TwoWays):
    """Training or evaluation; both up where modules differ. `chosen`: True for training."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Nothing is shown yet."""
        super().__init__("Train", "Evaluate", parent)
        self.train, self.evaluate = self.first, self.second

    def show_mode(self, training: bool | None) -> None:
        """Which one is down; None: some train, some do not."""
        self.show_way(training)


class DocumentModes(Section):
    """Training or evaluation of every module of the document, where nothing is selected."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        """Hidden, until there are modules."""
        super().__init__("Modules", parent)
        self._session = session
        self.mode = ModeSwitch(self)
        self.remark = label("", "dim", wrap=True)
        self.add(field_row("all modules", self.mode), self.remark)
        self.mode.chosen.connect(self._on_mode_chosen)
        self.hide()

    def show_document(self, wanted: bool) -> None:
        """Show how the modules that no other one holds stand in the text."""
        graph = self._session.shown_store.graph
        modules = module_modes.top_level(graph) if wanted else ()
        self.setVisible(bool(modules))
        if not modules:
            return
        asked = module_modes.switched_together(graph)
        training = {module_modes.is_training(graph, module) for module in asked or modules}
        self.mode.setEnabled(bool(asked) or False in training)
        self.mode.show_mode(training.pop() if len(training) == 1 else None)
        differing = [title(graph, module) for module in modules if module_modes.depends_on_mode(graph, module)]
        count = f"{len(modules)} module{'' if len(modules) == 1 else 's'}. "
        self.remark.setText(
            count + (f"It matters to {', '.join(differing)}." if differing else "All compute the same in both modes.")
        )

    def _on_mode_chosen(self, training: object) -> None:
        store = self._session.shown_store
        text = "Train all" if training else "Evaluate all"
        asked = module_modes.top_level(store.graph) if training else module_modes.switched_together(store.graph)
        store.attempt(recipes.set_training, text, asked, bool(training))
        self.show_document(True)
