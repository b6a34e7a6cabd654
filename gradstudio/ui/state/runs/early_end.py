"""What a run that has ended says of itself: its last numbers, and whether it left its loop before all turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gradstudio.document.runs.kept_run import RunRecord
from gradstudio.graph.model import ROOT, Graph, ItemId
from gradstudio.graph.text.code_records import is_code
from gradstudio.program.forms.training.switches.code_switches import early_stop_in
from gradstudio.protocol.result_numbers import ResultNumbers
from gradstudio.ui.state.results.loop_progress import duration
from gradstudio.ui.state.results.result_store import ResultStore
from gradstudio.ui.state.runs.run_list import MOST_FIGURES, came_out, figures

if TYPE_CHECKING:
    from gradstudio.ui.state.engines.rank_child import RankGroup

CUT_OFF: Final = "The training was cut off at turn {turn:,}."
OF_RANK: Final = "on rank {rank} of {count}"
EARLY: Final = "Ended early, in {turn} {done:,} of {total:,} ({time}), kept in Runs: {figures}"


def last_numbers(graph: Graph, results: ResultStore) -> dict[str, float]:
    """Results of one number, such as an accuracy, as they stand; what an early stop compares with is none."""
    stop, numbers = early_stop_in(graph), ResultNumbers(graph)
    found: dict[str, float] = {}
    for item in graph.nodes:
        found |= numbers.of(item, results.outputs(item) or ())
    if stop is not None:
        found.pop(stop.best, None)
    return found


def end_words(record: RunRecord, graph: Graph, results: ResultStore, ranks: RankGroup | None = None) -> str:
    """What came out of a training that has ended; of several `ranks` it is what the one that is shown has told."""
    words = _end_words(record, graph, results)
    return words if ranks is None else f"{words} ({OF_RANK.format(rank=ranks.shown, count=ranks.count)})"


def _end_words(record: RunRecord, graph: Graph, results: ResultStore) -> str:
    early = early_end(graph, results)
    if early is None:
        return came_out(record)
    turn, done, total = early
    known = ", ".join(figures(record)[:MOST_FIGURES])
    return EARLY.format(turn=turn, done=done, total=total, time=duration(record.seconds), figures=known)


def cut_off_words(turns: int, reason: str = "") -> str:
    """That a training has ended behind so many turns, and how, of the reason of a run that was lost; "": not known."""
    how = reason.rpartition("; ")[0]  # what becomes of it is offered
    begin = how if how[:1].isupper() else f"The engine ended: {how}"
    return f"{begin}. {CUT_OFF.format(turn=turns)}" if how else CUT_OFF.format(turn=turns)


def early_end(graph: Graph, results: ResultStore) -> tuple[str, int, int] | None:
    """What the turns of the loop are called that code has left, how many it took, and of how many; None of no other."""
    for loop in _loops_with_code(graph):
        block = graph.blocks[loop]
        total, done = block.literals.get("range.0", ""), results.tables.curves.turns_told(loop, ())
        if block.lengths.get("range") == 1 and total.isdecimal() and 0 < done < int(total):
            return block.variable or "turn", done, int(total)
    return None


def _loops_with_code(graph: Graph) -> list[ItemId]:
    """Outermost loops that hold code."""
    found = (ItemId(graph.parents[node.id]) for node in graph.nodes.values() if is_code(node))
    return [loop for loop in dict.fromkeys(found) if loop in graph.blocks and graph.parents[loop] == ROOT]
