"""Fusion, a palette of ours and a short style sheet. No colour is named here: all come from the theme."""

import re
from collections.abc import Iterable, Iterator
from typing import ClassVar

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QProxyStyle, QStyle, QStyleHintReturn, QStyleOption, QWidget

from gradstudio import paths
from gradstudio.ui.theme.model import TextScale, Theme, scale_px, ui_font

Role = QPalette.ColorRole
_USUAL = "usual_px"
_WITH_TEXT = re.compile(r"\b(font-size|min-height): (\d+)px")
"""Lengths that go with the size of the text."""


def apply(app: QApplication, theme: Theme, text_scale: float | None = None, unseen: Iterable[QWidget] = ()) -> None:
    """Give the whole application the theme's look, and its text another size where one is given.

    WORKAROUND(`setColorScheme` does nothing without a desktop): palettes of our own.
    WORKAROUND(a fresh style sheet gives widgets the fonts back that they had first): they are set once more.
    WORKAROUND(a style sheet that takes the place of another goes over all children of each widget, so that one is
    styled once for each of its ancestors, six times in the mean): the other is taken off first.
    WORKAROUND(a style is given to every widget that has one, seen or not): what is in `unseen` has none for a while.

    Args:
        app: the application.
        theme: its colours.
        text_scale: the size of its text beside the usual one; None: as it is.
        unseen: these, with all within, are given the style by `style_late` when they are shown.
    """
    widgets = app.allWidgets()
    fonts = _usual_sizes(widgets)
    TextScale.factor = TextScale.factor if text_scale is None else text_scale
    if _is_worn(app, theme):
        return
    for widget in _with_children(unseen):
        widget.setAttribute(Qt.WidgetAttribute.WA_WState_Polished, False)
    app.setStyleSheet("")
    if ToolTips.applied_ms != ToolTips.delay_ms:
        ToolTips.applied_ms = ToolTips.delay_ms
        app.setStyle("Fusion" if ToolTips.delay_ms == ToolTips.USUAL_MS else _Patient("Fusion"))
    app.setPalette(palette(theme))
    app.setFont(ui_font())
    app.setStyleSheet(style_sheet(theme))
    for widget, usual in fonts:
        _set_size(widget, usual)


def style_late(roots: Iterable[QWidget]) -> None:
    """Give these and all within the style of now, where `apply` left them without."""
    change = QEvent(QEvent.Type.StyleChange)
    for widget in _with_children(roots):
        if widget.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
            continue
        widget.setAttribute(Qt.WidgetAttribute.WA_WState_Polished)
        widget.style().polish(widget)
        usual = widget.property(_USUAL)
        if isinstance(usual, float):
            _set_size(widget, usual)
        QCoreApplication.sendEvent(widget, change)


def _with_children(roots: Iterable[QWidget]) -> Iterator[QWidget]:
    for root in roots:
        yield root
        yield from root.findChildren(QWidget)


def _set_size(widget: QWidget, usual_px: float) -> None:
    """Give a widget's own font the size that goes with the text of now."""
    font = widget.font()
    font.setPixelSize(max(scale_px(usual_px), 1))
    widget.setFont(font)


def _is_worn(app: QApplication, theme: Theme) -> bool:
    """Whether the application looks like that already: to be told so costs every widget a new style."""
    if ToolTips.applied_ms != ToolTips.delay_ms or app.styleSheet() != style_sheet(theme):
        return False
    return app.palette() == palette(theme) and app.font() == ui_font()


def _usual_sizes(widgets: Iterable[QWidget]) -> list[tuple[QWidget, float]]:
    """Widgets with fonts of their own, and how large those are at the usual size of text, in pixels."""
    found = []
    for widget in widgets:
        size = widget.font().pixelSize()
        if widget.testAttribute(Qt.WidgetAttribute.WA_SetFont) and size > 0:
            known = widget.property(_USUAL)
            usual = known if isinstance(known, float) and scale_px(known) == size else size / TextScale.factor
            widget.setProperty(_USUAL, usual)
            found.append((widget, usual))
    return found


class ToolTips:
    """How long the pointer rests before something is explained; one for the whole program, `apply` follows it."""

    USUAL_MS: ClassVar[int] = 700
    delay_ms: ClassVar[int] = USUAL_MS
    applied_ms: ClassVar[int] = 0


