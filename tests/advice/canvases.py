"""Canvases that fail in torch, by the rule that knows their words; no torch here."""

from collections.abc import Callable, Iterable

from gradstudio.advice.explanation import explain
from gradstudio.advice.fixes.fix_kinds import fixes_for
from gradstudio.graph import recipes
from gradstudio.graph.edits import AddWire
from gradstudio.graph.model import Header, ItemId, Wire
from gradstudio.program.compile import compile_graph
from gradstudio.protocol.messages.base import Message
from gradstudio.protocol.messages.events import Failed, Row, Traced
from gradstudio.protocol.messages.records import Record
from tests.advice.wrong_programs import MORE
from tests.graph.builder import Drawing

GRAD = "True"


def mm(d: Drawing) -> None:
    a, b = d.add("torch.randn", size="(2, 3)"), d.add("torch.randn", size="(2, 3)")
    d.add("operator.matmul", a, b)


def linear_layer(d: Drawing) -> None:
    call = d.add("torch.nn.Linear")
    x = d.add("torch.randn", size="(2, 3)")
    d.wire(x, call, "inputs.0")


def linear(d: Drawing) -> None:
    x, w = d.add("torch.randn", size="(2, 3)"), d.add("torch.randn", size="(3, 4)")
    d.add("torch.nn.functional.linear", x, w)


def mv(d: Drawing) -> None:
    d.add("operator.matmul", d.add("torch.randn", size="(2, 3)"), d.add("torch.randn", size="(2,)"))


def bmm(d: Drawing) -> None:
    d.add("operator.matmul", d.add("torch.randn", size="(2, 3, 4)"), d.add("torch.randn", size="(2, 3, 4)"))


def broadcast(d: Drawing) -> None:
    d.add("operator.add", d.add("torch.randn", size="(2, 3)"), d.add("torch.randn", size="(2,)"))


def broadcast_turned(d: Drawing) -> None:
    d.add("operator.add", d.add("torch.randn", size="(2, 3)"), d.add("torch.randn", size="(3, 2)"))


def broadcast_reduced(d: Drawing) -> None:
    x = d.add("torch.randn", size="(2, 3)")
    d.add("operator.sub", x, d.add("torch.Tensor.mean", x, dim="1"))


def broadcast_target(d: Drawing) -> None:
    x, y = d.add("torch.zeros", size="(3,)"), d.add("torch.zeros", size="(2, 3)")
    d.add("torch.Tensor.add_", x, y)
    d.add("torch.Tensor.sum", x)


def reshape(d: Drawing) -> None:
    d.add("torch.Tensor.reshape", d.add("torch.arange", end="6"), shape="(4, 2)")


def view(d: Drawing) -> None:
    x = d.add("torch.Tensor.T", d.add("torch.randn", size="(2, 3)"))
    d.add("torch.Tensor.view", x, shape="(6,)")


def flattened(d: Drawing) -> None:
    d.add("torch.Tensor.view", d.add("torch.randn", size="(3,)"), shape="(2, 2)")


def cat(d: Drawing) -> None:
    a, b = d.add("torch.randn", size="(2, 3)"), d.add("torch.randn", size="(2, 4)")
    item = d.add("torch.cat")
    d.wire(a, item, "tensors.0")
    d.wire(b, item, "tensors.1")


def cat_turned(d: Drawing) -> None:
    a, b = d.add("torch.randn", size="(2, 3)"), d.add("torch.randn", size="(3, 4)")
    item = d.add("torch.cat")
    d.wire(a, item, "tensors.0")
    d.wire(b, item, "tensors.1")


def stack(d: Drawing) -> None:
    a, b = d.add("torch.randn", size="(2,)"), d.add("torch.randn", size="(3,)")
    item = d.add("torch.stack")
    d.wire(a, item, "tensors.0")
    d.wire(b, item, "tensors.1")


def dimension(d: Drawing) -> None:
    d.add("torch.Tensor.sum", d.add("torch.randn", size="(2, 3)"), dim="2")


