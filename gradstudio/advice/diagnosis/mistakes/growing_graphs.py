"""The graph behind a backward that grows from turn to turn, and sums that keep the graph of every turn."""

import itertools
from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.run_facts import RunFacts
from gradstudio.graph.analysis.call_paths import Source
from gradstudio.graph.analysis.program_analysis import effects
from gradstudio.graph.model import BodyId, Graph, ItemId
from gradstudio.operators.model import Effect
from gradstudio.protocol.messages.records import TensorRecord

LEAST_TURNS = 4


def growing_graphs(view: ProgramView, facts: RunFacts) -> Iterator[Finding]:
    """Backwards of one statement that each go through more than the one before."""
    sizes: dict[ItemId, list[int]] = {}
    for traced in facts.backwards():
        if traced.turns:
            sizes.setdefault(traced.statement, []).append(len(traced.rows))
    for statement, counts in sizes.items():
        added = [after - before for before, after in itertools.pairwise(counts)]
        if len(added) < LEAST_TURNS - 1 or min(added) <= 0:
            continue
        carried = _carried_with_graph(view, facts, statement)
        who = f"{view.name(carried)} brings" if carried is not None else "a value brings"
        yield Finding(
            "growing_graph",
            "warning",
            statement,
            f"Each backward goes through all turns before it: {who} its graph along from turn to turn",
            f"The first went through {counts[0]} autograd nodes, the last through {counts[-1]}: time and memory grow "
            "with each turn, and retain_graph=True only hides it. Write .detach() where the next turn takes the value.",
            (statement,) if carried is None else (statement, carried),
        )


def kept_graphs(view: ProgramView, facts: RunFacts) -> Iterator[Finding]:
    """Sums over the turns of a training that keep the graph of every turn, though no backward begins from them."""
    graph = view.graph
    for block in graph.blocks.values():
        if block.kind != "for" or not block.carried or not _trains(graph, block.id):
            continue
        for k, name in enumerate(block.carried, 1):
            wire = graph.wire_into(block.id, f"next.{name}")
            record = facts.record(wire.source, wire.output) if wire is not None else None
            if wire is None or not isinstance(record, TensorRecord) or not record.requires_grad or record.is_leaf:
                continue
            if _leads_to_backward(graph, [(block.id, k), (wire.source, wire.output)]):
                continue
            yield Finding(
                "kept_graph",
                "warning",
                wire.source,
                f"{name} keeps the graph of every turn: it adds up a tensor that requires grad",
                "No backward begins from it, so all that it holds is memory that grows with each turn. Add up "
                "loss.item(), or loss.detach().",
                (wire.source, block.id),
            )


# ------------------------------------------------------------------ helpers


def _carried_with_graph(view: ProgramView, facts: RunFacts, statement: ItemId) -> ItemId | None:
    """What the loop around a backward carries with a graph."""
    graph = view.graph
    around = graph.ancestors(statement) if statement in graph else ()
    for body in around:
        block = graph.blocks.get(ItemId(body))
        for k in range(1, len(block.carried) + 1) if block is not None else ():
            for source in view.carried(ItemId(body), k):
                if source.port.startswith("next.") and _has_graph(facts, source):
                    return source.item
    return None


def _has_graph(facts: RunFacts, source: Source) -> bool:
    record = facts.record(source.item, source.output)
    return isinstance(record, TensorRecord) and record.requires_grad and not record.is_leaf


def _trains(graph: Graph, loop: ItemId) -> bool:
    return any(Effect.BACKWARD in effects(graph, item) for item in graph.order(BodyId(loop)))


def _leads_to_backward(graph: Graph, begin: list[tuple[ItemId, int]]) -> bool:
    todo, seen = list(begin), set(begin)
    while todo:
        item, output = todo.pop()
        for wire in graph.wires_from(item):
            if wire.output != output:
                continue
            if wire.target in graph and Effect.BACKWARD in effects(graph, wire.target):
                return True
            outputs = [0] if wire.target in graph.nodes else []
            block = graph.blocks.get(wire.target)
            if block is not None and wire.port.partition(".")[2] in block.carried:
                outputs = [1 + block.carried.index(wire.port.partition(".")[2])]
            for number in outputs:
                if (wire.target, number) not in seen:
                    seen.add((wire.target, number))
                    todo.append((wire.target, number))
    return False
