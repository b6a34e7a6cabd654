"""What is offered in the status bar, where there is little room."""

from pytestqt.qtbot import QtBot

from gradstudio.ui.app.window.status_parts import StatusWords
from gradstudio.ui.state.run.run_status import Offer, RunStatus
from gradstudio.ui.theme import Theme
from gradstudio.ui.widgets.offer_field import OfferField


def test_what_is_clicked_is_whole_where_the_words_are_cut(qtbot: QtBot, dark: Theme) -> None:
    field = OfferField(RunStatus(), dark, StatusWords())
    qtbot.addWidget(field)
    field.show_offer(
        Offer("The training was cut off at turn 84,000 of 100,000.", "Continue from turn 84,000", int, int)
    )
    field.resize(field.accept.sizeHint().width() + field.decline.sizeHint().width() + 60, field.height())
    assert field.words.width() < field.words.wanted_width
    assert field.words.text().endswith("…") and field.words.text() != field.words.full
    for button in (field.accept, field.decline):
        assert button.width() >= button.sizeHint().width() and field.rect().contains(button.geometry())
    field.resize(field.sizeHint())
    assert field.words.text() == field.words.full, "all of it where there is room again"
