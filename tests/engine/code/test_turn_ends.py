"""Code that ends turns of a loop that is drawn: a run that records goes where Python goes."""

import ast
from pathlib import Path

import pytest

from gradstudio.engine.code.turn_ends import ENDED, within_turn
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.program.trust import code_digest
from gradstudio.protocol.client import COMMAND, RUNS_CODE, EngineProcess
from gradstudio.protocol.messages.events import Paused, Row, Traced
from gradstudio.protocol.messages.records import TensorRecord
from gradstudio.protocol.messages.requests import Do, Load, Trust

LONG = """import torch

x = torch.zeros(())
met = {"skipped": 0}
for k in range(300):
    with torch.no_grad():
        x = x + k
        if k % 5 == 1:
            met["skipped"] += 1
            continue
        if k == 200:
            break
        x = x + 1
last = x * met["skipped"] + k
"""


@pytest.mark.parametrize("samples_turns", [False, True], ids=["whole", "sampled"])
def test_a_long_loop_that_is_left_early_has_the_turns_of_python(tmp_path: Path, samples_turns: bool) -> None:
    names: dict[str, object] = {}
    exec(LONG, names)
    graph = read_script(LONG, keeps_code=True).graph
    program = compile_graph(graph)
    rows: list[Row] = []
    with EngineProcess((*COMMAND, RUNS_CODE)) as engine:
        engine.wait_until_ready()
        engine.send(Load(document="a", revision=1, program=program, tensors={}))
        trust = Trust(code_digest(program), str(tmp_path / "a.py"), str(tmp_path))
        engine.send(Do(verb="run", trace=True, samples_turns=samples_turns, trust=trust, restart=True))
        paused = engine.wait_for(
            Paused, on_event=lambda one: rows.extend(one.rows) if isinstance(one, Traced) else None
        )
    assert isinstance(paused, Paused)
    assert (paused.outcome, paused.at_end) == ("done", True)
    (node,) = (one.id for one in graph.nodes.values() if one.names == ("last",))
    (record,) = next(row.outputs for row in rows if row.node == node)
    assert isinstance(record, TensorRecord)
    assert record.summary.value == names["last"].item()  # type: ignore[attr-defined]
    assert max(row.turns[0] for row in rows if row.turns) == 200


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("for a in (1, 2):\n    break\nn += 1", ""),
        ("if n:\n    continue\nn += 1", "continue"),
        ("while n:\n    break\nelse:\n    n = 3\nif n < 3:\n    break", "break"),
        ("for a in (1,):\n    continue\nelse:\n    break", "break"),
        ("try:\n    break\nfinally:\n    n = 7", "break"),
        ("with open(__file__):\n    continue", "continue"),
    ],
)
def test_code_says_how_it_left_the_turn_and_does_what_it_does_in_a_loop(code: str, word: str) -> None:
    alone: dict[str, object] = {"n": 1, "__file__": __file__}
    exec(compile(within_turn(code), "<code>", "exec"), alone)
    inside = "\n".join(f"    {line}" for line in code.split("\n"))
    looped: dict[str, object] = {"n": 1, "__file__": __file__, "how": "break"}
    exec(f"for _ in (1,):\n    how = 'continue'\n{inside}\n    how = ''\nelse:\n    pass\n", looped)
    assert alone.get(ENDED, "") == word
    assert bool(looped["how"]) == bool(word)
    assert alone["n"] == looped["n"]


def test_code_that_leaves_no_turn_stays_as_it_is() -> None:
    for code in ("def f():\n    for k in g:\n        break\n", "x = [1 for _ in y]\n", "while 1:\n    continue\n"):
        assert ast.dump(within_turn(code)) == ast.dump(ast.parse(code))
    with pytest.raises(SyntaxError):
        within_turn("x = =")
