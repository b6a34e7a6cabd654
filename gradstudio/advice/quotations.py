"""Statements and values as a person calls them: what stands in the script for an item, and names of what flows."""

from gradstudio.graph.model import DEFINITION_INPUTS, Graph, ItemId, Wire
from gradstudio.graph.text.item_titles import title
from gradstudio.graph.text.name_bindings import binding_of, name_of
from gradstudio.program.write import write


def written(graph: Graph, item: ItemId) -> str:
    """The text of an item in the script, of several lines the first; "" where it is not printed."""
    script = write(graph)
    span = next((one for one in script.spans if one.node == item), None)
    if span is None:
        return ""
    line = script.code.split("\n")[span.line - 1]
    return line[span.column : span.end_column] if span.line == span.end_line else line[span.column :].strip()


def source_name(graph: Graph, wire: Wire) -> str:
    """How a person calls what a wire brings: an input of a definition, or one of several names, by its own name."""
    inputs = graph.edges.inputs if graph.edges is not None and wire.source == DEFINITION_INPUTS else ()
    if wire.output < len(inputs):
        return inputs[wire.output]
    node = graph.nodes.get(wire.source)
    is_one_of_several = node is not None and len(node.names) > 1
    own = name_of(graph, (wire.source, wire.output)) if is_one_of_several else ""
    return own if own.strip("_") else title(graph, wire.source)


def value_name(graph: Graph, item: ItemId) -> str:
    """The name a value is known by: an in-place statement's is that of what it writes into."""
    from_here, output = binding_of(graph, item, 0)
    return name_of(graph, (from_here, output)) or title(graph, item)
