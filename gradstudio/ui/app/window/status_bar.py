"""The status bar: what failed or was refused, counts, device, engine, memory, zoom."""

import functools
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QStatusBar, QToolButton, QWidget

from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.groups.definitions import group_of
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.debugging import Checked
from gradstudio.protocol.messages.progress import Asked
from gradstudio.ui.app.window.status_parts import LEAST_PX, Light, StatusWords, ZoomButton, keep_width
from gradstudio.ui.docks.memory.curve import in_words
from gradstudio.ui.docks.messages.message_model import did_not_run, left_out, name_of
from gradstudio.ui.state.run.run_patience import waited_words
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.throttle import Throttle
from gradstudio.ui.theme import Theme, icon_pixmap

if TYPE_CHECKING:
    from gradstudio.ui.app.window.input_field import InputField

MESSAGE_MS = 9000
ENGINE_WORDS = {
    "starting": ("engine is starting", "warning"),
    "ready": ("engine ready", "ok"),
    "busy": ("running", "accent"),
    "dead": ("engine does not start", "danger"),
}
AT_WORK = ("ready", "busy")
"""What the engine is by turns while a slider moves."""


class StatusBar(QStatusBar):
    """Left: words for a while, else the failure that stands. Right: the facts that stand."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """Listen to the session."""
        super().__init__(parent)
        self._session, self._theme, self._state = session, theme, session.run.state
        self._was_busy, self._hit = False, ""
        self._has_turns, self._facts = False, list[str]()
        self._role, self._old_warning = "", False
        self._is_crowded, self._switches = False, list[QToolButton]()
        self._has_long_run = False
        self._drawn: frozenset[ItemId] = frozenset()
        self.setSizeGripEnabled(False)
        self.message, self._message_icon = StatusWords(self), QLabel(self)
        self.counts, self.passes, self.device = QLabel("", self), QLabel("", self), QLabel("", self)
        self.memory, self.zoom, self.light = QLabel("", self), ZoomButton(self), Light(self)
        self.addWidget(self._message_icon)
        self.addWidget(self.message, 1)
        for widget in (self.passes, self.counts, self.device, self.light, self.memory, self.zoom):
            self.addPermanentWidget(widget)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(MESSAGE_MS)
        self._timer.timeout.connect(self._on_timer_timeout)
        self._counting = Throttle(50, self)
        self._counting.due.connect(self._count)
        self._listen()
        self.say("")
        self._count()
        self._show_light(session.engine.state)
        self._keep_room_for_memory()
        self._on_run_state_changed(session.run.state)

    def say(self, text: str, role: str = "warning") -> None:
        """Show a message for some seconds; "" takes it away, and what failed or did not run is seen again."""
        self._timer.stop()
        if not text and (failure := self._failure()):
            self._show(*failure, "danger")
            return
        if not text and (left := self._left_out()):
            self._show(*left, "warning")
            return
        self._show(text, ItemId(""), role)
        if text:
            self._timer.start()

    def note(self, text: str) -> None:
        """Say something that is neither good nor bad."""
        self.say(text, "text_dim")

    def _show(self, text: str, node: ItemId, role: str) -> None:
        self._role, self._old_warning = role, False
        QTimer.singleShot(0, self, self._grow_old)
        self.message.show_words(text, node)
        self.message.setStyleSheet(f"color: {self._theme.color(role).name()};" if text else "")
        self._message_icon.setVisible(bool(text))
        if text:
            name = "info" if role in ("text_dim", "ok") else "warning"
            self._message_icon.setPixmap(icon_pixmap(name, self._theme.color(role), 15, self.devicePixelRatioF()))

    def _failure(self) -> tuple[str, ItemId] | None:
        """The newest failure that stands, in a line with the node's name, and the node; our words before torch's."""
        failures = self._session.results.failures
        if not failures or self._session.run.state.busy:
            return None
        failure = failures[-1]
        node = failure.failed.node
        where = name_of(self._session.shown_store.graph, node)
        explained = failure.explanation.partition(". ")[0].removesuffix(".")
        words = " ".join((failure.at_place(explained) if explained else failure.what).split())
        fails = where and failure.failed.program_exit is None  # else the program ended itself there
        return (f"{where} failed: {words}" if fails else words), node

    def confirm(self, text: str) -> None:
        """Say that something was done."""
        self.say(text, "ok")

    def show_zoom(self, factor: float) -> None:
        """Show the canvas's zoom."""
        self.zoom.show_zoom(factor)

    def show_switch(self, action: QAction) -> None:
        """A word that shows whether something is on, and switches it."""
        button = QToolButton(self)
        button.setDefaultAction(action)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        button.setAutoRaise(True)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.insertPermanentWidget(3, button)  # before the counts
        self._switches.append(button)

    def make_room(self, is_needed: bool) -> None:
        """What a person has to decide has the room of the facts that stand."""
        self._is_crowded = is_needed
        for fact in (self.memory, *self._switches):
            fact.setVisible(not is_needed)
        self._show_program()
        self._show_facts()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self.say("")
        self._show_light(self._session.engine.state)

    def _on_run_answered(self, answer: object) -> None:
        if isinstance(answer, Checked):
            agrees = bool(answer.rows) and all(row.ok for row in answer.rows)
            self.say(self._session.experiments.verdict, "ok" if agrees else "warning")

    def _listen(self) -> None:
        session = self._session
        session.shown_store.edited.connect(self._counting.request)
        session.shown_store.edited.connect(self._on_shown_store_edited)
        session.shown_store.replaced.connect(self._count)
        session.shown_store.refused.connect(self.say)
        session.run.status.refused.connect(self.say)
        session.run.status.noted.connect(self.note)
        session.run.questions.answered.connect(self._on_run_answered)
        session.results.changed.connect(self._on_results_changed)
        session.results.tables.input_asked.connect(self._on_input_asked)
        self.message.node_chosen.connect(session.attention.reveal)
        session.run.state_changed.connect(self._on_run_state_changed)
        session.run.status.slide.rested.connect(self._on_slide_rested)
        session.engine.state_changed.connect(self._on_engine_state_changed)
        session.run.status.slide.lasted.connect(self._on_slide_lasted)
        session.engine.died.connect(self._on_engine_died)
        session.patience.waited.connect(self._on_patience_waited)
        session.memory.changed.connect(self._on_memory_changed)

    def _count(self) -> None:
        graph = self._session.shown_store.graph
        nodes, wires = len(graph.nodes.keys() - CARDS), len(graph.wires)
        self.counts.setText(f"{nodes} node{'s' * (nodes != 1)} · {wires} wire{'s' * (wires != 1)}")
        self.device.setText(f"device {graph.header.device}")

    def _on_run_state_changed(self, state: RunState) -> None:
        self._state = state
        if self._session.run.status.slide.moves and not state.reason and state.outcome in ("", "done"):
            return  # what fails is told with the results
        facts = []
        if state.live and not state.stale and state.pass_number > 1:
            facts.append(f"pass {state.pass_number}")
        if state.live and state.changed_by_hand:
            facts.append("changed by hand")
        if state.live and state.stale:
            facts.append("changed since the run")
        elif state.live and not state.busy and (state.in_backward or (not state.at_end and state.next_node)):
            facts.append(f"paused in backward {state.in_backward}" if state.in_backward else "paused")
        self._facts = facts
        self._show_facts()
        if state.busy:
            self.say("")
        elif state.outcome in ("died", "stopped") and state.reason:
            if not self._is_crowded:  # else it stands in what is offered
                self.say(state.reason, "danger" if state.outcome == "died" else "text_dim")
        else:
            self._on_results_changed()
            if self._was_busy:
                self._drawn = frozenset(self._session.graph_store.graph.nodes)
                self._say_left_out()
            if self._was_busy and state.outcome == "done" and state.reason:
                self.note(state.reason)
            if state.hit and state.hit != self._hit:
                self._say_hit(state)
        self._was_busy, self._hit = state.busy, state.hit

    def _show_facts(self) -> None:
        """How far the loops are, what is left of all of them, and what stands of the run."""
        facts = list(self._facts)
        if loops := self._session.results.tables.loops.shown:
            from gradstudio.scene.words.loop_words import loop_words

            shown = [one._replace(loop=self._session.results.ids.standing_for(one.loop)) for one in loops]
            facts[:0] = loop_words(self._session.graph_store.graph, shown)
        self.passes.setText(" · ".join(facts))
        self.passes.setVisible(bool(facts) and not self._is_crowded)
        if loops or self._has_long_run:
            self._has_long_run = bool(loops) and (self._has_long_run or self._wanted_width() > self.width())
            self._show_program()

    def _show_program(self) -> None:
        """What the program is gives its room to how far a run is, until that is over, where both have none."""
        for fact in (self.counts, self.device):
            fact.setVisible(not self._is_crowded and not self._has_long_run)

    def _wanted_width(self) -> int:
        """In which all that can stand here is read; pixels."""
        standing = (self.passes, self.counts, self.device, self.light, self.memory, self.zoom, *self._switches)
        layout = self.layout()
        assert layout is not None
        spaces = layout.spacing() * (len(standing) + 1)
        words = self.message.wanted_width if self.message.full else LEAST_PX
        return sum(one.sizeHint().width() for one in standing) + spaces + words

    def _say_hit(self, state: RunState) -> None:
        """Why the run has paused, and what goes on from there."""
        from gradstudio.protocol.breakpoint_conditions import describe
        from gradstudio.ui.docks.breakpoints.breakpoint_model import place_words

        met = self._session.debug.get(state.hit)
        if met is None:
            return
        always = met.condition.kind == "always"
        why = place_words(met, self._session.graph_store.graph) + ("" if always else f", {describe(met.condition)}")
        behind = " The backward has run as a whole; F5 goes on through its record." if state.in_backward else ""
        self.note(f"Paused at a breakpoint: {why}.{behind}")

    def _left_out(self) -> tuple[str, ItemId] | None:
        """That the run was over less than what was drawn, with the first reason, and its node; until an edit."""
        graph, state = self._session.graph_store.graph, self._state
        if state.busy or state.stale or not self._drawn:
            return None
        incomplete = left_out(graph, self._session.run.program, state)
        left = [row for row in incomplete if row.node in self._drawn]
        if not left:
            return None
        return f"{did_not_run(len(left))}: {name_of(graph, left[0].node)} – {left[0].reason}", left[0].node

    def _say_left_out(self) -> None:
        """Behind a run; what cannot run for something inside of it is selected: its card does not show the place."""
        self.say("")
        left = self._left_out()
        if left is not None and not self._session.scope.path and group_of(self._session.graph_store.graph, left[1]):
            self._session.attention.reveal(left[1])

    def _on_engine_state_changed(self, state: str) -> None:
        if not (self._session.run.status.slide.is_brief and state in AT_WORK):
            self._show_light(state)

    def _on_slide_lasted(self) -> None:
        self._show_light(self._session.engine.state)

    def _on_slide_rested(self) -> None:
        self._on_run_state_changed(self._session.run.state)
        self._show_light(self._session.engine.state)

    def _show_light(self, state: str) -> None:
        words, role = ENGINE_WORDS.get(state, (state, "text_dim"))
        hello = self._session.engine.hello
        if state == "ready" and hello is not None and hello.torch:
            words = f"torch {hello.torch.partition('+')[0]} ready"
        words = self._session.engine.words_there(words)
        if not self._session.engine.has_walls:
            words = f"trusted code · {words}"
        self.light.show_light(words, self._theme.color(role))

    @functools.cached_property
    def input_field(self) -> "InputField":
        """Made when a program asks for the first time."""
        from gradstudio.ui.app.window.input_field import InputField

        made = InputField(self._theme, self)
        made.answered.connect(self._session.answer_input)
        self.insertWidget(0, made)
        return made

    def _on_input_asked(self, asked: Asked | None) -> None:
        if asked is not None:
            self.say("")
        if asked is not None or "input_field" in self.__dict__:
            self.input_field.ask(asked)

    def _on_patience_waited(self, _node: ItemId, seconds: int) -> None:
        """The node at work is named as long as it takes; a click goes to it."""
        if self._session.results.tables.asked is not None:
            return  # it waits for the person
        self.say("")
        if seconds:
            node = self._session.results.running_node
            where = name_of(self._session.shown_store.graph, node) if node else ""
            self._show(waited_words(where, seconds), node, "warning")

    def _on_engine_died(self, how: str) -> None:
        self.passes.hide()  # how far it was gives the words its room
        self.say(self._session.engine.words_of_end(how), "danger")

    def _on_results_changed(self) -> None:
        """A failure is seen at once, and goes when it stands no more; other words have their time."""
        loops = self._session.results.tables.loops.shown
        if loops or self._has_turns:
            self._has_turns = bool(loops)
            self._show_facts()
        if self._session.results.running_seconds:
            return
        shown, failure = (self.message.full, self.message.node) if self.message.node else None, self._failure()
        is_free = bool(shown or failure or not self.message.full)
        if is_free and shown != (failure or self._left_out()):
            self.say("")

    def _on_shown_store_edited(self, _edits: object) -> None:
        """What was warned of before another gesture is over; the gesture that led to a warning leaves it."""
        if self._old_warning and not self.message.node:
            self.say("")

    def _grow_old(self) -> None:
        self._old_warning = bool(self.message.full) and self._role == "warning"

    def _on_timer_timeout(self) -> None:
        self.say("")

    def _keep_room_for_memory(self) -> None:
        """The first sample, which comes when it comes, moves nothing."""
        self.memory.setText("RSS 888 MiB")
        self.memory.ensurePolished()
        keep_width(self.memory)
        self.memory.setText("")

    def _on_memory_changed(self) -> None:
        store = self._session.memory
        for name, title in (("process", "RSS"), ("allocated", "allocated")):
            value = store.newest(name)
            if value is not None:
                self.memory.setText(f"{title} {in_words(value)}")
                keep_width(self.memory)
                return
