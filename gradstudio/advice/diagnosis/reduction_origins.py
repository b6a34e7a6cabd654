"""Gradients that another rank has spoilt: what came in was finite here, and the mean over ranks is not."""

from collections.abc import Iterator

import msgspec

from gradstudio.advice.diagnosis.finding import Finding
from gradstudio.advice.diagnosis.nan_reasons import kind_of, turn_words, worst
from gradstudio.advice.diagnosis.program_view import ProgramView
from gradstudio.advice.diagnosis.run_facts import LeafKey
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced


def without_reductions(traced: BackwardTraced) -> BackwardTraced:
    """The record of what this rank has done alone; reductions stand behind it."""
    if all(row.reduction is None for row in traced.rows):
        return traced
    return msgspec.structs.replace(traced, rows=tuple(row for row in traced.rows if row.reduction is None))


def reduction_origins(view: ProgramView, traced: BackwardTraced) -> Iterator[Finding]:
    """A finding for the first reduction that gives what is not finite although this rank brought nothing such."""
    for place, row in enumerate(traced.rows):
        bad = worst(row.outgoing)
        if row.reduction is None or not bad or worst(row.incoming) or view.node(row.node) is None:
            continue
        ranks = _ranks(row)
        who = f"rank{'s' * (len(ranks) != 1)} {', '.join(map(str, ranks))}" if ranks else "another rank"
        where = f"{view.where(row.node)}{turn_words(traced.turns)}"
        yield Finding(
            "backward_not_finite", "error", row.node,
            f"The gradient becomes {bad} in the all-reduce of {where}: {who} brought it",
            f"What this rank brought was finite, the mean over ranks is not. Show {who} to see where it begins.",
            (row.node,), traced.backward, place,
        )  # fmt: skip
        return


def spoilt_by_others(traced: BackwardTraced) -> Iterator[LeafKey]:
    """The leaves whose gradient is not finite since it was reduced; each rank then takes a step that spoils them."""
    for row in traced.rows:
        if row.reduction is not None:
            yield from ((value.node, value.path) for value in row.values if kind_of(row.outgoing[value.index]))


def _ranks(row: AutogradRow) -> list[int]:
    """Those that brought what is not finite, as far as they are named."""
    spreads = [grad.spread for grad in row.incoming if grad is not None and grad.spread is not None]
    return sorted({rank for spread in spreads for rank in (*spread.nan.ranks, *spread.infinite.ranks)})
