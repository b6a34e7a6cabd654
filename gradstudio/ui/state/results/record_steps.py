"""Walking the record of a run: forward, back, over a block, out of one. It never executes anything. No Qt."""

from itertools import takewhile

from gradstudio.graph.card_grouping import CALL
from gradstudio.graph.groups.call_ids import path_of
from gradstudio.graph.groups.code_ids import code_call
from gradstudio.graph.groups.definitions import group_of, setup_of
from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.protocol.timeline.run_timeline import Timeline


def forward(timeline: Timeline, moment: int, unfolded: bool) -> int | None:
    """The step after `moment`; None: that is now."""
    return _or_now(timeline, timeline.next(moment, unfolded))


def into(timeline: Timeline, graph: Graph, moment: int) -> int | None:
    """The statement after `moment`, inside a call too; what a module keeps is told as a call begins, and no step."""
    tick = forward(timeline, moment, unfolded=True)
    while tick is not None and timeline.ticks[tick].phase == "forward" and _is_kept(graph, timeline.ticks[tick].node):
        tick = forward(timeline, tick, unfolded=True)
    return tick


def back(timeline: Timeline, moment: int | None, unfolded: bool) -> int | None:
    """The step before `moment` (None: now); None when there is none."""
    if moment is not None:
        return timeline.previous(moment, unfolded)
    last = len(timeline.ticks) - 1
    if last < 0:
        return None
    if timeline.ticks[last].phase == "backward":
        return last  # a backward that failed on its way: now is behind its last row
    return timeline.previous(last, unfolded)


def first(timeline: Timeline, unfolded: bool) -> int | None:
    """The first step of all; None when nothing was recorded."""
    if not timeline.ticks:
        return None
    return 0 if unfolded else timeline.group_of(0)[-1]


def first_of_backward(timeline: Timeline, begin: int, unfolded: bool) -> int | None:
    """The first step of the first backward recorded at or behind tick `begin`."""
    for index in range(begin, len(timeline.ticks)):
        if timeline.ticks[index].phase == "backward":
            return index if unfolded else timeline.group_of(index)[-1]
    return None


def over(timeline: Timeline, graph: Graph, moment: int) -> int | None:
    """The step behind the block that begins after `moment`, or behind the backward it is in; None: now."""
    ticks = timeline.ticks
    if ticks[moment].phase == "backward":
        return _or_now(timeline, _end_of_backward(timeline, moment))
    following = timeline.next(moment)
    if following is None:
        return None
    if ticks[following].phase == "backward":
        return _or_now(timeline, _end_of_backward(timeline, following))
    here, there = _around(graph, ticks[moment].node), _around(graph, ticks[following].node)
    entered = [block for block in there if block not in here]
    return _or_now(timeline, _last_inside(timeline, graph, following, entered[-1]) if entered else following)


def out(timeline: Timeline, graph: Graph, moment: int) -> int | None:
    """The step behind the innermost block (or the backward) that `moment` is in; None: now."""
    if timeline.ticks[moment].phase == "backward":
        return _or_now(timeline, _end_of_backward(timeline, moment))
    if code_call(timeline.ticks[moment].node) is not None:
        return _or_now(timeline, end_of_call(timeline, moment))
    around = _around(graph, timeline.ticks[moment].node)
    if not around:
        return None
    return _or_now(timeline, timeline.next(_last_inside(timeline, graph, moment, around[0])))


def end_of_call(timeline: Timeline, tick: int) -> int | None:
    """The tick of the statement that a call is inside of, once its code has ended; None where it has not."""
    call = code_call(timeline.ticks[tick].node)
    if call is None:
        return None
    behind = timeline.ticks[tick:]
    inside = sum(1 for _ in takewhile(lambda one: one.node != call.card or one.row is None, behind))
    return tick + inside if inside < len(behind) else None


def _or_now(timeline: Timeline, tick: int | None) -> int | None:
    """The last statement that ran is now; a row of a backward is looked at even when it is the last."""
    if tick is None or (tick == len(timeline.ticks) - 1 and timeline.ticks[tick].phase == "forward"):
        return None
    return tick


def _end_of_backward(timeline: Timeline, tick: int) -> int | None:
    """The row of its statement; None when it is not there."""
    number = timeline.ticks[tick].backward
    while tick < len(timeline.ticks) and timeline.ticks[tick].backward == number:
        tick += 1
    return tick if tick < len(timeline.ticks) else None


def _is_kept(graph: Graph, node: ItemId) -> bool:
    """Whether an item inside the call of a module was made when the module was."""
    where, operator, definition = graph, "", None
    *calls, item = path_of(node)
    for call in calls:
        operator = where.nodes[call].operator if call in where.nodes else ""
        definition = graph.definitions.get(group_of(where, call))
        if definition is None:
            return False
        where = definition.graph
    return definition is not None and operator == CALL and item in setup_of(definition)


def _around(graph: Graph, node: ItemId) -> list[ItemId]:
    """The blocks around a node, innermost first."""
    if node not in graph.parents:
        return []
    return [ItemId(body) for body in graph.ancestors(node)[:-1]]


def _last_inside(timeline: Timeline, graph: Graph, tick: int, block: ItemId) -> int:
    inside = set(graph.order(BodyId(block))) if block in graph.blocks else set()
    while tick + 1 < len(timeline.ticks):
        following = timeline.ticks[tick + 1]
        if following.row is not None and following.node not in inside:
            break
        tick += 1
    return tick
