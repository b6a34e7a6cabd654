"""Qt is refused where it is known to break, and the installed one does not."""

import subprocess
import sys

import pytest

from gradstudio.ui.app import qt_compatibility


@pytest.mark.parametrize(
    ("python", "pyside", "words"),
    [
        ((3, 11), "6.12.0", "crashes"),
        ((3, 10), "6.13.1", "crashes"),
        ((3, 13), "6.11.0", "docks"),
        ((3, 11), "6.11.1", "docks"),
        ((3, 11), "6.9.3", "6.10 or newer"),
        ((3, 11), "", "needs PySide6-Essentials"),
    ],
)
def test_a_bad_pair_is_refused_with_what_to_type(python: tuple[int, int], pyside: str, words: str) -> None:
    with pytest.raises(qt_compatibility.UnfitQt, match=words) as refusal:
        qt_compatibility.check(python, pyside)
    assert "pip install" in str(refusal.value)


@pytest.mark.parametrize(("python", "pyside"), [((3, 11), "6.11.3"), ((3, 11), "6.10.0"), ((3, 12), "6.12.0")])
def test_a_good_pair_passes(python: tuple[int, int], pyside: str) -> None:
    qt_compatibility.check(python, pyside)


def test_the_installed_pair_passes() -> None:
    qt_compatibility.check()


VOID_CALLS = """
import sys
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QWidget

class Sender(QObject):
    sent = Signal(object)

application = QApplication([])
widget, sender, heard = QWidget(), Sender(), []
sender.sent.connect(lambda value: None)
for _ in range(100_000):
    widget.update()
    widget.setEnabled(True)
for value in (None, True, False) * 5_000:
    sender.sent.emit(value)
    assert widget.isEnabled() == True
print(sys.getrefcount(None) > 0)
"""


def test_two_hundred_thousand_calls_into_qt_do_not_end_the_process() -> None:
    """PySide6 6.12.0 on Python 3.11 dies after some 7,000, and a green suite can hide it."""
    child = subprocess.run([sys.executable, "-c", VOID_CALLS], capture_output=True, text=True, check=False)
    assert (child.returncode, child.stdout) == (0, "True\n"), child.stderr
