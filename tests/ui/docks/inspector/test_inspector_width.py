"""The inspector is never wider than its dock, whatever words stand in it."""

from pytestqt.qtbot import QtBot

from gradstudio.program.reading.reader import read_script
from gradstudio.ui.docks.inspector.panel import InspectorPanel
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme

TEXT = """import torch
import torch.nn as nn
x = torch.randn(1, 3, 8, 8)
# region: inc.net.with.many.parts (SequentialOfManyParts of a long name)
conv = nn.Conv2d(3, 8, 3, padding=1)
out = conv(x)
# endregion
"""


def test_a_long_title_of_a_group_does_not_push_the_fields_under_the_edge(
    qtbot: QtBot, session: Session, dark: Theme
) -> None:
    panel = InspectorPanel(session, dark)
    qtbot.addWidget(panel)
    panel.resize(292, 500)
    panel.show()
    session.graph_store.load(read_script(TEXT).graph)
    node = next(node for node in session.graph_store.graph.nodes.values() if "conv" in node.names)
    session.attention.select({node.id})
    panel.refresh()
    qtbot.waitUntil(lambda: panel.verticalScrollBar().isVisible())
    qtbot.waitUntil(lambda: panel.widget().width() == panel.viewport().width())
    assert panel.details.isVisible()
