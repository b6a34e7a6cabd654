"""Calls of modules whose maker is known: ports named as `forward` names them, arguments by name."""

import msgspec
import pytest

from gradstudio.graph import recipes
from gradstudio.graph.analysis.program_analysis import incomplete
from gradstudio.graph.edits import AddWire, apply
from gradstudio.graph.model import ItemId, Wire
from gradstudio.graph.ports.item_ports import find_port, input_ports
from gradstudio.graph.ports.module_calls import described_by
from gradstudio.graph.rules import why_not
from gradstudio.operators.model import Kind
from gradstudio.program.write import write_code
from tests.graph.builder import Drawing


@pytest.fixture
def d() -> Drawing:
    return Drawing()


def labels(d: Drawing, call: ItemId) -> dict[str, str]:
    return {port.path: port.label for port in input_ports(d.graph, call)}


def last_line(d: Drawing) -> str:
    return write_code(d.graph)[0].splitlines()[-1]


def attention(d: Drawing) -> tuple[ItemId, ItemId]:
    """A call of attention with all that it must have, and the tensor it is given."""
    x = d.add("torch.randn", name="x", size="(2, 5, 8)")
    call = d.add("torch.nn.MultiheadAttention")
    for port in ("inputs.0", "inputs.1", "inputs.2"):
        d.wire(x, call, port)
    return call, x


def test_a_module_comes_with_a_port_for_each_input_it_must_have(d: Drawing) -> None:
    call = d.add("torch.nn.MultiheadAttention")
    assert labels(d, call) == {
        "module": "module", "inputs.0": "query", "inputs.1": "key", "inputs.2": "value",
        "key_padding_mask": "key_padding_mask", "need_weights": "need_weights", "attn_mask": "attn_mask",
        "average_attn_weights": "average_attn_weights", "is_causal": "is_causal",
    }  # fmt: skip
    assert [port.required for port in input_ports(d.graph, call)] == [True] * 4 + [False] * 5
    assert incomplete(d.graph)[call] == "'query' is empty"


def test_what_is_optional_is_printed_by_name(d: Drawing) -> None:
    call, _ = attention(d)
    mask = d.add("torch.zeros", name="mask", size="(5, 5)")
    d.wire(mask, call, "attn_mask")
    d.do(recipes.set_literal(d.graph, call, "need_weights", "False"))
    assert "    x, x, x, need_weights=False, attn_mask=mask\n" in write_code(d.graph)[0]
    d.undo()
    d.undo()
    assert "attention(x, x, x)\n" in write_code(d.graph)[0]


def test_the_rule_book_knows_what_an_argument_takes(d: Drawing) -> None:
    call, _ = attention(d)
    n = d.add("python.literal", value="3")
    assert "'attn_mask' takes a tensor" in why_not(d.graph, n, 0, call, "attn_mask")
    assert not why_not(d.graph, n, 0, call, "need_weights")
    assert "has no argument 'mask'" in why_not(d.graph, n, 0, call, "mask")


def test_a_state_has_a_port_for_each_of_its_tensors(d: Drawing) -> None:
    x, h = d.add("torch.randn", name="x", size="(3, 2, 4)"), d.add("torch.zeros", name="h", size="(1, 2, 8)")
    call = d.add("torch.nn.LSTM")
    d.wire(x, call, "inputs.0")
    d.do(recipes.split_list(d.graph, call, "hx", 2))
    d.wire(h, call, "hx.0")
    d.wire(h, call, "hx.1")
    assert last_line(d).endswith("lstm(x, hx=(h, h))")


def test_the_maker_is_found_behind_other_names_and_switches(d: Drawing) -> None:
    call = d.add("torch.nn.EmbeddingBag")
    module = d.graph.wires_to(call)[0].source
    same = d.add("python.alias", module)
    other = d.add("python.call", same)
    assert labels(d, other)["inputs.0"] == "input"
    assert {"offsets", "per_sample_weights"} <= labels(d, other).keys()
    assert described_by(d.graph, other) == "torch.nn.EmbeddingBag"


def test_a_container_takes_anything(d: Drawing) -> None:
    call = d.add("torch.nn.Sequential")
    assert list(labels(d, call).values()) == ["module", "inputs[0]", "+"]


def test_another_module_has_its_own_ports(d: Drawing) -> None:
    call, x = attention(d)
    linear = d.graph.wires_to(d.add("torch.nn.Linear"))[0].source
    d.do(recipes.disconnect_all(d.graph, tuple(w for w in d.graph.wires_to(call) if w.port != "inputs.0")))
    d.do(recipes.connect(d.graph, linear, 0, call, "module"))
    assert labels(d, call) == {"module": "module", "inputs.0": "input"}
    assert d.graph.wire_into(call, "inputs.0") == Wire(x, 0, call, "inputs.0")


def test_inputs_keep_their_places_when_a_wire_is_cut(d: Drawing) -> None:
    call, _ = attention(d)
    d.do(recipes.disconnect(d.graph, d.graph.wires[call, "inputs.1"]))
    assert incomplete(d.graph)[call] == "'key' is empty"
    assert d.graph.wire_into(call, "inputs.2") is not None


def test_behind_an_optional_input_that_was_cut_the_rest_is_given_by_name(d: Drawing) -> None:
    call, x = attention(d)
    node = d.graph.nodes[call]
    d.do(d_edit(d, msgspec.structs.replace(node, lengths={"inputs": 5}, literals={"inputs.4": "False"})))
    apply(d.graph, AddWire(Wire(x, 0, call, "inputs.3")))
    assert last_line(d).endswith("attention(x, x, x, x, False)")
    d.do(recipes.disconnect(d.graph, d.graph.wires[call, "inputs.3"]))
    assert last_line(d).endswith("attention(x, x, x, need_weights=False)")
    d.undo()
    assert last_line(d).endswith("attention(x, x, x, x, False)")


@pytest.mark.parametrize(
    ("literals", "lengths", "reason"),
    [
        ({"mask": "None"}, 3, "MultiheadAttention takes no argument 'mask'"),
        ({"query": "None"}, 3, "'query' is given twice"),
        ({}, 2, "'value' is empty"),
    ],
)
def test_what_the_module_does_not_take_is_told(d: Drawing, literals: dict[str, str], lengths: int, reason: str) -> None:
    call, _ = attention(d)
    if lengths < 3:
        d.do(recipes.disconnect(d.graph, d.graph.wires[call, "inputs.2"]))
    node = d.graph.nodes[call]
    d.do(d_edit(d, msgspec.structs.replace(node, lengths={"inputs": lengths}, literals=literals)))
    assert incomplete(d.graph)[call] == reason
    for name in literals:
        assert find_port(d.graph, call, name) is not None, "it can be seen and taken away"


def test_of_an_unknown_module_any_name_is_kept(d: Drawing) -> None:
    x = d.add("torch.ones", name="x", size="(2,)")
    call = d.add("torch.nn.Sequential")
    d.wire(x, call, "inputs.0")
    d.do(d_edit(d, msgspec.structs.replace(d.graph.nodes[call], literals={"scale": "2"})))
    assert "y = model(x, scale=2)" in last_line(d)
    port = find_port(d.graph, call, "scale")
    assert port is not None and port.parameter.kind is Kind.ANY


def d_edit(d: Drawing, node: object) -> tuple[object, ...]:
    """The edit that puts a node in the place of the one it was."""
    draft = recipes.Draft(d.graph)
    draft.put(node)  # type: ignore[arg-type]  # a node
    return draft.finish()
