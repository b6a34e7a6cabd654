"""The steps an engine executes: parts on their own lines, what is dropped, overwritten, shown."""

from gradstudio.graph.model import ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.program.model import BlockStatement, Statement, flatten_statements, has_backward
from tests.program.sketch import Sketch
from tests.program.traced import source


def steps(sketch: Sketch) -> dict[ItemId, Statement]:
    return {step.node: step for step in flatten_statements(compile_graph(sketch.graph).statements)}


def test_each_part_has_a_line_under_its_address_and_is_dropped_after_its_user() -> None:
    sketch = Sketch()
    x = sketch.parameter("x")
    square = sketch.node("operator.pow", wires={"a": x}, literals={"b": "2"}, part=True)
    double = sketch.node("operator.mul", wires={"b": x}, literals={"a": "2"}, part=True)
    both = sketch.node("operator.add", wires={"a": square, "b": double}, part=True)
    sketch.node("operator.add", "y", {"a": both}, literals={"b": "1"})
    program = compile_graph(sketch.graph)
    assert source(program) == (
        "x = torch.tensor(1.0, requires_grad=True)\npow_1 = x**2\nmul_1 = 2 * x\nadd_1 = pow_1 + mul_1\n"
        "del pow_1\ndel mul_1\ny = add_1 + 1\ndel add_1\n"
    )
    found = steps(sketch)
    assert found[square].is_part
    assert found[square].names == ("pow_1",)
    assert found[both].inputs == (("a", "pow_1"), ("b", "mul_1"))
    assert {found[item].line for item in (square, double, both)} == {4}


def test_the_code_begins_with_the_prelude_and_the_script_with_the_code() -> None:
    sketch = Sketch(seed=0)
    sketch.tensor("x")
    program = compile_graph(sketch.graph)
    assert program.prelude == "import torch\n\ntorch.manual_seed(0)\n\n"
    assert program.code == program.prelude + "x = torch.tensor(1.0)\n"
    assert program.script.startswith(program.code)


def test_what_is_written_in_place_is_named_and_worth_showing() -> None:
    sketch = Sketch()
    x = sketch.parameter("x")
    plus = sketch.node("operator.iadd", wires={"a": x}, literals={"b": "1"})
    method = sketch.node("torch.Tensor.mul_", wires={"self": x}, literals={"other": "2"})
    named = sketch.node("torch.Tensor.mul_", "z", {"self": x}, literals={"other": "2"})
    grad = sketch.node("torch.Tensor.grad", wires={"self": x}, part=True)
    zero = sketch.node("torch.Tensor.zero_", wires={"self": grad})
    entry = sketch.node("operator.setitem", wires={"a": x}, literals={"index": "0", "value": "1"})
    found = steps(sketch)
    assert [(found[item].writes, found[item].result, found[item].rebinds) for item in (plus, method, named, entry)] == [
        (("x",), "x", False),
        (("x",), "mul_1", False),
        (("x",), "", True),
        (("x",), "x", False),
    ]
    assert found[zero].writes == ("grad_1",)


def test_a_value_that_nobody_reads_is_kept_only_to_be_shown() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    alone = sketch.node("torch.exp", wires={"input": x})
    assert sketch.lines[-1] == "torch.exp(x)"
    step = steps(sketch)[alone]
    assert (step.text, step.result, step.names, step.drops) == ("exp_1 = torch.exp(x)", "exp_1", (), ("exp_1",))


def test_an_item_that_is_added_to_stays_where_it_is() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    item = sketch.node("operator.getitem", wires={"a": x}, literals={"index": "0"}, part=True)
    sketch.node("operator.iadd", wires={"a": item}, literals={"b": "1"})
    assert source(compile_graph(sketch.graph)).split("\n")[1:4] == ["getitem_1 = x[0]", "x[0] += 1", "del getitem_1"]


def test_backward_statements_are_marked() -> None:
    sketch = Sketch()
    x = sketch.parameter("x")
    backward = sketch.node("torch.Tensor.backward", wires={"self": x})
    ask = sketch.node("torch.autograd.grad", "g", {"outputs": x, "inputs": x})
    found = steps(sketch)
    assert [found[item].backward for item in (x, backward, ask)] == [False, True, True]
    assert found[backward].address == "backward_1"


def test_blocks_carry_what_python_asks_for() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    quiet = sketch.block("no_grad")
    count = sketch.node("torch.Tensor.size:dim", wires={"self": x}, literals={"dim": "0"}, part=True)
    loop = sketch.block("for", {"range.0": count}, variable="t", lengths={"range": 1})
    sketch.node("builtins.print", wires={"values.0": (loop, 0)}, lengths={"values": 1}, body=loop)
    group = sketch.block("group", title="g")
    program = compile_graph(sketch.graph)
    blocks = {step.block: step for step in program.statements if isinstance(step, BlockStatement)}
    assert blocks[quiet].context == "torch.no_grad()"
    assert (blocks[loop].variable, blocks[loop].iterable, blocks[loop].drops) == ("t", "range(size_1)", ("size_1",))
    assert blocks[loop].repeated
    assert blocks[group].kind == "group"
    assert not blocks[quiet].repeated


def test_what_cannot_run_is_listed_with_its_line() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    broken = sketch.node("torch.matmul", "y", {"input": x})
    sketch.node("operator.neg", "z", {"a": x})
    program = compile_graph(sketch.graph)
    (incomplete,) = program.incomplete
    assert (incomplete.node, incomplete.reason, incomplete.line) == (broken, "'other' is empty", 4)
    assert [step.address for step in flatten_statements(program.statements)] == ["x", "z"]


def test_stored_tensors_and_the_root_are_named() -> None:
    sketch = Sketch()
    sketch.node("python.stored", "X", literals={"digest": '"ab"'})
    assert compile_graph(sketch.graph).tensors == ("ab",)
    assert compile_graph(sketch.graph).rootless
    x = sketch.parameter("x")
    sketch.node("torch.Tensor.sum", "y", {"self": x})
    assert compile_graph(sketch.graph).root == "y"


def test_earlier_bindings_of_a_name_are_counted() -> None:
    sketch = Sketch()
    h = sketch.tensor("h")
    h = sketch.node("operator.neg", "h", {"a": h})
    sketch.node("operator.neg", "h", {"a": h})
    assert [step.address for step in flatten_statements(compile_graph(sketch.graph).statements)] == ["h@1", "h@2", "h"]


def test_a_part_that_is_no_longer_nested_is_printed_under_its_address() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    part = sketch.node("torch.exp", wires={"input": x}, part=True)
    sketch.node("operator.mul", "y", {"a": part, "b": part})
    step = steps(sketch)[part]
    assert not step.is_part
    assert step.names == ("exp_1",)
    assert "exp_1 = torch.exp(x)\ny = exp_1 * exp_1" in sketch.code


def test_a_backward_is_found_inside_blocks_too() -> None:
    sketch = Sketch()
    x = sketch.parameter("x")
    block = sketch.block("enable_grad")
    assert not has_backward(compile_graph(sketch.graph).statements)
    sketch.node("torch.Tensor.backward", wires={"self": x}, body=block)
    program = compile_graph(sketch.graph)
    assert has_backward(program.statements)
    assert [statement.operator for statement in flatten_statements(program.statements)][-1] == "torch.Tensor.backward"
