"""The arrays behind the strip: cells, sections, turns, marks; without a window."""

from functools import partial

from gradstudio.graph.model import ItemId
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.timeline.run_timeline import Timeline
from gradstudio.ui.state.results.timeline_cursor import loops_around
from gradstudio.ui.timeline.pixel_columns import merge_columns
from gradstudio.ui.timeline.section_labels import section_labels, turn_labels
from gradstudio.ui.timeline.tick_arrays import BACKWARD, NOT_FINITE, TickArrays
from gradstudio.ui.timeline.time_scale import Scale, clamp, fit_all, reveal, zoom_at
from tests.ui.timeline.runs import row, traced


def no_loops(_node: ItemId) -> tuple[ItemId, ...]:
    return ()


def one_loop(_node: ItemId) -> tuple[ItemId, ...]:
    return (ItemId("loop"),)


def two_paths() -> Timeline:
    """x, y, then a backward in which y has two autograd nodes."""
    timeline = Timeline()
    timeline.add_rows([row(1, "x"), row(2, "y")])
    timeline.add_backward(traced(1, ("y", "MulBackward0"), ("y", "AddBackward0"), ("x", "AccumulateGrad")))
    timeline.add_rows([row(3, "back")])
    return timeline


def test_a_cell_is_a_group_and_unfolded_a_tick() -> None:
    recording = TickArrays(no_loops)
    assert recording.follow(two_paths())
    folded, unfolded = recording.cells(False), recording.cells(True)
    assert (len(folded), len(unfolded)) == (5, 6)
    assert [recording.nodes[code] for code in folded.codes] == ["x", "y", "y", "x", "back"]
    assert [bool(mark & BACKWARD) for mark in folded.marks] == [False, False, True, True, False]
    assert [folded.last_tick(cell) for cell in range(5)] == [0, 1, 3, 4, 5]
    assert [folded.at(tick) for tick in range(6)] == [0, 1, 2, 2, 3, 4]


def test_what_is_new_is_added_and_a_new_run_replaces_all() -> None:
    timeline, recording = two_paths(), TickArrays(no_loops)
    recording.follow(timeline)
    assert not recording.follow(timeline)
    timeline.add_rows([row(4, "z")])
    assert recording.follow(timeline)
    assert recording.count == 7
    timeline.clear()
    timeline.add_rows([row(1, "x")])
    assert recording.follow(timeline)
    assert (recording.count, recording.nodes) == (1, ["x"])


def test_nan_is_marked_also_when_figures_come_later() -> None:
    timeline, recording = Timeline(), TickArrays(no_loops)
    late = row(2, "y", nan=1)
    unknown = type(late)(step=2, node=late.node, outputs=(), complete=False)
    timeline.add_rows([row(1, "x", nan=2), unknown])
    recording.follow(timeline)
    assert [bool(mark & NOT_FINITE) for mark in recording.cells(False).marks] == [True, False]
    timeline.add_rows([late])
    assert recording.follow(timeline)
    assert [bool(mark & NOT_FINITE) for mark in recording.cells(False).marks] == [True, True]


def test_a_hit_finds_its_tick_forward_and_in_a_backward() -> None:
    recording = TickArrays(no_loops)
    recording.follow(two_paths())
    assert recording.tick_of(2, 0, -1) == 1
    assert recording.tick_of(3, 0, -1) == 5
    assert recording.tick_of(2, 1, 2) == 4
    assert recording.tick_of(99, 0, -1) is None
    assert recording.tick_of(2, 7, 0) is None


def test_backwards_have_titles_and_passes_when_there_are_several() -> None:
    timeline, recording = two_paths(), TickArrays(no_loops)
    recording.follow(timeline)
    titles = [label.texts[0] for label in section_labels(recording, recording.cells(False), Scale(0, 50), 400)]
    assert titles == ["backward 1"]
    timeline.add_rows([row(4, "x", passes=2)])
    recording.follow(timeline)
    titles = [label.texts[0] for label in section_labels(recording, recording.cells(False), Scale(0, 50), 400)]
    assert titles == ["pass 1", "pass 2", "backward 1"]