def item_index(d: Drawing) -> None:
    d.add("operator.getitem", d.add("torch.arange", end="3"), index="5")


def too_many(d: Drawing) -> None:
    d.add("operator.getitem", d.add("torch.arange", end="3"), index="0, 0")


def embedding(d: Drawing) -> None:
    i, w = d.add("torch.tensor", data="[9]"), d.add("torch.randn", size="(3, 2)")
    d.add("torch.nn.functional.embedding", i, w)


def embedding_layer(d: Drawing) -> None:
    call = d.add("torch.nn.Embedding")
    d.wire(d.add("torch.tensor", data="[99999]"), call, "inputs.0")


def class_too_many(d: Drawing) -> None:
    call = d.add("torch.nn.Linear")
    layer = d.graph.wires[call, "module"].source
    for path, text in {"in_features": "4", "out_features": "2"}.items():
        d.do(recipes.set_literal(d.graph, layer, path, text))
    d.wire(d.add("torch.randn", size="(3, 4)"), call, "inputs.0")
    d.add("torch.nn.functional.cross_entropy", call, d.add("torch.tensor", data="[0, 1, 2]"))


def classes_last(d: Drawing) -> None:
    t = d.add("torch.zeros", size="(2, 5)", dtype="torch.int64")
    d.add("torch.nn.functional.cross_entropy", d.add("torch.randn", size="(2, 5, 3)"), t)


def parts(d: Drawing) -> None:
    item = d.add("torch.Tensor.split", d.add("torch.ones", size="(10,)"), split_size="3")
    d.do(recipes.rename(d.graph, item, ("a", "b")))


def expand(d: Drawing) -> None:
    d.add("torch.Tensor.expand", d.add("torch.arange", end="3"), size="(3, 4)")


def channels(d: Drawing) -> None:
    x, w = d.add("torch.randn", size="(1, 8, 8, 3)"), d.add("torch.randn", size="(4, 3, 2, 2)")
    d.add("torch.nn.functional.conv2d", x, w)


def channels_layer(d: Drawing) -> None:
    call = d.add("torch.nn.Conv2d")
    d.wire(d.add("torch.randn", size="(1, 5, 8, 8)"), call, "inputs.0")


def negative(d: Drawing) -> None:
    d.add("torch.zeros", size="(-1,)")


def conv_dims(d: Drawing) -> None:
    x, w = d.add("torch.randn", size="(8, 8)"), d.add("torch.randn", size="(4, 1, 3, 3)")
    d.add("torch.nn.functional.conv2d", x, w)


def einsum(d: Drawing) -> None:
    a, b = d.add("torch.randn", size="(2, 3)"), d.add("torch.randn", size="(2, 3)")
    item = d.add("torch.einsum", equation='"ij,jk->ik"')
    d.wire(a, item, "operands.0")
    d.wire(b, item, "operands.1")


def einsum_letters(d: Drawing) -> None:
    a, b = d.add("torch.randn", size="(2, 3)"), d.add("torch.randn", size="(3,)")
    item = d.add("torch.einsum", equation='"ij,jk->ik"')
    d.wire(a, item, "operands.0")
    d.wire(b, item, "operands.1")


def column_target(d: Drawing) -> None:
    x, t = d.add("torch.randn", size="(2, 3)"), d.add("torch.tensor", data="[[0], [1]]")
    d.add("torch.nn.functional.cross_entropy", x, t)


def classes(d: Drawing) -> None:
    d.add("torch.nn.functional.one_hot", d.add("torch.tensor", data="[0, 5]"), num_classes="3")


def no_turn(d: Drawing) -> None:
    x = d.add("torch.ones", size="(2,)")
    y = d.add("torch.exp", x)
    d.do(recipes.wrap(d.graph, (y,), "for"))
    block = next(iter(d.graph.blocks))
    d.do(recipes.set_literal(d.graph, block, "range.0", "0"))
    d.add("torch.Tensor.sum", y)


# ------------------------------------------------------------------ gradients


