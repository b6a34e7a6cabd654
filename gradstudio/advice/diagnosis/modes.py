"""Calls of a model in the wrong mode: evaluated while it trains, trained while it evaluates."""

from collections.abc import Iterator

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.run_facts import RunFacts
from gradstudio.graph.analysis.module_modes import depends_on_mode
from gradstudio.graph.card_grouping import CALL, CALLED, EVAL, SELF, TRAIN
from gradstudio.graph.groups.call_ids import is_call_item
from gradstudio.graph.groups.definitions import definition_graph, group_of
from gradstudio.graph.model import ROOT, BodyId, Graph, ItemId
from gradstudio.protocol.messages.backward_trace import BackwardTraced

CUTTING = frozenset({"no_grad", "inference_mode"})


def wrong_modes(view: ProgramView, facts: RunFacts) -> Iterator[Finding]:
    """Of each call of the program, in the order they ran, one finding at most."""
    graph = view.graph
    trained, is_on = False, dict[ItemId, bool]()
    asked = set[ItemId]()  # switched to training behind the last backward: it is meant so
    found: dict[ItemId, Finding] = {}
    for event in facts.events:
        if isinstance(event, BackwardTraced):
            trained = True
            asked.clear()
            continue
        node = graph.nodes.get(event.node)
        if node is None or node.operator not in (CALL, EVAL, TRAIN) or is_call_item(event.node):
            continue
        source = view.source(event.node, (CALLED, SELF))
        module = view.resolve(source.item, source.output)[0] if source is not None else ItemId("")
        if node.operator != CALL:
            is_on[module] = node.operator == TRAIN and node.literals.get("mode", "True") != "False"
            (asked.add if is_on[module] else asked.discard)(module)
            continue
        if event.node in found or not _has_modes(graph, module):
            continue
        training = is_on.get(module, True)
        is_cut = _cut(graph, event.node)
        if training and is_cut and trained and module not in asked:
            found[event.node] = _evaluated(view, event.node, module)
        elif not training and not is_cut and event.turns and _is_learning(view, facts, event.node, module):
            found[event.node] = _trained(view, event.node, module)
    yield from found.values()


def _evaluated(view: ProgramView, call: ItemId, module: ItemId) -> Finding:
    name = view.name(module)
    return Finding(
        "wrong_mode",
        "warning",
        call,
        f"{name} is in training mode where it is evaluated: eval() is missing",
        "Under no_grad dropout still drops, and batch normalisation goes by this batch and takes it into its running "
        f"averages. Call {name}.eval() before, and {name}.train() before training goes on.",
        (call, module),
    )


def _trained(view: ProgramView, call: ItemId, module: ItemId) -> Finding:
    name = view.name(module)
    return Finding(
        "wrong_mode",
        "warning",
        call,
        f"{name} is in eval mode while it is trained: train() is missing",
        "Dropout does nothing, and batch normalisation keeps its old averages. "
        f"Call {name}.train() where an epoch of training begins.",
        (call, module),
    )


def _has_modes(graph: Graph, module: ItemId) -> bool:
    """Whether a module computes something else in training than in evaluation."""
    if depends_on_mode(graph, module):
        return True
    group = group_of(graph, module)
    inner = definition_graph(graph, group) if group in graph.definitions else None
    return inner is not None and any(_has_modes(inner, item) for item in inner.nodes)


def _cut(graph: Graph, item: ItemId) -> bool:
    around = (graph.blocks.get(ItemId(body)) for body in graph.ancestors(item) if body != ROOT)
    return any(block is not None and block.kind in CUTTING for block in around)


def _is_learning(view: ProgramView, facts: RunFacts, call: ItemId, module: ItemId) -> bool:
    """Whether a loop around a call has a backward, and an optimizer that updates the module."""
    graph = view.graph
    own = facts.module_storages(module)
    held = {storage for leaves in facts.held.values() for storage in leaves}
    statements = {traced.statement for traced in facts.backwards()}
    loops = (
        BodyId(body) for body in graph.ancestors(call) if body != ROOT and graph.blocks[ItemId(body)].kind == "for"
    )
    return bool(own & held) and any(statements & set(graph.order(loop)) for loop in loops)
