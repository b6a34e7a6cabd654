"""What the canvas says of a module's leaves and of its switch. No Qt."""

from html import escape

from gradstudio.graph.model import ItemId
from gradstudio.graph.names import title
from gradstudio.protocol.records import Summary
from gradstudio.ui.canvas import formatting
from gradstudio.ui.canvas.board import Board
from gradstudio.ui.canvas.leaves import leaves_of


def leaf_text(board: Board, item: ItemId, path: str) -> str:
    """A parameter or a buffer in full: shape, values, gradient and why there is none."""
    module = board.joining.modules.get(item, item)
    leaf = next((one for one in leaves_of(board.results, module) or () if one.path == path), None)
    if leaf is None:
        return ""
    kind = "buffer" if leaf.buffer else "parameter" if leaf.requires_grad else "parameter, frozen"
    shape = escape(f"{formatting.bare_dtype(leaf.dtype)}{formatting.shape(leaf.shape)}")
    lines = [f"<b>{escape(title(board.graph, module))}.{escape(path)}</b> ({kind})", f"<code>{shape}</code>"]
    lines.append(
        _numbers(leaf.summary) if leaf.summary is not None else "<i>expected; its values are there after a run</i>"
    )
    if not leaf.buffer and leaf.summary is not None:
        lines.append(escape(f"∇ {leaf.reason}"))
        lines.append(f"∇ {_numbers(leaf.grad)}" if leaf.grad is not None else "")
    return "<br>".join(line for line in lines if line)


def mode_text(board: Board, item: ItemId) -> str:
    """The switch between training and evaluation, and what a click writes."""
    face = board.face(item)
    if face is None or face.module is None:
        return ""
    name = escape(title(board.graph, face.module))
    if face.mode == "train":
        return f"<b>{name}</b> is in training mode. Click to write <code>{name}.eval()</code> behind it."
    return f"<b>{name}</b> is in evaluation mode. Click to train: <code>{name}.eval()</code> is taken away."


def _numbers(summary: Summary) -> str:
    if summary.shape == () and summary.value is not None:
        return f"<b>{escape(formatting.number(summary.value))}</b>"
    if summary.minimum is None:
        return escape(formatting.oddities(summary))
    parts = [f"min {formatting.number(summary.minimum)}", f"max {formatting.number(summary.maximum)}"]
    if summary.mean is not None:
        parts.append(f"mean {formatting.number(summary.mean)}")
    return escape("  ".join(parts))
