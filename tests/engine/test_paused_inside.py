"""Pauses inside calls of groups: breakpoints there, Step into and Out, run to a node inside; going on from there."""

from typing import Any

import msgspec
import pytest

from gradstudio.graph.model import ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import BlockStatement
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.debugging import Breakpoint, Condition, Hit
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.requests import Do
from tests.engine.conftest import Bench
from tests.engine.run.test_call_tracing import BACKWARD, CLASSES, FUNCTIONS, compiled

pytestmark = pytest.mark.feature(40)
UNEQUAL = {"storage", "seconds", "at_s", "made_bytes", "alive_bytes", "step"}
"""What differs from run to run."""


class Walk:
    """A program in an engine, asked by addresses: ``y/twice.d`` is the node that binds d in the call y of twice."""

    def __init__(self, bench: Bench, text: str) -> None:
        self.bench, self.program = bench, compiled(text)
        self._outer = dict(_named(self.program.statements))
        self._groups = {one.name: dict(_named((*one.setup, *one.body))) for one in self.program.insides}
        bench.load(self.program)

    def inner(self, word: str) -> ItemId:
        """The id inside its definition: ``twice.d``."""
        group, _, name = word.partition(".")
        return self._groups[group][name]

    def id(self, address: str) -> ItemId:
        first, *inner = address.split("/")
        return ItemId("/".join([self._outer[first], *(w if w[0] == "@" else self.inner(w) for w in inner)]))

    def do(self, verb: str = "run", **fields: object) -> str:
        """Carry out a verb; the address of what is next."""
        self.paused = self.bench.engine.do(msgspec.structs.replace(Do(verb="run"), verb=verb, **fields))
        return self.address(self.paused.next_node)

    def address(self, item: ItemId) -> str:
        names: dict[ItemId, str] = {}
        for group, known in (("", self._outer), *self._groups.items()):
            for name, node in known.items():
                names.setdefault(node, f"{group}.{name}".lstrip("."))
        return "/".join(names.get(ItemId(part), part) for part in item.split("/") if part)

    def ran(self) -> list[str]:
        return [self.address(row.node) for row in self.bench.rows()]

    def hits(self) -> list[tuple[str, str, tuple[int, ...]]]:
        met = [event for event in self.bench.events if isinstance(event, Hit)]
        return [(hit.breakpoint, self.address(hit.node), hit.turns) for hit in met]


def _named(statements: Any) -> list[tuple[str, ItemId]]:
    found: list[tuple[str, ItemId]] = []
    for one in statements:
        if isinstance(one, BlockStatement):
            found += [(one.kind, one.block), *_named(one.body)]
        else:
            found += [(name, one.node) for name in (*one.names, one.address)]
    return found


def plain(rows: Any) -> Any:
    """Rows without what differs from run to run."""
    if isinstance(rows, dict):
        return {key: plain(value) for key, value in rows.items() if key not in UNEQUAL}
    if isinstance(rows, list | tuple):
        return [plain(value) for value in rows]
    return plain(msgspec.to_builtins(rows)) if isinstance(rows, msgspec.Struct) else rows


def gradients(bench: Bench) -> Any:
    rows = bench.grads().values()
    return plain(sorted(rows, key=lambda row: (row.node, row.output, row.path)))


def test_a_breakpoint_in_a_group_pauses_in_every_call_of_it_and_the_run_gives_what_it_gives_without(
    bench: Bench,
) -> None:
    walk = Walk(bench, FUNCTIONS)
    points = (Breakpoint(id="b1", node=walk.inner("twice.no_grad"), group="twice"),)
    assert walk.do(breakpoints=points) == "y/twice.no_grad"
    assert (walk.paused.outcome, walk.paused.hit, walk.paused.at_end) == ("breakpoint", "b1", False)
    assert "y" not in bench and "d" not in bench  # the names are the program's: this call has not returned
    assert walk.do(breakpoints=points) == "z/twice.no_grad"
    assert "y" in bench and "z" not in bench
    walk.do(breakpoints=points)
    assert (walk.paused.outcome, walk.paused.at_end) == ("done", True)
    assert walk.hits() == [("b1", "y/twice.no_grad", ()), ("b1", "z/twice.no_grad", ())]
    paused, found = plain(bench.rows()), gradients(bench)
    bench.events.clear()
    walk.do(restart=True)
    assert plain(bench.rows()) == paused and gradients(bench) == found


