"""How far a verb goes when that is neither the end nor a backward: to a node, out of a block, to where one stood."""

from types import FrameType

from gradstudio.engine.errors import VerbRefused
from gradstudio.engine.live.live_state import Live, Loaded
from gradstudio.engine.script.compiled_steps import Head, Item, Step, flat_steps, heads
from gradstudio.engine.script.stop_conditions import END, Aim
from gradstudio.graph.groups.call_ids import calls_around, is_call_item, outermost
from gradstudio.graph.model import ItemId


def aim_of(live: Live | None) -> Aim:
    """Where the live state stands, as a run of pass 1 from nothing gets there; with none, the end.

    A run that was to get further, and failed or was stopped as a repeat, counts as far as it was to get.
    """
    if live is not None and live.aim is not None:
        return live.aim
    if live is None or not live.resumable or not live.traced:
        return END
    if live.cursor.upcoming() is None:
        return END
    return Aim(*live.behind) if live.behind is not None else Aim()


def failed_aim(live: Live) -> Aim | None:
    """A repeat tries what failed again."""
    upcoming = live.cursor.upcoming()
    return Aim(upcoming.id, live.cursor.turns) if isinstance(upcoming, Step) else None


def drawn_seed(live: Live | None, loaded: Loaded) -> int | None:
    """The seed that a run without one of its own had drawn; it is to be the same again."""
    ours = live is not None and live.loaded.document == loaded.document and live.loaded.program.seed is None
    return live.seed if live is not None and ours else None


def refuse_to_run_to(loaded: Loaded, node: ItemId) -> None:
    """Refuse a node that no run gets to.

    Raises:
        VerbRefused: it cannot run, or is not in the program; in words.
    """
    for incomplete in loaded.program.incomplete:
        if incomplete.node == node:
            raise VerbRefused(f"The run cannot get to this node, because the node cannot run yet: {incomplete.reason}")
    places, calls = loaded.places, calls_around(node)
    inner = bool(calls) and calls[0] in places.statements and places.is_inside(node)
    if not inner and node not in places.statements and node not in places.blocks:
        raise VerbRefused("The program has no statement of this node, so no run gets to it.")


def is_ahead(live: Live, node: ItemId) -> bool:
    """Whether a node or block, also inside a call, is still to come."""
    if node in live.setup and node not in live.anew and not is_call_item(node):
        return False
    inside = [one.around.cursor for one in live.calls[1:]] + ([live.inside.cursor] if live.inside is not None else [])
    for depth, (target, cursor) in enumerate(zip((*calls_around(node), node), (live.cursor, *inside), strict=False)):
        entered = depth < len(live.calls) and live.calls[depth].execution.step.id == target
        if target == node or not entered:
            return cursor.is_ahead(target)
    return False


def loops_of_turn(loaded: Loaded, loop: ItemId, turns: tuple[int, ...]) -> tuple[ItemId, ...]:
    """The loops that a loop of the program stands in, outermost first, and itself; `turns` says a turn of each.

    Raises:
        VerbRefused: there is no such loop, or it stands in more or fewer.
    """
    loops = _loops_on_the_way(loaded.items, loop)
    if not turns or len(loops) != len(turns):
        raise VerbRefused("There is no such turn: the loop is not there any more, or stands in others.")
    return loops


def _loops_on_the_way(items: tuple[Item, ...], loop: ItemId) -> tuple[ItemId, ...]:
    for item in items:
        if not isinstance(item, Head):
            continue
        itself = (item.id,) if item.block.kind == "for" else ()
        if item.id == loop and itself:
            return itself
        if within := _loops_on_the_way(item.body, loop):
            return (*itself, *within)
    return ()


def settles_at_backward(live: Live) -> bool:
    """Whether only heads of blocks stand before a backward."""
    upcoming = live.place.upcoming()
    while isinstance(upcoming, Head):
        upcoming = upcoming.body[0] if upcoming.body else None
    return isinstance(upcoming, Step) and upcoming.statement.backward


def statements_before(loaded: Loaded, node: ItemId) -> int:
    """How many statements, in program order, stand before the node, or before the call that it is inside of."""
    node = outermost(node)
    head = next((head for head in heads(loaded.items) if head.id == node), None)
    first = flat_steps(head.body)[:1] if head is not None else []
    for index, step in enumerate(loaded.steps):
        if step.id == node or step in first:
            return index
    return 0


def node_on_stack(live: Live | None, current: Step | None, frame: FrameType | None) -> tuple[ItemId, int]:
    """The node that runs on a stack of frames, and its line; `current` is the statement at work, if one is."""
    if live is None:
        return ItemId(""), 0
    places = live.loaded.places
    node, line = places.of_stack(frame)
    if current is not None and places.known(node) is None:
        return current.id, current.statement.line
    if current is not None and current.statement.line == line:
        return current.id, line
    return node, line
