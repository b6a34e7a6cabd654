"""Finds words that have less room than they take, by the metrics of the widget that shows them."""

from collections.abc import Iterator

from PySide6.QtCore import QAbstractListModel, QModelIndex, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QCheckBox,
    QComboBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QListView,
    QPushButton,
    QStyle,
    QStyleOptionButton,
    QStyleOptionComboBox,
    QTabBar,
    QToolButton,
    QWidget,
)

from gradstudio.ui.docks.messages.message_view import EntryView

MOST_ROWS = 30
Horizontal = Qt.Orientation.Horizontal


def cut_words(root: QWidget) -> set[str]:
    """Words of a widget and all in it that are seen and are not whole, each after the class that shows it.

    Words of a person or of torch may be shortened where a tooltip has them; a label that wraps is as high as it needs.
    """
    return {
        f"{type(widget).__name__}: {words}"
        for widget in root.findChildren(QWidget)
        if widget.isVisible()
        for words in _cut(widget)
    }


def _cut(widget: QWidget) -> Iterator[str]:
    if isinstance(widget, QLabel):
        yield from _cut_label(widget)
    elif isinstance(widget, QAbstractButton):
        yield from _cut_button(widget)
    elif isinstance(widget, QLineEdit):
        words = widget.placeholderText()
        if not widget.text() and _is_wider(widget, words, widget.contentsRect().width()):
            yield words
    elif isinstance(widget, QTabBar):
        for tab in range(widget.count()):
            if _is_wider(widget, widget.tabText(tab), widget.tabRect(tab).width()):
                yield widget.tabText(tab)
    elif isinstance(widget, QComboBox):
        yield from _cut_choice(widget)
    elif isinstance(widget, QHeaderView):
        yield from _cut_heads(widget)
    elif isinstance(widget, QAbstractItemView) and widget.model() is not None:
        yield from _cut_cells(widget)


def _is_wider(widget: QWidget, words: str, room_px: int) -> bool:
    return widget.fontMetrics().horizontalAdvance(words) > room_px


def _cut_label(label: QLabel) -> Iterator[str]:
    words = label.text().replace("&", "")
    if label.wordWrap() or "<" in words:
        return
    room_px = label.contentsRect().width() + 1
    is_short = words.endswith("…") or any(_is_wider(label, line, room_px) for line in words.split("\n"))
    if is_short and not label.toolTip():
        yield words


def _cut_button(button: QAbstractButton) -> Iterator[str]:
    if isinstance(button, QToolButton):
        shows_words = button.toolButtonStyle() != Qt.ToolButtonStyle.ToolButtonIconOnly or button.icon().isNull()
        if shows_words and _is_wider(button, button.text().replace("&", ""), button.width()):
            yield button.text()
    elif isinstance(button, QPushButton | QCheckBox):
        option, part = QStyleOptionButton(), QStyle.SubElement
        button.initStyleOption(option)
        contents = part.SE_CheckBoxContents if isinstance(button, QCheckBox) else part.SE_PushButtonContents
        room = button.style().subElementRect(contents, option, button).width()
        if not button.icon().isNull():
            room -= button.iconSize().width()
        is_unsaid = "…" in option.text and option.text != button.text() and not button.toolTip()
        least = button.fontMetrics().horizontalAdvance("← letters")  # less of a name tells nothing
        is_useless = option.text != button.text() and "…" in option.text and room < least
        if is_unsaid or is_useless or _is_wider(button, option.text.replace("&", ""), room):
            yield button.text()


def _cut_choice(box: QComboBox) -> Iterator[str]:
    option = QStyleOptionComboBox()
    box.initStyleOption(option)
    field = QStyle.SubControl.SC_ComboBoxEditField
    room = box.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, field, box)
    if _is_wider(box, option.currentText, room.width()):
        yield option.currentText


def _cut_heads(header: QHeaderView) -> Iterator[str]:
    if header.orientation() != Horizontal or header.model() is None:
        return
    for section in range(header.count()):
        words = str(header.model().headerData(section, Horizontal) or "")
        if not header.isSectionHidden(section) and _is_wider(header, words, header.sectionSize(section) - 4):
            yield words


def _cut_cells(view: QAbstractItemView) -> Iterator[str]:
    if isinstance(view, EntryView) or (isinstance(view, QListView) and view.wordWrap()):
        return  # long lines go on in the next
    model = view.model()
    columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(QModelIndex())
    for row in range(min(model.rowCount(QModelIndex()), MOST_ROWS)):
        for column in range(columns):
            index = model.index(row, column)
            words, room_px = str(index.data() or ""), view.visualRect(index).width()
            if room_px and _is_wider(view, words, room_px) and not index.data(Qt.ItemDataRole.ToolTipRole):
                yield words
