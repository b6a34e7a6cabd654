"""The verbs of semantics §6: what Run, Forward, Backward, Step and Zero grad do, and from where."""

import time
from collections.abc import Callable
from typing import Any

from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.errors import VerbRefused
from gradstudio.engine.infer.memory_forecast import MemoryForecast
from gradstudio.engine.live import initial_state
from gradstudio.engine.live.leaf_tensors import leaves_of
from gradstudio.engine.live.live_state import Live, Loaded
from gradstudio.engine.live.reconciliation import reconcile
from gradstudio.engine.memory.memory_sampler import LiveBytes, MemorySampler
from gradstudio.engine.run import run_targets, untraced_results, verb_events
from gradstudio.engine.run.failure_report import step_failure, untraced_failure
from gradstudio.engine.run.long_work import LongWork
from gradstudio.engine.run.output_capture import OutputCapture
from gradstudio.engine.run.statement_runner import Runner
from gradstudio.engine.run.whole_text import run_whole
from gradstudio.engine.script.cursor import NOBODY
from gradstudio.engine.script.stop_conditions import END, Goal, always, at_backward
from gradstudio.engine.tensor_files import StoredTensors
from gradstudio.engine.torch_settings import settings
from gradstudio.engine.turns.checkpoints.checkpoint_file import KeptCheckpoint
from gradstudio.engine.turns.checkpoints.checkpoints import NO_TURN, change_words
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Log, Paused, Started
from gradstudio.protocol.messages.inference import Need
from gradstudio.protocol.messages.requests import Do

CHUNK = 64
"""Rows that are completed between two looks at whether a request waits."""
MARKS = {"run": "Run", "forward": "Forward", "backward": "Backward"}
"""Verbs that the memory plot marks."""


