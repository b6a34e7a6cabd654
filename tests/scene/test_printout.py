"""What a node printed and drew, as its card shows it, and the room that it has from the start."""

import pytest

from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.text.code_records import may_draw, may_print
from gradstudio.layout.card_sizes import PRINT_ROOM, card_size
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.drawn_figures import Figured, FigurePicture
from gradstudio.protocol.messages.events import Printed
from gradstudio.scene.card.section_heights import EDGE, FIGURE, LINE, expected_printout, printout_height
from gradstudio.scene.printout import COLUMNS, KEPT_LINES, NOTHING_PRINTED, SHOWN_LINES, Printout

NODE = ItemId("n1")


def printed(text: str, *, passing: bool = False) -> Printed:
    return Printed(node=NODE, line=1, text=text, passing=passing)


def figured(number: int, data: bytes = b"png") -> Figured:
    return Figured(node=NODE, line=1, figure=number, title="", picture=FigurePicture(4, 3, data, data))


def of(*events: Printed) -> Printout:
    printout = NOTHING_PRINTED
    for event in events:
        printout = printout.with_print(event)
    return printout


def test_the_last_lines_are_shown_with_how_many_stand_above() -> None:
    assert of(printed("a"), printed("b\nc")).shown() == ("a", "b", "c")
    many = of(*(printed(str(number)) for number in range(1000)))
    assert len(many.shown()) == SHOWN_LINES
    assert many.shown()[-1] == "999"
    assert many.shown()[0] == f"… {1000 - SHOWN_LINES + 1} lines above"
    assert len(many.text) == KEPT_LINES


def test_the_last_line_stands_over_several_between_its_words() -> None:
    words = "the sea is wide the sea is blue the wind is cold the wind is new the moon is"
    rows = of(printed(words)).shown()
    assert " ".join(rows) == words and 2 < len(rows) <= SHOWN_LINES and max(map(len, rows)) <= COLUMNS
    assert of(printed("short"), printed(words)).shown()[0] == "short"
    several = of(*(printed(words) for _ in range(9))).shown()
    assert several[0] == "… 8 lines above" and len(several) == SHOWN_LINES and several[1] == rows[0]


def test_what_has_no_room_is_left_at_the_end_of_the_last_line() -> None:
    long = of(printed("x" * 10_000)).shown()
    assert len(long) == SHOWN_LINES and len(long[-1]) > COLUMNS and set(map(len, long[:-1])) == {COLUMNS}
    assert of(printed("one two three four five")).shown(9, 2) == ("one two", "three four five")
    assert of(printed("begins"), printed("50% " * 20, passing=True)).shown() == ("begins", "50% " * 20), "bars stay"


def test_bars_are_one_line_that_what_comes_next_takes_the_place_of() -> None:
    moving = of(printed("begins"), printed(" 10%", passing=True), printed(" 50%", passing=True))
    assert moving.shown() == ("begins", " 50%")
    assert moving.with_print(printed("100%")).shown() == ("begins", "100%")


def test_a_figure_is_one_picture_however_often_it_is_drawn_on() -> None:
    printout = NOTHING_PRINTED.with_figure(figured(1)).with_figure(figured(2)).with_figure(figured(1, b"new"))
    assert [one.figure for one in printout.figures] == [2, 1]
    assert printout.figures[-1].picture.light == b"new"
    assert not printout.without_figure(1).without_figure(2)


def test_its_height_is_that_of_lines_and_one_figure() -> None:
    assert printout_height(NOTHING_PRINTED) == 0
    two = of(printed("a"), printed("b"))
    assert printout_height(two) == 2 * LINE + EDGE
    assert printout_height(two.with_figure(figured(1)).with_figure(figured(2))) == 2 * LINE + FIGURE + 2 * EDGE


def code(text: str) -> Graph:
    graph = read_script(f"import torch\n\n{text}", keeps_code=True).graph
    assert len(graph.nodes) == 1
    return graph


@pytest.mark.parametrize(
    ("text", "prints", "draws"),
    [
        ("import os\n", False, False),
        ("while True:\n    {**print('x')}\n", True, False),
        ("import matplotlib.pyplot as plt\n", False, False),
        ("import matplotlib.pyplot as plt\nplt.plot([1])\n", False, True),
        ("def shows(x):\n    print(x)\n    plt.plot(x)\n    yield x\n", False, False),
        ("import os\n# print(x)\n", False, False),
    ],
)
def test_a_card_keeps_room_for_what_its_code_looks_as_if_it_said(text: str, prints: bool, draws: bool) -> None:
    graph = code(text)
    (node,) = graph.nodes.values()
    assert (may_print(node), may_draw(node)) == (prints, draws)
    assert (expected_printout(node) > 0) == (prints or draws)
    assert (expected_printout(node) >= FIGURE) == draws
    assert card_size(graph, node.id)[1] >= expected_printout(node)


def test_the_card_of_a_print_keeps_room_for_all_lines_that_it_ever_shows() -> None:
    graph = code("print(1.0)\n")
    (node,) = graph.nodes.values()
    many = of(*(printed(str(number)) for number in range(10)))
    assert expected_printout(node) == printout_height(many)
    assert expected_printout(node) + EDGE == PRINT_ROOM
