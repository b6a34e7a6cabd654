"""Programs by hand: the script, run as a script, and its steps, run one by one, give torch's own bits."""

import contextlib
import io
from collections.abc import Callable
from typing import Any

import pytest
import torch

from gradstudio.graph.model import Graph
from gradstudio.program.compile import compile_graph
from tests.program.sketch import Sketch, formatted
from tests.program.traced import source

Namespace = dict[str, Any]


def polynomial(sketch: Sketch) -> None:
    x = sketch.node("torch.tensor", "x", literals={"data": "3.0", "device": "device", "requires_grad": "True"})
    square = sketch.node("operator.pow", wires={"a": x}, literals={"b": "2"}, part=True)
    double = sketch.node("operator.mul", wires={"b": x}, literals={"a": "2"}, part=True)
    both = sketch.node("operator.add", wires={"a": square, "b": double}, part=True)
    y = sketch.node("operator.add", "y", {"a": both}, literals={"b": "1"})
    sketch.node("torch.Tensor.backward", wires={"self": y})


def polynomial_by_hand() -> Namespace:
    x = torch.tensor(3.0, requires_grad=True)
    y = x**2 + 2 * x + 1
    y.backward()
    return {"x": x, "y": y}


def random_leaf(sketch: Sketch, name: str, size: str) -> Any:
    return sketch.node("torch.randn", name, literals={"size": size, "device": "device", "requires_grad": "True"})


def recurrence(sketch: Sketch) -> None:
    weight, state = random_leaf(sketch, "W", "(3, 3)"), random_leaf(sketch, "h0", "(3,)")
    first = sketch.node("python.alias", "h", {"value": state})
    loop = sketch.block("for", {"first.h": first}, literals={"range": "4"}, variable="t", carried=("h",))
    product = sketch.node("operator.matmul", wires={"a": weight, "b": (loop, 1)}, body=loop, part=True)
    moved = sketch.node("operator.add", wires={"a": product, "b": (loop, 0)}, body=loop, part=True)
    turned = sketch.node("torch.tanh", "h", {"input": moved}, body=loop)
    sketch.wire(loop, {"next.h": turned})
    loss = sketch.node("torch.Tensor.sum", "loss", {"self": turned})
    sketch.node("torch.Tensor.backward", wires={"self": loss})


def recurrence_by_hand() -> Namespace:
    W, h0 = torch.randn(3, 3, requires_grad=True), torch.randn(3, requires_grad=True)
    h = h0
    for t in range(4):
        h = torch.tanh(W @ h + t)
    loss = h.sum()
    loss.backward()
    return {"W": W, "h0": h0, "h": h, "loss": loss}


def descent(sketch: Sketch) -> None:
    weight = random_leaf(sketch, "w", "(2, 1)")
    x = sketch.node("torch.tensor", "x", literals={"data": "[[1., 2.]]", "device": "device"})
    steps = sketch.block("for", literals={"range": "3"})
    y = sketch.node("operator.matmul", "y", {"a": x, "b": weight}, body=steps)
    square = sketch.node("operator.pow", wires={"a": y}, literals={"b": "2"}, body=steps, part=True)
    loss = sketch.node("torch.Tensor.sum", "loss", {"self": square}, body=steps)
    sketch.node("torch.Tensor.backward", wires={"self": loss}, body=steps)
    quiet = sketch.block("no_grad", body=steps)
    grad = sketch.node("torch.Tensor.grad", wires={"self": weight}, body=quiet, part=True)
    step = sketch.node("operator.mul", wires={"b": grad}, literals={"a": "0.1"}, body=quiet, part=True)
    sketch.node("operator.isub", wires={"a": weight, "b": step}, body=quiet)
    grad = sketch.node("torch.Tensor.grad", wires={"self": weight}, body=quiet, part=True)
    sketch.node("torch.Tensor.mul_", wires={"self": grad}, literals={"other": "0.5"}, body=quiet)


def descent_by_hand() -> Namespace:
    w, x = torch.randn(2, 1, requires_grad=True), torch.tensor([[1.0, 2.0]])
    for _ in range(3):
        y = x @ w
        loss = (y**2).sum()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
            w.grad.mul_(0.5)
    return {"w": w, "y": y, "loss": loss}


def modules(sketch: Sketch) -> None:
    linear = {"in_features": "4", "out_features": "2", "device": "device"}
    fc = sketch.node("torch.nn.Linear", "fc", literals=linear)
    parameters = sketch.node("torch.nn.Module.parameters", wires={"self": fc}, part=True)
    optimizer = sketch.node("torch.optim.SGD", "optimizer", {"params": parameters}, literals={"lr": "0.1"})
    x = sketch.node("torch.ones", "x", literals={"size": "(3, 4)", "device": "device"})
    called = sketch.node("python.call", wires={"module": fc, "inputs.0": x}, lengths={"inputs": 1}, part=True)
    y = sketch.node("torch.nn.functional.relu", "y", {"input": called})
    weight = sketch.node("python.attribute", "weight", {"object": fc}, literals={"name": "'weight'"})
    decay = sketch.node("torch.Tensor.abs", wires={"self": weight}, part=True)
    decay = sketch.node("torch.Tensor.sum", wires={"self": decay}, part=True)
    total = sketch.node("torch.Tensor.sum", wires={"self": y}, part=True)
    # in the text the sum of y comes first, so the decay has to stand on lines of its own
    loss = sketch.node("operator.add", "loss", {"a": total, "b": decay})
    sketch.node("torch.Tensor.backward", wires={"self": loss})
    sketch.node("torch.optim.Optimizer.step", wires={"self": optimizer})


