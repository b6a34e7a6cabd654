"""What is painted of values and gradients, read as text at four zooms and compared with a run of plain torch."""

import ast
import math
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
import torch
from PySide6.QtCore import QBuffer, QIODevice, QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtSvg import QSvgGenerator
from pytestqt.qtbot import QtBot

from gradstudio import paths
from gradstudio.document import file
from gradstudio.engine.live.live_state import Loaded
from gradstudio.engine.verbs import Engine
from gradstudio.graph.model import Graph, ItemId
from gradstudio.layout.tidy import layout_missing
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write_script
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.requests import Do
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.scene import Scene
from gradstudio.ui.canvas.paint.card.distant_card import paint_distant_card
from gradstudio.ui.canvas.paint.card.parameter_row_painter import paint_parameter_rows
from gradstudio.ui.canvas.paint.card.result_section_painter import paint_result_sections
from gradstudio.ui.canvas.paint.level_of_detail import DISTANT
from gradstudio.ui.canvas.paint.primitives.canvas_style import CanvasStyle
from gradstudio.ui.pictures.recorded_results import recorded_results
from gradstudio.ui.theme import Theme

ZOOMS = (1.0, 0.9, 0.83, 0.8, 0.7, DISTANT, 0.6, 0.5, 0.4)
REFUSED = "10_in_place_after_exp"
"""Its backward fails, as it shall."""
EXAMPLES = sorted(path.stem for path in paths.examples().glob("*.gsg") if path.stem != REFUSED)
PROGRAM = """
import torch

torch.manual_seed(0)
x = torch.randn(16, 6)
w = torch.randn(6, 4, requires_grad=True)
b = torch.full((4,), 0.125, requires_grad=True)
h = torch.tanh(x @ w + b)
one = (h * h).mean().reshape(1, 1)
lone = one.reshape(1) * -3.75
pair = torch.cat([lone, lone * 1000.0])
wide = torch.linspace(-1.5, 2.5, 40, requires_grad=True)
total = pair.sum() - 0.037 * wide.pow(2).sum()
loss = total * 1234.5
loss.backward()
"""
NUMBER = re.compile(r"[-−]?(?:\d+\.?\d*(?:e[-+]?\d+)?|∞|NaN)(…(?![-−\d]))?")
WORDS = re.compile(r"float\d+|int\d+|\w+Backward\d*|cpu|\d+:|\[[\d, ]*\]( v\d+(→v\d+)?)?|\d+ %|[A-Za-z_]{3,}\d*")
"""What has digits and is no number of a value: dtypes, functions, shapes, the index before a line of cells."""


class Truth(NamedTuple):
    """A value and its gradient as plain torch has them at the end."""

    value: torch.Tensor
    gradient: torch.Tensor | None


def plain_torch(graph: Graph, stem: str = "program") -> dict[str, Truth]:
    """Every tensor that the program's text binds once, run without us."""
    tree = ast.parse(write_script(graph, stem=stem))
    space: dict[str, object] = {"__file__": str(paths.examples() / "program.py")}
    bound = [
        n.targets[0].id for n in ast.walk(tree) if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)
    ]
    for statement in tree.body:
        if isinstance(statement, ast.Expr) and ast.unparse(statement).startswith("print("):
            continue
        exec(compile(ast.Module([statement], []), "<program>", "exec"), space)
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            made = space[statement.targets[0].id]
            if isinstance(made, torch.Tensor) and made.requires_grad:
                made.retain_grad()
    top = {n.targets[0].id for n in tree.body if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)}
    tensors = {name: space[name] for name in bound if name in top and bound.count(name) == 1}
    return {name: Truth(one.detach(), one.grad) for name, one in tensors.items() if isinstance(one, torch.Tensor)}


def scene_after_run(graph: Graph, theme: Theme) -> Scene:
    """The canvas after a run with every backward recorded."""
    events = list[Message]()
    engine = Engine(events.append, lambda: False)
    engine.stored.add({digest: tensor.data for digest, tensor in graph.tensors.items()})
    engine.load(Loaded("document", 1, compile_graph(graph)))
    engine.do(Do(verb="run", trace=True))
    engine.settle()
    results = recorded_results(graph, events)  # type: ignore[arg-type]  # others are left out there
    return Scene(graph, results, Shown(), CanvasStyle(theme).meter)


def painted(scene: Scene, style: CanvasStyle, item: ItemId, zoom: float) -> list[str]:
    """The texts that a card of that zoom shows of its results."""
    card = scene.stack.cards[item]

    def paint(painter: QPainter) -> None:
        if zoom < DISTANT:
            rect = QRectF(0, 0, round(card.layout.width * zoom), round(card.drawn_height * zoom))
            paint_distant_card(painter, style, scene, item, rect, zoom)
        else:
            paint_result_sections(painter, style.at(zoom), card.layout, scene.updates.well(item))

    titles = (card.layout.names, card.layout.title, card.layout.subtitle)
    return [text for text in texts_of(paint) if text not in titles]


