"""More canvases that fail in torch, a row each: the rule, how many fixes at least, the operator and what goes in."""

import re
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from gradstudio.graph import recipes
from gradstudio.graph.model import ItemId
from tests.graph.builder import Drawing

SOURCE = re.compile(r"(\w+)(\(.*\)|\[.*\])(?::(\w+))?")


class Wrong(NamedTuple):
    """One program.

    Attributes:
        sources: ``randn(2, 3)``, ``ones(2):float64``, ``tensor[0, 1]``; a name before ``=`` is the port.
        literals: of the operator, or (``module.name``) of the module that it makes.
    """

    rule: str
    least: int
    key: str
    sources: tuple[str, ...] = ()
    literals: dict[str, str] = {}  # noqa: RUF012 - never changed


WRONG: dict[str, Wrong] = {
    "inverse_of_oblong": Wrong("square matrices", 1, "torch.linalg.inv", ("randn(2, 3)",)),
    "qr_of_vector": Wrong("a matrix is wanted", 1, "torch.linalg.qr", ("randn(3)",)),
    "triangle_of_vector": Wrong("a matrix is wanted", 1, "torch.tril", ("randn(3)",)),
    "dot_of_row": Wrong("a vector is wanted", 1, "torch.dot", ("randn(1, 3)", "randn(3)")),
    "outer_of_matrix": Wrong("a vector is wanted", 1, "torch.outer", ("randn(2, 3)", "randn(3)")),
    "mm_of_batch": Wrong("two dimensions are wanted", 1, "torch.mm", ("randn(2, 3)", "randn(2, 3, 4)")),
    "bmm_of_matrices": Wrong("three dimensions are wanted", 2, "torch.bmm", ("randn(2, 3)", "randn(3, 4)")),
    "mv_of_vectors": Wrong("matrix and vector", 1, "torch.mv", ("randn(3)", "randn(3)")),
    "t_of_batch": Wrong("transpose of many dimensions", 1, "torch.Tensor.t", ("randn(2, 3, 4)",)),
    "matmul_of_number": Wrong("product with one number", 1, "operator.matmul", ("randn(2, 3)", "tensor[]2.0")),
    "fft_of_number": Wrong("no dimensions", 1, "torch.fft.fft", ("tensor[]1.0",)),
    "cat_of_ranks": Wrong("lists of other ranks", 1, "torch.cat", ("tensors.0=randn(2, 3)", "tensors.1=randn(3)")),
    "sum_twice": Wrong("dimension twice", 1, "torch.Tensor.sum", ("randn(2, 3)",), {"dim": "(0, 0)"}),
    "permute_one": Wrong("order of dimensions", 1, "torch.Tensor.permute", ("randn(2, 3)",), {"dims": "(0,)"}),
    "flatten_back": Wrong(
        "flatten backwards", 1, "torch.flatten", ("randn(2, 3)",), {"start_dim": "1", "end_dim": "0"}
    ),
    "expand_few": Wrong("too few sizes to expand", 1, "torch.Tensor.expand", ("randn(2, 3)",), {"size": "(3,)"}),
    "repeat_few": Wrong("too few sizes to expand", 1, "torch.Tensor.repeat", ("randn(2, 3)",), {"repeats": "(3,)"}),
    "two_minus_ones": Wrong("two unknown sizes", 1, "torch.Tensor.reshape", ("randn(2, 3)",), {"shape": "(-1, -1)"}),
    "tensordot": Wrong("contracted sizes", 1, "torch.tensordot", ("randn(2, 3)", "randn(2, 3)"), {"dims": "1"}),
    "turned_mask": Wrong("mask shape", 1, "operator.getitem", ("randn(2, 3)", "index=ones(3, 2):bool")),
    "index_matrix": Wrong(
        "index is a vector", 1, "torch.index_select", ("ones(2, 3)", "index=tensor[[0, 1]]"), {"dim": "0"}
    ),
    "narrow_far": Wrong(
        "length beyond the end", 1, "torch.narrow", ("ones(2, 3)",), {"dim": "0", "start": "1", "length": "4"}
    ),
    "unfold_far": Wrong(
        "window longer than dimension", 1, "torch.Tensor.unfold", ("ones(2, 3)",),
        {"dimension": "0", "size": "5", "step": "1"},
    ),
    "chunk_none": Wrong("split of nothing", 1, "torch.chunk", ("ones(2, 3)",), {"chunks": "0"}),
    "std_of_ints": Wrong("floating point is wanted", 1, "torch.std", ("ones(3):int64",)),
    "inverse_of_ints": Wrong("floating point is wanted", 1, "torch.linalg.det", ("ones(2, 2):int64",)),
    "normalize_ints": Wrong("floating point is wanted", 1, "torch.nn.functional.normalize", ("ones(2, 2):int64",)),
    "class_table": Wrong(
        "probabilities as classes", 2, "torch.nn.functional.cross_entropy",
        ("randn(2, 3)", "tensor[[0, 0, 1], [1, 0, 0]]")
    ),
    "lerp_by_double": Wrong("dtype of an argument", 1, "torch.lerp", ("ones(2)", "ones(2)", "weight=ones(2):float64")),
    "bce_of_bools": Wrong(
        "dtype of a loss", 1, "torch.nn.functional.binary_cross_entropy", ("rand(2, 3)", "ones(2, 3):bool")
    ),
    "half_in_place": Wrong("result does not fit in place", 1, "torch.Tensor.add_", ("ones(3):int64",),
        {"other": "0.5"}),
    "exp_in_place": Wrong("result does not fit in place", 1, "torch.Tensor.exp_", ("ones(3):int64",)),
    "gather_by_floats": Wrong(
        "whole numbers are wanted", 1, "torch.gather", ("ones(2, 3)", "index=ones(2, 3)"), {"dim": "1"}
    ),
    "select_by_floats": Wrong("boolean mask is wanted", 1, "torch.masked_select", ("ones(2)", "ones(2)")),
    "minus_mask": Wrong("minus of truth", 1, "operator.neg", ("ones(2):bool",)),
    "mask_minus_mask": Wrong("difference of truths", 1, "operator.sub", ("ones(2):bool", "ones(2):bool")),
    "not_floats": Wrong("not on fractions", 1, "operator.invert", ("ones(2)",)),
    "floor_of_complex": Wrong("not for complex", 1, "torch.floor", ("ones(2):complex64",)),
    "negative_power": Wrong("whole number to a negative power", 1, "torch.pow", ("ones(2):int64",), {"exponent": "-1"}),
    "fill_by_vector": Wrong(
        "one number to fill with", 1, "torch.masked_fill", ("ones(2)", "ones(2):bool", "value=ones(2)")
    ),
    "gather_far": Wrong("index of gather", 1, "torch.gather", ("ones(2, 3)", "index=tensor[[7, 0, 0]]"), {"dim": "1"}),
    "top_five": Wrong("number of elements to take", 1, "torch.topk", ("ones(2, 3)",), {"k": "5"}),
    "dropout_most": Wrong("between 0 and 1", 1, "torch.nn.functional.dropout", ("ones(2)",), {"p": "1.5"}),
    "smooth_labels": Wrong(
        "between 0 and 1", 1, "torch.nn.functional.cross_entropy", ("randn(2, 3)", "tensor[0, 1]"),
        {"label_smoothing": "2.0"},
    ),
    "odds_of_target": Wrong(
        "probabilities of the target", 1, "torch.nn.functional.binary_cross_entropy", ("rand(2)", "tensor[7.0, 7.0]")
    ),
    "no_step": Wrong("step of nothing", 1, "torch.arange:start", (), {"start": "0", "end": "5", "step": "0"}),
    "down_range": Wrong("bounds the wrong way round", 1, "torch.arange:start", (), {"start": "5", "end": "0"}),
    "negative_eye": Wrong("must not be negative", 1, "torch.eye", (), {"n": "-2"}),
    "negative_steps": Wrong(
        "must not be negative", 1, "torch.linspace", (), {"start": "0.0", "end": "1.0", "steps": "-1"}
    ),
    "no_delta": Wrong(
        "must be above zero", 1, "torch.nn.functional.huber_loss", ("ones(2)", "ones(2)"), {"delta": "0.0"}
    ),
    "stride_of_none": Wrong(
        "must be above zero", 1, "torch.nn.functional.conv2d",
        ("ones(1, 3, 8, 8)", "ones(4, 3, 2, 2)"), {"stride": "0"}
    ),
    "many_draws": Wrong("drawing without putting back", 1, "torch.multinomial", ("ones(3)",), {"num_samples": "9"}),
    "negative_weights": Wrong(
        "weights of a draw", 1, "torch.multinomial", ("tensor[-1.0, -1.0, -1.0]",), {"num_samples": "2"}
    ),
    "no_draws": Wrong("number of draws", 1, "torch.multinomial", ("ones(3)",), {"num_samples": "0"}),
    "no_limits": Wrong("no limit", 1, "torch.clamp", ("ones(3)",), {"min": "", "max": ""}),
    "take_far": Wrong("end of a flat tensor", 1, "torch.select", ("ones(2, 3)",), {"dim": "0", "index": "9"}),
    "turned_convolution": Wrong(
        "transposed convolution channels", 1, "torch.nn.ConvTranspose2d", ("inputs.0=ones(1, 5, 8, 8)",)
    ),
    "large_kernel": Wrong(
        "kernel larger than input", 1, "torch.nn.Conv2d", ("inputs.0=ones(1, 3, 8, 8)",),
        {"module.in_channels": "3", "module.out_channels": "4", "module.kernel_size": "9"},
    ),
    "large_pool": Wrong(
        "nothing left of the pool", 1, "torch.nn.functional.max_pool2d", ("ones(1, 3, 8, 8)",), {"kernel_size": "9"}
    ),
    "wide_padding": Wrong(
        "padding of a pool", 1, "torch.nn.functional.max_pool2d", ("ones(1, 3, 8, 8)",),
        {"kernel_size": "2", "padding": "2"},
    ),
    "pool_of_vector": Wrong(
        "dimensions of a picture", 1, "torch.nn.functional.max_pool1d", ("ones(8)",), {"kernel_size": "2"}
    ),
    "norm_of_others": Wrong(
        "features of a batch norm", 1, "torch.nn.BatchNorm1d", ("inputs.0=ones(2, 3)",), {"module.num_features": "4"}
    ),
    "norm_of_nothing": Wrong(
        "statistics are missing", 1, "torch.nn.functional.batch_norm", ("randn(2, 3)",), {"training": ""}
    ),
    "odd_groups": Wrong(
        "groups of channels", 1, "torch.nn.functional.group_norm", ("randn(2, 3)",), {"num_groups": "2"}
    ),
    "recurrent": Wrong(
        "input of a recurrent layer", 1, "torch.nn.LSTM", ("inputs.0=ones(2, 3)",),
        {"module.input_size": "4", "module.hidden_size": "5"},
    ),
    "recurrent_vector": Wrong(
        "dimensions of a recurrent layer", 1, "torch.nn.LSTM", ("inputs.0=ones(3)",),
        {"module.input_size": "3", "module.hidden_size": "5"},
    ),
    "size_or_factor": Wrong("size or factor", 1, "torch.nn.functional.interpolate", ("ones(1, 1, 4, 4)",),
        {"scale_factor": ""}),
    "enlarge_matrix": Wrong(
        "dimensions to interpolate", 1, "torch.nn.functional.interpolate", ("ones(2, 3)",), {"scale_factor": "2.0"}
    ),
    "half_a_pair": Wrong("amounts of padding", 1, "torch.nn.functional.pad", ("ones(2, 3)",), {"pad": "(1,)"}),
    "slopes": Wrong(
        "slopes of prelu", 1, "torch.nn.PReLU", ("inputs.0=ones(2, 3)",), {"module.num_parameters": "5"}
    ),
    "target_of_column": Wrong(
        "target of another shape", 1, "torch.nn.functional.binary_cross_entropy", ("rand(2, 1)", "rand(2)")
    ),
    "pool_to_nothing": Wrong(
        "shape of the output", 1, "torch.nn.functional.adaptive_avg_pool2d",
        ("ones(1, 2, 4, 4)",),
        {"output_size": "()"}
    ),
    "exchanged": Wrong("matmul shapes", 1, "operator.matmul", ("randn(3, 4)", "randn(2, 3)")),
    "not_flat": Wrong(
        "matmul shapes", 2, "torch.nn.Linear", ("inputs.0=randn(2, 3, 4)",),
        {"module.in_features": "12", "module.out_features": "2"},
    ),
    "heads": Wrong(
        "heads of attention", 1, "torch.nn.MultiheadAttention", ("inputs.0=randn(2, 5)", "inputs.1=randn(2, 5)",
        "inputs.2=randn(2, 5)"), {"module.embed_dim": "5", "module.num_heads": "2"},
    ),
    "retained_plain": Wrong("differentiated without grad", 1, "torch.Tensor.retain_grad", ("randn(2)",)),
    "negative_rate": Wrong("setting of an optimizer", 1, "torch.optim.SGD", ("params=ones(2):grad",), {"lr": "-1.0"}),
    "nesterov": Wrong(
        "nesterov", 2, "torch.optim.SGD", ("params=ones(2):grad",), {"lr": "0.1", "nesterov": "True"}
    ),
    "fft_of_none": Wrong("length of a transform", 1, "torch.fft.fft", ("ones(4)",), {"n": "0"}),
    "flip_vector": Wrong("number of dimensions", 1, "torch.fliplr", ("ones(3)",)),
}  # fmt: skip


