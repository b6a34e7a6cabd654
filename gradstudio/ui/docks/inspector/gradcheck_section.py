"""Gradcheck of the selected node: autograd against finite differences in float64, input by input."""

from PySide6.QtWidgets import QPushButton, QWidget

from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.messages.debugging import CheckRow
from gradstudio.scene import value_format
from gradstudio.ui.docks.inspector.display_names import name_of
from gradstudio.ui.docks.inspector.ledger import Ledger, Line
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.form_layout import Section


class CheckSection(Section):
    """A button, and what the check found."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """Nothing was checked yet."""
        super().__init__("", parent)
        self._session = session
        self._item: ItemId | None = None
        self.button = QPushButton("Check gradient")
        self.button.setToolTip("Compare autograd with finite differences, in float64")
        self.ledger = Ledger(session.attention, theme)
        self.add(self.button, self.ledger)
        self.button.clicked.connect(self._on_button_clicked)
        session.experiments.changed.connect(lambda _items: self._show())

    def show_item(self, item: ItemId) -> None:
        """Show what was found for an item; offered where a gradient goes through."""
        results = self._session.results
        took_part = any(row.state in ("value", "accumulated", "not_run") for row in results.gradients_of(item))
        self._item = item
        checked = self._session.experiments.checked
        asked = checked is not None and item in checked.nodes
        self.setVisible(item in self._session.shown_store.graph.nodes and (took_part or asked))
        why_not = self._session.run.why_not("check")
        self.button.setEnabled(not why_not)
        if why_not:
            self.button.setToolTip(why_not)
        self._show()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self.ledger.set_theme(theme)

    def _show(self) -> None:
        checked, graph = self._session.experiments.checked, self._session.shown_store.graph
        if checked is None or self._item not in checked.nodes:
            self.ledger.show_lines(())
            return
        rows = self._session.experiments.check_rows(self._item)
        lines = [line for row in rows for line in lines_of(graph, row)]
        if reason := self._session.experiments.left_out(self._item):
            lines.append(Line(kind="words", text=reason))
        if checked.error:
            lines.append(Line(kind="words", role="danger", text=checked.error))
        self.ledger.show_lines(tuple(lines))

    def _on_button_clicked(self) -> None:
        if self._item is not None:
            self._session.run.questions.check((self._item,))


def lines_of_several(session: Session, nodes: frozenset[ItemId]) -> tuple[Line, ...]:
    """What the last gradcheck found of several nodes together: the verdict, then each with its worst element."""
    experiments, graph = session.experiments, session.shown_store.graph
    checked = experiments.checked
    if checked is None or not nodes & set(checked.nodes):
        return ()
    lines = [Line(kind="heading", text=experiments.verdict)]
    for node in (each for each in graph.nodes if each in nodes):
        rows, name = experiments.check_rows(node), name_of(graph, node)
        wrong = [row for row in rows if not row.ok]
        if wrong:
            lines += [line for row in wrong for line in lines_of(graph, row)]
        elif rows:
            lines.append(Line(name, "✓ agrees", link=node))
        elif reason := experiments.left_out(node):
            lines.append(Line(kind="words", role="dim", text=reason))
    if checked.rows and checked.error:
        lines.append(Line(kind="words", text=checked.error))
    return tuple(lines)


def lines_of(graph: Graph, row: CheckRow) -> tuple[Line, ...]:
    """One input: whether both agree, and the element where they agree least."""
    words = "✓ agrees" if row.ok else "✗ differs"
    input_name = row.name or name_of(graph, row.source, row.source_output)
    output = name_of(graph, row.node, row.output)
    head = Line(f"∂{output}/∂{input_name}", words, role="" if row.ok else "danger", link=row.source or None)
    place = f"worst of {row.elements:,}: {output}{_index(row.out_index)} by {input_name}{_index(row.in_index)}"
    return (
        head,
        Line("  autograd", value_format.number(row.analytical, 7)),
        Line("  differences", value_format.number(row.numerical, 7)),
        Line("  tolerance", value_format.number(row.tolerance, 3), note=place if row.elements > 1 else ""),
    )


def _index(index: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, index))}]" if index else ""