def test_breakpoints_inside_know_blocks_turns_conditions_and_the_backward(bench: Bench) -> None:
    walk = Walk(bench, FUNCTIONS)
    body = walk.program.insides[-1].body
    product = next(one for one in body if isinstance(one, BlockStatement) and one.kind == "for").body[0].node  # type: ignore[union-attr]
    points = (
        Breakpoint(id="b", node=walk.inner("scale.b"), group="scale", place="after", condition=Condition("above", 5.0)),
        Breakpoint(id="turn", node=walk.inner("twice.for"), group="twice", place="after", stops=False),
        Breakpoint(id="back", node=product, group="twice", phase="backward", stops=False),
        Breakpoint(id="other", node=product, group="scale"),
    )
    assert walk.do(breakpoints=points).startswith("z/twice.b/")  # the first value above 5 is in the second call
    while not walk.paused.at_end:
        walk.do(breakpoints=points)
    forward = [(f"{call}/twice.for", (turn,)) for call in "yz" for turn in range(3)]
    assert [(node, turns) for name, node, turns in walk.hits() if name == "turn"] == forward
    back = [(node, turns) for name, node, turns in walk.hits() if name == "back"]
    assert [turns for _, turns in back] == [(2,), (1,), (0,)] * 2 and back[0][0].startswith("z/twice.")
    assert not [name for name, _, _ in walk.hits() if name == "other"]


def test_a_nan_born_inside_is_met_there_and_not_again_at_the_calls_around_it(bench: Bench) -> None:
    text = FUNCTIONS.replace("torch.tanh(b * c)", "torch.log(-abs(b))")
    walk = Walk(bench, text)
    walk.do(breakpoints=(Breakpoint(id="nan", node=ItemId(""), place="after", condition=Condition("not_finite")),))
    assert [node for _, node, _ in walk.hits()] == ["y/twice.d@1"] and walk.paused.outcome == "breakpoint"
    walk.do()
    assert walk.paused.at_end


@pytest.mark.parametrize("text", [FUNCTIONS, CLASSES, BACKWARD])
def test_steps_into_calls_give_what_a_run_gives(bench: Bench, text: str) -> None:
    walk = Walk(bench, text)
    seen = [walk.do("step", stride="into")]
    while not walk.paused.at_end:
        assert walk.paused.outcome == "done" and len(seen) < 200
        seen.append(walk.do("step", stride="into"))
    stepped, found = plain(bench.rows()), gradients(bench)
    bench.events.clear()
    walk.do(restart=True)
    assert plain(bench.rows()) == stepped and gradients(bench) == found
    assert max(item.count("/") for item in seen) == (1 if text is BACKWARD else 2)


def test_step_into_goes_to_the_first_node_inside_and_the_last_step_there_returns(bench: Bench) -> None:
    walk = Walk(bench, FUNCTIONS)
    walk.do("step")
    assert walk.do("step", stride="into") == "y/twice.b"
    assert walk.do("step").startswith("y/twice.") and walk.ran()[-1] == "y/twice.b"  # over scale at once
    while walk.paused.next_node != f"{walk.id('y')}/@outputs":
        assert walk.do("step", stride="over").startswith("y/")
    assert "y" not in walk.ran()
    assert walk.do("step") == "z" and walk.ran()[-1] == "y"


def test_step_out_leaves_the_block_then_the_call(bench: Bench) -> None:
    walk = Walk(bench, FUNCTIONS)
    loop = walk.inner("twice.for")
    walk.do(breakpoints=(Breakpoint(id="in", node=loop, group="twice", place="after"),))
    assert walk.do("step", stride="out") == "y/twice.no_grad"
    assert walk.do("step", stride="out") == "z"
    walk.do("step", stride="out")
    assert walk.paused.outcome == "refused" and "inside no group" in walk.paused.reason


def test_run_to_a_node_inside_goes_on_where_it_is_ahead_else_from_nothing(bench: Bench) -> None:
    walk = Walk(bench, FUNCTIONS)
    walk.do(until=walk.id("z/twice.b/scale.b"))
    assert walk.ran()[-1] == "z/twice.b/scale.b" and walk.paused.at_end is False
    count = len(walk.ran())
    walk.do(until=walk.id("z/twice.d"))
    assert walk.ran()[-1] == "z/twice.d" and len(walk.ran()) == count + 5
    walk.do(until=walk.id("y/twice.d"))
    assert walk.ran()[-1] == "y/twice.d" and walk.ran().count("w") == 2
    walk.do(until=ItemId(f"{walk.id('y')}/nothing"))
    assert walk.paused.outcome == "refused"


