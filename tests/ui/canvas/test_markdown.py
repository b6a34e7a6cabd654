"""Notes are Markdown on the canvas and comments in the program."""

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QAction, QImage
from PySide6.QtWidgets import QMessageBox

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from gradstudio.program.write import write_script
from gradstudio.scene.hit_test import hit
from gradstudio.scene.note.markdown import Run, parse, without_markup
from gradstudio.scene.note.note_layout import NOTE_EDGE
from gradstudio.ui.canvas.menus.context_menu import context_menu
from tests.ui.canvas.conftest import Hand

TEXT = "# Weights\nA **bold** word and `W @ x`\n- first\n- second"


def noted(hand: Hand, text: str) -> ItemId:
    item = hand.add("torch.randn", 200, 300)
    assert hand.session.graph_store.attempt(recipes.set_note, "Note", item, text)
    return item


def styles(text: str) -> list[tuple[str, str]]:
    return [(run.text, run.style) for line in parse(text) for run in line.runs]


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("plain", [("plain", "")]),
        ("# Big", [("Big", "head")]),
        ("### Small ##", [("Small", "head_2")]),
        ("a **b** c", [("a ", ""), ("b", "bold"), (" c", "")]),
        ("*b* and _c_", [("b", "italic"), (" and ", ""), ("c", "italic")]),
        ("***b***", [("b", "bold_italic")]),
        ("`a * b * c`", [("a * b * c", "code")]),
        ("2 * x * y and my_own_name", [("2 * x * y and my_own_name", "")]),
        ("2*x*y", [("2*x*y", "")]),
        ("<b>no</b> ![x](y.png)", [("<b>no</b> ![x](y.png)", "")]),
        ("[bad](javascript:alert)", [("[bad](javascript:alert)", "")]),
        ("#no heading", [("#no heading", "")]),
        ("__init__ of X ~ Normal, Z ~ Chi2", [("__init__ of X ~ Normal, Z ~ Chi2", "")]),
        ("2026. A year", [("2026. A year", "")]),
        ("    4 in", [("    4 in", "")]),
        ("```\n**code**\n```", [("**code**", "code")]),
        ("", [("", "")]),
    ],
)
def test_words_have_their_styles(text: str, runs: list[tuple[str, str]]) -> None:
    assert styles(text) == runs


def test_links_keep_their_address_and_lists_their_bullets() -> None:
    (line,) = parse("see [the page](https://pytorch.org/docs) and https://a.org/b.")
    assert line.runs[1] == Run("the page", "link", "https://pytorch.org/docs")
    assert line.runs[3] == Run("https://a.org/b", "link", "https://a.org/b")
    assert [(line.bullet, line.indent) for line in parse("- a\n  * b\n3. c")] == [("•", 12), ("•", 24), ("3.", 12)]
    assert without_markup("# A\n- **b**") == "A\n• b"


def rows_of_ink(hand: Hand, item: ItemId) -> QImage:
    box = hand.canvas.camera.box_to_view(hand.canvas.scene.placement.notes[item].box)
    return hand.shot().copy(QRect(round(box.x), round(box.y), round(box.width), round(box.height)))


@pytest.mark.feature(39)
def test_markdown_is_shown_on_the_note_and_the_comment_stays_as_it_was_typed(hand: Hand) -> None:
    item = noted(hand, TEXT)
    lines = write_script(hand.graph).splitlines()
    for line in TEXT.splitlines():
        assert f"# {line}" in lines
    words = hand.canvas.scene.placement.notes[item].words
    assert [(piece.text, piece.style) for piece in words.pieces][:2] == [("Weights", "head"), ("A ", "")]
    head, first = words.pieces[0], words.pieces[1]
    assert head.height > first.height
    shown = rows_of_ink(hand, item)
    hand.session.graph_store.attempt(recipes.set_note, "Note", item, TEXT.replace("**", ""))
    assert rows_of_ink(hand, item) != shown


@pytest.mark.feature(39)
def test_a_long_note_wraps_within_its_width(hand: Hand) -> None:
    item = noted(hand, "**" + "word " * 30 + "end** then `" + "x" * 90 + "` and more words that go on and on")
    note = hand.canvas.scene.placement.notes[item]
    room = note.box.width - 2 * NOTE_EDGE
    assert all(piece.x + piece.width <= room + 0.5 for piece in note.words.pieces)
    assert all(piece.y + piece.height <= note.box.height - NOTE_EDGE for piece in note.words.pieces)


@pytest.mark.feature(39)
def test_a_link_shows_its_address_first_and_a_drag_opens_nothing(hand: Hand) -> None:
    item = noted(hand, "read [this](https://pytorch.org/docs)")
    note = hand.canvas.scene.placement.notes[item]
    link = next(piece for piece in note.words.pieces if piece.url)
    at = note.box.x + NOTE_EDGE + link.x + 4, note.box.y + NOTE_EDGE + link.y + 8
    hand.drag(at, (at[0] + 80, at[1] - 40))
    assert not hand.canvas.findChildren(QMessageBox)
    hand.click((note.box.x + 12, note.box.y + 12))
    assert not hand.canvas.findChildren(QMessageBox)
    note = hand.canvas.scene.placement.notes[item]
    hand.click((note.box.x + NOTE_EDGE + link.x + 4, note.box.y + NOTE_EDGE + link.y + 8))
    (asked,) = hand.canvas.findChildren(QMessageBox)
    assert asked.informativeText() == "https://pytorch.org/docs"
    hand.key(Qt.Key.Key_Escape, to=asked)
    assert not asked.isVisible()


@pytest.mark.feature(39)
def test_the_colour_of_a_note_is_chosen_in_its_menu_and_kept(hand: Hand) -> None:
    item = noted(hand, "words")
    before = rows_of_ink(hand, item).pixelColor(4, 20)
    box = hand.canvas.scene.placement.notes[item].box
    menu = context_menu(hand.canvas, hit(hand.canvas.scene, box.x + 20, box.y + 10, 1.0), box.x + 20, box.y + 10)
    blue = next(action for action in menu.findChildren(QAction) if action.text() == "Blue")
    blue.trigger()
    assert hand.graph.places[f"note:{item}"].color == "blue"
    assert rows_of_ink(hand, item).pixelColor(4, 20) != before
    assert hand.undo_texts[-1] == "Colour note"
