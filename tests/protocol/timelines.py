"""What a timeline answers of a run: of real runs in tests/engine, of what was recorded of them in tests/protocol."""

from collections.abc import Callable, Iterable

from gradstudio.protocol.messages.backward_trace import BackwardTraced
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Gradients, GradRow, Started, Traced
from gradstudio.protocol.messages.records import Summary
from gradstudio.protocol.timeline.run_timeline import Timeline
from tests.engine.build import node

Ran = Callable[..., Timeline]
TOLD = Started | Traced | BackwardTraced | Gradients
Facts = dict[tuple[str, int, str], tuple[object, ...]]

PROGRAMS = {
    "grad set by hand": """
        x = torch.tensor(2.0, requires_grad=True)
        y = x ** 2
        y.backward()
        x.grad = None
        z = x * 3
        z.backward()
        x.grad.zero_()
        w = x * 5
        w.backward()
    """,
    "training loop": """
        w = torch.tensor([0.5, -0.3], requires_grad=True)
        x = torch.tensor([1.0, 2.0])
        for t in range(3):
            loss = ((w * x).sum() - 1) ** 2
            q = loss.detach()
            loss.backward()
            with torch.no_grad():
                w -= 0.1 * w.grad
            w.grad = None
    """,
    "optimizer": """
        fc = nn.Linear(2, 1)
        x = torch.tensor([1.0, 2.0])
        opt = optim.SGD(fc.parameters(), lr=0.1)
        for t in range(3):
            opt.zero_grad()
            loss = fc(x).sum()
            loss.backward()
            opt.step()
    """,
    "carried": """
        w = torch.tensor(0.5, requires_grad=True)
        h = torch.tensor(1.0)
        for t in range(4):
            h = torch.tanh(h * w)
        h.backward()
    """,
    "cuts": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        a = x.argmax()
        d = x.detach()
        e = d * 2
        with torch.no_grad():
            f = x * 2
        g = x * 2
        u = x + 1
        g.sum().backward()
        k = u.sum()
        k.backward()
    """,
    "autograd.grad": """
        x = torch.tensor(2.0, requires_grad=True)
        y = x ** 3
        g, = torch.autograd.grad(y, x, create_graph=True)
        h = g * 2
        h.backward()
    """,
    "in place": """
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x * 2
        y.mul_(3)
        y += 1
        s = y.sum()
        s.backward(retain_graph=True)
        s.backward()
    """,
    "second name": """
        x = torch.tensor(2.0, requires_grad=True)
        y = x ** 2
        y.backward()
        b = x
        c = b * 4
        c.backward()
        d = x
    """,
    "second backward refused": """
        x = torch.tensor(2.0, requires_grad=True)
        y = x ** 2
        y.backward()
        y.backward()
    """,
}


def feed(timeline: Timeline, events: Iterable[Message]) -> Timeline:
    for event in events:
        match event:
            case Started(fresh=True):
                timeline.clear()
            case Started(back_to=back_to):
                timeline.begin()
                if back_to is not None:
                    timeline.cut(back_to)
            case Traced(rows=rows):
                timeline.add_rows(rows)
            case BackwardTraced():
                timeline.add_backward(event)
            case Gradients(rows=grads, whole=whole, in_record=in_record):
                timeline.add_gradients(grads, whole, in_record)
            case _:
                pass
    return timeline


def number(summary: Summary | None) -> object:
    assert summary is not None
    return summary.value


def facts(row: GradRow) -> tuple[object, ...]:
    value = row.grad.value if row.grad is not None else None
    return row.state, row.reason, row.cause, value, tuple(part.backward for part in row.parts)


def standing(timeline: Timeline, tick: int, keys: Iterable[tuple[str, int, str]]) -> Facts:
    found = {key: timeline.grad(*key, tick=tick) for key in keys}  # type: ignore[arg-type]
    return {key: facts(row) for key, row in found.items() if row is not None}


def _over_ticks(timeline: Timeline, line: int) -> list[GradRow]:
    rows = [timeline.grad(node(line), tick=tick.index) for tick in timeline.ticks]
    return [row for row in rows if row is not None]


class Timelines:
    """The tests; `ran` gives the timeline of a program's text, run by these verbs."""

    def test_what_went_back_behind_a_cut_is_gone(self, ran: Ran) -> None:
        timeline = ran(
            """
            x = torch.tensor(2.0, requires_grad=True)
            y = x ** 2
            y.backward()
            """
        )
        wires = [one for traced in timeline.backwards.values() for one in traced.wires]
        wire = (wires[0].source, wires[0].output, wires[0].target, wires[0].port)
        assert timeline.wire_grad(*wire) is not None
        timeline.cut(2)
        assert len(timeline.ticks) == 2
        assert timeline.wire_grad(*wire) is None
        timeline.cut(0)
        assert timeline.wire_grad(*wire) is None

    def test_a_gradient_doubles_over_passes_and_its_parts_are_shown(self, ran: Ran) -> None:
        timeline = ran(
            """
            x = torch.tensor(2.0, requires_grad=True)
            y = x ** 2
            y.backward()
            """,
            "forward", "backward", "forward", "backward", "zero_grad",
        )  # fmt: skip
        told = [(row.state, row.grad.value if row.grad else None) for row in _over_ticks(timeline, 1)]
        before, first, left, second = ("not_run", None), ("value", 4.0), ("accumulated", 4.0), ("accumulated", 8.0)
        assert told == [before, before, before, first, first, left, left, second, second]
        last = timeline.grad(node(1), tick=len(timeline.ticks) - 1)
        assert last is not None and [(part.pass_number, number(part.grad)) for part in last.parts] == [
            (1, 4.0),
            (2, 4.0),
        ]
        now = timeline.grad(node(1))
        assert now is not None and now.state == "not_run", "zero grad comes behind the last tick"
        alone = timeline.grad(node(1), backward=2)
        assert alone is not None and number(alone.grad) == 4.0

    def test_what_was_before_a_write_in_place_is_shown_as_it_was(self, ran: Ran) -> None:
        timeline = ran(PROGRAMS["in place"])
        ticks = {tick.node: tick.index for tick in timeline.ticks if tick.row is not None}
        made = timeline.row(node(2), ticks[node(2)])
        written = timeline.row(node(3), ticks[node(3)])
        assert made is not None and made.outputs[0].summary.value == [2.0, 4.0]  # type: ignore[union-attr]
        assert written is not None and written.outputs[0].summary.value == [6.0, 12.0]  # type: ignore[union-attr]
        assert timeline.row(node(2)) == made, "a later write does not change what was recorded"

    def test_at_fan_out_the_sum_is_formed_from_what_each_user_sends(self, ran: Ran) -> None:
        timeline = ran(
            """
            x = torch.tensor(3.0, requires_grad=True)
            a = x * 2
            b = a ** 2
            c = a * 5
            d = b + c
            d.backward()
            """,
        )
        ticks = [tick for tick in timeline.ticks if tick.phase == "backward"]
        formed = [tuple(number(wire.grad) for wire in timeline.forming(node(2), 0, tick.index)[0]) for tick in ticks]
        assert {timeline.forming(node(2), 0, tick.index)[1] for tick in ticks} == {2}
        order = [tick.node for tick in ticks if tick.node in (node(3), node(4))]
        share = {node(3): 12.0, node(4): 5.0}
        first, second = share[order[0]], share[order[1]]
        assert formed == [(), (first,), (first, second), (first, second), (first, second)]
        step = timeline.backward_step(next(tick.index for tick in ticks if tick.node == node(2)))
        assert step is not None
        (arrival,) = (arrival for arrival in step.arrivals if arrival.value is not None)
        assert number(arrival.grad) == 17.0
        assert {part.node: number(part.grad) for part in arrival.parts} == share
        assert [number(wire.grad) for wire in step.wires] == [34.0]
        wires, _ = timeline.forming(node(2), 0, ticks[-1].index)
        assert {wire.target: number(wire.grad) for wire in wires} == share
        assert all(timeline.wire_grad(node(2), 0, wire.target, wire.port) == wire for wire in wires)

    def test_a_double_backward_has_two_layers(self, ran: Ran) -> None:
        timeline = ran(
            """
            x = torch.tensor(2.0, requires_grad=True)
            y = x ** 3
            g, = torch.autograd.grad(y, x, create_graph=True)
            g.backward()
            """,
        )
        layers: dict[int, set[int]] = {}
        for tick in timeline.ticks:
            if tick.autograd is not None:
                layers.setdefault(tick.backward, set()).add(tick.autograd.order)
        assert layers[1] == {1}
        assert 2 in layers[2]
        leaf = timeline.grad(node(1))
        assert leaf is not None and number(leaf.grad) == 12.0, "the second derivative of x ** 3 at 2"

    def test_saved_bytes_are_there_until_the_backward_has_passed(self, ran: Ran) -> None:
        timeline = ran(
            """
            x = torch.ones(8, requires_grad=True)
            y = x.exp()
            s = y.sum()
            s.backward()
            """,
        )
        made = next(tick.index for tick in timeline.ticks if tick.node == node(2) and tick.row is not None)
        passed = next(tick.index for tick in timeline.ticks if tick.node == node(2) and tick.autograd is not None)
        assert timeline.saved_bytes(node(2), made) == 32
        assert timeline.saved_bytes(node(2), made - 1) == 0
        assert timeline.saved_bytes(node(2), passed - 1) == 32
        assert timeline.saved_bytes(node(2), passed) == 0
