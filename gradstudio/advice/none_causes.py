"""What a None comes from that a statement meets: a gradient that is not there yet, a call that gives nothing."""

from gradstudio.advice.model import Advice
from gradstudio.advice.quotations import source_name, value_name, written
from gradstudio.graph.analysis.program_analysis import effects
from gradstudio.graph.groups.definitions import definition_graph, group_of
from gradstudio.graph.model import DEFINITION_OUTPUTS, Graph, ItemId, Wire
from gradstudio.graph.text.item_titles import title
from gradstudio.graph.text.name_bindings import name_of
from gradstudio.operators.model import Effect
from gradstudio.protocol.messages.events import Failed
from gradstudio.protocol.messages.records import PlainRecord

GRADIENT, NONE = "torch.Tensor.grad", "NoneType"
SET_GRADIENT, GRAD_FN = "torch.Tensor.grad=", "torch.Tensor.grad_fn"
WRITTEN = "python.literal"
ZEROING = frozenset({"torch.optim.Optimizer.zero_grad", "torch.nn.Module.zero_grad"})
EMPTY_LATER = "Empty the gradient behind the statement that reads it"
KEEP_LEAF = (
    "Change the leaf in place, under no_grad (w -= …), and zero w.grad behind it, instead of binding its name anew"
)
MAKE_LEAF = "Set requires_grad behind the last step that makes it (requires_grad_())"
OWN_LINE = "Bind the loss in one line, and call backward() on it in the next"
NO_LEAF = "Ask a tensor that was computed from one that requires grad"
RETURN = "End its forward with return and the result"
BIND = "Give it a value before this line"


def cause_of_none(failed: Failed, graph: Graph) -> Advice | None:
    """Why something that a statement reads is None, and what to do, where the program's text says it."""
    if NONE not in failed.message:
        return None
    node = failed.node
    computed = describe_computed_owner(node, graph)
    if computed:
        is_carried = any(owner in graph.blocks for owner in _grad_owners(graph, node))
        return Advice(computed, (KEEP_LEAF if is_carried else MAKE_LEAF,))
    emptied = describe_emptied_gradient(node, graph)
    if emptied:
        return Advice(emptied, (EMPTY_LATER,))
    return next((told for wire in _nones(failed, graph) if (told := _of_source(graph, wire)) is not None), None)


def describe_early_gradient(node: ItemId, graph: Graph) -> str:
    """That the .grad which a statement reads waits for a backward; "" where one stands in front of it."""
    owners = (graph.wire_into(wire.source, "self") for wire in graph.wires_to(node) if _is_grad(graph, wire.source))
    owner, items = next(owners, None), list(graph.order())
    if (
        owner is None
        or node not in items
        or graph.edges is not None
        or graph.ancestors(node) != graph.ancestors(owner.source)
    ):
        return ""
    before = items[: items.index(node)]
    if any(item in graph.blocks or Effect.BACKWARD in effects(graph, item) for item in before):
        return ""
    return f"No backward has run before this line, so {source_name(graph, owner)}.grad is None."


def _nones(failed: Failed, graph: Graph) -> tuple[Wire, ...]:
    """The wires that may have brought the None: those that did, as far as it is known."""
    wires, told = graph.wires_to(failed.node), dict(failed.operands)
    brought = [wire for wire in wires if _is_none(told.get(wire.port))]
    return tuple(brought or (wire for wire in wires if wire.port not in told))


def _is_none(record: object) -> bool:
    return isinstance(record, PlainRecord) and record.what == "none"


def _of_source(graph: Graph, wire: Wire) -> Advice | None:
    """Why what a wire brings is None; None where it may be something else."""
    node = graph.nodes.get(wire.source)
    if node is None or node.operator == GRADIENT:
        return None
    name = name_of(graph, (wire.source, wire.output)) or written(graph, wire.source) or title(graph, wire.source)
    if Effect.BACKWARD in effects(graph, node.id):
        return Advice(f"{name} is None: backward() gives nothing, it leaves the gradients in .grad.", (OWN_LINE,))
    if node.operator == GRAD_FN:
        owner = graph.wire_into(node.id, "self")
        leaf = source_name(graph, owner) if owner is not None else "the tensor"
        words = f"{leaf}.grad_fn is None: {leaf} is a leaf, or made of what requires no grad, so no function gave it."
        return Advice(words, (NO_LEAF,))
    if node.operator == WRITTEN and node.literals.get("value") == "None":
        return Advice(f"{name} is None: `{written(graph, node.id)}`.", (BIND,))
    if _gives_nothing(graph, node.id):
        return Advice(f"{name} gives None: its forward has no return.", (RETURN,))
    return None


