"""What a text becomes: the same text again, its notes, its blocks, its lines."""

import pytest
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace

from gradstudio.document.file import load
from gradstudio.graph.analysis.program_analysis import incomplete
from gradstudio.graph.edits import AddWire, ReplaceNode, apply_all
from gradstudio.graph.model import DOCUMENT_DEVICE, Graph, Wire
from gradstudio.graph.text.conditionals import read_conditional
from gradstudio.paths import examples
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.reader import read_script
from gradstudio.program.write import write, write_code, write_script
from tests.program.test_laws import programs

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn, optim\n\n"


def graph_of(text: str, head: str = HEAD) -> Graph:
    return read_script(head + text).graph


def code(graph: Graph) -> list[str]:
    """The statements as they are printed."""
    script = write(graph)
    return [line for line in script.code.removeprefix(script.prelude).splitlines() if line]


@pytest.mark.parametrize("path", sorted(examples().glob("*.gsg")), ids=lambda path: path.stem)
def test_an_example_that_was_exported_reads_back_as_itself(path) -> None:
    graph = load(path)
    text = write_script(graph, stem=path.stem)
    stored = {f"{path.stem}.tensors/{digest}.safetensors": tensor for digest, tensor in graph.tensors.items()}
    assert write_script(read_script(text, stored.__getitem__).graph, stem=path.stem) == text


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_any_program_that_was_exported_reads_back_as_itself(graph: Graph) -> None:
    if not incomplete(graph):
        text = write_script(graph)
        assert write_script(read_script(text).graph) == text


@pytest.mark.parametrize(
    "line",
    [
        "y = x @ x.T + 1",
        "y = (-x)**2",
        "y = x[:, 1:, None, ...]",
        "y = x[0, ::2]",
        "y = x[[0, 1]]",
        "y = x[x > 0]",
        "y = torch.cat([x, x], dim=1)",
        "y = torch.randn(2, 3, device=\"cpu\")",
        "y = F.relu(x).sum(dim=0, keepdim=True)",
        "y = x.view(-1)",
        "y = x.to(torch.float64)",
        "values, indices = x.topk(2)",
        "B, T = x.shape",
        "a, b = x.split(1)",
        "x += 1",
        "x[0] = 1",
        "x[0, 1:] *= 2",
        "x.requires_grad = True",
        "x.grad = None",
        "m = nn.Sequential(nn.Linear(3, 4), nn.ReLU())",
        "c = nn.Conv2d(1, 8, kernel_size=3, padding=1)",
        "print(\"x\", x)",
        "(x**2).sum().backward()",
        "y = x.masked_fill(x > 0, float(\"-inf\"))",
        "y = torch.where(x > 0, x, 0.0)",
        "y = [x, 1, x + 1]",
        "s = x.shape[0] * 2",
        "y = x.std(dim=1, correction=0)",
        "y = x.max(dim=1).values",
        "y = x.max(dim=1)[0]",
        "y = abs(x)",
        "y = max(1, 2.5)",
        "y = min([1, 2])",
    ],
)  # fmt: skip
def test_a_line_is_printed_as_it_was_read(line: str) -> None:
    graph = graph_of(f"x = torch.rand(2, 3)\n{line}\n")
    assert incomplete(graph) == {}
    assert code(graph)[-1].replace(" ", "") == line.replace(" ", "")


def test_parts_are_nested_and_statements_are_not() -> None:
    graph = graph_of("x = torch.ones(2)\ny = (x * 2).sum()\n")
    assert [(node.operator, node.nested, node.names) for node in graph.nodes.values()] == [
        ("torch.ones", False, ("x",)),
        ("operator.mul", True, ()),
        ("torch.Tensor.sum", False, ("y",)),
    ]


def test_another_alias_reads_as_what_it_stands_for() -> None:
    text = "import torch as t\nfrom torch.nn import functional as fn, Linear\nfrom math import pi\n"
    graph = graph_of("x = t.ones(2, dtype=t.float64) * pi\ny = fn.relu(x)\nm = Linear(2, 3)\n", text)
    assert code(graph) == ["x = torch.ones(2, dtype=torch.float64) * math.pi", "y = F.relu(x)", "m = nn.Linear(2, 3)"]


def test_a_seed_that_is_set_in_each_turn_is_a_statement_of_the_turn() -> None:
    text = "for k in range(2):\n    torch.manual_seed(0)\n    x = torch.randn(2)\n"
    graph = graph_of(text)
    assert graph.header.seed is None
    assert [graph.nodes[item].operator for item in graph.order() if item in graph.nodes] == [
        "torch.manual_seed",
        "torch.randn",
    ]


def test_the_header_is_read_as_settings() -> None:
    usual = 'device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n'
    graph = graph_of(f"torch.manual_seed(3)\ntorch.set_default_dtype(torch.float64)\n{usual}x = torch.ones(2)\n")
    assert (graph.header.seed, graph.header.default_dtype, graph.header.device) == (3, "torch.float64", "auto")
    assert [node.literals for node in graph.nodes.values()] == [{"size": "(2,)"}]


