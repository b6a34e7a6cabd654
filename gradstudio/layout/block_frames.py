"""How much room the frame of a block takes around what it holds, as far as can be known without a canvas."""

from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.ports.item_ports import input_ports, shown_outputs

SIDE = 30.0
BOTTOM = 26.0
TITLE = 36.0
ROW = 22.0
GAP = 18.0
"""Between the frame's ports and what it holds."""
CHARACTER = 7.0
PORT_ROOM = 64.0
"""Beside the name of what the block gives to its statements, for its port and a wire from there."""
TITLE_ROOM = 120.0
TITLE_CHARACTERS = 24
EMPTY: tuple[float, float] = (240.0, 110.0)
Edges = tuple[float, float, float, float]


def frame_edges(graph: Graph, block: ItemId) -> Edges:
    """Pixels left of, above, right of and below what a block holds."""
    outputs, rows = shown_outputs(graph, block), len(_shown(graph, block))
    left = max((PORT_ROOM + CHARACTER * len(output.name) for output in outputs), default=SIDE)
    return max(left, SIDE), TITLE + ROW * (rows + len(outputs)) + GAP, SIDE, BOTTOM


def frame_width(graph: Graph, block: ItemId) -> float:
    """The least width of a block's frame: its title's."""
    record = graph.blocks[block]
    characters = max(len(record.title), TITLE_CHARACTERS + len(record.variable))
    return TITLE_ROOM + CHARACTER * characters if record.kind != "if" else EMPTY[0]


def frame_ports(graph: Graph, block: ItemId) -> tuple[dict[str, float], dict[int, float]]:
    """How far below the top of the frame each input and each output stands, pixels."""
    shown = _shown(graph, block)
    inputs = {path: TITLE + ROW * (k + 0.5) for k, path in enumerate(shown)}
    outputs = {port.index: TITLE + ROW * (len(shown) + k + 0.5) for k, port in enumerate(shown_outputs(graph, block))}
    return inputs, outputs


def _shown(graph: Graph, block: ItemId) -> list[str]:
    """The inputs at the left edge."""
    return [port.path for port in input_ports(graph, block) if not port.path.startswith("next.")]