def modules_by_hand() -> Namespace:
    fc = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(fc.parameters(), lr=0.1)
    x = torch.ones(3, 4)
    y = torch.relu(fc(x))
    loss = y.sum() + fc.weight.abs().sum()
    loss.backward()
    optimizer.step()
    return {"x": x, "y": y, "loss": loss, "weight": fc.weight}


def indices(sketch: Sketch) -> None:
    x = random_leaf(sketch, "x", "(4, 6)")
    n = sketch.node("python.literal", "n", literals={"value": "5"})
    cut = sketch.node(
        "operator.getitem", "cut", {"a": x, "index.1.stop": n}, literals={"index.0": "1:", "index.1.start": "-5"},
        lengths={"index": 2},
    )  # fmt: skip
    top = sketch.node("torch.Tensor.topk", "values places", {"self": cut}, literals={"k": "2", "dim": "1"})
    out = sketch.node("torch.zeros", "out", literals={"size": "(3, 2)", "device": "device"})
    values = sketch.node("operator.mul", wires={"a": (top, 0)}, literals={"b": "2"}, part=True)
    sketch.node("operator.setitem", wires={"a": out, "value": values}, literals={"index": ":, :"})
    row = sketch.node("operator.getitem", wires={"a": out}, literals={"index": "0"}, part=True)
    sketch.node("operator.iadd", wires={"a": row}, literals={"b": "1.0"})
    places = sketch.node("torch.Tensor.float", wires={"self": (top, 1)}, part=True)
    product = sketch.node("operator.mul", wires={"a": out, "b": places}, part=True)
    loss = sketch.node("torch.Tensor.mean", "loss", {"self": product})
    sketch.node("torch.Tensor.backward", wires={"self": loss})


def indices_by_hand() -> Namespace:
    x = torch.randn(4, 6, requires_grad=True)
    cut = x[1:, -5:5]
    values, places = cut.topk(2, dim=1)
    out = torch.zeros(3, 2)
    out[:, :] = values * 2
    out[0] += 1.0
    loss = (out * places.float()).mean()
    loss.backward()
    return {"x": x, "cut": cut, "values": values, "places": places, "out": out, "loss": loss}


def gradient_of_a_gradient(sketch: Sketch) -> None:
    x = sketch.node("torch.tensor", "x", literals={"data": "2.0", "device": "device", "requires_grad": "True"})
    y = sketch.node("operator.pow", "y", {"a": x}, literals={"b": "3"})
    wires = {"outputs": y, "inputs": x}
    (first,) = (sketch.node("torch.autograd.grad", wires=wires, literals={"create_graph": "True"}, part=True),)
    g = sketch.node("operator.getitem", "g", {"a": first}, literals={"index": "0"})
    sketch.node("torch.Tensor.backward", wires={"self": g})


def gradient_of_a_gradient_by_hand() -> Namespace:
    x = torch.tensor(2.0, requires_grad=True)
    y = x**3
    g = torch.autograd.grad(y, x, create_graph=True)[0]
    g.backward()
    return {"x": x, "y": y, "g": g}


def attention(sketch: Sketch) -> None:
    q, k, v = (random_leaf(sketch, name, "(4, 8)") for name in "qkv")
    turned = sketch.node("torch.Tensor.T", wires={"self": k}, part=True)
    product = sketch.node("operator.matmul", wires={"a": q, "b": turned}, part=True)
    root = sketch.node("operator.pow", literals={"a": "8", "b": "0.5"}, part=True)
    scaled = sketch.node("operator.truediv", wires={"a": product, "b": root}, part=True)
    weights = sketch.node("torch.softmax", "weights", {"input": scaled}, literals={"dim": "-1"})
    dropped = sketch.node("torch.nn.functional.dropout", wires={"input": weights}, literals={"p": "0.2"}, part=True)
    out = sketch.node("operator.matmul", wires={"a": dropped, "b": v}, part=True)
    minus = sketch.node("operator.neg", wires={"a": out}, part=True)
    square = sketch.node("operator.pow", wires={"a": minus}, literals={"b": "2"}, part=True)
    loss = sketch.node("torch.Tensor.mean", "loss", {"self": square})
    sketch.node("torch.Tensor.backward", wires={"self": loss})


