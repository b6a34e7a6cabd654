"""The View menu: overlays, wires, hints, docks; zooming is the canvas's own."""

from collections.abc import Callable, Iterator
from functools import partial

from PySide6.QtWidgets import QMenu

from gradstudio.scene.overlay_registry import OVERLAYS
from gradstudio.scene.wire.wire_options import WireOptions
from gradstudio.ui.actions.action_set import ActionRow, MenuRow, Row
from gradstudio.ui.actions.command_context import Context
from gradstudio.ui.actions.navigation_commands import NavigationCommands, nav_rows
from gradstudio.ui.canvas.view import CanvasView
from gradstudio.ui.docks.code.code_hints import HINT_TIPS, MODE_WORDS, HintMode
from gradstudio.ui.docks.code.panel import CodePanel
from gradstudio.ui.state.settings import Preferences

LOOKS = (
    ("style", "curved", "Curved", "Wires are curves that lead around cards"),
    ("style", "straight", "Straight", "Wires are straight lines from port to port"),
    ("style", "angled", "Right-angled", "Wires run level and upright, as in a circuit"),
    ("shown", "all", "Show all wires", "Every wire is drawn"),
    ("shown", "selection", "Only those of the selection", "Wires are drawn where they touch what is selected"),
    ("shown", "none", "Hide all wires", "No wire is drawn; ports still show what is wired"),
)
"""Field of `WireOptions`, value, text and tip of each entry of the menu."""
LAST_DIGIT = 9
"""So many overlays have a key."""


def wire_view(preferences: Preferences) -> WireOptions:
    """How a person wants wires drawn."""
    return WireOptions(preferences.wire_style, preferences.wires_shown, preferences.fade_long_wires)


class ViewCommands:
    """What is shown, and how large."""

    def __init__(
        self,
        context: Context,
        reset_layout: Callable[[], None],
        fill_panels: Callable[[QMenu], None],
        toggle_timeline: Callable[[], None],
        timeline_is_shown: Callable[[], bool],
        code: CodePanel,
        edit_code: Callable[[], None],
    ) -> None:
        """What belongs to the window comes as functions: the layout, the menu of docks."""
        self.canvas, self._overlays, self._settings = context.canvas, context.overlays, context.settings
        self.reset_layout, self.fill_panels = reset_layout, fill_panels
        self.toggle_timeline, self.timeline_is_shown = toggle_timeline, timeline_is_shown
        self._code, self.edit_code = code, edit_code

    def toggle_overlay(self, name: str) -> None:
        """Switch one overlay."""
        self._overlays.switch(name, not self._overlays[name])
        self._settings.change(
            overlays_off=self._overlays.changes(on=False), overlays_on=self._overlays.changes(on=True)
        )

    def overlay_is_on(self, name: str) -> bool:
        """Whether an overlay is on."""
        return self._overlays[name]

    def show_wires(self, **changes: object) -> None:
        """Draw wires in another way, and remember it: fields of `WireOptions`."""
        wires = self._overlays.wires._replace(**changes)  # type: ignore[arg-type]  # fields by name
        self._settings.change(wire_style=wires.style, wires_shown=wires.shown, fade_long_wires=wires.fade_long)
        self._overlays.show_wires(wires)

    def wires_are(self, field: str, value: object) -> bool:
        """Whether wires are drawn so."""
        return bool(getattr(self._overlays.wires, field) == value)

    def toggle_fade(self) -> None:
        """Draw the middle of long wires faint, or no longer."""
        self.show_wires(fade_long=not self._overlays.wires.fade_long)

    def choose_hints(self, mode: HintMode) -> None:
        """Show other hints behind the lines of the Code dock."""
        self._code.choose_hints(mode)

    def hints_are(self, mode: HintMode) -> bool:
        """Whether those hints are shown."""
        return self._code.hints == mode


