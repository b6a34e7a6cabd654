"""What the timeline says of a cell that is pointed at, as rich text. No Qt here."""

from collections.abc import Iterable
from html import escape

from gradstudio.graph.groups.call_ids import outermost
from gradstudio.protocol.gradient_sentences import hook_words
from gradstudio.protocol.messages.backward_trace import AutogradRow, HookRun, Reduction
from gradstudio.protocol.messages.records import Record, Summary, TensorRecord
from gradstudio.protocol.ranks.arrival_words import late_words
from gradstudio.protocol.timeline.run_timeline import Tick, Timeline
from gradstudio.scene import value_format
from gradstudio.ui.timeline.moment_words import MAX_LINES, Names, autograd_words, way_words

MAX_NUMBERS = 6


def card(timeline: Timeline, places: range, names: Names, *, under_way: bool = False) -> str:
    """Rich text of a cell: the node, what happened, what came and went, how long it took.

    `under_way`: it is of a call of a group that was begun and not left.
    """
    ticks = timeline.ticks
    last = ticks[places[-1]]
    unfolded = len(places) == 1
    if under_way:
        call = outermost(last.node)
        return f"<b><code>{escape(names.text(call))}</code></b>{names.gone(call)}<br>begun: the run is inside"
    head = f"<b><code>{escape(names.text(last.node))}</code></b>{names.gone(last.node)}"
    way = way_words(last, ticks[-1].pass_number > 1)
    if last.autograd is None:
        lines = [" · ".join(["forward", *way]), *_values(last)]
    else:
        what = escape(autograd_words(timeline, last, unfolded))
        lines = [" · ".join([*way, what]), *_gradients([ticks[place] for place in places])]
    seconds = sum(_seconds(ticks[place]) for place in places)
    lines.append(duration(seconds))
    return "<br>".join([head, *(line for line in lines if line)])


def duration(seconds: float) -> str:
    """``1.2 ms``; "" when it was not measured."""
    if seconds <= 0:
        return ""
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} µs"


def short(summary: Summary | None) -> str:
    """A tensor in a few words: shape, its numbers or their range, what is not finite."""
    if summary is None:
        return "none"
    parts = [value_format.shape(summary.shape) if summary.shape else "", figures(summary)]
    return "  ".join(part for part in parts if part)


def figures(summary: Summary) -> str:
    """Its numbers, of more than a few their range; what is not finite."""
    scalars = value_format.nested_scalars(summary.value) if summary.value is not None else []
    complex_pairs = summary.dtype.removeprefix("torch.").startswith("complex")
    if scalars and len(scalars) <= MAX_NUMBERS and not complex_pairs:
        return ", ".join(value_format.number(value) for value in scalars)
    parts = [value_format.extent(summary), value_format.oddities(summary)]
    return "  ".join(part for part in parts if part)


def _values(tick: Tick) -> Iterable[str]:
    outputs = tick.row.outputs if tick.row is not None else ()
    for record in outputs[:MAX_LINES]:
        yield escape(_record(record))
    if len(outputs) > MAX_LINES:
        yield f"… {len(outputs)} results"
    if tick.row is not None:
        yield late_words(tick.row.came)


def _record(record: Record) -> str:
    return short(record.summary) if isinstance(record, TensorRecord) else value_format.one_line_value(record)


def _gradients(ticks: list[Tick]) -> Iterable[str]:
    """What came into the first of the autograd nodes, and what left the last."""
    first = ticks[0].autograd
    last = ticks[-1].autograd
    if first is None or last is None:
        return
    if last.reduction is not None:
        yield from _reduction(last, last.reduction)
        return
    for summary in first.incoming[:MAX_LINES]:
        yield f"gradient in: {escape(short(summary))}"
    for summary in last.outgoing[:MAX_LINES]:
        yield f"gradient out: {escape(short(summary))}"
    rows = [tick.autograd for tick in ticks if tick.autograd is not None]
    if changing := [hook for row in rows for hook in row.hooks if hook.changed]:
        yield from _hooks(changing)
    if last.after is not None:
        before = short(last.before) if last.before is not None else "None"
        yield f".grad: {escape(before)} → {escape(short(last.after))}"


def _hooks(changing: list[HookRun]) -> Iterable[str]:
    """What hooks of the program's own have made of gradients."""
    for hook in changing[:MAX_LINES]:
        yield f"{escape(hook_words(hook))}: {escape(short(hook.before))} → {escape(short(hook.after))}"


def _reduction(row: AutogradRow, reduction: Reduction) -> Iterable[str]:
    """The gradients of the first parameter of a bucket on each rank, their mean, and who was late."""
    for share in reduction.shares[:MAX_LINES]:
        yield f"rank {share.rank}: {escape(short(share.grads[0] if share.grads else None))}"
    if row.outgoing:
        more = f" and of {len(row.outgoing) - 1} more" if len(row.outgoing) > 1 else ""
        yield f"mean: {escape(short(row.outgoing[0]))}{more}"
    yield late_words(reduction.arrivals)


def _seconds(tick: Tick) -> float:
    if tick.row is not None:
        return tick.row.seconds
    return tick.autograd.seconds if tick.autograd is not None else 0.0