def leaf(d: Drawing, size: str = "(3,)", grad: str = GRAD) -> ItemId:
    return d.add("torch.ones", size=size, requires_grad=grad) if grad else d.add("torch.ones", size=size)


def not_scalar(d: Drawing) -> None:
    d.add("torch.Tensor.backward", d.add("torch.exp", leaf(d)))


def no_leaf(d: Drawing) -> None:
    d.add("torch.Tensor.backward", d.add("torch.Tensor.sum", leaf(d, grad="")))


def detached(d: Drawing) -> None:
    x = d.add("torch.Tensor.detach", leaf(d))
    d.add("torch.Tensor.backward", d.add("torch.Tensor.sum", x))


def in_no_grad(d: Drawing) -> None:
    y = d.add("torch.exp", leaf(d))
    d.do(recipes.wrap(d.graph, (y,), "no_grad"))
    d.add("torch.Tensor.backward", d.add("torch.Tensor.sum", y))


def second_order(d: Drawing) -> None:
    x = leaf(d)
    y = d.add("torch.Tensor.sum", d.add("torch.exp", x))
    d.add("torch.Tensor.backward", y)
    g = d.add("torch.Tensor.grad", x)
    d.add("torch.Tensor.backward", d.add("torch.Tensor.sum", g))


def twice(d: Drawing) -> None:
    y = d.add("torch.Tensor.sum", d.add("torch.exp", leaf(d)))
    d.add("torch.Tensor.backward", y)
    d.add("torch.Tensor.backward", y)


def leaf_written(d: Drawing) -> None:
    x = leaf(d)
    d.add("torch.Tensor.add_", x, other="1")
    d.add("torch.Tensor.sum", x)


def leaf_augmented(d: Drawing) -> None:
    x = leaf(d)
    d.add("operator.iadd", x, b="1")
    d.add("torch.Tensor.sum", x)


def view_written(d: Drawing) -> None:
    x = leaf(d)
    d.add("torch.Tensor.add_", d.add("operator.getitem", x, index="0:1"), other="1")


def saved_augmented(d: Drawing) -> None:
    y = d.add("torch.exp", leaf(d), name="y")
    d.add("operator.iadd", y, b="1")
    d.add("torch.Tensor.backward", d.add("torch.Tensor.sum", y))


def saved_method(d: Drawing) -> None:
    y = d.add("torch.exp", leaf(d), name="y")
    written = d.add("torch.Tensor.mul_", y, other="2")
    d.add("torch.Tensor.backward", d.add("torch.Tensor.sum", written))


def saved_item(d: Drawing) -> None:
    y = d.add("torch.exp", leaf(d), name="y")
    d.add("operator.setitem", y, index="0", value="1.0")
    d.add("torch.Tensor.backward", d.add("torch.Tensor.sum", y))


def saved_relu(d: Drawing) -> None:
    y = d.add("torch.exp", leaf(d), name="y")
    z = d.add("torch.nn.functional.relu", y, inplace="True")
    d.add("torch.Tensor.backward", d.add("torch.Tensor.sum", z))


def unused(d: Drawing) -> None:
    x, w = leaf(d), leaf(d)
    y = d.add("torch.Tensor.sum", d.add("torch.exp", x))
    item = d.add("torch.autograd.grad", y)
    for port in ("outputs", "inputs"):
        d.do(recipes.split_list(d.graph, item, port, 1))
    d.wire(w, item, "inputs.0")


def numpy(d: Drawing) -> None:
    d.add("torch.Tensor.numpy", leaf(d))


def expanded(d: Drawing) -> None:
    x = d.add("torch.Tensor.expand", leaf(d, "(3, 1)", ""), size="(3, 4)")
    d.add("torch.Tensor.add_", x, d.add("torch.ones", size="(3, 4)"))


def inference_written(d: Drawing) -> None:
    x = leaf(d, grad="")
    d.do(recipes.wrap(d.graph, (x,), "inference_mode"))
    d.add("torch.Tensor.add_", x, other="1")


