"""What the canvas says of a module's leaves and of its switch. No Qt."""

from html import escape

from gradstudio.graph.model import ItemId
from gradstudio.graph.text.item_titles import title
from gradstudio.protocol.messages.records import Summary
from gradstudio.scene import value_format
from gradstudio.scene.card.parameter_rows import parameter_rows
from gradstudio.scene.scene import Scene


def leaf_text(scene: Scene, item: ItemId, path: str) -> str:
    """A parameter or a buffer in full: shape, values, gradient and why there is none."""
    module = scene.state.card_groups.modules.get(item, item)
    leaf = next((one for one in parameter_rows(scene.results, module) or () if one.path == path), None)
    if leaf is None:
        return ""
    if leaf.buffer:
        kind = "buffer"
    elif leaf.requires_grad:
        kind = "parameter"
    else:
        kind = "parameter, frozen"
    shape = escape(f"{value_format.bare_dtype(leaf.dtype)}{value_format.shape(leaf.shape)}")
    lines = [f"<b>{escape(title(scene.graph, module))}.{escape(path)}</b> ({kind})", f"<code>{shape}</code>"]
    lines.append(
        _numbers(leaf.summary) if leaf.summary is not None else "<i>expected; its values are there after a run</i>"
    )
    if not leaf.buffer and leaf.summary is not None:
        lines.append(escape(f"∇ {leaf.reason}"))
        lines.append(f"∇ {_numbers(leaf.grad)}" if leaf.grad is not None else "")
    return "<br>".join(line for line in lines if line)


def mode_text(scene: Scene, item: ItemId) -> str:
    """The switch between training and evaluation, and what a click writes."""
    layout = scene.placement.layout(item)
    if layout is None or layout.module is None:
        return ""
    name = escape(title(scene.graph, layout.module))
    if layout.mode == "train":
        return f"<b>{name}</b> is in training mode. Click to write <code>{name}.eval()</code> behind it."
    return f"<b>{name}</b> is in evaluation mode. Click to train: <code>{name}.eval()</code> is taken away."


def _numbers(summary: Summary) -> str:
    return "<br>".join(filter(None, (_figures(summary), escape(value_format.ranks_text(summary)))))


def _figures(summary: Summary) -> str:
    one = value_format.single(summary)
    if one is not None:
        return f"<b>{escape(value_format.number(one))}</b>"
    if summary.minimum is None:
        return escape(value_format.oddities(summary))
    parts = [f"min {value_format.number(summary.minimum)}", f"max {value_format.number(summary.maximum)}"]
    if summary.mean is not None:
        parts.append(f"mean {value_format.number(summary.mean)}")
    return escape("  ".join(parts))
