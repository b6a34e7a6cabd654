"""What a card shows of a run: heights agree with texts, states have their own words."""

import itertools

import numpy as np
import pytest

from gradstudio.graph.model import ItemId
from gradstudio.operators.model import Family
from gradstudio.protocol.messages.events import GradRow
from gradstudio.protocol.messages.inference import LeafInference, PortInference
from gradstudio.protocol.messages.records import (
    ArrayRecord,
    GradState,
    ModuleRecord,
    ObjectRecord,
    OptimizerRecord,
    PlainRecord,
    Preview,
    Record,
    Summary,
    TensorRecord,
    TupleRecord,
)
from gradstudio.scene.card.parameter_rows import leaves_heights
from gradstudio.scene.card.result_sections import result_sections, well_heights
from gradstudio.scene.card.section_heights import PROBLEM, PROBLEM_ROOM, reserved_height
from gradstudio.scene.overlay_registry import Shown
from gradstudio.scene.results import NoResults

NODE = ItemId("n")


class Told(NoResults):
    """Results put in by hand."""

    def __init__(self, *records: Record, grad: GradRow | None = None, expected: PortInference | None = None) -> None:
        self._records, self._grad, self._expected = records, grad, expected

    def outputs(self, node: ItemId) -> tuple[Record, ...] | None:
        return self._records or None

    def grad(self, node: ItemId, output: int = 0, path: str = "") -> GradRow | None:
        return self._grad if output == 0 and not path else None

    def inference(self, node: ItemId, output: int = 0) -> PortInference | None:
        return self._expected if output == 0 else None


def tensor(*shape: int, value: object = None, **more: object) -> TensorRecord:
    rows, columns = (shape[-2], shape[-1]) if len(shape) > 1 else (1, shape[-1] if shape else 1)
    data = np.zeros((min(rows, 32), min(columns, 32)), np.float32)
    preview = Preview(data.shape[0], data.shape[1], data.tobytes())
    summary = Summary(dtype="float32", shape=shape, minimum=0.0, maximum=1.0, rms=0.5, value=value, preview=preview)
    return TensorRecord(device="cpu", summary=summary, **more)  # type: ignore[arg-type]


def gradient(record: TensorRecord, state: GradState = "value") -> GradRow:
    return GradRow(node=NODE, state=state, grad=record.summary if state in ("value", "accumulated") else None)


SCALAR = tensor(value=3.0, grad_fn="MulBackward0")
VECTOR = tensor(7, value=[0.0] * 7)
MATRIX = tensor(2, 3, value=[[0.0] * 3] * 2)
PICTURE = tensor(64, 64, grad_fn="AddBackward0")
STRIP = tensor(200)
RECORDS: tuple[tuple[Record, ...], ...] = (
    (SCALAR,),
    (VECTOR,),
    (MATRIX,),
    (PICTURE,),
    (STRIP,),
    (tensor(0, 3),),
    (VECTOR, PICTURE),
    (PICTURE,) * 5,
    (PlainRecord(what="number", class_name="int", value=8),),
    (PlainRecord(what="none", class_name="NoneType"),),
    (TupleRecord(class_name="list", length=2, items=(SCALAR, VECTOR)),),
    (ModuleRecord(class_name="Linear", parameters={"weight": MATRIX, "bias": VECTOR}),),
    (OptimizerRecord(class_name="SGD", groups=({"lr": 0.1, "momentum": 0.0},)),),
    (ArrayRecord(dtype="float32", shape=(2,), value=[1.0, 2.0]),),
    (ObjectRecord(class_name="generator"),),
)


@pytest.mark.parametrize("records", RECORDS)
def test_the_quick_height_is_the_height_of_what_is_written(records: tuple[Record, ...]) -> None:
    first = records[0]
    rows = [None, GradRow(node=NODE, state="cut")]
    if isinstance(first, TensorRecord):
        rows += [gradient(first), gradient(first, "accumulated")]
    for row, switches in itertools.product(rows, itertools.product((True, False), repeat=5)):
        results, shown = Told(*records, grad=row), Shown(*switches)
        well = result_sections(results, NODE, ("a", "b"), shown)
        assert well_heights(results, NODE, shown).drawn == pytest.approx(well.height)
        assert well.height >= sum(section.height for section in well.sections)


