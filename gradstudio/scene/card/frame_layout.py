"""The head of a block's frame, as it follows from the graph alone: its title as Python, its ports. No Qt."""

from msgspec.structs import replace

from gradstudio.graph.context_paths import context_path
from gradstudio.graph.model import Block, Graph, ItemId, Node
from gradstudio.graph.ports.item_ports import input_ports, shown_outputs
from gradstudio.graph.text.loop_targets import loop_target, target_text
from gradstudio.graph.text.while_heads import while_head
from gradstudio.scene.card.card_layout import (
    BADGE,
    BODY_EDGE,
    FIELD_HEIGHT,
    PADDING,
    ROW,
    CardLayout,
    Measure,
    has_field,
    input_row,
    output_rows,
)
from gradstudio.scene.geometry import FRAME_TITLE, Box

LARGEST = 1.35
"""From farther away letters are so much larger than what was measured."""


def frame_layout(graph: Graph, item: ItemId, measure: Measure) -> CardLayout:
    """The head of a block's frame: its title as Python, its ports in rows below."""
    block = graph.blocks[item]
    rows = [input_row(graph, port, item) for port in input_ports(graph, item)]
    if _condition(graph, block) is not None:
        rows = [replace(row, label="if") if row.path == "range.0" else row for row in rows]
    outputs = output_rows(shown_outputs(graph, item), item, always=True)
    left = [row for row in rows if not row.path.startswith("next.")]
    title = block_code(graph, block)
    label_width = max((measure(row.label, "label") for row in left), default=0.0)
    placed, y = [], FRAME_TITLE + BODY_EDGE
    for row in left:
        field = (
            Box(PADDING + label_width + 8, y + (ROW - FIELD_HEIGHT) / 2, 96.0, FIELD_HEIGHT) if has_field(row) else None
        )
        placed.append(replace(row, y=y + ROW / 2, field=field))
        y += ROW
    below = []
    for output in outputs:
        below.append(replace(output, x=PADDING + LARGEST * measure(output.label, "label") + 16, y=y + ROW / 2))
        y += ROW
    width = max(measure(title, "title") + 2 * PADDING + BADGE, label_width + 140.0)
    nexts = [row for row in rows if row.path.startswith("next.")]
    for number, row in enumerate(nexts):
        placed.append(replace(row, x=width, y=FRAME_TITLE + BODY_EDGE + ROW * (number + 0.5)))
    height = max(y, FRAME_TITLE + BODY_EDGE + ROW * len(nexts)) if rows or outputs else FRAME_TITLE
    return CardLayout(
        item=item, names="", title=title, category="", inputs=tuple(placed), outputs=tuple(below), width=width,
        height=height, muted=block.muted, is_block=True,
    )  # fmt: skip


def stretch_head(layout: CardLayout, width: float) -> CardLayout:
    """A block's head stretched to its frame: ports of the right edge move along."""
    inputs = tuple(replace(row, x=width) if row.path.startswith("next.") else row for row in layout.inputs)
    return replace(layout, inputs=inputs, width=width)


def block_code(graph: Graph, block: Block) -> str:
    """The first line of a block as Python has it."""
    match block.kind:
        case "no_grad" | "enable_grad":
            return f"with torch.{block.kind}():"
        case "inference_mode" | "detect_anomaly":
            return f"with {context_path(block.kind)}():"
        case "set_grad_enabled" | "set_detect_anomaly":
            return f"with {context_path(block.kind)}({_argument(graph, block, 'mode')}):"
        case "autocast":
            return f"with torch.autocast({block.literals.get('device_type', '…')}):"
        case "for" if block.endless:
            return f"{while_head(graph, block)}:"
        case "for" if (condition := _condition(graph, block)) is not None:
            return f"if {condition}:"
        case "for":
            target = loop_target(graph, block)
            bound = target_text(graph, target) if target is not None else block.variable or "_"
            return f"for {bound} in {_iterable(graph, block)}:"
        case "if":
            return f"if {_argument(graph, block, 'condition')}:"
        case _:
            return block.title or "group"


def _condition(graph: Graph, block: Block) -> str | None:
    """What decides on the one turn of ``for _ in range(bool(c))``, which is an `if`; None of other loops."""
    if block.kind != "for" or block.variable not in ("", "_") or block.lengths.get("range") != 1:
        return None
    wire = graph.wire_into(block.id, "range.0")
    made = graph.nodes.get(wire.source) if wire is not None else None
    return _decided_by(graph, made.id, "x") if made is not None and made.operator == "builtins.bool" else None


def _decided_by(graph: Graph, item: ItemId, port: str) -> str:
    """A condition in words: the name that it has, or what is said of that."""
    wire = graph.wire_into(item, port)
    source = graph.nodes.get(wire.source) if wire is not None else None
    if wire is None or source is None:
        return "…"
    if wire.output < len(source.names):
        return source.names[wire.output]
    return f"not {_decided_by(graph, source.id, 'a')}" if source.operator == "operator.not_" else "…"


def _iterable(graph: Graph, block: Block) -> str:
    if "range" in block.lengths:
        parts = (_argument(graph, block, f"range.{k}") for k in range(block.lengths["range"]))
        return f"range({', '.join(parts)})"
    if "range" in block.literals or (block.id, "range") in graph.wires:
        return f"range({_argument(graph, block, 'range')})"
    return _argument(graph, block, "over")


def _argument(graph: Graph, block: Block, port: str) -> str:
    wire = graph.wire_into(block.id, port)
    if wire is None:
        return block.literals.get(port, "…")
    source: Node | None = graph.nodes.get(wire.source)
    return source.names[wire.output] if source is not None and wire.output < len(source.names) else "…"
