"""Wheels, touchpads and pinches: where the view looks after one of them was moved."""

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QInputDevice, QNativeGestureEvent, QWheelEvent

from gradstudio.scene.camera import Camera

WHEEL_STEP: Final = 1.2
"""A notch makes things so much larger."""
WHEEL_PAN: Final = 0.5
"""View pixels per eighth of a degree that the wheel turned."""
SAME_FLICK_MS: Final = 250
"""What follows so soon comes from the same device."""
Modifier = Qt.KeyboardModifier
Gesture = Qt.NativeGestureType


class Wheeling:
    """Tells wheels and touchpads apart.

    Attributes:
        scrolls: a wheel pushes the scene, and Ctrl with it zooms; else it zooms.
    """

    def __init__(self) -> None:
        """A wheel zooms."""
        self.scrolls = False
        self._last_touch_ms = -SAME_FLICK_MS

    def turned(self, camera: Camera, event: QWheelEvent) -> Camera:
        """Two fingers push the scene, a wheel zooms at the pointer; Shift pushes sideways, Ctrl always zooms."""
        at, keys = event.position(), event.modifiers()
        dx, dy = _pixels(event)
        if keys & Modifier.ControlModifier:
            return camera.zoomed(WHEEL_STEP ** _notches(event), at.x(), at.y())
        if keys & Modifier.ShiftModifier:
            return camera.panned(dx or dy, 0)
        if self._is_touch(event) or self.scrolls or (dx and not dy):  # a wheel that was tilted
            return camera.panned(dx, dy)
        return camera.zoomed(WHEEL_STEP ** _notches(event), at.x(), at.y())

    def _is_touch(self, event: QWheelEvent) -> bool:
        """Whether two fingers did it: the system says so, or no wheel could turn both ways at once."""
        angle, now = event.angleDelta(), event.timestamp()
        touches = _says_touchpad(event) or bool(angle.x() and angle.y())
        if touches:
            self._last_touch_ms = now
        return touches or (0 < now - self._last_touch_ms < SAME_FLICK_MS and bool(angle.y() % 120))


def pinch_zoom(camera: Camera, event: QNativeGestureEvent) -> Camera | None:
    """Two fingers apart or together zoom; None when the gesture was another."""
    if event.gestureType() != Gesture.ZoomNativeGesture:
        return None
    at = event.position()
    return camera.zoomed(max(1.0 + event.value(), 0.1), at.x(), at.y())


def _says_touchpad(event: QWheelEvent) -> bool:
    return event.phase() != Qt.ScrollPhase.NoScrollPhase or event.device().type() == QInputDevice.DeviceType.TouchPad


def _pixels(event: QWheelEvent) -> tuple[float, float]:
    """How far the scene is pushed."""
    pixels, angle = event.pixelDelta(), event.angleDelta()
    if not pixels.isNull():
        return pixels.x(), pixels.y()
    return angle.x() * WHEEL_PAN, angle.y() * WHEEL_PAN


def _notches(event: QWheelEvent) -> float:
    """Notches of a wheel, also as parts of one."""
    return (event.angleDelta().y() or event.angleDelta().x()) / 120
