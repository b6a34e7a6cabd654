"""What a file holds of bookmarks."""

from gradstudio.document.bookmarks import Bookmark, lines
from tests.graph.builder import Drawing


def test_items_that_are_no_more_are_left_out_and_what_is_empty_is_not_written() -> None:
    drawing = Drawing()
    x = drawing.add("torch.ones", name="x")
    marks = {"2": Bookmark(1.0, 3.0, 4.0), "1": Bookmark(0.5, 1.0, 2.0, "begin", (x, "gone"))}
    assert list(lines(marks, drawing.graph)) == [
        ("1", {"zoom": 0.5, "x": 1.0, "y": 2.0, "name": "begin", "items": [x]}),
        ("2", {"zoom": 1.0, "x": 3.0, "y": 4.0}),
    ]
