"""What the text of a program says of it before anything runs."""

import pytest

from gradstudio.graph.analysis.program_analysis import (
    address,
    addresses,
    analyse,
    effects,
    incomplete,
    may_require_grad,
    nested_now,
    repeated,
    root,
)
from gradstudio.graph.edits import ReplaceNode, SetDefinition, apply
from gradstudio.graph.model import Definition, Graph, ItemId
from gradstudio.operators.model import Effect
from gradstudio.program.reading.reader import read_script
from tests.program.sketch import Sketch

LINEAR = {"in_features": "1", "out_features": "1", "device": "device"}


# ------------------------------------------------------------------ set-up and repeated part


def test_creation_literals_constructors_and_their_preparation_are_set_up() -> None:
    sketch = Sketch()
    w = sketch.parameter("w")
    x = sketch.tensor("x")
    sketch.node("python.literal", "lr", literals={"value": "0.1"})
    sketch.node("operator.mul", "scaled", {"a": x}, literals={"b": "2"})
    fc = sketch.node("torch.nn.Linear", "fc", literals=LINEAR)
    weight = sketch.node("python.attribute", wires={"object": fc}, literals={"name": "'weight'"}, part=True)
    sketch.node("torch.nn.init.zeros_", wires={"tensor": weight})
    parameters = sketch.node("torch.nn.Module.parameters", wires={"self": fc}, part=True)
    sketch.node("torch.optim.SGD", "sgd", {"params": parameters})
    sketch.node("torch.optim.SGD", "other", {"params.0": w}, lengths={"params": 1})
    sketch.node("torch.Tensor.requires_grad_", wires={"self": x})
    sketch.node("torch.Tensor.shape", "shape", {"self": w})
    sketch.node("torch.zeros_like", "buffer", {"input": w})
    sketch.node("python.alias", "v", {"value": w})
    sketch.node("torch.nn.Parameter", "p", {"data": x})
    assert repeated(sketch.graph) == frozenset()


@pytest.mark.parametrize(
    ("key", "port"),
    [
        ("torch.Tensor.backward", "self"),
        ("torch.Tensor.grad", "self"),
        ("operator.mul", "a"),
        ("torch.Tensor.sum", "self"),
        ("torch.Tensor.item", "self"),
        ("torch.Tensor.detach", "self"),
    ],
)
def test_whatever_computes_with_a_tracked_tensor_or_its_gradient_is_repeated(key: str, port: str) -> None:
    sketch = Sketch()
    w = sketch.parameter("w")
    item = sketch.node(key, "y", {port: w}, literals={"b": "2"} if key == "operator.mul" else {})
    assert repeated(sketch.graph) == {item}


def test_random_numbers_are_repeated_only_when_a_tensor_is_taken() -> None:
    sketch = Sketch()
    x = sketch.node("torch.randn", "x", literals={"size": "(2,)", "device": "device"})
    noisy = sketch.node("torch.nn.functional.dropout", "y", {"input": x})
    assert repeated(sketch.graph) == {noisy}


@pytest.mark.parametrize(
    "size",
    [
        "n, m = 8, 20\n",
        "n, m = 8, x.size(0)\n",
        "n, m = x.shape\n",
        "k = 4\nn, m = k * 2, max(k, 20)\n",
        "shape = [8, 20]\nn = shape[0]\nm = n if n > 3 else 20\n",
        "n, w, m = 8, x, len(x)\n",
    ],
)
def test_numbers_are_no_tensors_however_they_are_made(size: str) -> None:
    graph = read_script(f"import torch\nx = torch.ones(2, 3)\n{size}y = torch.randn(n, m)\n").graph
    assert repeated(graph) == set()


@pytest.mark.parametrize("taken", ["n, w = 8, x\n", "w, n = x, 8\n", "w = [x, 2][0]\n", "w = x * 2\n", "w = x[0]\n"])
def test_a_tensor_from_a_tuple_is_one(taken: str) -> None:
    graph = read_script(f"import torch\nx = torch.ones(2, 3)\n{taken}y = torch.bernoulli(w)\n").graph
    assert [graph.nodes[item].names for item in repeated(graph)] == [("y",)]


def test_printing_and_seeding_and_calling_a_module_are_repeated() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    fc = sketch.node("torch.nn.Linear", "fc", literals=LINEAR)
    shown = sketch.node("builtins.print", wires={"values.0": x}, lengths={"values": 1})
    called = sketch.node("python.call", "y", {"module": fc, "inputs.0": x}, lengths={"inputs": 1})
    assert repeated(sketch.graph) == {shown, called}


