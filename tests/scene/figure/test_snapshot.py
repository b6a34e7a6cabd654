"""What a figure says at a moment: in the forward what goes in, in a backward what comes back, at the end all of it."""

import itertools
import re

import msgspec
import pytest

from gradstudio.document.python.python_document import read_python
from gradstudio.graph.model import ItemId
from gradstudio.graph.text.item_titles import title
from gradstudio.protocol.messages.backward_trace import EdgeValue, WireGrad
from gradstudio.protocol.messages.events import GradRow
from gradstudio.protocol.messages.records import PlainRecord, Summary, TensorRecord
from gradstudio.protocol.timeline.model import Arrival, BackwardStep, Tick
from gradstudio.scene.figure.drawing import Formula, flat, upright
from gradstudio.scene.figure.figure_drawing import draw_figure
from gradstudio.scene.figure.figure_graph import FigureGraph
from gradstudio.scene.figure.figure_layout import lay_out
from gradstudio.scene.figure.figure_numbers import gradient_formula, sent_formula, value_formula
from gradstudio.scene.figure.formula_writer import FormulaWriter
from gradstudio.scene.figure.page_writer import page_text
from gradstudio.scene.figure.snapshot import EVERYTHING, NO_RUN, Asked, Snapshot, take_snapshot
from tests.helpers.drawing import GivenResults, scalar

TEXT = """import torch
d = 8
x = torch.tensor(3.0, requires_grad=True)
y = torch.exp(x)
z = torch.sin(y)
"""