def inference_saved(d: Drawing) -> None:
    x = leaf(d, grad="")
    d.do(recipes.wrap(d.graph, (x,), "inference_mode"))
    d.add("operator.mul", leaf(d), x)


def grad_too_early(d: Drawing) -> None:
    x = leaf(d)
    g = d.add("torch.Tensor.grad", x)
    d.add("torch.Tensor.zero_", g)
    d.add("torch.Tensor.backward", d.add("torch.Tensor.sum", d.add("torch.exp", x)))


def grad_of_no_leaf(d: Drawing) -> None:
    y = d.add("torch.exp", leaf(d))
    d.add("torch.Tensor.backward", d.add("torch.Tensor.sum", y))
    d.add("operator.mul", d.add("torch.Tensor.grad", y), b="2")


def grad_not_required(d: Drawing) -> None:
    x, w = leaf(d), leaf(d, grad="")
    d.add("torch.Tensor.backward", d.add("torch.Tensor.sum", d.add("operator.mul", x, w)))
    d.add("torch.Tensor.zero_", d.add("torch.Tensor.grad", w))


# ------------------------------------------------------------------ values


def whole_leaf(d: Drawing) -> None:
    d.add("torch.tensor", data="[1, 2]", requires_grad="True")


def whole_flag(d: Drawing) -> None:
    d.add("torch.Tensor.requires_grad_", d.add("torch.arange", end="3"))


def two_dtypes(d: Drawing) -> None:
    a, b = d.add("torch.randn", size="(2, 2)"), d.add("torch.ones", size="(2, 2)", dtype="torch.float64")
    d.add("operator.matmul", a, b)


def layer_dtype(d: Drawing) -> None:
    call = d.add("torch.nn.Linear")
    module = d.graph.wires[call, "module"].source
    d.do(recipes.set_literal(d.graph, module, "in_features", "3"))
    d.wire(d.add("torch.ones", size="(2, 3)", dtype="torch.float64"), call, "inputs.0")


def whole_mean(d: Drawing) -> None:
    d.add("torch.Tensor.mean", d.add("torch.arange", end="3"))


def softmax(d: Drawing) -> None:
    d.add("torch.nn.functional.softmax", d.add("torch.arange", end="3"), dim="0")


def no_device(d: Drawing) -> None:
    d.add("torch.zeros", size="(1,)")
    d.do(recipes.set_header(d.graph, Header(device="xpu")))


def own_device(d: Drawing) -> None:
    d.add("torch.zeros", size="(1,)", device='"xpu"')


def moved(d: Drawing) -> None:
    d.add("torch.Tensor.cuda", d.add("torch.zeros", size="(1,)"), device='"cuda:63"')


def moved_to(d: Drawing) -> None:
    d.add("torch.Tensor.to", d.add("torch.zeros", size="(1,)"), device='"xpu"', dtype="torch.float64")


def two_devices(d: Drawing) -> None:
    a = d.add("torch.randn", size="(2, 2)", device='"meta"')
    d.add("operator.add", a, d.add("torch.randn", size="(2, 2)"))


def many_items(d: Drawing) -> None:
    d.add("torch.Tensor.item", d.add("torch.arange", end="3", dtype="torch.float32"))


def truth(d: Drawing) -> None:
    x = d.add("torch.ones", size="(2,)")
    shown = d.add("builtins.print")
    d.wire(x, shown, "values.0")
    d.do(recipes.wrap(d.graph, (shown,), "if"))
    d.wire(d.add("operator.gt", x, b="0"), next(iter(d.graph.blocks)), "condition")


def float_classes(d: Drawing) -> None:
    x, t = d.add("torch.randn", size="(2, 3)"), d.add("torch.tensor", data="[0.0, 1.0]")
    d.add("torch.nn.functional.cross_entropy", x, t)


def float_index(d: Drawing) -> None:
    item = d.add("operator.getitem", d.add("torch.arange", end="3"))
    d.wire(d.add("torch.tensor", data="[0.0, 1.0]"), item, "index")


