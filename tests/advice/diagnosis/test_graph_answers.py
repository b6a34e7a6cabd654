"""Questions about a graph, answered in words: from a run, from expected shapes, and where there is no answer."""

from collections.abc import Mapping

import msgspec
import pytest

from gradstudio.advice.diagnosis.graph_answers import (
    EMPTY,
    NO_LEAF,
    NO_PAIR,
    NO_ROOT,
    NO_SHAPES,
    NO_SUCH_LEAF,
    NOT_TIMED,
    Asked,
    Section,
    answers,
    checked,
    section_lines,
    sections_json,
)
from gradstudio.advice.diagnosis.graph_weights import element_bytes, memory_weights, time_weights
from gradstudio.graph.boundary_cards import INPUTS_CARD, OUTPUTS_CARD
from gradstudio.graph.groups.group_view import open_group
from gradstudio.graph.model import Graph, ItemId
from gradstudio.graph.text.item_titles import title
from gradstudio.protocol.messages.debugging import NodeMemory
from gradstudio.protocol.messages.events import GradRow
from gradstudio.protocol.messages.inference import LeafInference, PortInference
from gradstudio.protocol.messages.records import Record, Summary, TensorRecord
from tests.graph.structure.programs import node, program

TEXT = "x = torch.ones(8, requires_grad=True)\na = x * 2\nv = a.view(2, 4)\ny = v.sum()\ny.backward()"


class Run:
    """The readings of a run."""

    def __init__(self, seconds: Mapping[ItemId, float], outputs: Mapping[ItemId, tuple[Record, ...]]) -> None:
        self._seconds, self._outputs = seconds, outputs

    def outputs(self, node: ItemId) -> tuple[Record, ...] | None:
        return self._outputs.get(node)

    def gradients_of(self, node: ItemId) -> tuple[GradRow, ...]:
        return ()

    def seconds(self, node: ItemId) -> tuple[float, float]:
        return self._seconds.get(node, 0.0), 0.0

    def saved_bytes(self, node: ItemId) -> int:
        return 0

    def released_bytes(self, node: ItemId) -> int:
        return 0

    def node_memory(self, node: ItemId) -> NodeMemory | None:
        return None