def test_nothing_is_shown_before_a_run_but_expected_shapes() -> None:
    expected = PortInference(node=NODE, dtype="float32", shape=(2, 3))
    well = result_sections(Told(expected=expected), NODE, ("y",), Shown())
    assert well.hints == {0: "[2, 3]"}
    assert well.guessed == {0}
    assert well.height == 0


def test_after_a_run_shapes_are_no_guesses() -> None:
    well = result_sections(Told(MATRIX), NODE, ("y",), Shown())
    assert well.hints == {0: "[2, 3]"}
    assert not well.guessed
    assert result_sections(Told(MATRIX), NODE, ("y",), Shown(shapes=False)).hints == {}


def test_what_inference_refuses_is_shown_until_a_run() -> None:
    refused = PortInference(node=NODE, refusal="mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)")
    well = result_sections(Told(expected=refused), NODE, ("y",), Shown())
    assert well.problem.startswith("torch would refuse: mat1 and mat2")
    assert well.problem_kind == "warning"
    assert result_sections(Told(MATRIX, expected=refused), NODE, ("y",), Shown()).problem == ""


def test_what_would_be_refused_now_is_told_below_values_of_an_older_program_and_their_shape_goes() -> None:
    class Older(Told):
        def stale(self, node: ItemId) -> bool:
            return True

    refused = PortInference(node=NODE, refusal="mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)")
    plain, well = (result_sections(Older(MATRIX, expected=each), NODE, ("y",), Shown()) for each in (None, refused))
    assert well.problem.startswith("torch would refuse: mat1 and mat2") and well.problem_kind == "warning"
    assert well.sections == plain.sections and plain.hints and not well.hints
    assert (
        well.height == plain.height + PROBLEM_ROOM == well_heights(Older(MATRIX, expected=refused), NODE, Shown()).drawn
    )


@pytest.mark.parametrize("state", ["not_run", "cut", "not_required", "not_retained", "not_reached"])
def test_a_state_without_a_value_has_words_and_no_number(state: GradState) -> None:
    well = result_sections(Told(SCALAR, grad=GradRow(node=NODE, state=state)), NODE, ("y",), Shown())
    found = well.sections[0].gradient
    assert found is not None
    assert found.words
    assert found.display is None


def test_a_gradient_of_zero_is_a_value() -> None:
    zero = tensor(value=0.0)
    well = result_sections(Told(SCALAR, grad=gradient(zero)), NODE, ("y",), Shown())
    found = well.sections[0].gradient
    assert found is not None
    assert found.display is not None
    assert found.display.text == "0"


def test_a_large_gradient_shows_its_norm() -> None:
    well = result_sections(Told(PICTURE, grad=gradient(PICTURE)), NODE, ("y",), Shown())
    found = well.sections[0].gradient
    assert found is not None
    assert found.display is not None
    assert found.display.lines[0][0] == ("‖∇‖ 32",)


def test_each_overlay_is_switched_alone() -> None:
    results = Told(SCALAR, grad=gradient(SCALAR))
    full = result_sections(results, NODE, ("y",), Shown()).sections[0]
    assert full.facts == ("float32 · cpu · MulBackward0", "float32 · MulBackward0", "float32")
    without_function = result_sections(results, NODE, ("y",), Shown(grad_fn=False)).sections[0]
    assert without_function.facts == ("float32 · cpu", "float32")
    assert result_sections(results, NODE, ("y",), Shown(dtype_device=False)).sections[0].facts == ("MulBackward0",)
    assert result_sections(results, NODE, ("y",), Shown(values=False)).sections[0].value is None
    assert result_sections(results, NODE, ("y",), Shown(gradients=False)).sections[0].gradient is None


def test_several_results_are_told_apart_by_name() -> None:
    well = result_sections(Told(VECTOR, PICTURE), NODE, ("values", "indices"), Shown())
    assert [section.heading for section in well.sections] == ["values", "indices"]


def test_nan_is_said_in_words_beside_the_picture() -> None:
    summary = Summary(
        dtype="float32", shape=(32, 32), minimum=0.0, maximum=1.0, nan=512, preview=PICTURE.summary.preview
    )
    well = result_sections(Told(TensorRecord(device="cpu", summary=summary)), NODE, ("y",), Shown())
    value = well.sections[0].value
    assert value is not None
    assert (("50 % NaN", "NaN"), "bad") in value.lines