def texts_of(paint: Callable[[QPainter], None]) -> list[str]:
    """All that is written."""
    data, generator = QBuffer(), QSvgGenerator()
    data.open(QIODevice.OpenModeFlag.WriteOnly)
    generator.setOutputDevice(data)
    generator.setSize(QSize(800, 800))
    painter = QPainter(generator)
    paint(painter)
    painter.end()
    tree = ElementTree.fromstring(bytes(data.data().data()).decode())
    texts = [(node.text or "").strip() for node in tree.iter("{http://www.w3.org/2000/svg}text")]
    return [text for text in texts if text]


def numbers(text: str) -> Iterator[tuple[str, bool]]:
    """Every number in a text, and whether it is cut."""
    for found in NUMBER.finditer(WORDS.sub(" ", text)):
        yield found[0].removesuffix("…"), bool(found[1])


def is_sum(text: str, truth: Truth) -> bool:
    """Whether the terms that an accumulated gradient is said to be the sum of are that sum."""
    terms = [float(number.replace("−", "-")) for number, _ in numbers(text.replace(" + ", " "))]
    return truth.gradient is not None and sum(terms) == pytest.approx(truth.gradient.item(), rel=5e-3)


def is_true(text: str, truth: Truth) -> bool:
    """Whether a number is one that torch has, rounded as it is written: an element, an end of a range, a norm."""
    if text in ("NaN", "∞", "−∞"):
        every = [truth.value, *([truth.gradient] if truth.gradient is not None else [])]
        return any(bool((~one.isfinite()).any()) for one in every if one.is_floating_point())
    written = float(text.replace("−", "-"))
    mantissa, _, exponent = text.lower().partition("e")
    step = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    if not mantissa.partition(".")[2] and abs(written) >= 10 and not exponent:
        step = 10.0 ** (len(mantissa.lstrip("-−")) - 1) / 10  # 120 may stand for 123.4
    return any(abs(written - one) <= 0.51 * step + 1e-6 * abs(one) for one in candidates(truth))


def is_coarse(text: str, truth: Truth) -> bool:
    """Whether a number is written with fewer than three digits, and two decimals, though it is another."""
    for written, _ in numbers(text.replace("≈", "")):
        mantissa = written.lower().partition("e")[0].lstrip("-−")
        decimals = mantissa.partition(".")[2]
        digits = mantissa.replace(".", "").lstrip("0")
        if mantissa in ("NaN", "∞") or len(digits) >= 3 or len(decimals) >= 2:
            continue
        number = float(written.replace("−", "-"))
        if not any(abs(number - one) <= 1e-6 * abs(one) for one in candidates(truth)):
            return True
    return False


def candidates(truth: Truth) -> Iterator[float]:
    for tensor in (truth.value, truth.gradient):
        if tensor is not None:
            yield from (float(one) for one in tensor.double().flatten().tolist() if math.isfinite(one))
    if truth.gradient is not None:
        yield float(torch.linalg.vector_norm(truth.gradient.double()))


def check_text(text: str, truth: Truth, where: object) -> int:
    """Every number in a text; how many there were."""
    if text.endswith(("NaN", "∞")) and text.partition(" ")[0].isdigit():
        return 0  # how many, which another test looks at
    text = text.removeprefix("≈") if not text.startswith("≈ ") else text
    if text.startswith(("= ", "≈ ")):
        assert is_sum(text, truth), (where, truth)
        return 0
    found = list(numbers(text))
    for number, is_cut in found:
        assert not is_cut, where
        assert is_true(number, truth), (where, truth)
    return len(found)


def check(graph: Graph, theme: Theme, stem: str = "program") -> int:
    """Every number on every card at every zoom; how many there were."""
    truths, scene, style, count = plain_torch(graph, stem), scene_after_run(graph, theme), CanvasStyle(theme), 0
    for item, node in graph.nodes.items():
        truth = truths.get(node.names[0]) if node.names and item in scene.stack.cards else None
        if truth is None or scene.updates.well(item).leaves.rows:  # numbers of a module's leaves are others
            continue
        written = [row for row in scene.stack.cards[item].layout.fields() if not row.faint]
        for zoom in ZOOMS:
            texts = painted(scene, style, item, zoom)
            for text in texts:
                if zoom < DISTANT and any(
                    row.shown.startswith(text.removesuffix("…"))
                    or (text.endswith(f" {row.shown}") and text.startswith(row.label[:2]))
                    for row in written
                ):
                    continue  # a literal, as a person wrote it
                count += check_text(text, truth, (node.names[0], zoom, text))
                is_sign = text.startswith(("= ", "≈ "))
                assert is_sign or not is_coarse(text, truth) or "≈" in "".join(texts), (node.names[0], zoom, text)
    return count


