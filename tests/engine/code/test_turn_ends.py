"""Code that ends turns of a loop that is drawn: a run that records goes where Python goes."""

import ast
from pathlib import Path
from typing import NamedTuple

import pytest

from gradstudio.engine.code.turn_ends import ENDED, within_turn
from gradstudio.graph.model import ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.program.trust import code_digest
from gradstudio.protocol.client import COMMAND, RUNS_CODE, EngineProcess
from gradstudio.protocol.messages.events import Paused, Row, Traced
from gradstudio.protocol.messages.progress import Turned
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


WHILE = """import torch

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
met = {"skipped": 0}
k = 0
while k < 150 and w.isfinite().all():
    k += 1
    loss = ((w - 1) ** 2).sum()
    loss.backward()
    if k % 50 == 7:
        met["skipped"] += 1
        w.grad = None
        continue
    with torch.no_grad():
        w -= 0.01 * w.grad
    w.grad = None
last = loss.detach() * met["skipped"] + k
"""
INSIDE = """import torch

x = torch.zeros(())
for epoch in range(90):
    n = 0
    while n < 3:
        n += 1
        if n == 2 and epoch % 2:
            continue
        y = x + n
        if y > 400:
            break
        x = y
    while True:
        x = x + 1
        if x > epoch:
            break
    if x > 390:
        break
last = x + n + epoch
"""


class Ran(NamedTuple):
    rows: list[Row]
    last: float
    numbers: dict[ItemId, int]


def ran(text: str, folder: Path, *, samples_turns: bool) -> Ran:
    graph = read_script(text, keeps_code=True).graph
    program = compile_graph(graph)
    rows: list[Row] = []
    numbers: dict[ItemId, int] = {}

    def hear(one: object) -> None:
        if isinstance(one, Traced):
            rows.extend(one.rows)
        elif isinstance(one, Turned):
            numbers[one.loop] = max(one.number, numbers.get(one.loop, 0))

    with EngineProcess((*COMMAND, RUNS_CODE)) as engine:
        engine.wait_until_ready()
        engine.send(Load(document="a", revision=1, program=program, tensors={}))
        trust = Trust(code_digest(program), str(folder / "a.py"), str(folder))
        engine.send(Do(verb="run", trace=True, samples_turns=samples_turns, trust=trust, restart=True))
        paused = engine.wait_for(Paused, on_event=hear)
    assert isinstance(paused, Paused)
    assert (paused.outcome, paused.at_end) == ("done", True)
    (node,) = (one.id for one in graph.nodes.values() if one.names == ("last",))
    (record,) = next(row.outputs for row in rows if row.node == node)
    assert isinstance(record, TensorRecord)
    return Ran(rows, float(str(record.summary.value)), numbers)


@pytest.mark.parametrize(("text", "turns"), [(LONG, 201), (WHILE, 151), (INSIDE, None)], ids=["for", "while", "inside"])
def test_a_long_loop_that_code_ends_is_sampled_and_has_the_turns_of_python(
    tmp_path: Path, text: str, turns: int | None
) -> None:
    names: dict[str, object] = {}
    exec(text, names)
    whole, sampled = (ran(text, tmp_path, samples_turns=samples) for samples in (False, True))
    assert sampled.last == whole.last == pytest.approx(names["last"].item())  # type: ignore[attr-defined]
    first, last = ({row.turns[0] for row in one.rows if row.turns} for one in (whole, sampled))
    assert (min(last), max(last)) == (min(first), max(first))
    assert turns is None or max(first) == turns - 1
    assert len(last) < len(first)
    assert len(sampled.rows) < len(whole.rows)
    ends = {row.node: row.outputs for row in whole.rows if row.turns == (max(first),)}
    told = [row for row in sampled.rows if row.turns == (max(first),)]
    if turns is None:
        return  # what stands in loops inside is told as it stands at the end of the turn
    assert {row.node for row in told} <= ends.keys()
    assert [*sampled.numbers.values()] == [turns]
    for row in told:
        found, expected = ([getattr(one, "summary", one) for one in it] for it in (row.outputs, ends[row.node]))
        assert found == expected


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