class _Patient(QProxyStyle):
    """Fusion with another delay of tooltips; used only where that is wanted, for it is asked often."""

    def styleHint(
        self,
        hint: QStyle.StyleHint,
        option: QStyleOption | None = None,
        widget: QWidget | None = None,
        data: QStyleHintReturn | None = None,
    ) -> int:
        if hint == QStyle.StyleHint.SH_ToolTip_WakeUpDelay:
            return ToolTips.delay_ms
        return super().styleHint(hint, option, widget, data)


def palette(theme: Theme) -> QPalette:
    """Qt's palette in the theme's colours, disabled ones faded."""
    made = QPalette()
    for role, name in _PALETTE.items():
        made.setColor(role, theme.color(name))
    for role in (Role.Text, Role.WindowText, Role.ButtonText, Role.PlaceholderText):
        made.setColor(QPalette.ColorGroup.Disabled, role, _between(theme.color("text_dim"), theme.color("surface")))
    made.setColor(QPalette.ColorGroup.Disabled, Role.Highlight, theme.color("line"))
    return made


def style_sheet(theme: Theme) -> str:
    """The style sheet of the application."""
    text = _SHEET
    for role in theme.__struct_fields__:
        value = getattr(theme, role)
        if isinstance(value, str):
            text = text.replace(f"@{role}@", value)
    text = text.replace("@edge@", edge(theme))
    text = text.replace("@tick@", "tick_white" if theme.color("accent_text").lightness() > 127 else "tick_black")
    text = _WITH_TEXT.sub(lambda found: f"{found[1]}: {scale_px(int(found[2]))}px", text)
    return text.replace("@icons@", (paths.resources() / "icons").as_posix())


def edge(theme: Theme) -> str:
    """The colour between panels: the ground of the window, where it differs from theirs."""
    return theme.window if theme.window != theme.surface else theme.line


