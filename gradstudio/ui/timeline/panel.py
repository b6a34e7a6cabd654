"""The timeline under the canvas: the row of buttons and the strip."""

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gradstudio.graph.model import ItemId
from gradstudio.program.model import Program
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.ui.actions.action_set import ActionSet
from gradstudio.ui.state.results.timeline_cursor import loops_around
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from gradstudio.ui.timeline.band_layout import brackets_px
from gradstudio.ui.timeline.moment_words import Names, moment_words, step_words
from gradstudio.ui.timeline.timeline_header import HEIGHT_PX, TimelineHeader
from gradstudio.ui.timeline.timeline_strip import LOWEST_PX, USUAL_PX, TimelineStrip
from gradstudio.ui.timeline.turn_chooser import TurnChooser


class TimelinePanel(QWidget):
    """Follows a session: what ran, and the moment that is looked at.

    Signals:
        said(object): the words of the moment, which may be others.
    """

    said = Signal(object)

    def __init__(self, session: Session, actions: ActionSet, theme: Theme) -> None:
        """Build the row from the window's actions."""
        super().__init__()
        self._session = session
        self._texts: dict[ItemId, str] = {}
        self._ran = session.results.tables.names
        self._read: dict[int, tuple[BackwardTraced, int]] = {}
        self.strip = TimelineStrip(session, self._names(), theme, self)
        self.turns = TurnChooser(session)
        self.header = TimelineHeader(actions, session.attention, session.player, self.turns, theme)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addWidget(self.strip, 1)
        self.setObjectName("timeline")
        self._make_room()
        self.setAutoFillBackground(True)
        self.strip.node_chosen.connect(session.attention.reveal)
        session.run.program_changed.connect(self._on_run_program_changed)
        session.results.tables.recorded.connect(self._on_results_recorded)
        session.attention.moment_changed.connect(self._say)
        session.graph_store.replaced.connect(self._on_graph_store_replaced)
        session.run.state_changed.connect(self._on_run_state_changed)
        self._is_behind = False
        session.run.status.slide.rested.connect(self._on_slide_rested)
        self._say()

    @property
    def words(self) -> str:
        """The moment in words."""
        moment, unfolded = self._session.attention.moment, self._session.attention.unfolded
        inside = self._session.run.state.in_backward
        return moment_words(self._session.results.timeline, moment, unfolded, self._names(), inside)

    @property
    def least_px(self) -> int:
        """How low it may be, before anything ran as well; the brackets of loops need room beside the lanes."""
        graph = self._session.graph_store.graph
        nodes = graph.nodes if graph.blocks else ()
        depth = max((len(loops_around(graph, node)) for node in nodes), default=0)
        return HEIGHT_PX + LOWEST_PX + brackets_px(depth)

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self.strip.set_theme(theme)
        self.header.set_theme(theme)

    def sizeHint(self) -> QSize:
        return QSize(400, HEIGHT_PX + USUAL_PX)

    # ------------------------------------------------------------------ inner workings

    def _names(self) -> Names:
        return Names(self._session.graph_store.graph, self._texts, self._session.results.tables.names)

    def _say(self) -> None:
        moment, unfolded = self._session.attention.moment, self._session.attention.unfolded
        short, words = step_words(self._session.results.timeline, moment, unfolded), self.words
        self.header.say(words if moment is None else short, moment is not None, short, words)
        self.header.show_backwards(self._orders())
        self.turns.refresh()
        self.said.emit(words)

    def _rename(self) -> None:
        """Another program ran, or what ran was only renamed since."""
        if self._ran is not self._session.results.tables.names:
            self._ran = self._session.results.tables.names
            self.strip.graph_changed(self._names())

    def _on_run_state_changed(self) -> None:
        if self._session.run.status.slide.moves:
            return
        self._rename()
        self.strip.update()
        self._say()

    def _on_slide_rested(self) -> None:
        if self._is_behind:
            self._on_run_program_changed(self._session.run.program)
            self._on_results_recorded()
        self._on_run_state_changed()

    def _on_results_recorded(self) -> None:
        self._is_behind = self._session.run.status.slide.moves
        if self._is_behind:
            return
        self._rename()
        self.strip.follow()
        self._say()

    def _on_run_program_changed(self, program: Program) -> None:
        self._is_behind = self._session.run.status.slide.moves
        if self._is_behind:
            return
        self._texts = program.texts
        self.strip.graph_changed(self._names())
        self._make_room()
        self._say()

    def _make_room(self) -> None:
        """Room for the strip is kept before anything runs: a run moves nothing."""
        self.strip.setMinimumHeight(self.least_px - HEIGHT_PX)
        self.setMinimumHeight(self.least_px)

    def _on_graph_store_replaced(self) -> None:
        self._texts = {}
        self.strip.graph_changed(self._names())
        self._on_results_recorded()

    def _orders(self) -> dict[int, int]:
        """The order of each backward; its record is read once."""
        before = self._read
        self._read = dict[int, tuple[BackwardTraced, int]]()
        for number, traced in self._session.results.timeline.backwards.items():
            known = before.get(number)
            if known is None or known[0] is not traced:
                known = traced, max((row.order for row in traced.rows), default=1)
            self._read[number] = known
        return {number: order for number, (_, order) in self._read.items()}
