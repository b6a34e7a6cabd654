"""Sweeps: literals with several values each, and the programs that have one of each. No Qt here."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from gradstudio.document.errors import BadSweep
from gradstudio.document.runs.kept_run import State
from gradstudio.document.runs.run_literals import SEED, find_setting, settings_of
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph
from gradstudio.graph.recipes import set_literal

RANGE_PARTS: Final = 3
MOST_TRIALS: Final = 1000


class SweepLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """What `gradstudio sweep --json` prints when a training begins, and when it has ended; `run` names its folder."""

    run: str
    state: State
    reason: str = ""
    chosen: dict[str, str] = {}


def combinations(settings: Sequence[str], graph: Graph) -> list[dict[str, str]]:
    """Every choice of one value for each literal, where each is written ``NAME=VALUES``.

    Raises:
        BadSweep: a name or a range cannot be read, or there are too many.
    """
    grid: dict[str, list[str]] = {}
    for text in settings:
        name, equals, values = text.partition("=")
        found = (SEED, None) if name == SEED else find_setting(graph, name)
        if not equals or found is None:
            known = ", ".join([SEED, *settings_of(graph)])
            raise BadSweep(f"'{name}' names no literal, or more than one. There are: {known}.")
        grid[found[0]] = values_of(values)
        if not grid[found[0]]:
            raise BadSweep(f"'{name}' has no value.")
    count = 1
    for one in grid.values():
        count *= len(one)
    if count > MOST_TRIALS:
        raise BadSweep(f"These are {count:,} trainings; {MOST_TRIALS:,} are the most.")
    return [dict(zip(grid, chosen, strict=True)) for chosen in itertools.product(*grid.values())]


def values_of(text: str) -> list[str]:
    """``0.1,0.01``, or from:to:count, with ``:log`` behind it in equal ratios.

    Raises:
        BadSweep: it is neither.
    """
    parts = text.split(":")
    if len(parts) < RANGE_PARTS:
        return [part.strip() for part in text.split(",") if part.strip()]
    try:
        first, last, count = float(parts[0]), float(parts[1]), int(parts[2])
        if count > MOST_TRIALS:
            raise BadSweep(f"'{text}' has {count:,} values; {MOST_TRIALS:,} are the most.")
        shares = [k / (count - 1) for k in range(count)]
        if parts[3:] == ["log"]:
            return [f"{first * (last / first) ** share:.6g}" for share in shares]
        if not parts[3:]:
            return [f"{first + (last - first) * share:.6g}" for share in shares]
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        raise BadSweep(f"'{text}' is no range: from:to:count, count from 2, and for :log none of them 0.") from error
    raise BadSweep(f"'{text}' is no range: behind the count only :log may stand.")


def with_literals(graph: Graph, chosen: Mapping[str, str]) -> Graph:
    """A copy of a program with these literals, by name.

    Raises:
        Refused: an argument does not take its value.
        BadSweep: a seed is no number.
    """
    copy = graph.copy()
    for name, text in chosen.items():
        setting = find_setting(copy, name)
        if name == SEED:
            if not text.isdigit():
                raise BadSweep(f"'{text}' is no seed.")
            copy.header = msgspec.structs.replace(copy.header, seed=int(text))
        elif setting is not None:
            apply_all(copy, set_literal(copy, setting[1].item, setting[1].path, text))
    return copy
