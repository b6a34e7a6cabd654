"""What a frame of a figure is called: ``for t = 0 … 2``, ``no grad``, or a group's title. No Qt."""

from gradstudio.graph.model import Graph, ItemId
from gradstudio.scene.figure.drawing import Formula, Run, upright
from gradstudio.scene.figure.math_symbols import symbol


def frame_title(graph: Graph, block: ItemId) -> Formula:
    """The head of a block as a paper writes it."""
    found = graph.blocks[block]
    match found.kind:
        case "for" if found.endless:
            return upright("while")
        case "for":
            return (Run("for "), *symbol(found.variable or "_"), *_range(graph, block))
        case "group":
            return upright(found.title or "group")
        case _:
            return upright(found.kind.replace("_", " "))


def _range(graph: Graph, block: ItemId) -> Formula:
    """The numbers that a loop counts, where they stand in the text."""
    literals = graph.blocks[block].literals
    given = [literals.get(f"range.{k}", "") for k in range(3)]
    if any((block, f"range.{k}") in graph.wires for k in range(3)) or not given[0].isdigit() or given[2]:
        return ()
    first, stop = ("0", given[0]) if not given[1] else (given[0], given[1])
    return upright(f" = {first}, …, {int(stop) - 1}") if stop.isdigit() else ()
