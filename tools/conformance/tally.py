"""The table: what was counted, and every exception with its explanation."""

from collections import Counter
from dataclasses import dataclass, field

HEAD = (
    "",
    "entries",
    "drawn",
    "samples",
    "same",
    "%",
    "% of drawn",
    "with gradients",
    "engine",
    "script",
    "differ",
    "not drawn",
)
AT_TIMES = "at times:"
"""Begins the reason of an exception that comes and goes."""
INFERENCE_HEAD = ("", "entries", "samples", "right", "%", "after a run", "refused", "wrong")


@dataclass(slots=True)
class Verdict:
    """How one sample came out.

    Attributes:
        state: "same"; "differs"; "unbuilt": no canvas of it can be made; "refused": torch refuses it as well.
        why: what differs, or why there is no canvas.
        gradients: gradients were compared.
    """

    name: str
    state: str
    why: str = ""
    gradients: bool = False
    engine: bool = True
    script: bool = True


@dataclass(slots=True)
class Tally:
    """Verdicts of one line of the table.

    Attributes:
        section: "op", "module", "error", "infer": the first word of its exceptions' names.
        seen: names with at least one sample; `drawn` those of which a canvas was made.
        faults: by name how often and why (the first time) a sample did not come out as torch's.
    """

    title: str
    section: str
    states: Counter[str] = field(default_factory=Counter)
    seen: set[str] = field(default_factory=set)
    drawn: set[str] = field(default_factory=set)
    gradients: int = 0
    engine: int = 0
    script: int = 0
    faults: dict[str, list[str]] = field(default_factory=dict)

    def add(self, verdict: Verdict) -> None:
        """Count one sample; one that torch refuses itself is none."""
        if verdict.state == "refused" and self.section != "infer":
            return
        self.states[verdict.state] += 1
        self.seen.add(verdict.name)
        if verdict.state != "unbuilt":
            self.drawn.add(verdict.name)
            self.engine += verdict.engine
            self.script += verdict.script
        self.gradients += verdict.gradients and verdict.state == "same"
        if verdict.state in ("differs", "unbuilt", "refused"):
            self.faults.setdefault(verdict.name, []).append(verdict.why)

    @property
    def samples(self) -> int:
        """How many samples were judged."""
        return sum(self.states.values())

    @property
    def share(self) -> float:
        """Percent of them that came out as torch's."""
        return 100 * self.states["same"] / self.samples if self.samples else 100.0

    @property
    def share_of_drawn(self) -> float:
        """Percent of those of which there is a canvas."""
        drawn = self.samples - self.states["unbuilt"]
        return 100 * self.states["same"] / drawn if drawn else 100.0

    def row(self) -> tuple[str, ...]:
        """The line of the table."""
        if self.section == "infer":
            counts = (self.states[state] for state in ("unknown", "refused", "differs"))
            return (
                self.title,
                str(len(self.seen)),
                str(self.samples),
                str(self.states["same"]),
                f"{self.share:.2f}",
                *map(str, counts),
            )
        return (
            self.title, str(len(self.seen)), str(len(self.drawn)), str(self.samples), str(self.states["same"]),
            f"{self.share:.2f}", f"{self.share_of_drawn:.2f}", str(self.gradients), str(self.engine), str(self.script),
            str(self.states["differs"]), str(self.states["unbuilt"]),
        )  # fmt: skip


def table(tallies: list[Tally]) -> str:
    """The lines under their heads, in columns."""
    parts = []
    for head, chosen in (
        (HEAD, [t for t in tallies if t.section != "infer"]),
        (INFERENCE_HEAD, [t for t in tallies if t.section == "infer"]),
    ):
        if chosen:
            parts.append(_columns([head, *(tally.row() for tally in chosen)]))
    return "\n\n".join(parts)


def _columns(rows: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def exceptions(tallies: list[Tally], known: dict[str, str], *, complete: bool) -> tuple[list[str], list[str]]:
    """Lines that explain every exception, and what must not be: unexplained ones, explained ones that are none.

    Args:
        tallies: what was counted.
        known: the reasons, by "section name".
        complete: every dtype and variant was tried, so that an exception that did not occur is none any more.
    """
    told, wrong = [], []
    met: set[str] = set()
    for tally in tallies:
        for name, whys in sorted(tally.faults.items()):
            key = f"{tally.section} {name}"
            met.add(key)
            line = f"{tally.title}: {name} ({len(whys)}): "
            if key in known:
                told.append(line + known[key])
            else:
                wrong.append(f"NOT EXPLAINED  {line}{whys[0]}")
    if complete:
        seen = {f"{tally.section} {name}" for tally in tallies for name in tally.seen}
        wrong += [
            f"WORKS BY NOW  {key}: {reason}" for key, reason in known.items() if _is_stale(key, reason, seen, met)
        ]
    return told, wrong


def _is_stale(key: str, reason: str, seen: set[str], met: set[str]) -> bool:
    return key in seen and key not in met and not reason.startswith(AT_TIMES)
