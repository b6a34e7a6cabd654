"""What the debugger adds to a card below its values: what an experiment changed, and what the node costs. No Qt."""

from collections.abc import Iterator
from typing import Final, Protocol

import msgspec

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.debugging import Checked, CheckRow, Difference, WhatIfAnswered
from gradstudio.protocol.messages.ranks import Range
from gradstudio.protocol.messages.records import Summary
from gradstudio.scene import value_format
from gradstudio.scene.colour_scale import seconds
from gradstudio.scene.results import Results

BAND_LINE: Final = 17.0
BAND_EDGE: Final = 5.0
FOOT: Final = 18.0
MAX_CHANGES: Final = 2


class Experiments(Protocol):
    """What a card asks of experiments; `ui.state.Experiments` answers, so does `NoExperiments`."""

    @property
    def what_if(self) -> WhatIfAnswered | None:
        """The last *What if*."""

    @property
    def checked(self) -> Checked | None:
        """The last gradcheck."""

    def difference(self, node: ItemId, output: int = 0, grad: bool = False, path: str = "") -> Difference | None:
        """What a *What if* changed of a value or a gradient."""

    def check_rows(self, node: ItemId) -> tuple[CheckRow, ...]:
        """What gradcheck found at a node."""


class NoExperiments:
    """Nothing was tried."""

    what_if: WhatIfAnswered | None = None
    checked: Checked | None = None

    def difference(self, node: ItemId, output: int = 0, grad: bool = False, path: str = "") -> Difference | None:
        """None: nothing was changed."""
        return None

    def check_rows(self, node: ItemId) -> tuple[CheckRow, ...]:
        """Nothing was checked."""
        return ()


class Changed(msgspec.Struct, frozen=True):
    """One line of the *What if* band: ``3 → 5`` and ``+2``; `sign` is "∇" for a gradient."""

    sign: str
    words: str
    by: str


class DebugSections(msgspec.Struct, frozen=True):
    """Below the values of a card.

    Attributes:
        changes: lines of the *What if* band.
        cost: forward time, backward time, bytes alive or "freed", bytes saved; "" where nothing is known;
            () without the overlay.
        check: gradcheck agreed (True) or not; None: not checked.
        numbers: where it did not, both numbers of the worst element.
        late: which of several ranks came late to it; "" of none.
    """

    changes: tuple[Changed, ...] = ()
    cost: tuple[str, ...] = ()
    check: bool | None = None
    numbers: str = ""
    late: str = ""

    @property
    def band_height(self) -> float:
        """Of the *What if* band, scene pixels."""
        return BAND_LINE * len(self.changes) + BAND_EDGE if self.changes else 0.0

    @property
    def height(self) -> float:
        """Of all of it."""
        return self.band_height + FOOT * sum(map(bool, (self.numbers, self.late, self.cost)))


PLAIN: Final = DebugSections()


def debug_sections(
    results: Results, experiments: Experiments, node: ItemId, *, with_cost: bool, came: Range | None = None
) -> DebugSections:
    """What is known beside the values of a node.

    Args:
        results: what a run said.
        experiments: what was tried.
        node: whose.
        with_cost: whether time and memory are shown.
        came: when the first and the last of several ranks came to it; None where ranks do not meet.
    """
    changes = tuple(_changes(experiments, node))[:MAX_CHANGES]
    rows = experiments.check_rows(node)
    check = all(row.ok for row in rows) if rows else None
    return DebugSections(changes, cost(results, node) if with_cost else (), check, _numbers(rows), _late(came))


def _late(came: Range | None) -> str:
    if came is None:
        return ""
    from gradstudio.protocol.ranks.arrival_words import late_sign  # most programs have one rank

    return late_sign(came)


def _numbers(rows: tuple[CheckRow, ...]) -> str:
    """Of the element that differs most, what autograd says and what finite differences say."""
    worst = max((row for row in rows if not row.ok), key=lambda row: abs(row.analytical - row.numerical), default=None)
    if worst is None:
        return ""
    analytical, numerical = (value_format.number(figure, 4) for figure in (worst.analytical, worst.numerical))
    return f"autograd {analytical}, differences {numerical}"


def cost(results: Results, node: ItemId) -> tuple[str, ...]:
    """Forward and backward time, bytes alive and saved, as they are written; "" where there is none."""
    forward, backward = results.seconds(node)
    memory = results.node_memory(node)
    alive, freed = (memory.alive_bytes, memory.freed_step) if memory is not None else (0, 0)
    saved = results.saved_bytes(node)
    times = tuple(seconds(figure) if figure else "" for figure in (forward, backward))
    held = "freed" if freed else ""
    if alive:
        held = value_format.size(alive)
    return (*times, held, value_format.size(saved) if saved else "")


def _changes(experiments: Experiments, node: ItemId) -> Iterator[Changed]:
    for grad in (False, True):
        for output in range(3):
            found = experiments.difference(node, output, grad)
            if found is not None:
                yield Changed("∇" if grad else "", *_before_after(found))


def _before_after(difference: Difference) -> tuple[str, str]:
    before, after = difference.before, difference.after
    words = f"{_brief(before)} → {_brief(after)}"
    one, other = value_format.single(before), value_format.single(after)
    if isinstance(one, float | int) and isinstance(other, float | int):
        change = value_format.number(float(other) - float(one), 3)
        return words, change if change.startswith(("-", "−", "N")) else f"+{change}"
    return words, f"max {value_format.number(difference.largest, 3)}" if difference.largest is not None else ""


def _brief(summary: Summary | None) -> str:
    if summary is None:
        return "none"
    single = value_format.single(summary)
    return value_format.number(single, 3) if single is not None else f"‖·‖ {value_format.norm(summary)}"
