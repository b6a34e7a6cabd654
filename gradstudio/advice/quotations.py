"""Statements and values as a person calls them: what stands in the script for an item, and names of what flows."""

from gradstudio.graph.model import Graph, ItemId, Wire
from gradstudio.graph.text.item_titles import title
from gradstudio.graph.text.name_bindings import binding_of, name_of
from gradstudio.graph.text.statements import SELF
from gradstudio.program.write import write


def written(graph: Graph, item: ItemId) -> str:
    """The text of an item in the script, of several lines the first; "" where it is not printed."""
    script = write(graph)
    span = next((one for one in script.spans if one.node == item), None)
    if span is None:
        return ""
    line = script.code.split("\n")[span.line - 1]
    return line[span.column : span.end_column] if span.line == span.end_line else line[span.column :].strip()


def own_name(graph: Graph, item: ItemId, output: int) -> str:
    """The name that one output binds, of a loop what it carries or counts by; "" where it has none."""
    block = graph.blocks.get(item)
    if block is not None and output > len(block.carried):
        return ""
    name = name_of(graph, (item, output)).removeprefix(SELF)
    return name if name.strip("_") else ""


def source_name(graph: Graph, wire: Wire) -> str:
    """How a person calls what a wire brings: by the name that it has of its own, else what gives it."""
    return own_name(graph, wire.source, wire.output) or title(graph, wire.source)


def value_name(graph: Graph, item: ItemId) -> str:
    """The name a value is known by: an in-place statement's is that of what it writes into."""
    from_here, output = binding_of(graph, item, 0)
    return name_of(graph, (from_here, output)) or title(graph, item)