class Engine:
    """The loaded program, the live state, and the verbs over them.

    Attributes:
        loaded: the program as last sent; None before the first.
        live: what is left of the last start from nothing; it may belong to another program.
        stale: the live state does not belong to the loaded program.
        runner: executes its statements.
    """

    def __init__(self, send: Callable[[Message], None], stopped: Callable[[], bool]) -> None:
        """Send events through `send`; `stopped` says whether the verb at work is to stop."""
        self.loaded: Loaded | None = None
        self.live: Live | None = None
        self.stale = False
        self.stored = StoredTensors()
        self.memory = LiveBytes()
        self._send, self._stopped = send, stopped
        self._listener = OutputCapture(send)
        self.runner = Runner(send, stopped, self.memory)
        training, work = self.runner.training, LongWork(send, self.runner)
        self.sampler = MemorySampler(send, self.memory, lambda: training.series(self.live), work.look)
        self._defaults = settings()
        self._weigher = MemoryForecast(send, self._defaults)
        self._ran_plain: int | None = None
        self._reason = ""

    def load(self, loaded: Loaded) -> tuple[bool, bool]:
        """Take a program; (stale, live) as `Loaded` tells."""
        self.settle()
        live = self.live
        ours = live is not None and live.loaded.document == loaded.document
        if not ours:
            self._drop_live()  # nobody can go on with it, and its memory is not this document's
            live = None
        self.stale = live is None or not ours or not reconcile(live, loaded)
        self.loaded = loaded if live is None or self.stale else live.loaded
        return self.stale and ours, ours

    def settle(self) -> None:
        """Read off a plain run's namespace what it left, if that was not done yet; a plain run pays nothing for it."""
        if self.live is not None and self._ran_plain is not None:
            with clean_modes():
                untraced_results.adopt_results(self.live, self._ran_plain)
        self._ran_plain = None

    def do(self, request: Do, refusal: str = "") -> Paused:
        """Carry out a verb, unless there is a `refusal`. What it says on the way is sent; how it ended is returned.

        After a plain run no gradients are sent: `Collect` asks for them.
        """
        began = time.perf_counter()
        if request.verb != "run" or request.trace:
            self.settle()
        self.runner.rows.max_values = request.max_values
        some = request.summaries == "visible" and not request.breakpoints
        self.runner.rows.visible = frozenset(request.visible) if some else None
        self.runner.sampling.ask(request)
        if request.verb == "zero_grad":
            self.runner.complete()
        verbs: dict[str, Callable[[Do], str]] = {
            "run": self._run,
            "forward": self._forward,
            "backward": self._backward,
            "step": self._step,
            "zero_grad": self._zero_grad,
            "repeat": self._repeat,
            "go_to_turn": self._go_to_turn,
            "continue": self._continue,
        }
        self._reason = ""
        self._listener.locate = self.locate
        try:
            if refusal:
                raise VerbRefused(refusal)
            self.runner.pauses.set(request.breakpoints, request.max_values, may_stop=request.verb != "repeat")
            with self._listener.listening():
                outcome, reason = verbs[request.verb](request), self._reason
        except VerbRefused as refusal:
            outcome, reason = "refused", str(refusal)
        if self.live is not None and outcome != "refused" and self._ran_plain is None:
            self.runner.send_gradients(self.live)
        return self._paused(request, outcome, reason, time.perf_counter() - began)

    def needs(self) -> tuple[Need, ...]:
        """The devices whose memory is expected not to suffice for the loaded program."""
        loaded, held = self.loaded, self.live is not None
        return self._weigher.needs(loaded, self.stored.load_file, held) if loaded is not None else ()

    def idle(self) -> bool:
        """Tell in full some of what was only outlined; True while there is more to tell."""
        return self.live is not None and self.runner.live is self.live and self.runner.complete(CHUNK)

    def give_up(self, request: Do, reason: str) -> Paused:
        """The verb ended by our own fault: nothing live is to be trusted, the next verb begins from nothing."""
        self._drop_live()
        return self._paused(request, "failed", reason, 0.0)

    def forget(self, revision: int) -> None:
        """Loading that revision ended by our own fault: nothing live is to be trusted, nor an older program."""
        self._drop_live()
        if self.loaded is not None and self.loaded.revision != revision:
            self.loaded = None

    # -------------------------------------------------------------- verbs

    def _run(self, request: Do) -> str:
        if request.until:
            return self._run_to(request)
        if not request.trace:
            return self._run_plain(request)
        live = self.live
        goes_on = live is not None and live.interrupted and not request.restart and self._usable()
        live = self._going_on(request) if goes_on else self._begin(request)
        outcome = self._go(live, Goal())
        live.aim = END if outcome == "failed" else None
        return outcome

    def _run_to(self, request: Do) -> str:
        """To directly behind a node or a block, the first time from here; from nothing when it is not ahead."""
        loaded, node = self._loaded(), request.until
        run_targets.refuse_to_run_to(loaded, node)
        live = self.live
        goes_on = live is not None and not request.restart and self._usable() and not live.failed
        ahead = live is not None and goes_on and run_targets.is_ahead(live, node)
        live = self._going_on(request) if ahead else self._begin(request)
        block = node if loaded.places.is_block(node) else NOBODY
        outcome = self._go(live, Goal(after=lambda step: step.id == node, behind=block, node=node))
        if outcome == "done":
            reached = live.place.left == node if block else live.behind is not None and live.behind[0] == node
            self._reason = "" if reached else "The run went to the end and did not come to this node."
            self._note_cursor(live, interrupted=True)
        return outcome

    def _repeat(self, request: Do) -> str:
        """From nothing, with the same seed, to where the live state stood."""
        loaded, live = self._loaded(), self.live
        if live is not None and live.loaded.document != loaded.document:
            live = None
        aim, interrupted = run_targets.aim_of(live), live is not None and live.interrupted
        live = self._begin(request, run_targets.drawn_seed(self.live, self._loaded()))
        reached = Goal() if aim.at_end else aim.goal(lambda: live.cursor.turns)
        outcome = self._go(live, reached)
        live.aim = aim if outcome != "done" else None
        if outcome == "done":
            self._note_cursor(live, interrupted)
        return outcome

    def _go_to_turn(self, request: Do) -> str:
        """To the end of a turn, from the checkpoint before it, from where the run stands, or from nothing."""
        loops = run_targets.loops_of_turn(self._loaded(), request.until, request.turn)
        turns, ran = self.runner.sampling, self._usable_live() if self._usable() else None
        start = turns.checkpoint_before(ran, loops, request.turn) if ran is not None else None
        words, why = (change_words(ran), turns.checkpoints.size_words) if start is None else ("", "")
        if start is None:
            live = self._begin(
                request, run_targets.drawn_seed(self.live, self._loaded()), None if words or ran is None else 0
            )
        else:
            live = self._usable_live()
            self._send(self._started(request, live, fresh=False, back_to=start.step_count))
            turns.go_back(live, start)
        outcome = self._go(live, Goal(loop=request.until, turns=request.turn))
        if outcome == "done":
            self._reason = (words or why) if live.cursor.turns == request.turn else NO_TURN
            self._note_cursor(live, interrupted=True)
        return outcome

    def _continue(self, request: Do) -> str:
        """From a checkpoint in a file, to the end; or just to where it was kept."""
        kept = KeptCheckpoint(request.checkpoint)
        inside = kept.first_steps(self._loaded())
        live = self._begin(request, kept.seed)
        outcome = self._go(live, Goal(before=lambda step: step.id in inside, depth=0))
        if outcome == "done":
            live.resumable = False  # until it is what the file says
            self.runner.sampling.stand(live, kept.put_back(live, stays=request.stays), draws=request.stays)
            live.resumable = True
            self._note_cursor(live, interrupted=True)
            outcome = "done" if request.stays else self._go(live, Goal())
        return outcome

    def _forward(self, request: Do) -> str:
        if not self._usable():
            return self._go(self._begin(request), Goal(before=at_backward, depth=0))
        live = self._usable_live()
        if live.cursor.upcoming() is None or live.failed or run_targets.settles_at_backward(live):
            live = self._new_pass(request)
        else:
            self._going_on(request)
        return self._go(live, Goal(before=at_backward, depth=len(live.calls)))

    def _backward(self, request: Do) -> str:
        loaded = self._loaded()
        if not loaded.backwards:
            why = loaded.program.rootless or f"append {loaded.program.root or 'loss'}.backward() and run it"
            raise VerbRefused(f"The program has no backward statement: {why}.")
        if not self._usable():
            return self._go(self._begin(request), Goal(after=at_backward, depth=0))
        live = self._going_on(request)
        if live.cursor.backward_ahead():
            return self._go(live, Goal(after=at_backward, depth=len(live.calls)))
        self._note_cursor(live, interrupted=False)
        step = live.last_backward or loaded.backwards[-1]
        if not live.backward_parts.keys() >= set(step.statement.drops):
            raise VerbRefused("What the last backward began from was not kept. Forward begins another pass.")
        self.runner.sampling.checkpoints.clear()  # what they lead to is another state than the one that is now
        return self.runner.run_again(live, step)

    def _step(self, request: Do) -> str:
        if request.stride == "out":
            return self._step_out(request)
        if not self._usable():
            live = self._begin(request)
        elif self._usable_live().cursor.upcoming() is None:
            raise VerbRefused("The program is at its end. Forward begins another pass, Run begins from nothing.")
        else:
            live = self._going_on(request)
        block = live.place.beginning() if request.stride == "over" else NOBODY
        depth = None if request.stride == "into" else len(live.calls)
        outcome = self._go(live, Goal(behind=block) if block else Goal(after=always, depth=depth))
        self._note_cursor(live, interrupted=True)
        return outcome

    def _step_out(self, request: Do) -> str:
        live = self._usable_live() if self._usable() else None
        block = live.place.around() if live is not None else NOBODY
        if live is None or not (block or live.calls):
            raise VerbRefused("The run is in no block, and inside no group, that it could step out of.")
        self._going_on(request)
        outcome = self._go(live, Goal(behind=block) if block else Goal(after=always, depth=len(live.calls) - 1))
        self._note_cursor(live, interrupted=True)
        return outcome

    def _zero_grad(self, request: Do) -> str:
        live = self.live
        if live is None or self.loaded is None or live.loaded.document != self.loaded.document:
            raise VerbRefused("Nothing has been run yet, so there are no gradients.")
        if self.stale:
            raise VerbRefused("The program was changed since it ran; run it first.")
        self._send(self._started(request, live, fresh=False))
        cleared = 0
        for leaf in leaves_of(live):
            cleared += leaf.grad is not None
            live.gradients.clear(leaf)
        live.changed_by_hand = True
        self.runner.sampling.checkpoints.clear()
        leaves = "leaf" if cleared == 1 else "leaves"
        self._send(Log(level="info", text=f"Zero grad: .grad = None on {cleared} {leaves}."))
        return "done"

    # -------------------------------------------------------------- where from

    def _begin(self, request: Do, drawn: int | None = None, back_to: int | None = None) -> Live:
        """From nothing: new namespace, seed set (where the header has none, to `drawn`)."""
        loaded = self._loaded()
        self._drop_live()
        self.memory.begin()
        live = self.live = initial_state.from_nothing(
            loaded, self._listener.print, self._defaults, request.max_values, drawn
        )
        self.stale = False
        self._send(self._started(request, live, True, back_to))
        return live

    def _going_on(self, request: Do) -> Live:
        live = self._usable_live()
        self._send(self._started(request, live, fresh=False))
        return live

    def _new_pass(self, request: Do) -> Live:
        live = self._usable_live()
        if not live.loaded.has_repeated:
            return self._begin(request)
        initial_state.new_pass(live)
        self.runner.sampling.checkpoints.clear()
        self._send(self._started(request, live, fresh=False))
        return live

    def _usable(self) -> bool:
        live = self.live
        return (
            live is not None and not self.stale and live.resumable and live.loaded.document == self._loaded().document
        )

    def _usable_live(self) -> Live:
        assert self.live is not None
        return self.live

    def _loaded(self) -> Loaded:
        if self.loaded is None:
            raise VerbRefused("No program was sent yet.")
        return self.loaded

    # -------------------------------------------------------------- running

    def _go(self, live: Live, goal: Goal) -> str:
        live.aim = None
        if not live.prepared:
            outcome = self._prepare(live)
            if outcome:
                return outcome
        while (outcome := self.runner.go(live, goal)) == "asked":
            self.runner.sampling.updates.take(live, self.stored)
            self.loaded = live.loaded
            self.runner.send_gradients(live)
        if outcome == "failed":
            live.aim = run_targets.failed_aim(live)
        self._note_cursor(live, interrupted=outcome in ("stopped", "breakpoint"))
        return outcome

    def _prepare(self, live: Live) -> str:
        """Execute imports and header; "" when that went well."""
        try:
            initial_state.run_prelude(live, self.stored.load_file)
        except Exception as error:  # noqa: BLE001 - the step boundary
            live.failed, live.resumable = True, False
            self._send(untraced_failure(live, error, self.runner.rows.max_values))
            return "failed"
        return ""

    def _run_plain(self, request: Do) -> str:
        live = self._begin(request)
        loaded, live.traced = live.loaded, False
        too_large = self._weigher.first_too_large(loaded, self.stored.load_file)
        if too_large is not None:
            live.failed, live.resumable = True, False
            self._send(step_failure(live, *too_large, request.max_values))
            return "failed"
        outcome, ran = run_whole(live, self._stopped, self.stored.load_file, self._send, request.max_values)
        live.resumable = outcome == "done"
        live.cursor.skip_to_end()
        live.prepared, self._ran_plain = True, ran
        return outcome

    def _note_cursor(self, live: Live, interrupted: bool) -> None:
        live.interrupted = interrupted and live.cursor.upcoming() is not None

    def _drop_live(self) -> None:
        self._ran_plain = None
        if self.live is not None:
            self.live.let_go()
            self.live = None
            self.runner.let_go()
            self.runner.training.clear()
            self.memory.collect()

    # -------------------------------------------------------------- telling

    def _started(self, request: Do, live: Live, fresh: bool, back_to: int | None = None) -> Started:
        if title := MARKS.get(request.verb):
            self.sampler.mark(title)
        return verb_events.started(request, live, fresh, back_to)

    def _paused(self, request: Do, outcome: Any, reason: str, seconds: float) -> Paused:
        revision = self.loaded.revision if self.loaded is not None else 0
        hit = self.runner.pauses.hit if outcome == "breakpoint" else ""
        return verb_events.paused(request, self.live, outcome, reason, seconds, hit, revision)

    def locate(self, frame: Any) -> tuple[ItemId, int]:
        """The node that runs on a stack of frames, and its line."""
        return run_targets.node_on_stack(self.live, self.runner.current, frame)
