"""The person's hand on the canvas: turns the mouse and keys into gestures, clicks and commands."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent, QNativeGestureEvent, QWheelEvent

from gradstudio.graph.boundary_cards import CARDS
from gradstudio.graph.ports.wire_dots import coinciding_dots
from gradstudio.graph.text.code_records import is_code_at
from gradstudio.scene import hit_test
from gradstudio.scene.hit_test import Hit, cause_at
from gradstudio.scene.items import PortRef
from gradstudio.ui.canvas.edit.note_commands import ask_for_link
from gradstudio.ui.canvas.gestures import canvas_keys
from gradstudio.ui.canvas.gestures.number_steps import number_in
from gradstudio.ui.canvas.gestures.pointer import Pointer
from gradstudio.ui.canvas.wheel import pinch_zoom

if TYPE_CHECKING:
    from gradstudio.ui.canvas.gestures.gesture import Gesture
    from gradstudio.ui.canvas.gestures.pointer_canvas import PointerCanvas

NUDGE: Final = 8.0
Button = Qt.MouseButton
Modifier = Qt.KeyboardModifier
Shape = Qt.CursorShape
CURSORS: Final = {
    "port": Shape.CrossCursor,
    "field": Shape.IBeamCursor,
    "more": Shape.PointingHandCursor,
    "more_leaves": Shape.PointingHandCursor,
    "switch": Shape.PointingHandCursor,
    "drop_what_if": Shape.PointingHandCursor,
    "title": Shape.SizeAllCursor,
    "note": Shape.SizeAllCursor,
    "dot": Shape.SizeAllCursor,
}
STEPS: Final = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}


class InputDispatcher:
    """Holds the gesture that goes on; at most one at a time."""

    def __init__(self, canvas: "PointerCanvas") -> None:
        """Nothing is pressed."""
        self.canvas = canvas
        self.gesture: Gesture | None = None
        self.pointer: Pointer | None = None
        self._space = self._tapped = False
        self._keys = canvas_keys.table(canvas, {}, alone=True)

    def at(self, point: QPoint) -> Pointer:
        """A pointer at view pixels."""
        return Pointer(point.x(), point.y(), *self.canvas.camera.to_scene(point.x(), point.y()))

    def hit(self, at: Pointer) -> Hit:
        """What lies under a pointer."""
        return hit_test.hit(self.canvas.scene, at.x, at.y, self.canvas.camera.zoom)

    # -------------------------------------------------------------- mouse

    def press(self, event: QMouseEvent) -> None:
        """A button went down."""
        self._tapped = False
        self.canvas.close_editor()
        self.canvas.keyboard_navigation.by_keys = False
        self.canvas.hide_words()
        if self.gesture is not None:
            return
        self.pointer = at = self._pointer_of(event)
        pill = self.canvas.remedies.hit(at.view_x, at.view_y) if event.button() == Button.LeftButton else None
        if pill is not None:
            self.canvas.remedies.apply(pill)
            return
        self.gesture = self._begin(event.button(), self.pointer)
        self._light(hit_test.EMPTY)
        if self.gesture is not None and self.gesture.cursor is not None:
            self.canvas.viewport().setCursor(self.gesture.cursor)

    def move(self, event: QMouseEvent) -> None:
        """The pointer moved, with or without a button."""
        self.pointer = self._pointer_of(event)
        if self.gesture is not None:
            self.gesture.move(self.pointer)
            self.canvas.minimap.make_way(self.pointer.view_x, self.pointer.view_y)
            if self.gesture.pans_at_border and self.pointer.is_far_from(self.gesture.start):
                self.canvas.border.feel(self.pointer.view_x, self.pointer.view_y)
        elif self.canvas.remedies.hit(self.pointer.view_x, self.pointer.view_y) is not None:
            self._light(hit_test.EMPTY)
            self.canvas.viewport().setCursor(Shape.PointingHandCursor)
            self.canvas.viewport().update()
        else:
            self._light(self.hit(self.pointer))

    def release(self, event: QMouseEvent) -> None:
        """A button came up."""
        gesture, self.gesture = self.gesture, None
        self.canvas.border.stop()
        if gesture is not None:
            gesture.release(self._pointer_of(event))
            self._rest()

    def double_click(self, event: QMouseEvent) -> None:
        """Search on empty ground, rename on a header or title, edit on a note; a card of code leads to its lines."""
        at = self._pointer_of(event)
        hit = self.hit(at)
        if event.button() != Button.LeftButton:
            return
        match hit.kind:
            case "empty" | "frame":
                self.canvas.searching.open(at.x, at.y)
            case "note":
                self.canvas.note_commands.edit_note(hit.item)
            case "wire" if hit.wire is not None:
                self.canvas.wire_commands.put_dot(hit.wire, at.x, at.y)
            case "card" | "more" if hit.item in CARDS:
                self.canvas.group_commands.edit_ports(hit.item, None if hit.header else at.y)
            case "card" if is_code_at(self.canvas.scene.graph, hit.item):
                self.canvas.field_commands.edit_code()
            case "card" if hit.header:
                self.canvas.field_commands.rename(hit.item)
            case "card" if self.canvas.group_commands.way_in(hit.item) is not None:
                self.canvas.group_commands.step_in(hit.item)
            case "card" if (cause := cause_at(self.canvas.scene, hit.item, at.y)) is not None:
                self.canvas.attention.reveal(cause)
            case "title":
                self.canvas.field_commands.rename(hit.item)
            case _:
                self.press(event)

    def wheel(self, event: QWheelEvent) -> None:
        """Look elsewhere, as `wheel` says; what is dragged stays under the pointer."""
        event.accept()
        if self.gesture is None or self.gesture.pans_at_border:
            self.canvas.navigation.set_camera(self.canvas.wheeling.turned(self.canvas.camera, event))
            self.follow()

    def pinch(self, event: QNativeGestureEvent) -> bool:
        """Two fingers apart or together zoom; whether the gesture was that."""
        camera = pinch_zoom(self.canvas.camera, event)
        if camera is not None:
            self.canvas.navigation.set_camera(camera)
        return camera is not None

    def follow(self) -> None:
        """The scene was moved under the pointer while something is dragged."""
        if self.gesture is not None and self.pointer is not None:
            at, here = self.pointer, self.canvas.camera.to_scene(self.pointer.view_x, self.pointer.view_y)
            self.pointer = Pointer(at.view_x, at.view_y, *here, at.modifiers)
            self.gesture.move(self.pointer)

    def leave(self) -> None:
        """The pointer left the view."""
        self.canvas.attention.hover(None)
        self._light(hit_test.EMPTY)

    def context_menu(self, event: QContextMenuEvent) -> None:
        """The menu of what lies under the pointer, which gets selected."""
        from gradstudio.ui.canvas.gestures.right_button import is_gesture
        from gradstudio.ui.canvas.menus.context_menu import context_menu

        by_hand = event.reason() == QContextMenuEvent.Reason.Mouse
        if self.gesture is not None or (by_hand and is_gesture(self.canvas, self.at(event.pos()), event.modifiers())):
            return
        at, canvas = self.at(event.pos()), self.canvas
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            canvas.keyboard_navigation.menu_by_key()
            return
        self.pointer = at
        hit = self.hit(at)
        if (
            hit.item in canvas.scene.graph
            and hit.kind not in ("frame", "port")
            and not canvas.selection.is_selected(hit.item)
        ):
            canvas.selection.select(frozenset({hit.item}))
        menu = context_menu(canvas, hit, at.x, at.y)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def cancel_gesture(self) -> bool:
        """Stop the gesture that goes on, as if it had not begun; False when there is none."""
        gesture, self.gesture = self.gesture, None
        self.canvas.border.stop()
        if gesture is not None:
            gesture.cancel()
            self._rest()
        return gesture is not None

    # -------------------------------------------------------------- keys

    def press_key(self, event: QKeyEvent) -> bool:
        """A key went down; whether it meant something."""
        key, canvas = Qt.Key(event.key()), self.canvas
        if key == Qt.Key.Key_Escape:
            if self.cancel_gesture():
                return True
            if canvas.finding.is_open:
                canvas.finding.close()
                return True
            canvas.hide_words()
            if canvas.attention.moment is not None:
                return False  # it leads back to now, and the selection stays
            wanted = bool(canvas.attention.selection)
            canvas.selection.clear()
            return wanted
        if key == Qt.Key.Key_Space:
            if not event.isAutoRepeat():
                self._space = self._tapped = True
                self._rest()
            return True
        self._tapped = False
        if key in STEPS and (canvas.attention.selection or canvas.lit.selected_dots):
            far = NUDGE * (4 if event.modifiers() & Modifier.ShiftModifier else 1)
            canvas.card_arrangement.nudge(STEPS[key][0] * far, STEPS[key][1] * far)
            return True
        does = self._keys.get(canvas_keys.key_names(event))
        if does is not None:
            does()
        return does is not None

    def release_key(self, event: QKeyEvent) -> bool:
        """A key came up; whether it meant something."""
        if event.key() != Qt.Key.Key_Space:
            return False
        if not event.isAutoRepeat():
            tapped = self._tapped and self.gesture is None
            self.let_go_of_keys()
            if tapped:
                self.canvas.searching.open_at_pointer()
        return True

    def let_go_of_keys(self) -> None:
        """No key is held any more."""
        self._space = self._tapped = False
        self._rest()

    def use_keys(self, chosen: Mapping[str, tuple[str, ...]]) -> None:
        """Within a window: the actions have all keys but the canvas's own, which a person may have chosen."""
        self._keys = canvas_keys.table(self.canvas, chosen, alone=False)

    # -------------------------------------------------------------- what a press begins

    def _pointer_of(self, event: QMouseEvent | QWheelEvent) -> Pointer:
        at = event.position()
        place = self.canvas.camera.to_scene(at.x(), at.y())
        return Pointer(at.x(), at.y(), *place, event.modifiers(), event.timestamp())

    def _begin(self, button: Button, at: Pointer) -> "Gesture | None":
        from gradstudio.ui.canvas.gestures.gesture import Pan, RubberBand
        from gradstudio.ui.canvas.gestures.move_gesture import Move
        from gradstudio.ui.canvas.gestures.reroute_gesture import PutDot, begin_at_dot, puts_dot
        from gradstudio.ui.canvas.gestures.right_button import begin_right
        from gradstudio.ui.canvas.gestures.value_slider import ValueSlider

        canvas = self.canvas
        if button == Button.MiddleButton or (button == Button.LeftButton and self._space):
            return Pan(canvas, at)
        if button != Button.LeftButton:
            return begin_right(canvas, at) if button == Button.RightButton else None
        hit = self.hit(at)
        match hit.kind:
            case "port" if hit.port is not None:
                return self._begin_wire(at, hit.port)
            case "field" if hit.row is not None and number_in(hit.row) is not None:
                if not at.holds(Modifier.ShiftModifier) and not canvas.selection.is_selected(hit.item):
                    canvas.selection.select(frozenset({hit.item}))
                return ValueSlider(canvas, at, hit.row, hit.item, lambda: self._click(at, hit))
            case "drop_what_if":
                canvas.debugging.drop_experiments()
                return None
            case "card" | "title" | "field" | "more" | "more_leaves" | "switch":
                return self._begin_move(at, hit)
            case "dot" if hit.wire is not None:
                return begin_at_dot(canvas, at, hit)
            case "wire" if hit.wire is not None and puts_dot(at):
                return PutDot(canvas, at, hit.wire)
            case "note":
                canvas.selection.select_note(hit.item)
                link = canvas.note_commands.link_at(hit.item, at.x, at.y)
                return Move(
                    canvas, at, frozenset({f"note:{hit.item}"}), click=lambda: ask_for_link(canvas.widget, link)
                )
            case "wire" if hit.wire is not None:
                canvas.selection.select_wires(frozenset({hit.wire}))
                return None
            case _:
                return RubberBand(canvas, at)

    def _begin_wire(self, at: Pointer, port: PortRef) -> "Gesture":
        """From a port; an input's wire is taken off it."""
        from gradstudio.ui.canvas.gestures.move_wires_gesture import MoveWires
        from gradstudio.ui.canvas.gestures.parameter_wire_gesture import LeafGesture
        from gradstudio.ui.canvas.gestures.wire_gesture import WireGesture

        if port.side == "output" and port.path:
            return LeafGesture(self.canvas, at, port)
        if port.side == "output" and at.holds(Modifier.ShiftModifier):
            return MoveWires(self.canvas, at, port)
        wire = self.canvas.scene.graph.wire_into(port.item, port.path) if port.side == "input" else None
        if wire is None:
            return WireGesture(self.canvas, at, port)
        return WireGesture(self.canvas, at, PortRef(wire.source, "output", "", wire.output), wire)

    def _begin_move(self, at: Pointer, hit: Hit) -> "Gesture":
        from gradstudio.ui.canvas.gestures.move_gesture import Move

        canvas, item = self.canvas, self.canvas.scene.state.card_groups.home(hit.item)
        chosen = canvas.scene.state.card_groups.cards(canvas.attention.selection)
        dots = canvas.lit.selected_dots if item in chosen else frozenset()
        if at.holds(Modifier.ControlModifier):
            canvas.selection.select(chosen ^ {item})
        elif at.holds(Modifier.ShiftModifier):
            canvas.selection.select(chosen | {item})
        elif item not in chosen:
            canvas.selection.select(frozenset({item}))
        else:
            canvas.attention.select(sorted(chosen), current=item)
        canvas.lit.selected_dots = dots
        keys = frozenset(canvas.attention.selection | {item} | coinciding_dots(canvas.scene.graph, dots))
        return Move(canvas, at, keys, item, lambda: self._click(at, hit))

    def _click(self, at: Pointer, hit: Hit) -> None:
        """A press on a card that was no drag."""
        canvas = self.canvas
        if hit.kind == "field" and hit.row is not None:
            canvas.in_place.click_field(hit.item, hit.row.path)
        elif hit.kind == "more":
            canvas.field_commands.toggle_folded(hit.item)
        elif hit.kind == "more_leaves":
            canvas.field_commands.toggle_leaves(hit.item)
        elif hit.kind == "switch":
            canvas.module_commands.toggle_training(hit.item)
        elif at.modifiers == Modifier.NoModifier and len(canvas.attention.selection) > 1:
            canvas.selection.select(frozenset({hit.item}))
        elif hit.kind == "card" and not at.holds(Modifier.ControlModifier) and not at.holds(Modifier.ShiftModifier):
            canvas.show_problem(hit.item)

    # -------------------------------------------------------------- light

    def _light(self, hit: Hit) -> None:
        """Light what is under the pointer, and show a fitting cursor."""
        lit, view = self.canvas.lit, self.canvas.viewport()
        if (hit.port, hit.wire, hit.item) != (lit.hovered_port, lit.hovered_wire, lit.hovered_item):
            lit.hovered_port, lit.hovered_wire, lit.hovered_item = hit.port, hit.wire, hit.item
            home = self.canvas.scene.state.card_groups.home(hit.item)
            over = home if home in self.canvas.scene.stack.cards else None
            self.canvas.attention.hover(over)
            view.update()
        view.setCursor(Shape.OpenHandCursor if self._space else _cursor(hit))

    def _rest(self) -> None:
        """The cursor when nothing goes on."""
        self.canvas.viewport().setCursor(Shape.OpenHandCursor if self._space else Shape.ArrowCursor)
        self.canvas.viewport().update()


def _cursor(hit: Hit) -> Shape:
    """What a press would do: a number can be dragged, another field typed into."""
    if hit.kind == "field" and hit.row is not None and number_in(hit.row) is not None:
        return Shape.SizeHorCursor
    return CURSORS.get(hit.kind, Shape.ArrowCursor)
