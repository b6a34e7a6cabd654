"""The status bar: what was refused, counts, device, engine, memory, zoom."""

from PySide6.QtCore import QTimer
from PySide6.QtGui import QColor, QPainter, QPixmap
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStatusBar, QWidget

from gradstudio.ui.panels.curve import in_words
from gradstudio.ui.state.run_controller import RunState
from gradstudio.ui.state.session import Session
from gradstudio.ui.state.throttle import Throttle
from gradstudio.ui.theme import Theme, tinted

MESSAGE_MS = 9000
ENGINE_WORDS = {
    "starting": ("engine is starting", "warning"),
    "ready": ("engine ready", "ok"),
    "busy": ("running", "accent"),
    "dead": ("engine does not start", "danger"),
}


class StatusBar(QStatusBar):
    """Left: a refusal for a while, else the counts. Right: the facts that stand."""

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        """Listen to the session."""
        super().__init__(parent)
        self._session, self._theme = session, theme
        self.setSizeGripEnabled(False)
        self.message, self._message_icon = QLabel("", self), QLabel(self)
        self.counts, self.passes, self.device = QLabel("", self), QLabel("", self), QLabel("", self)
        self.memory, self.zoom = QLabel("", self), QLabel("100 %", self)
        self.light = _Light(self)
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
        self._on_engine_state_changed(session.engine.state)
        self._on_run_state_changed(session.run.state)

    def say(self, text: str, role: str = "warning") -> None:
        """Show a message for some seconds; "" takes it away."""
        self.message.setText(text)
        self.message.setToolTip(text)
        self.message.setStyleSheet(f"color: {self._theme.color(role).name()};" if text else "")
        self._message_icon.setVisible(bool(text))
        if text:
            name = "info" if role in ("text_dim", "ok") else "warning"
            self._message_icon.setPixmap(tinted(name, self._theme.color(role), 15, self.devicePixelRatioF()))
            self._timer.start()

    def confirm(self, text: str) -> None:
        """Say that something was done."""
        self.say(text, "ok")

    def show_zoom(self, factor: float) -> None:
        """Show the canvas's zoom."""
        self.zoom.setText(f"{factor * 100:.0f} %")

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self.say("")
        self._on_engine_state_changed(self._session.engine.state)

    def _listen(self) -> None:
        session = self._session
        session.graph_store.edited.connect(self._counting.request)
        session.graph_store.replaced.connect(self._count)
        session.graph_store.refused.connect(self.say)
        session.run.refused.connect(self.say)
        session.run.state_changed.connect(self._on_run_state_changed)
        session.engine.state_changed.connect(self._on_engine_state_changed)
        session.engine.died.connect(self._on_engine_died)
        session.memory.changed.connect(self._on_memory_changed)

    def _count(self) -> None:
        graph = self._session.graph_store.graph
        nodes, wires = len(graph.nodes), len(graph.wires)
        self.counts.setText(f"{nodes} node{'s' * (nodes != 1)} · {wires} wire{'s' * (wires != 1)}")
        self.device.setText(f"device {graph.header.device}")

    def _on_run_state_changed(self, state: RunState) -> None:
        facts = []
        if state.live and not state.stale and state.pass_number > 1:
            facts.append(f"pass {state.pass_number}")
        if state.live and state.changed_by_hand:
            facts.append("changed by hand")
        if state.live and state.stale:
            facts.append("changed since the run")
        elif state.live and not state.busy and not state.at_end and state.next_node:
            facts.append("paused")
        self.passes.setText(" · ".join(facts))
        self.passes.setVisible(bool(facts))
        if state.outcome == "died" and state.reason:
            self.say(state.reason, "danger")

    def _on_engine_state_changed(self, state: str) -> None:
        words, role = ENGINE_WORDS.get(state, (state, "text_dim"))
        hello = self._session.engine.hello
        if state == "ready" and hello is not None and hello.torch:
            words = f"torch {hello.torch.partition('+')[0]} ready"
        self.light.show_light(words, self._theme.color(role))

    def _on_engine_died(self, how: str) -> None:
        self.say(f"The engine ended: {how}. A new one is started.", "danger")

    def _on_timer_timeout(self) -> None:
        self.say("")

    def _on_memory_changed(self) -> None:
        store = self._session.memory
        for name, title in (("process", "RSS"), ("allocated", "allocated")):
            value = store.newest(name)
            if value is not None:
                self.memory.setText(f"{title} {in_words(value)}")
                return


class _Light(QWidget):
    """A coloured dot and words."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.dot, self.words = QLabel(self), QLabel("", self)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.dot)
        layout.addWidget(self.words)

    def show_light(self, words: str, color: QColor) -> None:
        """Show a state."""
        pixmap = QPixmap(16, 16)
        pixmap.fill(QColor(0, 0, 0, 0))
        painter = QPainter(pixmap)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(0, 0, 0, 0))
        painter.setBrush(color)
        painter.drawEllipse(1, 1, 14, 14)
        painter.end()
        pixmap.setDevicePixelRatio(2.0)
        self.dot.setPixmap(pixmap)
        self.words.setText(words)
