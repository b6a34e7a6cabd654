"""Values that are shown as they were, and who wrote into their memory since."""

from gradstudio.advice.diagnosis.overwritten_values import overwritten_by
from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.events import Row
from gradstudio.protocol.messages.records import Summary, TensorRecord
from tests.graph.builder import Drawing


def row(step: int, node: ItemId, storage: int, version: int) -> Row:
    summary = Summary(dtype="float32", shape=(2,))
    return Row(
        step=step,
        node=node,
        outputs=(TensorRecord(device="cpu", summary=summary, storage=storage, version=version),),
    )


def test_the_last_writer_is_named_for_the_value_and_for_its_views_and_not_for_readers():
    d = Drawing()
    y = d.add("torch.ones", name="y", size="(2,)")
    v = d.add("torch.Tensor.view", y, name="v", shape="(2,)")
    first = d.add("torch.Tensor.mul_", v, other="10")
    other = d.add("torch.exp", y, name="other")
    second = d.add("torch.Tensor.add_", v, other="1")
    seen = d.add("torch.Tensor.view", y, name="seen", shape="(2,)")
    rows = [
        row(1, y, 5, 0), row(2, v, 5, 0), row(3, first, 5, 1), row(4, other, 6, 0), row(5, second, 5, 2),
        row(6, seen, 5, 2),
    ]  # fmt: skip
    assert overwritten_by(d.graph, rows[0], 0, rows[1:]) == second
    assert overwritten_by(d.graph, rows[1], 0, rows[2:3]) == first, "as of that moment"
    assert overwritten_by(d.graph, rows[3], 0, rows[4:]) is None
    assert overwritten_by(d.graph, rows[4], 0, rows[5:]) is None, "a view made later only reads"


def test_a_write_that_gives_no_result_is_known_by_the_programs_text():
    d = Drawing()
    x = d.add("torch.ones", name="x", size="(2,)")
    item = d.add("operator.setitem", x)
    made = row(1, x, 7, 0)
    assert overwritten_by(d.graph, made, 0, [Row(step=2, node=item, outputs=())]) == item