@pytest.mark.parametrize("example", EXAMPLES)
def test_numbers_on_the_cards_of_an_example_are_whole_and_torchs(qtbot: QtBot, dark: Theme, example: str) -> None:
    assert check(file.load(paths.examples() / f"{example}.gsg"), dark, example) >= len(ZOOMS)


def test_numbers_on_cards_of_every_form_are_whole_and_torchs(qtbot: QtBot, dark: Theme) -> None:
    graph = read_script(PROGRAM).graph
    graph.places = layout_missing(graph)
    assert check(graph, dark) >= 19 * len(ZOOMS)


SPOILT = """
import torch

x = torch.tensor([-1.0, 0.25, 4.0, 9.0], requires_grad=True)
y = x.sqrt()
z = y * torch.tensor([2.0, 1.0, 0.125, 3.0])
w = torch.tensor(-3.25, requires_grad=True)
v = w * torch.tensor([float("nan"), float("inf"), 1.0])
m = torch.linspace(-3.0, 3.0, 48).reshape(6, 8).log()
s = z.sum() + v.sum() + m.sum()
s.backward()
"""


@pytest.mark.parametrize("zoom", ZOOMS)
def test_what_is_not_finite_is_said_at_every_zoom(qtbot: QtBot, dark: Theme, zoom: float) -> None:
    graph = read_script(SPOILT).graph
    graph.places = layout_missing(graph)
    scene, style, truths = scene_after_run(graph, dark), CanvasStyle(dark), plain_torch(graph)
    for item, node in graph.nodes.items():
        truth = truths.get(node.names[0]) if node.names else None
        if truth is not None and not truth.value.isfinite().all():
            texts = painted(scene, style, item, zoom)
            assert any("NaN" in text or "∞" in text for text in texts), (node.names, zoom, texts)


LAYERS = """
import torch
from torch import nn

torch.manual_seed(0)
fc = nn.Linear(4, 7)
head = nn.Linear(7, 1)
x = torch.randn(16, 4)
h = fc(x) * 123.0
y = head(h)
loss = (y * y).mean()
loss.backward()
"""


@pytest.mark.parametrize("zoom", [zoom for zoom in ZOOMS if zoom >= DISTANT])
def test_numbers_of_the_leaves_of_a_layer_are_whole_and_torchs(qtbot: QtBot, dark: Theme, zoom: float) -> None:
    graph = read_script(LAYERS).graph
    graph.places = layout_missing(graph)
    scene, style = scene_after_run(graph, dark), CanvasStyle(dark)
    space: dict[str, object] = {}
    exec(LAYERS, space)
    layers = [one for one in space.values() if isinstance(one, torch.nn.Linear)]
    truths = [Truth(one.detach(), one.grad) for layer in layers for one in layer.parameters()]
    written = list[str]()
    for item in scene.stack.cards:
        leaves, width = scene.updates.well(item).leaves, scene.stack.cards[item].layout.width
        if leaves.rows:
            written += texts_of(
                partial(paint_parameter_rows, style=style.at(zoom), leaves=leaves, top=0.0, width=width)
            )
    assert sum("‖∇‖" in text for text in written) >= 3, "the norm of a gradient has room"
    for text in written:
        assert ("[" in text) == ("]" in text), "half a shape says less than none"
        for number, is_cut in numbers(text):
            assert not is_cut and any(is_true(number, truth) for truth in truths), text


@pytest.mark.parametrize("zoom", ZOOMS)
def test_one_element_of_any_shape_is_a_number_with_its_sign(qtbot: QtBot, dark: Theme, zoom: float) -> None:
    graph = read_script(PROGRAM).graph
    graph.places = layout_missing(graph)
    scene, style, truths = scene_after_run(graph, dark), CanvasStyle(dark), plain_torch(graph)
    for item, node in graph.nodes.items():
        truth = truths.get(node.names[0]) if node.names else None
        if truth is None or truth.value.numel() != 1 or truth.gradient is None:
            continue
        told = [one for text in painted(scene, style, item, zoom) for one, _ in numbers(text)]
        signs = {float(one.replace("−", "-")) < 0 for one in told}
        wanted = {truth.value.item() < 0, truth.gradient.item() < 0}
        assert wanted == signs and len(told) >= 2, (node.names, zoom, told)
