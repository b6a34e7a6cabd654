"""The row over the strip: how to move in time, which backward and which turn is shown, and the moment in words."""

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QLabel, QMenu, QToolButton, QWidget

from gradstudio.ui.actions.action_set import ActionSet
from gradstudio.ui.state.document.attention import Attention
from gradstudio.ui.state.results.player import FIRST_SPEED, Player
from gradstudio.ui.theme import Theme, icon
from gradstudio.ui.timeline.turn_chooser import TurnChooser
from gradstudio.ui.widgets.layout_barrier import LayoutBarrier

HEIGHT_PX, ICON_PX = 30, 16
MOVES = ("run.to_start", "run.step_back", "run.play", "run.step", "run.to_now")
STRIDES = ("run.step_over", "run.step_into", "run.step_out", "run.run_to", "run.again")
SPACES_PX = 36
"""At the ends of the row, and between its groups."""
WORDS_PX = 190
"""So much stays for the moment in few words: what is in the Run menu too gives way to them."""
POPUP_PX = 44
"""What a popup needs beside its texts: padding, a tick, a scroll bar."""
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)


class TimelineHeader(QWidget):
    """Buttons of actions, three choosers, and a sentence."""

    def __init__(
        self, actions: ActionSet, attention: Attention, player: Player, turns: TurnChooser, theme: Theme
    ) -> None:
        """Made from the actions; `turns` is put between the choosers."""
        super().__init__()
        self._actions = actions
        self._attention = attention
        self._player = player
        self.turns = turns
        self._text, self._short, self._theme = "", "", theme
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedHeight(HEIGHT_PX)
        self.speed, self.backwards, self.words = QComboBox(self), QComboBox(self), QLabel()
        self.words.setObjectName("moment")
        self._words_place = LayoutBarrier(self.words)
        self._buttons = {key: self._button(key) for key in (*MOVES, *STRIDES, "run.unfold")}
        self.more, self._rule = self._overflow(), _rule(self)
        self._fill()
        self._prepare_choosers()
        player.changed.connect(self._on_player_changed)
        self._on_player_changed()

    def say(self, text: str, past: bool, short: str = "", tip: str = "") -> None:
        """Show the moment in words; in few words where there is no room for more, with `tip` as its tooltip."""
        self._text, self._short = text, short or text
        for widget in (self, self.words):
            if past != bool(widget.property("past")):
                widget.setProperty("past", past)
                widget.style().unpolish(widget)
                widget.style().polish(widget)
        self.words.setToolTip(tip or text)
        self._elide()

    def show_backwards(self, orders: dict[int, int]) -> None:
        """Offer the backwards of the run, with their orders; nothing while there are fewer than two."""
        wanted = [None, *orders]
        if wanted != [self.backwards.itemData(k) for k in range(self.backwards.count())]:
            self.backwards.clear()
            for number in wanted:
                self.backwards.addItem(_title(number, orders), number)
            _widen(self.backwards)
        chosen = self.backwards.findData(self._attention.backward)
        self.backwards.setCurrentIndex(max(chosen, 0))
        self.backwards.setVisible(len(orders) > 1 or self._attention.backward is not None)
        self._fold()

    def set_theme(self, theme: Theme) -> None:
        """Take up another theme."""
        self._theme = theme
        self.say(self._text, self._attention.moment is not None, self._short, self.words.toolTip())
        self._on_player_changed()

    # ------------------------------------------------------------------ inner workings

    def _button(self, key: str) -> QToolButton:
        button = QToolButton(self)
        self._actions.show_icon(key)
        button.setDefaultAction(self._actions.on_button(key))
        button.setObjectName("dock_button")
        button.setIconSize(QSize(ICON_PX, ICON_PX))
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setAccessibleName(self._actions[key].text())
        return button

    def _overflow(self) -> QToolButton:
        """Where the buttons are that have no room."""
        button, menu = QToolButton(self), QMenu(self)
        for key in STRIDES:
            menu.addAction(self._actions.on_button(key))
        button.setText("»")
        button.setToolTip("Step over, Step out, Run to here, Run from nothing")
        button.setAccessibleName("More ways to step")
        button.setObjectName("dock_button")
        button.setMenu(menu)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setProperty("role", "overflow")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def _fill(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 2, 8, 2)
        row.setSpacing(1)
        for key in MOVES:
            row.addWidget(self._buttons[key])
        row.addWidget(self.speed)
        row.addSpacing(5)
        row.addWidget(self._rule)
        row.addSpacing(3)
        for key in STRIDES:
            row.addWidget(self._buttons[key])
        row.addWidget(self.more)
        row.addWidget(self._buttons["run.unfold"])
        row.addSpacing(4)
        row.addWidget(self.backwards)
        row.addWidget(self.turns)
        row.addSpacing(6)
        row.addWidget(self._words_place, 1)
        self.words.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)

    def _prepare_choosers(self) -> None:
        for factor in SPEEDS:
            self.speed.addItem(f"{factor:g}×", factor)
        _widen(self.speed)
        self.speed.setToolTip(f"How fast the recorded timeline plays: 1× is {FIRST_SPEED:g} steps a second")
        self.speed.setAccessibleName("Speed of playing")
        self.backwards.setToolTip("Show the gradients of one backward alone")
        self.backwards.setAccessibleName("Backward whose gradients are shown")
        for box in (self.speed, self.backwards):
            box.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            box.setFixedHeight(HEIGHT_PX - 6)
            box.setObjectName("slim")
            box.view().setTextElideMode(Qt.TextElideMode.ElideNone)
        self.speed.activated.connect(self._on_speed_activated)
        self.backwards.activated.connect(self._on_backwards_activated)
        self.backwards.hide()

    def _fold(self) -> None:
        """Show what is in the Run menu too where there is room for it beside the rest and the words."""
        beside_words: list[QWidget] = [*self._buttons.values(), self.speed]
        for chooser in (self.backwards, self.turns):
            if not chooser.isHidden():
                beside_words.append(chooser)
        needed_px = WORDS_PX + SPACES_PX + len(beside_words)
        for widget in beside_words:
            needed_px += widget.sizeHint().width()
        roomy = self.width() >= needed_px
        for key in STRIDES:
            self._buttons[key].setVisible(roomy)
        self._rule.setVisible(roomy)
        self.more.setVisible(not roomy)

    def _elide(self) -> None:
        room = max(self._words_place.width() - 4, 0)
        metrics = QFontMetrics(self.words.font())
        text = self._text if metrics.horizontalAdvance(self._text) <= room else self._short
        self.words.setText(metrics.elidedText(text, Qt.TextElideMode.ElideRight, room))

    def _on_speed_activated(self, _index: int) -> None:
        self._player.set_speed(float(self.speed.currentData()) * FIRST_SPEED)

    def _on_backwards_activated(self, _index: int) -> None:
        self._attention.show_backward(self.backwards.currentData())

    def _on_player_changed(self) -> None:
        name = "pause" if self._player.playing else "play"
        self._actions["run.play"].setIcon(icon(name, self._theme))
        self._actions["run.play"].setText("Pause" if self._player.playing else "Play")
        self.speed.setCurrentIndex(max(self.speed.findData(self._player.speed / FIRST_SPEED), 0))

    def event(self, event: QEvent) -> bool:
        is_done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest:  # a chooser came or went, or another text
            self._fold()
            self._elide()
        return is_done

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()
        self._elide()


def _title(number: int | None, orders: dict[int, int]) -> str:
    if number is None:
        return "All backwards"
    return f"backward {number}" + (f", order {orders[number]}" if orders[number] > 1 else "")


def _widen(box: QComboBox) -> None:
    """Let the popup be as wide as its texts."""
    widest = max(box.fontMetrics().horizontalAdvance(box.itemText(k)) for k in range(box.count()))
    box.view().setMinimumWidth(widest + POPUP_PX)


def _rule(parent: QWidget) -> QFrame:
    rule = QFrame(parent)
    rule.setFrameShape(QFrame.Shape.VLine)
    rule.setFixedHeight(16)
    rule.setContentsMargins(4, 0, 4, 0)
    return rule
