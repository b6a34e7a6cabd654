"""Which moment of a record is meant: ``--step 12``, ``--moment backward:loss``; and its sentence. No Qt."""

import difflib
from collections.abc import Mapping, Sequence

from gradstudio.graph.analysis import call_addresses
from gradstudio.graph.groups.call_ids import outermost
from gradstudio.graph.model import Graph, ItemId
from gradstudio.protocol.timeline.run_timeline import Timeline
from gradstudio.protocol.timeline.step_numbering import step_count
from gradstudio.ui.pictures.errors import PictureRefused
from gradstudio.ui.state.results.run_names import RunNames
from gradstudio.ui.timeline.moment_words import Names, autograd_words, step_words, way_words

PHASES = ("forward", "backward")


def step_ticks(timeline: Timeline) -> list[int]:
    """The tick at which each step is complete, in order."""
    last: dict[int, int] = {tick.group: tick.index for tick in timeline.ticks}
    return [last[group] for group in sorted(last)]


def tick_of_step(timeline: Timeline, number: int) -> int:
    """The tick of a step as a person counts them, from 1.

    Raises:
        PictureRefused: there are not so many.
    """
    count = step_count(timeline, unfolded=False)
    if not 1 <= number <= count:
        there_are = f"the record has steps 1 to {count}" if count else "nothing was recorded"
        raise PictureRefused(f"there is no step {number}: {there_are}")
    return step_ticks(timeline)[number - 1]


def tick_of_moment(timeline: Timeline, graph: Graph, words: str) -> int:
    """The last step of a node forward or backward, in the form ``backward:loss``.

    Raises:
        PictureRefused: it is no moment, the node is not known, or did not run so.
    """
    phase, mark, name = words.partition(":")
    if phase not in PHASES or not mark or not name:
        raise PictureRefused(f"'{words}' is no moment: write forward:NODE or backward:NODE, as in backward:loss")
    (item,) = items_called(graph, (name,))
    inside = set(_shown_on(graph, item))
    ticks = [tick for tick in step_ticks(timeline) if timeline.ticks[tick].phase == phase]
    found = [tick for tick in ticks if outermost(timeline.ticks[tick].node) in inside]
    if not found:
        came = "no backward came by there" if phase == "backward" else "it did not run"
        raise PictureRefused(f"there is no moment {words}: {came}")
    exact = [tick for tick in found if outermost(timeline.ticks[tick].node) == item]
    return (exact or found)[-1]


def items_called(graph: Graph, names: Sequence[str]) -> tuple[ItemId, ...]:
    """The items that reports call so.

    Raises:
        PictureRefused: one of them is not there; with what is written nearly so.
    """
    items = _items_by_name(graph)
    for name in names:
        if name not in items:
            near = difflib.get_close_matches(name, items, 3)
            offer = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(sorted(items)[:12])}"
            raise PictureRefused(f"there is no node '{name}': {offer}")
    return tuple(items[name] for name in names)


def caption(timeline: Timeline, graph: Graph, ran: RunNames, moment: int, homes: Mapping[ItemId, ItemId]) -> str:
    """The moment in a line: ``step 12 of 17 · backward 1 · z = x * y (MulBackward0)``; a part says of what."""
    ticks = timeline.ticks
    tick, names = ticks[moment], Names(graph, {}, ran)
    words = [step_words(timeline, moment, unfolded=False), *way_words(tick, ticks[-1].pass_number > 1)]
    statement, home = names.statement(tick.node), homes.get(tick.node, tick.node)
    if home != tick.node:
        statement = f"{names.name(tick.node)} in {names.statement(home)}"
    if tick.autograd is not None:
        statement += f" ({autograd_words(timeline, tick, unfolded=False)})"
    return " · ".join([*words, statement])


def _items_by_name(graph: Graph) -> dict[str, ItemId]:
    """Every name that means an item: its address in reports, or any of those that it binds."""
    found = {name: item for item in graph.order() if item in graph.nodes for name in graph.nodes[item].names}
    found.pop("_", None)
    return found | {address: item for item, address in call_addresses.addresses(graph).items() if item in graph}


def _shown_on(graph: Graph, item: ItemId) -> list[ItemId]:
    """The item and what is drawn in its box: its parts, and the module that it calls."""
    from gradstudio.scene.figure.figure_graph import FigureGraph

    figure = FigureGraph(graph)
    return figure.members(figure.homes.get(item, item))
