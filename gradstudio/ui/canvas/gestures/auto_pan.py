"""The scene moves on while something is dragged to the border of the view, faster the nearer to it."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QObject, QTimer

from gradstudio.ui.canvas.canvas_context import CanvasContext
from gradstudio.ui.canvas.minimap import Minimap
from gradstudio.ui.canvas.viewport import Viewport

TICK_MS: Final = 16
BAND_PX: Final = 36.0
"""So wide is the border."""
BEYOND_PX: Final = 60.0
"""Outside of the view it goes faster still, up to here."""
SPEED_PX: Final = 0.32
"""View pixels a tick for each pixel that the pointer is deep in the border."""


class AutoPan(QObject):
    """Pushes the scene of one canvas while its pointer stays near the border."""

    def __init__(
        self, canvas: CanvasContext, navigation: Viewport, minimap: Minimap, follow: Callable[[], None]
    ) -> None:
        """Nothing is dragged; `follow` is called when the scene has moved under the pointer."""
        super().__init__(canvas.widget)
        self._canvas = canvas
        self._navigation = navigation
        self._minimap = minimap
        self._follow = follow
        self._at = (0.0, 0.0)
        self._start = (0.0, 0.0)
        self._dragging = False
        self._timer = QTimer(self)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self.tick)

    @property
    def is_moving(self) -> bool:
        """Whether the scene moves."""
        return self._timer.isActive()

    def feel(self, x: float, y: float) -> None:
        """Something is being dragged, and the pointer is there, view pixels."""
        across, down = (_depth(*pair) for pair in self._pairs((x, y)))
        start = self._start if self._dragging else (across, down)
        self._start = (_shallower(start[0], across), _shallower(start[1], down))
        self._at, self._dragging = (x, y), True
        self._minimap.make_way(x, y)
        if self.speed() == (0.0, 0.0):
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start()

    def stop(self) -> None:
        """Nothing is dragged any more."""
        self._dragging = False
        self._timer.stop()
        self._minimap.come_back()

    def speed(self) -> tuple[float, float]:
        """View pixels a tick that the scene is pushed."""
        across, down = self._pairs(self._at)
        return _speed(_depth(*across), self._start[0]), _speed(_depth(*down), self._start[1])

    def tick(self) -> None:
        """One step; what is dragged stays under the pointer."""
        dx, dy = self.speed()
        if not self._canvas.widget.isVisible() or (dx, dy) == (0.0, 0.0):
            self._timer.stop()
            return
        self._navigation.set_camera(self._canvas.camera.panned(round(dx), round(dy)))
        self._follow()

    def _pairs(self, at: tuple[float, float]) -> tuple[tuple[float, float], tuple[float, float]]:
        port = self._canvas.viewport()
        return (at[0], port.width()), (at[1], port.height())


def _depth(at: float, size: float) -> float:
    """How deep in the border: positive at the left or upper one, negative at the right or lower one."""
    near, far = BAND_PX - at, at - (size - BAND_PX)
    return max(near, 0.0) if near > far else -max(far, 0.0)


def _shallower(start: float, depth: float) -> float:
    """How deep the drag began, or has come back to since."""
    return 0.0 if start * depth <= 0 else min(start, depth, key=abs)


def _speed(depth: float, start: float) -> float:
    """A drag that begins in the border moves nothing until it goes deeper."""
    return max(-BEYOND_PX, min(depth - start, BEYOND_PX)) * SPEED_PX
