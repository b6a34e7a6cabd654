"""The part of a card that follows from the graph: rows, fields, folding."""

import pytest

from gradstudio.graph import recipes
from gradstudio.graph.edits import apply_all
from gradstudio.graph.model import Graph, ItemId
from gradstudio.operators.model import Family
from gradstudio.program.reading.reader import read_script
from gradstudio.scene.card.card_layout import BODY_EDGE, HEADER, MAXIMUM_WIDTH, ROW, card_layout
from gradstudio.scene.card.frame_layout import frame_layout


def measure(text: str, role: str) -> float:
    return 7.0 * len(text)


def graph_with(*keys: str) -> tuple[Graph, list[ItemId]]:
    graph, items = Graph(), []
    for key in keys:
        edits, item = recipes.add_operator(graph, key, 0, 0)
        apply_all(graph, edits)
        items.append(item)
    return graph, items


def test_untouched_optional_arguments_are_folded_behind_one_row() -> None:
    graph, (item,) = graph_with("torch.nn.functional.mse_loss")
    layout = card_layout(graph, item, measure)
    assert [row.path for row in layout.inputs] == ["input", "target"]
    assert layout.hidden == 2
    assert layout.more is not None
    unfolded = card_layout(graph, item, measure, expanded=True)
    assert unfolded.hidden == 0
    assert {"reduction", "weight"} <= {row.path for row in unfolded.inputs}
    assert unfolded.height > layout.height


@pytest.mark.parametrize("key", ["torch.tensor", "torch.randn", "torch.zeros"])
def test_what_unfolds_the_rest_takes_no_row_where_an_output_has_one_for_itself(key: str) -> None:
    graph, (item,) = graph_with(key)
    for expanded in (False, True):
        layout = card_layout(graph, item, measure, expanded=expanded)
        (output,) = layout.outputs
        assert layout.more is not None
        assert layout.more.center[1] == output.y
        assert layout.more.right < layout.width / 2
        assert layout.height == HEADER + 2 * BODY_EDGE + ROW * (1 + len(layout.inputs))


def test_what_was_given_is_never_folded() -> None:
    graph, (item,) = graph_with("torch.nn.functional.mse_loss")
    apply_all(graph, recipes.set_literal(graph, item, "reduction", '"sum"'))
    layout = card_layout(graph, item, measure)
    assert layout.input("reduction") is not None


def test_literals_stand_in_fields_and_tensors_have_none() -> None:
    graph, (x, y) = graph_with("torch.tensor", "torch.matmul")
    data = card_layout(graph, x, measure).input("data")
    assert data is not None
    assert data.shown == "[1.0, 2.0, 3.0]"
    assert data.field is not None
    assert all(row.field is None for row in card_layout(graph, y, measure).inputs)


def test_a_wired_argument_has_no_field() -> None:
    graph, (x, y) = graph_with("torch.tensor", "operator.pow")
    before = card_layout(graph, y, measure).input("a")
    apply_all(graph, recipes.connect(graph, x, 0, y, "a"))
    after = card_layout(graph, y, measure).input("a")
    assert before is not None
    assert after is not None
    assert before.field is not None
    assert after.field is None


def test_rows_neither_overlap_nor_leave_the_card() -> None:
    graph, items = graph_with("torch.randn", "torch.matmul", "torch.nn.functional.conv2d", "torch.Tensor.topk")
    for item in items:
        layout = card_layout(graph, item, measure, expanded=True)
        ys = [row.y for row in layout.inputs]
        assert ys == sorted(set(ys))
        assert layout.width <= MAXIMUM_WIDTH
        for row in layout.inputs:
            assert HEADER < row.y < layout.height
            if row.field is not None:
                assert row.field.right <= layout.width
                for output in layout.outputs:
                    assert abs(output.y - row.y) > 1, "a field beside an output's shape"


def test_several_results_have_a_labelled_port_each() -> None:
    graph, (item,) = graph_with("torch.Tensor.topk")
    layout = card_layout(graph, item, measure)
    assert [row.label for row in layout.outputs] == list(graph.nodes[item].names)
    assert len({row.y for row in layout.outputs}) == 2


def test_the_header_names_the_variable_and_the_operator() -> None:
    graph, (item,) = graph_with("torch.nn.functional.mse_loss")
    layout = card_layout(graph, item, measure)
    assert (layout.names, layout.title) == ("loss", "mse_loss")


def test_an_unknown_operator_still_has_a_card() -> None:
    graph, (item,) = graph_with("torch.relu")
    node = graph.nodes[item]
    import msgspec

    graph.nodes[item] = msgspec.structs.replace(node, operator="torch.not_there", literals={"p": "1"})
    layout = card_layout(graph, item, measure)
    assert layout.unknown
    assert layout.title == "not_there"
    assert [row.path for row in layout.inputs] == ["p"]


@pytest.mark.parametrize(
    ("text", "family"), [("3.0", Family.NUMBER), ("[1.0, 2.0]", Family.TUPLE)], ids=["number", "list"]
)
def test_a_literal_decides_its_port(text: str, family: Family) -> None:
    graph, (item,) = graph_with("torch.tensor")
    apply_all(graph, recipes.set_literal(graph, item, "data", text))
    row = card_layout(graph, item, measure).input("data")
    assert row is not None
    assert row.family is family


def test_a_block_is_titled_as_python_writes_it() -> None:
    graph, (x,) = graph_with("torch.tensor")
    apply_all(graph, recipes.wrap(graph, [x], "no_grad"))
    layout = frame_layout(graph, next(iter(graph.blocks)), measure)
    assert layout.title == "with torch.no_grad():"
    assert layout.inputs == ()


def test_the_numbers_of_a_tensor_have_the_room_that_a_longer_name_below_leaves() -> None:
    graph, (item,) = graph_with("torch.tensor")
    fields = {row.path: row.field for row in card_layout(graph, item, measure).inputs}
    data, other = fields["data"], fields["requires_grad"]
    assert data is not None and other is not None
    assert data.x < other.x and data.right == other.right
    graph, (item,) = graph_with("torch.full")
    starts = {row.field.x for row in card_layout(graph, item, measure).inputs if row.field is not None}
    assert len(starts) == 1, "all others stand in one column"


def test_a_literal_ends_before_the_name_that_stands_beside_it() -> None:
    graph = read_script("BATCH_SIZE, EPSILON_DECAY, LR = 8, 1000, 0.001\n").graph
    (item,) = graph.nodes
    layout = card_layout(graph, item, measure)
    for row, output in zip(layout.inputs, layout.outputs, strict=False):
        assert row.field is not None
        assert row.y == output.y
        assert row.field.right <= layout.width - measure(output.label, "label")
