"""Why there is no way back from the root of a backward: what cuts the chain, what learns too late, what was frozen."""

import re
from collections.abc import Iterator
from typing import Literal as OneOf
from typing import NamedTuple

from gradstudio.advice.quotations import source_name, written
from gradstudio.graph import recipes
from gradstudio.graph.analysis.program_analysis import may_require_grad
from gradstudio.graph.edits import apply_all
from gradstudio.graph.groups.definitions import definition_graph, group_of
from gradstudio.graph.model import DEFINITION_OUTPUTS, BodyId, Graph, ItemId, Wire
from gradstudio.graph.text.item_titles import title
from gradstudio.program.write import write

CUTS_CHAIN = "cuts the chain"
NO_WAY_BACK = "requires grad, so there is no way back."
FREEZES = re.compile(r"[\w.]+\.requires_grad(?:_\(False\)| = False)")
ROOTS = ("self", "tensors", "outputs")
LOOPS = frozenset({"for", "while"})
NO_GRADS = frozenset({"no_grad", "inference_mode"})
GRAD_MODE = "torch.set_grad_enabled"
SWITCH, SET_SWITCH = "torch.Tensor.requires_grad_", "torch.Tensor.requires_grad="


class Cut(NamedTuple):
    """What keeps a root from requiring grad.

    Attributes:
        item: the statement where it happens.
        block: the kind of the block around it that does it; "" where it does it itself.
        leaf: of "late", what learns only behind the item's use.
    """

    why: OneOf["cut", "hidden", "late", "frozen"]
    item: ItemId
    block: str = ""
    leaf: str = ""


def find_cut(node: ItemId, graph: Graph) -> Cut | None:
    """Where the way back from a backward's root ends; None where nothing is known to cut it."""
    wire = root_wire(node, graph)
    if wire is None:
        return None
    above = made_from(graph, wire)
    found = _late_leaf(graph, set(above)) or _nearest_cut(graph, above)
    return found or _under_no_grad(graph, wire, set(above)) or _frozen(graph, node)


def root_wire(node: ItemId, graph: Graph) -> Wire | None:
    """What a backward begins from."""
    return next((w for w in graph.wires_to(node) if w.port.partition(".")[0] in ROOTS), None)


def describe_cut(node: ItemId, graph: Graph) -> str:
    """Where the way back from a backward's root ends: "d = y.detach() cuts the chain, ..."; "" when it is not known."""
    wire = root_wire(node, graph)
    if wire is None:
        return ""
    root, cut = source_name(graph, wire), find_cut(node, graph)
    if cut is None:
        inside = cut_inside(node, graph)
        if inside:
            return f"{root} has no way back: {inside}"
        return f"Nothing that {root} was computed from {NO_WAY_BACK}"
    what = f"`{written(graph, cut.item) or title(graph, cut.item)}`"
    match cut.why:
        case "late":
            return (
                f"{root} has no way back: {what} lets {cut.leaf} require grad only behind what was computed from it. "
                f"What is computed notes at that moment what requires grad."
            )
        case "frozen":
            return (
                f"{root} has no way back: {what} froze all that it was computed from. "
                "Parameters that do not require grad learn nothing."
            )
        case "hidden":
            why = f"Nothing that is computed under {cut.block} requires grad, whatever goes into it."
        case "cut":
            why = f"What {title(graph, cut.item)} gives does not require grad, though what goes into it does."
    under = f" under {cut.block}" if cut.block else ""
    return f"{root} has no way back: {what}{under} {CUTS_CHAIN}. {why}"


def describe_freezing(graph: Graph) -> str:
    """The first statement of a program, in whatever function or code, that freezes something; "" where none does."""
    found = FREEZES.search(write(graph).code)
    if found is None:
        return ""
    return (
        f"`{found[0]}` freezes parameters: where they are those of the model itself, nothing is left that learns. "
        "Freeze a copy (copy.deepcopy) where another model is meant."
    )


def cut_inside(node: ItemId, graph: Graph) -> str:
    """What a call has inside that cuts: a block that its result comes out of, else a switch that stays off."""
    wire = root_wire(node, graph)
    above = made_from(graph, wire) if wire is not None else []
    for item in (one for one in above if one in graph.nodes):
        name = group_of(graph, item)
        inner = definition_graph(graph, name) if name in graph.definitions else None
        out = inner.wire_into(DEFINITION_OUTPUTS, "0") if inner is not None else None
        if inner is None or out is None:
            continue
        made = (one for one in made_from(inner, out) if one in inner.nodes)
        cut = next((one for one in made if _no_grad_around(inner, one)), None)
        if cut is not None:
            kind = _no_grad_around(inner, cut)
            return (
                f"{name} computes what it gives under {kind}. Nothing that is computed under {kind} requires grad, "
                "whatever goes into it."
            )
    return _switched_off(node, graph)


