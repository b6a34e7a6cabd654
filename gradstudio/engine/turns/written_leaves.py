"""What the statements of a loop wrote into, as it is behind turns that were not recorded."""

from collections.abc import Iterable

from gradstudio.engine.gradient.leaf_writes import LeafWrite
from gradstudio.engine.live.live_state import Live
from gradstudio.engine.script.compiled_steps import Step
from gradstudio.graph.model import ItemId


def leaves_written(live: Live, steps: Iterable[Step]) -> dict[ItemId, tuple[LeafWrite, ...]]:
    """The leaves that each statement wrote into when it was recorded last, as they are now.

    Buffers are told with the first of them, so that no call is told only for what it wrote.
    """
    rows = {step.id: row for step in steps if (row := live.last_rows.get(step.id)) is not None and row.writes}
    found, storages, writer = dict[ItemId, tuple[LeafWrite, ...]](), set[int](), ItemId("")
    for writer, row in rows.items():
        written = {state.record.storage for state in row.writes}
        storages |= written
        leaves = [leaf for leaf in live.gradients.leaves.values() if leaf.storage in written]
        if leaves:
            found[writer] = tuple([LeafWrite(leaf.tensor, leaf.storage) for leaf in leaves])
    buffers = live.modules.living_in(storages)
    if buffers:
        writer = next(iter(found), writer)
        found[writer] = (*found.get(writer, ()), *buffers)
    return found
