"""Errors of layers, losses, pooling and attention. Data; the tests run each example."""

from gradstudio.advice.model import FixKind, Rule
from gradstudio.advice.rules.process_errors import OUTSIDE_MESH

LAYERS: tuple[Rule, ...] = (
    Rule(
        "transposed convolution channels",
        "RuntimeError",
        r"Given transposed=\d, weight of size \[(?P<w>[^\]]*)\], expected input\[(?P<i>[^\]]*)\] to have (?P<c>\d+) "
        r"channels, but got (?P<n>\d+) channels instead",
        "The transposed convolution was made for {c} channels; the input [{i}] has {n}.",
        ("Set in_channels to the number of channels",),
        "import torch\ntorch.nn.functional.conv_transpose2d(torch.ones(1, 3, 8, 8), torch.ones(4, 2, 3, 3))",
        (FixKind("module_literal", 0, port="in_channels", text="{n}"),),
    ),
    Rule(
        "kernel larger than input",
        "RuntimeError",
        r"Calculated padded input size per channel: \((?P<i>[^)]*)\)\. Kernel size: \((?P<k>\d+)[^)]*\)\. "
        r"Kernel size can't be greater than actual input size",
        "The kernel (edge {k}) slides over the input, whose size with its padding is {i}: it does not fit in.",
        ("Take a smaller kernel_size", "Pad the input (padding)"),
        "import torch\ntorch.nn.functional.conv2d(torch.ones(1, 3, 8, 8), torch.ones(4, 3, 9, 9))",
        (FixKind("allowed", 0, port="kernel_size", text="1"), FixKind("allowed", 1, port="padding", text="{k}")),
    ),
    Rule(
        "nothing left of the pool",
        "RuntimeError",
        r"Given input size: \((?P<i>[\dx]+)\)\. Calculated output size: \((?P<o>[\dx-]+)\)\. Output size is too small"
        r"|Invalid computed output size: (?P<v>-?\d+)",
        "The window is larger than what it slides over ({i}), so nothing would be left.",
        ("Take a smaller kernel_size", "Leave a pool out"),
        "import torch\ntorch.nn.functional.max_pool2d(torch.ones(1, 3, 8, 8), 9)",
        (FixKind("allowed", 0, port="kernel_size", text="1"),),
    ),
    Rule(
        "padding of a pool",
        "RuntimeError",
        r"pad should be at most half of effective kernel size, but got pad=(?P<v>\d+), kernel_size=(?P<k>\d+)",
        "The padding of a pool is at most half its kernel ({k}), else a window would hold padding alone.",
        ("Take a padding of at most half the kernel",),
        "import torch\ntorch.nn.functional.max_pool2d(torch.ones(1, 1, 4, 4), 2, padding=2)",
        (FixKind("allowed", 0, port="padding", text="0"),),
    ),
    Rule(
        "dimensions of a picture",
        "",
        r"(?:(?P<op>\w+):? )?[Ee]xpected (?P<a>\d)D or (?P<b>\d)D (?:\(batch mode\) )?(?:tensor|input)[^\[(]*"
        r"[\[(](?:got )?(?P<i>[^\])]*)[\])]|non-empty (?P<c>\d)D or (?P<d>\d)D \(batch mode\) tensor expected "
        r"for input",
        "This slides over the last dimensions: it takes (channels, …) or (batch, channels, …), "
        "that is {a}{c} or {b}{d} dimensions.",
        ("Insert the dimensions that are missing (unsqueeze)",),
        "import torch\ntorch.nn.functional.max_pool1d(torch.ones(3), 2)",
        (FixKind("rank", 0, text="{a}{c}+"),),
    ),
    Rule(
        "dimensions of a batch norm",
        "ValueError",
        r"expected (?P<n>\d)D(?: or (?P<m>\d)D)? input \(got (?P<g>\d)D input\)",
        "The layer takes {n} dimensions (batch, channels, and what follows); the input has {g}.",
        ("Use the layer for as many dimensions (BatchNorm1d, 2d, 3d)", "Insert the dimensions that are missing"),
        "import torch\ntorch.nn.BatchNorm2d(3)(torch.ones(2, 3))",
    ),
    Rule(
        "features of a batch norm",
        "RuntimeError",
        r"(?:running_mean|running_var|weight|bias) should contain (?P<n>\d+) elements not (?P<c>\d+)",
        "The layer was made for {c} channels; the input has {n} (its second dimension).",
        ("Set num_features to the number of channels",),
        "import torch\ntorch.nn.BatchNorm1d(4)(torch.ones(2, 3))",
        (FixKind("module_literal", 0, port="num_features", text="{n}"),),
    ),
    Rule(
        "statistics are missing",
        "RuntimeError",
        r"running_mean must be defined in evaluation mode",
        "Without training, batch norm uses the running mean and variance, and they are empty.",
        ("Set training to True", "Wire running_mean and running_var"),
        "import torch\ntorch.nn.functional.batch_norm(torch.ones(2, 3), None, None)",
        (FixKind("set", 0, port="training", text="True"),),
    ),
    Rule(
        "groups of channels",
        "",
        r"number of channels in input to be divisible by num_groups, but got input of shape \[\d+, "
        r"(?P<n>\d+)[^\]]*\] and "
        r"num_groups=(?P<v>\d+)|num_channels \((?P<m>\d+)\) must be divisible by num_groups \((?P<w>\d+)\)"
        r"|(?:in|out)_channels must be divisible by groups|Given groups=(?P<g>\d+), expected weight to be "
        r"(?:at least|divisible)",
        "The channels are cut into groups of equal size, so their number must be a multiple of the groups'.",
        ("Take one group", "Take a number of groups that divides the channels"),
        "import torch\ntorch.nn.functional.group_norm(torch.ones(2, 3), 2)",
        (FixKind("allowed", 0, port="num_groups", text="1"), FixKind("allowed", 0, port="groups", text="1")),
    ),
    Rule(
        "weight of a norm",
        "RuntimeError",
        r"Expected (?P<what>weight|bias) to be (?:a vector of size equal to the number of channels in input|of "
        r"same shape as "
        r"normalized_shape), but got (?:weight|bias) of shape (?P<a>\[[^\]]*\]) and (?P<b>[^\n]*\])",
        "The {what} has one number for each channel (or each element that is normalised): it is {a}, {b}.",
        ("Give the layer the number of channels the input has",),
        "import torch\ntorch.nn.functional.group_norm(torch.ones(1, 3, 2), 3, torch.ones(6))",
    ),
    Rule(
        "bias of a convolution",
        "RuntimeError",
        r"expected bias to be 1-dimensional with (?P<n>\d+) elements, but got bias of size \[(?P<b>[^\]]*)\]",
        "The bias has one number for each of the {n} output channels; this one is [{b}].",
        ("Give the bias an element for each output channel", "Leave the bias out"),
        "import torch\ntorch.nn.functional.conv2d(torch.ones(1, 3, 8, 8), torch.ones(4, 3, 2, 2), torch.ones(3))",
    ),
    Rule(
        "input of a recurrent layer",
        "RuntimeError",
        r"input\.size\(-1\) must be equal to input_size\. Expected (?P<c>\d+), got (?P<n>\d+)"
        r"|input has inconsistent input_size:? got (?P<n2>\d+),? expected (?P<c2>\d+)",
        "The layer was made for {c}{c2} features a step; the input's last dimension has {n}{n2}.",
        ("Set input_size to the input's last size",),
        "import torch\ntorch.nn.LSTM(4, 5)(torch.ones(2, 3))",
        (FixKind("module_literal", 0, port="input_size", text="{n}{n2}"),),
    ),
    Rule(
        "dimensions of a recurrent layer",
        "ValueError",
        r"(?P<op>\w+): Expected (?P<what>input|hx\S*) to be (?P<a>\d)D or (?P<b>\d)D, got (?P<g>\d)D instead",
        "{op} takes steps and features, with or without a batch: {a} or {b} dimensions; this has {g}.",
        ("Insert the dimension that is missing (unsqueeze(0))",),
        "import torch\ntorch.nn.LSTM(3, 5)(torch.ones(3))",
        (FixKind("rank", 0, port="inputs", text="{a}+"),),
    ),
    Rule(
        "hidden state",
        "RuntimeError",
        r"Expected hidden(?:\[\d\])? size \((?P<a>[^)]*)\), got \[(?P<b>[^\]]*)\]",
        "The hidden state has the shape (layers × directions, batch, hidden_size), here ({a}); it is [{b}].",
        ("Leave it out, and it begins with zeros", "Give it that shape"),
        "import torch\ntorch.nn.GRU(3, 5)(torch.ones(2, 4, 3), torch.ones(1, 9, 5))",
    ),
    Rule(
        "heads of attention",
        "AssertionError",
        r"embed_dim must be divisible by num_heads",
        "Each head takes an equal part of the embedding, so embed_dim is a multiple of num_heads.",
        ("Take a number of heads that divides embed_dim", "Take a multiple of the heads for embed_dim"),
        "import torch\ntorch.nn.MultiheadAttention(5, 2)",
        (FixKind("heads", 0),),
    ),
    Rule(
        "width of attention",
        "AssertionError",
        r"was expecting embedding dimension of (?P<c>\d+), but got (?P<n>\d+)",
        "The layer was made for an embedding of {c}; the query's last dimension has {n}.",
        ("Set embed_dim to the query's last size", "Bring the query there with a Linear layer"),
        "import torch\nx = torch.ones(2, 3)\ntorch.nn.MultiheadAttention(4, 2)(x, x, x)",
    ),
    Rule(
        "input of a bilinear layer",
        "RuntimeError",
        r"bilinear\(\): input(?P<k>\d) size does not match weight size: got (?P<n>\d+) but expected (?P<c>\d+)",
        "Input {k} was to have {c} features (its last dimension); it has {n}.",
        ("Set in1_features or in2_features to the input's last size",),
        "import torch\ntorch.nn.functional.bilinear(torch.ones(2, 3), torch.ones(2, 3), torch.ones(2, 2, 2))",
    ),
    Rule(
        "size or factor",
        "ValueError",
        r"(?:either|only one of) size or scale_factor should be defined",
        "interpolate needs either the new size or the factor, and one of them only.",
        ("Write scale_factor", "Write size"),
        "import torch\ntorch.nn.functional.interpolate(torch.ones(1, 1, 4, 4))",
        (FixKind("set", 0, port="scale_factor", text="2.0"),),
    ),
    Rule(
        "dimensions to interpolate",
        "NotImplementedError",
        r"Input Error: Only 3D, 4D and 5D input Tensors supported \(got (?P<g>\d)D\)",
        "interpolate takes (batch, channels, …): 3 dimensions or more; the input has {g}.",
        ("Insert the dimensions that are missing (unsqueeze)",),
        "import torch\ntorch.nn.functional.interpolate(torch.ones(2, 3), scale_factor=2)",
        (FixKind("rank", 0, port="input", text="3+"),),
    ),
    Rule(
        "amounts of padding",
        "",
        r"Padding length must be divisible by 2|Padding length should be less than or equal to two times the "
        r"input dimension"
        r"|Padding size \d+ is not supported for \dD input|Padding size should be less than the corresponding "
        r"input dimension",
        "Padding is written in pairs (before, after), beginning with the last dimension; there may be no more "
        "pairs than "
        "dimensions, and reflection cannot reach farther than the input.",
        ("Write a pair for each dimension that is padded",),
        "import torch\ntorch.nn.functional.pad(torch.ones(2, 3), (1,))",
        (FixKind("set", 0, port="pad", text="(1, 1)"),),
    ),
    Rule(
        "half of an odd dimension",
        "RuntimeError",
        r"Halving dimension must be even, but dimension (?P<d>\d+) is size (?P<n>\d+)",
        "glu cuts the dimension into two halves, and {n} is odd.",
        ("Take another dimension", "Give the layer before an even number of outputs"),
        "import torch\ntorch.nn.functional.glu(torch.ones(2, 3))",
    ),
    Rule(
        "blocks of channels",
        "RuntimeError",
        r"'channel' dimension to be divisible by the square of upscale_factor, but input\.size\(-3\)=(?P<n>\d+) is not "
        r"divisible by (?P<k>\d+)|divisible by the product of kernel_size, but got input\.size\(1\)=(?P<m>\d+)",
        "The channels are taken apart into blocks of pixels: their number {n}{m} is no multiple of the block's size.",
        ("Give the layer before a multiple of the block's size as channels",),
        "import torch\ntorch.nn.PixelShuffle(2)(torch.ones(1, 3, 4, 4))",
    ),
    Rule(
        "slopes of prelu",
        "RuntimeError",
        r"Mismatch of parameter numbers and input channel size\. Found parameter numbers = (?P<a>\d+) and "
        r"channel size = "
        r"(?P<n>\d+)",
        "prelu has one slope for all, or one for each channel: there are {a} slopes and {n} channels.",
        ("Set num_parameters to 1 or to the number of channels",),
        "import torch\ntorch.nn.functional.prelu(torch.ones(2, 3), torch.ones(5))",
        (FixKind("module_literal", 0, port="num_parameters", text="{n}"),),
    ),
    Rule(
        "weights of the classes",
        "RuntimeError",
        r"weight tensor should be defined either for all (?P<n>\d+) classes or no classes but got weight "
        r"tensor of shape: "
        r"\[(?P<a>[^\]]*)\]|inconsistent weight size, expected (?P<m>\d+) but got \[(?P<b>[^\]]*)\]",
        "There is one weight for each of the {n}{m} classes (the input's columns); the weight has the shape [{a}{b}].",
        ("Give the weight one element per class", "Leave the weight out"),
        "import torch\ntorch.nn.functional.cross_entropy(torch.ones(2, 3), torch.tensor([0, 1]), weight=torch.ones(2))",
    ),
    Rule(
        "target of one row",
        "ValueError",
        r"For 1D input, 1D target must have size 1, but got target size: (?P<n>\d+)",
        "An input of one dimension is one row of class scores, so it has one target, not {n}.",
        ("Give the input a row for each target: (batch, classes)",),
        "import torch\ntorch.nn.functional.cross_entropy(torch.ones(3), torch.tensor([0, 1]))",
    ),
    Rule(
        "target of another shape",
        "",
        r"Using a target size \(torch\.Size\(\[(?P<a>[^\]]*)\]\)\) that is different to the input size "
        r"\(torch\.Size\(\[(?P<b>[^\]]*)\]\)\)",
        "The loss compares element with element: the target has the shape [{a}], the input [{b}]. "
        "Where they broadcast, every element is compared with every other, which is hardly ever meant.",
        ("Give the target the input's shape (reshape, unsqueeze)",),
        "import torch\ntorch.nn.functional.binary_cross_entropy(torch.ones(2, 1), torch.ones(2))",
        (FixKind("reshape_target", 0),),
    ),
    Rule(
        "classes in the second dimension",
        "RuntimeError",
        r"^Expected target size \[(?P<a>[^\]]*)\], got \[(?P<b>[^\]]*)\]",
        "The classes belong in dimension 1 of the input: (batch, classes, …), and the target has the same shape "
        "without them. It is [{b}], and [{a}] goes with this input.",
        ("Bring the classes to dimension 1 (transpose, movedim)",),
        "import torch\ntorch.nn.functional.cross_entropy(torch.randn(2, 5, 3), torch.zeros(2, 5, dtype=torch.long))",
        (FixKind("classes_second", 0),),
    ),
    Rule(
        "tensors of a loss",
        "RuntimeError",
        r"All input tensors should have same dimension but got sizes: (?P<a>.*?)\s*$"
        r"|expected to have the same number of dimensions, but got: (?P<b>.*?) inputs"
        r"|target tensor should be 1-D with size equal to the number of input samples.*Expected target size "
        r"(?P<c>\[[^\]]*\]),"
        r" but got (?P<d>\[[^\]]*\])|inconsistent target size: (?P<e>\[[^\]]*\]) for input of size: (?P<f>\[[^\]]*\])",
        "The tensors of this loss belong together row by row, and their shapes do not fit: {a}{b}{d}{e}.",
        ("Bring them to the shapes that the loss takes",),
        "import torch\nx = torch.ones(2, 3)\ntorch.nn.functional.margin_ranking_loss(x, x, torch.ones(3))",
    ),
    Rule(
        "lengths of sequences",
        "RuntimeError",
        r"(?:input|target)_lengths must be of size batch_size",
        "There is one length for each sequence of the batch.",
        ("Give as many lengths as the batch has sequences",),
        "import torch\ntorch.nn.functional.ctc_loss(torch.ones(4, 2, 3), torch.ones(2, 2, dtype=torch.long), "
        "torch.tensor([4]), torch.tensor([2]))",
    ),
    Rule(
        "indices of a pool",
        "RuntimeError",
        r"Expected shape of indices to be same as that of the input tensor \((?P<a>\[[^\]]*\])\) but got "
        r"indices tensor "
        r"with shape: (?P<b>\[[^\]]*\])",
        "Unpooling puts every element back to its index, so both have one shape: {a} and {b} differ.",
        ("Use the indices that the pool returned (return_indices=True)",),
        "import torch\ntorch.nn.functional.max_unpool1d(torch.ones(1, 1, 4), torch.ones(1, 1, 3, dtype=torch.long), 2)",
    ),
    Rule(
        "grid of samples",
        "RuntimeError",
        r"grid_sampler\(\): expected grid",
        "The grid says for every pixel of the result where it is taken from: (batch, height, width, 2).",
        ("Make the grid with affine_grid",),
        "import torch\ntorch.nn.functional.grid_sample(torch.ones(1, 3, 8, 8), torch.ones(2, 3), align_corners=False)",
    ),
    Rule(
        "shape of the output",
        "",
        r"output_size must be (?P<n>\d)|output_size\.size\(\) must be (?P<m>\d)|'output_size' should contain one int"
        r"|elements of output_size must be greater than or equal to 0|Input dimension should be at least (?P<k>\d)",
        "output_size has a number, 0 or more, for each dimension that is pooled over.",
        ("Write one number for all of them",),
        "import torch\ntorch.nn.functional.adaptive_avg_pool2d(torch.ones(1, 2, 3, 4), ())",
        (FixKind("set", 0, port="output_size", text="1"),),
    ),
)

