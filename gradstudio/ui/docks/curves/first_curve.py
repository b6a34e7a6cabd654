"""Brings the Curves dock forward when a document that is looked at has its first curve; not over Code."""

from collections.abc import Callable

from PySide6.QtCore import QObject

from gradstudio.ui.docks.dock_set import Docks
from gradstudio.ui.state.results.curve_store import CurveStore


class FirstCurve(QObject):
    """Listens to the curves of one document; it is a child of the docks, and its maker ends it with the document."""

    def __init__(self, curves: CurveStore, docks: Docks, is_shown: Callable[[], bool]) -> None:
        """`is_shown` says whether the document is in front now."""
        super().__init__(docks)
        self._curves, self._docks, self._is_shown = curves, docks, is_shown
        curves.changed.connect(self._on_curves_changed)

    def _on_curves_changed(self) -> None:
        if self._curves.names and self._is_shown():
            self._docks.offer("curves")
