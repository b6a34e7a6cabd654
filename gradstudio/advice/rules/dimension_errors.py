"""Errors about the number of dimensions and about naming them. Data; the tests run each example."""

from gradstudio.advice.model import FixKind, Rule

DIMS: tuple[Rule, ...] = (
    Rule(
        "square matrices",
        "RuntimeError",
        r"(?P<op>[\w.]+): (?:A|input|The input tensor) must be batches of square matrices, "
        r"but they are (?P<a>\d+) by (?P<b>\d+) matrices",
        "{op} is defined for square matrices only: this one has {a} rows and {b} columns.",
        ("Multiply it with its transpose (A @ A.T) if that is meant", "Use pinv or lstsq, which take any shape"),
        "import torch\ntorch.linalg.inv(torch.ones(2, 3))",
        (FixKind("replace_if", 1, port="inv inverse", text="torch.linalg.pinv"),),
    ),
    Rule(
        "a matrix is wanted",
        "RuntimeError",
        r"(?:(?P<op>[\w.]+): )?(?:The )?[Ii]nput (?:tensor )?(?:\w+ )?(?:must have|needs) at least (?P<n>\d) "
        r"dimensions?"
        r"|(?P<op2>tril|triu): input tensor must have at least (?P<n2>\d) dimensions"
        r"|(?P<op3>[\w.]+): [Ee]xpected (?:a )?tensor with (?P<n3>\d) or more dimensions"
        r"|(?P<op4>[\w.]+)\([^)]*\): expected a tensor with (?P<n4>\d) or more dimensions"
        r"|tensor\.(?P<op5>mT|mH) is only supported on matrices",
        "This works on matrices, or on batches of them in the last two dimensions; the tensor has too few dimensions.",
        ("Insert a dimension of size 1 (unsqueeze)",),
        "import torch\ntorch.linalg.qr(torch.ones(3))",
        (FixKind("rank", 0, text="2+"),),
    ),
    Rule(
        "a vector is wanted",
        "RuntimeError",
        r"1D tensors expected, but got (?P<a>\d)D and (?P<b>\d)D tensors"
        r"|outer: Expected 1-D argument|Expect a 1D vector, but got shape|must be a one-dimensional tensor"
        r"|boundaries tensor must be 1 dimension|Expected 0D or 1D tensor in the tensor list",
        "This takes vectors, that is tensors with one dimension.",
        ("Flatten it (flatten)", "Use matmul for matrices"),
        "import torch\ntorch.dot(torch.ones(2, 3), torch.ones(3))",
        (FixKind("rank", 0, text="1"),),
    ),
    Rule(
        "two dimensions are wanted",
        "RuntimeError",
        r"mat\w* must be a matrix|trace: expected a matrix|cov\(\): expected input to have two or fewer dimensions"
        r"|block_diag: Input tensors must have 2 or fewer|diag\(\): Supports 1D or 2D tensors|'weight' must be 2-D",
        "This takes matrices: tensors with two dimensions, without a batch in front.",
        (
            "Use matmul (@), which takes batches too",
            "Join the first dimensions (flatten)",
            "Pick one matrix by an index",
        ),
        "import torch\ntorch.mm(torch.ones(2, 2), torch.ones(2, 2, 2))",
        (FixKind("replace_if", 0, port="mm", text="torch.matmul"),),
    ),
    Rule(
        "three dimensions are wanted",
        "RuntimeError",
        r"batch[12] must be a 3D tensor",
        "bmm multiplies batches of matrices, so both operands have three dimensions: (batch, rows, columns).",
        ("Use matmul (@), which takes matrices with and without a batch", "Insert a batch of one (unsqueeze(0))"),
        "import torch\ntorch.bmm(torch.ones(2, 3), torch.ones(3, 2))",
        (FixKind("replace_if", 0, port="bmm", text="torch.matmul"), FixKind("each_rank", 1, text="3")),
    ),
    Rule(
        "matrix and vector",
        "RuntimeError",
        r"vector \+ matrix @ vector expected, got (?P<c>\d), (?P<a>\d), (?P<b>\d)",
        "mv multiplies a matrix with a vector; here the operands have {a} and {b} dimensions.",
        ("Use matmul (@), which takes any two", "Insert a dimension into the matrix (unsqueeze)"),
        "import torch\ntorch.mv(torch.ones(3), torch.ones(3))",
        (FixKind("replace_if", 0, port="mv", text="torch.matmul"),),
    ),
    Rule(
        "transpose of many dimensions",
        "RuntimeError",
        r"t\(\) expects a tensor with <= 2 dimensions, but self is (?P<n>\d+)D",
        "t() turns matrices; this tensor has {n} dimensions.",
        ("Exchange the last two dimensions (.mT)",),
        "import torch\ntorch.ones(2, 3, 4).t()",
        (FixKind("replace", 0, text="torch.Tensor.mT"),),
    ),
    Rule(
        "product with one number",
        "RuntimeError",
        r"both arguments to matmul need to be at least 1D, but they are (?P<a>\d)D and (?P<b>\d)D",
        "A matrix product needs a vector or a matrix on both sides; one side is a single number.",
        ("Multiply element by element (*)",),
        "import torch\ntorch.ones(2, 3) @ torch.tensor(2.0)",
        (FixKind("replace", 0, text="operator.mul"),),
    ),
    Rule(
        "no dimensions",
        "",
        r"Dimension specified as -?\d+ but tensor has no dimensions|cannot be applied to a 0-dim tensor"
        r"|zero-dimensional tensor .*cannot be concatenated|iteration over a 0-d tensor|len\(\) of a 0-d tensor"
        r"|invalid index of a 0-dim tensor",
        "The tensor holds a single number and has no dimension to go along.",
        ("Make a vector with one element of it (unsqueeze(0))", "Take the number itself (item)"),
        "import torch\ntorch.fft.fft(torch.tensor(1.0))",
        (FixKind("rank", 0, text="1+"),),
    ),
    Rule(
        "lists of other ranks",
        "RuntimeError",
        r"Tensors must have same number of dimensions: got (?P<a>\d+) and (?P<b>\d+)",
        "Tensors that are joined have the same number of dimensions; one has {a}, another {b}.",
        ("Insert a dimension of size 1 into the smaller one (unsqueeze)",),
        "import torch\ntorch.cat([torch.ones(2, 3), torch.ones(3)])",
        (FixKind("rank_alike", 0),),
    ),
    Rule(
        "empty list",
        "",
        r"expected a non-empty (?:list of Tensors|TensorList|input tensor list)|expects a non-empty TensorList",
        "There is nothing to join: the list of tensors is empty.",
        ("Wire at least one tensor",),
        "import torch\ntorch.cat([])",
    ),
    Rule(
        "one tensor for a list",
        "TypeError",
        r"argument '(?P<p>\w+)' \(position \d+\) must be tuple of Tensors, not Tensor",
        "The argument '{p}' takes several tensors, and got one.",
        ("Open a port per tensor, and wire each to one",),
        "import torch\ntorch.cat(torch.ones(2))",
    ),
    Rule(
        "dimension twice",
        "RuntimeError",
        r"dim (?P<d>-?\d+) appears multiple times in the list of dims|duplicate dims? (?:are )?not allowed"
        r"|repeated dim in|Duplicate dim not allowed|diagonal dimensions cannot be identical"
        r"|expected rotation dims to be different|dim1? and dim2? cannot be (?:the same|equal)",
        "The same dimension is named twice; each may be named once.",
        ("Name different dimensions",),
        "import torch\ntorch.ones(2, 3).sum(dim=(0, 0))",
        (FixKind("unique_dims", 0),),
    ),
    Rule(
        "order of dimensions",
        "RuntimeError",
        r"number of dimensions in the tensor input does not match the length of the desired ordering of dimensions "
        r"i\.e\. input\.dim\(\) = (?P<a>\d+) is not equal to len\(dims\) = (?P<b>\d+)",
        "permute names every dimension once: the tensor has {a}, and {b} are named.",
        ("Name all dimensions, 0 to the last",),
        "import torch\ntorch.ones(2, 3).permute(0)",
        (FixKind("reverse_dims", 0),),
    ),
    Rule(
        "movedim lists",
        "RuntimeError",
        r"movedim: Invalid source or destination dims",
        "movedim moves each dimension of 'source' to the place in 'destination': both name equally many.",
        ("Name as many places as dimensions",),
        "import torch\ntorch.ones(2, 3).movedim((0, 1), (0,))",
    ),
    Rule(
        "flatten backwards",
        "RuntimeError",
        r"flatten\(\) has invalid args: start_dim cannot come after end_dim",
        "flatten joins the dimensions from start_dim to end_dim; the first comes after the last.",
        ("Take end_dim away, and torch goes to the last dimension",),
        "import torch\ntorch.ones(2, 3).flatten(1, 0)",
        (FixKind("set", 0, port="end_dim"),),
    ),
    Rule(
        "unflatten sizes",
        "RuntimeError",
        r"unflatten: Provided sizes \[(?P<a>[^\]]*)\] don't multiply up to the size of dim (?P<d>-?\d+) \((?P<n>\d+)\)",
        "Dimension {d} has {n} elements, and the sizes [{a}] do not multiply to that.",
        ("Write -1 for one size and torch computes it", "Choose sizes whose product is the dimension's"),
        "import torch\ntorch.ones(2, 3).unflatten(1, (2, 2))",
    ),
    Rule(
        "too few sizes to expand",
        "RuntimeError",
        r"the number of sizes provided \((?P<a>\d+)\) must be greater or equal to the number of dimensions in the "
        r"tensor \((?P<b>\d+)\)|Number of dimensions of repeat dims can not be smaller than number of dimensions",
        "One size is needed for each dimension of the tensor, and there are fewer.",
        ("Write a size for every dimension; -1 keeps it as it is in expand, 1 in repeat",),
        "import torch\ntorch.ones(2, 3).expand(3)",
        (FixKind("lead_sizes", 0),),
    ),
    Rule(
        "two unknown sizes",
        "RuntimeError",
        r"only one dimension can be inferred",
        "-1 lets torch compute one size from the others, so it may stand once only.",
        ("Write -1 for one size and numbers for the others",),
        "import torch\ntorch.ones(2, 3).reshape(-1, -1)",
        (FixKind("one_unknown", 0),),
    ),
    Rule(
        "ambiguous size",
        "RuntimeError",
        r"cannot reshape tensor of 0 elements into shape .* ambiguous",
        "The tensor has no elements, so -1 could be any size.",
        ("Write every size as a number",),
        "import torch\ntorch.ones(0, 5).reshape(0, -1)",
    ),
    Rule(
        "ragged numbers",
        "ValueError",
        r"expected sequence of length (?P<a>\d+) at dim (?P<d>\d+) \(got (?P<b>\d+)\)",
        "The rows of a tensor are equally long: in dimension {d} one has {a} elements, another {b}.",
        ("Give every row as many numbers",),
        "import torch\ntorch.tensor([[1, 2], [3]])",
    ),
    Rule(
        "contracted sizes",
        "RuntimeError",
        r"contracted dimensions need to match, but first has size (?P<a>\d+) in dim -?\d+ and second has size "
        r"(?P<b>\d+)"
        r"|tensors \d+ and \d+ with shapes \[[^\]]*, (?P<c>\d+)\] and \[(?P<d>\d+), [^\]]*\] cannot be multiplied"
        r"|must have the same number of columns\. X1: (?P<e>\d+) X2: (?P<f>\d+)",
        "The dimensions that are summed over must be equally large: {a}{c}{e} against {b}{d}{f}.",
        ("Transpose one of the two (.T)", "Name other dimensions to sum over"),
        "import torch\ntorch.tensordot(torch.ones(2, 3), torch.ones(2, 3), dims=1)",
        (FixKind("transpose_any", 0),),
    ),
    Rule(
        "equation system",
        "RuntimeError",
        r"Incompatible shapes of A and B for the equation AX = B \((?P<a>\d+)x(?P<b>\d+) and (?P<c>\d+)x(?P<d>\d+)\)"
        r"|lstsq: input\.size\(-2\) should match other\.size\(-2\)",
        "A X = B needs as many rows on the right as A has.",
        ("Give B as many rows as A has", "Transpose B (.T)"),
        "import torch\ntorch.linalg.solve(torch.eye(3), torch.ones(2))",
    ),
    Rule(
        "mask shape",
        "IndexError",
        r"The shape of the mask \[(?P<a>[^\]]*)\] at index \d+ does not match the shape of the indexed tensor "
        r"\[(?P<b>[^\]]*)\] at index (?P<d>\d+)",
        "A mask has the shape of what it picks from: the mask is [{a}], the tensor [{b}]; they differ in "
        "dimension {d}.",
        ("Make the mask from the tensor itself, by a comparison", "Transpose the mask (.T)"),
        "import torch\ntorch.ones(2, 3)[torch.ones(3, 2, dtype=torch.bool)]",
        (FixKind("transpose_mask", 1),),
    ),
    Rule(
        "index tensors",
        "IndexError",
        r"shape mismatch: indexing tensors could not be broadcast together with shapes (?P<a>\[[^\]]*\]), "
        r"(?P<b>\[[^\]]*\])",
        "Index tensors are read side by side, so their shapes must broadcast: {a} and {b} do not.",
        ("Give the index tensors one shape", "Insert dimensions of size 1 (unsqueeze)"),
        "import torch\nx = torch.ones(2, 3)\nx[torch.tensor([0, 1]), torch.tensor([0, 1, 2])]",
    ),
    Rule(
        "gather sizes",
        "RuntimeError",
        r"(?:Size does not match at dimension (?P<d>\d+) )?[Ee]xpected index \[(?P<i>[^\]]*)\] to be (?:no "
        r"larger|smaller) "
        r"than self \[(?P<s>[^\]]*)\] apart from dimension (?P<k>\d+)",
        "The index takes one element for each of its own, so but for dimension {k} it may be no larger than "
        "the tensor: "
        "the index is [{i}], the tensor [{s}].",
        ("Cut the index to the tensor's size", "Choose the other dimension"),
        "import torch\ntorch.gather(torch.ones(1, 1), 1, torch.zeros(2, 2, dtype=torch.int64))",
    ),
    Rule(
        "index is a vector",
        "IndexError",
        r"Index is supposed to be (?:a vector|an empty tensor or a vector|1-dimensional)",
        "index_select takes a vector of positions along one dimension.",
        ("Flatten the index (flatten)", "Use gather for an index of more dimensions"),
        "import torch\ntorch.index_select(torch.ones(2, 3), 0, torch.zeros(1, 1, dtype=torch.int64))",
        (FixKind("rank", 0, port="index", text="1"),),
    ),
    Rule(
        "pieces of another count",
        "",
        r"Number of indices \((?P<a>\d+)\) should be equal to source\.size\(dim\): \((?P<b>\d+)\)"
        r"|same number of elements, but got source\.numel\(\) = (?P<c>\d+), index\.numel\(\) = (?P<d>\d+)",
        "Each position of the index takes one piece of the source: there are {a}{d} positions and {b}{c} pieces.",
        ("Give the index as many positions as the source has pieces",),
        "import torch\ntorch.ones(2, 3).index_add(0, torch.tensor([0]), torch.ones(2, 3))",
    ),
    Rule(
        "length beyond the end",
        "RuntimeError",
        r"start \((?P<s>-?\d+)\) \+ length \((?P<l>-?\d+)\) exceeds dimension size \((?P<n>\d+)\)",
        "The dimension has {n} elements: {l} from number {s} on goes beyond its end.",
        ("Take a shorter length",),
        "import torch\ntorch.ones(2, 3).narrow(0, 1, 4)",
        (FixKind("shorter", 0),),
    ),
    Rule(
        "window longer than dimension",
        "RuntimeError",
        r"maximum size for tensor at dimension (?P<d>-?\d+) is (?P<n>\d+) but size is (?P<v>\d+)",
        "A window of {v} does not fit into dimension {d}, which has {n} elements.",
        ("Take a smaller size",),
        "import torch\ntorch.ones(2, 3).unfold(0, 5, 1)",
        (FixKind("allowed", 0, port="size", text="{n}"),),
    ),
    Rule(
        "storage is too small",
        "RuntimeError",
        r"setStorage: sizes \[(?P<a>[^\]]*)\], strides \[(?P<b>[^\]]*)\].* are out of bounds for storage of "
        r"size (?P<n>\d+)",
        "These sizes [{a}] and strides [{b}] reach beyond the tensor's memory of {n} bytes.",
        ("Choose smaller sizes or strides", "Use reshape or expand, which cannot reach outside"),
        "import torch\ntorch.ones(2, 3).as_strided((3, 3), (9, 9))",
    ),
    Rule(
        "empty reduction",
        "",
        r"Expected reduction dim (?:\d+ to have non-zero size|to be specified for input\.numel\(\) == 0)"
        r"|cannot compute \w+ over an empty dimension",
        "There is no largest or smallest of nothing: the tensor has no elements there.",
        ("Make sure that the tensor has elements", "Name a dimension that has elements"),
        "import torch\ntorch.ones(0).max()",
    ),
    Rule(
        "split of nothing",
        "RuntimeError",
        r"split_size can only be 0 if|chunk expects `chunks` to be greater than 0"
        r"|attempted to split along dimension (?P<d>\d+), but the size of the dimension (?P<n>\d+) is not divisible by "
        r"the split_size (?P<v>-?\d+)",
        "The dimension cannot be cut into parts of that size.",
        ("Take a size that divides the dimension, 1 or more",),
        "import torch\ntorch.ones(2, 3).split(0)",
        (
            FixKind("allowed", 0, port="split_size_or_sections", text="1"),
            FixKind("allowed", 0, port="split_size", text="1"),
            FixKind("allowed", 0, port="chunks", text="1"),
            FixKind("allowed", 0, port="indices_or_sections", text="1"),
        ),
    ),
)
