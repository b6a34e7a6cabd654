"""What a large document is made of is no work of the collector of garbage until it is closed."""

import gc
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from gradstudio.graph.edits import AddNode, apply_all
from gradstudio.graph.model import ROOT, Graph, ItemId, Node
from gradstudio.graph.slices import AT_ONCE
from gradstudio.ui.state import long_lived
from gradstudio.ui.state.session import Session


@pytest.fixture(autouse=True)
def soon_at_rest(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(long_lived, "QUIET_MS", 1)
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


def nodes(count: int) -> Graph:
    graph = Graph()
    apply_all(graph, tuple(AddNode(Node(id=ItemId(f"n{k}"), operator="torch.rand"), ROOT, k) for k in range(count)))
    return graph


def is_walked(thing: object) -> bool:
    """Whether a collection looks at it."""
    return any(one is thing for one in gc.get_objects())


def test_a_large_document_is_set_aside_when_it_is_at_rest_and_looked_at_again_when_it_is_closed(
    session: Session, qtbot: QtBot
) -> None:
    graph = nodes(AT_ONCE + 1)
    session.restore(graph, None)
    assert is_walked(graph)
    qtbot.waitUntil(lambda: not is_walked(graph))
    session.close()
    assert is_walked(graph)
    qtbot.waitUntil(lambda: not is_walked(graph))  # others may live on


def test_garbage_of_a_document_that_is_replaced_is_found(session: Session, qtbot: QtBot) -> None:
    graph = nodes(AT_ONCE + 1)
    session.restore(graph, None)
    qtbot.waitUntil(lambda: not is_walked(graph))
    session.restore(nodes(1), None)
    assert is_walked(graph)


def test_a_small_document_is_left_where_it_is(session: Session) -> None:
    session.restore(nodes(AT_ONCE), None)
    assert session.findChild(long_lived.LongLived) is None
    session.restore(nodes(AT_ONCE + 1), None)
    assert session.findChild(long_lived.LongLived) is not None
