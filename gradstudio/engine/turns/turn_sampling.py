"""Long loops are recorded by sample: some turns in full, the others at the speed of a plain run (semantics §6).

A turn is recorded by doing nothing: the runner goes on statement by statement. At the end of each turn it asks here;
turns that are not to be recorded are run then, and what the record has to know of them is caught up with.
"""

import time
from collections.abc import Callable

from torch import Tensor

from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.gradient.leaf_writes import LeafWrite
from gradstudio.engine.live.live_state import Live, Loaded
from gradstudio.engine.live.program_updates import ProgramUpdates
from gradstudio.engine.run.trace_rows import Pending, Telling
from gradstudio.engine.script.compiled_steps import Head, Step, results_of
from gradstudio.engine.script.stop_conditions import Goal, goes_by
from gradstudio.engine.turns import sampled_loop
from gradstudio.engine.turns.chart.chart_drawing import Charts
from gradstudio.engine.turns.checkpoints.best_checkpoint import BestCheckpoint
from gradstudio.engine.turns.checkpoints.checkpoints import Checkpoint, Checkpoints, Loops, Turns
from gradstudio.engine.turns.checkpoints.file_checkpoints import FileCheckpoints
from gradstudio.engine.turns.gradient_catch_up import catch_up
from gradstudio.engine.turns.inner_turns import InnerTurns
from gradstudio.engine.turns.quick_loop import (
    Notes,
    Path,
    QuickLoop,
    TurnsEnd,
    ids_behind,
    ids_from,
    quick_loop,
    run_turns,
)
from gradstudio.engine.turns.sampled_loop import FIRST, SampledLoop
from gradstudio.engine.turns.shared_stop import shared_stop
from gradstudio.engine.turns.shared_turns import shared_turns
from gradstudio.engine.turns.turn_curves import TurnCurves
from gradstudio.engine.turns.written_leaves import leaves_written
from gradstudio.engine.value.value_records import requires_grad
from gradstudio.engine.value.view_state import is_leaf
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.charts import Watch
from gradstudio.protocol.messages.events import Gradients
from gradstudio.protocol.messages.progress import Turned
from gradstudio.protocol.messages.requests import Do


