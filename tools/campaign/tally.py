"""What a part of the campaign found: how many cases, which failed, and the slowest."""

import random
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Failure:
    """One case that failed.

    Attributes:
        name: of the part, as the command line takes it.
        seed, case: with the name they make the case again.
        reason: what is wrong, on one line.
        data: the input, when there is one, to be kept as a file.
        details: the traceback, when there is one.
    """

    name: str
    seed: int
    case: int
    reason: str
    data: bytes = b""
    details: str = ""

    def command(self) -> str:
        """What makes this case again."""
        return f"python3 dev.py campaign {self.name} --seed {self.seed} --case {self.case}"


@dataclass
class Tally:
    """The cases of one part.

    Attributes:
        worst_s: CPU seconds of the slowest case; `worst_case`: its number.
        remarks: figures beside the cases, in words.
    """

    name: str
    cases: int = 0
    worst_s: float = 0.0
    worst_case: int = 0
    failures: list[Failure] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def count(self, case: int, seconds: float) -> None:
        """One more case, which took so long."""
        self.cases += 1
        if seconds > self.worst_s:
            self.worst_s, self.worst_case = seconds, case

    def line(self) -> str:
        """The row that is printed of it."""
        worst = f"worst {self.worst_s:6.2f} s (case {self.worst_case})"
        remarks = f"   {'; '.join(self.remarks)}" if self.remarks else ""
        return f"{self.name:<12} {self.cases:>8,} cases  {len(self.failures):>4} failures  {worst}{remarks}"


def generator_of(name: str, seed: int, case: int) -> random.Random:
    """The random numbers of one case: the same wherever and whenever it is made."""
    return random.Random(f"{name} {seed} {case}")