ATTENTION = Rule(
    "shapes of attention",
    "RuntimeError",
    r"batch2|cannot be multiplied|must match the size",
    "query and key need the same last size (how wide a head is), key and value the same number of rows "
    "(the dimension before the last), and all three the same dimensions in front.",
    ("Bring query, key and value to shapes that go together (transpose, reshape)",),
    "import torch\nq, k = torch.ones(2, 4, 8), torch.ones(2, 4, 6)\n"
    "torch.nn.functional.scaled_dot_product_attention(q, k, k)",
)
WRITTEN_INTO = Rule(
    "shape of what is written",
    "RuntimeError",
    r"The expanded size of the tensor \((?P<a>\d+)\) must match the existing size \((?P<b>\d+)\)"
    r"|shape mismatch: value tensor",
    "What is written does not fit into what stands left of the =: sizes are equal there, or 1.",
    ("Choose a part of the same shape on both sides",),
    "import torch\ntorch.zeros(3)[0:2] = torch.ones(3)",
)
JOINED = Rule(
    "tensors in torch.tensor",
    "ValueError",
    r"^only one element tensors can be converted to Python scalars",
    "torch.tensor takes numbers, and got tensors with several elements: stack and cat join tensors.",
    ("Use torch.stack for a new dimension, torch.cat to put them end to end",),
    "import torch\ntorch.tensor([torch.ones(2), torch.ones(2)])",
)
NAMED = Rule(
    "name as an index",
    "TypeError",
    r"new\(\): invalid data type '(?P<a>\w+)'",
    "A tensor has places, no names: in the brackets stand whole numbers, slices, or tensors of them; this is a {a}.",
    ("Write a whole number", "Take what is indexed from a dict, which has names"),
    "import torch\nx = torch.ones(2)\nx['a']",
)
OF_OPERATORS: dict[str, tuple[Rule, ...]] = {
    "fully_shard": (OUTSIDE_MESH,),
    "getitem": (NAMED,),
    "scaled_dot_product_attention": (ATTENTION,),
    "setitem": (WRITTEN_INTO, NAMED),
    "tensor": (JOINED,),
}
"""By operator's word: what is said before any other rule, where torch's words are those of what runs inside of it."""