def test_without_a_device_line_what_creates_follows_the_document() -> None:
    graph = graph_of("x = torch.ones(2)\n")
    assert next(iter(graph.nodes.values())).literals["device"] == DOCUMENT_DEVICE
    assert graph.header.seed is None


def test_the_usual_device_goes_where_it_is_named() -> None:
    graph = graph_of("device = 'cuda' if torch.cuda.is_available() else 'cpu'\nx = torch.ones(2).to(device)\n")
    assert code(graph) == ["x = torch.ones(2).to(device)"]


def test_comments_and_blank_lines_are_kept() -> None:
    text = """\
x = torch.ones(2)  # beside

# above
# two lines
y = x * 2
with torch.no_grad():
    # inside
    z = y + 1
    # at the end of the block
w = z
# at the end
"""
    assert code(graph_of(text)) == [
        "x = torch.ones(2)  # beside",
        "# above",
        "# two lines",
        "y = x * 2",
        "with torch.no_grad():",
        "    # inside",
        "    z = y + 1",
        "    # at the end of the block",
        "w = z",
        "# at the end",
    ]
    assert "\n\n# above" in write(graph_of(text)).code


def test_a_loop_carries_what_it_reads_before_it_binds() -> None:
    graph = graph_of(
        "h = torch.zeros(2)\nn = 0\nW = torch.ones(2)\nfor i in range(3):\n    h = h + W\n    n += 1\n    W *= 2\n"
    )
    block = next(iter(graph.blocks.values()))
    assert (block.variable, set(block.carried)) == ("i", {"h", "n"})
    assert incomplete(graph) == {}


def test_after_a_loop_the_names_are_those_of_its_last_turn() -> None:
    graph = graph_of("W = torch.ones(2)\nfor i in range(3):\n    y = W * i\n    W += y\nz = y + W\n")
    assert incomplete(graph) == {}
    assert code(graph)[-1] == "z = y + W"


def test_a_name_that_is_bound_again_is_another_version() -> None:
    graph = graph_of("h = torch.ones(2)\nh = h * 2\nh = h + 1\n")
    assert [len(graph.wires_from(item)) for item in graph.nodes] == [1, 1, 0]


def test_chained_assignment_is_two_statements() -> None:
    assert code(graph_of("a = b = torch.ones(2)\n")) == ["a = torch.ones(2)", "b = a"]


def test_the_report_at_the_end_is_dropped() -> None:
    text = 'x = torch.ones(2)\n\n\nif __name__ == "__main__":\n    print("x =", x)\n'
    assert code(graph_of(text)) == ["x = torch.ones(2)"]


def test_every_item_knows_its_line() -> None:
    read = read_script("import torch\n\nx = torch.ones(2)\nfor i in range(2):\n    y = (x * i).sum()\n")
    assert sorted(read.lines.values()) == [3, 4, 5, 5]


def test_groups_are_read_from_their_marks() -> None:
    text = "x = torch.ones(2)\n# region: One\ny = x * 2\n# region: Two\nz = y\n# endregion\n# endregion\nw = z\n"
    graph = graph_of(text)
    assert [block.title for block in graph.blocks.values()] == ["One", "Two"]
    assert code(graph) == text.splitlines()


def test_a_field_of_several_results_is_read_by_name() -> None:
    graph = graph_of("x = torch.rand(2, 3)\nr = x.topk(2)\nq = r\ny = r.values + q.indices\n")
    assert incomplete(graph) == {}
    assert code(graph)[-1] == "y = r.values + q.indices"
    with pytest.raises(NotReadable, match="is a method"):
        graph_of("x = torch.rand(2, 3)\nr = x.topk(2)\ny = r.count\n")


def test_a_tuple_among_the_names_is_unpacked_on_a_line_of_its_own() -> None:
    graph = graph_of("m = nn.LSTM(2, 3)\nx = torch.ones(1, 2)\nout, (h, c) = m(x)\ny = h + c\n")
    assert incomplete(graph) == {}
    assert code(graph)[2:] == ["out, state = m(x)", "h, c = state", "y = h + c"]


def test_a_device_behind_literals_is_still_a_setting() -> None:
    head = "dtype = torch.float\ndevice = torch.device('cpu')\n"
    graph = graph_of(f"{head}x = torch.ones(2, device=device, dtype=dtype)\n")
    assert (graph.header.device, incomplete(graph)) == ("cpu", {})
    assert code(graph)[-1] == "x = torch.ones(2, dtype=dtype)"


def test_a_loop_takes_elements_apart_at_its_head() -> None:
    graph = graph_of("m = nn.Linear(2, 3)\nfor name, p in m.named_parameters():\n    print(name, p)\n")
    assert incomplete(graph) == {}
    assert code(graph)[1:] == ["for name, p in m.named_parameters():", "    print(name, p)"]
    block = next(iter(graph.blocks.values()))
    assert (block.carried, block.variable) == ((), "")