def test_what_takes_anything_repeated_is_repeated() -> None:
    sketch = Sketch()
    w = sketch.parameter("w")
    number = sketch.node("torch.Tensor.item", "n", {"self": w})
    after = sketch.node("operator.mul", "m", {"a": number}, literals={"b": "2"})
    assert repeated(sketch.graph) == {number, after}


def test_a_loop_is_repeated_and_a_block_is_when_something_inside_is() -> None:
    sketch = Sketch()
    x, w = sketch.tensor("x"), sketch.parameter("w")
    loop = sketch.block("for", literals={"range": "2"}, variable="t")
    inner = sketch.node("operator.neg", "y", {"a": x}, body=loop)
    quiet = sketch.block("no_grad")
    made = sketch.node("operator.neg", "z", {"a": x}, body=quiet)
    with_write = sketch.block("no_grad")
    write = sketch.node("operator.isub", wires={"a": w, "b": x}, body=with_write)
    assert repeated(sketch.graph) == {loop, inner, with_write, write}
    assert made not in repeated(sketch.graph)


def test_before_requires_grad_is_set_up_and_behind_it_repeated() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    sketch.node("operator.neg", "before", {"a": x})
    sketch.node("torch.Tensor.requires_grad_", wires={"self": x})
    behind = sketch.node("operator.neg", "behind", {"a": x})
    assert repeated(sketch.graph) == {behind}


def test_a_buffer_that_the_repeated_part_writes_into_makes_its_later_readers_repeated() -> None:
    sketch = Sketch()
    w, buffer = sketch.parameter("w"), sketch.tensor("buffer")
    value = sketch.node("torch.Tensor.detach", "value", {"self": w})
    write = sketch.node("torch.Tensor.add_", wires={"self": buffer, "other": value})
    reader = sketch.node("operator.neg", "y", {"a": buffer})
    assert repeated(sketch.graph) == {value, write, reader}


# ------------------------------------------------------------------ what may require grad


def test_a_cut_and_no_grad_stop_what_may_require_grad() -> None:
    sketch = Sketch()
    w = sketch.parameter("w")
    y = sketch.node("operator.neg", "y", {"a": w})
    sketch.node("torch.Tensor.detach", "cut", {"self": w})
    sketch.node("operator.lt", "compared", {"a": w}, literals={"b": "0"})
    quiet = sketch.block("no_grad")
    sketch.node("operator.neg", "z", {"a": w}, body=quiet)
    again = sketch.block("enable_grad", body=quiet)
    u = sketch.node("operator.neg", "u", {"a": w}, body=again)
    assert may_require_grad(sketch.graph) == {(w, 0), (y, 0), (u, 0)}


def test_a_write_of_a_tracked_value_makes_the_object_tracked() -> None:
    sketch = Sketch()
    w, buffer = sketch.parameter("w"), sketch.tensor("buffer")
    sketch.node("operator.setitem", wires={"a": buffer, "value": w}, literals={"index": "0"})
    y = sketch.node("operator.neg", "y", {"a": buffer})
    assert (y, 0) in may_require_grad(sketch.graph)


# ------------------------------------------------------------------ the root of a backward


def test_the_root_is_the_last_loss_that_nothing_takes_further() -> None:
    sketch = Sketch()
    w, x = sketch.parameter("w"), sketch.tensor("x")
    y = sketch.node("operator.mul", "y", {"a": w, "b": x})
    loss = sketch.node("torch.nn.functional.mse_loss", "loss", {"input": y, "target": x})
    sketch.node("torch.Tensor.item", "number", {"self": loss})
    sketch.node("operator.neg", "other", {"a": w})
    sketch.parameter("late")
    assert root(sketch.graph) == loss


def test_the_root_is_the_one_chosen() -> None:
    sketch = Sketch()
    w = sketch.parameter("w")
    first = sketch.node("operator.neg", "a", {"a": w}, marks=("root",))
    sketch.node("operator.neg", "b", {"a": w})
    assert root(sketch.graph) == first


def test_the_root_is_at_the_top_level_and_computed_if_it_can_be() -> None:
    sketch = Sketch()
    w = sketch.parameter("w")
    group = sketch.block("group")
    y = sketch.node("operator.neg", "y", {"a": w}, body=group)
    loop = sketch.block("for", literals={"range": "2"})
    sketch.node("operator.neg", "z", {"a": w}, body=loop)
    assert root(sketch.graph) == y


def test_without_anything_that_requires_grad_there_is_no_root() -> None:
    sketch = Sketch()
    sketch.tensor("x")
    assert root(sketch.graph) is None


# ------------------------------------------------------------------ parts