def test_stop_inside_pauses_there_and_run_goes_on(bench: Bench) -> None:
    walk = Walk(bench, FUNCTIONS)
    bench.stop_after = 6
    walk.do()
    assert walk.paused.outcome == "stopped" and walk.paused.next_node.startswith(f"{walk.id('y')}/")
    bench.stop_after = None
    walk.do()
    assert walk.paused.at_end and walk.ran().count("w") == 1 and walk.ran().count("y/twice.e") == 1


def test_a_repeat_stands_inside_again(bench: Bench) -> None:
    walk = Walk(bench, FUNCTIONS)
    for steps in (("into",), ("into", "node")):
        walk.do("step", restart=True)
        walk.do(restart=True, until=walk.id("y"))
        before = [walk.do("step", stride=stride) for stride in steps][-1]
        assert walk.do("repeat") == before and before.startswith("z/")


def test_what_is_edited_ahead_of_a_pause_inside_is_run_and_a_definition_that_changes_makes_it_stale(
    bench: Bench,
) -> None:
    walk = Walk(bench, FUNCTIONS)
    walk.do(until=walk.id("y/twice.d"))
    longer = FUNCTIONS + "q = torch.sin(loss)\n"
    assert bench.load(compiled(longer)) == (False, True)
    bench.events.clear()
    walk.do()
    assert walk.paused.at_end and "y" in walk.ran() and "w" not in walk.ran() and "q" in bench
    walk.do(restart=True, until=walk.id("y/twice.d"))
    other = compile_graph(read_script(FUNCTIONS.replace("torch.tanh", "torch.sin")).graph)
    assert bench.load(other) == (True, True)
    walk.do()
    assert walk.paused.at_end


def test_what_the_call_gives_may_be_renamed_while_the_run_is_paused_inside_and_another_argument_is_stale(
    bench: Bench,
) -> None:
    walk = Walk(bench, FUNCTIONS)
    walk.do(until=walk.id("y/twice.d"))
    assert bench.load(compiled(FUNCTIONS.replace("y, n", "p, n").replace("twice(y)", "twice(p)"))) == (False, True)
    walk.do()
    assert walk.paused.at_end and "p" in bench and "y" not in bench
    walk.do(restart=True, until=walk.id("y/twice.d"))
    assert bench.load(compiled(FUNCTIONS.replace("twice(w)", "twice(w * 1)"))) == (True, True)


def test_verbs_from_inside_a_call(bench: Bench) -> None:
    walk = Walk(bench, CLASSES)
    assert walk.do("step", stride="into") == "net/Net.self.first"
    walk.do(until=walk.id("y/Net.b/Block.h"))
    walk.do("forward")
    assert walk.address(walk.paused.next_node) == "backward_1"
    walk.do("backward")
    walk.do(restart=True, until=walk.id("y/Net.b/Block.h"))
    walk.do("backward")
    assert walk.paused.at_end
    walk.do("forward")  # another pass
    assert walk.paused.pass_number == 2 and "z" in bench
    walk.do("zero_grad")
    assert all(row.state != "accumulated" for row in bench.grads().values())


def test_a_call_with_a_backward_inside_is_run_as_one_from_outside_and_node_by_node_from_inside(bench: Bench) -> None:
    walk = Walk(bench, BACKWARD)
    assert walk.do("forward") == "y"
    assert walk.do("backward") == "g"
    walk.do(restart=True, until=walk.id("y/learn.mul_1"))
    assert walk.do("forward") == "y/learn.backward_1"
    assert walk.do("backward") == "y/learn.no_grad"
    assert walk.do("zero_grad") == "y/learn.no_grad"
    walk.do("step", stride="out")
    assert walk.paused.outcome == "failed"  # w.grad is None now, as in Python


def test_the_time_of_a_pause_is_not_the_calls(bench: Bench) -> None:
    walk = Walk(bench, FUNCTIONS)
    walk.do(until=walk.id("y/twice.d"))
    live = bench.engine.live
    assert live is not None
    live.suspended_at -= 3600.0
    walk.do()
    rows: list[Row] = [row for row in bench.rows() if row.node == walk.id("y")]
    assert rows[0].seconds < 60.0
