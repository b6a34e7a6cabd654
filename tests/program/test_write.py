"""The script: its header, comments, blocks, what is left out, and its report."""

import ast

import pytest

from gradstudio.graph.analysis.module_modes import has_buffers
from gradstudio.graph.edits import AddWire, SetDefinition, SetTail, apply
from gradstudio.graph.model import DEFINITION_INPUTS, DEFINITION_OUTPUTS, ROOT, BodyId, Definition, Graph, Wire
from gradstudio.program.write import write, write_script
from tests.program.sketch import Sketch, formatted

HOSTILE = ["x\nimport os", "'''", '"""', "\\", "a\r\nb", "a\u2028b", "\x00", "\x0c", "#!", "coding: utf-16", "\ud800"]


def test_a_script_has_imports_header_statements_and_report() -> None:
    sketch = Sketch(seed=0, device="cuda:0", default_dtype="torch.float64")
    x = sketch.parameter("x")
    y = sketch.node("operator.pow", "y", {"a": x}, literals={"b": "2"})
    sketch.node("torch.Tensor.backward", wires={"self": y})
    assert (
        write_script(sketch.graph)
        == """\
import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
device = torch.device("cuda:0")

x = torch.tensor(1.0, device=device, requires_grad=True)
y = x**2
y.backward()


if __name__ == "__main__":
    print("x =", x)
    print("x.grad =", x.grad)
    print("y =", y)
"""
    )


def test_only_what_is_needed_is_imported_in_the_usual_order() -> None:
    sketch = Sketch()
    x = sketch.node("python.literal", "tau", literals={"value": "2 * math.pi"})
    y = sketch.tensor("y")
    sketch.node("torch.nn.functional.relu", "z", {"input": y})
    sketch.node("torch.nn.ReLU", "act")
    sketch.node("torch.optim.SGD", "sgd", {"params.0": y}, lengths={"params": 1})
    sketch.node("python.stored", "data", literals={"digest": '"ab"'})
    assert sketch.code.split("\n\nHERE")[0].split("\n") == [
        "import math",
        "from pathlib import Path",
        "",
        "import torch",
        "import torch.nn.functional as F",
        "from safetensors.torch import load_file",
        "from torch import nn, optim",
    ]
    assert x


def test_nothing_is_imported_that_is_not_needed() -> None:
    sketch = Sketch()
    sketch.node("python.literal", "lr", literals={"value": "0.01"})
    assert write_script(sketch.graph) == "lr = 0.01\n"


def test_auto_asks_torch_for_the_device() -> None:
    sketch = Sketch(device="auto")
    sketch.tensor("x")
    assert 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n' in sketch.code


@pytest.mark.parametrize(
    ("literals", "moved", "prints"),
    [
        ({"device": "device"}, False, False),
        ({}, False, True),  # a port that is torch's default must be told apart
        ({"device": "device"}, True, True),
        ({"device": '"cpu"'}, False, False),
    ],
)
def test_on_the_cpu_the_device_is_printed_only_when_something_asks_for_it(
    literals: dict[str, str], moved: bool, prints: bool
) -> None:
    sketch = Sketch()
    x = sketch.node("torch.tensor", "x", literals={"data": "1.0", **literals})
    sketch.tensor("other")
    if moved:
        sketch.node("torch.Tensor.to", "y", {"self": x}, literals={"device": "device"})
    assert ("device = " in sketch.code) is prints
    assert ("other = torch.tensor(1.0, device=device)" in sketch.code) is prints
    if moved:
        assert "y = x.to(device)" in sketch.code


def test_notes_stand_above_their_statement_and_one_blank_line_is_kept() -> None:
    sketch = Sketch()
    x = sketch.tensor("x", note="first\n\nthird")
    sketch.node("operator.neg", "y", {"a": x}, blank_before=True, note="after a gap")
    apply(sketch.graph, SetTail(ROOT, "the end"))
    assert sketch.code.split("\n")[2:] == [
        "# first",
        "",
        "# third",
        "x = torch.tensor(1.0)",
        "",
        "# after a gap",
        "y = -x",
        "# the end",
        "",
    ]


@pytest.mark.parametrize("text", ["region: x", "endregion", "\\", "  region: x", "\\region: x"])
def test_a_note_that_reads_as_a_marker_is_escaped(text: str) -> None:
    sketch = Sketch()
    sketch.tensor("x", note=text)
    assert sketch.lines[0] == f"# \\{text}"


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_breaks_out_of_where_it_stands(text: str) -> None:
    sketch = Sketch()
    group = sketch.block("group", title=text, note=text)
    sketch.node("python.literal", "a", literals={"value": repr(text)}, body=group, note=text)
    sketch.node("python.literal", (text,), literals={"value": "1"}, note=text)
    sketch.node("python.attribute", "b", {"object": group}, literals={"name": repr(text)})
    sketch.node(text, "c")
    apply(sketch.graph, SetTail(ROOT, text))
    script = write_script(sketch.graph)
    statements = ast.parse(script.encode()).body
    kept = [node for node in statements if not isinstance(node, ast.Import)]
    assert [type(node) for node in kept] == [ast.Assign]
    assert ast.literal_eval(kept[0].value) == text  # type: ignore[attr-defined]
    assert formatted(script) == script


