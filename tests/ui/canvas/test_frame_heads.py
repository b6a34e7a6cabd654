"""The heads of frames keep what is written before a port or a field clear of it, at every size of letters."""

import pytest

from gradstudio.program.reading.reader import read_script
from gradstudio.scene.card.card_layout import PADDING
from gradstudio.scene.items import Frame
from gradstudio.ui.canvas.paint.card.field_painter import field_rect
from gradstudio.ui.canvas.paint.primitives.canvas_style import LEAST_PX, ZOOM_STEPS, Meter
from tests.ui.canvas.conftest import Hand

PORT = 5.0
"""Half of a port's sign, scene pixels."""


@pytest.mark.parametrize("zoom", ZOOM_STEPS)
def test_words_end_before_the_port_and_the_field_beside_them(hand: Hand, zoom: float) -> None:
    hand.session.restore(
        read_script("import torch\nx = torch.tensor(1.0)\nfor epoch in range(20):\n    x = x * 2\n").graph, None
    )
    (frame,) = hand.canvas.scene.placement.frames.values()
    meter, style = Meter(LEAST_PX / zoom), hand.canvas.canvas_style.at(zoom)
    assert isinstance(frame, Frame)
    for output in frame.layout.outputs:
        assert PADDING + meter.width(output.label, "label") <= output.x - PORT
    fields = [row for row in frame.layout.inputs if row.field is not None]
    assert fields
    for row in fields:
        end = row.x + PADDING + meter.width(row.label, "label")
        rect = field_rect(style, row, end + 4, frame.layout.width - PADDING)
        assert rect is not None and end <= rect.left() + 1


def test_a_long_word_is_broken_between_its_parts(hand: Hand) -> None:
    meter = Meter()
    for word, parts in (("RuntimeError", ["Runtime", "Error"]), ("torch.nn.functional", ["torch.nn.", "functional"])):
        width = max(meter.width(part, "small") for part in parts) + 4
        assert meter.wrapped(word, "small", width) == parts
