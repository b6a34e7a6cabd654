"""The shortcut sheet: what keys and mouse do now, by group; searched, printed, or kept as a page."""

from collections.abc import Sequence
from html import escape
from typing import Final, NamedTuple

from PySide6.QtCore import QMarginsF, Qt
from PySide6.QtGui import QKeyEvent, QPageLayout, QPageSize, QPdfWriter, QTextDocument
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gradstudio.ui.actions.key_map import STEP, KeyLine
from gradstudio.ui.dialogs.dialog_size import fit_dialog
from gradstudio.ui.dialogs.fuzzy_match import fit_words
from gradstudio.ui.dialogs.mouse_gestures import GESTURES
from gradstudio.ui.theme import mono_font
from gradstudio.ui.widgets.clear_button import add_clear_button
from gradstudio.ui.widgets.form_layout import label

Button = QDialogButtonBox.StandardButton
MOUSE: Final = "Mouse on the canvas"
WIDTH_PX: Final = 820
HEIGHT_PX: Final = 640
MARGIN_MM: Final = 14.0
PAGE_SHEET: Final = (
    "body { font-family: sans-serif; font-size: 9pt; } h1 { font-size: 15pt; } "
    "h2 { font-size: 11pt; } td { padding: 2px 14px 2px 0; } td.keys { font-family: monospace; }"
)


class Line(NamedTuple):
    """A line of the sheet."""

    group: str
    text: str
    keys: str


NO_KEYS: Final = "no keys"


def sheet_lines(lines: Sequence[KeyLine]) -> tuple[Line, ...]:
    """Every command by menu, with its keys or the words that it has none, and what the mouse does."""
    keys = (_line(line) for line in lines)
    return (*keys, *(Line(MOUSE, text, how) for text, how in GESTURES))


def _line(line: KeyLine) -> Line:
    """Under its menu, named from there on: *Left edges* alone would say nothing."""
    group, *inner = line.place.split(STEP)
    return Line(group, STEP.join((*inner, line.text)), line.shown or NO_KEYS)


def group_lines(lines: Sequence[Line], typed: str = "") -> dict[str, list[Line]]:
    """Lines that fit what was typed, by group in the order they appear; those without keys only where typed for."""
    groups: dict[str, list[Line]] = {}
    for line in lines:
        fits = fit_words(typed, line.text, f"{line.group} {line.keys}") if typed.strip() else line.keys != NO_KEYS
        if fits:
            groups.setdefault(line.group, []).append(line)
    return groups


def page_of(lines: Sequence[Line]) -> str:
    """The sheet as a page of HTML."""
    parts = ["<h1>GradStudio: keys and mouse</h1>"]
    for group, inside in group_lines(lines).items():
        rows = (f'<tr><td>{escape(line.text)}</td><td class="keys">{escape(line.keys)}</td></tr>' for line in inside)
        parts.append(f"<h2>{escape(group)}</h2><table>{''.join(rows)}</table>")
    return "".join(parts)


