"""What the preferences dialog asks, a row each; a field of `Preferences` that is no row is changed elsewhere. No Qt."""

from typing import Final, NamedTuple

APPEARANCE = "Appearance"
CANVAS = "Canvas"
RUN = "Run"
FILES = "Files"
KEYS = "Keys"
PAGES: Final = (APPEARANCE, CANVAS, RUN, FILES, KEYS)


class Choice(NamedTuple):
    """One of some values: value and word of each."""

    values: tuple[tuple[object, str], ...]


class Switch(NamedTuple):
    """On or off."""


class Number(NamedTuple):
    """A whole number from `low` to `high`; `zero` is what 0 is called."""

    low: int
    high: int
    step: int
    unit: str
    zero: str = ""


class ThemeList(NamedTuple):
    """One of the themes there are, the person's own too."""


Kind = Choice | Switch | Number | ThemeList


class PreferenceRow(NamedTuple):
    """One thing to choose.

    Attributes:
        field: of `Preferences`.
        words: one sentence that says what it does.
    """

    page: str
    field: str
    text: str
    kind: Kind
    words: str


CORNERS: Final = (
    ("top_left", "Upper left"),
    ("top_right", "Upper right"),
    ("bottom_left", "Lower left"),
    ("bottom_right", "Lower right"),
)
ROWS: Final = (
    PreferenceRow(
        APPEARANCE,
        "theme",
        "Theme",
        ThemeList(),
        "System follows the desktop, also when it changes; themes of your own are files in the folder below.",
    ),
    PreferenceRow(
        APPEARANCE,
        "ui_scale",
        "Size of the window's text",
        Number(80, 200, 10, " %"),
        "Text of menus, panels and dialogs; rows and fields grow with it.",
    ),
    PreferenceRow(
        APPEARANCE,
        "canvas_scale",
        "Size of the canvas's text",
        Number(80, 200, 10, " %"),
        "How large a card and its text are at 100 % zoom.",
    ),
    PreferenceRow(
        APPEARANCE,
        "reduced_motion",
        "Reduce motion",
        Switch(),
        "Cards and views are where they belong at once, instead of gliding there.",
    ),
    PreferenceRow(
        APPEARANCE,
        "tooltip_ms",
        "Tooltips appear after",
        Number(100, 3000, 100, " ms"),
        "How long the pointer rests before something is explained.",
    ),
    PreferenceRow(
        APPEARANCE,
        "click_drift_px",
        "A click may drift",
        Number(1, 20, 1, " px"),
        "A press that moves less than this before it is released is a click, not a drag.",
    ),
    PreferenceRow(
        APPEARANCE,
        "frames_per_second",
        "Pictures a second during a run",
        Number(1, 60, 1, " at most"),
        "How often cards, panels and overlays are painted anew while results come in.",
    ),
    PreferenceRow(
        CANVAS,
        "wheel",
        "The wheel",
        Choice((("zooms", "Zooms"), ("scrolls", "Scrolls"))),
        "What the wheel does alone; with Ctrl it always zooms.",
    ),
    PreferenceRow(
        CANVAS,
        "wire_style",
        "Wires",
        Choice((("curved", "Curved"), ("straight", "Straight"), ("angled", "Right-angled"))),
        "How wires are drawn.",
    ),
    PreferenceRow(
        CANVAS,
        "fade_long_wires",
        "Fade long wires",
        Switch(),
        "The middle of a long wire is faint, so that what it crosses is seen.",
    ),
    PreferenceRow(
        CANVAS,
        "snap_to_grid",
        "Snap to the grid",
        Switch(),
        "What is dragged comes to rest on the grid.",
    ),
    PreferenceRow(
        CANVAS,
        "guides",
        "Guides",
        Switch(),
        "What is dragged comes in line with its neighbours, and a line shows with which.",
    ),
    PreferenceRow(
        CANVAS,
        "shake_off",
        "Shake to take out",
        Switch(),
        "A card that is shaken while it is dragged leaves its wires, which are joined behind it.",
    ),
    PreferenceRow(
        CANVAS,
        "ghost_placing",
        "Place new cards with a click",
        Switch(),
        "An operator chosen with the mouse hangs at the pointer until a click puts it down.",
    ),
    PreferenceRow(
        CANVAS,
        "minimap",
        "Minimap",
        Switch(),
        "A small picture of everything in a corner, where the graph is larger than the view.",
    ),
    PreferenceRow(
        CANVAS,
        "minimap_corner",
        "Corner of the minimap",
        Choice(CORNERS),
        "Its size is dragged at the corner towards the middle of the canvas.",
    ),
    PreferenceRow(
        RUN,
        "new_device",
        "Device of new documents",
        Choice((("cpu", "CPU"), ("auto", "CUDA where there is one"), ("cuda:0", "First CUDA device"))),
        "Where creation nodes of a new document create; the toolbar changes it for one document.",
    ),
    PreferenceRow(
        RUN,
        "new_seed",
        "Seed of new documents",
        Number(-1, 2**31 - 1, 1, "", "None: each run draws one"),
        "What a new document begins with in torch.manual_seed; Seed… in the Graph menu changes it for one document.",
    ),
    PreferenceRow(
        RUN,
        "run_small",
        "Compute small values while inferring",
        Switch(),
        "Shapes before a run are found with small real values where that is safe; else with stand-ins without data.",
    ),
    PreferenceRow(
        RUN,
        "code_hints",
        "Hints in the Code dock",
        Choice((("off", "Off"), ("shapes", "Shapes"), ("values", "Values"))),
        "What stands behind the lines of the program.",
    ),
    PreferenceRow(
        FILES,
        "reopen",
        "Open again what was open",
        Switch(),
        "The next start shows the documents of the last one, the same one in front.",
    ),
    PreferenceRow(
        FILES,
        "welcome",
        "Show the welcome page",
        Switch(),
        "A start without a file shows new, recent files and examples; else it begins with an empty canvas.",
    ),
    PreferenceRow(
        FILES,
        "autosave",
        "Keep what is not saved",
        Switch(),
        "Changes are put on the disk beside the file, never over it, and offered after a crash.",
    ),
    PreferenceRow(
        FILES,
        "autosave_s",
        "Keep it every",
        Number(5, 3600, 5, " s"),
        "How often unsaved changes are put on the disk.",
    ),
)


def rows_of(page: str) -> tuple[PreferenceRow, ...]:
    """The rows of a page."""
    return tuple(row for row in ROWS if row.page == page)
