"""Recipes that mute wires: their arguments count as unwired everywhere, yet the wires stay drawn."""

from collections.abc import Iterable

import msgspec

from gradstudio.graph.edits import Edits
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import Graph, Wire
from gradstudio.graph.ports.muted_wires import is_muted
from gradstudio.graph.recipes.draft import Draft
from gradstudio.graph.recipes.wiring.connection import attach
from gradstudio.graph.recipes.wiring.list_ports import uncover
from gradstudio.graph.text.item_titles import title


def mute_wires(graph: Graph, wires: Iterable[Wire]) -> Edits:
    """Take wires out of the program; what was written in their ports before them stands there again.

    Raises:
        Refused: one of them ends in a block.
    """
    draft = Draft(graph)
    chosen = tuple(wire for wire in wires if graph.wires.get((wire.target, wire.port)) == wire)
    for wire in chosen:
        if wire.target not in graph.nodes:
            raise Refused(
                f"A wire into {title(graph, wire.target)} cannot be muted, for a block needs it; cut it instead."
            )
    draft.cut(chosen)
    uncover(draft, chosen)
    for wire in chosen:
        node = draft.graph.nodes[wire.target]
        muted = {**node.muted_wires, wire.port: (wire.source, wire.output)}
        draft.put(msgspec.structs.replace(node, muted_wires=muted))
    return draft.finish()


def unmute_wires(graph: Graph, wires: Iterable[Wire]) -> Edits:
    """Take muted wires back into the program.

    Raises:
        WireRefused: one of them may not be drawn any more; the message says why.
        Refused: no order of the statements allows it.
    """
    draft = Draft(graph)
    for wire in wires:
        if is_muted(graph, wire):
            attach(draft, wire.source, wire.output, wire.target, wire.port)
    return draft.finish()
