"""A laid-out figure at a moment as marks: frames, wires, boxes, words, each with its role and key. No Qt."""

from gradstudio.graph.model import ItemId
from gradstudio.scene.figure import figure_style as style
from gradstudio.scene.figure.drawing import Arrow, Curve, Drawing, Formula, Frame, Mark, Words
from gradstudio.scene.figure.figure_layout import Layout
from gradstudio.scene.figure.font_widths import formula_width
from gradstudio.scene.figure.snapshot import Snapshot
from gradstudio.scene.geometry import Box

ACTIVE = {"forward": "forward", "backward": "gradient"}
"""The role of what is at work, by phase."""
PILL = 9.0
"""Roundness of a leaf."""
TITLE_CLEAR = 2.0
"""Between a frame's title and a wire."""


def draw_figure(layout: Layout, snapshot: Snapshot, *, is_filled: bool = True) -> Drawing:
    """The marks of one moment; `is_filled`: on the style's ground, else on none."""
    width, height = layout.size
    marks: list[Mark] = []
    if is_filled:
        marks.append(Frame(Box(0.0, 0.0, width, height), 0.0, "", "ground", 0.0, key="ground"))
    for box in layout.frames.values():
        marks.append(Frame(box, style.RADIUS, "frame", "", style.LINE, is_dashed=True))
    marks += _wires(layout, snapshot)
    for block, box in layout.frames.items():
        y = box.y + style.FRAME_TITLE
        marks.append(
            Words(
                _title_start(layout, block),
                y - 1.0,
                layout.titles[block],
                style.SMALL,
                "soft",
                "start",
                has_ground=True,
            )
        )
    for place, item in enumerate(layout.boxes):
        marks += _box(layout, snapshot, item, place)
    marks += _numbers(layout, snapshot)
    return Drawing(width, height, tuple(marks), is_filled)


def _title_start(layout: Layout, block: ItemId) -> float:
    """Where a frame's title begins: on the left, or on the right where a wire comes in through the left alone."""
    box, width = layout.frames[block], formula_width(layout.titles[block], style.SMALL)
    starts = box.x + style.FRAME_PADDING, box.right - style.FRAME_PADDING - width
    rooms = (Box(x, box.y, width, style.FRAME_TITLE).grown(TITLE_CLEAR) for x in starts)
    crossed = [any(room.contains(*point) for path in layout.paths.values() for point in path.points) for room in rooms]
    return starts[1] if crossed == [True, False] else starts[0]


def _wires(layout: Layout, snapshot: Snapshot) -> list[Curve]:
    found = []
    for place, (key, path) in enumerate(layout.paths.items()):
        is_lit, is_back = key in snapshot.lit, snapshot.phase == "backward"
        role = "later_line" if key[1] in snapshot.later else "wire"
        if is_lit:
            role = ACTIVE[snapshot.phase]
        width = style.BOLD if is_lit else style.LINE
        arrow: Arrow = "back" if is_lit and is_back else "forward"
        found.append(Curve(path.start, path.segments, role, width, is_lit and is_back, arrow, f"wire{place}"))
    return found


def _box(layout: Layout, snapshot: Snapshot, item: ItemId, place: int) -> list[Mark]:
    box, label, figure = layout.boxes[item], layout.labels[item], layout.figure
    is_leaf, is_active = item in figure.leaves, item == snapshot.active
    is_parameter = item in figure.parameters
    is_later = item in snapshot.later
    radius = min(PILL, box.height / 2) if is_leaf else style.RADIUS
    stroke, fill = "line", "box"
    if is_parameter:
        stroke, fill = "leaf_line", "leaf"
    elif is_leaf:
        fill = "given"
    width = style.BOLD if is_parameter or is_active else style.LINE
    if is_active:
        stroke = ACTIVE[snapshot.phase]
        fill = f"{stroke}_box"
    elif is_later:
        stroke = "later_line"
    dashed = item in figure.effects and not is_active
    ink = "later" if is_later else "ink"
    marks: list[Mark] = [Frame(box, radius, stroke, fill, width, dashed, f"box{place}")]
    x, y = box.center[0], box.y + style.PADDING_Y + style.LINE_HEIGHT - 3.5
    marks.append(Words(x, y, label.formula, style.TEXT, ink, key=f"name{place}"))
    below = [(label.detail, "soft", "")] if label.detail else []
    if layout.lines[item][0]:
        below.append((snapshot.values.get(item, ()), "soft", f"value{place}"))
    if layout.lines[item][1]:
        below.append((snapshot.gradients.get(item, ()), "gradient", f"gradient{place}"))
    for words, role, key in below:
        y += style.SMALL_LINE
        marks.append(Words(x, y, words, style.SMALL, "later" if is_later else role, key=key))
    return marks


def _numbers(layout: Layout, snapshot: Snapshot) -> list[Words]:
    found = []
    for place, (key, room) in enumerate(layout.rooms.items()):
        x, y = room.center
        words: Formula = snapshot.sent.get(key, ())
        found.append(Words(x, y + 3.0, words, style.SMALL, "gradient", has_ground=True, key=f"sent{place}"))
    return found
