"""What a number in a message may be: checked where a message is read, for nothing where one is made."""

from typing import Annotated

from msgspec import Meta

Size = Annotated[int, Meta(ge=0, le=2**62)]
"""Bytes, elements, and the numbers of revisions and requests; one more is still a number that can be sent."""
Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]
"""Executions, turns, lines: they are indices, and are kept in 32 bits."""
Place = Annotated[int, Meta(ge=-1, le=2**31 - 1)]
"""An index; -1: nowhere."""
Edge = Annotated[int, Meta(ge=1, le=1024)]
"""Rows or columns of a picture."""
Seconds = Annotated[float, Meta(ge=0.0, le=1e12)]
"""A time that is one: neither NaN nor infinite."""
Moment = Annotated[float, Meta(ge=0.0, le=1e11)]
"""Seconds since 1970, of a year with four digits."""
MOST_CELLS = 1 << 20
"""Of a table of a live tensor, that are sent at once."""
Shape = tuple[Size, ...]
Turns = tuple[Count, ...]


def excess_words(cells: int) -> str:
    """Why so many cells of a table are not sent; "" where they are."""
    return f"{cells:,} cells are more than the {MOST_CELLS:,} that are sent at once." if cells > MOST_CELLS else ""
