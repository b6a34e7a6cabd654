"""Finding one's way: zoom, wheels, motion; what a person chooses is kept."""

from gradstudio.ui.commands.context import Context


class NavCommands:
    """What the View menu says about where the canvas looks."""

    def __init__(self, context: Context) -> None:
        """Let the canvas move as this person wants it."""
        self.canvas, self._settings = context.canvas, context.settings
        self.canvas.take_preferences(self._settings.preferences)

    def change(self, **values: object) -> None:
        """Choose, remember, and let the canvas follow."""
        self._settings.change(**values)
        self.canvas.take_preferences(self._settings.preferences)

    def has_selection(self) -> bool:
        """Whether something is selected."""
        return bool(self.canvas.attention.selection)

    def toggle_wheel(self) -> None:
        """The wheel scrolls, or zooms again."""
        self.change(wheel="zooms" if self.wheel_scrolls() else "scrolls")

    def wheel_scrolls(self) -> bool:
        """Whether the wheel scrolls."""
        return self._settings.preferences.wheel == "scrolls"

    def toggle_motion(self) -> None:
        """Nothing glides, or it does again."""
        self.change(reduced_motion=not self.motion_is_reduced())

    def motion_is_reduced(self) -> bool:
        """Whether nothing glides."""
        return self._settings.preferences.reduced_motion
