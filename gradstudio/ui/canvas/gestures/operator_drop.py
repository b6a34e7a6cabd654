"""Operators dragged from the library onto the canvas."""

from pathlib import Path
from typing import Final

from PySide6.QtCore import QTimer
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent

from gradstudio.operators.catalogue.loader import load
from gradstudio.scene import hit_test
from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.edit.clipboard_commands import ClipboardCommands
from gradstudio.ui.canvas.edit.operator_commands import OperatorCommands
from gradstudio.ui.canvas.gestures.auto_pan import AutoPan
from gradstudio.ui.canvas.gestures.ghost_card import GhostCard
from gradstudio.ui.state.library.user_groups import is_own

MIME: Final = "application/x-gradstudio-operator"


class OperatorDrop:
    """Takes operator keys that are dropped; over a frame they fall into the block, on a wire into it."""

    def __init__(
        self,
        canvas: CanvasContext,
        ghost: GhostCard,
        border: AutoPan,
        operator_commands: OperatorCommands,
        clipboard_commands: ClipboardCommands,
    ) -> None:
        """Take drops for this canvas."""
        self._canvas, self._ghost, self._border = canvas, ghost, border
        self._operator_commands, self._clipboard_commands = operator_commands, clipboard_commands
        self._at: tuple[float, float] | None = None
        self._key = ""

    def enter(self, event: QDragEnterEvent) -> None:
        """Something is dragged in: accepted when it is an operator, or a file of numbers."""
        self._ghost.forget()
        if event.mimeData().hasFormat(MIME) or tables_in(event):
            event.acceptProposedAction()
        else:
            event.ignore()

    def move(self, event: QDragMoveEvent) -> None:
        """Light the wire or the frame it would fall into."""
        if not event.mimeData().hasFormat(MIME) and not tables_in(event):
            event.ignore()
            return
        key = event.mimeData().data(MIME).toStdString()
        self._key = key if load().entry(key) is not None else ""
        self._at = (event.position().x(), event.position().y())
        self._border.feel(*self._at)
        self.follow()
        event.acceptProposedAction()

    def follow(self) -> None:
        """Light the wire or the frame that what is dragged would fall into, also when the scene moves under it."""
        if self._at is not None:
            canvas, at = self._canvas, self._canvas.camera.to_scene(*self._at)
            wire = self._ghost.wire_at(self._key, *at) if self._key else None
            self._ghost.show_dragged(self._key, at)
            canvas.lit.hovered_wire = wire
            canvas.lit.drop_frame = hit_test.frame_at(canvas.scene, *at) if wire is None else None
            canvas.viewport().update()

    def leave(self) -> None:
        """It was dragged out again."""
        self._at = None
        self._ghost.show_dragged("", None)
        self._border.stop()
        self._canvas.lit.drop_frame = None
        self._canvas.lit.hovered_wire = None
        self._canvas.viewport().update()

    def drop(self, event: QDropEvent) -> None:
        """It was let go: add the node."""
        self.leave()
        if paths := tables_in(event):
            event.acceptProposedAction()
            self._take(paths, self._scene(event))
            return
        key = event.mimeData().data(MIME).toStdString()
        if load().entry(key) is None and not is_own(key):
            event.ignore()
            return
        x, y = self._scene(event)
        event.acceptProposedAction()
        self._canvas.widget.setFocus()
        self._operator_commands.put_operator(key, x, y)

    def _take(self, paths: tuple[Path, ...], at: tuple[float, float]) -> None:
        """Numbers that are one tensor are one at once; of rows to learn from a person is asked which is what."""
        from gradstudio.scene.edit.tabular_data import is_data_set

        asking = tuple(path for path in paths if is_data_set(path))
        self._clipboard_commands.add_files(tuple(path for path in paths if path not in asking), *at)
        if asking:  # when the drop is over: whoever dragged would wait for the answer
            QTimer.singleShot(0, self._canvas.widget, lambda: self._canvas.data_dropped.emit(asking, at))

    def _scene(self, event: QDropEvent) -> tuple[float, float]:
        at = event.position()
        return self._canvas.camera.to_scene(at.x(), at.y())


def tables_in(event: QDropEvent) -> tuple[Path, ...]:
    """The files of data, and folders, that are being dropped; none when there is anything else among them."""
    from gradstudio.scene.edit.tabular_data import ARRAYS, PACKED, PARQUETS, TABLES, TEXTS

    urls = event.mimeData().urls()
    paths = tuple(Path(url.toLocalFile()) for url in urls if url.isLocalFile())
    if len(paths) != len(urls):
        return ()
    known = (*TABLES, *ARRAYS, *TEXTS, *PARQUETS, *PACKED)
    return paths if all(path.suffix in known or path.is_dir() for path in paths) else ()
