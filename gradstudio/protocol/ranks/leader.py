"""The leader of several ranks: a process that the window and the command line have as one engine. No torch here.

Each rank is an engine with the environment of torchrun's processes. A verb goes to all of them; what one rank says is
shown, with the spread over all on its values. Only code reaches other processes, so an engine with walls, which runs
none, is one alone: it looks for shapes.
"""

import os
import selectors
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Final, cast

import msgspec

from gradstudio.protocol.errors import BrokenFrame
from gradstudio.protocol.framing import Decoder, FrameCutter, body_of, decoded, encode, framed, kind_of
from gradstudio.protocol.hosts.channel import Channel
from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import (
    Event,
    Failed,
    Fetched,
    Gradients,
    Hello,
    Log,
    Paused,
    Printed,
    Report,
    Row,
    Started,
    Traced,
)
from gradstudio.protocol.messages.progress import Asked, Running
from gradstudio.protocol.messages.ranks import LookAt, Meet
from gradstudio.protocol.messages.requests import Answer, Do, Fetch, Request, SampleMemory, Stop
from gradstudio.protocol.parent_death import end_with_parent
from gradstudio.protocol.process_group import RUNS_CODE, end_others, lead_group
from gradstudio.protocol.ranks import leader_words
from gradstudio.protocol.ranks.backward_join import BackwardJoin
from gradstudio.protocol.ranks.rank_command import asked_for
from gradstudio.protocol.ranks.rank_engine import COUNT, RankEngine, free_port
from gradstudio.protocol.ranks.rank_reader import Heard
from gradstudio.protocol.ranks.report_join import joined_report, require_own_report
from gradstudio.protocol.ranks.row_join import GradJoin, RowJoin
from gradstudio.protocol.ranks.stragglers import Stragglers
from gradstudio.protocol.ranks.turns_memory import turns_memory
from gradstudio.protocol.ranks.waiting_words import waiting_words
from gradstudio.protocol.ranks.whole_tables import WholeTables

LOOK_S: Final = 0.2
GRACE_S: Final = 3.0
"""So long ranks may take to come to an end after one has failed, or a Stop; then they are ended."""
LOOK_MS: Final = 500
PATIENCE_S: Final = 5.0
"""From here on it is said where ranks wait for one another."""
Start = Callable[[int, int, list[str], selectors.BaseSelector], RankEngine]
_LOOKS: Final = msgspec.msgpack.Decoder(LookAt)
_REQUESTS: Final = msgspec.msgpack.Decoder(Request)
_EVENTS: Final = Decoder(cast(type[Event], Event))