def tensor(size_bytes: int, storage: int) -> TensorRecord:
    summary = Summary(dtype="float32", shape=(size_bytes // 4,))
    return TensorRecord(device="cpu", summary=summary, size_bytes=size_bytes, storage=storage)


def ran(graph: Graph) -> Run:
    x, a, v, y = (node(graph, name) for name in "xavy")
    outputs = {x: (tensor(32, 1),), a: (tensor(32, 2),), v: (tensor(32, 2),), y: (tensor(4, 3),)}
    return Run({x: 1e-3, a: 2e-3, v: 5e-4, y: 1e-6}, outputs)


def asked(graph: Graph) -> Asked:
    return Asked(graph, lambda item: title(graph, item), lambda item, output: None)


def section(sections: tuple[Section, ...], key: str) -> Section:
    return next(one for one in sections if one.key == key)


def expected(
    graph: Graph, shapes: Mapping[str, tuple[int, ...]], dtype: str = "float32"
) -> dict[ItemId, PortInference]:
    ports = (PortInference(node=node(graph, name), dtype=dtype, shape=shape) for name, shape in shapes.items())
    return {port.node: port for port in ports}


# -------------------------------------------------------------------- weights


def test_a_storage_weighs_where_it_is_made_and_a_view_nothing() -> None:
    graph = program(TEXT)
    weights = memory_weights(graph, ran(graph), lambda item, output: None)
    assert {title(graph, item): size for item, size in weights.of.items()} == {"x": 32, "a": 32, "v": 0, "y": 4}
    assert weights.origin == "run" and [title(graph, item) for item in weights.unknown] == ["backward"]


def test_without_a_run_shapes_and_dtypes_say_the_bytes() -> None:
    graph = program(TEXT)
    known = expected(graph, {"x": (8,), "a": (8,), "v": (2, 4), "y": ()}, "float64")
    weights = memory_weights(graph, None, lambda item, output: known.get(item))
    assert {title(graph, item): size for item, size in weights.of.items()} == {
        "x": 64, "a": 64, "v": 0, "y": 8, "backward": 0,
    }  # fmt: skip
    assert (weights.origin, weights.unit, weights.unknown) == ("shapes", "B", ())


def test_a_module_weighs_its_parameters_and_buffers() -> None:
    graph = program("import torch.nn as nn\nfc = nn.Linear(2, 3)")
    leaves = (LeafInference("weight", (3, 2), "float32"), LeafInference("bias", (3,), "float32"))
    port = PortInference(node=node(graph, "fc"), leaves=leaves)
    assert memory_weights(graph, None, lambda item, output: port).total == 36


@pytest.mark.parametrize(
    ("dtype", "size"),
    [("float32", 4), ("torch.bfloat16", 2), ("complex64", 8), ("bool", 1), ("float8_e4m3fn", 1), ("int64", 8)],
)
def test_bytes_of_an_element(dtype: str, size: int) -> None:
    assert element_bytes(dtype) == size


def test_times_are_of_the_run_or_not_at_all() -> None:
    graph = program(TEXT)
    assert time_weights(graph, None).origin == "nothing"
    weights = time_weights(graph, ran(graph))
    assert weights.origin == "run" and weights.total == pytest.approx(3.501e-3)


# -------------------------------------------------------------------- in words


def test_paths_say_their_share_and_where_their_figures_are_from() -> None:
    graph = program(TEXT)
    sections = answers(msgspec.structs.replace(asked(graph), readings=ran(graph)))
    time, memory = section(sections, "time"), section(sections, "memory")
    assert [one.text for one in time.answers] == ["3.5 ms of 3.5 ms in all: x → a → v → y"]
    assert time.answers[0].items == tuple(node(graph, name) for name in "xavy")
    assert [one.text for one in memory.answers] == ["68 B of 68 B in all: x → a → v → y"]
    assert "the last run" in time.note and "the last run" in memory.note


def test_an_older_run_is_said_to_be_one() -> None:
    graph = program(TEXT)
    sections = answers(msgspec.structs.replace(asked(graph), readings=ran(graph), is_stale=True))
    assert all("of an older version of the program" in section(sections, key).note for key in ("time", "memory"))


def test_before_a_run_bytes_are_of_the_shapes_and_that_is_said() -> None:
    graph = program(TEXT)
    known = expected(graph, {"x": (8,), "a": (8,), "v": (2, 4), "y": ()})
    sections = answers(msgspec.structs.replace(asked(graph), expected=lambda item, output: known.get(item)))
    assert "by the shapes that are expected before a run" in section(sections, "memory").note
    assert section(sections, "memory").answers[0].figure == 68
    assert section(sections, "time").note == NOT_TIMED


def test_what_has_no_answer_says_why_and_what_to_do() -> None:
    assert [one.note for one in answers(asked(Graph()))] == [EMPTY]
    plain = answers(asked(program("x = torch.ones(2)\ny = x + 1")))
    assert section(plain, "gradient").note == NO_LEAF
    assert section(plain, "between").note == NO_PAIR
    assert section(plain, "memory").note == NO_SHAPES
    cut = program("x = torch.ones(2, requires_grad=True)\ny = x.detach().sum()\ny.backward()")
    assert section(answers(asked(cut)), "gradient").note == NO_ROOT


def test_gates_are_named_the_nearest_first() -> None:
    graph = program(TEXT)
    rows = section(answers(asked(graph)), "gradient").answers
    assert [row.text for row in rows] == ["x: through a, and before it v."]
    assert rows[0].items == tuple(node(graph, name) for name in "xva")


def test_a_leaf_that_nothing_reaches_and_one_of_several_ways_say_so() -> None:
    text = "x = torch.ones(2, requires_grad=True)\nw = torch.ones(2, requires_grad=True)\ny = (x + x).sum()\n"
    graph = program(text + "z = y + x.sum()\nz.backward()")
    rows = [row.text for row in section(answers(asked(graph)), "gradient").answers]
    assert rows == [
        "x: no one node; its gradient comes from z on ways that share nothing.",
        "w: no gradient reaches it from z.",
    ]


def test_the_chosen_leaf_stands_first() -> None:
    graph = program("a = torch.ones(2, requires_grad=True)\nb = torch.ones(2, requires_grad=True)\ny = (a * b).sum()")
    rows = section(answers(msgspec.structs.replace(asked(graph), chosen=frozenset([node(graph, "b")]))), "gradient")
    assert [title(graph, row.items[0]) for row in rows.answers] == ["b", "a"]
    rows = section(answers(msgspec.structs.replace(asked(graph), chosen=frozenset([node(graph, "y")]))), "gradient")
    assert rows.answers[0].text == NO_SUCH_LEAF.format(name="y") and len(rows.answers) == 3


def test_between_is_asked_in_the_order_of_the_program() -> None:
    graph = program(TEXT)
    pair = node(graph, "y"), node(graph, "x")
    found = section(answers(msgspec.structs.replace(asked(graph), pair=pair)), "between")
    assert (found.title, found.answers[0].text) == ("Between x and y", "2 nodes: a, v")
    direct = section(answers(msgspec.structs.replace(asked(graph), pair=(pair[1], node(graph, "a")))), "between")
    assert direct.answers[0].text == "Nothing: one feeds the other directly."


def test_nodes_of_two_parts_have_no_way_between() -> None:
    graph = program("x = torch.ones(2)\ny = torch.ones(2)")
    pair = node(graph, "x"), node(graph, "y")
    found = section(answers(msgspec.structs.replace(asked(graph), pair=pair)), "between")
    assert found.answers[0].text.startswith("No way leads from x to y")


def test_long_lists_name_their_ends() -> None:
    graph = program("v0 = torch.ones(2)\n" + "\n".join(f"v{k} = v{k - 1} + 1" for k in range(1, 20)))
    text = section(answers(asked(graph)), "components").answers[0].text
    assert text == "20 nodes: v0, v1, v2, v3, v4, … 10 more …, v15, v16, v17, v18, v19"


# -------------------------------------------------------------------- for the command line


def test_a_check_names_nodes_as_reports_do_and_asks_of_no_pair() -> None:
    graph = program(TEXT)
    sections = checked(graph, (), None)
    assert [one.key for one in sections] == ["gradient", "time", "memory", "components"]
    rows = sections_json(sections, graph)
    assert rows[-1]["answers"] == [
        {"text": "5 nodes: x, a, v, y, backward_1", "nodes": ["x", "a", "v", "y", "backward_1"], "figure": None}
    ]
    assert "  - 5 nodes: x, a, v, y, backward_1" in section_lines(sections)


def test_a_name_that_is_not_there_is_said_with_some_that_are() -> None:
    note = section(checked(program(TEXT), (), ("x", "q")), "between").note
    assert note == "Nothing is called 'q'. Take a name of this report, such as x, a, v, y, backward_1."
    assert section(checked(program(TEXT), (), ("x", "y")), "between").answers[0].text == "2 nodes: a, v"
    assert [one.note for one in checked(Graph(), (), ("x", "y"))] == [EMPTY]


def test_inside_a_group_the_questions_are_about_the_group() -> None:
    text = "def f(a, b):\n    h = a * b\n    return h + a\nx = torch.ones(2)\ny = f(x, x)"
    shown = open_group(program(text), "f")
    pair = INPUTS_CARD, OUTPUTS_CARD
    sections = answers(msgspec.structs.replace(asked(shown), pair=pair))
    assert section(sections, "between").answers[0].text == "2 nodes: h, +"
    assert section(sections, "components").answers[0].items[0] == INPUTS_CARD
