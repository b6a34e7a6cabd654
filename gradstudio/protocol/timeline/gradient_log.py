"""The state of each gradient at every tick: kept as a log a value, never computed anew. No Qt, no torch.

What the engine tells (`Gradients`) is final; between two tellings the autograd rows say which gradient came when.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.protocol import gradient_sentences as words
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced, EdgeValue
from gradstudio.protocol.messages.events import GradPart, GradRow, InRecord, Row
from gradstudio.protocol.messages.records import GradState, ModuleRecord, Record, Summary, TensorRecord, TupleRecord
from gradstudio.protocol.timeline.model import Turns
from gradstudio.protocol.timeline.tick_trimming import Renumbering
from gradstudio.protocol.timeline.value_log import ValueLog

Key = tuple[ItemId, int, str]
"""Node, output, path within the output."""
LEAF_NODE = "AccumulateGrad"
OFF = ("cut", "not_required")
NO_RECORD = InRecord()


class GradientLog:
    """Logs of all values, and what backwards have ended when."""

    def __init__(self) -> None:
        """Nothing is known."""
        self._logs: dict[Key, ValueLog] = {}
        self._by_node: dict[ItemId, dict[Key, None]] = {}
        self._leaves: dict[int, Key] = {}
        self._waiting: dict[Key, None] = {}
        self._ticks: list[int] = []
        self._nodes: list[ItemId] = []
        self._changed: set[ItemId] = set()
        self._ended: list[tuple[int, int]] = []
        self._open: BackwardTraced | None = None
        self._open_number = 0
        self._last_number = 0
        self._reached_at = -1  # when an autograd node last ran
        self._pass_number = 1

    # -------------------------------------------------------------- reading

    def at(self, key: Key, tick: int | None) -> GradRow | None:
        """The state at a tick; None: now."""
        log = self._logs.get(key)
        if log is None or not log.rows:
            return None
        place = len(log.rows) if tick is None else bisect_right(log.ticks, tick)
        return log.rows[place - 1] if place else None

    def alone(
        self, key: Key, tick: int | None, backward: int | None, turns: Turns | None, made: int | None
    ) -> GradRow | None:
        """What one backward sent, or what came to the value made at tick `made` in these turns."""
        log = self._logs.get(key)
        if log is None or made is None:
            return None
        for place, number, arrived, row in reversed(log.arrivals):
            asked = backward == number or (backward is None and place > made)
            if asked and (tick is None or place <= tick) and (turns is None or log.leaf or arrived == turns):
                return row
        birth = self.at(key, made)
        if birth is None or birth.state in OFF:
            return birth
        ended = any(
            (tick is None or end <= tick) and end > made and backward in (None, number) for end, number in self._ended
        )
        state, reason = ("not_reached", words.NOT_REACHED) if ended else ("not_run", words.NOT_RUN)
        return GradRow(node=key[0], output=key[1], path=key[2], state=state, reason=reason)  # type: ignore[arg-type]  # two of its seven words

    def keys_of(self, node: ItemId) -> tuple[Key, ...]:
        """The values of a node."""
        return tuple(self._by_node.get(node, ()))

    def now(self) -> Iterator[GradRow]:
        """Every gradient as it stands last."""
        return (row for log in self._logs.values() if (row := log.now) is not None)

    def held_by_leaves(self, tick: int) -> Iterator[Summary]:
        """The `.grad` of every leaf at a tick; of leaves that share their memory, one."""
        seen = set[int]()
        for key, log in self._logs.items():
            row = self.at(key, tick) if log.leaf and log.storage not in seen else None
            if row is not None and row.grad is not None:
                seen |= {log.storage} - {0}
                yield row.grad

    def changed(self, low: int, high: int) -> set[ItemId]:
        """Nodes whose gradients changed behind `low`, up to `high`."""
        return set(self._nodes[bisect_right(self._ticks, low) : bisect_right(self._ticks, high)])

    # -------------------------------------------------------------- what is told

    def made(self, tick: int, row: Row) -> None:
        """A statement gave its outputs; behind a backward, that backward is over."""
        if self._open is not None:
            if self._open.rows or self._open.statement == row.node:
                self._end_backward(tick, self._open_number)
            self._open = None
        self._pass_number = row.pass_number
        for output, record in enumerate(row.outputs):
            if isinstance(record, TensorRecord):  # nearly all are
                self._born(tick, (row.node, output, ""), record, row.turns)
                continue
            for path, tensor in _tensors_within(record):
                self._born(tick, (row.node, output, path), tensor, row.turns)

    def began(self, traced: BackwardTraced, number: int) -> None:
        """A backward has run; one that executed no autograd node counts when its statement's row follows."""
        self._open, self._open_number = traced, number

    def reached(self, tick: int, traced: BackwardTraced, number: int, row: AutogradRow) -> None:
        """An autograd node was executed: gradients came to the values at its edges."""
        self._open, self._open_number, self._last_number = traced, number, number
        self._reached_at = tick
        for value in row.values:
            grad = row.incoming[value.index] if value.index < len(row.incoming) else None
            if grad is None:
                continue
            if row.autograd == LEAF_NODE:
                self._accumulated(tick, traced, number, row, value, grad)
            elif row.reduction is not None:
                self._reduced(tick, traced, number, row, value)
            else:
                self._arrived(tick, number, value, grad)

    def complete(self, tick: int, number: int, row: AutogradRow) -> None:
        """The row of that tick, of which only outlines were told, has its figures: they stand where outlines stood."""
        for value in row.values:
            log = self._logs.get((value.node, value.output, value.path))
            grad = row.incoming[value.index] if value.index < len(row.incoming) else None
            if log is None or grad is None:
                continue
            held = (row.after or grad) if row.autograd == LEAF_NODE else None
            if row.reduction is not None:
                grad = held = _mean(row, value) or grad
            log.complete(tick, number, value, grad, held)
            self._changed.add(value.node)

    def new_pass(self, tick: int, pass_number: int, repeated: frozenset[ItemId]) -> None:
        """Another pass begins: what the repeated part made is history, what set-up's leaves hold is left over."""
        self._pass_number = pass_number
        for key, log in self._logs.items():
            now = log.now
            if now is None:
                continue
            if key[0] in repeated or (not log.leaf and now.state not in OFF):
                self._put(tick, key, log, None)
            elif log.leaf and log.parts:
                self._put(tick, key, log, _leaf_row(key, now.grad, log.parts, None, pass_number))

    def add_rows(self, tick: int, rows: Iterable[GradRow], whole: bool, in_record: InRecord = NO_RECORD) -> set[ItemId]:
        """The engine tells how gradients stand; the nodes of which it says something else than was known."""
        heard: set[Key] = set()
        changed: set[ItemId] = set()
        for node in in_record.births:
            self._confirm(tick, node, "not_run", words.NOT_RUN, heard, changed)
        for node in in_record.arrivals:
            self._confirm(tick, node, "value", words.UNHEARD, heard, changed)
        for row in rows:
            key = (row.node, row.output, row.path)
            heard.add(key)
            if self._tell(tick, key, row, whole):
                changed.add(row.node)
        if whole:
            for key, log in self._logs.items():
                if key not in heard and log.now is not None:
                    self._put(tick, key, log, None)
                    changed.add(key[0])
        return changed

    def renumber(self, ticks: Renumbering) -> None:
        """Only some ticks stay, numbered anew; what happened between two of them holds from the second on."""
        new = ticks.new.__getitem__
        for log in self._logs.values():
            last = dict(zip(map(new, log.ticks), range(len(log.ticks)), strict=True))
            log.ticks, log.rows = list(last), [log.rows[place] for place in last.values()]
            if log.provisional:
                log.provisional = {place for place, old in enumerate(last.values()) if old in log.provisional}
            log.arrivals = [
                (ticks.new[tick], number, turns, row) for tick, number, turns, row in log.arrivals if ticks.stays[tick]
            ]
        # Once a tick and node: what was between ticks that stay would else be carried along for ever.
        told = dict.fromkeys(zip(map(new, self._ticks), self._nodes, strict=True))
        self._ticks, self._nodes = [tick for tick, _ in told], [node for _, node in told]
        last_at = {ticks.new[tick]: (tick, number) for tick, number in self._ended}
        self._ended = [
            (ticks.new[tick], number)
            for tick, number in self._ended
            if ticks.stays[tick] or last_at[ticks.new[tick]] == (tick, number)
        ]
        self._reached_at = ticks.new[self._reached_at] if self._reached_at >= 0 else -1

    def take_changed(self) -> set[ItemId]:
        """The nodes of whose gradients something else is known than when this was last asked."""
        changed, self._changed = self._changed, set()
        return changed

    # -------------------------------------------------------------- private

    def _born(self, tick: int, key: Key, record: TensorRecord, turns: Turns) -> None:
        log = self._log(key)
        log.turns, log.leaf, log.storage, log.parts = turns, record.is_leaf and record.requires_grad, record.storage, ()
        node, output, path = key
        if not record.requires_grad:
            row = GradRow(node=node, output=output, path=path, state="not_required", reason=words.NOT_REQUIRED)
            self._put(tick, key, log, row, provisional=True)
            return
        row = GradRow(node=node, output=output, path=path, state="not_run", reason=words.NOT_RUN)
        if log.leaf:
            twin = self._logs.get(self._leaves.get(record.storage, key))
            if twin is not None and twin is not log and twin.leaf and twin.now is not None:
                log.parts = twin.parts
                row = msgspec.structs.replace(twin.now, node=node, output=output, path=path)
            if record.storage:
                self._leaves.setdefault(record.storage, key)
        self._put(tick, key, log, row, provisional=log.leaf)

    def _arrived(self, tick: int, number: int, value: EdgeValue, grad: Summary) -> None:
        key = (value.node, value.output, value.path)
        log = self._log(key)
        reason = words.value_after(value.after) if value.after else words.VALUE
        row = GradRow(node=value.node, output=value.output, path=value.path, state="value", reason=reason, grad=grad)
        log.arrivals.append((tick, number, value.turns, row))
        if value.turns == log.turns:
            self._put(tick, key, log, row)

    def _accumulated(
        self, tick: int, traced: BackwardTraced, number: int, row: AutogradRow, value: EdgeValue, grad: Summary
    ) -> None:
        key = (value.node, value.output, value.path)
        log = self._log(key)
        log.leaf = True
        part = GradPart(traced.pass_number, number, grad)
        log.parts = (part,) if row.before is None or _is_zero(row.before) else (*log.parts, part)
        held = row.after if row.after is not None else grad
        alone = _leaf_row(key, grad, (part,), number, traced.pass_number)
        log.arrivals.append((tick, number, value.turns, alone))
        self._put(tick, key, log, _leaf_row(key, held, log.parts, number, traced.pass_number))

    def _reduced(self, tick: int, traced: BackwardTraced, number: int, row: AutogradRow, value: EdgeValue) -> None:
        """Ranks have put the mean of their gradients into a leaf's `.grad`."""
        key = (value.node, value.output, value.path)
        mean, log = _mean(row, value), self._log(key)
        if mean is None:
            return
        log.leaf = True
        log.parts = (GradPart(traced.pass_number, number, mean),)
        held = _leaf_row(key, mean, log.parts, number, traced.pass_number)
        log.arrivals.append((tick, number, value.turns, held))
        self._put(tick, key, log, held)

    def _end_backward(self, tick: int, number: int) -> None:
        """The statement is over: what was waiting was not reached; what another backward left is left over."""
        self._ended.append((tick, number))
        for key in list(self._waiting):
            log, (node, output, path) = self._logs[key], key
            row = GradRow(node=node, output=output, path=path, state="not_reached", reason=words.NOT_REACHED)
            self._put(tick, key, log, row, provisional=True)
        for key, log in self._logs.items():
            now = log.now
            if log.leaf and log.parts and now is not None and log.parts[-1].backward != number:
                self._put(tick, key, log, _leaf_row(key, now.grad, log.parts, number, self._pass_number))

    def _tell(self, tick: int, key: Key, row: GradRow, whole: bool) -> bool:
        """A whole telling corrects what was supposed since the last one; any other says what a statement changed."""
        log = self._log(key)
        now = log.now
        if row.state == "accumulated":
            log.leaf, log.parts = True, row.parts
        elif row.grad is None or (log.leaf and _is_zero(row.grad)):
            log.parts = ()
        elif log.leaf and not log.parts:
            log.parts = (GradPart(self._pass_number, self._last_number, row.grad),)
        if now == row:
            log.provisional.difference_update(log.provisional if whole else ())
            return False
        last = len(log.rows) - 1
        if whole and last in log.provisional and not self._came_later(tick, log, row):
            self._correct(log, row)
            self._note_waiting(key, row)
        else:
            self._put(tick, key, log, row)
        return True

    def _confirm(
        self, tick: int, node: ItemId, state: GradState, reason: str, heard: set[Key], changed: set[ItemId]
    ) -> None:
        """What the record said holds; where it was not heard, what can be said without it."""
        key = (node, 0, "")
        heard.add(key)
        log = self._log(key)
        now = log.now
        if now is not None and now.state == state:
            log.provisional.clear()
            return
        known: GradState = "not_retained" if state == "value" else state
        self._put(tick, key, log, GradRow(node=node, state=known, reason=reason))
        changed.add(node)

    def _came_later(self, tick: int, log: ValueLog, row: GradRow) -> bool:
        """Whether a value did wait when it was made, as was supposed: a backward has come between."""
        supposed = log.now
        waited = supposed is not None and supposed.state == "not_run" and row.state not in OFF
        return waited and log.ticks[-1] < self._reached_at <= tick

    def _correct(self, log: ValueLog, row: GradRow) -> None:
        """What was supposed is replaced; a cut holds from the births of all turns on."""
        for place in sorted(log.provisional, reverse=True):
            supposed = log.rows[place]
            newest = place == len(log.rows) - 1
            if newest or (supposed is not None and supposed.state in OFF and row.state in OFF):
                log.rows[place] = row
        log.provisional.clear()

    def _log(self, key: Key) -> ValueLog:
        log = self._logs.get(key)
        if log is None:
            log = self._logs[key] = ValueLog()
            self._by_node.setdefault(key[0], {})[key] = None
        return log

    def _put(self, tick: int, key: Key, log: ValueLog, row: GradRow | None, provisional: bool = False) -> None:
        log.put(tick, row, provisional)
        self._ticks.append(tick)
        self._nodes.append(key[0])
        self._changed.add(key[0])
        self._note_waiting(key, row)

    def _note_waiting(self, key: Key, row: GradRow | None) -> None:
        if row is not None and row.state == "not_run":
            self._waiting[key] = None
        else:
            self._waiting.pop(key, None)


