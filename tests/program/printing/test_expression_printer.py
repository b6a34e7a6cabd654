"""Every way an operator is spelled, as Python and as `ruff format` would have it."""

import pytest

from tests.program.sketch import Sketch


def last(sketch: Sketch) -> str:
    return sketch.lines[-1]


@pytest.mark.parametrize(
    ("inner", "outer", "text"),
    [
        (("operator.add", "a"), ("operator.mul", "a"), "y = (x + x) * x"),
        (("operator.mul", "a"), ("operator.add", "a"), "y = x * x + x"),
        (("operator.sub", "b"), ("operator.sub", "b"), "y = x - (x - x)"),
        (("operator.sub", "a"), ("operator.sub", "a"), "y = x - x - x"),
        (("operator.pow", "a"), ("operator.pow", "a"), "y = (x**x) ** x"),
        (("operator.pow", "b"), ("operator.pow", "b"), "y = x**x**x"),
        (("operator.add", "a"), ("operator.matmul", "a"), "y = (x + x) @ x"),
        (("operator.lt", "a"), ("operator.lt", "a"), "y = (x < x) < x"),
        (("operator.lt", "b"), ("operator.and_", "b"), "y = x & (x < x)"),
        (("operator.and_", "a"), ("operator.eq", "a"), "y = x & x == x"),
        (("operator.lshift", "b"), ("operator.add", "b"), "y = x + (x << x)"),
    ],
)
def test_operators_get_parentheses_where_python_needs_them(
    inner: tuple[str, str], outer: tuple[str, str], text: str
) -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    part = sketch.node(inner[0], wires={"a": x, "b": x}, part=True)
    wires = {"a": x, "b": x, outer[1]: part}
    sketch.node(outer[0], "y", wires)
    assert last(sketch) == text


def test_a_sign_binds_looser_than_a_power_and_tighter_than_a_product() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    square = sketch.node("operator.pow", wires={"a": x}, literals={"b": "2"}, part=True)
    sketch.node("operator.neg", "a", {"a": square})
    minus = sketch.node("operator.neg", wires={"a": x}, part=True)
    sketch.node("operator.pow", "b", {"b": minus}, literals={"a": "2"})
    minus = sketch.node("operator.neg", wires={"a": x}, part=True)
    sketch.node("operator.pow", "c", {"a": minus}, literals={"b": "2"})
    minus = sketch.node("operator.neg", wires={"a": x}, part=True)
    sketch.node("operator.mul", "d", {"a": minus, "b": x})
    sketch.node("operator.pow", "e", {"b": x}, literals={"a": "-2"})
    assert sketch.lines[1:] == ["a = -(x**2)", "b = 2**-x", "c = (-x) ** 2", "d = -x * x", "e = (-2) ** x"]


def test_a_receiver_gets_parentheses_where_it_must() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    total = sketch.node("operator.add", wires={"a": x, "b": x}, part=True)
    sketch.node("torch.Tensor.sum", "a", {"self": total}, literals={"dim": "0"})
    called = sketch.node("torch.Tensor.exp", wires={"self": x}, part=True)
    sketch.node("torch.Tensor.sum", "b", {"self": called})
    minus = sketch.node("operator.neg", wires={"a": x}, part=True)
    sketch.node("torch.Tensor.T", "c", {"self": minus})
    sketch.node("torch.Tensor.exp", "d", literals={"self": "2.0"})
    assert sketch.lines[1:] == ["a = (x + x).sum(dim=0)", "b = x.exp().sum()", "c = (-x).T", "d = (2.0).exp()"]


@pytest.mark.parametrize(
    ("operator", "literals", "text"),
    [
        ("torch.softmax", {"dim": "1"}, "torch.softmax(x, dim=1)"),
        ("torch.unsqueeze", {"dim": "0"}, "torch.unsqueeze(x, 0)"),
        ("torch.sum", {"dim": "(0, 1)", "keepdim": "True"}, "torch.sum(x, dim=(0, 1), keepdim=True)"),
        ("torch.nn.functional.relu", {}, "F.relu(x)"),
        ("torch.nn.init.zeros_", {}, "nn.init.zeros_(x)"),
        ("torch.linalg.norm", {}, "torch.linalg.norm(x)"),
    ],
)
def test_functions_are_called_by_their_usual_path_and_style(operator: str, literals: dict[str, str], text: str) -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    item = sketch.node(operator, "y", {}, literals=literals)
    first = "tensor" if "init" in operator else "input"
    sketch.wire(item, {first: x})
    assert last(sketch) == f"y = {text}"


