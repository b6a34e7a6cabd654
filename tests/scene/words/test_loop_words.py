"""How far loops are, in a line: where each stands, by its own word, and what is left of all."""

from gradstudio.program.reading.reader import read_script
from gradstudio.scene.results import LoopTurn
from gradstudio.scene.words.loop_words import loop_words

NESTED = """import torch
for epoch in range(20):
    for i in range(45):
        x = torch.ones(2)
"""


def test_all_loops_are_told_and_the_time_is_that_of_the_outermost() -> None:
    graph = read_script(NESTED).graph
    epochs, batches = (block for block in graph.order() if block in graph.blocks)
    outer = LoopTurn(epochs, "turn 3 of 20", "0.1 a second", "2 min 0 s left", 0.15)
    inner = LoopTurn(batches, "turn 13 of 45", "5 a second", "6.4 s left", 0.3)
    words = ["epoch 3 of 20", "turn 13 of 45", "5 a second", "2 min 0 s left"]
    assert loop_words(graph, (outer, inner)) == words
    assert loop_words(graph, (inner,)) == ["turn 13 of 45", "5 a second", "6.4 s left"]
    assert loop_words(graph, ()) == []


def test_the_way_to_a_turn_is_told_by_the_word_of_its_loop() -> None:
    graph = read_script(NESTED).graph
    epochs = next(block for block in graph.order() if block in graph.blocks)
    going = LoopTurn(epochs, "turn 3 of 20", "0.1 a second", "12 s to turn 5", 0.15)
    assert loop_words(graph, (going,)) == ["epoch 3 of 20", "0.1 a second", "12 s to epoch 5"]