def parts(order: str, *, used: str = "ab") -> frozenset[ItemId]:
    """Which of the parts p and q of `p - q` are nested when they stand in the given order."""
    sketch = Sketch()
    x = sketch.tensor("x")
    made: dict[str, ItemId] = {}
    for word in order:
        named = "z" if word == "z" else ""
        made[word] = sketch.node("torch.exp", named, {"input": x}, part=not named)
    sketch.node("operator.sub", "y", {"a": made[used[0]], "b": made[used[1]]})
    return frozenset(ItemId(word) for word, item in made.items() if item in nested_now(sketch.graph))


def test_parts_are_nested_when_they_stand_before_their_user_in_its_order_of_evaluation() -> None:
    assert parts("ab") == {"a", "b"}
    assert parts("ba") == {"a"}
    assert parts("azb") == {"b"}
    assert parts("abz") == frozenset()
    assert parts("a", used="aa") == frozenset()


def test_a_part_that_got_a_name_is_pulled_out() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    part = sketch.node("torch.exp", wires={"input": x}, part=True)
    sketch.node("operator.neg", "y", {"a": part})
    assert nested_now(sketch.graph) == {part}
    node = sketch.graph.nodes[part]
    apply(sketch.graph, ReplaceNode(type(node)(id=part, operator=node.operator, names=("e",), nested=True)))
    assert nested_now(sketch.graph) == frozenset()


def test_a_part_in_another_block_is_pulled_out() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    part = sketch.node("torch.exp", wires={"input": x}, part=True)
    quiet = sketch.block("no_grad")
    sketch.node("operator.neg", "y", {"a": part}, body=quiet)
    assert nested_now(sketch.graph) == frozenset()


def test_parts_are_nested_to_a_depth_that_python_can_read() -> None:
    sketch = Sketch()
    item = sketch.tensor("x")
    for _ in range(200):
        item = sketch.node("torch.exp", wires={"input": item}, part=True)
    compile(sketch.code, "program", "exec")


def test_what_an_augmented_statement_writes_into_is_no_sum() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    total = sketch.node("operator.add", wires={"a": x, "b": x}, part=True)
    item = sketch.node("operator.iadd", wires={"a": total}, literals={"b": "1"})
    assert item not in nested_now(sketch.graph)
    assert total not in nested_now(sketch.graph)


def test_ports_are_evaluated_as_python_does() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    stored = sketch.node("operator.setitem", wires={"a": x, "index": x, "value": x})
    joined = sketch.node("torch.cat", "y", {"dim": x, "tensors.1": x, "tensors.0": x}, lengths={"tensors": 2})
    ports = analyse(sketch.graph).validity.ports
    assert ports[stored] == ("value", "a", "index")
    assert ports[joined] == ("tensors.0", "tensors.1", "dim")


# ------------------------------------------------------------------ addresses


def test_what_binds_no_name_is_called_by_its_operator_and_the_lowest_free_number() -> None:
    sketch = Sketch()
    x = sketch.parameter("backward_1")
    one = sketch.node("torch.Tensor.backward", wires={"self": x})
    two = sketch.node("torch.Tensor.backward", wires={"self": x})
    write = sketch.node("torch.Tensor.add_", wires={"self": x}, literals={"other": "1"})
    loop = sketch.block("for", literals={"range": "1"})
    found = addresses(sketch.graph)
    assert [found[item] for item in (x, one, two, write, loop)] == [
        "backward_1",
        "backward_2",
        "backward_3",
        "add_1",
        "for_1",
    ]
    assert address(sketch.graph, two) == "backward_3"


def test_the_analysis_follows_every_edit() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    item = sketch.node("operator.neg", "y", {"a": x})
    assert address(sketch.graph, item) == "y"
    node = sketch.graph.nodes[item]
    apply(sketch.graph, ReplaceNode(type(node)(id=item, operator=node.operator, names=("z",))))
    assert address(sketch.graph, item) == "z"


# ------------------------------------------------------------------ what cannot run


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (("class",), "a word of Python itself"),
        (("torch",), "a word the exported script needs"),
        (("a b",), "not a Python name"),
        (("x\n",), "not a Python name as it is written"),
        (("ﬁ",), "not a Python name as it is written"),
        (("__x",), "two underscores"),
        (("a", "a"), "one name twice"),
    ],
)
def test_a_name_that_python_or_the_script_refuses_is_not_run(names: tuple[str, ...], reason: str) -> None:
    sketch = Sketch()
    item = sketch.node("python.literal", names, literals={"value": "1"})
    assert reason in incomplete(sketch.graph)[item]


