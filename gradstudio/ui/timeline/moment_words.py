"""What the timeline says of a moment. No Qt here."""

from typing import NamedTuple

from gradstudio.graph.graph_index import index_of
from gradstudio.graph.groups.call_ids import outermost
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.text.item_titles import title
from gradstudio.late_pattern import late
from gradstudio.protocol.messages.backward_trace import AutogradRow
from gradstudio.protocol.timeline import step_numbering as numbering
from gradstudio.protocol.timeline.run_timeline import Tick, Timeline
from gradstudio.ui.state.results.run_names import NOTHING_RAN, RunNames

MAX_LINES = 4
MAX_TEXT = 44
_NUMBERED = late(r"(?<![\w.'\"])[A-Za-z_]\w*_\d+\b")
GONE = " (no longer in the program)"


class Names(NamedTuple):
    """How nodes are called: as they were in the program that ran, else as they are now.

    Attributes:
        graph, texts: the graph as it stands, and the statement of each node.
        ran: the program that ran.
    """

    graph: Graph
    texts: dict[ItemId, str]
    ran: RunNames = NOTHING_RAN

    def name(self, node: ItemId) -> str:
        """The names a node bound when it ran, or its operator; the id of one that nobody knows."""
        if not node:
            return "(no node)"
        return self.ran.title(node) or (title(self.graph, node) if node in self.graph else str(node))

    def text(self, node: ItemId) -> str:
        """The node's statement when it ran, or its name."""
        now = self.texts.get(node, "") if not self.ran.title(node) else ""
        return self.ran.text(node) or now or self.name(node)

    def statement(self, node: ItemId) -> str:
        """The node's statement; its name alone where the statement has names that stand on no card: ``add_1``."""
        text = self.text(node)
        graph = self.ran.graph_or(self.graph)
        binders = index_of(graph).binders
        is_bound = (not graph.nodes.keys().isdisjoint(binders.get(name, ())) for name in _NUMBERED.findall(text))
        return text if all(is_bound) else self.name(node)

    def gone(self, node: ItemId) -> str:
        """That a node is no longer in the program; "" when it is."""
        return GONE if node and outermost(node) not in self.graph else ""


def moment_words(timeline: Timeline, moment: int | None, unfolded: bool, names: Names, inside: int = 0) -> str:
    """The moment that is looked at in a sentence: "Looking back at step 12 of 40: backward 1, y = x * w (…)".

    `inside` is the backward in whose record the run is paused: there nobody looks back, the step is the newest.
    """
    ticks = timeline.ticks
    step = step_words(timeline, moment, unfolded)
    if moment is None or moment >= len(ticks):
        return step
    tick = ticks[moment]
    text = _brief(names.statement(tick.node)) + names.gone(tick.node)
    where = [*way_words(tick, ticks[-1].pass_number > 1), text]
    autograd = f" ({autograd_words(timeline, tick, unfolded)})" if tick.autograd is not None else ""
    if inside and tick.backward == inside:
        return f"Stepping through backward {inside}, {step}: {text}{autograd}"
    return f"Looking back at {step}: {', '.join(where)}{autograd}"


def _brief(text: str) -> str:
    """A statement in a line that fits into a sentence: of Python in several lines the first."""
    line, *more = text.splitlines() or [""]
    return f"{line[: MAX_TEXT - 1].rstrip()}…" if more or len(line) > MAX_TEXT else line


def step_words(timeline: Timeline, moment: int | None, unfolded: bool) -> str:
    """``step 12 of 40``, or that it is now; "" while nothing has happened."""
    ticks = timeline.ticks
    if not ticks:
        return ""
    count = numbering.step_count(timeline, unfolded)
    if moment is None or moment >= len(ticks):
        done = f"Now, {count:,} step{'s' * (count != 1)} {'kept' if timeline.forgotten else 'done'}"
        return f"{done} of {len(ticks) + timeline.forgotten:,}" if timeline.forgotten else done
    return f"step {numbering.step_number(timeline, moment, unfolded):,} of {count:,}"


def way_words(tick: Tick, several_passes: bool) -> list[str]:
    """Which pass, backward and turn a tick belongs to."""
    words = [f"pass {tick.pass_number}"] if several_passes else []
    if tick.backward:
        order = tick.autograd.order if tick.autograd is not None else 1
        words.append(f"backward {tick.backward}" + (f" of order {order}" if order > 1 else ""))
    if tick.turns:
        words.append("turn " + " in ".join(str(turn + 1) for turn in reversed(tick.turns)))
    return words


def autograd_words(timeline: Timeline, tick: Tick, unfolded: bool) -> str:
    """The autograd nodes of a step, in the order they ran."""
    places = (tick.index,) if unfolded else timeline.group_of(tick.index)
    rows = (timeline.ticks[place].autograd for place in places)
    found = list(dict.fromkeys(row_words(row) for row in rows if row is not None))
    return ", ".join(found[:MAX_LINES]) + ("…" if len(found) > MAX_LINES else "")


def row_words(row: AutogradRow) -> str:
    """The autograd node of a row; of an all-reduce its bucket, and who was late."""
    if row.reduction is None:
        changing = [hook.name for hook in row.hooks if hook.changed]
        return f"{row.autograd} (hook {', '.join(changing)})" if changing else row.autograd
    from gradstudio.protocol.ranks.arrival_words import late_words

    late = late_words(row.reduction.arrivals)
    return f"all-reduce of bucket {row.reduction.bucket + 1}{': ' if late else ''}{late}"
