"""Text on the canvas can be read: the contrast of ink and ground as they are painted, in every theme."""

import re
import xml.etree.ElementTree as Tree
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, get_args

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QTransform

from gradstudio.graph import recipes
from gradstudio.operators.catalogue.loader import load
from gradstudio.protocol.messages.events import Failed, GradRow, Row, Warned
from gradstudio.protocol.messages.records import GradState, Preview, Summary, TensorRecord
from gradstudio.scene.overlay_registry import Shown
from gradstudio.ui.canvas.paint import picture_export
from gradstudio.ui.state.results.failure import Failure
from gradstudio.ui.theme import ThemeName, theme
from gradstudio.ui.theme.contrast import TEXT, contrast
from tests.ui.canvas.conftest import Hand

SVG = "{http://www.w3.org/2000/svg}"
SCALE = 2.0


class Written(NamedTuple):
    """A text of a picture, where it stands, and its colour."""

    words: str
    box: QRectF
    ink: QColor


def written(path: Path) -> Iterator[Written]:
    """The texts of an SVG file that Qt wrote, in pixels of the picture."""
    for group in Tree.parse(path).getroot().iter(f"{SVG}g"):
        for text in group.findall(f"{SVG}text"):
            words = "".join(text.itertext()).strip()
            if not re.search(r"\w", words):
                continue  # signs are marks, not text
            numbers = [float(part) for part in group.get("transform", "")[7:-1].split(",")]
            font = QFont()
            font.setFamilies(text.get("font-family", "").split(","))
            font.setPixelSize(round(float(text.get("font-size", "12"))))
            font.setWeight(QFont.Weight(int(text.get("font-weight", "400"))))
            x, y, high = float(text.get("x", "0")), float(text.get("y", "0")), font.pixelSize() * 0.72
            box = QRectF(x, y - high, QFontMetricsF(font).horizontalAdvance(words), high)
            ink = QColor(text.get("fill", ""))
            ink.setAlphaF(float(text.get("fill-opacity", "1")) * float(group.get("opacity", "1")))
            yield Written(words, QTransform(*numbers).mapRect(box), ink)


def ground_of(image: QImage, box: QRectF) -> QColor:
    """The colour that most of the rim of a box has, above it and at both ends."""
    left, top, right, bottom = (round(side * SCALE) for side in box.getCoords())  # type: ignore[misc, union-attr]
    rim = [(x, top - 2) for x in range(left, right)]
    rim += [(x, y) for y in range(top, bottom) for x in (left - 2, right + 2)]
    found = Counter(image.pixel(x, y) for x, y in rim if image.valid(x, y))
    return QColor(found.most_common(1)[0][0] | 0xFF000000)


def too_faint(hand: Hand, name: ThemeName, folder: Path) -> list[str]:
    graph, results, shown = hand.graph, hand.session.results, Shown(storage=True, cost=True)
    picture_export.write_svg(graph, results, theme(name), folder / "canvas.svg", shown)
    painted = picture_export.render_picture(graph, results, theme(name), SCALE, shown)
    image = QImage(painted.size(), QImage.Format.Format_RGB32)
    image.fill(theme(name).color("canvas"))
    painter = QPainter(image)
    painter.drawImage(0, 0, painted)
    painter.end()
    texts = list(written(folder / "canvas.svg"))
    assert len(texts) > 40
    poor = set()
    for text in texts:
        ground = ground_of(image, text.box)
        ratio = contrast(text.ink, ground)
        if ratio < TEXT - 0.02:
            poor.add(f"{text.words!r}: {text.ink.name()} at {text.ink.alphaF():.2f} on {ground.name()}: {ratio:.2f}")
    return sorted(poor)


def record(shape: tuple[int, ...], value: object = None, preview: Preview | None = None) -> TensorRecord:
    summary = Summary(
        dtype="float32", shape=shape, minimum=-1.5, maximum=3.0, mean=1.0, rms=1.0, value=value, preview=preview, nan=2
    )
    return TensorRecord(device="cpu", summary=summary, requires_grad=True, grad_fn="ReluBackward0")


@pytest.fixture(scope="module")
def themes() -> tuple[ThemeName, ...]:
    return get_args(ThemeName)


@pytest.mark.feature(46)
def test_headers_of_every_category_can_be_read(hand: Hand, tmp_path: Path, themes: tuple[ThemeName, ...]) -> None:
    first: dict[str, str] = {}
    for row in load():
        first.setdefault(row.category, row.key)
    for number, key in enumerate(first.values()):
        item = hand.add(key, 300 * (number % 6), 330 * (number // 6))
        if number % 2:
            hand.session.graph_store.attempt(recipes.rename, "Rename", item, (f"name_{number}",))
    for name in themes:
        assert too_faint(hand, name, tmp_path) == []


@pytest.mark.feature(46)
def test_values_gradients_and_what_is_wrong_can_be_read_fresh_and_stale(
    hand: Hand, tmp_path: Path, themes: tuple[ThemeName, ...]
) -> None:
    store, results = hand.session.graph_store, hand.session.results
    items = [hand.add("torch.relu", 300 * (k % 5), 330 * (k // 5)) for k in range(12)]
    shapes = [
        record((), 2.5),
        record((2, 2), [[1.0, 2.0], [3.0, 4.0]]),
        record((40, 40), None, Preview(32, 32, bytes(4096))),
    ]
    results.tables.add_rows([Row(step=k, node=item, outputs=(shapes[k % 3],)) for k, item in enumerate(items[:9])])
    states: tuple[GradState, ...] = get_args(GradState)
    rows = [
        GradRow(node=item, state=state, grad=record((), 8.0).summary if state in ("value", "accumulated") else None)
        for item, state in zip(items, states, strict=False)
    ]
    results.tables.set_gradients(rows, whole=True)
    results.tables.add_warning(Warned(node=items[8], line=1, category="UserWarning", message="deprecated since 2.9"))
    failed = Failed(revision=0, node=items[9], address="y", line=3, type_name="RuntimeError", message="shapes 2x3")
    results.tables.add_failure(Failure(failed, "The inner sizes differ."))
    assert store.attempt(recipes.set_note, "Note", items[0], "A **note** with `code`.")
    assert store.attempt(recipes.wrap, "Wrap", [items[10]], "no_grad")
    assert store.attempt(recipes.set_muted, "Mute", [items[11]], True)
    hand.add("torch.randn", 0, 1100)
    results.tables.pace.flush()
    for name in themes:
        assert too_faint(hand, name, tmp_path) == []
    results.tables.set_stale(True)
    results.tables.pace.flush()
    for name in themes:
        assert too_faint(hand, name, tmp_path) == []
