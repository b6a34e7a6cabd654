"""Rows of a card's context menu: how it is worn, whether it takes part, out of its wires."""

from collections.abc import Iterator
from functools import partial

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.charts import CHARTS, ConfusionDrawn
from gradstudio.ui.canvas.menus.menu_canvas import MenuCanvas
from gradstudio.ui.canvas.menus.menu_rows import AnyRow, Below, Row


def part_rows(canvas: MenuCanvas, item: ItemId) -> Iterator[Row]:
    """Muting, bypassing, collapsing."""
    graph = canvas.scene.graph
    node, block = graph.nodes.get(item), graph.blocks.get(item)
    holder = node or block
    if holder is not None:
        yield f"{'Unmute' if holder.muted else 'Mute'}\tgraph.mute", canvas.card_arrangement.toggle_muted
    if node is not None:
        yield f"{'Compute again' if node.bypassed else 'Bypass'}\tgraph.bypass", canvas.card_arrangement.toggle_bypassed
    yield (
        f"{'Expand' if canvas.card_arrangement.is_worn('collapsed') else 'Collapse'}\tedit.collapsed",
        canvas.card_arrangement.toggle_collapsed,
    )


def display_rows(canvas: MenuCanvas) -> Iterator[AnyRow]:
    """Hiding ports, pinning, charts."""
    yield (
        f"{'Show' if canvas.card_arrangement.is_worn('tucked') else 'Hide'} unused ports\tedit.tucked",
        canvas.card_arrangement.toggle_tucked,
    )
    yield (
        f"{'Unpin' if canvas.card_arrangement.is_worn('pinned') else 'Pin'}\tedit.pinned",
        canvas.card_arrangement.toggle_pinned,
    )
    yield Below("Chart", _chart_rows(canvas))


def _chart_rows(canvas: MenuCanvas) -> Iterator[Row]:
    """Charts of what is learnt, one a card."""
    current = canvas.attention.current
    drawn = canvas.scene.results.chart(current) if current is not None else None
    if isinstance(drawn, ConfusionDrawn):
        yield "Copy counts as a table", partial(canvas.clipboard_commands.copy_counts, drawn)
    for kind, words in CHARTS.items():
        shown = canvas.card_arrangement.shows_chart(kind)
        text = f"Hide {words[0].lower()}{words[1:]}" if shown else words
        yield f"{text}\tedit.chart_{kind}", partial(canvas.card_arrangement.toggle_chart, kind)
