"""Small pictures of documents: drawn one at a time when the window has nothing else to do, and kept for the next start.

The state folder keeps them by file, theme and program, so that a picture is drawn once. Nothing waits for a picture.
"""

import contextlib
import hashlib
import os
from collections import deque
from pathlib import Path
from typing import Final

import msgspec
from PySide6.QtCore import QObject, QSize, QTimer, Signal
from PySide6.QtGui import QImage

from gradstudio import __version__
from gradstudio.document import file
from gradstudio.document.errors import DocumentError
from gradstudio.graph.edits import Edits, ReplaceBlock, ReplaceNode, apply_all
from gradstudio.graph.model import Graph
from gradstudio.ui.theme import Theme

DRAWN_AS: Final = 5
"""Another number draws all pictures anew."""
WIDTH_PX, HEIGHT_PX = 236, 132
MAX_BYTES: Final = 256 * 1024
"""Larger documents are not drawn: it would hold the window up."""
MAX_KEPT: Final = 120
BREATH_MS: Final = 12
"""Between two pictures the window answers."""


class Thumbnails(QObject):
    """Draws what is asked for, one picture after the other.

    Signals:
        ready(object, object): the path, and its `QImage`.
    """

    ready = Signal(object, object)

    def __init__(self, folder: Path, theme: Theme, ratio: float = 1.0, parent: QObject | None = None) -> None:
        """Keep pictures in a folder; `ratio` is the device pixels of a pixel."""
        super().__init__(parent)
        self._folder, self._theme, self._ratio = folder, theme, ratio
        self._asked: deque[Path] = deque()
        self._timer = QTimer(self, singleShot=True, interval=BREATH_MS)
        self._timer.timeout.connect(self._on_timer_timeout)

    def set_theme(self, theme: Theme) -> None:
        """Draw in another theme from now on."""
        self._theme = theme
        self._asked.clear()

    def ask(self, path: Path) -> None:
        """A picture of that file is wanted; without one, when it cannot be drawn, nothing is said."""
        self._asked.append(path)
        if not self._timer.isActive():
            self._timer.start()

    def rest(self) -> None:
        """Nothing is wanted any more."""
        self._asked.clear()

    # ------------------------------------------------------------------ inner workings

    def _on_timer_timeout(self) -> None:
        """All that are kept, up to the first that has to be drawn."""
        while self._asked:
            path = self._asked.popleft()
            kept = self._kept_at(path)
            if kept is None:
                continue
            image, drawn = QImage(str(kept)), False
            if image.isNull():
                image, drawn = self._draw(path, kept), True
            if not image.isNull():
                self.ready.emit(path, image)
            if drawn:
                break
        if self._asked:
            self._timer.start()

    def _kept_at(self, path: Path) -> Path | None:
        """Where the picture of a file as it is now is kept; None: there is none to be had."""
        try:
            about = path.stat()
        except OSError:
            return None
        if about.st_size > MAX_BYTES or path.suffix != ".gsg":
            return None
        theme = hashlib.sha1(repr(self._theme).encode(), usedforsecurity=False).hexdigest()
        key = (str(path), about.st_mtime_ns, about.st_size, theme, self._ratio, __version__, DRAWN_AS)
        return self._folder / f"{hashlib.sha1(repr(key).encode(), usedforsecurity=False).hexdigest()[:24]}.png"

    def _draw(self, path: Path, kept: Path) -> QImage:
        from gradstudio.ui.canvas.paint.picture_export import render_thumbnail

        try:
            graph, _view = file.load_with_view(path)
        except DocumentError:
            return QImage()
        size = QSize(round(WIDTH_PX * self._ratio), round(HEIGHT_PX * self._ratio))
        apply_all(graph, _without_notes(graph))
        image = render_thumbnail(graph, self._theme, size, self._ratio)
        self._keep(image, kept)
        return image

    def _keep(self, image: QImage, kept: Path) -> None:
        """Write it; a folder that cannot be written is no error."""
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            making = kept.with_suffix(f".{os.getpid()}.making.png")
            if image.save(str(making)):
                os.replace(making, kept)
            oldest_first = sorted(self._folder.glob("*.png"), key=lambda found: found.stat().st_mtime)
            for old in oldest_first[:-MAX_KEPT]:
                old.unlink(missing_ok=True)


def _without_notes(graph: Graph) -> Edits:
    """Notes are too small to be read here, and take the cards' room."""
    nodes = [ReplaceNode(msgspec.structs.replace(node, note="")) for node in graph.nodes.values() if node.note]
    blocks = [ReplaceBlock(msgspec.structs.replace(block, note="")) for block in graph.blocks.values() if block.note]
    return (*nodes, *blocks)