def test_arguments_given_by_position_stay_by_position() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    sketch.node("torch.sum", "a", {"input": x}, literals={"dim": "0", "keepdim": "True"}, positional=("input", "dim"))
    sketch.node("torch.sum", "b", {"input": x}, literals={"dim": "0"}, positional=())
    sketch.node("torch.randn", "c", literals={"size": "(2, 3)", "device": "device"}, positional=("size",))
    assert sketch.lines[1:] == [
        "a = torch.sum(x, 0, keepdim=True)",
        "b = torch.sum(input=x, dim=0)",
        "c = torch.randn((2, 3))",
    ]


def test_a_size_mixes_literals_and_wires() -> None:
    sketch = Sketch()
    n = sketch.node("python.literal", "n", literals={"value": "5"})
    device = {"device": "device"}
    sketch.node("torch.randn", "a", {"size.1": n}, literals={"size.0": "2", **device}, lengths={"size": 2})
    sketch.node("torch.zeros", "b", literals={"size": "(2, 3)", **device})
    sketch.node("torch.zeros", "c", literals={"size": "()", **device})
    sketch.node("torch.zeros", "d", literals=device, lengths={"size": 0})
    sketch.node("torch.full", "e", {"size.0": n}, literals={"fill_value": "1.0", **device}, lengths={"size": 1})
    assert sketch.lines[1:] == [
        "a = torch.randn(2, n)",
        "b = torch.zeros(2, 3)",
        "c = torch.zeros(())",
        "d = torch.zeros(())",
        "e = torch.full((n,), 1.0)",
    ]


def test_lists_of_tensors_have_an_element_each() -> None:
    sketch = Sketch()
    x, w = sketch.tensor("x"), sketch.parameter("w")
    sketch.node("torch.stack", "y", {"tensors.0": x, "tensors.1": w}, lengths={"tensors": 2})
    sketch.node("torch.optim.SGD", "optimizer", {"params.0": w}, lengths={"params": 1}, literals={"lr": "0.1"})
    sketch.node("builtins.print", wires={"values.1": x}, literals={"values.0": "'x is'"}, lengths={"values": 2})
    assert sketch.lines[2:] == [
        "y = torch.stack([x, w])",
        "optimizer = optim.SGD([w], lr=0.1)",
        'print("x is", x)',
    ]


@pytest.mark.parametrize(
    ("lengths", "literals", "wired", "text"),
    [
        ({}, {"index": "0"}, {}, "x[0]"),
        ({}, {"index": ":, 1:3"}, {}, "x[:, 1:3]"),
        ({}, {"index": "..., None, -1"}, {}, "x[..., None, -1]"),
        ({"index": 2}, {"index.0": ":"}, {"index.1.start": "t", "index.1.stop": "n"}, "x[:, t:n]"),
        ({"index": 1}, {"index.0.step": "2"}, {}, "x[::2]"),
        ({"index": 1}, {}, {"index.0.stop": "sum"}, "x[: t + n]"),
        ({"index": 1}, {"index.0.step": "2"}, {"index.0.start": "sum"}, "x[t + n :: 2]"),
        ({"index": 1}, {}, {"index.0.start": "minus"}, "x[-t:]"),
        ({}, {}, {"index": "t"}, "x[t]"),
        ({"index": 2}, {"index.1": "0"}, {"index.0": "sum"}, "x[t + n, 0]"),
    ],
)
def test_indices_are_written_between_brackets(
    lengths: dict[str, int], literals: dict[str, str], wired: dict[str, str], text: str
) -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    found = {name: sketch.node("python.literal", name, literals={"value": "1"}) for name in ("t", "n")}
    if "sum" in wired.values():
        found["sum"] = sketch.node("operator.add", wires={"a": found["t"], "b": found["n"]}, part=True)
    if "minus" in wired.values():
        found["minus"] = sketch.node("operator.neg", wires={"a": found["t"]}, part=True)
    wires = {"a": x, **{port: found[name] for port, name in wired.items()}}
    sketch.node("operator.getitem", "y", wires, literals=literals, lengths=lengths)
    assert last(sketch) == f"y = {text}"


def test_results_are_unpacked_and_unused_ones_are_underscores() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    top = sketch.node("torch.Tensor.topk", "values indices", {"self": x}, literals={"k": "2"})
    sketch.node("torch.Tensor.topk", "both", {"self": x}, literals={"k": "2"})
    sketch.node("torch.Tensor.topk", "best _", {"self": x}, literals={"k": "2"})
    sketch.node("operator.mul", "y", {"a": (top, 1)}, literals={"b": "2"})
    sketch.node("python.tuple", "B T", literals={"items.0": "2", "items.1": "6"}, lengths={"items": 2})
    sketch.node("python.tuple", "pair", {"items.0": x}, lengths={"items": 1})
    assert sketch.lines[1:] == [
        "values, indices = x.topk(2)",
        "both = x.topk(2)",
        "best, _ = x.topk(2)",
        "y = indices * 2",
        "B, T = 2, 6",
        "pair = (x,)",
    ]