def test_a_note_never_declares_the_encoding_of_the_file() -> None:
    sketch = Sketch()
    sketch.node("python.literal", "a", literals={"value": "1"}, note="coding: utf-16")
    assert ast.parse(write_script(sketch.graph).encode())
    assert sketch.code.startswith("import torch\n\n# coding")


def test_blocks_are_pythons_blocks() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    quiet = sketch.block("no_grad")
    sketch.node("operator.neg", "y", {"a": x}, body=quiet)
    apply(sketch.graph, SetTail(BodyId(quiet), "tail"))
    loop = sketch.block("for", variable="t", literals={"range": "(0, 4)"})
    cast = sketch.block("autocast", literals={"device_type": '"cpu"', "dtype": "torch.bfloat16"}, body=loop)
    condition = sketch.node("operator.lt", wires={"a": (loop, 0)}, literals={"b": "2"}, body=cast, part=True)
    probe = sketch.block("if", {"condition": condition}, body=cast)
    sketch.node("builtins.print", wires={"values.0": (loop, 0)}, lengths={"values": 1}, body=probe)
    region = sketch.block("group", title="The  end")
    sketch.block("inference_mode", body=region)
    assert sketch.lines == [
        "x = torch.tensor(1.0)",
        "with torch.no_grad():",
        "    y = -x",
        "    # tail",
        "for t in range(0, 4):",
        '    with torch.autocast(device_type="cpu", dtype=torch.bfloat16):',
        "        if t < 2:",
        "            print(t)",
        "# region: The end",
        "with torch.inference_mode():",
        "    pass",
        "# endregion",
    ]


def test_a_carried_value_is_one_name() -> None:
    sketch = Sketch()
    first = sketch.tensor("h")
    loop = sketch.block("for", {"first.h": first}, variable="", literals={"range": "3"}, carried=("h",))
    turned = sketch.node("operator.neg", "h", {"a": (loop, 1)}, body=loop)
    sketch.wire(loop, {"next.h": turned})
    sketch.node("operator.add", "y", {"a": turned, "b": turned})
    assert sketch.lines == ["h = torch.tensor(1.0)", "for _ in range(3):", "    h = -h", "y = h + h"]


def test_a_loop_goes_over_what_is_wired() -> None:
    sketch = Sketch()
    fc = sketch.node("torch.nn.Linear", "fc", literals={"in_features": "1", "out_features": "1", "device": "device"})
    n = sketch.node("python.literal", "n", literals={"value": "2"})
    parameters = sketch.node("torch.nn.Module.parameters", wires={"self": fc}, part=True)
    loop = sketch.block("for", {"over": parameters}, variable="p")
    sketch.node("builtins.print", wires={"values.0": (loop, 0)}, lengths={"values": 1}, body=loop)
    counted = sketch.block("for", {"range.1": n}, variable="i", literals={"range.0": "0"}, lengths={"range": 2})
    sketch.node("builtins.print", wires={"values.0": (counted, 0)}, lengths={"values": 1}, body=counted)
    assert sketch.lines[2:] == ["for p in fc.parameters():", "    print(p)", "for i in range(0, n):", "    print(i)"]


def test_what_is_muted_is_left_out_with_all_that_reads_it() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    y = sketch.node("operator.neg", "y", {"a": x}, muted=True, note="gone")
    sketch.node("operator.neg", "z", {"a": y})
    block = sketch.block("no_grad", muted=True)
    sketch.node("operator.neg", "w", {"a": x}, body=block)
    assert sketch.lines == ["x = torch.tensor(1.0)"]


def test_what_is_bypassed_hands_on_its_input() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    y = sketch.node("torch.nn.functional.relu", "y", {"input": x}, bypassed=True)
    written = sketch.node("torch.Tensor.add_", wires={"self": y}, literals={"other": "1"}, bypassed=True)
    sketch.node("operator.neg", "z", {"a": written})
    assert sketch.lines == ["x = torch.tensor(1.0)", "y = x", "z = -y"]