def source(drawing: Drawing, text: str) -> ItemId:
    """A creation node: ``randn(2, 3)``, ``ones(2):float64``, ``ones(2):grad``, ``tensor[0, 1]``."""
    word, _, rest = text.partition("[")
    if word in ("tensor", "literal") and rest:
        data = rest[1:] if rest.startswith("]") else f"[{rest}"
        return drawing.add("torch.tensor", data=data) if word == "tensor" else drawing.add("python.literal", value=data)
    found = SOURCE.fullmatch(text)
    assert found is not None
    word, size, extra = found.groups()
    size = size if "," in size else f"{size[:-1]},)"
    match extra:
        case None:
            return drawing.add(f"torch.{word}", size=size)
        case "grad":
            return drawing.add(f"torch.{word}", size=size, requires_grad="True")
        case _:
            return drawing.add(f"torch.{word}", size=size, dtype=f"torch.{extra}")


def drawn(name: str, wrong: Wrong) -> Callable[[Drawing], None]:
    """What draws a row, called by its name."""

    def draw(drawing: Drawing) -> None:
        plain = [source(drawing, text) for text in wrong.sources if "=" not in text]
        own = {path: text for path, text in wrong.literals.items() if not path.startswith("module.")}
        item = drawing.add(wrong.key, *plain, **own)
        for text in wrong.sources:
            port, mark, what = text.partition("=")
            if mark:
                drawing.wire(source(drawing, what), item, port)
        lists = Counter(text.partition(".")[0] for text in wrong.sources if re.match(r"\w+\.\d+=", text))
        for name, count in lists.items():
            if drawing.graph.nodes[item].lengths.get(name, 0) > count:
                drawing.do(recipes.split_list(drawing.graph, item, name, count))
        for path, text in wrong.literals.items():
            if path.startswith("module."):
                module = drawing.graph.wires[item, "module"].source
                drawing.do(recipes.set_literal(drawing.graph, module, path.removeprefix("module."), text))

    draw.__name__ = name
    return draw


MORE: dict[str, tuple[tuple[Callable[[Drawing], None], int], ...]] = {}
for _name, _wrong in WRONG.items():
    MORE[_wrong.rule] = (*MORE.get(_wrong.rule, ()), (drawn(_name, _wrong), _wrong.least))
