"""What the code of a statement called, as of the moment that is looked at. It never executes anything."""

from typing import NamedTuple

from gradstudio.graph.groups.call_ids import call_item_id
from gradstudio.graph.groups.code_ids import CodeCall, code_call
from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.messages.events import GradRow, Row
from gradstudio.protocol.timeline.run_timeline import Timeline
from gradstudio.ui.state.results.record_steps import end_of_call, into
from gradstudio.ui.state.results.result_store import ResultStore


class CallInside(NamedTuple):
    """One of them.

    Attributes:
        tick: at which it was made.
        gradient: of its first result.
    """

    tick: int
    call: CodeCall
    row: Row
    gradient: GradRow | None


def calls_inside(results: ResultStore, node: ItemId) -> tuple[CallInside, ...]:
    """The calls of the newest execution of a statement that has begun by the moment, in order."""
    timeline, card = results.timeline, results.ids.full(node)
    last = _last_of(results, card)
    if last is None:
        return ()
    own = call_item_id(card, ItemId(""))
    first = last
    while first > 0 and _is_of(timeline, first - 1, card, own):
        first -= 1
    found = []
    for tick in timeline.ticks[first : last + 1]:
        call = code_call(tick.node) if tick.row is not None else None
        if call is not None and tick.row is not None and call.card == card:
            found.append(CallInside(tick.index, call, tick.row, results.grad(tick.node)))
    return tuple(found)


def first_inside(timeline: Timeline, graph: Graph, card: ItemId) -> int | None:
    """The first step inside of the newest execution of a statement, by its id in a run; None where there is none."""
    own = call_item_id(card, ItemId(""))
    last = timeline.made_at(card)
    if last is None:  # it failed on its way
        last = next((tick.index for tick in reversed(timeline.ticks) if tick.node.startswith(own)), 0)
    first = last
    while first > 0 and _is_of(timeline, first - 1, card, own):
        first -= 1
    found = into(timeline, graph, first - 1) if first else first
    return found if found is not None and timeline.ticks[found].node.startswith(own) else None


def call_at(results: ResultStore) -> CodeCall | None:
    """The call inside of code that is looked at; None where none is."""
    moment = results.moment
    return code_call(results.timeline.ticks[moment].node) if moment is not None else None


def first_call_since(timeline: Timeline, begin: int) -> int | None:
    """The tick of the first call inside of code at or behind a tick; None when there is none."""
    return next((tick.index for tick in timeline.ticks[begin:] if _is_call(tick.node, tick.row)), None)


def _is_call(node: ItemId, row: Row | None) -> bool:
    return row is not None and code_call(node) is not None


def _last_of(results: ResultStore, card: ItemId) -> int | None:
    """The tick of the statement itself, or the last of what it has called so far."""
    timeline, moment = results.timeline, results.moment
    row = results.timeline.made_at(card, moment)
    if moment is None or timeline.ticks[moment].row is None:
        return row
    call = code_call(timeline.ticks[moment].node)
    if call is None or call.card != card:
        return row
    behind = end_of_call(timeline, moment)
    return behind if behind is not None else len(timeline.ticks) - 1


def _is_of(timeline: Timeline, tick: int, card: ItemId, own: ItemId) -> bool:
    """Whether a tick is inside of the card, or of a backward that ran there."""
    entry = timeline.ticks[tick]
    if entry.row is None:
        return timeline.backwards[entry.backward].statement == card
    return entry.node.startswith(own)
