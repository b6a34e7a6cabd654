"""Which examples the gallery shows, and what it says of them; when a file was saved; where arrows lead."""

from datetime import datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QRect, Qt

from gradstudio import paths
from gradstudio.ui.welcome.arrow_navigation import nearest
from gradstudio.ui.welcome.example_gallery import groups
from gradstudio.ui.welcome.relative_date import relative_date


def test_every_shipped_example_has_its_group_and_a_sentence() -> None:
    found = groups(paths.examples())
    assert [group.title for group in found] == ["First steps", "Gradients", "Debugging", "Networks", "Learning"]
    shown = [example for group in found for example in group.examples]
    assert sorted(example.path for example in shown) == sorted(paths.examples().glob("*.gsg"))
    assert all(example.sentence.endswith(".") and "`" not in example.sentence for example in shown)
    assert [example.title for example in found[0].examples][:2] == ["Square polynomial", "Two paths"]
    assert "NaN from sqrt" in [example.title for example in shown]


def test_an_example_that_the_readme_does_not_name_comes_last(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("## Known\n\n| `b.gsg` | x is `y` |\n| `gone.gsg` | nothing |\n")
    (tmp_path / "a.gsg").touch()
    (tmp_path / "b.gsg").touch()
    known, others = groups(tmp_path)
    assert known.title == "Known" and known.examples[0][1:] == ("B", "x is y.")
    assert [example.path.name for example in others.examples] == ["a.gsg"]


def test_without_examples_there_are_no_groups(tmp_path: Path) -> None:
    assert groups(tmp_path / "nowhere") == ()


@pytest.mark.parametrize(
    ("then", "words"),
    [
        (datetime(2026, 3, 10, 9, 5), "today 9:05"),
        (datetime(2026, 3, 9, 23, 59), "yesterday 23:59"),
        (datetime(2026, 3, 5, 1, 0), "5 days ago"),
        (datetime(2026, 1, 31, 1, 0), "31 January 2026"),
        (datetime(2027, 1, 1, 1, 0), "1 January 2027"),
    ],
)
def test_a_time_is_said_as_a_person_says_it(then: datetime, words: str) -> None:
    assert relative_date(then, datetime(2026, 3, 10, 12, 0)) == words


def test_an_arrow_leads_to_the_nearest_place_on_its_way() -> None:
    side = [QRect(0, 0, 100, 20), QRect(0, 30, 100, 20)]
    shelf = [QRect(120, 0, 80, 80), QRect(210, 0, 80, 80), QRect(120, 90, 80, 80)]
    boxes = [*side, *shelf]
    assert nearest(boxes, 0, Qt.Key.Key_Down) == 1
    assert nearest(boxes, 1, Qt.Key.Key_Right) == 2
    assert nearest(boxes, 2, Qt.Key.Key_Right) == 3
    assert nearest(boxes, 3, Qt.Key.Key_Down) == 4
    assert nearest(boxes, 2, Qt.Key.Key_Left) == 0
    assert nearest(boxes, 0, Qt.Key.Key_Up) is None
