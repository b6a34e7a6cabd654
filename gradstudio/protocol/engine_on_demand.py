"""An engine for documents one after another: started when the first needs it, and anew for code of a person's own."""

from typing import TYPE_CHECKING

from gradstudio.protocol.client import COMMAND, RUNS_CODE, EngineProcess
from gradstudio.protocol.messages.events import Hello
from gradstudio.protocol.ranks.rank_command import leader_command

if TYPE_CHECKING:
    from gradstudio.protocol.hosts.host_book import Host


class EngineOnDemand:
    """An engine that is started when the first document needs it, and again when it died."""

    def __init__(self, host: "Host | None" = None, sends: bool = False, ranks: int = 1) -> None:
        """Start nothing yet; later here, or on a host, to which stored tensors are sent without a question.

        `ranks`: so many processes of a program with code, here.
        """
        self._host, self._sends, self._ranks = host, sends, ranks
        self._process: EngineProcess | None = None
        self._runs_code = False
        self._hello: Hello | None = None

    def ready(self, runs_code: bool = False) -> tuple[EngineProcess, Hello]:
        """An engine at rest, and what it said of itself; one that `runs_code` of its user's has no walls.

        Raises:
            EngineDied: it cannot be started.
        """
        is_other = self._process is not None and (runs_code or self._runs_code)  # each trusted program has its own
        if self._process is not None and (is_other or self._process.process.poll() is not None):
            self.close()
        if self._process is None or self._hello is None:
            self._runs_code = runs_code
            self._process = self._start(RUNS_CODE) if runs_code else self._start()
            self._hello = self._process.wait_until_ready()
        return self._process, self._hello

    def _start(self, *options: str) -> EngineProcess:
        if self._ranks > 1 and RUNS_CODE in options:
            return EngineProcess(leader_command(self._ranks, *options))
        if self._host is None:
            return EngineProcess((*COMMAND, *options) if options else None)
        from gradstudio.protocol.hosts.far_engine import FarEngine  # most runs are here

        engine = FarEngine(self._host, *options)
        if self._sends:
            engine.may_send = lambda _sending: True
        return engine

    def __enter__(self) -> "EngineOnDemand":
        """This engine."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End it; after Ctrl+C at once, whatever it does."""
        if kind is not None and self._process is not None:
            self._process.process.kill()
        self.close()

    def close(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.close()
        self._process = self._hello = None
