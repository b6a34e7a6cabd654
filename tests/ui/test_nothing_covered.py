"""Nothing on the canvas covers what is to be read, in every example, at every zoom and size of text, after a run."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import pytest
from PySide6.QtCore import QRect
from pytestqt.qtbot import QtBot

from gradstudio.paths import examples
from gradstudio.scene.camera import center_on
from gradstudio.scene.geometry import Box
from gradstudio.scene.wire.wire_labels import frame_lines
from gradstudio.ui.canvas.paint.storage_link_painter import edge_words
from tests.ui.desk import Desk
from tests.ui.gestures import come_to_rest_at_once

ZOOMS = (0.4, 0.6, 0.8, 1.0)
LARGER = (115, 130)
"""Percent of the usual size of text, in the window and on the canvas."""
LARGER_ZOOMS = (0.6, 1.0)
Named = tuple[str, Box]


@pytest.fixture
def usual(desk: Desk) -> Iterator[Desk]:
    """A desk whose text has its usual size again afterwards, and one tab: every tab is laid out in each size."""
    yield desk
    desk.window.settings.change(ui_scale=100, canvas_scale=100)
    documents = desk.window.documents
    documents.close(documents.tabs[-1])
    assert len(documents.tabs) == 1


@pytest.mark.parametrize("path", sorted(examples().glob("*.gsg")), ids=lambda path: path.stem)
def test_after_a_run_nothing_covers_anything(usual: Desk, qtbot: QtBot, path: Path) -> None:
    desk = usual
    desk.sit_down(qtbot)
    desk.window.documents.open(path)
    come_to_rest_at_once(desk)
    desk.window.overlays.switch("storage", True)
    desk.window.actions["run.run"].trigger()
    desk.until(lambda: desk.session.run.state.at_end or desk.session.results.failures)
    come_to_rest_at_once(desk)
    assert not _overlaps(desk)
    _look_around(desk, ZOOMS)
    for percent in LARGER:
        desk.window.settings.change(ui_scale=percent, canvas_scale=percent)
        come_to_rest_at_once(desk)
        assert not _overlaps(desk), f"with text of {percent} %"
        _look_around(desk, [zoom * percent / 100 for zoom in LARGER_ZOOMS])


def _look_around(desk: Desk, zooms: Sequence[float]) -> None:
    for zoom in zooms:
        for corner in _corners(desk):
            _look_at(desk, corner, zoom)
            assert not _overlaps(desk), f"at {zoom:.0%}"


def _corners(desk: Desk) -> list[Box]:
    """The beginning, the middle and the end of a drawing."""
    extent = desk.window.canvas.scene.placement.extent()
    assert extent is not None
    return [Box(extent.x, extent.y, extent.width * share, extent.height * share) for share in (0.2, 1.0, 1.8)]


def _look_at(desk: Desk, box: Box, zoom: float) -> None:
    canvas = desk.window.canvas
    size = canvas.viewport().width(), canvas.viewport().height()
    canvas.navigation.travel.stop()
    canvas.navigation.be_at(center_on(box, *size, zoom))
    come_to_rest_at_once(desk)
    canvas.minimap.refresh()
    canvas.viewport().grab()


def _overlaps(desk: Desk) -> list[tuple[Named, Named]]:
    """What lies over one another and must not."""
    floating, ground = _floating(desk), _ground(desk)
    pairs = [(one, other) for one in floating for other in ground]
    pairs += list(combinations(floating, 2))
    pairs += list(combinations([one for one in ground if not one[0].startswith("frame")], 2))
    return [(one, other) for one, other in pairs if one[1].grown(-0.5).meets(other[1])]


def _ground(desk: Desk) -> list[Named]:
    """Cards, notes, heads and edges of frames that are in view, view pixels."""
    scene, camera = desk.window.canvas.scene, desk.window.canvas.camera
    boxes = [(f"card {item}", scene.placement.box(item)) for item in scene.stack.ids]
    boxes += [(f"note {item}", note.box) for item, note in scene.placement.notes.items()]
    for item, frame in scene.placement.frames.items():
        boxes += [(f"frame {item}", line) for line in frame_lines(frame, scene.state.meter)]
    return [(name, camera.box_to_view(box)) for name, box in boxes if box is not None]


def _floating(desk: Desk) -> list[Named]:
    """Numbers on wires, words at edges, buttons of fixes and the map, view pixels."""
    canvas = desk.window.canvas
    view = canvas.viewport()
    seen = canvas.camera.seen(view.width(), view.height())
    about = canvas.scene, canvas.camera, seen, canvas.layer.labels
    found = [
        (f"number {label.text}", canvas.camera.box_to_view(label.box))
        for _, label in canvas.layer.labels.near(seen, canvas.camera.zoom)
    ]
    for _, words, box in edge_words(canvas.canvas_style, *about):
        found += [(words, box)] if box is not None else []
    pills = ((f"fix {pill.words}", pill.rect.toRect()) for pill in canvas.remedies.pills())
    found += [(name, _box(rect)) for name, rect in pills]
    if canvas.minimap.isVisible():
        found.append(("map", _box(canvas.minimap.geometry())))
    return found


def _box(rect: QRect) -> Box:
    return Box(rect.x(), rect.y(), rect.width(), rect.height())