def test_an_attribute_that_is_not_of_a_tensor_is_read_from_a_module_only() -> None:
    sketch = Sketch()
    x, fc = sketch.tensor("x"), sketch.node("torch.nn.Linear", "fc", literals=LINEAR)
    reads = {
        name: sketch.node("python.attribute", "a", {"object": source}, literals={"name": f"'{name}'"})
        for source, name in ((x, "untyped_storage"), (fc, "__class__"), (fc, "weight"), (fc, "a.b.c"))
    }
    assert reads["untyped_storage"] in incomplete(sketch.graph)
    assert reads["__class__"] in incomplete(sketch.graph)
    assert reads["weight"] not in incomplete(sketch.graph)
    assert reads["a.b.c"] not in incomplete(sketch.graph)


def test_in_a_loop_the_second_turn_is_thought_of() -> None:
    sketch = Sketch()
    h = sketch.tensor("h")
    loop = sketch.block("for", literals={"range": "2"})
    reads = sketch.node("operator.neg", "y", {"a": h}, body=loop)
    sketch.node("torch.exp", "h", {"input": reads}, body=loop)
    assert "means another statement" in incomplete(sketch.graph)[reads]


def test_a_carried_value_must_come_back_under_its_name() -> None:
    sketch = Sketch()
    h = sketch.tensor("h")
    loop = sketch.block("for", {"first.h": h}, literals={"range": "2"}, carried=("h",))
    assert "the body does not bind it" in incomplete(sketch.graph)[loop]
    item = sketch.node("operator.neg", "k", {"a": (loop, 1)}, body=loop)
    sketch.wire(loop, {"next.h": item})
    assert "under another name" in incomplete(sketch.graph)[loop]


def test_a_group_that_calls_itself_is_not_run() -> None:
    inner = Sketch()
    inner.node("group:f", "y")
    sketch = Sketch()
    apply(sketch.graph, SetDefinition("f", Definition("f", (), ("y",), inner.graph)))
    item = sketch.node("group:f", "y")
    assert incomplete(sketch.graph)[item] == "the group calls itself"


def test_a_group_that_calls_itself_through_another_is_not_run() -> None:
    calls_g, calls_f = Sketch(), Sketch()
    calls_g.node("group:g", "y")
    calls_f.node("group:f", "y")
    sketch = Sketch()
    apply(sketch.graph, SetDefinition("f", Definition("f", (), ("y",), calls_g.graph)))
    apply(sketch.graph, SetDefinition("g", Definition("g", (), ("y",), calls_f.graph)))
    item = sketch.node("group:f", "y")
    assert incomplete(sketch.graph)[item] == "the group calls itself"


def test_a_definition_under_a_name_that_is_not_its_own_is_not_run() -> None:
    sketch = Sketch()
    apply(sketch.graph, SetDefinition("f", Definition("g", (), ("y",), Graph())))
    item = sketch.node("group:f", "y")
    assert incomplete(sketch.graph)[item] == "the group has another name"


def test_a_bypassed_node_needs_something_to_pass_on() -> None:
    sketch = Sketch()
    item = sketch.node("torch.relu", "y", bypassed=True)
    unnamed = sketch.node("torch.relu", bypassed=True)
    sketch.node("torch.relu", "z", {"input": unnamed})
    assert incomplete(sketch.graph)[item] == "it is bypassed, but nothing is wired to it"
    assert incomplete(sketch.graph)[unnamed] == "it is bypassed, but nothing is wired to it"


def test_an_attribute_of_a_tensor_must_be_one_that_tensors_have() -> None:
    sketch = Sketch()
    x = sketch.tensor("x")
    item = sketch.node("python.attribute", "y", {"object": x}, literals={"name": "weight"})
    assert "can be read from a module only" in incomplete(sketch.graph)[item]
    hidden = sketch.node("python.attribute", "z", {"object": x}, literals={"name": "_version"})
    assert "is not the name of an attribute" in incomplete(sketch.graph)[hidden]


def test_a_definition_with_a_hostile_name_is_never_printed() -> None:
    name = "f():\n    import os\ndef g"
    sketch = Sketch()
    apply(sketch.graph, SetDefinition(name, Definition(name, (), ("y",), Graph())))
    sketch.node(f"group:{name}", "y")
    assert all(line.startswith("#") for line in sketch.lines)


def test_effects_are_those_of_the_catalogue() -> None:
    sketch = Sketch()
    x = sketch.parameter("x")
    item = sketch.node("torch.Tensor.backward", wires={"self": x})
    assert effects(sketch.graph, item) == {Effect.BACKWARD}
    assert effects(sketch.graph, sketch.block("no_grad")) == frozenset()


def test_a_statement_that_binds_nothing_is_no_root() -> None:
    sketch = Sketch()
    x = sketch.parameter("x")
    y = sketch.node("operator.mul", "y", {"a": x}, literals={"b": "2"})
    sketch.node("torch.Tensor.retain_grad", wires={"self": y})
    assert root(sketch.graph) == y
