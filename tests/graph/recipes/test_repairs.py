"""Recipes that repair: what they write, what they refuse, and that undo takes all of it back."""

import pytest

from gradstudio.graph import recipes
from gradstudio.graph.edits import SetPlaces
from gradstudio.graph.errors import Refused, WireRefused
from gradstudio.graph.model import ItemId, Place
from gradstudio.graph.recipes.repairs import (
    add_identity,
    clone_before_write,
    combine_steps,
    feed,
    functional_key,
    insert,
    move_behind,
    out_of_place,
    replace_operator,
    statement_before,
)
from gradstudio.operators.catalogue.loader import load
from gradstudio.program.compile import compile_graph
from tests.graph.builder import Drawing
from tests.graph.test_edits import state


@pytest.fixture
def d() -> Drawing:
    return Drawing()


def lines(d: Drawing) -> list[str]:
    """The program's statements, without imports and seed."""
    return [line for line in compile_graph(d.graph).code.splitlines() if line and "import" not in line][1:]


def leaf(d: Drawing, name: str = "x") -> ItemId:
    return d.add("torch.ones", name=name, size="(2, 2)")


def test_an_inserted_operator_is_written_inside_its_user_or_named(d: Drawing) -> None:
    y = d.add("torch.exp", leaf(d), name="y")
    (wire,) = d.graph.wires_to(y)
    before = state(d.graph)
    d.do(insert(d.graph, wire, "torch.Tensor.clamp", {"min": "0"}))
    assert lines(d)[-1] == "y = torch.exp(x.clamp(min=0))"
    d.undo()
    assert state(d.graph) == before
    d.do(insert(d.graph, wire, "torch.Tensor.clone", inline=False))
    assert lines(d)[-2:] == ["x2 = x.clone()", "y = torch.exp(x2)"]


def test_an_inserted_card_stands_between_the_two(d: Drawing) -> None:
    x = leaf(d)
    y = d.add("torch.exp", x)
    (wire,) = d.graph.wires_to(y)
    d.do((SetPlaces({x: Place(0.0, 0.0), y: Place(400.0, 100.0)}),))
    known = set(d.graph.nodes)
    d.do(insert(d.graph, wire, "torch.Tensor.clone"))
    (new,) = set(d.graph.nodes) - known
    assert d.graph.places[new] == Place(200.0, 50.0)


def test_an_operator_that_does_not_take_what_flows_is_not_inserted(d: Drawing) -> None:
    y = d.add("torch.exp", leaf(d))
    (wire,) = d.graph.wires_to(y)
    with pytest.raises(WireRefused):
        insert(d.graph, wire, "torch.Tensor.backward")


def test_another_operator_keeps_name_wires_and_literals(d: Drawing) -> None:
    y = d.add("torch.Tensor.sum", leaf(d), name="y", dim="1")
    d.do(replace_operator(d.graph, y, "torch.Tensor.mean"))
    assert lines(d)[-1] == "y = x.mean(dim=1)"


def test_an_argument_without_a_counterpart_is_refused(d: Drawing) -> None:
    y = d.add("torch.Tensor.sum", leaf(d), name="y", dim="1")
    with pytest.raises(Refused, match="no argument 'dim'"):
        replace_operator(d.graph, y, "torch.exp")


@pytest.mark.parametrize(
    ("key", "functional"),
    [("operator.iadd", "operator.add"), ("torch.Tensor.add_", "torch.Tensor.add"), ("torch.exp", ""),
     ("operator.setitem", ""), ("torch.Tensor.zero_", "")],
)  # fmt: skip
def test_the_like_that_returns_a_new_tensor(key: str, functional: str) -> None:
    assert functional_key(load()[key]) == functional