def view_rows(c: ViewCommands, nav: NavigationCommands) -> tuple[Row, ...]:
    """What is shown, and where the canvas looks."""
    overlays = tuple(
        ActionRow(
            f"view.{overlay.id}",
            overlay.title,
            "View/Overlays",
            1,
            partial(c.toggle_overlay, overlay.id),
            (f"Alt+{number}",) if number <= LAST_DIGIT else (),
            overlay.icon,
            checked=partial(c.overlay_is_on, overlay.id),
            tooltip=overlay.tip,
            short=overlay.button,
        )
        for number, overlay in enumerate(OVERLAYS, start=1)
    )
    return (
        *overlays,
        *_hint_rows(c),
        MenuRow("Colour by", "View", 1, c.canvas.debugging.fill_colour_menu),
        *nav_rows(nav),
        ActionRow(
            "view.timeline",
            "Timeline",
            "View",
            3,
            c.toggle_timeline,
            ("Ctrl+T",),
            "timeline",
            None,
            c.timeline_is_shown,
        ),
        ActionRow("view.code", "Edit the code", "View", 3, c.edit_code, ("F4",), tooltip="Type in the Code dock"),
        MenuRow("Panels", "View", 3, c.fill_panels),
        ActionRow("view.reset_layout", "Reset layout", "View", 3, c.reset_layout),
    )


def _hint_rows(c: ViewCommands) -> Iterator[Row]:
    for mode, words in MODE_WORDS.items():
        tip = f"Behind the lines of the Code dock: {HINT_TIPS[mode]}"
        choose, is_on = partial(c.choose_hints, mode), partial(c.hints_are, mode)
        yield ActionRow(f"view.hints_{mode}", words, "View/Code hints", 1, choose, checked=is_on, tooltip=tip)


def wire_rows(c: ViewCommands) -> tuple[Row, ...]:
    """Tracing, selecting along wires, and what is done with wires and with those of a node."""
    return (*_trace_rows(c.canvas), *_look_rows(c), *_edit_rows(c.canvas))


def _look_rows(c: ViewCommands) -> tuple[Row, ...]:
    """The menu of how wires are drawn."""
    chosen = tuple(
        ActionRow(
            f"view.wires_{value}",
            text,
            "View/Wires",
            1,
            partial(c.show_wires, **{field: value}),
            checked=partial(c.wires_are, field, value),
            tooltip=tip,
        )
        for field, value, text, tip in LOOKS
    )
    fade = "The middle of long wires is faint; their ends stay clear"
    return (
        *chosen,
        ActionRow(
            "view.wires_fade",
            "Fade long wires",
            "View/Wires",
            1,
            c.toggle_fade,
            checked=partial(c.wires_are, "fade_long", True),
            tooltip=fade,
        ),
    )


def _trace_rows(canvas: CanvasView) -> tuple[Row, ...]:

    def some() -> bool:
        return bool(canvas.attention.selection)

    return (
        ActionRow(
            "select.feeding",
            "Select what feeds it",
            "Edit/Selection",
            4,
            canvas.wire_commands.select_feeding,
            ("L",),
            when=some,
            tooltip="Select, too, everything whose value flows into the selection",
            canvas_only=True,
        ),
        ActionRow(
            "select.following",
            "Select what follows",
            "Edit/Selection",
            4,
            canvas.wire_commands.select_following,
            ("Shift+L",),
            when=some,
            tooltip="Select, too, everything into which a value of the selection flows",
            canvas_only=True,
        ),
        ActionRow(
            "view.trace",
            "Trace the selection",
            "View",
            1,
            canvas.wire_commands.toggle_trace,
            ("T",),
            checked=canvas.wire_commands.is_tracing,
            tooltip="Light what feeds and what follows the selection, fade everything else",
            canvas_only=True,
        ),
    )


def _edit_rows(canvas: CanvasView) -> tuple[Row, ...]:
    return (
        ActionRow(
            "graph.connect",
            "Connect…",
            "Graph",
            3,
            canvas.wire_commands.connect_selected,
            when=canvas.wire_commands.can_connect,
            tooltip="Choose the wires between two selected cards (or drag from card to card with Alt and right button)",
        ),
        ActionRow(
            "graph.swap_inputs",
            "Swap inputs",
            "Graph",
            3,
            canvas.wire_commands.swap_inputs,
            ("Alt+S",),
            when=canvas.wire_commands.can_swap,
            tooltip="Exchange what stands in the first two inputs of the selected node",
        ),
        ActionRow(
            "graph.dot",
            "Put a dot on the wire",
            "Graph",
            3,
            canvas.wire_commands.put_dots,
            when=canvas.selection.has_wires,
            tooltip="Lead the selected wire through a dot to move (double-click on it, Ctrl+Shift+click or Alt+click)",
        ),
        ActionRow(
            "graph.mute_wire",
            "Mute wire",
            "Graph",
            3,
            canvas.wire_commands.toggle_wires_muted,
            when=canvas.selection.has_wires,
            tooltip="Let the selected wire count as absent, or take it back (Ctrl+Alt and the right button over wires)",
        ),
    )