class TurnSampling:
    """Decides at the end of each turn which turns follow without a record, and runs those.

    Attributes:
        is_on: loops are recorded by sample; else whole, and nothing is told of turns.
        checkpoints: where the run can be put back to; `files`, `best`: send it now and then, to be kept.
        newest_watch: what a person asked last to be told, also while the run is under way; `updates`: what was edited.
        pauses: whether the verb is to end behind a turn.
    """

    def __init__(self, send: Callable[[Message], None], stopped: Callable[[], bool], telling: Telling) -> None:
        """Nothing runs."""
        self._send, self._stopped, self._telling = send, stopped, telling
        self.is_on = False
        self._loops: list[SampledLoop] = []
        self._quick: dict[ItemId, QuickLoop | None] = {}
        self._quick_of: Loaded | None = None
        self._told_s = 0.0
        self._over: set[ItemId] = set()
        self._wanted: tuple[tuple[int, ...], ...] = ()
        self.curves = TurnCurves()
        self.checkpoints = Checkpoints()
        self.files, self.best = FileCheckpoints(), BestCheckpoint(send)
        self.charts = Charts(send, stopped)
        self.updates = ProgramUpdates(send, lambda: self.curves.counts)
        self.newest_watch: Callable[[], Watch | None] = lambda: None
        self.pauses: Callable[[], bool] = lambda: False
        self._watch: Watch | None = None

    def ask(self, request: Do) -> None:
        """What the verb that begins is to do with turns."""
        self.is_on, self._wanted = request.samples_turns, request.turns
        self.files.most_bytes = self.best.most_bytes = request.keeps_bytes
        self.updates.begin(request)
        self.watch(Watch(curves=request.curves, charts=request.charts))
        self._watch = self.newest_watch()

    def watch(self, watch: Watch, at_rest: Live | None = None) -> None:
        """What is to be told of turns from now on; of a run at rest charts are drawn at once."""
        self.curves.want(watch.curves)
        self.charts.wanted = watch.charts
        if at_rest is not None:
            self.charts.draw(at_rest)

    def forget(self) -> None:
        """A start from nothing: no turn was run."""
        self._loops, self._told_s = [], 0.0
        self._over.clear()
        self.curves.clear()
        self.checkpoints.clear()
        self.files.clear()
        self.best.clear()
        self.charts.clear()

    def checkpoint_before(self, live: Live, loops: Loops, turns: Turns) -> Checkpoint | None:
        """From where a run can be put forward to a turn; None when there is nothing but its beginning."""
        self._take_program(live)
        return self.checkpoints.before(loops, turns)

    def begin(self, live: Live) -> None:
        """A verb begins."""
        self._take_program(live)
        self._leave_loops(live)
        shared_stop.begin(live)
        now = time.perf_counter()
        for loop in self._loops:
            loop.turn_began_s = now
            loop.stand_in(loop.frame.head)
            loop.quick = self._quick_loop(live, loop.head)

    def begin_turn(self, live: Live) -> None:
        """A turn that is recorded begins: what is learnt stands where it stood behind the one before."""
        if self.charts.descents.paths.wanted:
            self.charts.descents.paths.note(live, self._telling.waiting())

    def behind_turn(self, live: Live, goal: Goal, has_breakpoints: bool) -> TurnsEnd | None:
        """The runner stands at the end of a turn: run what is not to be recorded.

        Returns:
            How turns were broken off, else None: the next turn, or what is behind the loop, is to be recorded.
        """
        loop = self._loop_of(live, now := time.perf_counter())
        if loop.behind_turn(now):
            self.curves.note(live, loop.head.id, loop.steps)
            self.charts.descents.paths.note(live, self._telling.waiting())
            self.best.look(live, loop.head, loop.steps, self.curves.counts)
        if goal.loop and loop.head.id == goal.loop and live.cursor.turns == goal.turns:
            return TurnsEnd(0, 0, is_goal=True)
        end: TurnsEnd | None = None
        if not has_breakpoints and goes_by(goal, loop.steps):
            end = self._skip(live, loop, goal)
        else:
            self._agree(loop)
        now = loop.turn_began_s = time.perf_counter()
        if now - self._told_s >= sampled_loop.TELL_S:
            self.tell(live)
        if end is None or end.place is None:
            self._keep(live)
            self.best.tell()
        live.cursor.pass_turn()
        is_broken = end is not None and (end.place is not None or end.error is not None)
        return end if is_broken else None

    def pauses_between(self, live: Live) -> bool:
        """Whether the verb is to end, where there is no turn whose end would come."""
        is_between = not (self.is_on and not live.calls and live.cursor.turns)
        return self.pauses() and is_between and shared_stop.agrees()

    def ends_verb(self) -> str:
        """What a verb is left with behind this turn: "stopped", or "asked" for a program that waits; "" to go on."""
        return "stopped" if self.pauses() and shared_stop.agrees() else self.updates.asks()

    def stops(self) -> bool:
        """Whether the verb is to end here, between two statements."""
        return self._stopped() and shared_stop.agrees()

    def go_back(self, live: Live, checkpoint: Checkpoint) -> None:
        """Put the run at the end of an earlier turn, and tell what it has to show there."""
        checkpoint.restore(live)
        self.stand(live, checkpoint.counts)

    def stand(self, live: Live, counts: dict[ItemId, int], *, draws: bool = False) -> None:
        """The run was put at the end of a turn: so many of each loop are done; `draws` charts of what is learnt."""
        self.curves.go_back(counts)
        self.charts.descents.paths.go_back(live.step_count)
        self._loops, now = [], time.perf_counter()
        for frame in live.cursor.frames:
            if frame.iterator is not None:
                loop = SampledLoop(frame, self._quick_loop(live, frame.head), 0, now)
                loop.seen, loop.sample_at_s, loop.is_sampled = frame.turn, now + sampled_loop.TELL_S, True
                self.curves.begin(loop.head.id, tuple(one.frame.turn for one in self._loops), frame.turn + 1)
                self._loops.append(loop)
        for loop in self._loops[:-1]:
            loop.seen -= 1  # its turn is not over
        catch_up(live.gradients, 0)
        self._tell_again(live, self._loops[-1], frozenset(), shows_all=False)
        if draws:
            self.charts.draw_anew(live)

    def end(self, live: Live) -> None:
        """A verb is over: say how far it got, and draw charts as they are now."""
        shared_stop.end()
        self.tell(live)
        self.best.tell(at_end=True)
        if not live.calls:
            self.charts.draw(live)

    def tell(self, live: Live) -> None:
        """Say how far the loops around are, and the numbers of the curves that came since."""
        if not self.is_on:
            return
        self._told_s = now = time.perf_counter()
        self._take_watch()
        self.charts.look(live)
        self._leave_loops(live)
        for depth, loop in enumerate(self._loops):
            head, turn = loop.frame.head, loop.frame.turn
            assert head is not None
            self._send(
                Turned(
                    loop=head.id,
                    around=tuple(one.frame.turn for one in self._loops[:depth]),
                    turn=turn,
                    total=loop.total or 0,
                    number=self.curves.count(head.id),
                    seconds=now - loop.began_s,
                    is_sampled=loop.is_sampled,
                    curves=self.curves.take(head.id),
                    begins=self.curves.take_begins(head.id),
                )
            )
        for block in self._over:
            number = self.curves.count(block)
            begins = self.curves.take_begins(block)
            curves = self.curves.take(block)
            self._send(Turned(loop=block, is_over=True, number=number, curves=curves, begins=begins))
        self._over.clear()

    def _take_program(self, live: Live) -> None:
        """What is known of loops of another start, or of another text, is forgotten."""
        if live.loaded is not self._quick_of:
            self._quick, self._quick_of = {}, live.loaded
            self.checkpoints.clear()
            self.best.clear()  # with other literals it may be a run of its own, which has its own best

    def _take_watch(self) -> None:
        """What was asked since the verb began."""
        newest = self.newest_watch()
        if newest is not None and newest is not self._watch:
            self._watch = newest
            self.watch(newest)

    def _loop_of(self, live: Live, now_s: float) -> SampledLoop:
        self._leave_loops(live)
        frames = [frame for frame in live.cursor.frames if frame.iterator is not None]
        for frame in frames[len(self._loops) :]:
            first = FIRST if all(around.turn < FIRST for around in frames if around is not frame) else 1
            assert frame.head is not None
            self.curves.begin(frame.head.id, tuple(one.frame.turn for one in self._loops))
            self._loops.append(SampledLoop(frame, self._quick_loop(live, frame.head), first, now_s))
        return self._loops[-1]

    def _leave_loops(self, live: Live) -> None:
        """Forget the loops that the run stands in no more."""
        for loop in list(self._loops):
            head = loop.frame.head
            if head is not None and not any(loop.frame is frame for frame in live.cursor.frames):
                self._loops.remove(loop)
                self._over.add(head.id)

    def _quick_loop(self, live: Live, head: Head | None) -> QuickLoop | None:
        assert head is not None
        if head.id not in self._quick:
            self._quick[head.id] = quick_loop(live.loaded.program.code, head)
        return self._quick[head.id]

    def _agree(self, loop: SampledLoop) -> None:
        """The first of several ranks says which turn is recorded next, some turns ahead, where it is time for one."""
        if shared_turns.leads and (ahead := loop.take_due(time.perf_counter())):
            around = tuple(one.frame.turn for one in self._loops[:-1])
            shared_turns.announce([(*around, turn) for turn in ahead])

    def _turns_left(self, loop: SampledLoop, goal: Goal) -> int:
        """How many turns may be run without a record now."""
        self._agree(loop)
        around = tuple(one.frame.turn for one in self._loops[:-1])
        depth = len(around)
        of_all = (*self._wanted, *(() if goal.turns is None else (goal.turns,)), *shared_turns.take())
        wanted = {turns[depth] for turns in of_all if turns[:depth] == around and len(turns) > depth}
        return loop.skips(time.perf_counter(), wanted, is_shared=shared_turns.is_open)

    def _skip(self, live: Live, loop: SampledLoop, goal: Goal) -> TurnsEnd | None:
        """Run turns without a record until one is to be recorded; None when there were none."""
        left = self._turns_left(loop, goal)
        if not left or self._stopped() or self.pauses() or self.updates.asks():
            return None
        began = time.perf_counter()
        self._telling.flush()
        loop.note_telling(time.perf_counter() - began)
        backwards = 0
        before = loop.frame.turn
        ended_at: Path = ()
        end: TurnsEnd | None = None
        while left and not self._stopped() and (end is None or (end.place is None and end.error is None)):
            end = self._run(live, loop, left, live.step_count)
            if not end.turns and end.place is None:
                break  # there are no more
            live.step_count += end.turns * len(loop.steps)
            backwards += end.backwards
            ended_at = end.left
            if end.place is None and end.error is None:
                # The next record may be far away where one costs much: no more is lost, or run again, until then.
                if self.files.is_due(live) or self.checkpoints.is_due:
                    catch_up(live.gradients, backwards)
                    backwards = 0
                    self._keep(live)
                self.best.tell()
            left = self._turns_left(loop, goal) if not self.ends_verb() else 0
            if time.perf_counter() - self._told_s >= sampled_loop.TELL_S:
                self.tell(live)
        if loop.frame.turn == before:
            return end
        began = time.perf_counter()
        loop.is_sampled, loop.seen = True, loop.frame.turn
        place = end.place if end is not None else None
        is_shown = self._stopped() or self.pauses() or place is not None or (end is not None and end.turns == 0)
        catch_up(live.gradients, backwards)
        ahead = ids_behind(loop.frame, ended_at) if ended_at else frozenset[ItemId]()
        self._tell_again(live, loop, ids_from(loop.frame, place) if place is not None else ahead, is_shown)
        loop.note_telling(time.perf_counter() - began)
        return end

    def _keep(self, live: Live) -> None:
        """The run stands at the end of a turn: keep what it is, here and as a file, where it is time for that."""
        if any(one.is_long for one in self._loops):
            self.checkpoints.look(live, self.curves.counts)
        kept = self.files.look(live, self.curves.counts)
        if kept is not None:
            self.tell(live)  # curves are known up to there
            self._send(kept)

    def _run(self, live: Live, loop: SampledLoop, left: int, step: int) -> TurnsEnd:
        """Run turns behind so many statements."""
        assert loop.quick is not None
        note, clock = self.curves.notes(live, loop.head.id, loop.steps), time.perf_counter
        note_place = self.charts.descents.paths.notes(live, step, len(loop.steps))
        began = clock()
        due = self._told_s + sampled_loop.TELL_S
        if not shared_turns.is_open:
            due = min(loop.sample_at_s, due)
        inner = InnerTurns(live, loop.quick, self.curves, live.cursor.turns)
        self._over.update(head.id for head, _ in loop.quick.inner)
        is_best = self.best.judge(live, loop.head, loop.steps)

        def turned() -> bool:
            nonlocal left
            left -= 1
            note()
            note_place()
            inner.turn += 1
            return is_best() or clock() >= due or not left or self.pauses() or shared_turns.has_news()

        notes = Notes(turned, inner.enter, inner.note, self.curves.before_backwards(live, loop.steps))
        end = run_turns(
            loop.quick, loop.frame, live.namespace, notes, self.stops if shared_stop.is_open else self._stopped
        )
        self.best.keep(live, self.curves.counts)
        loop.note_quick(end.turns, clock() - began)
        return end

    def _tell_again(self, live: Live, loop: SampledLoop, ahead: frozenset[ItemId], shows_all: bool) -> None:
        """Tell what the last turns without a record left, as it stands now: leaves, or all that has a name.

        Args:
            ahead: what has not run in the last turn, which stands ahead of it or was ended by code.
            shows_all: it is looked at now.
        """
        live.backward_parts = {}
        turns = live.cursor.turns
        before = (*turns[:-1], turns[-1] - 1)
        with clean_modes():
            writes = leaves_written(live, loop.steps)
            for step in loop.steps:
                turn = before if step.id in ahead else turns
                if turn is turns:
                    live.behind = (step.id, turns)
                self._tell_one(live, step, turn, writes.get(step.id, ()), shows_all)
        self._telling.flush()
        with clean_modes():
            rows = live.gradients.rows_of(live.gradients.leaves.values())
        self._send(Gradients(revision=live.loaded.revision, rows=rows, whole=False))

    def _tell_one(
        self, live: Live, step: Step, turns: tuple[int, ...], writes: tuple[LeafWrite, ...], always: bool
    ) -> None:
        names = step.statement.names
        is_bound = not step.statement.is_part and all(name in live.namespace for name in names)
        if not is_bound or not (always or writes or step.statement.writes):
            return
        try:
            outputs = results_of(step, live.namespace)
        except Exception:  # noqa: BLE001 - the step boundary: what it gave has no name any more
            return
        if always or writes or any(isinstance(value, Tensor) and is_leaf(value) for value in outputs):
            entry = Pending(step, outputs, turns, 0.0, live.pass_number, time.monotonic(), ())
            entry.needs, entry.writes, entry.caught_up = any(map(requires_grad, outputs)), writes, True
            self._telling.enqueue(entry)
