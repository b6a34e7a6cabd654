"""A real window on a virtual display, worked on with keys and mouse from outside."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers import display
from tests.helpers.window import Window

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples"


@pytest.fixture(scope="module")
def screen() -> Iterator[display.Display]:
    """An X display of its own with a window manager."""
    missing = display.missing()
    if missing:
        pytest.skip(f"no virtual display: {', '.join(missing)} not installed")
    with display.Display() as opened:
        yield opened


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A copy of the first example, which may be changed."""
    copy = tmp_path / "mine.gsg"
    shutil.copy(min(EXAMPLES.glob("*.gsg")), copy)
    return copy


@pytest.fixture
def window(screen: display.Display, example: Path) -> Iterator[Window]:
    """GradStudio with the copied example open."""
    opened = Window(screen, example)
    try:
        opened.wait_until_open()
        yield opened
    finally:
        opened.close()