def _switched_off(node: ItemId, graph: Graph) -> str:
    """A call of set_grad_enabled in front of a backward, or in a turn before it, that no other one takes back."""
    switches = list[tuple[str, str]]()
    for item in _run_before(graph, node):
        name = group_of(graph, item)
        is_call = name in graph.definitions
        inside = definition_graph(graph, name).nodes.values() if is_call else [graph.nodes.get(item)]
        found = [one for one in inside if one is not None and one.operator == GRAD_MODE and not one.muted]
        switches += [(name if is_call else "", one.literals.get("mode", "")) for one in found]
    if not switches or any(mode != "False" for _, mode in switches):
        return ""
    where = f" in {switches[0][0]}" if switches[0][0] else ""
    return (
        f"set_grad_enabled(False){where} switches gradients off for all that follows, and nothing switches them on "
        "again. Write `with torch.no_grad():` around what needs none: it ends with its block."
    )


def _run_before(graph: Graph, node: ItemId) -> Iterator[ItemId]:
    """The statements in front of another one, and those in a loop around both; none of what is not in the graph."""
    if node not in graph:
        return
    loops = {body for body in graph.ancestors(node) if _kind(graph, body) in LOOPS}
    own = graph.numbers()[node]
    for place, item in enumerate(graph.order()):
        if place < own or (loops and not loops.isdisjoint(graph.ancestors(item))):
            yield item


def _kind(graph: Graph, body: BodyId) -> str:
    """Of which kind the block is whose body that is; "" of the program's."""
    block = graph.blocks.get(ItemId(body))
    return block.kind if block is not None else ""


def _no_grad_around(graph: Graph, item: ItemId) -> str:
    kinds = (_kind(graph, body) for body in graph.ancestors(item))
    return next((kind for kind in kinds if kind in NO_GRADS), "")


def made_from(graph: Graph, wire: Wire) -> list[ItemId]:
    """What a wire comes from and all that it was made from, the nearest first; of a loop only what its output is of."""
    found = {(wire.source, wire.output): None}
    queue = list(found)
    while queue:
        item, output = queue.pop(0)
        sources = [(one.source, one.output) for one in graph.wires_to(item) if _feeds(graph, one, output)]
        queue += [source for source in dict.fromkeys(sources) if source not in found]
        found.update(dict.fromkeys(sources))
    return list(dict.fromkeys(item for item, _ in found))


def _feeds(graph: Graph, wire: Wire, output: int) -> bool:
    """Whether an output of a wire's target is made of it: a loop carries each name by itself."""
    block = graph.blocks.get(wire.target)
    end, _, name = wire.port.partition(".")
    if block is None or end not in ("first", "next"):
        return block is None or output == 0
    return 0 < output <= len(block.carried) and block.carried[output - 1] == name


def _nearest_cut(graph: Graph, above: list[ItemId]) -> Cut | None:
    """What may not require grad, though what goes into it may."""
    may = may_require_grad(graph)
    learning = {item for item, _ in may}
    for item in above:
        if item in learning or not any((w.source, w.output) in may for w in graph.wires_to(item)):
            continue
        return Cut("cut", item, _no_grad_around(graph, item))
    return None


def _late_leaf(graph: Graph, above: set[ItemId]) -> Cut | None:
    """A leaf that is let require grad behind what the root was computed by."""
    numbers = graph.numbers()
    for item in graph.order():
        wire = graph.wire_into(item, "self") if _switches(graph, item, "True") else None
        if wire is None or wire.source not in above:
            continue
        users = [w.target for w in graph.wires_from(wire.source) if w.target in above and w.target in graph.nodes]
        if users and all(numbers[user] < numbers[item] for user in users):
            return Cut("late", item, leaf=source_name(graph, wire))
    return None


def _frozen(graph: Graph, backward: ItemId) -> Cut | None:
    """The last statement in front of a backward that freezes something."""
    order = list(graph.order())
    before = order[: order.index(backward)] if backward in order else []
    found = next((item for item in reversed(before) if _switches(graph, item, "False")), None)
    return Cut("frozen", found) if found is not None else None


def _switches(graph: Graph, item: ItemId, text: str) -> bool:
    """Whether a statement sets requires_grad to True, or to False."""
    node = graph.nodes.get(item)
    if node is None or node.muted or node.operator not in (SWITCH, SET_SWITCH):
        return False
    port = "requires_grad" if node.operator == SWITCH else "value"
    return node.literals.get(port, "True") == text and graph.wire_into(item, port) is None


def _under_no_grad(graph: Graph, wire: Wire, above: set[ItemId]) -> Cut | None:
    """The last of what a root is made of that stands under a block without which it may require grad."""
    order = [item for item in graph.order() if item in above and item in graph.nodes]
    for item in reversed(order):
        for body in graph.ancestors(item):
            block = graph.blocks.get(ItemId(body))
            if block is None or block.kind not in NO_GRADS:
                continue
            draft = graph.copy()
            apply_all(draft, recipes.unwrap(graph, block.id))
            if (wire.source, wire.output) in may_require_grad(draft):
                return Cut("hidden", item, block.kind)
    return None