class ShortcutDialog(QDialog):
    """What holds now, in two columns under a search field; what the mouse does stands below them, as wide as both."""

    def __init__(self, lines: Sequence[Line], parent: QWidget | None = None) -> None:
        """Show all lines."""
        super().__init__(parent)
        self.setWindowTitle("Shortcuts")
        self._lines = tuple(lines)
        self.search = QLineEdit(self)
        self.search.setPlaceholderText("Search commands, keys and gestures")
        self.search.setAccessibleName("Search shortcuts")
        add_clear_button(self.search)
        self.search.textChanged.connect(self.fill)
        self._area = QScrollArea(self)
        self._area.setWidgetResizable(True)
        self._area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        buttons = QDialogButtonBox(Button.Close, self)
        self.change = buttons.addButton("Change…", QDialogButtonBox.ButtonRole.ActionRole)
        self.save = buttons.addButton("Save as PDF…", QDialogButtonBox.ButtonRole.ActionRole)
        self.save.setToolTip("A page to print")
        for button in buttons.buttons():
            button.setProperty("autoDefault", False)
        self.save.clicked.connect(self._on_save_clicked)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 12)
        column.setSpacing(10)
        for widget in (self.search, self._area, buttons):
            column.addWidget(widget)
        self.fill("")
        fit_dialog(self, WIDTH_PX, HEIGHT_PX)

    def shown(self) -> tuple[str, ...]:
        """The commands that are listed, group by group."""
        found = group_lines(self._lines, self.search.text())
        return tuple(line.text for inside in found.values() for line in inside)

    def fill(self, typed: str) -> None:
        """List what fits."""
        inner = QWidget()
        columns = QGridLayout(inner)
        columns.setContentsMargins(0, 4, 16, 8)
        columns.setHorizontalSpacing(36)
        columns.setVerticalSpacing(18)
        columns.setColumnStretch(0, 1)
        columns.setColumnStretch(1, 1)
        groups = group_lines(self._lines, typed)
        mouse = groups.pop(MOUSE, None)
        heights = [0, 0]
        sides = [QVBoxLayout(), QVBoxLayout()]
        for group, lines in groups.items():
            side = 0 if heights[0] <= heights[1] else 1
            heights[side] += len(lines) + 2
            sides[side].addLayout(_group(group, lines))
            sides[side].addSpacing(18)
        if not groups and mouse is None:
            sides[0].addWidget(label("Nothing is called so, and no command has these keys.", "dim", wrap=True))
        for k, side_layout in enumerate(sides):
            side_layout.addStretch(1)
            columns.addLayout(side_layout, 0, k)
        if mouse is not None:
            columns.addLayout(_group(MOUSE, mouse), 1, 0, 1, 2)
        self._area.setWidget(inner)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter in the search field is no button."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.accept()
            return
        super().keyPressEvent(event)

    def _on_save_clicked(self) -> None:
        chosen, _ = QFileDialog.getSaveFileName(self, "Save shortcuts", "gradstudio-shortcuts.pdf", "PDF (*.pdf)")
        if chosen:
            write_page(self._lines, chosen)


def write_page(lines: Sequence[Line], path: str) -> None:
    """Write the sheet as a PDF for printing."""
    writer = QPdfWriter(path)
    writer.setTitle("GradStudio: keys and mouse")
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    margin = QMarginsF(MARGIN_MM, MARGIN_MM, MARGIN_MM, MARGIN_MM)
    writer.setPageMargins(margin, QPageLayout.Unit.Millimeter)
    document = QTextDocument()
    document.setDefaultStyleSheet(PAGE_SHEET)
    document.setHtml(page_of(lines))
    document.print_(writer)


def _group(name: str, lines: Sequence[Line]) -> QVBoxLayout:
    column = QVBoxLayout()
    column.setSpacing(5)
    column.addWidget(label(name, "heading"))
    for line in lines:
        column.addLayout(_row(line))
    return column


def _row(line: Line) -> QHBoxLayout:
    """What it does, in all the width that its own keys leave."""
    row = QHBoxLayout()
    row.setSpacing(18)
    text, keys = label(line.text, "", wrap=True), label(line.keys, "dim")
    if line.group != MOUSE:
        keys.setText(_in_pairs(line.keys))
        keys.setFont(mono_font())
        keys.setAlignment(Qt.AlignmentFlag.AlignRight)
    row.addWidget(text, 1, Qt.AlignmentFlag.AlignTop)
    row.addWidget(keys, 0, Qt.AlignmentFlag.AlignTop)
    return row


def _in_pairs(keys: str) -> str:
    """Keys in lines of two, so that the words beside them keep their room."""
    single = keys.split(", ")
    pairs = (", ".join(single[k : k + 2]) for k in range(0, len(single), 2))
    return ",\n".join(pairs)
