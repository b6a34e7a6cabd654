"""Where a program begins for a person who opens it. No Qt."""

from collections.abc import Iterable, Set
from typing import Final

from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId
from gradstudio.graph.ports.item_ports import operator_of, output_family
from gradstudio.graph.rules import ancestors_of
from gradstudio.graph.text.code_records import is_code_at
from gradstudio.operators.model import Effect, Family
from gradstudio.scene.geometry import Box, union
from gradstudio.scene.placement import Placement

SET_UP: Final = ("Weights of ", "Layers of ")
"""Titles of the groups that a brought module begins with."""
_MODELS: Final = frozenset({Family.MODULE})
_COMPUTED: Final = frozenset({Family.MODULE, Family.TENSOR})


def first_item(graph: Graph) -> ItemId | None:
    """The first statement; behind groups that only set up weights and layers, the input.

    Of a program that begins with code (imports, settings), the first model that is made, else the first that computes.
    """
    items = graph.bodies[ROOT]
    if items and is_code_at(graph, items[0]):
        return _first_of(graph, items, _MODELS) or _first_of(graph, items, _COMPUTED) or items[0]
    behind = next((k for k, item in enumerate(items) if not _sets_up(graph, item)), 0)
    if behind:
        inputs = (item for item in items[behind:] if item in graph.nodes and not graph.wires_to(item))
        return next(inputs, items[behind])
    return items[0] if items else None


def first_box(graph: Graph, placement: Placement) -> Box | None:
    """The first statement with its note, or with the note in the corner of the drawing."""
    item = first_item(graph)
    if item is None:
        return None
    note = placement.notes.get(item)
    heading = note.box if note is not None else _heading(placement)
    return union(box for box in (placement.box(item), heading) if box is not None)


def ways_to_loss(graph: Graph, placement: Placement) -> tuple[Box, ...]:
    """From the beginning to what the first backward begins at: with all that leads there, without it, without a note.

    Nothing without a backward.
    """
    is_backward = (item for item in graph.order() if item in graph.nodes and _goes_back(graph, item))
    backward = next(is_backward, None)
    losses = [wire.source for wire in graph.wires_to(backward)] if backward is not None else []
    first, item = first_box(graph, placement), first_item(graph)
    if not losses or first is None or item is None:
        return ()
    loss = losses[0]
    leading, ends = placement.extent(ancestors_of(graph, loss) | {loss}), placement.extent((loss,))
    if leading is None or ends is None:
        return ()
    ways = (union((first, leading)), union((first, ends)), placement.extent((item, loss)))
    return tuple(way for way in ways if way is not None)


def _goes_back(graph: Graph, item: ItemId) -> bool:
    operator = operator_of(graph, item)
    return operator is not None and Effect.BACKWARD in operator.effects


def _heading(placement: Placement) -> Box | None:
    """The note above and left of everything; None where there is none."""
    extent = placement.extent()
    if extent is None:
        return None
    boxes = (note.box for note in placement.notes.values())
    return next((box for box in boxes if box.x <= extent.x and box.y <= extent.y), None)


def _first_of(graph: Graph, items: Iterable[ItemId], families: Set[Family]) -> ItemId | None:
    """The first of these items, also in a frame, that is drawn and gives something of those families."""
    for item in items:
        block = graph.blocks.get(item)
        if block is not None and block.kind == "group":
            found = _first_of(graph, graph.bodies[BodyId(item)], families)
        else:
            drawn = block is None and not is_code_at(graph, item)
            found = item if drawn and output_family(graph, item, 0) in families else None
        if found is not None:
            return found
    return None


def _sets_up(graph: Graph, item: ItemId) -> bool:
    block = graph.blocks.get(item)
    return block is not None and block.kind == "group" and block.title.startswith(SET_UP)
