"""The question whether the code of a document may run: asked by a gesture that would run it, once for each text."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from gradstudio.graph.model import ItemId
from gradstudio.program.file_lines import FileLines, shown_in_script
from gradstudio.program.model import Program
from gradstudio.program.trust import code_digest
from gradstudio.protocol.messages.base import Verb
from gradstudio.protocol.messages.requests import Trust
from gradstudio.ui.state.trust.trusted_code import TrustedCode

NOT_TRUSTED = "Nothing was run: the program holds Python that is not drawn, and you did not trust it."
NEVER_BY_ITSELF = "A program with Python that is not drawn runs when you run it (F5), and never by itself."


class CodePart(NamedTuple):
    """Lines that are asked for.

    Attributes:
        numbers: of each of its lines.
        is_of_file: they count in the file that the document was read from, else in the Code dock.
    """

    numbers: tuple[int, ...]
    text: str
    is_of_file: bool = False


class CodeQuestion:
    """Of one document.

    Attributes:
        trusted: what was said yes to; all documents of a window share it.
        ask: shows the parts and gives the person's answer; without anybody to ask it is no.
        tell: takes words about the file of what is trusted.
        file: where the document lies; None: nowhere yet.
        in_dock: the line of the Code dock where one of the program stands; 0: nowhere.
        file_lines: where its code stands in the Python file that it was read from, if it was.
    """

    def __init__(self, program: Callable[[], Program], refuse: Callable[[str], object]) -> None:
        """Nothing is trusted, and nobody can be asked; `program` is the one that stands, `refuse` takes the words."""
        self._program, self._refuse = program, refuse
        self.trusted = TrustedCode()
        self.ask: Callable[[tuple[CodePart, ...]], bool] = lambda _parts: False
        self.tell: Callable[[str], object] = lambda _words: None
        self.file: Callable[[], Path | None] = lambda: None
        self.in_dock: Callable[[int], int] = lambda line: line
        self.file_lines = FileLines()

    @property
    def concerns(self) -> bool:
        """Whether the program holds code."""
        return bool(self._program().codes)

    def place(self, node: ItemId, line: int) -> str:
        """A line within code as the Code dock counts it; "" of what is drawn."""
        return f"line {self.line(line)}" if any(one.node == node for one in self._program().codes) else ""

    def line(self, line: int) -> int:
        """A line of the program as the Code dock counts it; as the program does, where the dock has other words."""
        return self.in_dock(line) or line

    def may_run(self, verb: Verb) -> bool:
        """The answer, asked for where there was no yes yet; a no is not remembered, and is told of."""
        program = self._program()
        if not program.codes:
            return True
        if verb == "repeat":
            self._refuse(NEVER_BY_ITSELF)
            return False
        if not self._is_trusted(program) and self.ask(self._parts(program)):
            self.trusted.add(code_digest(program))
        self._tell_problem()
        answer = self._is_trusted(self._program())  # it may have changed while the lines were read
        if not answer:
            self._refuse(NOT_TRUSTED)
        return answer

    def yes(self) -> Trust | None:
        """The yes to the program as the engine wants it; None for one that needs none, or has none."""
        program = self._program()
        if not program.codes or not self._is_trusted(program):
            return None
        path = self.file()
        if path is None:
            return Trust(digest=code_digest(program))
        return Trust(digest=code_digest(program), file=str(path), folder=str(path.resolve().parent))

    def _is_trusted(self, program: Program) -> bool:
        return not program.codes or code_digest(program) in self.trusted

    def _tell_problem(self) -> None:
        if self.trusted.problem:
            self.tell(self.trusted.problem)
            self.trusted.problem = ""

    def _parts(self, program: Program) -> tuple[CodePart, ...]:
        """The lines to be asked for: all as the file counts them, or all as the Code dock does."""
        found = [self.file_lines.shown(one) for one in program.trusted]
        of_file = [CodePart(*shown, True) for shown in found if shown is not None]
        parts = of_file
        if len(of_file) < len(found):
            in_script = [shown_in_script(program, one) for one in program.trusted]
            parts = [CodePart(tuple(map(self.line, numbers)), text) for numbers, text in in_script]
        parts.sort(key=lambda part: part.numbers)
        return tuple(dict.fromkeys(parts))  # one line may hold several calls
