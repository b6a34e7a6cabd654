"""Pictures of sketches: every box and frame apart, every word there, light and dark."""

from itertools import combinations
from xml.etree import ElementTree

import pytest

from gradstudio.protocol.messages.records import Summary
from gradstudio.protocol.sketch import SavedValue, Sketch, SketchEdge, SketchGroup, SketchNode
from gradstudio.scene.figure.figure_style import figure_style
from gradstudio.scene.sketch.sketch_layout import lay_out
from gradstudio.scene.sketch.sketch_picture import sketch_svg

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = Summary(dtype="float32", shape=(), minimum=2.0, maximum=2.0, mean=2.0, rms=2.0, value=2.0)
WIDE = Summary(dtype="float32", shape=(5, 8))


def node(title: str, *path: str, **facts: object) -> SketchNode:
    return SketchNode(kind="function", title=title, path=path, outputs=(WIDE,), **facts)  # type: ignore[arg-type]


SKETCH = Sketch(
    nodes=(
        SketchNode(kind="leaf", title="w<0>", path=("a",), outputs=(NUMBER,), grad=NUMBER),
        SketchNode(kind="constant", title="input", path=("a",), outputs=(WIDE,)),
        node("MmBackward0", "a", saved=(SavedValue("mat2", WIDE),)),
        node("ReluBackward0", "b", "b.c"),
        node("AddBackward0", result="loss"),
    ),
    edges=(SketchEdge(0, 2), SketchEdge(1, 2, False), SketchEdge(2, 3), SketchEdge(3, 4), SketchEdge(2, 4)),
    groups=(SketchGroup(("a",), "a · Linear", 12), SketchGroup(("b",), "b · B"), SketchGroup(("b", "b.c"), "b.c · C")),
    notes=("3 further nodes, behind these, are left out: limit=5.",),
)


def words(svg: str) -> list[str]:
    return ["".join(text.itertext()) for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_every_word_is_there() -> None:
    assert words(sketch_svg(SKETCH)) == [
        *("a · Linear  ×12", "b · B", "b.c · C"),
        *("w<0>", "float32,  2", "∇ = 2", "input", "5 × 8 float32"),
        *("MmBackward0", "5 × 8 float32", "keeps mat2:  5 × 8 float32", "ReluBackward0", "5 × 8 float32"),
        *("AddBackward0  →  loss", "5 × 8 float32", "3 further nodes, behind these, are left out: limit=5."),
    ]


def test_a_wire_that_no_gradient_takes_is_dashed() -> None:
    wires = [g[0] for g in ElementTree.fromstring(sketch_svg(SKETCH)).iter(f"{SVG}g")]
    assert ["stroke-dasharray" in wire.attrib for wire in wires] == [not edge.is_held for edge in SKETCH.edges]


def test_boxes_lie_apart_and_in_their_frames_and_flow_down() -> None:
    layout = lay_out(SKETCH, [(80.0, 30.0)] * 5, {group.path: 200.0 for group in SKETCH.groups})
    for one, other in combinations(layout.boxes.values(), 2):
        assert not one.meets(other)
    for path, frame in layout.frames.items():
        for number, box in layout.boxes.items():
            is_member = SKETCH.nodes[number].path[: len(path)] == path
            assert box.is_within(frame) if is_member else not box.meets(frame)
    for edge in SKETCH.edges:
        assert layout.boxes[edge.source].bottom < layout.boxes[edge.target].y
    assert all(box.x > 0 and box.right < layout.width and box.bottom < layout.height for box in layout.boxes.values())


@pytest.mark.parametrize(("theme", "style"), [("light", "paper"), ("dark", "night")])
def test_a_chosen_theme_has_its_inks_and_no_other(theme, style) -> None:
    svg = sketch_svg(SKETCH, theme)
    used = {e.attrib[a] for e in ElementTree.fromstring(svg).iter() for a in ("fill", "stroke") if a in e.attrib}
    assert used - {"none"} <= set(figure_style(style).inks.values())
    assert "<style>" not in svg


def test_as_the_reader_is_every_light_ink_has_one_dark_one() -> None:
    svg = sketch_svg(SKETCH)
    root = ElementTree.fromstring(svg)
    rules = root.find(f"{SVG}style").text
    assert rules.startswith("@media (prefers-color-scheme:dark)")
    for element in root.iter():
        for attribute in {"fill", "stroke"} & element.attrib.keys():
            if element.attrib[attribute] != "none":
                assert rules.count(f"[{attribute}='{element.attrib[attribute]}']") == 1
    ground = root.find(f"{SVG}rect").attrib["fill"]
    assert f"[fill='{ground}']{{fill:{figure_style('night').ink('ground')}}}" in rules


def test_a_sketch_of_nothing_is_a_picture() -> None:
    ElementTree.fromstring(sketch_svg(Sketch(nodes=())))
