"""Card state: what decides how a card looks beside what is written on it."""

import msgspec

from gradstudio.scene.card.debug_sections import PLAIN, DebugSections
from gradstudio.scene.card.port_style import PortStyle
from gradstudio.ui.canvas.paint.card.header_colours import HeaderColour


class CardState(msgspec.Struct, frozen=True):
    """What a card shows beside its layout and its well.

    Attributes:
        order: place among the statements, for those with effects; 0 shows none.
        set_up: made once (semantics §5).
        left_out: muted, or what it reads is.
        outputs: looks of the output ports; `inputs` of the wired input ports, by path.
        head: the header's colours when the cards are coloured by a figure.
        extras: what debugging adds below.
    """

    order: int = 0
    set_up: bool = False
    left_out: bool = False
    outputs: tuple[PortStyle, ...] = ()
    inputs: tuple[tuple[str, PortStyle], ...] = ()
    head: HeaderColour | None = None
    extras: DebugSections = PLAIN