def _mean(row: AutogradRow, value: EdgeValue) -> Summary | None:
    """What an all-reduce left in a leaf's `.grad`."""
    return row.outgoing[value.index] if value.index < len(row.outgoing) else None


def _tensors_within(record: Record) -> Iterator[tuple[str, TensorRecord]]:
    match record:
        case ModuleRecord(parameters=parameters):
            yield from parameters.items()
        case TupleRecord(items=items):
            for place, item in enumerate(items):
                if isinstance(item, TensorRecord):
                    yield str(place), item
        case _:
            return


def _leaf_row(
    key: Key, grad: Summary | None, parts: tuple[GradPart, ...], last_backward: int | None, pass_number: int
) -> GradRow:
    """State of a leaf whose `.grad` is the sum of `parts`, behind this pass's last backward (None: none ran yet)."""
    node, output, path = key
    if all(part.backward == last_backward for part in parts):
        return GradRow(node=node, output=output, path=path, state="value", reason=words.LEAF_VALUE, grad=grad)
    if words.is_untouched(parts, pass_number):
        reason = words.untouched_sentence(parts[0])
        return GradRow(node=node, output=output, path=path, state="value", reason=reason, grad=grad)
    reason = words.accumulation_sentence(parts, pass_number)
    return GradRow(node=node, output=output, path=path, state="accumulated", reason=reason, grad=grad, parts=parts)


def _is_zero(summary: Summary) -> bool:
    return summary.minimum == 0 and summary.maximum == 0 and not (summary.nan or summary.posinf or summary.neginf)
