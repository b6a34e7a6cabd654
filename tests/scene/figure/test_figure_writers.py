"""A figure as SVG and TikZ: text is text, nothing overlaps, and the grammar is that of the format."""

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest

from gradstudio.document.python.python_document import read_python
from gradstudio.protocol.messages.records import Summary, TensorRecord
from gradstudio.scene.figure.drawing import Curve, Drawing, Frame, Words, upright
from gradstudio.scene.figure.figure_drawing import draw_figure
from gradstudio.scene.figure.figure_graph import FigureGraph
from gradstudio.scene.figure.figure_layout import Layout, lay_out
from gradstudio.scene.figure.figure_numbers import value_formula
from gradstudio.scene.figure.figure_style import STYLES, figure_style
from gradstudio.scene.figure.font_widths import formula_width
from gradstudio.scene.figure.formula_writer import FormulaWriter
from gradstudio.scene.figure.snapshot import NO_RUN
from gradstudio.scene.figure.svg_writer import svg_text
from gradstudio.scene.figure.tikz_writer import latex, tikz_text
from gradstudio.ui.theme.contrast import contrast

SVG = "{http://www.w3.org/2000/svg}"
TEXT = """import torch
import torch.nn.functional as F
x = torch.randn(8, 4)
target = torch.randn(8, 1)
W1 = torch.randn(4, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
y_hat = x @ W1 + b
with torch.no_grad():
    scale = x * 3
loss = F.mse_loss(y_hat, target)
cost_50 = loss + 1e-3 * (W1**2).sum() + scale.sum() + x.mean()
cost_50.backward()
"""


CHAIN = "import torch\nx = torch.randn(8)\n" + "".join(
    f"a{k} = torch.sigmoid(torch.tanh({f'a{k - 1}' if k else 'x'})) + {k}\n" for k in range(9)
)


def layout(text: str = TEXT, widest: float | None = None) -> Layout:
    graph = read_python(text).graph
    return lay_out(FigureGraph(graph), [NO_RUN], FormulaWriter(graph), widest)


def drawing(*, is_filled: bool = True) -> Drawing:
    return draw_figure(layout(), NO_RUN, is_filled=is_filled)


@pytest.mark.parametrize("text", [TEXT, CHAIN])
def test_what_is_wider_than_a_column_goes_from_above_downwards(text: str) -> None:
    wide, made = layout(text), layout(text, 252.0)
    assert made.size[0] < wide.size[0]
    assert made.size[0] <= 252.0 or text is TEXT
    assert all(made.boxes[source].bottom < made.boxes[target].y for source, target in made.paths)
    for path in made.paths.values():
        assert path.start[1] < path.points[-1][1]
        assert path.bounds.x >= 0 and path.bounds.right <= made.size[0]


def test_what_fits_stays_in_columns() -> None:
    wide = layout()
    assert layout(TEXT, wide.size[0]).boxes == wide.boxes


@pytest.mark.parametrize("widest", [None, 252.0])
def test_nothing_overlaps_and_all_is_inside(widest: float | None) -> None:
    made = layout(TEXT, widest)
    for one, other in combinations(made.boxes.values(), 2):
        assert not one.meets(other)
    for item, box in made.boxes.items():
        assert box.x >= 0 and box.right <= made.size[0] and box.y >= 0 and box.bottom <= made.size[1]
        assert formula_width(made.labels[item].formula, 11.0) <= box.width
    for source, target in made.paths if widest is None else ():
        assert made.boxes[source].right < made.boxes[target].x


@pytest.mark.parametrize("widest", [None, 252.0])
def test_a_wire_meets_no_box_but_those_at_its_ends_and_no_foreign_frame(widest: float | None) -> None:
    made = layout(TEXT, widest)
    (frame,) = made.frames.values()
    for (source, target), path in made.paths.items():
        others = [box for item, box in made.boxes.items() if item not in (source, target)]
        inside = [one for one in (source, target) if frame.contains(*made.boxes[one].center)]
        others += [] if inside else [frame]
        assert not [box for box in others if any(box.contains(*point) for point in path.points)]


def test_the_text_of_an_svg_is_text_in_fonts_that_are_named() -> None:
    root = ElementTree.fromstring(svg_text(drawing(), figure_style("paper"), "a <title>"))
    assert "Times New Roman" in root.get("font-family", "") and root.get("width", "").endswith("pt")
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert {"x", "W1", "b", "y\u0302 = x W1 + b", "loss = MSE(y\u0302, target)", "no grad", "∇ cost50"} <= set(texts)
    assert root.findtext(f"{SVG}title") == "a <title>"
    assert not list(root.iter(f"{SVG}image"))
    lowered = next(span for span in root.iter(f"{SVG}tspan") if span.text == "1" and span.get("dy"))
    assert float(lowered.get("dy", "0")) > 0 and float(lowered.get("font-size", "0")) < 11


