"""A file with an operator that this version lacks: opened, shown, kept, and saved back as it was."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gradstudio.document import file
from gradstudio.graph.model import ItemId
from gradstudio.ui.app.window.main_window import MainWindow

TEXT = """{
"format": "gradstudio-graph",
"version": 1,
"header": {"seed": 0, "device": "cpu", "default_dtype": ""},
"items": [
{"kind": "node", "id": "a", "operator": "torch.randn", "names": ["a"], "literals": {"size": "(2,)"}},
{"kind": "node", "id": "b", "operator": "torch.from_the_future", "names": ["b"], "literals": {"strength": "7"}},
{"kind": "node", "id": "c", "operator": "torch.relu", "names": ["c"]}
],
"wires": [
{"from": "a", "to": "b", "port": "input"},
{"from": "b", "to": "c", "port": "input"}
],
"view": {"places": {"a": {"x": 0, "y": 0}, "b": {"x": 320, "y": 0}, "c": {"x": 640, "y": 0}}}
}
"""


@pytest.mark.feature(76)
def test_an_unknown_operator_is_a_card_that_says_so_and_is_saved_as_it_was(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    path = tmp_path / "future.gsg"
    path.write_text(TEXT)
    assert window.file.open_path(path)
    canvas, graph = window.canvas, window.session.graph_store.graph
    box = canvas.scene.placement.box(ItemId("b"))
    assert box is not None
    qtbot.waitUntil(lambda: "torch.from_the_future" in window.session.results.incomplete(ItemId("b")))
    at = QPointF(*canvas.camera.to_view(box.x + 30, box.y + 12)).toPoint()
    QTest.mousePress(canvas.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
    QTest.mouseRelease(canvas.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
    assert window.session.attention.selection == {ItemId("b")}
    before = file.dumps(graph)
    assert window.file.save_to(path)
    again = file.load(path)
    assert file.dumps(again) == before
    assert again.nodes[ItemId("b")].literals == {"strength": "7"}
    assert len(again.wires) == 2
