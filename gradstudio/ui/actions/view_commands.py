"""The View menu: overlays, theme, docks; zooming is the canvas's own."""

from collections.abc import Callable

from PySide6.QtWidgets import QMenu

from gradstudio.scene.wire.wire_options import WireView
from gradstudio.ui.actions.command_context import Context
from gradstudio.ui.docks.code.code_hints import HintMode
from gradstudio.ui.docks.code.panel import CodePanel
from gradstudio.ui.state.settings import Preferences


def wire_view(preferences: Preferences) -> WireView:
    """How a person wants wires drawn."""
    return WireView(preferences.wire_style, preferences.wires_shown, preferences.fade_long_wires)


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
        """Draw wires in another way, and remember it: fields of `WireView`."""
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
