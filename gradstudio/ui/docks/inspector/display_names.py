"""What the inspector calls things: nodes, ports, values in a line. No widgets."""

from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.ports.item_ports import input_ports, output_ports
from gradstudio.graph.text.item_titles import title
from gradstudio.protocol.messages.records import Summary
from gradstudio.scene import value_format

WRITTEN_OUT = 3
"""A vector of at most so many elements is written as numbers in a line; larger ones are a strip and a norm."""


def name_of(graph: Graph, item: ItemId, output: int = 0, path: str = "") -> str:
    """The variable of a result, else what its card's head shows; "fc.weight" for a parameter; "" when it is gone."""
    if item not in graph:
        return ""
    if item in graph.blocks:
        return title(graph, item)
    outputs = output_ports(graph, item)
    name = outputs[output].name if output < len(outputs) else ""
    name = name or title(graph, item)
    if not path:
        return name
    return f"{name}[{path}]" if path.isdigit() else f"{name}.{path}"


def port_name(graph: Graph, item: ItemId, path: str) -> str:
    """How a port is labelled on the card."""
    if item not in graph:
        return path
    return next((port.label for port in input_ports(graph, item) if port.path == path), path)


def is_written_out(summary: Summary) -> bool:
    """Whether the numbers themselves fit into a line."""
    return summary.value is not None and (
        summary.shape == () or (len(summary.shape) == 1 and 0 < summary.shape[0] <= WRITTEN_OUT)
    )


def in_a_line(summary: Summary | None, *, grad: bool) -> str:
    """``0.5``, ``[1, 2, 3]``, else what is not finite, else the norm; "nothing" for None.

    The norm is written as on the canvas: ``‖∇‖ 1.41`` of a gradient, ``‖·‖ 1.41`` of a value.
    """
    if summary is None:
        return "nothing"
    if is_written_out(summary):
        cells = ", ".join(value_format.cells(summary, WRITTEN_OUT)[0])
        return cells if summary.shape == () else f"[{cells}]"
    one = value_format.single(summary)
    if one is not None:
        return value_format.number(one)
    if oddities := value_format.oddities(summary):
        return oddities
    norm = value_format.norm(summary)
    if not norm:
        return value_format.shape(summary.shape)
    return f"‖∇‖ {norm}" if grad else f"‖·‖ {norm}"


def turn_words(turns: tuple[int, ...]) -> str:
    """``turn 3``; of a loop within a loop ``turn 3 in 1``: the inner one first, from 1, as on canvas and timeline."""
    return "turn " + " in ".join(str(turn + 1) for turn in reversed(turns)) if turns else ""


def milliseconds(seconds: float) -> str:
    """``0.012 ms``, ``1.20 s``."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.3f} ms"