class Moment(GivenResults):
    """Results as of one moment, with the step that is looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.step: BackwardStep | None = None

    def backward_step(self) -> BackwardStep | None:
        return self.step


class Told:
    """A small program, and what is known of its run."""

    def __init__(self) -> None:
        self.graph = read_python(TEXT).graph
        self.figure = FigureGraph(self.graph)
        self.results = Moment()
        self.items = {title(self.graph, item): item for item in self.graph.nodes}
        for name, value in (("x", 3.0), ("y", 20.1), ("z", 0.95)):
            self.results.records[self.items[name]] = (scalar(value),)

    def send(self, source: str, target: str, value: float) -> WireGrad:
        (wire,) = (w for w in self.graph.wires_from(self.items[source]) if w.target == self.items[target])
        sent = WireGrad(source=wire.source, target=wire.target, port=wire.port, place=0, grad=number(value))
        self.results.sent[wire] = sent
        return sent

    def at(self, name: str, phase: str) -> None:
        self.results.moment = 1
        backward = int(phase == "backward")
        self.results.active = Tick(1, 1, phase, self.items[name], (), 1, backward, 0, None, None)  # type: ignore[arg-type]  # a word

    def snapshot(self, asked: Asked = EVERYTHING) -> Snapshot:
        return take_snapshot(self.figure, self.results, asked, "a moment")

    def flows(self, snapshot: Snapshot) -> set[tuple[str, str]]:
        return {(title(self.graph, source), title(self.graph, target)) for source, target in snapshot.lit}


def number(value: float) -> Summary:
    return Summary(dtype="float32", shape=(), minimum=value, maximum=value, value=value)


def letters(formula: Formula) -> str:
    return "".join(run.text for run in formula)


def test_nothing_is_said_that_was_not_asked_for_and_nothing_without_a_run() -> None:
    told = Told()
    assert told.snapshot(Asked()) == NO_RUN._replace(caption="a moment")
    assert take_snapshot(told.figure, None, EVERYTHING) == NO_RUN


def test_values_and_shapes_stand_at_their_boxes_but_not_at_literals() -> None:
    told = Told()
    told.results.records[told.items["d"]] = (PlainRecord(class_name="x", what="number", value=8),)
    values = told.snapshot(Asked(values=True)).values
    assert {title(told.graph, item): letters(words) for item, words in values.items()} == {
        "x": "3",
        "y": "20.1",
        "z": "0.95",
    }


def test_gradients_stand_at_boxes_and_along_flows() -> None:
    told = Told()
    told.results.grads[told.items["x"]] = GradRow(node=told.items["x"], grad=number(-16.0))
    told.send("x", "y", 0.5)
    snapshot = told.snapshot()
    assert letters(snapshot.gradients[told.items["x"]]) == "∇ = −16"
    assert letters(snapshot.sent[told.items["x"], told.items["y"]]) == "0.5"
    assert told.snapshot(Asked(gradients=True)).sent == {}


def test_in_the_forward_what_goes_into_the_statement_is_lit_and_what_comes_later_is_known() -> None:
    told = Told()
    del told.results.records[told.items["z"]]
    told.at("y", "forward")
    snapshot = told.snapshot()
    assert (snapshot.active, snapshot.phase, told.flows(snapshot)) == (told.items["y"], "forward", {("x", "y")})
    assert told.items["z"] in snapshot.later
    assert told.items["y"] not in snapshot.later


def test_in_a_backward_what_arrives_and_what_leaves_is_lit_and_says_its_gradient() -> None:
    told = Told()
    leaving = told.send("x", "y", 0.5)
    told.send("y", "z", 0.25)
    y = told.items["y"]
    arrived = Arrival(EdgeValue(node=y, turns=()), number(0.25), ())
    told.at("y", "backward")
    told.results.step = BackwardStep(y, (), 1, 0, (), (arrived,), (leaving,), ())
    snapshot = told.snapshot(Asked(values=True))
    assert told.flows(snapshot) == {("x", "y"), ("y", "z")}
    assert {letters(words) for words in snapshot.sent.values()} == {"0.5", "0.25"}


def test_a_step_of_something_that_is_not_in_the_figure_lights_nothing() -> None:
    told = Told()
    told.at("y", "forward")
    told.figure = FigureGraph(told.graph, [told.items["x"]])
    snapshot = told.snapshot()
    assert (snapshot.active, snapshot.lit, snapshot.phase) == (ItemId(""), frozenset(), "forward")


MANY = Summary(dtype="float32", shape=(200, 32), minimum=-2.0, maximum=3.0, mean=0.5, rms=1.5)
VECTOR = Summary(dtype="float32", shape=(3,), minimum=-2.0, maximum=3.0, value=[-2.0, 1.0, 3.0])
TABLE = Summary(dtype="float32", shape=(2, 2), minimum=1.0, maximum=4.0, value=[[1.0, 2.0], [3.0, 4.0]])
SPOILT = Summary(dtype="float32", shape=(200,), nan=200)


@pytest.mark.parametrize(
    ("summary", "values", "shapes", "words"),
    [
        (VECTOR, True, False, "[−2, 1, 3]"),
        (TABLE, True, False, "[1, 2; 3, 4]"),
        (MANY, False, True, "200 × 32"),
        (VECTOR, True, True, "3,  [−2, 1, 3]"),
        (number(-0.5), True, False, "−0.5"),
        (MANY, False, False, ""),
    ],
)
def test_a_box_says_few_numbers_and_the_shape_of_many(summary: Summary, values: bool, shapes: bool, words: str) -> None:
    assert letters(value_formula(TensorRecord(device="cpu", summary=summary), values=values, shapes=shapes)) == words


def test_of_many_numbers_a_box_says_the_range_and_what_is_not_finite() -> None:
    of_many = letters(value_formula(TensorRecord(device="cpu", summary=MANY), values=True, shapes=False))
    assert "−2" in of_many
    assert "3" in of_many
    assert "NaN" in letters(value_formula(TensorRecord(device="cpu", summary=SPOILT), values=True, shapes=False))


def test_what_is_no_tensor_is_said_as_it_is_and_not_longer_than_there_is_room() -> None:
    assert (
        letters(value_formula(PlainRecord(class_name="x", what="number", value=-8), values=True, shapes=True)) == "−8"
    )
    assert (
        len(letters(value_formula(PlainRecord(class_name="x", what="text", value="a" * 99), values=True, shapes=False)))
        == 24
    )
    assert value_formula(PlainRecord(class_name="x", what="number", value=8), values=False, shapes=True) == ()


def test_a_gradient_is_a_number_or_a_norm_or_none() -> None:
    assert letters(gradient_formula(number(16.0))) == "∇ = 16"
    assert letters(gradient_formula(MANY)) == "‖∇‖ = 120"  # 1.5 · √6400
    assert gradient_formula(None) == ()
    assert letters(sent_formula(None)) == "none"
    assert letters(sent_formula(MANY)) == "‖∇‖ 120"
    assert letters(sent_formula(VECTOR)) == "[−2, 1, 3]"
    assert "NaN" in letters(gradient_formula(SPOILT))


def test_the_page_of_all_steps_says_what_differs_and_no_word_ends_its_script() -> None:
    told = Told()
    moments = []
    for name in ("x", "y"):
        told.at(name, "forward")
        moments.append(told.snapshot())
    layout = lay_out(told.figure, moments, FormulaWriter(told.graph))
    drawings = [draw_figure(layout, moment) for moment in moments]
    page = page_text(drawings, ["x = 3", "</script><b>"], "a < b", "2 steps & more")
    assert "a &lt; b" in page
    assert "2 steps &amp; more" in page
    assert "\\u003c/script>\\u003cb>" in page
    assert "{{" not in page
    assert not re.findall(r"(?:src|href)=\"(?!#)", page)
    same = page_text([drawings[0], drawings[0]], ["one", "two"], "same")
    assert '{"caption":"two","marks":{}}' in same
    assert '{"caption":"two","marks":{}}' not in page_text(drawings, ["one", "two"], "other")


STEP = """import torch
x = torch.tensor([1.0, 2.0])
w = torch.tensor(0.5, requires_grad=True)
opt = torch.optim.SGD(list([w]), lr=0.1)
pred = w * x
loss = (pred ** 2).mean()
opt.zero_grad()
loss.backward()
opt.step()
after = w * x
"""


@pytest.mark.parametrize("widest", [None, 252.0])
def test_what_changes_gradients_and_parameters_stands_in_its_order(widest: float | None) -> None:
    graph = read_python(STEP).graph
    figure = FigureGraph(graph)
    layout = lay_out(figure, [NO_RUN], FormulaWriter(graph), widest)
    items = {graph.nodes[item].operator.rsplit(".", 1)[-1]: item for item in figure.effects}
    (after,) = [item for item in figure.boxes if graph.nodes[item].names == ("after",)]
    chain = [layout.boxes[item] for item in (items["zero_grad"], items["backward"], items["step"], after)]
    is_down = widest is not None
    for one, other in itertools.pairwise(chain):
        assert (one.bottom <= other.y) if is_down else (one.right <= other.x)


def test_a_leaf_that_was_written_into_says_so() -> None:
    graph = read_python(STEP).graph
    figure, results = FigureGraph(graph), GivenResults()
    (w,) = [item for item in figure.boxes if graph.nodes[item].names == ("w",)]
    for version, words in ((0, "0.4"), (1, "0.4 (after 1 write)"), (3, "0.4 (after 3 writes)")):
        results.records[w] = (msgspec.structs.replace(scalar(0.4), version=version),)
        assert flat(take_snapshot(figure, results, EVERYTHING).values[w]) == words


def test_a_conversion_is_called_by_its_name_alone() -> None:
    graph = read_python(STEP).graph
    (opt,) = [item for item in FigureGraph(graph).boxes if graph.nodes[item].names == ("opt",)]
    assert "list(" in flat(FormulaWriter(graph).statement(opt))


def test_every_number_on_a_wire_is_within_the_figure() -> None:
    graph = read_python(STEP).graph
    figure = FigureGraph(graph)
    sent = {(flow.source, flow.target): upright("[−0.0809, −0.162, −0.243]") for flow in figure.flows}
    for widest in (None, 252.0):
        layout = lay_out(figure, [Snapshot(sent=sent)], FormulaWriter(graph), widest)
        assert layout.rooms
        for room in layout.rooms.values():
            assert room.x >= 0 and room.y >= 0 and room.right <= layout.size[0] and room.bottom <= layout.size[1]


def test_values_that_are_not_all_finite_say_their_range_too() -> None:
    summary = Summary(dtype="torch.float32", shape=(5, 5), minimum=-1.5, maximum=0.75, neginf=10)
    record = TensorRecord(device="cpu", summary=summary)
    assert flat(value_formula(record, values=True, shapes=False)) == "−1.5 … 0.75, 10 × −∞"
    assert flat(sent_formula(summary)) == "10 × −∞"


SKIP = """import torch
x = torch.ones(3, 3)
q = torch.sin(x)
k = torch.cos(x)
v = torch.tan(x)
scores = q @ k
weights = torch.softmax(scores, -1)
out = weights @ v
hidden = torch.relu(out)
final = hidden + x
loss = final.mean()
"""


@pytest.mark.parametrize("widest", [None, 252.0])
def test_a_chain_is_straight_and_what_is_passed_by_has_a_lane_of_its_own(widest: float | None) -> None:
    graph = read_python(SKIP).graph
    layout = lay_out(FigureGraph(graph), [NO_RUN], FormulaWriter(graph), widest)
    items = {graph.nodes[item].names[0]: item for item in layout.boxes if graph.nodes[item].names}
    axis = 1 if widest is None else 0
    middles = [
        layout.boxes[items[name]].center[axis] for name in ("scores", "weights", "out", "hidden", "final", "loss")
    ]
    assert max(middles) - min(middles) < 0.5
    lanes = {key: path.lane for key, path in layout.paths.items() if path.lane is not None}
    for one, other in itertools.combinations(lanes, 2):
        if one[0] != other[0] and lanes[one].left < lanes[other].right and lanes[other].left < lanes[one].right:
            assert abs(lanes[one].height - lanes[other].height) >= 5
    for target in ("out", "final"):  # what comes from one side arrives on that side
        arrivals = sorted(
            (path.lane.height if path.lane else layout.boxes[key[0]].center[axis], path.points[-1][axis])
            for key, path in layout.paths.items()
            if key[1] == items[target]
        )
        assert arrivals[0][1] < arrivals[1][1]