class Leader:
    """Passes messages between whoever started it and the ranks.

    Attributes:
        shown: the number of the rank whose messages are passed on.
        is_over: whoever started it has gone, or no rank can begin.
    """

    def __init__(
        self,
        count: int,
        options: list[str],
        source: int = 0,
        target: int = 1,
        start: Start = RankEngine,
        end_others: Callable[[], None] = lambda: None,
    ) -> None:
        """Start the ranks.

        Args:
            count: so many, where they run code.
            options: of their engines.
            source: what whoever started this says.
            target: what is said to them.
            start: starts one.
            end_others: ends what ranks have started and left behind.
        """
        self._count = count if RUNS_CODE in options else 1
        self._options = options
        self._start, self._end_others = start, end_others
        self._selector = selectors.DefaultSelector()
        self._line = Channel(self._selector, source, target)
        self._requests = FrameCutter()
        self.is_over = self._is_waiting = False
        self._loaded, self.shown = b"", 0
        self._begin()
        self._line.listen(self._on_line)

    def _begin(self) -> None:
        """Ranks from nothing."""
        with turns_memory(self._options, self._count) as options:
            self._ranks = [self._start(number, self._count, options, self._selector) for number in range(self._count)]
        self._rows, self._grads = RowJoin(self._count), GradJoin(self._count)
        self._backwards, self._stragglers = BackwardJoin(self._count), Stragglers()
        self._tables = WholeTables(self._count)
        self._pauses: dict[int, Paused] = {}
        self._reports: dict[int, Report] = {}
        self._ends_since_s: float | None = None
        self._has_said_waiting = False
        self._verb: Do | None = None
        self._hello: Hello | None = None
        self._listen()
        self._say_how_far()
        if self._count > 1:
            self._tell_all(body_of(SampleMemory(every_ms=LOOK_MS)))  # beside it a rank says what takes long

    def run(self) -> None:
        """Serve until whoever started this is gone."""
        while not self.is_over:
            self.turn(LOOK_S)
        self.end()

    @property
    def waiting(self) -> int:
        """Bytes that nobody has taken yet."""
        return self._line.waiting

    def turn(self, patience_s: float) -> None:
        """Hear what there is, or comes within so long."""
        for key, _ in self._selector.select(patience_s):
            key.data()
        self._keep_pace()
        if self._verb is not None:
            self._look_after()

    def end(self) -> None:
        """End all ranks."""
        for rank in self._ranks:
            rank.kill()

    def _listen(self) -> None:
        self._is_waiting = False
        for rank in self._ranks:
            rank.listen(self._on_rank, self._on_rank_ended)

    def _keep_pace(self) -> None:
        """What ranks say faster than it is read stays with them."""
        if self._line.is_full and not self._is_waiting:
            self._is_waiting = True
            for rank in self._ranks:
                rank.wait()
        elif self._is_waiting and not self._line.is_full:
            self._listen()

    # ------------------------------------------------------------------ from the window

    def _on_line(self, data: bytes) -> None:
        if not data:
            self.is_over = True
            return
        try:
            for body in self._requests.cut(data):
                self._take(body)
        except BrokenFrame as error:
            sys.stderr.write(f"{error}\n")
            self.is_over = True

    def _take(self, body: bytes) -> None:
        kind = kind_of(body)
        if kind == "LookAt":
            self._look_at(decoded(_LOOKS, body).rank)
        elif kind == "Fetch" and self._tables.begin(cast(Fetch, decoded(_REQUESTS, body))):
            self._tell_all(body)
        elif kind in leader_words.OF_ONE:
            self._ranks[self.shown].write(body)
        else:
            if kind == "Do":
                self._begin_verb(cast(Do, decoded(_REQUESTS, body)))
            elif kind == "Load":
                self._loaded = body
            elif kind == "Stop" and self._ends_since_s is None and not cast(Stop, decoded(_REQUESTS, body)).behind_turn:
                self._ends_since_s = time.monotonic()
            self._tell_all(body)

    def _tell_all(self, body: bytes) -> None:
        for rank in self._ranks:
            rank.write(body)

    def _begin_verb(self, verb: Do) -> None:
        self._verb, self._ends_since_s, self._has_said_waiting = verb, None, False
        self._pauses.clear()
        self._stragglers = Stragglers()
        meet = body_of(Meet(port=free_port()))
        for rank in self._ranks:
            rank.begin_verb(meet)

    def _look_at(self, number: int) -> None:
        """Show another rank: what it has said of its newest run, with what is known over all."""
        if number >= self._count or number == self.shown:
            return
        self.shown = number
        self._rows.look_elsewhere(number)
        self._backwards.look_elsewhere()
        for body in (log := self._ranks[number].log).since(log.run_begins):
            message = _EVENTS.decode(body)
            if isinstance(message, Traced):
                message = leader_words.with_rows(message, self._rows.recall(message.rows))
            elif isinstance(message, BackwardTraced):
                message = self._backwards.show(message)
            elif isinstance(message, Gradients):
                message = leader_words.without_spreads(message)
            self._say(message)
        self._tell_gradients()

    # ------------------------------------------------------------------ from the ranks

    def _on_rank(self, rank: RankEngine, heard: Heard) -> None:
        if heard.message is None:
            self._line.write(framed(heard.body))
            return
        self._hear(rank, heard.message, len(heard.body))
        if heard.kind in leader_words.KEPT and self._count > 1:
            rank.log.add(heard.kind, heard.body)

    def _hear(self, rank: RankEngine, message: Event, size: int) -> None:
        is_shown = rank.number == self.shown
        match message:
            case Hello():
                self._on_hello(rank, message)
            case Started():
                if message.fresh:
                    self._backwards.begin_anew(rank.number)
                if is_shown:
                    self._say(message)
            case Traced():
                self._on_traced(rank, message, size)
            case Gradients():
                self._grads.tell(rank.number, message, size)
                if is_shown:
                    self._say(leader_words.without_spreads(message) if self._count > 1 else message)
            case BackwardTraced():
                self._on_backward(rank, message, size)
            case Paused():
                self._on_paused(rank, message)
            case Failed():
                self._on_failed(rank, message)
            case Report():
                self._on_report(rank, message)
            case Printed():
                self._say(msgspec.structs.replace(message, text=leader_words.of_rank(rank.number, message.text)))
            case Log() if not is_shown and message.level != "info":
                self._say(msgspec.structs.replace(message, text=leader_words.of_rank(rank.number, message.text)))
            case Fetched() if self._tables.is_of_all(message):
                if (whole := self._tables.tell(rank.number, message)) is not None:
                    self._say(whole)
            case Asked() if not is_shown:
                if rank.takes_more:
                    rank.write(body_of(Answer()))  # torchrun gives its input to the first rank alone
            case Running():
                rank.running, rank.since_s = message, time.monotonic() - message.seconds
                if is_shown:
                    self._say(message)
            case _ if is_shown:
                self._say(message)

    def _on_hello(self, rank: RankEngine, hello: Hello) -> None:
        rank.has_begun, rank.is_ready = True, hello.ready
        if rank.number == 0:
            self._hello = msgspec.structs.replace(hello, pid=os.getpid())
            if not hello.ready:
                self._say(self._hello)
        if self._hello is not None and all(one.is_ready for one in self._ranks):
            self._say(self._hello)
        self._say_how_far()

    def _say_how_far(self) -> None:
        if words := leader_words.start_words(self._ranks):
            self._say(Log(level="info", text=words))

    def _on_traced(self, rank: RankEngine, traced: Traced, size: int) -> None:
        rank.running = None
        if traced.rows:
            rank.newest = traced.rows[-1].node
        self._rows.tell(rank.number, traced.rows, size)
        if rank.number == self.shown:
            self._say_rows(traced, self._rows.show(traced.rows))
        if known := self._rows.take_known():
            self._say_rows(traced, known)

    def _say_rows(self, traced: Traced, rows: tuple[Row, ...]) -> None:
        self._say(leader_words.with_rows(traced, rows))
        for words in self._stragglers.words(rows, self._loaded):
            self._say(leader_words.log("info", words))

    def _on_backward(self, rank: RankEngine, traced: BackwardTraced, size: int) -> None:
        self._backwards.tell(rank.number, traced, size)
        if rank.number == self.shown:
            self._say(self._backwards.show(traced))
        elif (known := self._backwards.take_known(traced)) is not None:
            self._say(known)

    def _on_failed(self, rank: RankEngine, failed: Failed) -> None:
        rank.failure = failed
        if not any(one.failure for one in self._ranks if one is not rank):
            self._ends_since_s = time.monotonic()
            self._say(failed)
            if self._count > 1:
                self._say(leader_words.log("error", leader_words.failure_words(rank.number, failed)))

    def _on_report(self, rank: RankEngine, report: Report) -> None:
        require_own_report(report, rank.number)
        self._reports[rank.number] = report
        if len(self._reports) == self._count:
            self._say(joined_report(self._reports, self.shown))
            self._reports = {}

    def _on_paused(self, rank: RankEngine, paused: Paused) -> None:
        if not rank.is_busy:
            return  # nobody has asked for anything
        rank.is_busy, rank.running = False, None
        self._pauses[rank.number] = paused
        if not any(one.is_busy for one in self._ranks):
            self._end_verb()

    def _end_verb(self) -> None:
        """All have come to the end of the verb."""
        self._verb = None
        paused = self._pauses[self.shown]
        failed = [number for number, one in self._pauses.items() if one.outcome == "failed"]
        if failed and paused.outcome != "failed":
            reason = f"rank {failed[0]} failed; rank {self.shown}, which is shown, did not"
            paused = msgspec.structs.replace(paused, outcome="failed", reason=reason)
        if rows := self._rows.finish():
            self._say(Traced(revision=paused.revision, rows=rows))
        self._tell_gradients()
        self._say(paused)

    def _tell_gradients(self) -> None:
        paused = self._pauses.get(self.shown)
        if self._verb is None and paused is not None and self._count > 1:
            self._say(self._grads.known(self.shown, paused.revision))

    # ------------------------------------------------------------------ what goes wrong

    def _look_after(self) -> None:
        """A verb is under way: whether ranks wait for one that has failed, or for one another."""
        now = time.monotonic()
        if self._ends_since_s is not None and now - self._ends_since_s > GRACE_S:
            self._give_up(*leader_words.end_words(self._ranks, self._loaded))
        elif not self._has_said_waiting and (words := waiting_words(self._ranks, now, PATIENCE_S, self._loaded)):
            self._has_said_waiting = True
            self._say(leader_words.log("warning", words))

    def _on_rank_ended(self, rank: RankEngine, how: str) -> None:
        words = f"Rank {rank.number} {how}{leader_words.place_words(rank, self._loaded)}"
        if self._verb is None and not rank.is_ready:
            self._say(leader_words.log("error", f"{words} before it was ready."))
            self.is_over = True
        else:
            self._give_up(f"{words}. All ranks were ended, and begin from nothing.", "died")

    def _give_up(self, words: str, outcome: leader_words.Outcome) -> None:
        """The verb ends here and now; ranks from nothing take over."""
        verb = self._verb
        rows = self._rows.finish()
        for rank in self._ranks:
            rank.kill()
        self._end_others()
        if self._hello is not None:
            self._say(msgspec.structs.replace(self._hello, ready=False))  # what is asked of them waits, and comes anew
        if rows:
            self._say(Traced(revision=0, rows=rows))
        self._say(leader_words.log("error", words))
        if verb is not None:
            self._say(leader_words.last_pause(verb, self._pauses.get(self.shown), words, outcome))
        self._begin()

    def _say(self, message: Message) -> None:
        self._line.write(encode(message))


def main() -> None:
    """Lead so many ranks for whoever started this, by `leader_command`."""
    count, options = asked_for(sys.argv)
    end_with_parent()
    lead_group(options)
    os.environ[COUNT] = str(count)
    try:
        Leader(count, options, end_others=partial(end_others, options)).run()
    finally:
        end_others(options)


if __name__ == "__main__":
    main()
