"""What a start may import and call until the window is painted with a document: measured in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gradstudio import paths

MOST_MODULES = 485
"""Of ours. Raise it for what the first picture shows, never for what a click opens."""
MOST_CALLS = 20_000
NOT_YET = (
    *("torch", "numpy", "pyqtgraph", "networkx", "psutil", "difflib"),
    *("argparse", "email", "importlib.metadata", "secrets", "typing_extensions"),
    *("gradstudio.program.reading.reader", "gradstudio.document.python.python_document"),
    "gradstudio.operators.docstrings.reader",
    *("gradstudio.advice.diagnosis.finding_sources", "gradstudio.ui.docks.messages.problems_panel"),
    *("gradstudio.ui.docks.outline.panel", "gradstudio.ui.docks.documentation.panel"),
    *("gradstudio.ui.docks.library.panel", "gradstudio.operators.search.search_index"),
    "gradstudio.ui.app.crash_dialog",
    *("gradstudio.ui.docks.breakpoints.panel", "gradstudio.ui.docks.history_panel"),
    *("gradstudio.ui.docks.inspector.value_section", "gradstudio.ui.tour.tour"),
    *("gradstudio.ui.dialogs.command_palette", "gradstudio.ui.dialogs.export_dialog"),
    *("gradstudio.ui.dialogs.preferences.preferences_dialog", "gradstudio.ui.dialogs.shortcut_sheet"),
    *("gradstudio.ui.canvas.menus.context_menu", "gradstudio.ui.canvas.popups.search_popup"),
    *("gradstudio.ui.canvas.edit.in_place_editors", "gradstudio.ui.canvas.popups.choice_list"),
    *(
        "gradstudio.ui.docks.code.code_completion",
        "gradstudio.scene.words.tooltips",
    ),
    *("gradstudio.ui.canvas.gestures.move_gesture", "gradstudio.ui.canvas.gestures.wire_gesture"),
)
START = """
import json, os, sys, tempfile
import gradstudio
from gradstudio.ui.app import library_imports
library_imports.load()
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QWidget

ours = os.path.dirname(gradstudio.__file__)
calls = 0

def count(frame, event, argument):
    global calls
    calls += event == "call" and frame.f_code.co_filename.startswith(ours)

def places(frame):
    docks = {dock.objectName(): dock for dock in frame.docks if not dock.visibleRegion().isEmpty()}
    return {key: dock.geometry().getRect() for key, dock in docks.items()}

first = {}
resized = []
early = []

def is_filled(frame):
    return any(type(child).__name__ == "CanvasView" for child in frame.findChildren(QWidget))

class Watch(QObject):
    def eventFilter(self, watched, event):
        if event.type() == QEvent.Type.Show and type(watched).__name__ == "Frame":
            watched.setWindowState(Qt.WindowState.WindowNoState)
            watched.resize(1280, 800)  # the screen there is none of is narrower than a window
        if event.type() == QEvent.Type.Paint and type(watched).__name__ == "Frame" and not first:
            first.update(places(watched))
        if event.type() == QEvent.Type.Paint and type(watched).__name__ in ("DockTitle", "QTabBar", "QMenuBar"):
            if not is_filled(watched.window()):
                early.append(type(watched).__name__)
        if event.type() == QEvent.Type.Resize and watched.objectName() in first:
            resized.append(watched.objectName())
        if event.type() == QEvent.Type.Paint and type(watched.parent()).__name__ == "CanvasView":
            canvas = watched.parent()
            if canvas.scene.graph.nodes and canvas.isVisible():
                sys.setprofile(None)
                docks = {"first": first, "filled": places(canvas.window())}
                modules = sorted(sys.modules)
                found = {"calls": calls, "modules": modules, "resized": resized, "early": early, **docks}
                print(json.dumps(found), flush=True)
                os._exit(0)
        return False

watch = Watch()


class Application(QApplication):
    def __init__(self, arguments):
        super().__init__(arguments)
        self.installEventFilter(watch)

import PySide6.QtWidgets
PySide6.QtWidgets.QApplication = Application
from gradstudio.ui.app import application
sys.setprofile(count)
application.main([sys.argv[1], "--config-dir", tempfile.mkdtemp()])
"""


@pytest.fixture(scope="module")
def start() -> dict[str, Any]:
    """Modules, and calls of our functions, when the canvas is about to be painted with its first document."""
    environment = dict(os.environ, QT_QPA_PLATFORM="offscreen")
    example = paths.examples() / "02_two_paths.gsg"
    command = [sys.executable, "-c", START, str(example)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, cwd=Path.cwd())
    assert done.stdout, done.stderr
    read: dict[str, Any] = json.loads(done.stdout)
    return read


def test_the_first_picture_imports_nothing_that_a_click_opens(start: dict[str, Any]) -> None:
    assert sorted(set(NOT_YET) & set(start["modules"])) == []


def test_the_first_picture_imports_no_more_modules_than_it_did(start: dict[str, Any]) -> None:
    ours = [name for name in start["modules"] if name.startswith("gradstudio")]
    assert len(ours) <= MOST_MODULES, len(ours)


def test_the_first_picture_takes_no_more_calls_than_it_did(start: dict[str, Any]) -> None:
    assert start["calls"] <= MOST_CALLS, start["calls"]


def test_no_dock_moves_between_the_frame_and_the_filled_window(start: dict[str, Any]) -> None:
    assert "lesson" in start["first"], "the example has a lesson, which lies over the Library"
    assert start["first"] == start["filled"]


def test_nothing_is_painted_before_all_is_in_its_place(start: dict[str, Any]) -> None:
    assert start["early"] == []


def test_no_dock_is_laid_out_in_another_size_while_the_window_is_filled(start: dict[str, Any]) -> None:
    assert start["resized"] == []
