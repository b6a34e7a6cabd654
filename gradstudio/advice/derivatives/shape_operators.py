"""Operators that move elements about, choose among them, convert them; and the statements of a backward."""

from gradstudio.advice.derivatives.rule_rows import BROADCAST, COMPOSITION, TableRow, general

MOVED = "1 where an element went, else 0"


def _moved(keys: str, forward: str, source: str, back: str) -> TableRow:
    """An operator whose result has the elements of its first argument in other places."""
    return general(keys, forward, source, ("a", MOVED, back))


VIEWS = (
    _moved(
        "torch.Tensor.view torch.Tensor.view_as",
        "the elements of $a in another shape",
        "view",
        "grad, reshaped to the shape of $a",
    ),
    _moved(
        "reshape reshape_as flatten ravel torch.Tensor.unflatten",
        "the elements of $a in another shape",
        COMPOSITION,
        "grad, reshaped to the shape of $a",
    ),
    _moved("torch.Tensor.T torch.Tensor.mT t", "$a transposed", "t", "grad, transposed"),
    _moved(
        "transpose swapaxes", "two dimensions of $a swapped", "transpose.int", "grad, the same two dimensions swapped"
    ),
    _moved("permute movedim", "the dimensions of $a in another order", "permute", "grad, the dimensions put back"),
    _moved(
        "expand expand_as broadcast_to",
        "$a repeated without copying",
        "expand",
        "grad, summed over the dimensions that were expanded",
    ),
    _moved(
        "torch.broadcast_tensors", "all expanded to one shape", COMPOSITION, "grad, summed over the expanded dimensions"
    ),
    _moved(
        "squeeze torch.squeeze:dim torch.Tensor.squeeze:dim",
        "$a without dimensions of size 1",
        "squeeze.dim",
        "grad, with the dimensions of size 1 put back",
    ),
    _moved("unsqueeze", "$a with one more dimension of size 1", "unsqueeze", "grad without that dimension"),
    _moved("atleast_1d atleast_2d", "$a with dimensions added", COMPOSITION, "grad in the shape of $a"),
    _moved("repeat tile", "copies of $a side by side", "repeat", "grad, summed over the copies"),
    _moved(
        "repeat_interleave", "each element several times", COMPOSITION, "grad, summed over the copies of each element"
    ),
    _moved("flip", "$a backwards along $dims", "flip", "grad, flipped along the same dimensions"),
    _moved("roll", "$a rolled", "roll", "grad, rolled back"),
    _moved("rot90", "$a turned", "rot90", "grad, turned back"),
    _moved("contiguous clone", "a copy of $a", "clone", "grad"),
    _moved("python.alias", "$a", "alias", "grad"),
    _moved("as_strided", "$a read with other strides", "as_strided", "grad added where each element was read"),
    _moved("torch.Tensor.unfold", "windows of $a", "unfold", "grad added where each window lay"),
    _moved("tril", "the lower triangle of $a", "tril", "the lower triangle of grad, 0 above"),
    _moved("triu", "the upper triangle of $a", "triu", "the upper triangle of grad, 0 below"),
    _moved("diagonal diag", "the diagonal of $a", "diagonal", "grad on the diagonal, 0 elsewhere"),
    _moved("diag_embed", "$a on a diagonal", "diag_embed", "the diagonal of grad"),
)

