"""Sweeps: literals with several values each, and the programs that have one of each. No Qt here."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

import msgspec

from gradstudio.document.errors import BadSweep
from gradstudio.document.runs.kept_run import State
from gradstudio.document.runs.run_literals import SEED, find_setting, varied_settings
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph
from gradstudio.graph.recipes.following_sizes import set_literal_and_widths

RANGE_PARTS: Final = 3
MOST_TRIALS: Final = 1000


class SweepLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """What `gradstudio sweep --json` prints when a training begins, and when it has ended; `run` names its folder."""

    run: str
    state: State
    reason: str = ""
    chosen: dict[str, str] = {}


class Span(NamedTuple):
    """Any number from `first` to `last`; `is_log`: each order of magnitude is as likely, `is_whole`: no fractions."""

    first: float
    last: float
    is_log: bool
    is_whole: bool

    @property
    def ends(self) -> list[str]:
        """The texts of its least and its largest number."""
        return [self.text(self.first), self.text(self.last)]

    def text(self, value: float) -> str:
        """A number of it as a literal: six digits, as those of a range."""
        return str(int(value)) if self.is_whole else f"{value:.6g}"


Space: TypeAlias = dict[str, list[str] | Span]
"""What each literal may be, by name."""


def search_space(settings: Sequence[str], graph: Graph) -> Space:
    """What each literal may be, written ``NAME=VALUES`` or ``NAME=from:to``; every value fits its argument.

    Raises:
        BadSweep: a name, a range or a seed cannot be read.
        Refused: an argument does not take its value.
    """
    space: Space = {}
    for text in settings:
        name, equals, values = text.partition("=")
        found = (SEED, None) if name == SEED else find_setting(graph, name)
        if not equals or found is None:
            known = ", ".join([SEED, *varied_settings(graph)])
            raise BadSweep(f"'{name}' names no literal, or more than one. There are: {known}.")
        space[found[0]] = one = span_of(values) or values_of(values)
        if not one:
            raise BadSweep(f"'{name}' has no value.")
        for value in one.ends if isinstance(one, Span) else one:
            with_literals(graph, {found[0]: value})
    return space


def combinations(space: Space) -> list[dict[str, str]]:
    """Every choice of one value for each literal.

    Raises:
        BadSweep: there are too many, or one may be any number between two.
    """
    for name, one in space.items():
        if isinstance(one, Span):
            ends = ":".join(one.ends)
            raise BadSweep(f"A grid needs to know how many values '{name}' has: {ends}:5. Or search with optuna.")
    count = size_of(space) or 0
    if count > MOST_TRIALS:
        raise BadSweep(f"These are {count:,} trainings; {MOST_TRIALS:,} are the most.")
    return list(all_of(space))


def size_of(space: Space) -> int | None:
    """How many combinations there are; None: more than can be counted."""
    count = 1
    for one in space.values():
        if not isinstance(one, Span):
            count *= len(one)
        elif one.is_whole:
            count *= int(one.last) - int(one.first) + 1
        else:
            return None
    return count


def all_of(space: Space) -> Iterator[dict[str, str]]:
    """The combinations of what can be counted, one after the other."""
    values = [
        [str(whole) for whole in range(int(one.first), int(one.last) + 1)] if isinstance(one, Span) else one
        for one in space.values()
    ]
    for chosen in itertools.product(*values):
        yield dict(zip(space, chosen, strict=True))


def span_of(text: str) -> Span | None:
    """``from:to``, or ``from:to:log``; None where it is something else.

    Raises:
        BadSweep: it ends before it begins, or is 0 or less where equal ratios are asked for.
    """
    first_text, *rest = [part.strip() for part in text.split(":")]
    if len(rest) not in (1, 2) or rest[1:] not in ([], ["log"]):
        return None
    try:
        first, last = float(first_text), float(rest[0])
    except ValueError:
        return None  # a device: cuda:0
    is_log = len(rest) > 1
    if not (math.isfinite(first) and math.isfinite(last) and first < last and (first > 0 or not is_log)):
        raise BadSweep(f"'{text}' is no range: from:to, from less than to, and for :log more than 0.")
    is_whole = all(part.lstrip("-").isdigit() for part in (first_text, rest[0]))
    return Span(first, last, is_log, is_whole)


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
    """A copy of a program with these literals, by name; the widths of the layers behind one follow its own.

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
            apply_all(copy, set_literal_and_widths(copy, setting[1].item, setting[1].path, text))
    return copy
