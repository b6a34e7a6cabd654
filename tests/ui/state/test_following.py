"""A slider that moves while the real engine runs: what is shown is whole, and the newest."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.ui.state.run.engine_client import EngineClient
from gradstudio.ui.state.session import Session


@pytest.fixture(scope="module")
def engine(qapp: object) -> Iterator[EngineClient]:
    """One process for all tests: torch takes seconds to be imported."""
    client = EngineClient(spare=False)
    client.start()
    yield client
    client.close()


@pytest.fixture
def session(qtbot: QtBot, engine: EngineClient) -> Iterator[Session]:
    qtbot.waitUntil(lambda: engine.ready)
    made = Session(engine)
    yield made
    made.engine.hang_up()


def add(session: Session, key: str, **arguments: str) -> ItemId:
    store = session.graph_store
    edits, item = recipes.add_operator(store.graph, key, 0, 0)
    store.submit(edits, "Add")
    for path, text in arguments.items():
        if text in store.graph.nodes:
            assert store.attempt(recipes.connect, "Connect", ItemId(text), 0, item, path)
        else:
            assert store.attempt(recipes.set_literal, "Set", item, path, text)
    return item


def finish(qtbot: QtBot, session: Session) -> None:
    qtbot.waitUntil(lambda: not session.run.state.busy)


def slide(session: Session, item: ItemId, text: str, path: str = "data") -> None:
    session.run.follow(recipes.set_literal(session.graph_store.graph, item, path, text), "Slide", "slide")


def value(session: Session, item: ItemId) -> float | None:
    records = session.results.outputs(item)
    if not records:
        return None
    assert isinstance(records[0], TensorRecord)
    shown = records[0].summary.value
    assert isinstance(shown, float)
    return shown


def squared(qtbot: QtBot, session: Session) -> tuple[ItemId, ItemId]:
    """x = 3, loss = x * x, a backward, and a run of them."""
    x = add(session, "torch.tensor", data="3.0", requires_grad="True")
    loss = add(session, "operator.mul", a=x, b=x)
    assert session.graph_store.attempt(recipes.append_backward, "Append", loss)
    session.run.run()
    finish(qtbot, session)
    assert value(session, loss) == 9.0
    return x, loss


def test_what_is_shown_is_the_last_literals_and_undo_is_one_step(qtbot: QtBot, session: Session) -> None:
    x, loss = squared(qtbot, session)
    steps, shown = session.graph_store.undo_stack.count(), list[float | None]()
    session.results.changed.connect(lambda _: shown.append(value(session, loss)))
    for text in ("4.0", "5.0", "6.0", "7.0"):
        slide(session, x, text)
        assert value(session, loss) == 9.0, "the older run is shown until the newer one is whole"
    finish(qtbot, session)
    grad = session.results.grad(x)
    assert value(session, loss) == 49.0
    assert grad is not None and grad.grad is not None and grad.grad.value == 14.0
    assert set(shown) == {16.0, 49.0}, "the first and the newest; nothing half-done"
    assert session.graph_store.undo_stack.count() == steps + 1
    session.graph_store.undo_stack.undo()
    assert session.graph_store.graph.nodes[x].literals["data"] == "3.0"


def test_a_value_that_fails_is_shown_and_the_next_good_one_recovers(qtbot: QtBot, session: Session) -> None:
    size = add(session, "torch.ones", size="(3,)", requires_grad="True")
    other = add(session, "torch.ones", size="(3,)")
    product = add(session, "operator.mul", a=size, b=other)
    loss = add(session, "torch.sum", input=product)
    assert session.graph_store.attempt(recipes.append_backward, "Append", loss)
    session.run.run()
    finish(qtbot, session)
    slide(session, size, "(4,)", "size")
    finish(qtbot, session)
    failure = session.results.failure(product)
    assert failure is not None and "must match" in failure.what
    assert value(session, loss) is None
    slide(session, size, "(1,)", "size")
    finish(qtbot, session)
    assert not session.results.failures
    assert value(session, loss) == 3.0
    assert session.results.grad(size) is not None, "it went on to where it stood before the failure"


def test_a_slow_run_is_not_queued_up_and_stop_ends_the_movement(qtbot: QtBot, session: Session) -> None:
    x, loss = squared(qtbot, session)
    started = list[str]()
    session.engine.received.connect(lambda event: started.append(type(event).__name__))
    for k in range(50):
        slide(session, x, f"{k}.5")
    finish(qtbot, session)
    assert started.count("Started") == 2
    assert value(session, loss) == 49.5**2
    slide(session, x, "8.0")
    slide(session, x, "9.0")
    session.run.stop()
    finish(qtbot, session)
    assert session.graph_store.graph.nodes[x].literals["data"] == "9.0"
    assert started.count("Started") <= 3, "what was to come after the stopped run is not begun"
    session.run.run()
    finish(qtbot, session)
    assert value(session, loss) == 81.0
