"""A run that the engine does not hold (any more): what was recorded stays true until the program is another."""

from gradstudio.program.model import Program
from gradstudio.ui.state.results.result_tables import ResultTables
from gradstudio.ui.state.run.run_status import RunStatus


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
        self._ran: list[str] = []

    def begin(self, by: str, program: Program, words: str = "") -> None:
        """Another document runs, which is told, or `words`; what ran here is this program, or one before it."""
        self.by, self._is_told = by, False
        self._words = words or f"“{by}” ran since: the live state is gone, what was recorded stays. Run begins anew."
        self._ran = [] if self._tables.is_stale else _statements(program)
        self._say()

    def end(self) -> None:
        """What ran last is this document's, or forgotten."""
        self.by = ""

    def judge(self, program: Program) -> None:
        """The program is another: results are stale unless it only goes on behind what ran."""
        if self.by:
            self._tables.set_stale(not self._ran or _statements(program)[: len(self._ran)] != self._ran)

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
