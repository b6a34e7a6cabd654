"""How an item is called, on its card and in every panel: its name, else what it writes into or calls: ``w -=``."""

from typing import Final

from gradstudio.graph.card_grouping import CALL, CALLED
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import DEFINITION_INPUTS, DEFINITION_OUTPUTS, Graph, ItemId, Wire
from gradstudio.graph.names import block_title, names_of, node_title, operator_title
from gradstudio.graph.ports.item_ports import operator_of
from gradstudio.graph.text.allowed_calls import spelled_path
from gradstudio.graph.text.code_records import FREE_METHOD, FREE_PATH
from gradstudio.graph.text.conditionals import read_conditional
from gradstudio.graph.text.loop_targets import loop_target, target_text
from gradstudio.graph.text.record_checks import attribute_of
from gradstudio.graph.text.while_heads import while_head
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Face, Operator

WRITING: Final = frozenset({Face.AUGMENTED, Face.SET_ITEM, Face.SET_ATTRIBUTE})
_DISPLAYS: Final = {"{": "dict", "[": "list", "(": "tuple"}
MOST_STEPS: Final = 64
"""From one version of a value back to the next, until a name is found."""
MOST_LETTERS: Final = 20
MOST_INDEX: Final = 14
CALL_END: Final = "(…)"
ELSEWHERE_NAMED: Final = ("=", CALL_END)
"""How titles end that say a name which another node binds."""


TITLED: Final = WRITING | {Face.CHOICE, Face.ALIAS}
TITLED_KEYS: Final = frozenset({CALL, FREE_METHOD, FREE_PATH})
"""What has a title of its own beside the operator's."""
EDGES = {DEFINITION_INPUTS: "inputs", DEFINITION_OUTPUTS: "outputs"}
"""What the edges of a definition's inside are called."""


def title(graph: Graph, item: ItemId) -> str:
    """How a person calls the item: what the head of its card shows, the same words in every panel."""
    if (node := graph.nodes.get(item)) is not None:
        row = load().get(node.operator)
        if row is None or (row.face not in TITLED and row.key not in TITLED_KEYS) or any(n != "_" for n in node.names):
            return node_title(node)
        return title_with_target(graph, item, row)
    if item in EDGES:
        return EDGES[item]
    block = graph.blocks.get(item)
    if block is not None and block.endless:
        return while_head(graph, block)
    if block is not None and (target := loop_target(graph, block)) is not None:
        return f"for {target_text(graph, target)}"
    return block_title(block) if block is not None else str(item)


def title_with_target(graph: Graph, item: ItemId, operator: Operator) -> str:
    """The title of a node's card: with what it writes into, where that has a name; else the operator's.

    A method of what code made has its own name, a display its kind: what it chooses between is nothing; a call of a
    module that has a card of its own says which it calls, and a name that stands alone in a line is its title.
    """
    if operator.key == FREE_METHOD:
        return f".{attribute_of(graph.nodes[item])}( )"
    if operator.key == FREE_PATH:
        return f"{spelled_path(attribute_of(graph.nodes[item]))[0]}( )"
    if operator.key == CALL:
        return _called(graph, item) or operator.title
    if operator.face is Face.CHOICE:
        return _display(graph.nodes[item].literals.get(operator.parameters[0].name, "")) or operator.title
    is_alone = operator.face is Face.ALIAS
    if not (is_alone or operator.face in WRITING) or any(name != "_" for name in graph.nodes[item].names):
        return operator_title(graph.nodes[item], operator)
    target = _source_text(graph, item, operator, MOST_STEPS)
    if is_alone or not target:
        return target or operator_title(graph.nodes[item], operator)
    if operator.face is Face.SET_ITEM:
        return f"{target}{_index(graph, item)} ="
    between = "" if operator.face is Face.SET_ATTRIBUTE else " "
    return f"{target}{between}{operator_title(graph.nodes[item], operator)}"


def _called(graph: Graph, item: ItemId) -> str:
    """``net(…)``; "" where the module has no name."""
    wire = graph.wire_into(item, CALLED)
    name = _bound_name(graph, wire) if wire is not None else ""
    return f"{name}{CALL_END}" if name else ""


def _bound_name(graph: Graph, wire: Wire) -> str:
    """The name of what comes along a wire; "" where it has none."""
    names = names_of(graph, wire.source)
    name = names[wire.output] if wire.output < len(names) else "_"
    return "" if name == "_" else _short(name)


def _short(name: str) -> str:
    return name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 1]}…"


def _display(template: str) -> str:
    """What a display makes: a dict, a list, a tuple; "" where an expression chooses."""
    try:
        found = read_conditional(template)
    except Refused:
        return ""
    return _DISPLAYS.get(found.text[:1], "") if found.is_display else ""


def _source_text(graph: Graph, item: ItemId, operator: Operator, steps: int) -> str:
    """The first operand as text: a name, an element or an attribute of one; "" where none is found."""
    parameters = operator.parameters
    wire = graph.wire_into(item, parameters[0].name) if parameters else None
    if wire is None or not steps:
        return ""
    if name := _bound_name(graph, wire):
        return name
    source = graph.nodes.get(wire.source)
    made_by = operator_of(graph, wire.source)
    if source is None or made_by is None:
        return ""
    before = _source_text(graph, source.id, made_by, steps - 1)
    if made_by.face in WRITING or made_by.writes:
        return before
    if before and made_by.face is Face.ITEM:
        return before + _index(graph, source.id)
    return before + operator_title(source, made_by) if before and made_by.face is Face.ATTRIBUTE else ""


def _index(graph: Graph, item: ItemId) -> str:
    """What stands between the brackets; a dot for what a wire brings."""
    node = graph.nodes[item]
    parts: list[str] = []
    count = node.lengths.get("index")
    while (path := f"index.{len(parts)}") in node.literals or (count is not None and len(parts) < count):
        parts.append(node.literals.get(path, "·"))
    text = ", ".join(parts) or node.literals.get("index", "…")
    return f"[{text if len(text) <= MOST_INDEX else '…'}]"
