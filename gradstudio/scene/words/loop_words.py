"""How far a run is in the loops that it stands in, in a line. No Qt."""

from collections.abc import Sequence
from typing import Final

from gradstudio.graph.model import Graph, ItemId
from gradstudio.scene.results import LoopTurn

LEAST_WORD: Final = 4
"""Variables of fewer letters are no words."""


def loop_words(graph: Graph, loops: Sequence[LoopTurn]) -> list[str]:
    """``epoch 3 of 20``, ``turn 13 of 45``, ``840 a second``, ``12 s left``."""
    if not loops:
        return []
    places = [_of_variable(graph, loop.loop, loop.place) for loop in loops]
    left = _of_variable(graph, loops[0].loop, loops[0].left)
    return [part for part in (*places, loops[-1].rate, left) if part]


def _of_variable(graph: Graph, loop: ItemId, words: str) -> str:
    """Turns of a loop called as its variable, where that is a word: ``epoch 3 of 20``."""
    block = graph.blocks.get(loop)
    name = block.variable if block is not None else ""
    is_word = len(name) >= LEAST_WORD and name.isalpha()
    return words.replace("turn", name, 1) if is_word else words
