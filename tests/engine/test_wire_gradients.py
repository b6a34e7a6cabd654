"""The gradient along each wire, against torch with every use of a value given an alias of its own."""

import ast

import pytest
import torch

from gradstudio.protocol.messages.backward_trace import WireGrad
from gradstudio.protocol.messages.records import Summary
from tests.engine.build import PRELUDE, node
from tests.engine.conftest import Bench

SCENARIOS = {
    "chain": """x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 3
z = y.exp()
loss = z.sum()
loss.backward()""",
    "fan-out": """x = torch.tensor([1.0, -2.0], requires_grad=True)
a = x * 3
b = x.exp()
c = x + a
d = a * b
e = d + c
loss = e.sum()
loss.backward()""",
    "one value twice into one operator": """x = torch.tensor([1.5, 2.0], requires_grad=True)
y = x * x
z = y / y
w = z - x
loss = w.sum()
loss.backward()""",
    "broadcasting": """W = torch.randn(3, 4, requires_grad=True)
b = torch.randn(4, requires_grad=True)
s = torch.randn((), requires_grad=True)
y = W + b
z = y * s
v = z * W
loss = v.mean()
loss.backward()""",
    "views": """x = torch.randn(2, 3, requires_grad=True)
t = x.t()
r = t.reshape(6)
v = r.view(2, 3)
p = x.permute(1, 0)
q = v * x
s = q.sum()
u = p.sum()
loss = s + u
loss.backward()""",
    "multiple outputs": """x = torch.randn(4, 3, requires_grad=True)
top, place = x.topk(2)
a, b = x.chunk(2)
c = a * b
d = top.sum()
e = c.sum()
loss = d * e
loss.backward()""",
    "lists": """a = torch.randn(2, requires_grad=True)
b = torch.randn(2, requires_grad=True)
xs = [a, b, a]
y = torch.cat([a, b, a])
z = y * y
loss = z.sum()
loss.backward()""",
    "several roots with seeds": """x = torch.tensor([1.0, 2.0], requires_grad=True)
a = x * 2
b = x ** 2
ga = torch.tensor([1.0, 10.0])
gb = torch.tensor([0.5, 0.25])
torch.autograd.backward([a, b], [ga, gb])""",
    "a root with a seed": """x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * x
g = torch.tensor([1.0, 10.0])
y.backward(g)""",
    "several autograd nodes in one operator": """x = torch.randn(3, 5, requires_grad=True)
t = torch.tensor([0, 3, 1])
h = x * 2
loss = F.cross_entropy(h, t)
loss.backward()""",
    "mixed dtypes": """x = torch.randn(3, requires_grad=True)
d = torch.randn(3, dtype=torch.float64, requires_grad=True)
y = x * d
z = y + x
loss = z.sum()
loss.backward()""",
    "a gradient that is asked for": """x = torch.tensor([3.0, 1.0], requires_grad=True)
h = x * x
k = h * x
y = k.sum()
gx, gh = torch.autograd.grad(y, [x, h])""",
    "retain_graph": """x = torch.tensor([3.0, 1.0], requires_grad=True)
h = x * x
y = h.sum()
y.backward(retain_graph=True)
y.backward()""",
    "an island without gradients": """x = torch.tensor([3.0, 1.0], requires_grad=True)
h = x * 2
d = h.detach()
y = h * d
z = y + d
loss = z.sum()
loss.backward()""",
    "linear and bilinear forms": """x = torch.randn(2, 3, requires_grad=True)
W = torch.randn(4, 3, requires_grad=True)
b = torch.randn(4, requires_grad=True)
y = F.linear(x, W, b)
q = torch.matmul(y, W)
r = torch.addmm(x, y, W)
s = q * r
loss = s.sum()
loss.backward()""",
}


class Aliases(ast.NodeTransformer):
    """Every name that is read becomes a call that gives an alias of its own."""

    def __init__(self) -> None:
        self.line, self.count = 0, 0

    def visit_Name(self, name: ast.Name) -> ast.expr:
        if isinstance(name.ctx, ast.Store) or name.id in {"torch", "F", "nn"}:
            return name
        self.count += 1
        return ast.parse(f"_wire({name.id}, {self.line}, {self.count - 1})", mode="eval").body


def by_hand(text: str) -> dict[tuple[int, int], torch.Tensor | None]:
    """(line, how manyth name on it) -> what came back along that use."""
    namespace: dict[str, object] = {}
    exec(PRELUDE + "torch.manual_seed(0)\n", namespace)
    uses: dict[tuple[int, int], torch.Tensor] = {}

    def wire(value: object, line: int, place: int) -> object:
        if not isinstance(value, torch.Tensor) or not value.requires_grad:
            return value
        alias = value.view_as(value)
        alias.retain_grad()
        uses[line, place] = alias
        return alias

    namespace["_wire"] = wire
    for number, line in enumerate(text.splitlines(), 1):
        tree = ast.parse(line)
        if "backward" not in line and "autograd.grad" not in line:
            aliases = Aliases()
            aliases.line = number
            tree = ast.fix_missing_locations(aliases.visit(tree))
        elif "autograd.grad" in line:
            tree = ast.parse("y.backward()")
        exec(compile(tree, "hand", "exec"), namespace)
    return {key: alias.grad for key, alias in uses.items()}


