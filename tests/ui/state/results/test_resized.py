"""Which cards are measured again when results change: every card that needs another room, whatever is told of a run."""

import itertools
import random

import pytest

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Failed, Row, Warned
from gradstudio.protocol.messages.inference import PortInference
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.scene import Scene
from gradstudio.ui.state.results.failure import Failure
from gradstudio.ui.state.results.result_store import ResultStore
from gradstudio.ui.state.session import Session
from tests.helpers.drawing import EvenMeasure, matrix, scalar
from tests.ui.conftest import Add


def tell(chance: random.Random, results: ResultStore, items: list[ItemId], step: int) -> None:
    """Something that an engine may say of one of the items, or of the whole run."""
    tables, item = results.tables, chance.choice(items)
    kind = chance.randrange(7)
    if kind <= 1:
        tables.set_stale(not tables.is_stale)
    elif kind == 2:
        tables.add_rows([Row(step=step, node=item, outputs=(chance.choice((matrix(), scalar())),))])
    elif kind == 3:
        failed = Failed(revision=0, node=item, address="y", line=3, type_name="RuntimeError", message="sizes differ")
        tables.add_failure(Failure(failed, "The sizes differ."))
    elif kind == 4:
        tables.add_warning(Warned(node=item, line=1, category="UserWarning", message="deprecated"))
    elif kind == 5:
        tables.set_incomplete({one: "an argument is missing" for one in items if chance.random() < 0.2})
    else:
        refusal = chance.choice(("", "the inner sizes differ: " + "2x3 and 2x3 " * chance.randrange(5)))
        ports = [PortInference(node=one, shape=(2, 3), refusal=refusal) for one in items if chance.random() < 0.4]
        tables.set_inference(ports)


@pytest.mark.parametrize("seed", range(6))
def test_every_card_has_the_room_it_needs_whatever_is_told(session: Session, add: Add, seed: int) -> None:
    chance, results = random.Random(seed), session.results
    items = [add("torch.relu") for _ in range(8)]
    for source, target in itertools.pairwise(items):
        assert session.graph_store.attempt(recipes.connect, "Connect", source, 0, target, "input")
    scene = Scene(session.graph_store.graph, results, Shown(), EvenMeasure())
    results.changed.connect(lambda told: scene.results_changed(told, results.resized))
    for step in range(60):
        tell(chance, results, items, step)
        results.tables.pace.flush()
        scene.updates.catch_up()
        anew = Scene(session.graph_store.graph, results, Shown(), EvenMeasure())
        for item in items:
            assert scene.stack.cards[item].result_height == anew.stack.cards[item].result_height
            assert scene.placement.box(item) == anew.placement.box(item)
            assert scene.updates.well(item) == anew.updates.well(item)


def test_old_values_are_measured_no_more_than_what_they_say_anew(session: Session, add: Add) -> None:
    items, results = [add("torch.relu") for _ in range(3)], session.results
    results.tables.add_rows([Row(step=k, node=item, outputs=(scalar(),)) for k, item in enumerate(items)])
    results.tables.set_inference([PortInference(node=items[1], shape=(2,), refusal="the inner sizes differ")])
    results.tables.pace.flush()
    results.tables.set_stale(True)
    results.tables.pace.flush()
    assert results.resized == {items[1]}, "what torch would refuse stands beside old values alone"
