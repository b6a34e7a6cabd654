"""What a program said at a node, as its card shows it: the last lines, bars of progress, the last figure. No Qt."""

import textwrap
from typing import Final

import msgspec

from gradstudio.protocol.messages.drawn_figures import Figured
from gradstudio.protocol.messages.events import Printed

SHOWN_LINES: Final = 4
"""So many lines stand on a card; of more, the last ones below a word of how many there are."""
COLUMNS: Final = 25
"""Letters of a line that surely stand on the narrowest card."""
KEPT_LINES: Final = 500
"""So many lines of one node are kept."""


class Printout(msgspec.Struct, frozen=True):
    """What was printed and drawn at one node.

    Attributes:
        lines: the last ones, without those of bars that still move; `count`: how many there were.
        bars: of progress, as they stand, one a line; "" where none moves.
        figures: the open ones, that was told last at the end.
    """

    lines: tuple[str, ...] = ()
    count: int = 0
    bars: str = ""
    figures: tuple[Figured, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything was said."""
        return bool(self.count or self.bars or self.figures)

    @property
    def text(self) -> tuple[str, ...]:
        """All lines that are kept, bars among them."""
        return (*self.lines, *(self.bars.split("\n") if self.bars else ()))

    def shown(self, columns: int = COLUMNS, most: int = SHOWN_LINES) -> tuple[str, ...]:
        """The lines that a card shows, at most so many; the last one over several where they have room.

        What has no room is left at the end of it, to be shortened; a bar stays on one line.
        """
        lines, count = self.text, self.count + (self.bars.count("\n") + 1 if self.bars else 0)
        if not lines:
            return ()
        is_whole = count <= most
        room = most - count + 1 if is_whole else most - 1
        last = lines[-1:] if self.bars or room < 2 else _folded(lines[-1], columns, room)
        if is_whole:
            return (*lines[:-1], *last)
        others = lines[-1 - (room - len(last)) : -1]
        return (f"… {count - len(others) - 1} lines above", *others, *last)

    def with_print(self, printed: Printed) -> "Printout":
        """The same with what was printed since: it takes the place of bars."""
        if printed.passing:
            return msgspec.structs.replace(self, bars=printed.text)
        new = printed.text.split("\n")
        lines = (*self.lines, *new)[-KEPT_LINES:]
        return msgspec.structs.replace(self, lines=lines, count=self.count + len(new), bars="")

    def with_figure(self, figured: Figured) -> "Printout":
        """The same with a figure as it is now."""
        others = self.without_figure(figured.figure).figures
        return msgspec.structs.replace(self, figures=(*others, figured))

    def without_figure(self, figure: int) -> "Printout":
        """The same when another node has drawn on that figure."""
        return msgspec.structs.replace(self, figures=tuple(one for one in self.figures if one.figure != figure))


def _folded(line: str, columns: int, most: int) -> tuple[str, ...]:
    """A line over several, between words where it can be; what is left of it stands at the end of the last one."""
    if len(line) <= columns:
        return (line,)
    begin = line.expandtabs(4)[: columns * (most + 1)]
    rows = textwrap.wrap(begin, columns) or [""]
    return (*rows[: most - 1], " ".join(rows[most - 1 :])) if len(rows) > most else tuple(rows)


NOTHING_PRINTED: Final = Printout()
