"""How a figure looks: inks by role and families of letters, from `resources/figures`, and measures in points. No Qt."""

import functools
from typing import Final

import msgspec

from gradstudio import paths

TEXT: Final = 11.0
SMALL: Final = 8.5
LINE: Final = 0.6
BOLD: Final = 1.2
RADIUS: Final = 3.0
PADDING_X: Final = 8.0
PADDING_Y: Final = 5.0
LINE_HEIGHT: Final = 14.0
SMALL_LINE: Final = 11.0
MARGIN: Final = 6.0
FRAME_PADDING: Final = 9.0
FRAME_TITLE: Final = 13.0
STYLES: Final = ("paper", "night")


class FigureStyle(msgspec.Struct, frozen=True):
    """Colours by role, as `#rrggbb`, and families of letters, the first that is there is taken."""

    name: str
    inks: dict[str, str]
    families: tuple[str, ...]

    def ink(self, role: str) -> str:
        """The colour of a role."""
        return self.inks[role]


@functools.cache
def figure_style(name: str) -> FigureStyle:
    """The style of that name, one of `STYLES`."""
    text = (paths.resources() / "figures" / f"{name}.json").read_bytes()
    return msgspec.json.decode(text, type=FigureStyle)
