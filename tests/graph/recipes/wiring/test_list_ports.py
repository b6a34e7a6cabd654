"""Lists with a port per element: gaps close, elements change places, what was written comes back."""

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradstudio.graph import recipes
from gradstudio.graph.errors import Refused
from gradstudio.graph.model import ItemId
from gradstudio.graph.ports.item_ports import find_port, input_ports
from gradstudio.program.write import write_code
from tests.graph.builder import Drawing


@pytest.fixture
def d() -> Drawing:
    return Drawing()


def sources(d: Drawing, item: ItemId, parameter: str) -> list[str]:
    """What is wired to the elements, in their order; "-" for nothing."""
    count = d.graph.nodes[item].lengths[parameter]
    wires = [d.graph.wire_into(item, f"{parameter}.{k}") for k in range(count)]
    return ["-" if wire is None else d.graph.nodes[wire.source].names[0] for wire in wires]


def cat_of(d: Drawing, *names: str) -> ItemId:
    tensors = [d.add("torch.ones", name=name) for name in names]
    cat = d.add("torch.cat")
    for k, tensor in enumerate(tensors):
        d.wire(tensor, cat, f"tensors.{k}")
    return cat


def text(d: Drawing) -> str:
    return write_code(d.graph)[0]


def test_a_gap_in_a_list_closes_when_its_wire_is_taken_away(d: Drawing) -> None:
    cat = cat_of(d, "a", "b", "c")
    d.do(recipes.disconnect(d.graph, d.graph.wires[cat, "tensors.0"]))
    assert sources(d, cat, "tensors") == ["b", "c"]
    d.do(recipes.disconnect(d.graph, d.graph.wires[cat, "tensors.0"]))
    assert sources(d, cat, "tensors") == ["c", "-"]
    d.undo()
    d.undo()
    assert sources(d, cat, "tensors") == ["a", "b", "c"]


def test_a_deleted_tensor_leaves_no_gap(d: Drawing) -> None:
    cat = cat_of(d, "a", "b", "c", "e")
    d.do(recipes.delete(d.graph, [w.source for w in d.graph.wires_to(cat) if w.port in ("tensors.0", "tensors.2")]))
    assert sources(d, cat, "tensors") == ["b", "e"]


def test_the_sizes_of_a_shape_keep_their_places(d: Drawing) -> None:
    n = d.add("python.literal", name="n", value="3")
    x = d.add("torch.ones", size="(2, 4)")
    d.do(recipes.split_list(d.graph, x, "size", 2))
    d.wire(n, x, "size.0")
    d.do(recipes.disconnect(d.graph, d.graph.wires[x, "size.0"]))
    assert d.graph.nodes[x].literals["size.0"] == "2"
    assert d.graph.nodes[x].literals["size.1"] == "4"


def test_elements_change_places_by_drag_and_by_name(d: Drawing) -> None:
    cat = cat_of(d, "a", "b", "c")
    d.do(recipes.replace_target(d.graph, d.graph.wires[cat, "tensors.2"], cat, "tensors.0"))
    assert sources(d, cat, "tensors") == ["c", "b", "a"]
    d.do(recipes.move_element(d.graph, cat, "tensors", 0, 2))
    assert sources(d, cat, "tensors") == ["b", "a", "c"]
    d.do(recipes.replace_target(d.graph, d.graph.wires[cat, "tensors.0"], cat, "tensors.3"))
    assert sources(d, cat, "tensors") == ["a", "c", "b"]
    with pytest.raises(Refused, match="no such place"):
        recipes.move_element(d.graph, cat, "tensors", 0, 3)


def test_literals_among_the_elements_move_along(d: Drawing) -> None:
    x = d.add("torch.ones", name="x")
    shown = d.add("builtins.print")
    d.do(recipes.set_literal(d.graph, shown, "values.0", '"x is"'))
    d.wire(x, shown, "values.1")
    assert 'print("x is", x)' in text(d)
    d.do(recipes.move_element(d.graph, shown, "values", 0, 1))
    assert 'print(x, "x is")' in text(d)
    d.do(recipes.remove_element(d.graph, shown, "values", 0))
    assert 'print("x is")' in text(d)
    with pytest.raises(Refused, match="at least one"):
        recipes.remove_element(d.graph, shown, "values", 0)


def test_what_a_wire_took_the_place_of_comes_back(d: Drawing) -> None:
    x, k = d.add("torch.ones", name="x"), d.add("python.literal", name="k", value="2")
    y = d.add("operator.mul", x, b="0.5")
    wire = d.wire(k, y, "b")
    assert "b" not in d.graph.nodes[y].literals
    d.do(recipes.disconnect(d.graph, wire))
    assert d.graph.nodes[y].literals["b"] == "0.5"
    d.wire(k, y, "b")
    d.do(recipes.delete(d.graph, [k]))
    assert d.graph.nodes[y].literals["b"] == "0.5"