@pytest.mark.parametrize(
    "record", [SCALAR, VECTOR, MATRIX, PICTURE, STRIP], ids=lambda record: str(record.summary.shape)
)
def test_a_card_has_the_room_for_its_values_before_they_come(record: TensorRecord) -> None:
    for switches in itertools.product((True, False), repeat=5):
        shown = Shown(*switches)
        expected = PortInference(node=NODE, dtype="float32", shape=record.summary.shape, requires_grad=True)
        families = (Family.TENSOR,)
        before = well_heights(Told(expected=expected), NODE, shown, families)
        ran = well_heights(Told(record, expected=expected), NODE, shown, families)
        back = well_heights(Told(record, grad=gradient(record), expected=expected), NODE, shown, families)
        assert before.room == ran.room == back.room
        assert before.drawn == 0.0 and ran.drawn <= ran.room and back.drawn <= back.room


def room(results: Told, families: tuple[Family, ...]) -> float:
    return well_heights(results, NODE, Shown(), families).room


def test_a_card_of_which_nothing_is_known_has_room_for_a_picture() -> None:
    before = room(Told(), (Family.TENSOR,))
    assert before == room(Told(PICTURE, grad=gradient(PICTURE)), (Family.TENSOR,))
    assert room(Told(), (Family.NONE,)) == 0
    linear = ModuleRecord(class_name="Linear", parameters={"weight": MATRIX, "bias": VECTOR})
    assert room(Told(), (Family.MODULE,)) == room(Told(linear), (Family.MODULE,))


def test_a_card_that_cannot_run_yet_shows_the_words_that_say_so_and_keeps_its_room() -> None:
    class Incomplete(Told):
        def incomplete(self, node: ItemId) -> str:
            return "'input' is empty"

    families = (Family.TENSOR, Family.TENSOR)
    heights = well_heights(Incomplete(), NODE, Shown(), families)
    assert heights.drawn == PROBLEM == result_sections(Incomplete(), NODE, ("y", "w"), Shown()).height
    assert heights.room == room(Told(), families)
    refused = PortInference(node=NODE, refusal="mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5) " * 2)
    assert well_heights(Told(expected=refused), NODE, Shown(), families).drawn == PROBLEM_ROOM


def test_before_a_run_the_expected_dtype_stands_with_the_shape() -> None:
    expected = PortInference(node=NODE, dtype="float32", shape=(2, 3), device="cpu")
    assert result_sections(Told(expected=expected), NODE, ("y",), Shown()).expected == "float32"
    elsewhere = PortInference(node=NODE, dtype="float32", shape=(2, 3), device="cuda:0")
    assert result_sections(Told(expected=elsewhere), NODE, ("y",), Shown()).expected == "float32 cuda:0"
    assert result_sections(Told(MATRIX, expected=expected), NODE, ("y",), Shown()).expected == ""


def test_numbers_and_pictures_have_their_gradients_beside_them_and_cells_below() -> None:
    def sides(record: TensorRecord) -> bool:
        return result_sections(Told(record, grad=gradient(record)), NODE, ("y",), Shown()).sections[0].beside

    assert sides(SCALAR) and sides(PICTURE) and sides(STRIP)
    assert not sides(VECTOR) and not sides(MATRIX)
    alone, both = (well_heights(Told(SCALAR, grad=row), NODE, Shown()).drawn for row in (None, gradient(SCALAR)))
    assert alone == both


def test_a_vector_of_more_than_five_reads_in_two_lines_with_the_numbers_of_their_first_elements() -> None:
    value = result_sections(Told(VECTOR), NODE, ("y",), Shown()).sections[0].value
    assert value is not None
    assert [len(row) for row in value.cells] == [5, 2]
    assert value.lead == ("0:", "5:")
    short = result_sections(Told(tensor(3, value=[1.0, 2.0, 3.0])), NODE, ("y",), Shown()).sections[0].value
    assert short is not None
    assert short.lead == ()


