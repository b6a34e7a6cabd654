"""What the window's libraries bring along is left out, and what they say and do stays."""

import json
import subprocess
import sys
from typing import Any

import pytest

ASK = """
import json, sys
finders = list(sys.meta_path)
from gradstudio.ui.app import library_imports
library_imports.load()
same = sys.meta_path == finders + [finder for finder in sys.meta_path if finder not in finders]
unused = ("argparse", "logging", "typing_extensions", *library_imports.STUB_WRITERS)
loaded = sorted(set(unused) & set(sys.modules))
from PySide6.QtCore import QPoint
try:
    QPoint("far", "away")
except TypeError as error:
    refusal = str(error)
names = {}
exec("from PySide6.QtGui import *", names)
wrapped = "feature" in repr(__import__)
import msgspec, typing_extensions
print(json.dumps({"same": same, "loaded": loaded, "refusal": refusal, "star": "QColor" in names, "wrapped": wrapped}))
"""


@pytest.fixture(scope="module")
def process() -> dict[str, Any]:
    """A process that loads the libraries as the window does."""
    done = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    read: dict[str, Any] = json.loads(done.stdout)
    return read


def test_what_no_window_uses_is_not_loaded(process: dict[str, Any]) -> None:
    assert process["loaded"] == [] and not process["wrapped"]


def test_modules_are_looked_for_as_before(process: dict[str, Any]) -> None:
    assert process["same"]


def test_a_wrong_call_is_refused_with_the_right_ones(process: dict[str, Any]) -> None:
    assert "Supported signatures" in process["refusal"] and "QPoint.__init__(xpos: int" in process["refusal"]


def test_all_names_of_a_module_can_be_imported_at_once(process: dict[str, Any]) -> None:
    assert process["star"]