def float_rows(d: Drawing) -> None:
    i, w = d.add("torch.tensor", data="[0.0]"), d.add("torch.randn", size="(3, 2)")
    d.add("torch.nn.functional.embedding", i, w)


def float_hot(d: Drawing) -> None:
    d.add("torch.nn.functional.one_hot", d.add("torch.tensor", data="[0.0, 1.0]"))


def float_mask(d: Drawing) -> None:
    x, m = d.add("torch.ones", size="(2,)"), d.add("torch.tensor", data="[0.0, 1.0]")
    d.add("torch.Tensor.masked_fill", x, m, value="3.0")


def _called_as_in_a_text(d: Drawing, source: ItemId) -> None:
    """A call with a wire that the rule-book refuses, but a text that was read can have."""
    call = d.add("torch.nn.ReLU")
    d.do((AddWire(Wire(source, 0, call, "inputs.0")),))


def number(d: Drawing) -> None:
    _called_as_in_a_text(d, d.add("python.literal", value="2.0"))


def item_number(d: Drawing) -> None:
    x = d.add("torch.ones", size="(1,)")
    _called_as_in_a_text(d, d.add("torch.Tensor.item", x))


def imaginary(d: Drawing) -> None:
    d.add("torch.imag", d.add("torch.ones", size="(2,)"))


def cholesky(d: Drawing) -> None:
    d.add("torch.linalg.cholesky", d.add("torch.zeros", size="(2, 2)"))


def inverse(d: Drawing) -> None:
    d.add("torch.linalg.inv", d.add("torch.zeros", size="(2, 2)"))


def odds(d: Drawing) -> None:
    x, t = d.add("torch.full", size="(2,)", fill_value="2.0"), d.add("torch.ones", size="(2,)")
    d.add("torch.nn.functional.binary_cross_entropy", x, t)


def column_of_odds(d: Drawing) -> None:
    x, t = d.add("torch.ones", size="(2, 1)"), d.add("torch.ones", size="(2,)")
    d.add("torch.nn.functional.binary_cross_entropy_with_logits", x, t)


def norm(d: Drawing) -> None:
    d.add("torch.nn.functional.layer_norm", d.add("torch.ones", size="(2, 3)"), normalized_shape="(2,)")


def norm_layer(d: Drawing) -> None:
    call = d.add("torch.nn.LayerNorm")
    d.wire(d.add("torch.ones", size="(2, 3)"), call, "inputs.0")


def gather(d: Drawing) -> None:
    item = d.add("torch.gather", d.add("torch.ones", size="(2, 2)"), dim="1")
    d.wire(d.add("torch.tensor", data="[0, 1]"), item, "index")


def flag(d: Drawing) -> None:
    y = d.add("torch.exp", leaf(d))
    d.add("torch.Tensor.requires_grad_", y, requires_grad="False")