def recorded(bench: Bench, text: str) -> dict[tuple[int, int], list[WireGrad]]:
    """(line, how manyth wired name on it) -> its gradient in each backward."""
    found: dict[tuple[int, int], list[WireGrad]] = {}
    statements = {s.node: s for s in bench.engine.live.loaded.program.statements}  # type: ignore[union-attr]
    for traced in bench.traced():
        for wire in traced.wires:
            statement = statements[wire.target]  # type: ignore[index]
            inputs = [(p, t) for p, t in statement.inputs if t not in {"torch", "F", "nn"}]  # type: ignore[union-attr]
            port, _, item = wire.port.partition(".")
            place = next(i for i, (p, _) in enumerate(inputs) if p in (wire.port, port + "." + item.partition(".")[0]))
            found.setdefault((int(wire.target[1:]), place), []).append(wire)
    return found


def equal(summary: Summary | None, grad: torch.Tensor | None) -> bool:
    """Whether the summary is of exactly these numbers."""
    if summary is None or grad is None:
        return summary is None and grad is None
    return summary.shape == tuple(grad.shape) and summary.value == grad.tolist()


@pytest.mark.parametrize("name", [name for name in SCENARIOS if name not in {"lists", "retain_graph"}])
def test_what_goes_back_along_each_wire_is_what_that_use_alone_sends(bench: Bench, name: str) -> None:
    text = SCENARIOS[name]
    expected = {key: grad for key, grad in by_hand(text).items() if grad is not None}
    assert bench.run(text).outcome == "done"
    got = {key: wires[-1] for key, wires in recorded(bench, text).items() if wires[-1].grad is not None}
    assert got.keys() == expected.keys()
    for key, grad in expected.items():
        assert equal(got[key].grad, grad), (key, got[key].grad, grad)


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_wires_that_leave_a_value_sum_to_its_gradient(bench: Bench, name: str) -> None:
    bench.run(SCENARIOS[name])
    for traced in bench.traced():
        roots = {s.node for s in bench.engine.live.loaded.program.statements if s.backward}  # type: ignore[union-attr]
        assert traced.statement in roots
        arrived = {
            (value.node, value.output): row.incoming[value.index].value  # type: ignore[union-attr]
            for row in traced.rows
            for value in row.values
            if not value.path and row.incoming[value.index] is not None
        }
        sums: dict[tuple[str, int], torch.Tensor] = {}
        for wire in traced.wires:
            if wire.grad is not None:
                grad = torch.tensor(wire.grad.value)
                key = (wire.source, wire.output)
                sums[key] = sums[key] + grad if key in sums else grad
        assert sums
        for key, total in sums.items():
            if key in arrived and name != "several roots with seeds":
                assert torch.allclose(total, torch.tensor(arrived[key])), key


def test_a_list_along_one_wire_has_a_gradient_per_item_and_its_parts_one_each(bench: Bench) -> None:
    text = """
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.tensor([3.0], requires_grad=True)
    h = a * 1
    xs = [h, b]
    y = torch.cat(xs)
    loss = (y * torch.tensor([1.0, 10.0, 100.0])).sum()
    loss.backward()
    """
    bench.run(text)
    wires = {(w.source, w.target, w.port): w.grad.value for t in bench.traced() for w in t.wires if w.grad}
    assert wires[node(4), node(5), "arg.0.0"] == [1, 10]
    assert wires[node(4), node(5), "arg.0.1"] == [100]
    assert wires[node(3), node(4), "elements.0"] == [1, 10]
    assert wires[node(2), node(4), "elements.1"] == [100]


def test_in_a_loop_each_turn_has_its_own(bench: Bench) -> None:
    text = """
    x = torch.tensor(2.0, requires_grad=True)
    h = x * 1
    for t in range(3):
        h = h * x
        k = h * 1
    h.backward()
    """
    bench.run(text)
    (traced,) = bench.traced()
    wires = [(w.turns, w.port, w.grad and w.grad.value) for w in traced.wires if w.target == node(4)]
    assert wires == [
        ((2,), "input", 2), ((2,), "other", 8), ((1,), "input", 4), ((1,), "other", 8), ((0,), "input", 8), ((0,), "other", 8),  # noqa: E501
    ]  # fmt: skip
    sources = {(w.turns, w.source_turns) for w in traced.wires if w.port == "input" and w.target == node(4)}
    assert sources == {((2,), (1,)), ((1,), (0,)), ((0,), (0,))} or sources == {((2,), (1,)), ((1,), (0,)), ((0,), ())}


