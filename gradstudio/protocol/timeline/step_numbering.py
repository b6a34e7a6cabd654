"""The numbers of steps as a person reads them, from 1: one numbering for the whole window. No Qt, no torch."""

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.timeline.run_timeline import Timeline


def step_count(timeline: Timeline, unfolded: bool) -> int:
    """How many steps there are: groups, or, unfolded, ticks."""
    ticks = timeline.ticks
    return len(ticks) if unfolded or not ticks else ticks[-1].group + 1


def step_number(timeline: Timeline, tick: int, unfolded: bool) -> int:
    """The number of the step that a tick belongs to."""
    return tick + 1 if unfolded else timeline.ticks[tick].group + 1


def number_of_row(timeline: Timeline, node: ItemId, row: Row, tick: int | None, unfolded: bool) -> int | None:
    """The number of the step in which the node's row was made, at or before a tick (None: now); None: it is gone."""
    made = timeline.made_at(node, tick, row.turns)
    return step_number(timeline, made, unfolded) if made is not None else None
