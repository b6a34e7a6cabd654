"""Ids that lie on people's disks, in key maps, settings and saved layouts: none of them goes."""

from pathlib import Path

from gradstudio.scene.overlay_registry import OVERLAYS
from gradstudio.ui.actions.action_set import ActionRow
from gradstudio.ui.app.window.main_window import MainWindow
from gradstudio.ui.docks.dock_registry import DOCKS

KEPT = Path(__file__).with_name("kept_ids.txt")


def test_no_id_that_was_ever_kept_is_gone(window: MainWindow) -> None:
    commands = {row.id for row in window.actions.rows if isinstance(row, ActionRow)}
    now = commands | {f"dock:{row.id}" for row in DOCKS} | {f"overlay:{row.id}" for row in OVERLAYS}
    assert set(KEPT.read_text().split()) - now == set()