CANVASES: dict[str, tuple[tuple[Callable[[Drawing], None], int], ...]] = {
    "matmul shapes": ((mm, 2), (linear, 1), (linear_layer, 1)),
    "matrix times vector": ((mv, 1),),
    "batched matmul": ((bmm, 2),),
    "broadcast": ((broadcast, 1), (broadcast_turned, 2), (broadcast_reduced, 2)),
    "broadcast target": ((broadcast_target, 1),),
    "reshape size": ((reshape, 1), (flattened, 1)),
    "view not contiguous": ((view, 2),),
    "cat sizes": ((cat, 1), (cat_turned, 1)),
    "stack sizes": ((stack, 1),),
    "dimension out of range": ((dimension, 1),),
    "index out of bounds": ((item_index, 1),),
    "too many indices": ((too_many, 1),),
    "index out of range in self": ((embedding, 1), (embedding_layer, 1)),
    "target out of bounds": ((class_too_many, 1),),
    "classes in the second dimension": ((classes_last, 1),),
    "number of parts": ((parts, 1),),
    "squeeze": ((expand, 1),),
    "module input size": ((channels, 1), (channels_layer, 1)),
    "negative size": ((negative, 1),),
    "convolution dimensions": ((conv_dims, 1),),
    "einsum sizes": ((einsum, 1),),
    "einsum dimensions": ((einsum_letters, 1),),
    "several targets": ((column_target, 1),),
    "class values": ((classes, 1),),
    "name after no turn": ((no_turn, 1),),
    "backward not scalar": ((not_scalar, 3),),
    "does not require grad": ((no_leaf, 1), (detached, 1), (in_no_grad, 1), (second_order, 1)),
    "second backward": ((twice, 1),),
    "in-place on leaf": ((leaf_written, 2), (leaf_augmented, 2)),
    "in-place on view of leaf": ((view_written, 2),),
    "saved tensor modified": ((saved_augmented, 2), (saved_method, 2), (saved_item, 1), (saved_relu, 1)),
    "one of differentiated not used": ((unused, 1),),
    "numpy of grad": ((numpy, 1),),
    "in-place on expanded": ((expanded, 2),),
    "inference tensor written": ((inference_written, 2),),
    "inference tensor saved": ((inference_saved, 2),),
    "grad is None": ((grad_too_early, 1), (grad_not_required, 1)),
    "grad is None in arithmetic": ((grad_of_no_leaf, 1),),
    "only floating point requires grad": ((whole_leaf, 2), (whole_flag, 1)),
    "dtype mismatch": ((two_dtypes, 2), (layer_dtype, 1)),
    "mean of integers": ((whole_mean, 2),),
    "not implemented for dtype": ((softmax, 1),),
    "no such accelerator": ((no_device, 1), (own_device, 1), (moved, 2), (moved_to, 2)),
    "device mismatch": ((two_devices, 1),),
    "item of many": ((many_items, 2),),
    "boolean of many": ((truth, 2),),
    "class numbers": ((float_classes, 1),),
    "index dtype": ((float_index, 1),),
    "embedding dtype": ((float_rows, 1),),
    "one_hot dtype": ((float_hot, 1),),
    "mask dtype": ((float_mask, 1),),
    "number for a tensor": ((number, 1), (item_number, 1)),
    "complex only": ((imaginary, 1),),
    "not positive definite": ((cholesky, 1),),
    "singular": ((inverse, 2),),
    "probabilities out of range": ((odds, 2),),
    "target size": ((column_of_odds, 1),),
    "normalized shape": ((norm, 1), (norm_layer, 1)),
    "gather dimensions": ((gather, 1),),
    "flag of a non-leaf": ((flag, 1),),
}
CANVASES |= {rule: (*CANVASES.get(rule, ()), *rows) for rule, rows in MORE.items()}
"""By rule: canvases that fail with it, and how many fixes as edits they have at least."""
CASES = [(rule, draw, least) for rule, rows in CANVASES.items() for draw, least in rows]


def failure_of(events: Iterable[Message]) -> Failed:
    return next(event for event in events if isinstance(event, Failed))


def records_of(events: Iterable[Message]) -> Callable[[ItemId, int], Record | None]:
    rows: dict[ItemId, Row] = {row.node: row for event in events if isinstance(event, Traced) for row in event.rows}
    return lambda item, output: rows[item].outputs[output] if item in rows else None


def concluded(drawing: Drawing, events: Iterable[Message]) -> dict[str, object]:
    """Our words on the failure, and each way out with the program it leads to ("" when it is words)."""
    told = [event for event in events if isinstance(event, Failed | Traced)]
    failed = failure_of(told)
    ways = fixes_for(failed, drawing.graph, records_of(told))
    programs = list[tuple[str, str]]()
    for way in ways:
        drawing.do(way.edits or ())
        programs.append((way.title, compile_graph(drawing.graph).code if way.edits else ""))
        drawing.undo()
    advice = explain(failed, drawing.graph)
    return {"explanation": advice.explanation, "words": advice.fixes, "fixes": programs}
