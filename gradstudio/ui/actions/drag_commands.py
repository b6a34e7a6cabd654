"""What a person chose about dragging: snap to the grid, guides, shaking off; kept between starts."""

from gradstudio.ui.actions.command_context import Context


class ArrangeCommands:
    """Switches of the canvas that are preferences."""

    def __init__(self, context: Context) -> None:
        """The canvas takes up what was chosen, also later in another tab: every time the rows are asked."""
        self.canvas, self._settings = context.canvas, context.settings
        self._take_up()

    def toggle_snap(self) -> None:
        """Snap to the grid, or no longer."""
        self._settings.change(snap_to_grid=not self.canvas.drag_options.snap_to_grid)
        self._take_up()
        on = "on: hold Ctrl while dragging to place freely" if self.canvas.drag_options.snap_to_grid else "off"
        self.canvas.said.emit(f"Snap to grid is {on}")

    def snaps(self) -> bool:
        """Whether what is dragged snaps to the grid."""
        self._take_up()
        return self.canvas.drag_options.snap_to_grid

    def toggle_guides(self) -> None:
        """Show guides while dragging, or no longer."""
        self._settings.change(guides=not self.canvas.drag_options.show_guides)
        self._take_up()

    def guides(self) -> bool:
        """Whether guides are shown while dragging."""
        self._take_up()
        return self.canvas.drag_options.show_guides

    def toggle_shake(self) -> None:
        """Let a shake take cards out of their wires, or no longer."""
        self._settings.change(shake_off=not self.canvas.drag_options.shake_off)
        self._take_up()

    def shakes(self) -> bool:
        """Whether a shake takes cards out of their wires."""
        self._take_up()
        return self.canvas.drag_options.shake_off

    def _take_up(self) -> None:
        chosen = self._settings.preferences
        self.canvas.drag_options.snap_to_grid, self.canvas.drag_options.show_guides = chosen.snap_to_grid, chosen.guides
        self.canvas.drag_options.shake_off = chosen.shake_off
