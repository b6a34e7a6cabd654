"""What every part of a canvas is given: the truths it shows, the picture they make, and a few ways to answer a person.

The parts (commands, gestures, menus, popups) know this layout and one another, never the whole view.
"""

from typing import TYPE_CHECKING, Protocol

import msgspec
from PySide6.QtCore import SignalInstance
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from gradstudio.scene.camera import Camera
    from gradstudio.scene.scene import Scene
    from gradstudio.ui.canvas.gestures.pointer import Pointer
    from gradstudio.ui.canvas.paint.interaction_painter import OverlayState
    from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
    from gradstudio.ui.canvas.paint.scene_painter import ScenePainter
    from gradstudio.ui.canvas.paint.screen_cache import ScreenCache
    from gradstudio.ui.canvas.popups.hint_bubble import HintBubble
    from gradstudio.ui.state.document.attention import Attention
    from gradstudio.ui.state.document.graph_store import GraphStore
    from gradstudio.ui.state.document.group_scope import Scope, ShownStore
    from gradstudio.ui.state.document.overlays import Overlays
    from gradstudio.ui.state.idle_work import IdleWork
    from gradstudio.ui.state.library.favourites import Favourites
    from gradstudio.ui.state.results.result_store import ResultStore
    from gradstudio.ui.state.run.run_controller import RunController
    from gradstudio.ui.widgets.menu_keys import KeysOf


class SessionLike(Protocol):
    """What the canvas needs of a session."""

    scope: "Scope"
    shown_store: "ShownStore"
    attention: "Attention"
    results: "ResultStore"
    run: "RunController"
    idle: "IdleWork"


class GestureState(Protocol):
    """What the pointer is doing now; the input dispatcher is one."""

    @property
    def gesture(self) -> object | None:
        """The press that is not released yet."""

    @property
    def pointer(self) -> "Pointer | None":
        """Where the pointer was last."""

    def leave(self) -> None:
        """The pointer left the view: nothing is under it."""

    def cancel_gesture(self) -> bool:
        """Stop the gesture that goes on, as if it had not begun; False when there is none."""


class DragOptions(msgspec.Struct):
    """What a person wants of a drag: snap to the grid, come in line with neighbours, leave wires when shaken."""

    snap_to_grid: bool = True
    show_guides: bool = True
    shake_off: bool = True


class CanvasContext(Protocol):
    """The canvas as its parts see it; `CanvasView` is one.

    Attributes:
        session, overlays: the document that is shown, and which figures are shown of it.
        store, attention: the graph of the scope that is shown; what is selected in it and hovered.
        scene, layer, picture: the scene, who paints it, and the picture of it that is kept.
        canvas_style: colours and fonts; another one with another theme.
        camera: where the canvas looks; another one after every move.
        lit: what is lit just now; another one with another graph.
        shelf: favourites, what was used last, and how operators are put down.
        bubble: words beside the pointer.
        said, status_message, view_changed, command_requested, data_dropped: the canvas's signals.
        keys_of: the keys of a command of the window, for menus.
    """

    session: SessionLike
    overlays: "Overlays"
    store: "GraphStore"
    attention: "Attention"
    scene: "Scene"
    layer: "ScenePainter"
    picture: "ScreenCache"
    canvas_style: "CanvasStyle"
    camera: "Camera"
    lit: "OverlayState"
    shelf: "Favourites"
    drag_options: DragOptions
    bubble: "HintBubble"
    said: SignalInstance
    status_message: SignalInstance
    view_changed: SignalInstance
    command_requested: SignalInstance
    data_dropped: SignalInstance
    keys_of: "KeysOf"

    @property
    def input_dispatcher(self) -> GestureState:
        """What the pointer is doing now."""

    @property
    def widget(self) -> QWidget:
        """The canvas as a widget: it has the keys, and is the parent of what lives as long."""

    def viewport(self) -> QWidget:
        """What is painted on; `camera` maps the scene to its pixels."""

    def refuse(self, words: str) -> None:
        """Say why something is refused, beside the pointer and in the status bar."""

    def hide_words(self) -> None:
        """Take away what is said over the canvas."""

    def close_editor(self) -> None:
        """Close an editor or search that is open; what was typed is kept when it is right."""

    def repaint_scene(self) -> None:
        """Paint the scene anew at the next frame."""

    def pointer_or_middle(self) -> tuple[float, float]:
        """The scene point under the pointer, or in the middle of the view."""
