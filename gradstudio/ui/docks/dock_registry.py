"""Every dock, a row each: what it is called, where it stands at first, and what makes its panel.

A panel is imported by its factory, when its dock is first seen: the docks stand in the window before that.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple
from typing import Literal as OneOf

from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from gradstudio.ui.canvas.view import CanvasView
    from gradstudio.ui.state.session import Session
    from gradstudio.ui.theme import Theme

DockArea = OneOf["left", "bottom", "right"]


class PanelParts(NamedTuple):
    """What a panel may be made of: one document, and how it looks."""

    session: "Session"
    canvas: "CanvasView"
    theme: "Theme"


class DockRow(NamedTuple):
    """One dock.

    Attributes:
        id: as layouts keep it; it never changes.
        group: docks of one group and area are tabs of one place at first.
        factory: makes its panel, once for each document; None: the window has one for all of them.
        share: of the height of its column, or of the width of the bottom, for the first dock of a group; 0: the rest.
    """

    id: str
    title: str
    area: DockArea
    group: str
    factory: Callable[[PanelParts], QWidget] | None
    share: float = 0


def _outline(parts: PanelParts) -> QWidget:
    from gradstudio.ui.docks.outline.panel import OutlinePanel

    return OutlinePanel(parts.session, parts.canvas, parts.theme)


def _lesson(parts: PanelParts) -> QWidget:
    from gradstudio.ui.docks.lesson.panel import LessonPanel

    return LessonPanel(parts.session, parts.theme)


def _inspector(parts: PanelParts) -> QWidget:
    from gradstudio.ui.docks.inspector.panel import InspectorPanel

    return InspectorPanel(parts.session, parts.theme)


def _documentation(parts: PanelParts) -> QWidget:
    from gradstudio.ui.docks.documentation.panel import DocumentationPanel

    return DocumentationPanel(parts.session, parts.theme)


def _memory(parts: PanelParts) -> QWidget:
    from gradstudio.ui.docks.memory.panel import MemoryPanel

    return MemoryPanel(parts.session, parts.theme)


def _curves(parts: PanelParts) -> QWidget:
    from gradstudio.ui.docks.curves.panel import CurvesPanel

    return CurvesPanel(parts.session, parts.theme)


def _runs(parts: PanelParts) -> QWidget:
    from gradstudio.ui.docks.runs.panel import RunsPanel

    return RunsPanel(parts.session, parts.theme)


def _code(parts: PanelParts) -> QWidget:
    from gradstudio.ui.docks.code.panel import CodePanel

    return CodePanel(parts.session, parts.theme)


def _log(parts: PanelParts) -> QWidget:
    from gradstudio.ui.docks.messages.log_panel import LogPanel

    return LogPanel(parts.session, parts.theme)


def _problems(parts: PanelParts) -> QWidget:
    from gradstudio.ui.docks.messages.problems_panel import ProblemsPanel

    return ProblemsPanel(parts.session, parts.theme)


def _breakpoints(parts: PanelParts) -> QWidget:
    from gradstudio.ui.docks.breakpoints.panel import BreakpointsPanel

    return BreakpointsPanel(parts.session, parts.theme)


def _history(parts: PanelParts) -> QWidget:
    from gradstudio.ui.docks.history_panel import HistoryPanel

    return HistoryPanel(parts.session, parts.theme)


DOCKS: Final = (
    DockRow("library", "Library", "left", "library", None),
    DockRow("outline", "Outline", "left", "library", _outline),
    DockRow("lesson", "Lesson", "left", "library", _lesson),
    DockRow("inspector", "Inspector", "right", "inspector", _inspector),
    DockRow("documentation", "Documentation", "right", "inspector", _documentation),
    DockRow("memory", "Memory", "right", "memory", _memory, share=0.24),
    DockRow("code", "Code", "bottom", "code", _code, share=0.56),
    DockRow("runs", "Runs", "bottom", "code", _runs),
    DockRow("log", "Log", "bottom", "messages", _log, share=0.44),
    DockRow("problems", "Problems (0)", "bottom", "messages", _problems),
    DockRow("breakpoints", "Breakpoints", "bottom", "messages", _breakpoints),
    DockRow("curves", "Curves", "bottom", "messages", _curves),
    DockRow("history", "History", "bottom", "messages", _history),
)
"""In the order of the menu; tabs of one place stand in this order, too."""


def docks_of(area: DockArea) -> tuple[DockRow, ...]:
    """Those that stand in one area at first."""
    return tuple(row for row in DOCKS if row.area == area)


def places(area: DockArea) -> tuple[tuple[DockRow, ...], ...]:
    """The docks of one area, by the place that they share as tabs."""
    rows = docks_of(area)
    groups = dict.fromkeys(row.group for row in rows)
    return tuple(tuple(row for row in rows if row.group == group) for group in groups)