def test_an_in_place_write_sends_to_the_value_before_it(bench: Bench) -> None:
    text = """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    k = torch.tensor([3.0, 5.0], requires_grad=True)
    y.mul_(k)
    z = y * 10
    loss = z.sum()
    loss.backward()
    """
    bench.run(text)
    (traced,) = bench.traced()
    wires = {(w.target, w.port): w.grad.value for w in traced.wires if w.grad}
    assert wires[node(4), "self"] == [30, 50]
    assert wires[node(4), "arg.0"] == [20, 40]
    assert wires[node(2), "input"] == [60, 100]
    assert wires[node(5), "input"] == [10, 10]


def test_a_write_into_a_view_belongs_to_the_statement_that_wrote(bench: Bench) -> None:
    text = """
    x = torch.ones(4, requires_grad=True)
    z = torch.tensor(5.0, requires_grad=True)
    y = x * 2
    v = y[1:3]
    v.mul_(z)
    t = y.tanh()
    loss = t.sum()
    loss.backward()
    """
    bench.run(text)
    (traced,) = bench.traced()
    assert {row.autograd: row.node for row in traced.rows}["CopySlices"] == node(5)
    wires = {(w.target, w.port): w.grad for w in traced.wires}
    assert wires[node(5), "arg.0"].value == bench["z"].grad.item()  # type: ignore[union-attr, attr-defined]
    assert wires[node(6), "self"] is not None


def test_a_statement_that_gives_back_its_tensor_passes_the_gradient_on(bench: Bench) -> None:
    text = """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    c = y.contiguous()
    d = c
    z = d * d
    w = y * 2
    s = z + w
    loss = s.sum()
    loss.backward()
    """
    bench.run(text)
    (traced,) = bench.traced()
    wires = {(w.source, w.target, w.port): w.grad.value for w in traced.wires if w.grad}
    assert wires[node(4), node(5), "input"] == [3, 6]
    assert wires[node(3), node(4), "value"] == [6, 12]
    assert wires[node(2), node(3), "self"] == [6, 12]
    assert wires[node(2), node(6), "input"] == [2, 2]


def test_a_part_of_packed_attention_is_sent_whole(bench: Bench) -> None:
    text = """
    x = torch.randn(5, 2, 8, requires_grad=True)
    att = nn.MultiheadAttention(8, 2)
    h = x * 1
    out, weights = att(h, h, h)
    s = out.square()
    loss = s.mean()
    loss.backward()
    """
    bench.run(text)
    (traced,) = bench.traced()
    wires = [w for w in traced.wires if w.target == node(4) and w.grad is not None]
    total = next(r.incoming[0] for r in traced.rows if r.node == node(3))
    assert sum(w.grad.mean for w in wires) == pytest.approx(total.mean, rel=1e-4)  # type: ignore[union-attr, misc]
    assert {r.node for r in traced.rows} == {node(1), node(2), node(3), node(4), node(5), node(6)}


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph:UserWarning")
def test_nodes_that_a_backward_made_belong_to_the_canvas_nodes_one_order_up(bench: Bench) -> None:
    text = """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x ** 3
    s = y.sum()
    (g,) = torch.autograd.grad(s, [x], create_graph=True)
    p = g * g
    q = p.sum()
    q.backward()
    """
    bench.run(text)
    first, second = bench.traced()
    assert (first.retained, second.retained) == (True, False)
    assert {row.order for row in first.rows} == {1}
    orders = {(row.node, row.order) for row in second.rows}
    assert (node(2), 2) in orders
    assert (node(5), 1) in orders
    assert all(row.node for row in second.rows)
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (g,) = torch.autograd.grad((x**3).sum(), [x], create_graph=True)
    (g * g).sum().backward()
    assert torch.equal(bench["x"].grad, x.grad)  # type: ignore[attr-defined]
    wires = [w.grad.value for w in second.wires if w.target == node(2) and w.grad is not None]
    assert x.grad is not None
    assert wires == [x.grad.tolist()]


def test_graphs_are_freed_however_their_values_were_passed_on(bench: Bench) -> None:
    import gc
    import weakref

    text = """
    x = torch.ones(3, requires_grad=True)
    for t in range(3):
        y = x * 2
        c = y.contiguous()
        k = x.exp()
        xs = [y, k, c]
        z = torch.cat(xs)
    y = c = k = xs = z = None
    """
    bench.load(text)
    alive: list[weakref.ref[torch.UntypedStorage]] = []
    original = bench.engine.memory.see
    bench.engine.memory.see = lambda t, *rest: (alive.append(weakref.ref(t.untyped_storage())), original(t, *rest))[1]  # type: ignore[method-assign, func-returns-value, assignment]
    bench.do("run")
    bench.engine.live = None
    bench.engine.runner.live = None
    gc.collect()
    assert len([one for one in alive if one() is not None]) == 0
