"""A sketch as an SVG text, light, dark, or as the reader's system is. No Qt."""

from typing import Final, NamedTuple
from typing import Literal as OneOf

from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.protocol.sketch import CallPath, Sketch, SketchGroup, SketchNode
from gradstudio.scene import value_format
from gradstudio.scene.figure import figure_style as style
from gradstudio.scene.figure.drawing import Curve, Drawing, Formula, Frame, Mark, Words, upright
from gradstudio.scene.figure.figure_numbers import gradient_formula, value_formula
from gradstudio.scene.figure.figure_style import FigureStyle, figure_style
from gradstudio.scene.figure.font_widths import formula_width
from gradstudio.scene.figure.svg_writer import svg_element
from gradstudio.scene.geometry import Box
from gradstudio.scene.sketch.sketch_layout import SketchLayout, lay_out

Theme = OneOf["auto", "light", "dark"]
CLASS: Final = "gradstudio-sketch"
NARROWEST: Final = 60.0
MOST_OUTPUTS: Final = 3


class Line(NamedTuple):
    """One line of a box."""

    formula: Formula
    size: float
    role: str


def sketch_svg(sketch: Sketch, theme: Theme = "auto", title: str = "") -> str:
    """The picture as an `svg` element."""
    drawing = sketch_drawing(sketch)
    light, dark = figure_style("paper"), figure_style("night")
    size = f'class="{CLASS}" width="{drawing.width:.0f}pt" height="{drawing.height:.0f}pt"'
    if theme != "auto":
        chosen = dark if theme == "dark" else light
        return svg_element(drawing, chosen, chosen.ink, title, size)
    inks = _distinct_inks(light, dark)
    head, _, rest = svg_element(drawing, light, inks.__getitem__, title, size).partition(">\n")
    return f"{head}>\n{_dark_rules(inks, dark)}\n{rest}"


def sketch_drawing(sketch: Sketch) -> Drawing:
    """Its marks: the ground, frames, wires, boxes, and what is left out in words below."""
    lines = [node_lines(node) for node in sketch.nodes]
    titles = {group.path: upright(_title(group)) for group in sketch.groups}
    widths = {path: formula_width(title, style.SMALL) for path, title in titles.items()}
    layout = lay_out(sketch, [_size(each) for each in lines], widths)
    notes = [upright(note) for note in sketch.notes]
    width = max([layout.width, *(formula_width(note, style.SMALL) + 2 * style.MARGIN for note in notes)])
    height = layout.height + len(notes) * style.LINE_HEIGHT
    marks: list[Mark] = [Frame(Box(0, 0, width, height), 0, "", "ground", 0)]
    marks += _frames(layout, titles)
    for wire in layout.wires:
        dashed = not wire.edge.is_held
        marks.append(Curve(wire.start, wire.segments, "frame" if dashed else "wire", style.LINE, is_dashed=dashed))
    for number, node in enumerate(sketch.nodes):
        marks += _box_marks(node, lines[number], layout, number)
    below = layout.height + style.SMALL
    for place, note in enumerate(notes):
        marks.append(Words(style.MARGIN, below + place * style.LINE_HEIGHT, note, style.SMALL, "soft", "start"))
    return Drawing(width, height, tuple(marks))


def node_lines(node: SketchNode) -> list[Line]:
    """What a box says: the name, the result it is, shapes and numbers, the gradient, and what is kept."""
    name = f"{node.title}  →  {node.result}" if node.result and node.result != node.title else node.title
    lines = [Line(upright(name), style.TEXT, "ink")]
    lines += [Line(_summary_words(one), style.SMALL, "forward") for one in node.outputs[:MOST_OUTPUTS]]
    if len(node.outputs) > MOST_OUTPUTS:
        lines.append(Line(upright(f"… {len(node.outputs)} outputs"), style.SMALL, "soft"))
    if node.grad is not None:
        lines.append(Line(gradient_formula(node.grad), style.SMALL, "gradient"))
    for kept in node.saved:
        lines.append(Line((*upright(f"keeps {kept.name}:  "), *_summary_words(kept.summary)), style.SMALL, "soft"))
    return lines


def _summary_words(summary: Summary) -> Formula:
    """5 × 8 float32,  −0.1 … 0.3."""
    record = TensorRecord(device="cpu", summary=summary)
    shape = value_formula(record, values=False, shapes=True)
    numbers = value_formula(record, values=True, shapes=False) if _has_numbers(summary) else ()
    dtype = upright((" " if shape else "") + value_format.bare_dtype(summary.dtype))
    return (*shape, *dtype, *upright(",  "), *numbers) if numbers else (*shape, *dtype)


def _has_numbers(summary: Summary) -> bool:
    odd = summary.nan or summary.posinf or summary.neginf
    return bool(odd) or summary.value is not None or summary.minimum is not None


def _title(group: SketchGroup) -> str:
    return f"{group.title}  ×{group.times}" if group.times > 1 else group.title


def _size(lines: list[Line]) -> tuple[float, float]:
    widest = max(formula_width(line.formula, line.size) for line in lines)
    height = style.LINE_HEIGHT + style.SMALL_LINE * (len(lines) - 1)
    return max(widest + 2 * style.PADDING_X, NARROWEST), height + 2 * style.PADDING_Y


def _frames(layout: SketchLayout, titles: dict[CallPath, Formula]) -> list[Mark]:
    marks: list[Mark] = []
    for path in sorted(layout.frames, key=len):
        box = layout.frames[path]
        marks.append(Frame(box, style.RADIUS, "frame", "", style.LINE))
        left = box.x + style.FRAME_PADDING
        marks.append(Words(left, box.y + style.FRAME_TITLE - 1.0, titles[path], style.SMALL, "soft", "start"))
    return marks


def _box_marks(node: SketchNode, lines: list[Line], layout: SketchLayout, number: int) -> list[Mark]:
    box = layout.boxes[number]
    is_strong = bool(node.result) or node.kind == "leaf"
    stroke, width = ("leaf_line", style.BOLD) if is_strong else ("line", style.LINE)
    fill = "leaf" if node.kind == "leaf" else "box"
    marks: list[Mark] = [Frame(box, style.RADIUS, stroke, fill, width, is_dashed=node.kind == "constant")]
    base = box.y + style.PADDING_Y + style.TEXT
    for line in lines:
        marks.append(Words(box.x + box.width / 2, base, line.formula, line.size, line.role))
        base += style.SMALL_LINE
    return marks


def _distinct_inks(light: FigureStyle, dark: FigureStyle) -> dict[str, str]:
    """The light ink of each role, a shade off where another role has it and is of another ink in the dark."""
    partner: dict[str, str] = {}
    found: dict[str, str] = {}
    for role, ink in light.inks.items():
        shade = ink
        while partner.setdefault(shade, dark.ink(role)) != dark.ink(role):
            shade = f"#{int(shade[1:], 16) - 1:06x}"
        found[role] = shade
    return found


def _dark_rules(inks: dict[str, str], dark: FigureStyle) -> str:
    """Light inks stand in the marks, for whoever knows no style sheets; in the dark each is the role's other one."""
    rules = {
        f".{CLASS} [{attribute}='{ink}']{{{attribute}:{dark.ink(role)}}}": None
        for role, ink in inks.items()
        for attribute in ("fill", "stroke")
    }
    return f"<style>@media (prefers-color-scheme:dark){{{''.join(rules)}}}</style>"