CHOICES = (
    _moved("operator.getitem", "$a[$b]", "index.Tensor", "zeros like $a, with grad added at [$b]"),
    _moved("select", "one slice of $a", "select.int", "zeros like $a, with grad at that slice"),
    _moved("narrow", "a slice of $a", "slice.Tensor", "zeros like $a, with grad at that slice"),
    _moved("gather take_along_dim", "$a at the indices", "gather", "zeros like $a, with grad added at the indices"),
    _moved(
        "index_select", "slices of $a at the indices", "index_select", "zeros like $a, with grad added at the indices"
    ),
    _moved("take", "$a, flat, at the indices", "take", "zeros like $a, with grad added at the indices"),
    _moved(
        "masked_select", "$a where the mask is True", "masked_select", "zeros like $a, with grad where the mask is True"
    ),
    general(
        "masked_fill",
        "$value where the mask is True, else $a",
        "masked_fill.Tensor",
        ("a", "0 where the mask is True, else 1", "grad, 0 where the mask is True"),
        ("value", "1 where the mask is True, else 0", "the sum of grad where the mask is True"),
    ),
    general(
        "where",
        "$b where $a, else $c",
        "where.self",
        ("b", "1 where $a, else 0", f"grad where $a, else 0{BROADCAST}", "where(a, 1.0, 0.0)"),
        ("c", "0 where $a, else 1", f"0 where $a, else grad{BROADCAST}", "where(a, 0.0, 1.0)"),
    ),
    general(
        "operator.setitem",
        "$a, then $a[$b] = $c",
        "index_put",
        ("a", "0 at [$b], else 1", "grad, 0 at [$b]"),
        ("c", "1 at [$b]", f"grad[$b]{BROADCAST}"),
    ),
    general(
        "scatter",
        "$a, with $src put at the indices",
        "scatter.src",
        ("a", "0 at the indices, else 1", "grad, 0 at the indices"),
        ("src", "1 at the indices", "grad at the indices"),
    ),
    general(
        "scatter_add",
        "$a, with $src added at the indices",
        "scatter_add",
        ("a", "1", "grad"),
        ("src", "1 at the indices", "grad at the indices"),
    ),
    general(
        "index_add",
        "$a, with $source added at the indices",
        "index_add",
        ("a", "1", "grad"),
        ("source", "1 at the indices", "grad at the indices"),
    ),
    general(
        "index_copy",
        "$a, with $source put at the indices",
        "index_copy",
        ("a", "0 at the indices, else 1", "grad, 0 at the indices"),
        ("source", "1 at the indices", "grad at the indices"),
    ),
    general(
        "index_fill",
        "$a, with $value put at the indices",
        "index_fill.int_Tensor",
        ("a", "0 at the indices, else 1", "grad, 0 at the indices"),
        ("value", "1 at the indices", "the sum of grad at the indices"),
    ),
    general(
        "torch.Tensor.copy_",
        "$b, written over $a",
        COMPOSITION,
        ("a", "0", "0"),
        ("b", "1", f"grad{BROADCAST}"),
    ),
    general("fill torch.Tensor.fill_", "$b everywhere", "fill.Tensor", ("a", "0", "0"), ("b", "1", "the sum of grad")),
    general("torch.Tensor.zero_", "0 everywhere", "zero_", ("a", "0", "0")),
)

JOINS = (
    general(
        "cat hstack vstack dstack",
        "the $a one after another",
        "cat",
        ("a", MOVED, "the slice of grad that this one filled"),
    ),
    general(
        "stack", "the $a along a new dimension", "stack", ("a", MOVED, "grad at this one's place of the new dimension")
    ),
    general(
        "split chunk tensor_split",
        "slices of $a",
        "split.Tensor",
        ("a", MOVED, "the grads of the slices, joined (0 for a slice that is not used)"),
    ),
    general("unbind", "slices of $a along a dimension", "unbind.int", ("a", MOVED, "the grads of the slices, stacked")),
    general(
        "meshgrid cartesian_prod",
        "$a repeated over a grid",
        COMPOSITION,
        ("a", MOVED, "grad, summed over the other dimensions"),
    ),
    general("block_diag", "the $a on a diagonal", "block_diag", ("a", MOVED, "the block of grad that this one filled")),
)

CONVERSIONS = (
    general(
        "torch.Tensor.to torch.Tensor.to:dtype torch.Tensor.to:other torch.Tensor.float torch.Tensor.double "
        "torch.Tensor.half torch.Tensor.bfloat16 torch.Tensor.type_as torch.Tensor.cpu torch.Tensor.cuda",
        "$a as another dtype, or elsewhere",
        "_to_copy",
        ("a", "1", "grad, as the dtype and on the device of $a"),
    ),
    general(
        "real",
        "the real part of $a",
        COMPOSITION,
        ("a", "1 for the real part", "grad as a complex number, imaginary part 0"),
    ),
    general("imag", "the imaginary part of $a", COMPOSITION, ("a", "1 for the imaginary part", "i · grad")),
    general(
        "complex",
        "$a + i · $b",
        "complex",
        ("a", "1", "the real part of grad"),
        ("b", "i", "the imaginary part of grad"),
    ),
    general("conj", "$a conjugated", "_conj", ("a", "conjugation", "grad conjugated")),
)

BACKWARD = (
    general(
        "torch.Tensor.backward torch.autograd.backward",
        "the gradients of $a with respect to the leaves, added to their .grad",
        COMPOSITION,
        ("a", "1: the gradient begins here", "the gradient given, else 1 for a scalar"),
    ),
    general(
        "torch.autograd.grad",
        "the gradients of $a with respect to $b",
        COMPOSITION,
        ("a", "1: the gradient begins here", "grad_outputs, else 1 for a scalar"),
    ),
)

ROWS: tuple[TableRow, ...] = (*VIEWS, *CHOICES, *JOINS, *CONVERSIONS, *BACKWARD)