@pytest.mark.parametrize(
    "loop",
    [
        "for k, (a, b) in enumerate(pairs):\n    print(k + a)",
        "for (a, b), _ in zip(pairs, pairs):\n    print(b)",
        "for (a, (b, c)), d in zip(pairs, pairs):\n    pass",
        "for a, b in pairs:\n    print(a)\nprint(b)",
        "for i in range(3):\n    print(i)\nprint(i)",
        "for i in range(3):\n    for j in range(i):\n        print(i)\n    k = i\nprint(j, k)",
        "# above\nfor a, b in pairs:\n    # inside\n    print(a)",
        "for pair in pairs:\n    a, b = pair",
        "for pair in pairs:\n    a, b = pair\n    print(pair)",
    ],
)
def test_a_loop_is_printed_with_the_target_that_was_typed(loop: str) -> None:
    text = f"pairs = [(1, 2), (3, 4)]\n{loop}"
    graph = graph_of(text)
    assert incomplete(graph) == {}
    assert code(graph) == text.split("\n")
    assert write_code(graph_of(write_code(graph)[0])) == write_code(graph)


@pytest.mark.parametrize(
    "target", ["a, *rest", "a, x[0]", "a, (a, b)", "(a,)", "[a]", "a, p.grad", "(a, b), a", "(a, (b,)), c"]
)
def test_other_targets_are_taken_apart_in_the_body(target: str) -> None:
    graph = graph_of(f"x = [0]\np = torch.ones(1)\nfor {target} in [((1, (2,)), (3, 4))]:\n    pass\n")
    assert "for element in [((1, (2,)), (3, 4))]:" in code(graph)


def test_an_element_that_something_else_reads_is_taken_apart_in_the_body() -> None:
    graph = graph_of("for k, (a, b) in enumerate([(1, 2)]):\n    print(a)\n")
    block = next(iter(graph.blocks))
    inner, shown = next(n for n in graph.nodes.values() if n.names == ("a", "b")), next(reversed(graph.nodes))
    outer = graph.wire_into(inner.id, "items")
    assert outer is not None
    extra = AddWire(Wire(outer.source, outer.output, shown, "values.1"))
    apply_all(graph, (ReplaceNode(replace(graph.nodes[shown], lengths={"values": 2})), extra))
    assert code(graph)[:3] == ["for k, unused in enumerate([(1, 2)]):", "    a, b = unused", "    print(a, unused)"]
    assert graph.blocks[block].variable == ""


def test_a_note_on_what_a_head_takes_apart_stands_above_the_loop() -> None:
    graph = graph_of("# above\nfor a, b in [(1, 2)]:\n    print(a)\n")
    node = next(node for node in graph.nodes.values() if node.names)
    apply_all(graph, (ReplaceNode(replace(node, note="its own")),))
    assert code(graph)[:3] == ["# above", "# its own", "for a, b in [(1, 2)]:"]


def test_what_a_head_takes_apart_has_its_place_there() -> None:
    text, spans = write_code(graph_of("for k, (a, b) in enumerate([(1, 2)]):\n    print(a)\n"))
    head = text.split("\n")[0]
    pieces = [head[span.column : span.end_column] for span in spans if span.line == 1]
    assert pieces == [head, "k, (a, b)", "(a, b)", "enumerate([(1, 2)])"]


@pytest.mark.parametrize("line", ["m = nn.Sequential(*several)", "print(*several)", "y = torch.block_diag(*several)"])
def test_a_list_is_unpacked_into_arguments(line: str) -> None:
    graph = graph_of(f"x = torch.ones(2, 2)\nseveral = [x, x]\n{line}\n")
    assert incomplete(graph) == {}
    assert code(graph)[-1] == line


@pytest.mark.parametrize(
    "line",
    [
        "y = [*m.parameters(), *m[0].parameters(), x.sum()]",
        "y = (x.shape[0], *x.shape, 1)",
        "y = x.view(*x.shape[:-1], 1, 2)",
        "y = torch.zeros(2, *x.shape, 1)",
        "y = nn.Sequential(*m, nn.Linear(2, 1))",
        'y = f"{x.sum().item():.{n}f} and {m(x).item()}"',
        'print("sizes", *x.shape, sep=" ")',
    ],
)
def test_what_stands_beside_a_star_is_nodes_of_its_own(line: str) -> None:
    graph = graph_of(f"x = torch.ones(2, 2)\nn = 2\nm = nn.Sequential(nn.Linear(2, 1))\n{line}\n")
    assert incomplete(graph) == {}
    assert code(graph)[-1] == line, "what is computed in any case is printed in its place"
    chosen = [node for node in graph.nodes.values() if node.operator == "python.choice"]
    assert [read_conditional(node.literals["template"]).is_display for node in chosen] == [True]


def test_what_may_not_be_computed_is_no_node_of_its_own() -> None:
    graph = graph_of("x = torch.ones(2, 2)\ny = [*x, x.sum() if x is None else x.mean()]\n")
    assert code(graph)[-1] == "y = [*x, x.sum() if x is None else x.mean()]"
    assert not {"torch.Tensor.sum", "torch.Tensor.mean"} & {node.operator for node in graph.nodes.values()}
