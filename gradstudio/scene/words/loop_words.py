"""How far a run is in the loops that it stands in, in a line. No Qt."""

from collections.abc import Sequence
from typing import Final

from gradstudio.graph.model import Graph
from gradstudio.scene.results import LoopTurn

LEAST_WORD: Final = 4
"""Variables of fewer letters are no words."""


def loop_words(graph: Graph, loops: Sequence[LoopTurn]) -> list[str]:
    """``epoch 3 of 20``, ``turn 13 of 45``, ``840 a second``, ``12 s left``."""
    if not loops:
        return []
    places = [_place_in(graph, loop) for loop in loops]
    return [part for part in (*places, loops[-1].rate, loops[0].left) if part]


def _place_in(graph: Graph, loop: LoopTurn) -> str:
    """Where a loop stands, its turns called as its variable where that is a word: ``epoch 3 of 20``."""
    block = graph.blocks.get(loop.loop)
    name = block.variable if block is not None else ""
    is_word = len(name) >= LEAST_WORD and name.isalpha()
    return loop.place.replace("turn", name, 1) if is_word else loop.place
