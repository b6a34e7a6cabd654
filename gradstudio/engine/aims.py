"""How far a verb goes when that is neither the end nor a backward: to a node, out of a block, to where one stood."""

from gradstudio.engine.aim import END, Aim
from gradstudio.engine.errors import VerbRefused
from gradstudio.engine.live import Live, Loaded
from gradstudio.engine.source import flat, heads
from gradstudio.graph.inner import outermost
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


def refuse_to_run_to(loaded: Loaded, node: ItemId) -> None:
    """Refuse a node that no run gets to.

    Raises:
        VerbRefused: it cannot run, or is not in the program; in words.
    """
    for incomplete in loaded.program.incomplete:
        if incomplete.node == node:
            raise VerbRefused(f"The run cannot get to this node, because the node cannot run yet: {incomplete.reason}")
    if node not in loaded.places.statements and node not in loaded.places.blocks:
        raise VerbRefused("The program has no statement of this node, so no run gets to it.")


def statements_before(loaded: Loaded, node: ItemId) -> int:
    """How many statements, in program order, stand before the node, or before the call that it is inside of."""
    node = outermost(node)
    head = next((head for head in heads(loaded.items) if head.id == node), None)
    first = flat(head.body)[:1] if head is not None else []
    for index, step in enumerate(loaded.steps):
        if step.id == node or step in first:
            return index
    return 0
