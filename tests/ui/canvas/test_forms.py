"""Colour is never the only mark: every state has a form of its own, also for an eye that sees no colours."""

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtGui import QImage

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.debugging import Breakpoint
from gradstudio.protocol.messages.events import Failed, Row, Warned
from gradstudio.ui.state.results.failure import Failure
from tests.ui.canvas.conftest import Hand
from tests.ui.canvas.test_painting import pixels, scalar

OTHER = 40
"""Sums of the three colours that differ by less are alike."""
LEAST = 25
"""Two forms differ in at least so many pixels."""


def form(base: QImage, shot: QImage) -> np.ndarray:
    """Where a picture differs from another, whatever the colour."""
    found: np.ndarray = np.abs(pixels(shot) - pixels(base)).sum(2) > OTHER
    return found


def assert_apart(forms: dict[str, np.ndarray]) -> None:
    names = list(forms)
    alike = [
        (one, other)
        for k, one in enumerate(names)
        for other in names[:k]
        if int((forms[one] ^ forms[other]).sum()) < LEAST
    ]
    assert alike == []
    assert all(int(found.sum()) >= LEAST for found in forms.values())


@pytest.mark.feature(46)
def test_what_is_lit_around_a_card_is_told_by_its_line_too(hand: Hand) -> None:
    item = hand.add("torch.relu", 300, 200)
    hand.session.attention.select(())
    base, results, canvas = hand.shot(), hand.session.results, hand.canvas

    def lit(change: Callable[[], object], back: Callable[[], object]) -> np.ndarray:
        change()
        results.tables.pace.flush()
        canvas.viewport().update()
        found = form(base, hand.shot())
        back()
        results.tables.pace.flush()
        return found

    none = ItemId("")
    forms = {
        "selected": lit(lambda: hand.session.attention.select((item,)), lambda: hand.session.attention.select(())),
        "pointed at elsewhere": lit(
            lambda: setattr(canvas.lit, "pointed", item), lambda: setattr(canvas.lit, "pointed", None)
        ),
        "takes what is dropped": lit(
            lambda: setattr(canvas.lit, "drop_frame", item), lambda: setattr(canvas.lit, "drop_frame", None)
        ),
        "running": lit(lambda: results.tables.set_running(item), lambda: results.tables.set_counter(none)),
        "runs next": lit(lambda: results.tables.set_counter(item), lambda: results.tables.set_counter(none)),
    }
    assert_apart(forms)


@pytest.mark.feature(46)
def test_what_is_the_matter_with_a_card_is_told_without_colour(hand: Hand) -> None:
    item = hand.add("torch.relu", 300, 200)
    store, results = hand.session.graph_store, hand.session.results
    hand.session.attention.select(())
    results.tables.add_rows([Row(step=0, node=item, outputs=(scalar(3.0),))])
    results.tables.pace.flush()
    base = hand.shot()
    forms = {}
    results.tables.set_stale(True)
    results.tables.pace.flush()
    forms["stale"] = form(base, hand.shot())
    results.tables.set_stale(False)
    for name, recipe in (("muted", recipes.set_muted), ("bypassed", recipes.set_bypassed)):
        assert store.attempt(recipe, name, [item], True)
        forms[name] = form(base, hand.shot())
        store.undo_stack.undo()
    hand.session.debug.add(Breakpoint(id="1", node=item))
    forms["breakpoint"] = form(base, hand.shot())
    hand.session.debug.remove("1")
    results.tables.add_warning(Warned(node=item, line=1, category="UserWarning", message="deprecated"))
    results.tables.pace.flush()
    forms["warning"] = form(base, hand.shot())
    failed = Failed(revision=0, node=item, address="y", line=3, type_name="RuntimeError", message="shapes 2x3 and 2x3")
    results.tables.add_failure(Failure(failed, "The inner sizes differ."))
    results.tables.pace.flush()
    forms["failed"] = form(base, hand.shot())
    assert_apart(forms)
