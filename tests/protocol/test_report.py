"""The report as data: every kind of value has the fields that machines rely on (semantics §13)."""

import json

import msgspec
import pytest

from gradstudio.graph.model import ItemId
from gradstudio.protocol.messages.backward_trace import AutogradRow, BackwardTraced, WireGrad
from gradstudio.protocol.messages.debugging import Clash, Culprit
from gradstudio.protocol.messages.events import NamedEntry, Report, Row
from gradstudio.protocol.messages.records import (
    ArrayRecord,
    ModuleRecord,
    ObjectRecord,
    OptimizerRecord,
    PlainRecord,
    Record,
    Summary,
    TensorRecord,
    TupleRecord,
)
from gradstudio.protocol.report import clash_json, entries_json, record_json, trace_json, wires_json

ROW = Summary(dtype="float32", shape=(2,), minimum=1.5, maximum=2.0, mean=1.75, value=(1.5, 2.0))
ROWS = TensorRecord(device="cpu", summary=ROW, stride=(1,), requires_grad=True, grad=ROW, grad_state="value")


def test_a_tensor_has_all_the_fields_of_the_report() -> None:
    assert record_json(ROWS) == {
        "kind": "tensor",
        "dtype": "float32",
        "shape": [2],
        "stride": [1],
        "device": "cpu",
        "requires_grad": True,
        "is_leaf": True,
        "grad_fn": None,
        "version": 0,
        "value": (1.5, 2.0),
        "min": 1.5,
        "max": 2.0,
        "mean": 1.75,
        "nan": 0,
        "posinf": 0,
        "neginf": 0,
        "grad": (1.5, 2.0),
        "grad_state": "value",
        "grad_min": 1.5,
        "grad_max": 2.0,
        "grad_mean": 1.75,
    }


def test_a_tensor_without_strides_or_gradient_says_null() -> None:
    plain = record_json(TensorRecord(device="cpu", summary=ROW))
    assert plain["stride"] is None
    assert plain["grad"] is None
    assert plain["grad_state"] == "not_run"


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (PlainRecord(what="number", class_name="int", value=3), {"kind": "number", "class": "int", "value": 3}),
        (PlainRecord(what="none", class_name="NoneType"), {"kind": "none", "class": "NoneType", "value": None}),
        (
            TupleRecord(class_name="list", length=70, items=(PlainRecord(what="text", class_name="str", value="a"),)),
            {
                "kind": "tuple",
                "class": "list",
                "length": 70,
                "items": [{"kind": "text", "class": "str", "value": "a"}],
            },
        ),
        (
            OptimizerRecord(class_name="SGD", groups=({"lr": 0.1},)),
            {"kind": "optimizer", "class": "SGD", "groups": [{"lr": 0.1}]},
        ),
        (
            ArrayRecord(dtype="float64", shape=(1, 2), value=((1.0, 2.0),)),
            {"kind": "array", "dtype": "float64", "shape": [1, 2], "value": ((1.0, 2.0),)},
        ),
        (ObjectRecord(class_name="Generator"), {"kind": "object", "class": "Generator"}),
    ],
    ids=["number", "none", "tuple", "optimizer", "array", "object"],
)
def test_other_values_say_what_they_are(record: Record, expected: dict[str, object]) -> None:
    assert record_json(record) == expected


def test_a_module_tells_its_parameters_and_buffers_by_name() -> None:
    module = record_json(ModuleRecord(class_name="Linear", training=False, parameters={"weight": ROWS}))
    assert (module["kind"], module["class"], module["training"], module["buffers"]) == ("module", "Linear", False, {})
    assert module["parameters"]["weight"] == record_json(ROWS)


def test_entries_stand_under_their_names_and_say_which_output_they_are_if_they_are_one_of_several() -> None:
    one = NamedEntry(name="y", node=ItemId("n1"), operator="torch.relu", line=7, outputs=(ROWS,))
    other = NamedEntry(name="values", node=ItemId("n2"), operator="torch.max", line=8, output=0)
    report = Report(revision=1, entries=(one, other))
    found, _ = entries_json(report, frozenset({"y", "values"}))
    assert found["y"] == {"id": "n1", "operator": "torch.relu", "line": 7, "outputs": [record_json(ROWS)]}
    assert found["values"]["output"] == 0


def test_a_trace_lists_what_ran_and_then_what_each_autograd_node_got_and_gave() -> None:
    rows = (Row(step=3, node=ItemId("n1"), outputs=(ROWS,), turns=(1,), pass_number=2),)
    backward = (
        AutogradRow(backward=1, autograd="ReluBackward0", node=ItemId("n1"), incoming=(ROW,), outgoing=(None,)),
        AutogradRow(backward=1, autograd="AccumulateGrad", node=ItemId("")),
    )
    ran, relu, leaf = trace_json(rows, backward, {ItemId("n1"): "y"})
    assert ran == {"step": 3, "node": "y", "turns": [1], "pass": 2, "outputs": [record_json(ROWS)]}
    assert (relu["autograd"], relu["node"], relu["outgoing"]) == ("ReluBackward0", "y", [None])
    assert relu["incoming"][0]["mean"] == 1.75
    assert leaf["node"] is None


def test_the_report_is_json() -> None:
    entry = NamedEntry(name="y", node=ItemId("n1"), operator="torch.relu", line=7, outputs=(ROWS,))
    step = NamedEntry(name="step_1", node=ItemId("n2"), operator="torch.optim.Optimizer.step", line=8)
    net = NamedEntry(name="Net", node=ItemId(""), operator="", line=0)
    report = Report(revision=1, entries=(entry, step), defined=(net, msgspec.structs.replace(net, name="F")))
    nodes, statements = json.loads(json.dumps(entries_json(report, frozenset({"y", "Net", "gone"}))))
    assert nodes["y"]["outputs"][0]["value"] == [1.5, 2.0]
    assert (set(nodes), set(statements)) == ({"y", "Net", "F"}, {"step_1"})
    others, _ = entries_json(report, frozenset({"y"}), frozenset({"F"}))
    assert set(others) == {"y", "Net"}  # no text binds it: it was made as the program ran


def test_what_each_user_sent_back_along_each_wire_is_told() -> None:
    wire = WireGrad(source=ItemId("n1"), target=ItemId("n2"), port="other", turns=(3,), grad=ROW)
    nothing = WireGrad(source=ItemId("n1"), target=ItemId("n3"), port="input")
    traced = BackwardTraced(revision=1, rows=(), wires=(wire, nothing), backward=2)
    first, second = wires_json([traced], {ItemId("n1"): "x", ItemId("n2"): "y"})
    assert (first["backward"], first["source"], first["target"], first["port"]) == (2, "x", "y", "other")
    assert first["turns"] == [3] and first["grad"]["value"] == ROW.value
    assert (second["target"], second["grad"]) == ("n3", None)


def test_a_clash_names_victim_value_and_culprits_by_address() -> None:
    culprit = Culprit(node=ItemId("n3"), address="iadd_1", line=5, version=1)
    clash = Clash(
        victim=ItemId("n2"), victim_line=4, autograd="ExpBackward0", saved="result", value=ItemId("n2"),
        saved_version=0, version=1, culprits=(culprit,),
    )  # fmt: skip
    data = clash_json(clash, {ItemId("n2"): "y", ItemId("n3"): "iadd_1"})
    assert (data["victim"], data["value"], data["saved"], data["line"]) == ("y", "y", "result", 4)
    assert (data["saved_version"], data["version"]) == (0, 1)
    assert data["culprits"] == [{"node": "iadd_1", "line": 5, "version": 1, "turns": []}]
