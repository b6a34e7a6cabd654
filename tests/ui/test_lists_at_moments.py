"""A list on a card, at a moment of the past: what Python had in it then."""

from pytestqt.qtbot import QtBot

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.records import TupleRecord
from tests.ui.desk import Desk

PROGRAM = """
import torch
seen = []
marks = [0.5, 1.5]
for k in range(4):
    seen.append(k * 0.5)
    marks[0] = k * 2.0
"""


def _plain() -> list[tuple[list[float], list[float]]]:
    """What Python has in both lists behind each statement that writes into one."""
    seen, marks, then = list[float](), [0.5, 1.5], []
    for k in range(4):
        seen.append(k * 0.5)
        then.append((list(seen), list(marks)))
        marks[0] = k * 2.0
        then.append((list(seen), list(marks)))
    return then


def _items(desk: Desk, item: ItemId) -> list[object]:
    (record,) = desk.session.results.outputs(item) or ()
    assert isinstance(record, TupleRecord)
    return [getattr(part, "value", None) for part in record.items]


def test_a_list_is_shown_as_it_was_at_the_moment_that_is_looked_at(desk: Desk, qtbot: QtBot) -> None:
    desk.sit_down(qtbot)
    desk.open(PROGRAM)
    desk.rest()
    desk.window.actions["run.run"].trigger()
    desk.until(lambda: desk.session.run.state.at_end)
    desk.rest()
    graph, ticks = desk.graph, desk.session.results.timeline.ticks
    seen, marks = (item for item, node in graph.nodes.items() if node.operator == "python.list")
    writers = {"python.append", "operator.setitem"}
    moments = [tick.index for tick in ticks if tick.node in graph.nodes and graph.nodes[tick.node].operator in writers]
    plain = _plain()
    assert len(moments) == len(plain)
    for moment, (had, had_marks) in zip(moments, plain, strict=True):
        desk.session.attention.look_at(moment)
        assert (_items(desk, seen), _items(desk, marks)) == (had, had_marks)