def _between(one: QColor, other: QColor) -> QColor:
    return QColor((one.red() + other.red()) // 2, (one.green() + other.green()) // 2, (one.blue() + other.blue()) // 2)


_PALETTE = {
    Role.Window: "surface",
    Role.WindowText: "text",
    Role.Base: "field",
    Role.AlternateBase: "surface",
    Role.Text: "text",
    Role.Button: "surface_raised",
    Role.ButtonText: "text",
    Role.BrightText: "danger",
    Role.Highlight: "selection",
    Role.HighlightedText: "selection_text",
    Role.ToolTipBase: "surface_raised",
    Role.ToolTipText: "text",
    Role.PlaceholderText: "text_dim",
    Role.Link: "accent",
    Role.LinkVisited: "accent",
    Role.Light: "line",
    Role.Midlight: "line",
    Role.Mid: "line",
    Role.Dark: "line",
    Role.Shadow: "window",
    Role.Accent: "accent",
}

_SHEET = """
QMainWindow { background: @window@; }
QMainWindow::separator { background: @edge@; width: 5px; height: 5px; }
QMainWindow::separator:hover { background: @accent@; }
QWidget#dock_title { background: @surface@; }
QToolButton#dock_button { padding: 3px; border-radius: 5px; }
QToolButton#dock_button:hover { background: @line@; }
QToolButton[role="overflow"]::menu-indicator { image: none; }
QSplitter#workspace::handle { background: @edge@; }
QFrame#past_band { background: @past@; border-bottom: 2px solid @past_grid@; }
QFrame#past_band QLabel { color: @text@; font-weight: 600; }
QFrame#past_band QPushButton { padding: 1px 10px; }
TimelineHeader { background: @surface@; }
TimelineHeader[past="true"] { background: @past@; }
QLabel#moment { color: @text_dim@; font-weight: 400; }
QLabel#moment[past="true"] { color: @text@; font-weight: 600; }
QMenuBar { background: @surface@; padding: 2px 6px; }
QMenuBar::item { padding: 4px 9px; border-radius: 5px; background: transparent; }
QMenuBar::item:selected { background: @surface_raised@; }
QMenu { background: @surface_raised@; border: 1px solid @line@; padding: 5px; }
QMenu::item { padding: 5px 26px 5px 10px; border-radius: 5px; }
QMenu::item:selected { background: @selection@; color: @selection_text@; }
QMenu::item:disabled { color: @text_dim@; }
QMenu::icon { padding-left: 8px; }
QMenu::separator { height: 1px; background: @line@; margin: 5px 8px; }
QToolBar { background: @surface@; border: 0; border-bottom: 1px solid @edge@; padding: 5px 8px; spacing: 3px; }
QToolBar::separator { background: @line@; width: 1px; margin: 5px 6px; }
QToolButton { border: 1px solid transparent; border-radius: 6px; padding: 4px 8px; color: @text@; }
QToolButton:hover { background: @surface_raised@; border-color: @line@; }
QToolButton:pressed { background: @line@; }
QToolButton:checked { background: @accent_soft@; border-color: @accent@; }
QToolButton:disabled { color: @text_dim@; }
QToolButton:focus { border-color: @focus@; }
QToolButton#primary { background: @accent@; color: @accent_text@; font-weight: 600; }
QToolButton#primary:hover { border-color: @text@; }
QToolButton#primary:disabled { background: @surface_raised@; color: @text_dim@; }
QToolButton#danger:enabled { color: @danger@; }
QPushButton { background: @surface_raised@; border: 1px solid @line@; border-radius: 6px; padding: 5px 12px; }
QPushButton[role="way"] { padding: 5px 6px; }
QPushButton#link { background: transparent; border: 0; color: @accent@; text-align: left; padding: 4px 8px; }
QPushButton:hover { border-color: @accent@; }
QPushButton:pressed { background: @line@; }
QPushButton:checked { background: @selection@; color: @selection_text@; border-color: @accent@; }
QPushButton:default { background: @accent@; color: @accent_text@; border-color: @accent@; }
QPushButton:disabled { color: @text_dim@; background: @surface@; }
QPushButton:focus { border-color: @focus@; }
QLineEdit, QPlainTextEdit#field, QComboBox, QSpinBox, QDoubleSpinBox {
  background: @field@; border: 1px solid @line@; border-radius: 6px; padding: 3px 7px;
  selection-background-color: @selection@; selection-color: @selection_text@; }
QLineEdit#library_search { padding-left: 1px; }
QLineEdit:focus, QPlainTextEdit#field:focus, QComboBox:focus { border-color: @focus@; }
QLineEdit[invalid="true"], QPlainTextEdit#field[invalid="true"], QComboBox[invalid="true"] { border-color: @danger@; }
QLineEdit:read-only { color: @text_dim@; background: @surface@; }
QCheckBox { spacing: 7px; padding: 3px 0; }
QCheckBox[role="dim"], QComboBox[role="dim"] { color: @text_dim@; }
QCheckBox::indicator, QListWidget::indicator, QTableView::indicator { width: 14px; height: 14px;
  border: 1px solid @text_dim@; border-radius: 4px; background: @field@; }
QCheckBox::indicator:hover, QCheckBox::indicator:focus { border-color: @focus@; }
QCheckBox::indicator:checked, QListWidget::indicator:checked, QTableView::indicator:checked { background: @accent@;
  border-color: @accent@; image: url("@icons@/boxes/@tick@.svg"); }
QComboBox::drop-down { border: 0; width: 20px; }
QComboBox#slim { padding: 0 0 0 6px; }
QComboBox#slim::drop-down { width: 16px; }
QComboBox::down-arrow { image: url("@icons@/chevron.svg"); width: 12px; height: 12px; }
QSpinBox, QDoubleSpinBox { padding-right: 22px; }
QListWidget#pages::item { padding-left: 10px; }
QSpinBox::up-button, QDoubleSpinBox::up-button { subcontrol-origin: border; subcontrol-position: top right;
  width: 20px; border: 0; }
QSpinBox::down-button, QDoubleSpinBox::down-button { subcontrol-origin: border; subcontrol-position: bottom right;
  width: 20px; border: 0; }
QSpinBox::up-button:hover, QSpinBox::down-button:hover, QDoubleSpinBox::up-button:hover,
QDoubleSpinBox::down-button:hover { background: @line@; border-radius: 4px; }
QSpinBox::up-arrow, QDoubleSpinBox::up-arrow { image: url("@icons@/chevron_up.svg"); width: 10px; height: 10px; }
QSpinBox::down-arrow, QDoubleSpinBox::down-arrow { image: url("@icons@/chevron.svg"); width: 10px; height: 10px; }
QComboBox QAbstractItemView { color: @text@; background: @surface_raised@; border: 1px solid @line@; padding: 4px;
  outline: 0; }
QComboBox QAbstractItemView::item { min-height: 24px; padding: 0 6px; }
QDockWidget > QWidget, LibraryPanel, MemoryPanel { background: @surface@; }
QTreeView { show-decoration-selected: 0; selection-background-color: transparent; }
QTreeView, QListView, QTableView, QPlainTextEdit, QScrollArea { border: 0; outline: 0; background: @surface@; }
QScrollArea > QWidget > QWidget { background: @surface@; }
QPlainTextEdit#preview { border: 1px solid @line@; border-radius: 6px; padding: 4px; }
QPlainTextEdit#preview:focus { border-color: @focus@; }
QTextBrowser#documentation { border: 0; background: @surface@; selection-background-color: @selection@; }
QTreeView::item, QListView::item { min-height: 25px; border-radius: 5px; }
QTreeView::item:first { border-top-right-radius: 0; border-bottom-right-radius: 0; }
QTreeView::item:middle { border-radius: 0; }
QTreeView::item:last { border-top-left-radius: 0; border-bottom-left-radius: 0; }
QTreeView::item:hover, QListView::item:hover { background: @surface_raised@; }
QTreeView::item:selected, QListView::item:selected { background: @selection@; color: @selection_text@; }
QTableView { gridline-color: @line@; background: @surface@; }
QHeaderView { background: @surface@; }
QHeaderView::section { background: @surface@; color: @text_dim@; border: 0; padding: 3px 8px; }
QTableCornerButton::section { background: @surface@; border: 0; }
QTabBar { background: @surface@; qproperty-drawBase: 0; }
QTabBar::tab { color: @text_dim@; padding: 6px 12px; border: 0; border-bottom: 2px solid transparent; }
QTabBar::tab:hover { color: @text@; }
QTabBar::tab:selected { color: @text@; border-bottom-color: @accent@; }
QTabBar::scroller { width: 48px; }
QTabBar QToolButton { background: @surface@; padding: 0; border-radius: 0; }
QTabBar QToolButton:hover { background: @line@; }
QTabBar QToolButton::left-arrow { image: url("@icons@/chevron_left.svg"); width: 12px; height: 12px; }
QTabBar QToolButton::right-arrow { image: url("@icons@/chevron_right.svg"); width: 12px; height: 12px; }
QTabWidget::pane { border: 0; }
QStatusBar { background: @surface@; color: @text_dim@; border-top: 1px solid @edge@; }
QStatusBar::item { border: 0; }
QStatusBar QToolButton { color: @text_dim@; padding: 1px 8px; border-radius: 4px; }
QToolButton#zoom::menu-indicator { image: none; }
QStatusBar QLabel { color: @text_dim@; padding: 0 6px; }
QProgressBar { background: @line@; border: 0; border-radius: 3px; }
QProgressBar::chunk { background: @accent@; border-radius: 3px; }
QToolTip { background: @surface_raised@; color: @text@; border: 1px solid @line@; padding: 5px 7px; }
QScrollBar:vertical { background: transparent; width: 10px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 10px; margin: 0; }
QScrollBar::handle { background: @line@; border-radius: 4px; margin: 1px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover { background: @text_dim@; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QLabel[role="dim"] { color: @text_dim@; }
QLabel[role="heading"] { color: @text_dim@; font-weight: 600; }
QLabel[role="danger"] { color: @danger@; }
QLabel[role="warning"] { color: @warning@; }
QLabel[role="title"] { font-size: 15px; font-weight: 600; }
QFrame[role="rule"] { background: @line@; max-height: 1px; border: 0; }
TroubleBox[role="danger"] { background: @field@; border: 1px solid @danger@; border-radius: 6px; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
TroubleBox[role="warning"] { background: @field@; border: 1px solid @warning@; border-radius: 6px; }
"""