def test_statements_that_write_have_their_own_faces() -> None:
    sketch = Sketch()
    x, y = sketch.parameter("x"), sketch.tensor("y")
    sketch.node("operator.isub", wires={"a": y, "b": x})
    sketch.node("operator.setitem", wires={"a": y, "value": x}, literals={"index": "0"})
    item = sketch.node("operator.getitem", wires={"a": y}, literals={"index": "1"}, part=True)
    sketch.node("operator.iadd", wires={"a": item}, literals={"b": "1"})
    sketch.node("torch.Tensor.grad=", wires={"self": x}, literals={"value": "None"})
    sketch.node("torch.Tensor.add_", wires={"self": y}, literals={"other": "1"})
    grad = sketch.node("torch.Tensor.grad", wires={"self": x}, part=True)
    sketch.node("torch.Tensor.zero_", wires={"self": grad})
    assert sketch.lines[2:] == ["y -= x", "y[0] = x", "y[1] += 1", "x.grad = None", "y.add_(1)", "x.grad.zero_()"]


def test_a_value_read_after_a_write_is_read_under_the_name_of_the_object() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    written = sketch.node("torch.Tensor.add_", wires={"self": x}, literals={"other": "1"})
    again = sketch.node("operator.imul", wires={"a": written}, literals={"b": "2"})
    sketch.node("operator.add", "y", {"a": again, "b": written})
    assert sketch.lines[1:] == ["x.add_(1)", "x *= 2", "y = x + x"]


def test_modules_are_made_and_called() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    fc = sketch.node("torch.nn.Linear", "fc", literals={"in_features": "4", "out_features": "8", "device": "device"})
    sketch.node("python.call", "y", {"module": fc, "inputs.0": x}, lengths={"inputs": 1})
    weight = sketch.node("python.attribute", wires={"object": fc}, literals={"name": "'weight'"}, part=True)
    sketch.node("torch.Tensor.grad", "g", {"self": weight})
    assert sketch.lines[1:] == ["fc = nn.Linear(4, 8)", "y = fc(x)", "g = fc.weight.grad"]


def test_literals_keep_their_form() -> None:
    sketch = Sketch()
    texts = ["0.01", "1e-3", "2*math.pi", "float('-inf')", "'say \"hi\"'", "torch.float64", "[[1.,2.],[3.,4.]]", "-1"]
    for k, text in enumerate(texts):
        sketch.node("python.literal", f"a{k}", literals={"value": text})
    assert sketch.lines == [
        "a0 = 0.01",
        "a1 = 1e-3",
        "a2 = 2 * math.pi",
        'a3 = float("-inf")',
        "a4 = 'say \"hi\"'",
        "a5 = torch.float64",
        "a6 = [[1.0, 2.0], [3.0, 4.0]]",
        "a7 = -1",
    ]
    assert sketch.code.startswith("import math\n\nimport torch\n\n")


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "torch.load('x')",
        "x",
        "lambda: 0",
        "(1",
        "1; import os",
        "1\nimport os",
        "f'{1}'",
        "().__class__",
        "[1 for _ in ()]",
        "open",
        "'a' if 1 else 'b'",
    ],
)
def test_what_is_no_literal_is_never_printed_as_code(text: str) -> None:
    sketch = Sketch()
    sketch.node("python.literal", "a", literals={"value": text})
    assert all(line.startswith("#") for line in sketch.lines)


def test_a_stored_tensor_is_read_from_beside_the_script() -> None:
    sketch = Sketch()
    sketch.node("python.stored", "X", literals={"digest": '"ab12"'})
    assert sketch.code == (
        "from pathlib import Path\n\nfrom safetensors.torch import load_file\n\nHERE = Path(__file__).parent\n\n"
        'X = load_file(HERE / "program.tensors/ab12.safetensors")["data"]\n'
    )


@pytest.mark.parametrize(
    ("operator", "literal", "text"),
    [
        ("python.tuple", "[1, 2]", "y = (1, 2)"),
        ("python.tuple", "[1]", "y = (1,)"),
        ("python.list", "(1, 2)", "y = [1, 2]"),
        ("python.list", "(math.pi,)", "y = [math.pi]"),
        ("python.list", "()", "y = []"),
    ],
)
def test_a_literal_that_brings_all_elements_gets_the_brackets_of_its_kind(
    operator: str, literal: str, text: str
) -> None:
    sketch = Sketch()
    sketch.node(operator, "y", literals={"items": literal})
    assert last(sketch) == text
    assert ("import math" in sketch.code) == ("math" in literal)


@pytest.mark.parametrize(("operator", "text"), [("python.tuple", "y = tuple(x)"), ("python.list", "y = list(x)")])
def test_a_wire_that_brings_all_elements_is_given_to_pythons_constructor(operator: str, text: str) -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    sketch.node(operator, "y", {"items": x})
    assert last(sketch) == text