def test_what_cannot_run_is_a_comment_that_says_why() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    y = sketch.node("torch.matmul", "y", {"input": x})
    sketch.node("operator.neg", "z", {"a": y})
    sketch.node("no.such", "w", {"input": x})
    block = sketch.block("no_grad")
    sketch.node("operator.neg", "v", {"a": y}, body=block)
    assert sketch.lines == [
        "x = torch.tensor(1.0)",
        "# y = torch.matmul(x, ...)  # 'other' is empty",
        "# z = -y  # it reads 'y', which cannot run",
        "# w = no.such(...)  # the catalogue has no operator 'no.such'",
        "with torch.no_grad():",
        "    # v = -y  # it reads 'y', which cannot run",
        "    pass",
    ]


def test_parts_are_printed_inside_their_user_only_where_the_order_is_pythons() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    first = sketch.node("operator.neg", wires={"a": x}, part=True)
    second = sketch.node("torch.exp", wires={"input": x}, part=True)
    sketch.node("operator.sub", "y", {"a": second, "b": first})
    twice = sketch.node("operator.neg", wires={"a": x}, part=True)
    sketch.node("operator.mul", "z", {"a": twice, "b": twice})
    assert sketch.lines[1:] == ["neg_1 = -x", "y = torch.exp(x) - neg_1", "neg_2 = -x", "z = neg_2 * neg_2"]


def test_a_definition_is_a_function_above_the_program() -> None:
    inner = Sketch()
    total = inner.node("operator.add", "u", {"a": (DEFINITION_INPUTS, 0), "b": (DEFINITION_INPUTS, 1)})
    inner.wire(DEFINITION_OUTPUTS, {"0": total, "1": (DEFINITION_INPUTS, 0)})
    sketch = Sketch(seed=0)
    apply(sketch.graph, SetDefinition("add_up", Definition("add_up", ("a", "b"), ("u", "v"), inner.graph)))
    x = sketch.tensor("x")
    sketch.node("group:add_up", "s t", {"a": x, "b": x})
    assert sketch.code == (
        "import torch\n\ntorch.manual_seed(0)\n\n\n"
        "def add_up(a, b):\n    u = a + b\n    return u, a  # outputs: u, v\n\n\n"
        "x = torch.tensor(1.0)\ns, t = add_up(x, x)\n"
    )
    assert formatted(write_script(sketch.graph)) == write_script(sketch.graph)


def test_the_report_prints_named_tensors_and_gradients_of_leaves_only() -> None:
    sketch = Sketch()
    x, w = sketch.tensor("x"), sketch.parameter("w")
    lr = sketch.node("python.literal", "lr", literals={"value": "0.1"})
    sketch.node("operator.mul", "y", {"a": x, "b": w})
    sketch.node("torch.Tensor.topk", "values _", {"self": w}, literals={"k": "1"})
    sketch.node("torch.Tensor.requires_grad_", wires={"self": x})
    fc = sketch.node("torch.nn.Linear", "fc", literals={"in_features": "1", "out_features": "1", "device": "device"})
    assert lr
    assert fc
    report = write_script(sketch.graph).split('if __name__ == "__main__":\n')[1].split("\n")
    assert report == [
        '    print("x =", x)',
        '    print("x.grad =", x.grad)',
        '    print("w =", w)',
        '    print("w.grad =", w.grad)',
        '    print("y =", y)',
        '    print("values =", values)',
        "    for name, parameter in fc.named_parameters():",
        '        print("fc." + name + " =", parameter.data)',
        '        print("fc." + name + ".grad =", parameter.grad)',
        "",
    ]


def test_the_report_goes_over_parameters_once_and_only_where_there_may_be_some() -> None:
    sketch = Sketch()
    sizes = {"in_features": "1", "out_features": "1"}
    first = sketch.node("torch.nn.Linear", "first", literals=sizes)
    relu = sketch.node("torch.nn.ReLU", "relu")
    drop = sketch.node("torch.nn.Dropout", "drop")
    sketch.node("torch.nn.Sequential", "model", {"args.0": first, "args.1": relu}, lengths={"args": 2})
    sketch.node("torch.nn.Sequential", "plain", {"args.0": relu, "args.1": drop}, lengths={"args": 2})
    sketch.node("torch.nn.Linear", "head", literals=sizes)
    part = sketch.node("python.attribute", "part", {"object": first}, literals={"name": "weight"})
    sketch.node("torch.nn.Sequential", "unknown", {"args.0": part}, lengths={"args": 1})
    report = write_script(sketch.graph).split('if __name__ == "__main__":\n')[1].split("\n")
    assert [line.strip() for line in report if "for " in line] == [
        "for name, parameter in model.named_parameters():",
        "for name, parameter in head.named_parameters():",
        "for name, parameter in unknown.named_parameters():",
        "for name, buffer in unknown.named_buffers():",
    ]


