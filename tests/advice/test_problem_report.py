"""Advice as plain data: the same names, explanations and ways out as at a card, for people and for programs."""

from gradstudio.advice import problem_report
from gradstudio.advice.model import Advice
from gradstudio.advice.run_problems import RunRecorder
from gradstudio.graph.analysis.program_analysis import addresses
from gradstudio.graph.model import Graph, ItemId
from gradstudio.program.compile import compile_graph
from gradstudio.program.reading.reader import read_script
from gradstudio.protocol.messages.events import Failed, NamedEntry
from gradstudio.protocol.messages.inference import LeafInference, PortInference
from gradstudio.protocol.messages.records import PlainRecord, TensorRecord

REFUSAL = "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"
PRODUCT = "import torch\n\na = torch.ones(2, 3)\nb = torch.ones(2, 3)\nc = a @ b\n"
PAIR = "import torch\n\na = torch.ones(2, 3)\nv, i = torch.max(a, dim=1)\n_, q = torch.max(a, dim=1)\n"
BROADCAST = (
    "import torch\n\nx = torch.randn(8, 1, requires_grad=True)\ny = torch.randn(8)\nd = x - y\nloss = (d**2).mean()\n"
)
PLAIN_LIST = (
    "class Net(nn.Module, Mixed):\n    def __init__(self):\n        super().__init__()\n        self.layers = []\n"
    "        self.layers.append(nn.Linear(2, 2))\n"
)


def read(text: str) -> tuple[Graph, dict[str, ItemId]]:
    graph = read_script(text).graph
    return graph, {address: item for item, address in addresses(graph).items()}


def expected(node: ItemId, *shape: int, grad: bool = False) -> PortInference:
    return PortInference(node=node, dtype="float32", shape=shape, device="cpu", requires_grad=grad)


def test_a_refusal_is_explained_with_what_goes_in_and_the_edits_come_first() -> None:
    graph, named = read(PRODUCT)
    lookup = problem_report.values_expected([expected(named["a"], 2, 3), expected(named["b"], 2, 3)])
    advice = problem_report.advise_refusal(PortInference(node=named["c"], refusal=REFUSAL), graph, lookup)
    assert advice.explanation.endswith("Here a is float32 [2, 3], b is float32 [2, 3].")
    assert advice.fixes[:2] == ("Transpose b (b.T)", "Transpose a (a.T)")


def test_a_failure_that_nothing_is_known_of_has_no_advice() -> None:
    graph, named = read(PRODUCT)
    failed = Failed(0, named["c"], "c", 5, "ZebraError", "stripes are missing")
    assert problem_report.advise(failed, graph, problem_report.values_bound(())) == Advice()


def test_values_that_are_bound_are_found_by_node_and_output() -> None:
    one, two = (PlainRecord(what="number", class_name="int", value=value) for value in (1, 2))
    node, empty = ItemId("n1"), ItemId("n2")
    lookup = problem_report.values_bound(
        [
            NamedEntry(name="a", node=node, operator="o", line=1, outputs=(one,)),
            NamedEntry(name="b", node=node, operator="o", line=1, outputs=(two,), output=1),
            NamedEntry(name="c", node=empty, operator="o", line=2),
        ]
    )
    assert (lookup(node, 0), lookup(node, 1)) == (one, two)
    assert lookup(node, 2) is None
    assert lookup(empty, 0) is None


def test_values_that_are_expected_are_tensors_with_a_dtype_and_a_shape() -> None:
    node = ItemId("n1")
    lookup = problem_report.values_expected(
        [expected(node, 2, 3, grad=True), PortInference(node=node, output=1, shape=(2,))]
    )
    record = lookup(node, 0)
    assert isinstance(record, TensorRecord)
    assert (record.summary.dtype, record.summary.shape, record.requires_grad) == ("float32", (2, 3), True)
    assert lookup(node, 1) is None
    assert lookup(ItemId("n2"), 0) is None


