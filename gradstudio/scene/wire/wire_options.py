"""How wires are drawn: a person's choice. No Qt here."""

from typing import Literal as OneOf
from typing import NamedTuple

WireStyle = OneOf["curved", "straight", "angled"]
WiresShown = OneOf["all", "selection", "none"]


class WireOptions(NamedTuple):
    """How wires are drawn, which of them, and whether the middle of long ones is faint."""

    style: WireStyle = "curved"
    shown: WiresShown = "all"
    fade_long: bool = False