def attention_by_hand() -> Namespace:
    q, k, v = (torch.randn(4, 8, requires_grad=True) for _ in range(3))
    weights = torch.softmax(q @ k.T / 8**0.5, dim=-1)
    loss = ((-(torch.nn.functional.dropout(weights, p=0.2) @ v)) ** 2).mean()
    loss.backward()
    return {"q": q, "k": k, "v": v, "weights": weights, "loss": loss}


def lists(sketch: Sketch) -> None:
    w = random_leaf(sketch, "w", "(3,)")
    xs = sketch.node("python.list", "xs", lengths={"items": 0})
    loop = sketch.block("for", literals={"range": "3"}, variable="i")
    grown = sketch.node("operator.mul", wires={"a": w, "b": (loop, 0)}, body=loop, part=True)
    sketch.node("python.append", wires={"self": xs, "object": grown}, body=loop)
    stacked = sketch.node("torch.stack", "stacked", {"tensors": xs})
    loss = sketch.node("torch.Tensor.sum", "loss", {"self": stacked})
    sketch.node("torch.Tensor.backward", wires={"self": loss})


def lists_by_hand() -> Namespace:
    w = torch.randn(3, requires_grad=True)
    stacked = torch.stack([w * i for i in range(3)])
    loss = stacked.sum()
    loss.backward()
    return {"w": w, "stacked": stacked, "loss": loss}


PROGRAMS: list[tuple[Callable[[Sketch], None], Callable[[], Namespace]]] = [
    (polynomial, polynomial_by_hand),
    (recurrence, recurrence_by_hand),
    (descent, descent_by_hand),
    (modules, modules_by_hand),
    (indices, indices_by_hand),
    (gradient_of_a_gradient, gradient_of_a_gradient_by_hand),
    (attention, attention_by_hand),
    (lists, lists_by_hand),
]
by_name = pytest.mark.parametrize(("draw", "by_hand"), PROGRAMS, ids=[draw.__name__ for draw, _ in PROGRAMS])


def drawn(draw: Callable[[Sketch], None], **header: Any) -> Graph:
    sketch = Sketch(seed=0, **header)
    draw(sketch)
    return sketch.graph


def executed(text: str, name: str = "program") -> Namespace:
    namespace: Namespace = {"__name__": name, "__file__": "program.py"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(text, "program.py", "exec"), namespace)
    return namespace


def assert_same_bits(found: Namespace, expected: Namespace) -> None:
    for name, tensor in expected.items():
        assert torch.equal(found[name], tensor), name
        assert found[name].requires_grad == tensor.requires_grad
        if tensor.is_leaf:
            assert (found[name].grad is None) == (tensor.grad is None), name
            assert tensor.grad is None or torch.equal(found[name].grad, tensor.grad), name


@by_name
def test_the_whole_script_gives_torchs_bits(draw: Callable[[Sketch], None], by_hand: Callable[[], Namespace]) -> None:
    torch.manual_seed(0)
    expected = by_hand()
    program = compile_graph(drawn(draw))
    assert program.incomplete == ()
    assert_same_bits(executed(program.script, "__main__"), expected)
    assert formatted(program.script) == program.script


@by_name
def test_the_steps_one_by_one_give_the_same_bits_and_leave_nothing_behind(
    draw: Callable[[Sketch], None], by_hand: Callable[[], Namespace]
) -> None:
    program = compile_graph(drawn(draw))
    whole, traced = executed(program.code), executed(program.prelude + source(program))
    assert set(traced) == set(whole)
    assert_same_bits(traced, {name: value for name, value in whole.items() if isinstance(value, torch.Tensor)})


@by_name
def test_what_may_require_grad_is_told_of_every_tensor_that_does(
    draw: Callable[[Sketch], None], by_hand: Callable[[], Namespace]
) -> None:
    from gradstudio.graph.analysis.program_analysis import may_require_grad

    graph = drawn(draw)
    namespace = executed(compile_graph(graph).code)
    may = may_require_grad(graph)
    for node in graph.nodes.values():
        for k, name in enumerate(node.names):
            if isinstance(value := namespace.get(name), torch.Tensor) and value.requires_grad:
                assert (node.id, k) in may, name


@by_name
def test_a_header_is_obeyed(draw: Callable[[Sketch], None], by_hand: Callable[[], Namespace]) -> None:
    program = compile_graph(drawn(draw, device="auto", default_dtype="torch.float64"))
    try:
        namespace = executed(program.script, "__main__")
    finally:
        torch.set_default_dtype(torch.float32)
    expected = "cuda" if torch.cuda.is_available() else "cpu"
    assert namespace["device"].type == expected
    floats = [v for v in namespace.values() if isinstance(v, torch.Tensor) and v.is_floating_point()]
    assert all(v.dtype == torch.float64 and v.device.type == expected for v in floats if v.is_leaf)


def test_the_report_prints_what_the_names_hold() -> None:
    text = compile_graph(drawn(polynomial)).script
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, "program.py", "exec"), {"__name__": "__main__"})
    assert printed.getvalue() == (
        "x = tensor(3., requires_grad=True)\nx.grad = tensor(8.)\ny = tensor(16., grad_fn=<AddBackward0>)\n"
    )