def test_without_a_ground_nothing_fills_the_picture() -> None:
    for is_filled in (True, False):
        root = ElementTree.fromstring(svg_text(drawing(is_filled=is_filled), figure_style("paper")))
        first = next(root.iter(f"{SVG}rect"))
        assert (first.get("width") == root.get("viewBox", "").split()[2]) == is_filled


@pytest.mark.parametrize("name", STYLES)
def test_every_ink_can_be_read_on_its_ground(name: str) -> None:
    from PySide6.QtGui import QColor

    style = figure_style(name)
    for role in ("ink", "soft", "later", "forward", "gradient"):
        for ground in ("ground", "box", "leaf", "given"):
            least = 4.5 if (role, ground) != ("later", "leaf") else 3.0
            assert contrast(QColor(style.ink(role)), QColor(style.ink(ground))) >= least, (role, ground)


def test_tikz_is_a_document_of_nodes_and_paths() -> None:
    text = tikz_text(drawing(), figure_style("paper"), "two\nlines")
    lines = text.splitlines()
    assert lines[0] == "% two lines" and lines[1].startswith(r"\documentclass[tikz")
    assert lines[-2:] == [r"\end{tikzpicture}", r"\end{document}"]
    body = lines[lines.index(next(line for line in lines if line.startswith("  dashes"))) + 1 : -2]
    point = r"\(-?\d+\.\d\d,-?\d+\.\d\d\)"
    options = r"\[[^\[\]]*(?:\{[^{}]*\}[^\[\]]*)*\]"
    grammar = re.compile(
        rf"\\path{options} {point} rectangle {point};"
        rf"|\\draw{options} {point}(?: \.\. controls {point} and {point} \.\. {point})+;"
        rf"|\\node{options} at {point} \{{\$[^$]+\$\}};"
    )
    assert [line for line in body if not grammar.fullmatch(line)] == []
    defined = set(re.findall(r"\\definecolor\{(\w+)\}\{HTML\}\{[0-9A-F]{6}\}", text))
    assert set(re.findall(r"(?:draw|fill|text)=(gs\w+)", text)) == defined
    assert text.isascii()
    for mathematics in re.findall(r"\$([^$]+)\$", text):
        assert mathematics.count("{") == mathematics.count("}") and not re.search(
            r"\^\{[^}]*\}\^|_\{[^}]*\}_", mathematics
        )


def test_tikz_writes_what_latex_knows() -> None:
    graph = read_python(TEXT).graph
    writer, figure = FormulaWriter(graph), FigureGraph(graph)
    found = {graph.nodes[item].names: latex(writer.statement(item)) for item in figure.boxes}
    assert found["W1",] == "W_{1}"
    assert found["y_hat",] == r"\hat{y} = x\,W_{1} + b"
    assert found["loss",] == r"\mathit{loss} = \mathrm{MSE}(\hat{y}, \mathit{target})"
    assert r"10^{-3}\,\textstyle\sum W_{1}^{2}" in found["cost_50",]
    graph = read_python("import torch\ngröße_1 = torch.ones(2)\nö = größe_1 * 2\nα = ö + 1\n").graph
    writer = FormulaWriter(graph)
    told = {graph.nodes[item].names: latex(writer.statement(item)) for item in FigureGraph(graph).boxes}
    assert told["ö",] == r"\textit{ö} = \textit{größe}_{1} \cdot 2" and told["α",] == r"\alpha = \textit{ö} + 1"
    assert latex(upright("4 NaN, 2 × −∞")) == r"4\;\mathrm{NaN}, 2 \times -\infty"
    assert latex(upright("all 0.5")) == r"\mathrm{all}\;0.5"
    assert latex(upright("señal 5")) == r"\mathrm{se}\text{ñ}\mathrm{al}\;5"
    assert latex(upright("100 % of a_b & c#")) == r"100 \% \mathrm{of\;a}\_\mathrm{b} \& \mathrm{c}\#"


def test_a_range_of_small_numbers_has_powers_of_ten() -> None:
    summary = Summary(dtype="float32", shape=(4, 9), minimum=-3.3e-8, maximum=1.7e-8, rms=1e-8)
    record = TensorRecord(device="cpu", summary=summary)
    said = latex(value_formula(record, values=True, shapes=False))
    assert said == r"-3.30 \cdot 10^{-8} \dots 1.70 \cdot 10^{-8}"


def test_every_mark_is_one_that_the_formats_write() -> None:
    kinds = {type(mark) for mark in drawing().marks}
    assert kinds == {Frame, Curve, Words}
    keys = [mark.key for mark in drawing().marks if mark.key]
    assert len(keys) == len(set(keys))
