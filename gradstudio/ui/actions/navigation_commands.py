"""Finding one's way: zoom, wheels, motion; what a person chooses is kept."""

from gradstudio.ui.actions.command_context import Context


class NavCommands:
    """What the View menu says about where the canvas looks."""

    def __init__(self, context: Context) -> None:
        """Let the canvas move as this person wants it."""
        self.canvas, self._settings = context.canvas, context.settings
        self.canvas.take_preferences(self._settings.preferences)
        self.canvas.minimap.placed.connect(self._on_minimap_placed)
        self.canvas.minimap.hidden_by_hand.connect(self.toggle_minimap)

    def toggle_minimap(self) -> None:
        """Show the minimap where the graph is larger than the view, for a few cards too now; or never."""
        minimap = self.canvas.minimap
        if minimap.is_spared:
            self.change(minimap=True)
            minimap.insist()
            return
        self.change(minimap=not self.minimap_is_wanted())

    def minimap_is_wanted(self) -> bool:
        """Whether it is shown where the graph is larger than the view."""
        return self._settings.preferences.minimap

    def _on_minimap_placed(self) -> None:
        chosen = self.canvas.minimap
        size = chosen.size_px
        self.change(minimap_corner=chosen.corner, minimap_px=(size.width(), size.height()))

    def change(self, **values: object) -> None:
        """Choose, remember, and let the canvas follow."""
        self._settings.change(**values)
        self.canvas.take_preferences(self._settings.preferences)

    def has_selection(self) -> bool:
        """Whether something is selected."""
        return bool(self.canvas.attention.selection)

    def bookmark_words(self, digit: str) -> str:
        """Its entry in the menu."""
        mark = self.canvas.bookmarks.entries.get(digit)
        where = f"{mark.name or 'Place'}, {mark.zoom * 100:.0f} %" if mark is not None else "Not Set"
        return f"Go to {digit}: {where}"

    def has_bookmarks(self) -> bool:
        """Whether there are any."""
        return bool(self.canvas.bookmarks.entries)

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