def test_an_index_with_names_is_wired_to_what_binds_them(d: Drawing) -> None:
    x = d.add("torch.ones", name="x", size="(4, 5, 6)")
    d.add("operator.gt", x, name="mask", b="0")
    d.add("python.literal", name="i", value="1")
    part = d.add("operator.getitem", x, name="part")
    d.do(recipes.set_value(d.graph, part, "index", "x[mask]"))
    assert "part = x[mask]" in text(d)
    d.do(recipes.disconnect(d.graph, d.graph.wires[part, "index.0"]))
    d.do(recipes.set_value(d.graph, part, "index.0", "i:3"))
    assert "part = x[i:3]" in text(d)
    assert [p.label for p in input_ports(d.graph, part)][1:] == ["index[0] start", "index[0] stop"]
    d.do(recipes.set_value(d.graph, part, "index.0.stop", ""))
    assert "part = x[i:]" in text(d)
    d.do(recipes.join_list(d.graph, part, "index"))
    d.do(recipes.set_value(d.graph, part, "index", "..., [0, 2], :i:2, None"))
    assert "part = x[..., [0, 2], :i:2, None]" in text(d)
    port = find_port(d.graph, part, "index.2.step")
    assert port is not None and port.literal == "2"


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("maks", "Did you mean 'mask'"),
        ("mask, j", "No value is named 'j'"),
        ("mask - 1", "is computed: make a node"),
        ("mask:1.5", "whole number"),
        ("mask, 1.5", "no index"),
        ("part", "cannot feed itself|No value|not a value"),
    ],
)
def test_a_wrong_index_is_refused_in_words_and_changes_nothing(d: Drawing, typed: str, words: str) -> None:
    x = d.add("torch.ones", name="x")
    d.add("operator.gt", x, name="mask", b="0")
    part = d.add("operator.getitem", x, name="part")
    with pytest.raises(Refused, match=words):
        recipes.set_value(d.graph, part, "index", typed)


def test_a_name_in_any_field_is_a_wire(d: Drawing) -> None:
    d.add("python.literal", name="n", value="3")
    x = d.add("torch.ones", name="x")
    d.do(recipes.set_value(d.graph, x, "size", "2, n"))
    assert "x = torch.ones(2, n)" in text(d)
    y = d.add("operator.mul", x, name="y")
    d.do(recipes.set_value(d.graph, y, "b", "n"))
    assert "y = x * n" in text(d)
    with pytest.raises(Refused, match="'n - 1' is computed"):
        recipes.set_value(d.graph, x, "size.0", "n - 1")


def test_an_index_is_split_at_its_commas_and_joined_again(d: Drawing) -> None:
    x = d.add("torch.ones", name="x")
    part = d.add("operator.getitem", x, index=":, [0, 1], 2:3")
    d.do(recipes.split_list(d.graph, part, "index", 3))
    assert d.graph.nodes[part].literals["index.1"] == "[0, 1]"
    d.do(recipes.join_list(d.graph, part, "index"))
    assert d.graph.nodes[part].literals["index"] == ":, [0, 1], 2:3"


def test_a_value_typed_behind_the_last_makes_the_list_longer(d: Drawing) -> None:
    shown = d.add("builtins.print")
    d.do(recipes.set_value(d.graph, shown, "values.0", '"a"'))
    d.do(recipes.set_value(d.graph, shown, "values.1", "2"))
    assert 'print("a", 2)' in text(d)


WORDS = "0 1 -2 0.5 x n mask maks : , ... None True inf π i [ ] ( ) - + * \" ' = . 2x3 float32 cuda mean × … “ ” é"
PIECES = st.sampled_from([*WORDS.split(), " "])
FIELDS = (
    ("operator.getitem", "index"),
    ("operator.mul", "b"),
    ("torch.ones", "size"),
    ("torch.sum", "dim"),
    ("torch.tensor", "data"),
    ("torch.full", "dtype"),
    ("torch.ones", "device"),
    ("builtins.print", "values.0"),
    ("torch.nn.functional.pad", "mode"),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=8).map("".join), st.sampled_from(FIELDS))
def test_whatever_is_typed_into_a_field_is_python_or_is_refused(typed: str, field: tuple[str, str]) -> None:
    d = Drawing()
    x = d.add("torch.ones", name="x")
    d.add("operator.gt", x, name="mask", b="0")
    d.add("python.literal", name="n", value="2")
    item = d.add(field[0], name="y" if field[0] != "builtins.print" else None)
    if field[0] in ("operator.getitem", "operator.mul", "torch.sum", "torch.nn.functional.pad"):
        d.wire(x, item, input_ports(d.graph, item)[0].path)
    try:
        d.do(recipes.set_value(d.graph, item, field[1], typed))
    except Refused:
        return
    ast.parse(text(d))
    d.undo()
