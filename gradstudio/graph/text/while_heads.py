"""What an endless loop goes by: ``while i < n:`` is one whose first code ends it, ``while True:`` any other.

``while c:`` is ``while True:`` with ``if not (c): break`` ahead of all else. That is a statement of the body, of code,
and printed as the head where it stands there in just these words.
"""

import ast
from collections.abc import Callable
from functools import lru_cache

from gradstudio.graph.model import Block, BodyId, Graph, ItemId
from gradstudio.graph.text.code_records import code_of, is_code

ALWAYS = "True"
_IF_NOT, _BREAK = "if not (", "):\n    break"
IsLive = Callable[[ItemId], bool]


def code_of_condition(condition: str) -> str:
    """The code that ends a loop unless a condition holds, which stands in its head."""
    return f"{_IF_NOT}{condition}{_BREAK}"


@lru_cache(maxsize=512)
def condition_in(code: str) -> str:
    """The condition of such a code; "" of any other, and where it has more than a line."""
    if not (code.startswith(_IF_NOT) and code.endswith(_BREAK)):
        return ""
    condition = code[len(_IF_NOT) : -len(_BREAK)]
    return "" if "\n" in condition or "#" in condition or not _is_expression(condition) else condition


def condition_node(graph: Graph, block: Block, is_live: IsLive | None = None) -> ItemId | None:
    """The first statement of an endless loop, where the head says it; None where it is `while True:`.

    Args:
        graph: the program.
        block: any block of it.
        is_live: whether an item is printed; all are, unless it says otherwise.
    """
    if not block.endless:
        return None
    items = (item for item in graph.bodies[BodyId(block.id)] if is_live is None or is_live(item))
    node = graph.nodes.get(next(items, block.id))
    if node is None or not is_code(node) or node.bypassed or node.muted or node.note or node.beside:
        return None
    return node.id if condition_in(code_of(node)) else None


def while_head(graph: Graph, block: Block) -> str:
    """The head of an endless loop without its colon: ``while i < n``."""
    item = condition_node(graph, block)
    return f"while {condition_in(code_of(graph.nodes[item])) if item is not None else ALWAYS}"


def _is_expression(text: str) -> bool:
    try:
        ast.parse(f"({text})", mode="eval")
        statement = ast.parse(f"while {text}: pass").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return len(statement) == 1 and isinstance(statement[0], ast.While)
