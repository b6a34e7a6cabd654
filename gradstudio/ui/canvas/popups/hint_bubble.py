"""A small box of words beside the pointer or a field: why something is refused."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtWidgets import QLabel, QWidget

from gradstudio.ui.theme import Theme

if TYPE_CHECKING:
    from gradstudio.advice.wire_trial import Verdict

LIFE_MS = 4500
READING_MS = 50
"""So long words stay for each letter, where that is more."""
LOOKS = {"fits": ("ok", "✓"), "refused": ("warning", "⚠"), "unknown": ("info", "○")}
"""By outcome of a wire that is tried: the frame's colour and a sign before the title."""
WIDTH = 340
GAP = 16


class HintBubble(QLabel):
    """Words over the canvas, taken away by a timer or by the next thing a person does."""

    def __init__(self, parent: QWidget, theme: Theme) -> None:
        """Hidden at first."""
        super().__init__(parent)
        self._room = parent
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setWordWrap(True)
        self.setObjectName("canvas_bubble")
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.hide)
        self.set_theme(theme)
        self.hide()

    def set_theme(self, theme: Theme) -> None:
        """Take the theme's colours."""
        self._theme = theme
        self._dress("danger")

    def say(self, words: str, at: QPoint, *, role: str = "danger", stays: bool = False) -> None:
        """Show words near a point of the parent, wholly inside of it."""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._show(words, words.split("\n"), at, role, stays)

    def say_verdict(self, verdict: "Verdict", at: QPoint) -> None:
        """What torch would say of a wire: a sign and one line; of a refusal also why, torch's words and the way out."""
        from html import escape

        role, sign = LOOKS[verdict.outcome]
        theme = self._theme
        parts = [
            f'<b><span style="color: {theme.color(role).name()}">{sign}</span> {escape(verdict.title, quote=False)}</b>'
        ]
        parts.append(escape(verdict.text, quote=False))
        if verdict.words:
            words = escape(verdict.words, quote=False).replace("\n", "<br>")
            parts.append(f'<span style="color: {theme.text_dim}; font-family: monospace">{words}</span>')
        if verdict.fix:
            promise = "one click does this" if verdict.then else "one click will mend it"
            parts.append(f"Dropped all the same, {promise}: <b>{escape(verdict.fix, quote=False)}</b>")
        if verdict.then:
            parts.append(f"Then there is more to mend: {escape(verdict.then, quote=False)}")
        html = "".join(f'<div style="margin-top: {3 * bool(k)}px">{p}</div>' for k, p in enumerate(filter(None, parts)))
        self.setTextFormat(Qt.TextFormat.RichText)
        lines = [f"{sign} {verdict.title}  ", verdict.text, verdict.words, verdict.fix and "-" * 80]
        self._show(html, lines, at, role, stays=True)

    def _show(self, text: str, lines: list[str], at: QPoint, role: str, stays: bool) -> None:
        self._dress(role)
        if self.text() != text:
            self.setText(text)
        self.setFixedWidth(min(WIDTH, max(self.fontMetrics().horizontalAdvance(line) for line in lines) + 34))
        self.adjustSize()
        room = self._room.size()
        x = min(max(at.x() + GAP, 4), room.width() - self.width() - 4)
        y = at.y() + GAP if at.y() + GAP + self.height() < room.height() else at.y() - GAP - self.height()
        self.move(max(x, 4), max(y, 4))
        self.show()
        self.raise_()
        self._timer.stop() if stays else self._timer.start(max(LIFE_MS, READING_MS * len(text)))

    def _dress(self, role: str) -> None:
        theme = self._theme
        self.setStyleSheet(
            f"QLabel#canvas_bubble {{ background: {theme.surface_raised}; color: {theme.text}; padding: 6px 9px;"
            f" border: 1px solid {theme.color(role).name()}; border-left-width: 3px; border-radius: 5px; }}"
        )