def test_the_report_prints_buffers_where_there_may_be_some_and_under_free_names() -> None:
    sketch = Sketch()
    name = sketch.tensor("name")
    weight = sketch.tensor("weight")
    norm = sketch.node("torch.nn.BatchNorm1d", "norm", literals={"num_features": "1"})
    sketch.node("torch.nn.Sequential", "model", {"args.0": norm}, lengths={"args": 1})
    sketch.node("torch.nn.Linear", "fc", literals={"in_features": "1", "out_features": "1"})
    loss = sketch.node("torch.nn.BCELoss", "loss", {"weight": weight})
    sketch.node("torch.nn.Sequential", "whole", {"args.0": loss}, lengths={"args": 1})
    assert name
    report = write_script(sketch.graph).split('if __name__ == "__main__":\n')[1].split("\n")
    loops = [line.strip() for line in report if "for " in line or "model" in line]
    assert loops == [
        "for key, parameter in model.named_parameters():",
        'print("model." + key + " =", parameter.data)',
        'print("model." + key + ".grad =", parameter.grad)',
        "for key, buffer in model.named_buffers():",
        'print("model." + key + " =", buffer)',
        "for key, parameter in fc.named_parameters():",
    ]
    assert has_buffers(sketch.graph, loss)


def test_the_report_names_nothing_that_a_loop_may_not_have_bound() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    n = sketch.node("python.literal", "n", literals={"value": "0"})
    for name, wires, literals in (("y", {}, {"range": "2"}), ("z", {"range": n}, {}), ("u", {}, {"range": "0"})):
        loop = sketch.block("for", wires, literals=literals)
        sketch.node("operator.neg", name, {"a": x}, body=loop)
    report = write_script(sketch.graph).split("__main__")[1]
    assert '"y ="' in report
    assert '"z ="' not in report
    assert '"u ="' not in report


def test_the_same_document_gives_the_same_bytes() -> None:
    sketch = Sketch(seed=3)
    x = sketch.tensor("x")
    sketch.node("operator.neg", "y", {"a": x})
    assert write_script(sketch.graph) == write_script(sketch.graph.copy())


def test_every_item_has_its_place_in_the_text() -> None:
    sketch = Sketch(seed=0)
    x = sketch.parameter("x")
    block = sketch.block("no_grad")
    part = sketch.node("operator.neg", wires={"a": x}, body=block, part=True)
    y = sketch.node("torch.exp", "y", {"input": part}, body=block)
    script = write(sketch.graph)
    texts = {span.node: _cut(script.text, span) for span in script.spans}
    assert texts == {
        x: "x = torch.tensor(1.0, requires_grad=True)",
        block: "with torch.no_grad():",
        y: "y = torch.exp(-x)",
        part: "-x",
    }


def test_places_hold_in_lines_that_are_broken() -> None:
    sketch = Sketch()
    x = sketch.tensor("quite_a_long_name_for_a_tensor")
    parts = [sketch.node("torch.exp", wires={"input": x}, part=True) for _ in range(4)]
    wires = {f"tensors.{k}": part for k, part in enumerate(parts)}
    sketch.node("torch.cat", "y", wires, lengths={"tensors": 4}, literals={"dim": "0"})
    script = write(sketch.graph)
    found = [_cut(script.text, span) for span in script.spans if span.node in parts]
    assert found == ["torch.exp(quite_a_long_name_for_a_tensor)"] * 4
    assert formatted(script.text) == script.text


def test_a_wire_whose_name_means_something_else_is_not_run() -> None:
    sketch = Sketch()
    old = sketch.tensor("h")
    sketch.node("operator.neg", "h", {"a": old})
    sketch.node("operator.neg", "y", {"a": old})
    assert sketch.lines[-1].startswith("# y = -h  # 'h' means another statement here")


def test_an_empty_document_is_an_empty_script() -> None:
    assert write_script(Graph()) == "import torch\n\ntorch.manual_seed(0)\n"


def _cut(text: str, span: object) -> str:
    lines = text.split("\n")[span.line - 1 : span.end_line]  # type: ignore[attr-defined]
    lines[-1] = lines[-1][: span.end_column]  # type: ignore[attr-defined]
    lines[0] = lines[0][span.column :]  # type: ignore[attr-defined]
    return "\n".join(lines)


def test_a_wire_to_an_argument_that_is_not_there_is_not_run() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    item = sketch.node("operator.neg", "y", {"a": x})
    apply(sketch.graph, AddWire(Wire(x, 0, item, "nope")))
    assert "no argument 'nope'" in sketch.lines[-1]


def test_a_loop_over_nothing_is_a_comment() -> None:
    sketch = Sketch()
    loop = sketch.block("for", variable="t")
    sketch.node("python.literal", "x", literals={"value": "1"}, body=loop)
    assert sketch.lines[0] == "# for t in ...:  # the loop has nothing to go over"