def _gives_nothing(graph: Graph, call: ItemId) -> bool:
    """Whether it calls a definition of the program without results."""
    group = group_of(graph, call)
    return bool(group) and not definition_graph(graph, group).wires_to(DEFINITION_OUTPUTS)


def describe_emptied_gradient(node: ItemId, graph: Graph) -> str:
    """The statement that emptied a .grad between the backward and what reads it; "" where there is none."""
    read = next((wire.source for wire in graph.wires_to(node) if _is_grad(graph, wire.source)), None)
    owner = graph.wire_into(read, "self") if read is not None else None
    items = list(graph.order())
    if owner is None or node not in items:
        return ""
    before = [item for item in items[: items.index(node)] if item in graph.nodes]
    has_backward = any(Effect.BACKWARD in effects(graph, item) for item in before)
    for item in reversed(before if has_backward else []):
        if Effect.BACKWARD in effects(graph, item):
            return ""
        if not _empties(graph, item, owner):
            continue
        name = source_name(graph, owner)
        what = f"`{written(graph, item) or title(graph, item)}`"
        return f"{what} stands between the backward and what reads {name}.grad, which is None then."
    return ""


def _empties(graph: Graph, item: ItemId, owner: Wire) -> bool:
    """Whether a statement sets the .grad of a value to None, or those of an optimizer or a module."""
    node = graph.nodes[item]
    if node.operator in ZEROING:
        return True
    wire = graph.wire_into(item, "self")
    is_none = node.operator == SET_GRADIENT and node.literals.get("value") == "None"
    return is_none and wire is not None and (wire.source, wire.output) == (owner.source, owner.output)


def describe_computed_owner(node: ItemId, graph: Graph) -> str:
    """Why the .grad that a statement reads is None, where a loop binds its name anew: "w is no leaf: ..."; else ""."""
    maker = computed_owner(node, graph)
    if maker is None:
        return ""
    name, text = value_name(graph, maker), written(graph, maker) or title(graph, maker)
    return (
        f"{name} is no leaf: `{text}` computes a new tensor, and only leaves keep their gradient, so "
        f"{name}.grad is None."
    )


def computed_owner(node: ItemId, graph: Graph) -> ItemId | None:
    """What computed the owner of a .grad that a statement reads, where that owner is no leaf."""
    for wire in graph.wires_to(node):
        owner = graph.wire_into(wire.source, "self") if _is_grad(graph, wire.source) else None
        maker = (_maker_of(graph, owner) or _converted(graph, owner)) if owner is not None else None
        if maker is not None and graph.wires_to(maker):
            return maker
    return None


def _grad_owners(graph: Graph, node: ItemId) -> list[ItemId]:
    reads = [wire.source for wire in graph.wires_to(node) if _is_grad(graph, wire.source)]
    wires = [graph.wire_into(read, "self") for read in reads]
    return [wire.source for wire in wires if wire is not None]


def _is_grad(graph: Graph, item: ItemId) -> bool:
    return item in graph.nodes and graph.nodes[item].operator == GRADIENT


def _maker_of(graph: Graph, wire: Wire) -> ItemId | None:
    """What each turn leaves of a value that a loop carries."""
    block = graph.blocks.get(wire.source)
    if block is None or not 0 < wire.output <= len(block.carried):
        return None
    following = graph.wire_into(block.id, f"next.{block.carried[wire.output - 1]}")
    return following.source if following is not None and following.source in graph.nodes else None


def _converted(graph: Graph, wire: Wire) -> ItemId | None:
    """What a leaf without a name became in the statement that made it: ``torch.randn(3, requires_grad=True) * 0.1``."""
    made = [graph.nodes.get(one.source) for one in graph.wires_to(wire.source)] if wire.source in graph.nodes else []
    is_one = any(node is not None and node.literals.get("requires_grad") == "True" and not node.names for node in made)
    return wire.source if is_one else None