def loop(turns: int) -> Timeline:
    """A loop with a backward in each turn; the leaf stands outside."""
    timeline = Timeline()
    timeline.add_rows([row(1, "x")])
    for turn in range(turns):
        timeline.add_rows([row(2 + 2 * turn, "y", turns=(turn,))])
        timeline.add_backward(traced(turn + 1, ("y", "PowBackward0"), ("x", "AccumulateGrad"), turns=(turn,)))
        timeline.add_rows([row(3 + 2 * turn, "back", turns=(turn,))])
    return timeline


def test_a_turn_holds_the_backward_that_was_begun_in_it() -> None:
    recording = TickArrays(one_loop)
    recording.follow(loop(3))
    assert [(turn.start, turn.end, turn.turn) for turn in recording.turns[0]] == [(1, 5, 0), (5, 9, 1), (9, 13, 2)]


def test_turns_too_narrow_to_read_share_a_bracket_and_backwards_a_title() -> None:
    recording = TickArrays(one_loop)
    recording.follow(loop(100))
    cells = recording.cells(False)
    wide = [label.texts[0] for label in turn_labels(recording, cells, Scale(0, 20), 400, 0)]
    assert wide == [f"turn {k}" for k in range(1, 6)]
    narrow = [label.texts[0] for label in turn_labels(recording, cells, fit_all(len(cells), 400), 400, 0)]
    assert narrow == ["turns 1–100"]
    titles = [label.texts[0] for label in section_labels(recording, cells, fit_all(len(cells), 400), 400)]
    assert titles == ["backward 1–100"]


def test_narrow_cells_become_columns_that_miss_nothing() -> None:
    timeline, recording = Timeline(), TickArrays(no_loops)
    timeline.add_rows([row(k + 1, "x" if k != 777 else "odd", nan=int(k == 777)) for k in range(5000)])
    recording.follow(timeline)
    columns = merge_columns(recording.cells(False), Scale(0, 0.1), 600, (recording.number[ItemId("odd")],))
    assert columns.forward == [(0.0, 500.0, 1.0)]
    assert columns.backward == []
    assert columns.odd_forward == columns.lit_forward == [(77.0, 1.0, 1.0)]


def test_zooming_keeps_the_cell_under_the_pointer() -> None:
    before = fit_all(1000, 500)
    after = zoom_at(before, 8, 250, 1000, 500)
    assert after.cell_px > before.cell_px
    assert abs(after.cell(250) - before.cell(250)) < 1e-6
    out = zoom_at(after, -20, 250, 1000, 500)
    assert out == before


def test_a_view_neither_leaves_the_cells_nor_hides_the_one_looked_at() -> None:
    assert clamp(Scale(-5, 10), 1000, 500).first == 0
    assert clamp(Scale(5000, 10), 1000, 500).x(1000) <= 500
    seen = reveal(Scale(0, 10), 700, 1000, 500)
    assert 0 <= seen.x(700) <= 490


CALLS = """import torch


def half(a):
    for _ in range(2):
        a = a / 2
    return a


x = torch.ones(2)
for k in range(3):
    y = half(x)
    z = y * 2
"""


def test_a_turn_of_a_loop_that_calls_a_group_has_one_bracket() -> None:
    graph = read_script(CALLS).graph
    y, z = (next(item for item, node in graph.nodes.items() if name in node.names) for name in "yz")
    inside = graph.definitions["half"].graph
    a = next(item for item, node in inside.nodes.items() if node.operator == "operator.truediv")
    timeline, recording = Timeline(), TickArrays(partial(loops_around, graph))
    for k in range(3):
        inner = [row(9 * k + j, f"{y}/{a}", turns=(k, j)) for j in range(2)]
        timeline.add_rows([*inner, row(9 * k + 3, y, turns=(k,)), row(9 * k + 4, z, turns=(k,))])
    recording.follow(timeline)
    assert [(turn.start, turn.end, turn.turn) for turn in recording.turns[0]] == [(0, 4, 0), (4, 8, 1), (8, 12, 2)]
    assert [turn.turn for turn in recording.turns[1]] == [0, 1] * 3 and "" not in {t.loop for t in recording.turns[1]}
