"""Finding one's way: zoom, bookmarks, wheels, motion, finding; what a person chooses is kept."""

from collections.abc import Iterator
from functools import partial
from typing import Final

from gradstudio.document.bookmarks import DIGITS
from gradstudio.ui.actions.action_set import ActionRow, Row
from gradstudio.ui.actions.command_context import Context
from gradstudio.ui.timeline.turn_commands import TurnCommands

ZOOM_MENU: Final = ("view.fit", "view.fit_selection", "view.zoom_50", "view.zoom_reset", "view.zoom_200")
"""What stands behind the zoom figure of the status bar."""
ZOOMS: Final = {
    "zoom_50": ("Zoom to 50 %", 0.5, ("Ctrl+Shift+0",)),
    "zoom_reset": ("Zoom to 100 %", 1.0, ("Ctrl+0",)),
    "zoom_200": ("Zoom to 200 %", 2.0, ("Ctrl+Alt+0",)),
}


class NavigationCommands:
    """What the View menu says about where the canvas looks.

    Attributes:
        turns: going to turns of loops.
    """

    def __init__(self, context: Context) -> None:
        """Let the canvas move as this person wants it."""
        self.canvas, self._settings = context.canvas, context.settings
        self.turns = TurnCommands(context)
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
        where = f"{mark.name or 'Place'}, {mark.zoom * 100:.0f} %" if mark is not None else "Not set"
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


def nav_rows(c: NavigationCommands) -> tuple[Row, ...]:
    """The View menu's rows about where the canvas looks."""
    return (*_zoom_rows(c), *_way_rows(c), *_bookmark_rows(c))


def find_rows(c: NavigationCommands) -> Iterator[Row]:
    """The Edit menu's rows about finding."""
    finding = c.canvas.finding
    words = "By name, operator, note, literal, value, shape, dtype or error"
    yield ActionRow("edit.find", "Find…", "Edit", 5, finding.open, ("Ctrl+F",), "search", tooltip=words)
    yield ActionRow("edit.find_next", "Find next", "Edit", 5, finding.step, ("F3",))
    yield ActionRow("edit.find_previous", "Find previous", "Edit", 5, partial(finding.step, -1), ("Shift+F3",))


def _zoom_rows(c: NavigationCommands) -> Iterator[Row]:
    canvas = c.canvas
    yield ActionRow(
        "view.fit", "Fit all", "View", 2, canvas.navigation.fit_all, ("Home",), "fit", tooltip="Show everything"
    )
    yield ActionRow(
        "view.fit_selection",
        "Fit selection",
        "View",
        2,
        canvas.navigation.fit_selection,
        ("F",),
        "fit_selection",
        tooltip="Show the selection, or everything where nothing is selected",
        canvas_only=True,
    )
    yield ActionRow("view.zoom_in", "Zoom in", "View", 2, canvas.navigation.zoom_in, ("Ctrl++", "Ctrl+="), "zoom_in")
    yield ActionRow("view.zoom_out", "Zoom out", "View", 2, canvas.navigation.zoom_out, ("Ctrl+-",), "zoom_out")
    for name, (text, zoom, keys) in ZOOMS.items():
        yield ActionRow(f"view.{name}", text, "View", 2, partial(canvas.navigation.zoom_to, zoom), keys)


def _bookmark_rows(c: NavigationCommands) -> Iterator[Row]:
    """Nine to go to and nine to set: going to one that is not set says how to set it."""
    canvas = c.canvas
    for digit in DIGITS:
        go, words = partial(canvas.bookmark_commands.go_to_bookmark, digit), partial(c.bookmark_words, digit)
        text = f"Go to bookmark {digit}"
        menu = "View/Bookmarks"
        yield ActionRow(f"view.bookmark_{digit}", text, menu, 2, go, (digit,), canvas_only=True, label=words)
    for digit in DIGITS:
        put, text = partial(canvas.bookmark_commands.set_bookmark, digit), f"Set bookmark {digit}"
        yield ActionRow(f"view.set_bookmark_{digit}", text, "View/Set bookmark", 2, put, (f"Ctrl+{digit}",))
    clear = c.canvas.bookmarks.clear
    yield ActionRow(
        "view.clear_bookmarks", "Forget all bookmarks", "View/Set bookmark", 2, clear, (), "clear", c.has_bookmarks
    )


def _way_rows(c: NavigationCommands) -> Iterator[Row]:
    yield ActionRow(
        "view.minimap",
        "Minimap",
        "View",
        2,
        c.toggle_minimap,
        ("Ctrl+Alt+M",),
        "minimap",
        checked=c.minimap_is_wanted,
        tooltip="The whole graph in a corner of the canvas, where it is larger than the view",
    )
    yield ActionRow(
        "view.wheel_scrolls",
        "Wheel scrolls",
        "View/Finding one's way",
        2,
        c.toggle_wheel,
        checked=c.wheel_scrolls,
        tooltip="The mouse's wheel moves the canvas, and zooms with Ctrl; else it zooms",
    )
    yield ActionRow(
        "view.reduced_motion",
        "Reduced motion",
        "View/Finding one's way",
        2,
        c.toggle_motion,
        checked=c.motion_is_reduced,
        tooltip="Jump where the view would glide",
    )
