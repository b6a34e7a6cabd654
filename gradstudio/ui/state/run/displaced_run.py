"""A run that the engine does not hold (any more): what was recorded stays true until the program is another."""

from typing import TYPE_CHECKING

from gradstudio.program.model import Program
from gradstudio.ui.state.results.result_tables import ResultTables
from gradstudio.ui.state.run.engine_client import EngineClient
from gradstudio.ui.state.run.run_requests import RunRequests
from gradstudio.ui.state.run.run_state import RunState
from gradstudio.ui.state.run.run_status import Offer, RunStatus

if TYPE_CHECKING:
    from gradstudio.protocol.messages.hosting import Document

ENDS_LATER = (
    "“{host}” is not on the line: what runs there ends when another engine takes over here, if the host is reached "
    "then. Later Run ▸ Other machines ▸ Running on hosts… ends it."
)


class DisplacedRun:
    """Remembers what ran, for as long as the engine cannot tell it.

    Attributes:
        by: the title of the document that ran since, or of the script that was recorded; "" while the engine has this
            document's run, or there is none.
    """

    def __init__(self, tables: ResultTables, status: RunStatus) -> None:
        """No other document ran; `tables` hold what was recorded, `status` has words said."""
        self._tables, self._status = tables, status
        self.by = ""
        self._words = ""
        self._is_told = False
        self._ran: list[str] | None = None

    def begin(self, by: str, program: Program, words: str = "") -> None:
        """Another document runs, which is told, or `words`; what ran here is this program, or one before it."""
        self.by, self._is_told = by, False
        self._words = words or f"“{by}” ran since: the live state is gone, what was recorded stays. Run begins anew."
        self._ran = None if self._tables.is_stale else _statements(program)
        self._say()

    def end(self) -> None:
        """What ran last is this document's, or forgotten."""
        self.by = ""

    def judge(self, program: Program) -> None:
        """The program is another: results are stale unless it only goes on behind what ran."""
        if self.by:
            ran = self._ran
            self._tables.set_stale(ran is None or _statements(program)[: len(ran)] != ran)

    def say_once(self) -> None:
        """Tell a person who looks, unless it was told before."""
        if self.by and not self._is_told:
            self._is_told = True
            self._say()

    def _say(self) -> None:
        self._status.noted.emit(self._words)


def _statements(program: Program) -> list[str]:
    """The lines that compute something."""
    return [
        line
        for line in program.code.splitlines()
        if line.strip() and not line.lstrip().startswith(("#", "import ", "from "))
    ]


class AwayRun:
    """A run that goes on on a host while the line there is broken."""

    def __init__(self, client: EngineClient, status: RunStatus, tables: ResultTables, requests: RunRequests) -> None:
        """No line is broken."""
        self._client, self._status, self._tables, self._requests = client, status, tables, requests
        self._before: RunState | None = None
        self._is_offered = False
        client.joined.connect(self._on_client_joined)
        client.state_changed.connect(self._on_client_state_changed)

    def begins(self, why: str) -> bool:
        """Whether the engine that was just lost, in words why, goes on there: what is shown stays what it is."""
        if not self._client.goes_on:
            return False
        state = self._status.state
        if state.busy or self._before is None:
            self._before = state
        self._tables.rest()  # how fast it goes is not known
        self._status.set(busy=False, waiting=False, outcome="", reason="")
        words = f"What runs on “{self._client.place}” goes on without this window."
        self._status.offered.emit(Offer(words, "Take up again", self._client.take_up, lambda: None, why))
        self._is_offered = True
        return True

    def _on_client_state_changed(self, state: str) -> None:
        """It is taken up, or another engine is here: it is offered no more."""
        if self._is_offered and state != "dead":
            self._is_offered = False
            self._status.offered.emit(None)
        if state == "starting" and self._client.goes_on and self._before is not None and self._before.busy:
            self._status.set(busy=True, verb=self._before.verb, outcome="", reason="")  # as far as anybody knows

    def adopt(self, document: "Document") -> None:
        """What another window began there is this document's: what is heard next is what it has said."""
        self._requests.adopt(document)
        self._before = RunState(verb="run")
        self._status.set(busy=True, verb="run", outcome="", reason="")  # it ends where what is heard says so

    def keep(self) -> None:
        """Have the host keep what is drawn, for whoever takes it up; or say when what goes on there ends."""
        self._requests.keep()
        if self._client.goes_on and not self._client.title_there:
            self._status.noted.emit(ENDS_LATER.format(host=self._client.place))

    def _on_client_joined(self, is_busy: bool) -> None:
        """What it said meanwhile was heard."""
        before, self._before = self._before, None
        if before is None:
            return
        if is_busy:
            self._status.set(busy=True, verb=before.verb, live=True, outcome="", reason="")
        elif before.busy and not self._status.state.outcome:
            self._status.set(busy=False, outcome="stopped", reason="What was asked last was lost with the line.")
        elif self._status.state.busy:
            self._status.set(busy=False)
