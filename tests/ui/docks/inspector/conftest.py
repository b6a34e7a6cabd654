"""An inspector that can be seen."""

import pytest
from pytestqt.qtbot import QtBot

from gradstudio.ui.docks.inspector.panel import InspectorPanel
from gradstudio.ui.state.session import Session
from gradstudio.ui.theme import Theme


@pytest.fixture
def inspector(qtbot: QtBot, session: Session, dark: Theme) -> InspectorPanel:
    """Of a session without results, its window in front."""
    made = InspectorPanel(session, dark)
    qtbot.addWidget(made)
    made.resize(340, 800)
    made.show()
    made.activateWindow()
    qtbot.waitExposed(made)
    return made
