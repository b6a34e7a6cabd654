"""What the program remembers between starts: preferences and recent files as JSON, geometry as Qt's ini."""

from pathlib import Path
from typing import Literal as OneOf

import msgspec
from PySide6.QtCore import QObject, QSettings, QStandardPaths, Signal

from gradstudio.scene.wire.wire_options import WiresShown, WireStyle

MAX_RECENT = 12
Corner = OneOf["top_left", "top_right", "bottom_left", "bottom_right"]
ThemeChoice = str
"""A name of `theme.choices`: "system", a theme of the program, or "own:" and the name of a file."""


class Preferences(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a person chose.

    Attributes:
        recent: paths of files, newest first; `folder`: where a file was chosen last.
        overlays_off, overlays_on: overlays that are not as they are at first.
        favourites, recent_operators: keys of operators; the last used first.
        habits: which operator followed which, and how often; counts fade.
        ghost_placing: an operator chosen with the mouse hangs at the cursor until a click places it.
        run_small: shapes are inferred by computing small values, too.
        code_hints: what stands behind the lines of the Code dock; `export_form`: what was exported last.
        recent_commands: ids of what was done from the command palette, the last used first.
        autosave: what is not saved is put on the disk every `autosave_s` seconds, beside the file.
        reopen: what was open is opened again at the next start: `open_documents`, the one in front `open_place`.
        keys: the keys of commands that are not as they are at first, by the command's id.
        ui_scale, canvas_scale: size of text in the window and on the canvas, percent.
        tooltip_ms: how long the pointer rests before something is explained; `click_drift_px`: what still is a click.
        frames_per_second: how often results are painted during a run, at most.
        timeline: whether the strip under the canvas is shown; `timeline_px` its height, 0: the usual one.
        reduced_motion: nothing glides; `wheel`: what a wheel does on the canvas without Ctrl.
        wire_style, wires_shown, fade_long_wires: how wires are drawn, which, and whether long ones are faint.
        minimap: whether it is shown where the graph is larger than the view; `minimap_px` its width and height.
        snap_to_grid, guides: what is dragged snaps to the grid, comes in line with its neighbours.
        shake_off: shaking a card takes it out of its wires.
        new_device, new_seed: of new documents; a seed of -1 is none: each start draws one.
        welcome: a start without a file shows the welcome page; `tour_done`: the tour was taken, or declined.
    """

    theme: ThemeChoice = "system"
    recent: tuple[str, ...] = ()
    overlays_off: tuple[str, ...] = ()
    overlays_on: tuple[str, ...] = ()
    run_small: bool = True
    autosave: bool = True
    autosave_s: int = 120
    reopen: bool = True
    open_documents: tuple[str, ...] = ()
    open_place: int = 0
    timeline: bool = True
    timeline_px: int = 0
    folder: str = ""
    favourites: tuple[str, ...] = ()
    habits: tuple[tuple[str, str, float], ...] = ()
    ghost_placing: bool = True
    recent_operators: tuple[str, ...] = ()
    code_hints: OneOf["off", "shapes", "values"] = "shapes"
    export_form: str = "script"
    reduced_motion: bool = False
    wheel: OneOf["zooms", "scrolls"] = "zooms"
    recent_commands: tuple[str, ...] = ()
    wire_style: WireStyle = "curved"
    wires_shown: WiresShown = "all"
    fade_long_wires: bool = False
    minimap: bool = True
    minimap_corner: Corner = "bottom_right"
    minimap_px: tuple[int, int] = (220, 150)
    snap_to_grid: bool = True
    guides: bool = True
    shake_off: bool = True
    keys: dict[str, tuple[str, ...]] = {}
    ui_scale: int = 100
    canvas_scale: int = 100
    tooltip_ms: int = 700
    click_drift_px: int = 4
    frames_per_second: int = 30
    new_device: str = "cpu"
    new_seed: int = 0
    welcome: bool = True
    tour_done: bool = False


class Settings(QObject):
    """Preferences of this person, kept in a folder; a broken file counts as none.

    Signals:
        changed(object): there are other `Preferences`.
    """

    changed = Signal(object)

    def __init__(self, folder: Path | None = None, state_folder: Path | None = None) -> None:
        """Read from a folder, by default the one the system gives programs for their settings."""
        super().__init__()
        self.folder = folder or _standard(QStandardPaths.StandardLocation.AppConfigLocation)
        self.state_folder = state_folder or (folder or _standard(QStandardPaths.StandardLocation.AppDataLocation))
        self.window = QSettings(str(self.folder / "window.ini"), QSettings.Format.IniFormat)
        self.preferences = self._read()

    @property
    def recent(self) -> tuple[Path, ...]:
        """Recently used files that still exist, newest first."""
        return tuple(path for path in map(Path, self.preferences.recent) if path.is_file())

    def add_recent(self, path: Path) -> None:
        """Put a file on top of the recent ones."""
        text = str(path.resolve())
        rest = tuple(other for other in self.preferences.recent if other != text)
        self.change(recent=(text, *rest)[:MAX_RECENT])

    def change(self, **values: object) -> None:
        """Change preferences and write them; a folder that cannot be written is no error."""
        changed = msgspec.structs.replace(self.preferences, **values)
        if changed == self.preferences:
            return
        self.preferences = changed
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / "settings.json").write_bytes(msgspec.json.format(msgspec.json.encode(self.preferences)))
        except OSError:
            pass
        self.changed.emit(self.preferences)

    def _read(self) -> Preferences:
        try:
            return msgspec.json.decode((self.folder / "settings.json").read_bytes(), type=Preferences)
        except (OSError, msgspec.MsgspecError):
            return Preferences()


def _standard(location: QStandardPaths.StandardLocation) -> Path:
    return Path(QStandardPaths.writableLocation(location))
