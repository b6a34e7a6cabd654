"""Pictures and tints of values that are huge, not finite, or told wrongly: none ends painting."""

import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from gradstudio.protocol.messages.records import Preview, Summary
from gradstudio.ui.canvas.paint.primitives import tensor_image
from gradstudio.ui.theme import theme

DARK = theme("dark")
HUGE = 1e20
"""One more or less is the same float."""


def summary_of(values: list[float], **more: float | None) -> Summary:
    data = np.array(values, np.float32)
    finite = data[np.isfinite(data)]
    figures = {"minimum": float(finite.min()), "maximum": float(finite.max()), "mean": float(finite.mean())}
    figures["posinf"] = int(np.isposinf(data).sum())
    preview = Preview(1, len(data), data.tobytes())
    return Summary(dtype="float32", shape=data.shape, preview=preview, **{**figures, **more})


@pytest.mark.parametrize("values", [[HUGE, HUGE], [HUGE, HUGE, np.inf], [-HUGE, -HUGE, np.inf], [1e-45, 0.0]])
def test_values_of_any_size_have_a_picture(values: list[float]) -> None:
    image = tensor_image.image(summary_of(values), DARK)
    assert image is not None
    assert (image.width(), image.height()) == (len(values), 1)


def test_an_infinity_stands_out_among_huge_values_that_are_one() -> None:
    image = tensor_image.image(summary_of([HUGE, HUGE, np.inf]), DARK)
    assert image is not None
    assert image.pixel(0, 0) == image.pixel(1, 0) != image.pixel(2, 0)


@pytest.mark.parametrize("minimum", [None, 0.0, -1e308, float("nan"), float("-inf")])
@pytest.mark.parametrize("maximum", [None, 0.0, 1e308, float("nan"), 2**63])
@pytest.mark.parametrize("mean", [None, 0.0, 1e308, -1e308, float("nan"), float("inf")])
def test_figures_that_do_not_fit_one_another_are_painted(
    minimum: float | None, maximum: float | None, mean: float | None
) -> None:
    summary = summary_of([0.0, 1.0, np.inf], minimum=minimum, maximum=maximum, mean=mean)
    assert tensor_image.tint(summary, DARK).isValid()
    assert tensor_image.image(summary, DARK) is not None
    canvas = QImage(60, 20, QImage.Format.Format_RGB32)
    painter = QPainter(canvas)
    tensor_image.paint_marks(painter, QRectF(0, 0, 60, 20), summary, DARK)
    painter.end()


@pytest.mark.parametrize(("rows", "columns", "values", "tile_rows"), [(0, 2, 0, 0), (1, 2, 1, 0), (3, 1, 3, 2)])
def test_bytes_that_are_no_picture_are_no_preview(rows: int, columns: int, values: int, tile_rows: int) -> None:
    with pytest.raises(ValueError, match="values"):
        Preview(rows, columns, bytes(4 * values + (not rows)), tile_rows=tile_rows)
