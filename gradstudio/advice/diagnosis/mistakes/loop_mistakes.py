"""Loops over data whose data nobody uses."""

from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.graph.analysis.program_analysis import effects
from gradstudio.graph.model import Block, BodyId, Graph, ItemId
from gradstudio.graph.text.item_titles import title
from gradstudio.operators.model import Effect

LOADER, ENUMERATE, TUPLE = "torch.utils.data.DataLoader", "builtins.enumerate", "python.tuple"


def of_loops(graph: Graph) -> Iterator[Finding]:
    """Loops over a loader that train, and that use nothing of a batch, or all of it but its inputs."""
    for block in graph.blocks.values():
        if block.kind != "for" or block.muted:
            continue
        loader, batch = _batch_of(graph, block)
        if loader is None or not trains(graph, block):
            continue
        unused = _unused_name(graph, *batch)
        if unused is None:
            continue
        what = f"{unused} of the batch" if unused else "the batch"
        name = title(graph, loader)
        yield Finding(
            "unused_batch",
            "warning",
            block.id,
            f"Nothing in the loop uses {what} that {name} gives: every turn computes with something else",
            "The loop takes batch after batch and leaves it. Wire the batch into the model and into the loss instead "
            "of the whole data. What is left out on purpose is called _.",
            (block.id, loader),
        )


def _batch_of(graph: Graph, block: Block) -> tuple[ItemId | None, tuple[ItemId, int]]:
    """The loader that a loop goes over, and the value that is one batch of it."""
    wire = graph.wire_into(block.id, "over")
    source = graph.nodes.get(wire.source) if wire is not None else None
    batch = (block.id, 0)
    if source is not None and source.operator == ENUMERATE:
        pair = next((one for one in graph.wires_from(block.id) if graph.nodes[one.target].operator == TUPLE), None)
        wire = graph.wire_into(source.id, "iterable")
        source = graph.nodes.get(wire.source) if wire is not None else None
        if pair is None:
            return None, batch
        batch = (pair.target, 1)
    is_loader = source is not None and source.operator == LOADER
    return (source.id if is_loader and source is not None else None), batch


def _unused_name(graph: Graph, item: ItemId, output: int) -> str | None:
    """The first name of a batch where nothing uses it, "" for a batch as one value; None where it is used."""
    wires = [wire for wire in graph.wires_from(item) if wire.output == output]
    parts = [graph.nodes[wire.target] for wire in wires if wire.target in graph.nodes]
    if not wires:
        return ""
    if len(parts) != 1 or parts[0].operator != TUPLE or len(parts[0].names) < 2:
        return None
    first = parts[0].names[0]
    is_used = any(wire.output == 0 for wire in graph.wires_from(parts[0].id))
    return None if is_used or first.startswith("_") else first


def trains(graph: Graph, block: Block) -> bool:
    """Whether there is a backward inside a block."""
    return any(Effect.BACKWARD in effects(graph, item) for item in graph.order(BodyId(block.id)) if item in graph.nodes)