@pytest.mark.parametrize("shape", [(64, 64), (200,)])
def test_a_tensor_that_is_all_one_number_says_it(shape: tuple[int, ...]) -> None:
    preview = Preview(1, 32, np.full(32, 0.03125, np.float32).tobytes())
    summary = Summary(dtype="float32", shape=shape, minimum=0.03125, maximum=0.03125, rms=0.03125, preview=preview)
    record = TensorRecord(device="cpu", summary=summary, requires_grad=True)
    row = GradRow(node=NODE, state="value", grad=summary)
    (section,) = result_sections(Told(record, grad=row), NODE, ("y",), Shown()).sections
    assert section.value is not None
    assert section.value.text == "all 0.0312"
    assert section.gradient is not None
    assert section.gradient.display is not None
    assert section.gradient.display.text == "all 0.0312"
    assert section.gradient.display.tone == "gradient"


def test_before_a_backward_nothing_is_said_of_a_gradient_that_is_not_required() -> None:
    plain = TensorRecord(device="cpu", summary=MATRIX.summary)
    (section,) = result_sections(Told(plain), NODE, ("y",), Shown()).sections
    assert section.gradient is None
    required = TensorRecord(device="cpu", summary=MATRIX.summary, requires_grad=True)
    (section,) = result_sections(Told(required), NODE, ("y",), Shown()).sections
    assert section.gradient is not None
    assert section.gradient.state == "not_run"
    (section,) = result_sections(Told(plain, grad=gradient(plain, "not_required")), NODE, ("y",), Shown()).sections
    assert section.gradient is not None


def test_a_leaf_has_no_room_for_a_grad_fn_it_will_not_have() -> None:
    expected = PortInference(node=NODE, dtype="float32", shape=(), requires_grad=True)
    leaf = TensorRecord(device="cpu", summary=SCALAR.summary, requires_grad=True, is_leaf=True)
    told = Told(leaf, grad=gradient(leaf), expected=expected)
    bare, families = Shown(dtype_device=False), (Family.TENSOR,)
    before = well_heights(Told(expected=expected), NODE, bare, families, leaf=True)
    assert before.room == well_heights(told, NODE, bare, families, leaf=True).room
    assert before.room < well_heights(Told(expected=expected), NODE, bare, families).room


def test_what_inference_does_not_know_keeps_the_room_that_it_had_or_has_what_a_run_shows_it_needs() -> None:
    families = (Family.TENSOR,)
    before = room(Told(), families)
    assert room(Told(SCALAR), families) == before
    assert room(Told(SCALAR, grad=gradient(SCALAR)), families) == before
    large = Told(TensorRecord(device="cpu", summary=Summary(dtype="float32", shape=(30, 1), value=[[0.5]] * 30)))
    assert room(large, families) >= before


def test_a_value_that_was_written_into_since_says_so_beside_its_port() -> None:
    class Written(Told):
        def version_now(self, storage: int) -> int:
            return 1 if storage == 7 else 0

    def hint(storage: int, version: int) -> str:
        summary = Summary(dtype="float32", shape=(4,))
        record = TensorRecord(device="cpu", summary=summary, storage=storage, version=version)
        return result_sections(Written(record), NODE, ("v",), Shown()).hints[0]

    assert (hint(7, 0), hint(7, 1), hint(8, 0)) == ("[4] v0→v1", "[4] v1", "[4]")


@pytest.mark.parametrize("leaf", [False, True])
@pytest.mark.parametrize("families", [(), (Family.TENSOR,), (Family.NUMBER,), (Family.TENSOR, Family.TUPLE)])
def test_the_height_of_a_card_nobody_said_anything_of_agrees_too(families: tuple[Family, ...], leaf: bool) -> None:
    for shown in (Shown(), Shown(grad_fn=False), Shown(values=False), Shown(gradients=False)):
        heights = well_heights(NoResults(), NODE, shown, families, leaf)
        assert heights.drawn == 0.0 == result_sections(NoResults(), NODE, ("y",), shown).height
        assert heights.room == reserved_height(NoResults(), NODE, shown, families, leaf)


@pytest.mark.parametrize("count", range(9))
def test_the_card_of_a_module_does_not_outgrow_its_room_when_its_leaves_are_known(count: int) -> None:
    leaves = tuple([LeafInference(f"layer.{k}", (3, 2), "float32", requires_grad=True) for k in range(count)])
    told = Told(expected=PortInference(node=NODE, leaves=leaves))
    before, _ = leaves_heights(NoResults(), NODE, Shown(), unfolded=False)
    assert leaves_heights(told, NODE, Shown(), unfolded=False)[0] <= before
