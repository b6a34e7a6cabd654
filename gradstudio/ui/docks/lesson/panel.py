"""The Lesson dock: what to try with an example, step by step; a step that was seen to be done is ticked off."""

import re
from functools import partial
from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent, QTextDocument
from PySide6.QtWidgets import (
    QCheckBox,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gradstudio.advice.lesson import Step
from gradstudio.ui.docks.lesson.lesson_progress import LessonProgress
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.form_layout import BREAK, paragraph
from gradstudio.ui.widgets.wrapped_label import WrappedLabel

LONG: Final = 19
"""A word of code with so many letters may not fit into a line of the dock."""
NOTHING = "This document has no lesson. Each example has one: open it from Help ▸ Welcome, or File ▸ Examples."


class LessonPanel(QWidget):
    """Shows the lesson of one document.

    Attributes:
        dismissed: a person has closed its dock.

    Signals:
        offered(object): whether there is a lesson now. `welcome_asked()`: another lesson is wanted.
    """

    offered = Signal(object)
    welcome_asked = Signal()

    def __init__(self, session: Session, theme: Theme) -> None:
        """Follow a document."""
        super().__init__()
        self.watch, self._theme = LessonProgress(session), theme
        self.dismissed = False
        self.steps: list[StepRow] = []
        self.title, self.words = paragraph("", "title"), paragraph("", "dim")
        self.words.setTextFormat(Qt.TextFormat.MarkdownText)
        self.end = QPushButton("All done. Another example…", self)
        self.end.clicked.connect(self.welcome_asked)
        self._inner = QWidget(self)
        column = QVBoxLayout(self._inner)
        column.setContentsMargins(12, 4, 12, 12)
        column.setSpacing(8)
        column.addWidget(self.title)
        column.addWidget(self.words)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(4)
        column.addLayout(self._rows)
        column.addWidget(self.end)
        column.addStretch(1)
        self._area = QScrollArea(self)
        self._area.setWidget(self._inner)
        self._area.setWidgetResizable(True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.verticalScrollBar().rangeChanged.connect(self._on_range_changed)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self._area)
        self.setFocusProxy(self._area)
        self.watch.replaced.connect(self._on_watch_replaced)
        self.watch.changed.connect(self._on_watch_changed)
        self._fill()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self._show_done()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        QTimer.singleShot(0, self, self._on_range_changed)

    # ------------------------------------------------------------------ inner workings

    def _guess(self, number: int, choice: str) -> None:
        """The buttons go: the keys stay with this step, and do not fall to another panel."""
        self.steps[number].box.setFocus()
        self.watch.guess(number, choice)

    def _on_watch_replaced(self) -> None:
        self._fill()
        self.offered.emit(self.watch.lesson is not None)

    def _on_watch_changed(self) -> None:
        self._show_done()
        QTimer.singleShot(0, self, self._look_at_current)

    def _on_range_changed(self) -> None:
        """The rows have new heights, or the dock has; or it is in front again."""
        if self.watch.current != 0:
            self._look_at_current()

    def _fill(self) -> None:
        for row in self.steps:
            row.setParent(None)
            row.deleteLater()
        lesson = self.watch.lesson
        self.title.setText(lesson.title if lesson is not None else "")
        self.title.setVisible(lesson is not None)
        self.words.setText(lesson.words if lesson is not None else NOTHING)
        steps = lesson.steps if lesson is not None else ()
        self.steps = [StepRow(number, step, self._inner) for number, step in enumerate(steps)]
        for number, row in enumerate(self.steps):
            row.box.clicked.connect(lambda on, number=number: self.watch.tick(number, on))
            row.guessed.connect(lambda choice, number=number: self._guess(number, choice))
            self._rows.addWidget(row)
        self._show_done()
        self._look_at_current()

    def _show_done(self) -> None:
        current = self.watch.current
        shown = self._first_guess()
        for number, row in enumerate(self.steps):
            row.show_done(number in self.watch.done, number == current, self._theme)
            row.show_guess(self.watch.guesses.get(number, ""), number + 1 in self.watch.done)
            row.setVisible(number <= shown)  # at last: the style of what is seen is worked out at once
        self.end.setVisible(bool(self.steps) and current is None)

    def _look_at_current(self) -> None:
        """Scroll to the step that is next, or to what leads on; the first step stands below the words, at the top."""
        current = self.watch.current
        if current == 0:
            self._area.verticalScrollBar().setValue(0)
        elif self.isVisible():
            self._area.ensureWidgetVisible(self.end if current is None else self.steps[current], 0, 24)

    def _first_guess(self) -> int:
        """The first step whose guess was not made: what comes behind it would give it away."""
        asked = (number for number, row in enumerate(self.steps) if row.choices and number not in self.watch.done)
        return next(asked, len(self.steps))


def _breakable(text: str) -> str:
    """The text with places in its code where a word that is too long for a line goes on in the next."""
    return re.sub("`[^`]+`", lambda code: re.sub(rf"[^\s`]{{{LONG},}}", _with_breaks, code[0]), text)


def _with_breaks(word: re.Match[str]) -> str:
    """Before a method of what a call or an index gives; else behind the parenthesis."""
    chained = re.sub(r"(?<=[\])])\.", f"{BREAK}.", word[0])
    return chained if chained != word[0] else re.sub(r"\((?!\))", f"({BREAK}", word[0])


class StepRow(QFrame):
    """One step: a box to tick and its words; what may be guessed, and how it was, once the next step has shown it.

    Signals:
        guessed(str): one of the step's choices was taken.
    """

    guessed = Signal(str)

    def __init__(self, number: int, step: Step, parent: QWidget | None = None) -> None:
        """Show a step that is not done yet."""
        super().__init__(parent)
        self.setObjectName("lesson_step")
        self.box = QCheckBox(self)
        self.box.setAccessibleName(f"Step {number + 1}: {_plain(step.text)}")
        self.box.setToolTip("Ticks itself when it is done" if step.signs else "Tick it when you have looked")
        self.words = WrappedLabel(_breakable(step.text), self)
        self.words.setTextFormat(Qt.TextFormat.MarkdownText)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 6, 8, 6)
        row.setSpacing(6)
        row.addWidget(self.box, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout()
        column.setSpacing(4)
        column.addWidget(self.words)
        self._look: tuple[bool, bool, Theme] | None = None
        self.choices = [QPushButton(choice, self) for choice in step.choices]
        for button in self.choices:
            button.clicked.connect(partial(self._guess, button.text()))
            button.setMinimumWidth(0)
            button.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            column.addWidget(button)
        self._answer, self.verdict = step.answer, WrappedLabel("", self)
        self.verdict.hide()
        column.addWidget(self.verdict)
        row.addLayout(column, 1)

    def _guess(self, choice: str, _checked: bool = False) -> None:
        self.guessed.emit(choice)

    def show_guess(self, guess: str, is_shown: bool) -> None:
        """What was guessed; whether it was right is said when the next step has shown it."""
        for button in self.choices:
            button.setVisible(not guess)
        verdict = f"You said: {guess}."
        if is_shown and self._answer:
            verdict = (
                f"You said “{guess}”, and so it is." if guess == self._answer else f"{verdict} It is: {self._answer}."
            )
        self.verdict.setText(verdict)
        self.verdict.setVisible(bool(guess))

    def show_done(self, done: bool, current: bool, theme: Theme) -> None:
        """Done steps are ticked and dim; the next one has a frame."""
        self.box.setChecked(done)
        if self._look == (done, current, theme):
            return
        self._look = (done, current, theme)
        edge = theme.accent if current else "transparent"
        ground = theme.surface_raised if current else "transparent"
        self.setStyleSheet(
            f"QFrame#lesson_step {{ background: {ground}; border: 1px solid {edge};"
            f" border-radius: {theme.RADIUS}px; }}"
            f"QFrame#lesson_step QLabel {{ color: {theme.text_dim if done else theme.text}; border: 0; }}"
        )


def _plain(text: str) -> str:
    """Markdown as plain words, for those who hear it."""
    document = QTextDocument()
    document.setMarkdown(text)
    return document.toPlainText()