def test_an_in_place_statement_out_of_place_is_read_by_those_behind_it(d: Drawing) -> None:
    x = leaf(d)
    d.add("torch.exp", x, name="before")
    written = d.add("operator.iadd", x, b="1")
    d.add("torch.exp", x, name="after")
    before = state(d.graph)
    d.do(out_of_place(d.graph, written))
    assert lines(d)[-3:] == ["before = torch.exp(x)", "x2 = x + 1", "after = torch.exp(x2)"]
    d.undo()
    assert state(d.graph) == before
    d.do(clone_before_write(d.graph, written))
    assert lines(d)[-4:] == ["before = torch.exp(x)", "x2 = x.clone()", "x2 += 1", "after = torch.exp(x2)"]


def test_what_has_no_like_or_writes_into_nothing_is_refused(d: Drawing) -> None:
    y = d.add("torch.exp", leaf(d))
    with pytest.raises(Refused, match="no operator"):
        out_of_place(d.graph, y)
    with pytest.raises(Refused, match="Nothing is wired"):
        clone_before_write(d.graph, d.add("torch.Tensor.add_"))


def test_a_write_in_a_loop_into_what_came_from_outside_is_refused(d: Drawing) -> None:
    written = d.add("torch.Tensor.add_", leaf(d), other="1")
    d.do(recipes.wrap(d.graph, (written,), "for"))
    for recipe in (out_of_place, clone_before_write):
        with pytest.raises(Refused, match="carry"):
            recipe(d.graph, written)


def test_a_second_operator_feeds_another_input(d: Drawing) -> None:
    y = d.add("torch.exp", leaf(d), name="y")
    backward = d.add("torch.Tensor.backward", y)
    d.do(feed(d.graph, y, 0, "torch.ones_like", backward, "gradient"))
    assert lines(d)[-1] == "y.backward(gradient=torch.ones_like(y))"


def test_an_identity_is_added_to_what_is_inverted(d: Drawing) -> None:
    inverse = d.add("torch.linalg.inv", leaf(d), name="y")
    (wire,) = d.graph.wires_to(inverse)
    d.do(add_identity(d.graph, wire, 2, {"dtype": "torch.float64"}))
    assert lines(d)[-1] == "y = torch.linalg.inv(x + torch.eye(2, dtype=torch.float64))"


def test_a_statement_that_binds_nothing_stands_directly_before_another(d: Drawing) -> None:
    y = d.add("torch.exp", leaf(d), name="y")
    total = d.add("torch.sum", y, name="loss")
    d.do(statement_before(d.graph, y, 0, "torch.Tensor.retain_grad", total))
    assert lines(d)[-3:] == ["y = torch.exp(x)", "y.retain_grad()", "loss = torch.sum(y)"]


def test_statements_are_moved_behind_another_unless_it_needs_them(d: Drawing) -> None:
    x = leaf(d)
    written = d.add("torch.Tensor.add_", x, other="1")
    y = d.add("torch.exp", x, name="y")
    d.do(move_behind(d.graph, (written,), y))
    assert lines(d)[-2:] == ["y = torch.exp(x)", "x.add_(1)"]
    with pytest.raises(Refused, match="needs the value of"):
        move_behind(d.graph, (x,), y)
    with pytest.raises(Refused, match="another block"):
        move_behind(d.graph, (ItemId("nobody"),), y)
    with pytest.raises(Refused):
        move_behind(d.graph, (y,), y)


def test_several_recipes_are_one_gesture_and_the_graph_is_untouched_meanwhile(d: Drawing) -> None:
    y = d.add("torch.exp", leaf(d), name="y")
    before = state(d.graph)
    edits = combine_steps(
        d.graph,
        lambda graph: replace_operator(graph, y, "torch.log"),
        lambda graph: insert(graph, next(iter(graph.wires_to(y))), "torch.Tensor.abs"),
    )
    assert state(d.graph) == before
    d.do(edits)
    assert lines(d)[-1] == "y = torch.log(x.abs())"
    with pytest.raises(Refused):
        combine_steps(d.graph, lambda graph: out_of_place(graph, y))
