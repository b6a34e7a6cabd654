"""Graph ▸ Analyse: asks the pure rooms about the graph that is shown, and shows the answers in a dialog."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.model import ItemId
from gradstudio.graph.text.item_titles import title
from gradstudio.ui.actions.action_set import ActionRow, Row
from gradstudio.ui.actions.command_context import Context
from gradstudio.ui.theme import Theme

if TYPE_CHECKING:
    from gradstudio.advice.diagnosis.graph_answers import Section
    from gradstudio.ui.dialogs.analyse_dialog import AnalyseDialog

BELOW_PX = 90
"""Menus and toolbar stay free above the dialog."""
NOTHING = "There is nothing on the canvas yet."
EDITED = "The program has changed since. Analyse it again to see it as it is."
RAN = "The program has run since. Analyse it again to see the figures of that run."
MENU = "Graph/Analyse"


class AnalyseCommands(QObject):
    """Answers are asked for by a person and stay as they are until they ask again: no edit waits for them."""

    def __init__(self, context: Context, parent: QObject | None = None) -> None:
        """Build nothing yet; networkx is loaded with the first question."""
        super().__init__(parent)
        self._context, self._session = context, context.session
        self.dialog: AnalyseDialog | None = None
        self._pair: tuple[ItemId, ItemId] | None = None
        self._chosen: frozenset[ItemId] = frozenset()
        self._hidden_with_tab = False

    # ------------------------------------------------------------------ when

    def has_nodes(self) -> bool:
        """Whether there is anything to ask about."""
        return bool(self._session.shown_store.graph.nodes)

    def why_nothing(self) -> str:
        """Why there is not."""
        return NOTHING

    def has_pair(self) -> bool:
        """Whether two nodes are selected."""
        return len(self._selected()) == 2

    def why_no_pair(self) -> str:
        """What to do to ask what lies between."""
        return "Select two nodes: hold Shift and click the second one."

    def has_one(self) -> bool:
        """Whether one node is selected."""
        return len(self._selected()) == 1

    def why_not_one(self) -> str:
        """What to do to ask about a leaf."""
        return "Select one leaf: a tensor with requires_grad=True, or a layer."

    def _selected(self) -> list[ItemId]:
        """What is selected; a module and the call on its card are one."""
        graph, scene = self._session.shown_store.graph, self._context.canvas.scene
        chosen = self._session.attention.selection - CARDS
        return list({scene.state.card_groups.home(item) for item in chosen if item in graph})

    # ------------------------------------------------------------------ asking

    def ask_all(self) -> None:
        """Answer every question; what is selected says which nodes and which leaf are meant."""
        self._ask("")

    def ask_between(self) -> None:
        """Answer all, and go to what lies between the two selected nodes."""
        self._ask("between")

    def ask_gates(self) -> None:
        """Answer all, and go to the selected leaf; of a card that is a module and its call, to the module."""
        self._chosen = self._context.canvas.scene.state.card_groups.whole(self._selected())
        self._ask("gradient")

    def _ask(self, key: str) -> None:
        self._take_selection()
        dialog = self._opened()
        dialog.show_sections(self._sections(), key)
        dialog.note("")
        dialog.show()
        dialog.activateWindow()

    def _take_selection(self) -> None:
        """Two nodes are a pair; else that of the last question stays, while both are there, and so does the leaf."""
        chosen, graph = self._selected(), self._session.shown_store.graph
        if len(chosen) == 2:
            self._pair = chosen[0], chosen[1]
        self._chosen = frozenset(item for item in self._chosen if item in graph)
        if self._pair is not None and not all(item in graph for item in self._pair):
            self._pair = None

    def _sections(self) -> "tuple[Section, ...]":
        from gradstudio.advice.diagnosis.graph_answers import Asked, answers

        graph, results = self._session.shown_store.graph, self._session.results
        return answers(
            Asked(
                graph,
                lambda item: title(graph, item),
                results.inference,
                results,
                is_stale=results.tables.is_stale,
                pair=self._pair,
                chosen=self._chosen,
            )
        )

    def _opened(self) -> "AnalyseDialog":
        if self.dialog is not None:
            return self.dialog
        from gradstudio.ui.dialogs.analyse_dialog import AnalyseDialog

        made = self.dialog = AnalyseDialog(self._context.canvas.canvas_style.theme, self._context.window)
        made.stand_beside(self._context.window, BELOW_PX)
        made.items_chosen.connect(self._on_dialog_items_chosen)
        made.left.connect(self._on_dialog_left)
        made.again_asked.connect(self.ask_all)
        store, session = self._session.graph_store, self._session
        store.edited.connect(self._on_program_changed)
        store.replaced.connect(self._on_program_changed)
        session.scope.changed.connect(self._on_program_changed)
        session.results.tables.recorded.connect(self._on_results_recorded)
        return made

    # ------------------------------------------------------------------ around it

    def show_in_front(self, shown: bool) -> None:
        """The answers are about this document: they are seen while its tab is in front."""
        if self.dialog is None:
            return
        if not shown:
            self._hidden_with_tab |= self.dialog.isVisible()
            self.dialog.hide()
        elif self._hidden_with_tab:
            self._hidden_with_tab = False
            self.dialog.show()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        if self.dialog is not None:
            self.dialog.set_theme(theme)

    def close(self) -> None:
        """The document is closed for good."""
        if self.dialog is not None:
            self.dialog.hide()
            self.dialog.deleteLater()
            self.dialog = None

    # ------------------------------------------------------------------ slots

    def _on_dialog_items_chosen(self, items: Iterable[ItemId]) -> None:
        graph = self._session.shown_store.graph
        there = [item for item in items if item in graph]
        self._session.attention.select(there)
        self._context.canvas.navigation.show_items(there)

    def _on_dialog_left(self) -> None:
        self._context.window.activateWindow()
        self._context.canvas.setFocus()

    def _on_program_changed(self) -> None:
        if self.dialog is not None:
            self.dialog.note(EDITED)

    def _on_results_recorded(self) -> None:
        if self.dialog is not None:
            self.dialog.note(RAN)


def analyse_rows(c: AnalyseCommands, export: Callable[[str], None]) -> tuple[Row, ...]:
    """Questions about the graph, and the graph for other tools; `export` asks where to and writes."""
    from gradstudio.graph.structure.graph_export import FORMATS

    questions = "Connected components, longest paths, where gradients must pass, what lies between two nodes"
    files = (
        ActionRow(
            f"graph.export_{one.name}",
            f"Export as {one.title}…",
            MENU,
            4,
            partial(export, one.name),
            when=c.has_nodes,
            why=c.why_nothing,
            tooltip=one.summary,
        )
        for one in FORMATS
    )
    return (
        ActionRow(
            "graph.analyse",
            "Analyse graph…",
            MENU,
            4,
            c.ask_all,
            ("Ctrl+Shift+A",),
            when=c.has_nodes,
            why=c.why_nothing,
            tooltip=questions,
        ),
        ActionRow(
            "graph.between",
            "What lies between…",
            MENU,
            4,
            c.ask_between,
            when=c.has_pair,
            why=c.why_no_pair,
            tooltip="Every node on a way from one of the two selected nodes to the other",
        ),
        ActionRow(
            "graph.gates",
            "Where its gradient must pass…",
            MENU,
            4,
            c.ask_gates,
            when=c.has_one,
            why=c.why_not_one,
            tooltip="The nodes through which all of the selected leaf's gradient must go",
        ),
        *files,
    )
