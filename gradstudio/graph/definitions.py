"""Definitions of groups: whether one can be called."""

from gradstudio.graph.arguments import GROUP
from gradstudio.graph.checks import names_reason
from gradstudio.graph.model import Graph


def definition_reason(graph: Graph, operator_key: str) -> str | None:
    """Why a definition cannot be called; None when it can."""
    name = operator_key.removeprefix(GROUP)
    definition = graph.definitions.get(name)
    if definition is None:
        return f"there is no group '{name[:60]}'"
    if _recursive(graph, operator_key):
        return "the group calls itself"
    if definition.name != name or name == "_":
        return "the group has another name"
    return names_reason((name, *definition.inputs)) or names_reason(definition.outputs)


def _recursive(graph: Graph, operator_key: str) -> bool:
    """Whether a definition calls itself, directly or through others."""
    start = operator_key.removeprefix(GROUP)
    seen: set[str] = set()
    stack = [start]
    while stack:
        definition = graph.definitions.get(stack.pop())
        for node in definition.graph.nodes.values() if definition is not None else ():
            name = node.operator.removeprefix(GROUP)
            if name == start and node.operator != name:
                return True
            if node.operator != name and name not in seen:
                seen.add(name)
                stack.append(name)
    return False