def test_each_output_has_its_own_name_where_the_statement_binds_one() -> None:
    graph, named = read(PAIR)
    assert [problem_report.output_name(graph, named["v"], k) for k in range(3)] == ["v", "i", "v[2]"]
    assert problem_report.output_name(graph, named["q"], 1) == "q"
    gone = ItemId("gone")
    assert [problem_report.output_name(graph, gone, k) for k in range(2)] == ["gone", "gone[1]"]


def test_a_problem_is_plain_data_and_lines_for_people() -> None:
    problem = problem_report.problem_json("c", 5, REFUSAL, Advice("Why.", ("Do this", "Or that")))
    assert problem == {
        "node": "c",
        "line": 5,
        "message": REFUSAL,
        "explanation": "Why.",
        "fixes": ["Do this", "Or that"],
    }
    assert problem_report.advice_lines(problem) == ["  Why.", "  → Do this", "  → Or that"]
    assert problem_report.advice_lines(problem_report.problem_json(None, None, "", Advice())) == []
    assert problem_report.advice_lines(problem_report.problem_json(None, None, "", Advice("", ("Do this",)))) == [
        "  → Do this"
    ]


def test_what_torch_runs_silently_is_noticed_once_the_shapes_are_known() -> None:
    graph, named = read(BROADCAST)
    assert list(problem_report.notices(graph, problem_report.values_expected(()))) == []
    ports = [expected(named["x"], 8, 1, grad=True), expected(named["y"], 8)]
    ((finding, advice),) = problem_report.notices(graph, problem_report.values_expected(ports))
    assert finding.node == named["d"]
    assert finding.title == "[8, 1] and [8] broadcast to [8, 8] in d"
    assert advice.explanation.startswith("A column and a vector of 8 elements")
    assert advice.fixes == ("Give y the other's shape (y.reshape(8, 1))",)


def test_an_expected_output_is_told_by_its_name_and_a_modules_leaves_by_theirs() -> None:
    graph, named = read(PAIR)
    tensor = problem_report.port_json(graph, expected(named["v"], 2))
    assert (tensor["name"], list(tensor["shape"])) == ("v", [2])
    assert "leaves" not in tensor
    leaves = (LeafInference("weight", (3, 2), "float32", True), LeafInference("count", (), "int64", buffer=True))
    module = problem_report.port_json(graph, PortInference(node=named["v"], output=1, leaves=leaves))
    assert [leaf["name"] for leaf in module["leaves"]] == ["i.weight", "i.count"]


def test_a_check_has_a_line_for_each_shape_that_is_known() -> None:
    assert list(problem_report.port_lines({"name": "a", "shape": [2, 3], "dtype": "float32"})) == [
        "  a: float32 [2, 3]"
    ]
    assert list(problem_report.port_lines({"name": "a", "shape": []})) == ["  a: some dtype []"]
    assert list(problem_report.port_lines({"name": "a", "shape": None})) == []
    leaf = {"name": "fc.weight", "dtype": "float32", "shape": [4, 3]}
    assert list(problem_report.port_lines({"name": "fc", "leaves": [leaf]})) == ["  fc.weight: float32 [4, 3]"]


def test_a_slow_run_says_where_it_is_as_far_as_that_is_known() -> None:
    assert problem_report.slow_words(None, 7) == "still running; Ctrl+C stops it"
    assert problem_report.slow_words(3, 1) == "still running (line 3); Ctrl+C stops it"
    assert problem_report.slow_words(3, 1200) == "still running (line 3, turn 1,200); Ctrl+C stops it"


def test_a_finding_in_undrawn_python_is_told_with_its_own_line_of_the_file() -> None:
    text = "import torch\nfrom torch import nn\n\nx = torch.ones(2)\n" + PLAIN_LIST
    reading = read_script(text, keeps_code=True)
    program = compile_graph(reading.graph)
    (problem,) = problem_report.problems_json(reading.graph, RunRecorder(), reading.lines, program)
    assert (problem["kind"], problem["line"]) == ("left_out", 9)
