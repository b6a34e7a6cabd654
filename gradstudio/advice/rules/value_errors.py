"""Errors about dtypes that an operator does not take, and numbers and words out of range. Data; tests run examples."""

from gradstudio.advice.model import FixKind, Rule

VALUES: tuple[Rule, ...] = (
    Rule(
        "floating point is wanted",
        "",
        r"(?:Expected a floating point or complex tensor as input\. Got|only supports? floating-point dtypes "
        r"for input, got:)"
        r" (?P<dtype>\w+)|std and var only support floating point and complex dtypes"
        r"|input tensor must be either float or double dtype|dtype must be a floating point but you specified "
        r"(?P<d2>\w+)"
        r"|Expected both inputs to be Half, Float or Double tensors but got (?P<d3>\w+ and \w+)",
        "This needs fractions, so it takes floating-point tensors only.",
        ("Cast to float32 first (float())",),
        "import torch\ntorch.arange(3).std()",
        (FixKind("cast_floating", 0),),
    ),
    Rule(
        "probabilities as classes",
        "RuntimeError",
        r"Expected floating point type for target with class probabilities, got (?P<dtype>\w+)",
        "A target of the input's shape holds a probability for each class, which is a fraction; these are {dtype}. "
        "A class number per row would be a target with one dimension less.",
        ("Cast the target to float32 (float())", "Take the class of each row (argmax)"),
        "import torch\nn = torch.zeros(2, 3, dtype=torch.int64)\n"
        "torch.nn.functional.cross_entropy(torch.randn(2, 3), n)",
        (FixKind("cast_to", 0, port="target", text="float32"), FixKind("squeeze_target", 1)),
    ),
    Rule(
        "dtype of a loss",
        "RuntimeError",
        r"Found dtype (?P<a>\w+) but expected (?P<b>\w+)",
        "All that a loss compares has one dtype: {b} was expected, and there is {a}.",
        ("Cast it (float(), to(dtype))",),
        "import torch\ntorch.nn.functional.binary_cross_entropy(torch.ones(2), torch.ones(2, dtype=torch.bool))",
        (FixKind("cast_named", 0),),
    ),
    Rule(
        "dtype of an argument",
        "RuntimeError",
        r"expected dtype [\w ]+ for `?\w+`? but got dtype [\w ]+"
        r"|Expected object of scalar type \w+ but got scalar type \w+|Expected self\.dtype to be equal to src\.dtype"
        r"|requires the source and destination dtypes match|expected m1 and m2 to have the same dtype",
        "The operands have different dtypes, and this operator does not convert.",
        ("Cast one of them (float(), to(dtype))",),
        "import torch\ntorch.lerp(torch.ones(2), torch.ones(2), torch.ones(2, dtype=torch.int64))",
        (FixKind("cast", 0),),
    ),
    Rule(
        "result does not fit in place",
        "RuntimeError",
        r"result type (?P<a>\w+) can't be cast to the desired output type (?P<b>\w+)",
        "The result is {a}, and a tensor of dtype {b} cannot hold it: an in-place operator keeps the dtype.",
        ("Use the operator that returns a new tensor", "Cast the tensor to float32 first (float())"),
        "import torch\nn = torch.arange(3)\nn += 0.5",
        (FixKind("out_of_place", 0), FixKind("cast_floating", 1)),
    ),
    Rule(
        "whole numbers are wanted",
        "",
        r"Expected dtype int(?:32/int)?64 for index|bincount only supports 1-d non-negative integral inputs",
        "Positions are whole numbers: the index must be int64.",
        ("Cast the index to int64 (long())",),
        "import torch\ntorch.gather(torch.ones(2, 3), 1, torch.ones(2, 3))",
        (FixKind("whole", 0),),
    ),
    Rule(
        "boolean mask is wanted",
        "RuntimeError",
        r"only supports boolean masks|expected BoolTensor for mask|expects? a (?:bool|boolean) (?:mask|tensor)",
        "A mask is a bool tensor: True where something happens.",
        ("Cast the mask to bool (bool())", "Make the mask by a comparison"),
        "import torch\ntorch.ones(2).masked_select(torch.ones(2))",
        (FixKind("cast_to", 0, port="mask", text="bool"),),
    ),
    Rule(
        "minus of truth",
        "RuntimeError",
        r"Negation, the `-` operator, on a bool tensor is not supported",
        "True and False have no minus; what turns a mask round is ~.",
        ("Use ~ (not)",),
        "import torch\n-torch.tensor([True])",
        (FixKind("replace", 0, text="operator.invert"),),
    ),
    Rule(
        "difference of truths",
        "RuntimeError",
        r"Subtraction, the `-` operator, with (?:two bool tensors|a bool tensor) is not supported",
        "True and False cannot be subtracted. Where they differ is what ^ tells.",
        ("Use ^ (one, but not both)", "Cast both to a number (int(), float())"),
        "import torch\ntorch.tensor([True]) - torch.tensor([True])",
        (FixKind("replace", 0, text="operator.xor"),),
    ),
    Rule(
        "not on fractions",
        "TypeError",
        r"~ \(operator\.invert\) is only implemented on integer and Boolean-type tensors",
        "~ turns bits round, so it takes whole numbers and bools; on fractions it has no meaning.",
        ("Compare first (x > 0), which gives a bool tensor", "Cast to bool"),
        "import torch\n~torch.ones(2)",
        (FixKind("cast_to", 1, text="bool"),),
    ),
    Rule(
        "not for complex",
        "",
        r"(?P<op>\w+) is not supported for complex inputs|Sort does not support complex dtypes"
        r"|is not intended to support complex numbers|does not support complex|not supported for complex tensors",
        "Complex numbers have no order and no sign, so this takes real tensors only.",
        ("Take the size first (abs)", "Take the real part (.real)"),
        "import torch\ntorch.floor(torch.ones(2, dtype=torch.complex64))",
        (FixKind("insert_first", 0, text="torch.Tensor.abs"), FixKind("insert_first", 1, text="torch.Tensor.real")),
    ),
    Rule(
        "whole number to a negative power",
        "RuntimeError",
        r"Integers to negative integer powers are not allowed",
        "1/n is no whole number: an int64 tensor has no negative powers.",
        ("Cast to float32 first (float())", "Write the exponent with a point (-1.0)"),
        "import torch\ntorch.arange(3) ** -1",
        (FixKind("cast_floating", 0),),
    ),
    Rule(
        "one number each",
        "",
        r"only one element tensors can be converted to Python scalars",
        "Only a tensor with one element can become a Python number.",
        ("Reduce it first (sum, mean)", "Pick one element with an index"),
        "import torch\nfloat(torch.ones(3))",
    ),
    Rule(
        "one number to fill with",
        "RuntimeError",
        r"only supports (?:a )?0-dimension(?:al)? value tensor,? but got (?:a )?tensor with (?P<n>\d+) dimension",
        "What is filled in is one number; the value is a tensor with {n} dimension(s).",
        ("Reduce the value to one number (mean)", "Use where, which takes a value per element"),
        "import torch\ntorch.ones(2).fill_(torch.ones(2))",
        (FixKind("insert", 0, port="value", text="torch.Tensor.mean"),),
    ),
    Rule(
        "index of gather",
        "RuntimeError",
        r"^index (?P<i>-?\d+) is out of bounds for dimension (?P<d>\d+) with size (?P<n>\d+)",
        "Dimension {d} has {n} elements, numbered from 0; the index holds {i}.",
        ("Cut the index off at the last element (clamp)",),
        "import torch\ntorch.gather(torch.ones(2, 3), 1, torch.full((2, 3), 7))",
        (FixKind("clamp_any", 0),),
    ),
    Rule(
        "number of elements to take",
        "RuntimeError",
        r"selected (?:index|number) k out of range",
        "There are fewer elements along the dimension than k asks for.",
        ("Take a smaller k",),
        "import torch\ntorch.ones(2, 3).topk(5)",
        (FixKind("largest_count", 0, port="k"),),
    ),
    Rule(
        "between 0 and 1",
        "",
        r"(?:has to be|must be|in the range|expects p to be in|should be) (?:between |in )?\[?\(?0(?:\.0)?(?:, "
        r"| and )1(?:\.0)?"
        r"\]?\)?(?:,|\.| but)? ?(?:but )?[Gg]ot:? ?(?:p=)?(?P<v>-?[\d.e+-]+)",
        "This is a share or a probability, so it lies between 0 and 1; {v} does not.",
        ("Write a number between 0 and 1",),
        "import torch\ntorch.nn.functional.dropout(torch.ones(2), 1.5)",
        (FixKind("allowed", 0, text="0.5"),),
    ),
    Rule(
        "probabilities of the target",
        "RuntimeError",
        r"all elements of target should be between 0 and 1|Expected p_in >= 0 && p_in <= 1",
        "These are probabilities, so every element lies between 0 and 1.",
        ("Bring them there (sigmoid, or clamp(0, 1))",),
        "import torch\ntorch.bernoulli(torch.ones(2) * 2)",
        (FixKind("clamp_unit", 0),),
    ),
    Rule(
        "step of nothing",
        "",
        r"step must be nonzero|slice step cannot be zero|step must be greater than zero",
        "The step leads from one element to the next: 0 leads nowhere, and a slice of a tensor goes forward only.",
        ("Write a step of 1 or more", "Use flip for the other direction"),
        "import torch\ntorch.arange(0, 5, 0)",
        (FixKind("allowed", 0, port="step", text="1"),),
    ),
    Rule(
        "bounds the wrong way round",
        "",
        r"upper bound and (?:larger|lower) bound inconsistent with step sign"
        r"|expects 'from' to be less than 'to', but got from=(?P<a>-?\d+) >= to=(?P<b>-?\d+)"
        r"|range, but found from=(?P<c>-?[\d.]+) > to=(?P<d>-?[\d.]+)|min_val cannot be greater than max_val"
        r"|Lower bound should be less than or equal to the upper bound",
        "The lower end comes first, and it must be smaller than the upper end.",
        ("Exchange the two ends",),
        "import torch\ntorch.arange(5, 0)",
        (
            FixKind("exchange", 0, port="start end"),
            FixKind("exchange", 0, port="low high"),
            FixKind("exchange", 0, port="from to"),
            FixKind("exchange", 0, port="min_val max_val"),
            FixKind("exchange", 0, port="lower upper"),
        ),
    ),
    Rule(
        "must not be negative",
        "",
        r"(?P<p>\w+) (?:must|should|has to) be (?:greater or equal to 0|non-negative|greater than or equal to zero),? "
        r"(?:but )?(?:got|found):? (?:pad: )?(?P<v>-[\d.]+)|(?P<q>\w+) (?:must|should) be non-negative,? (?:but "
        r")?got:? (?P<w>-[\d.]+)"
        r"|number of steps must be non-negative|negative padding is not supported|does not support negative n"
        r"|requires non-negative window length|order must be non-negative|Class values must be non-negative",
        "A count, a size or a class number cannot be negative.",
        ("Write 0 or more",),
        "import torch\ntorch.eye(-2)",
        (
            FixKind("allowed", 0, text="0"),
            FixKind("allowed", 0, port="padding", text="0"),
            FixKind("allowed", 0, port="steps", text="1"),
        ),
    ),
    Rule(
        "must be above zero",
        "",
        r"expects (?P<p>\w+) >=? 0(?:\.0)?, but found (?:\w+[ =])?(?P<v>-?[\d.]+)"
        r"|(?P<q>stride|dilation|kernel_size|groups)\W* (?:must|should) be (?:greater than|not be) zero"
        r"|non-positive (?P<r>stride|dilation|groups) is not supported|should not be zero"
        r"|does not support (?:non-positive|negative) values for (?P<s>delta|beta)"
        r"|margin must be greater than 0|invalid Poisson rate|divisor must be not zero",
        "This must be above zero.",
        ("Write a number above 0",),
        "import torch\ntorch.normal(0.0, -1.0, (2,))",
        (
            FixKind("allowed", 0, text="1"),
            FixKind("allowed", 0, port="stride", text="1"),
            FixKind("allowed", 0, port="dilation", text="1"),
            FixKind("allowed", 0, port="groups", text="1"),
            FixKind("allowed", 0, port="kernel_size", text="1"),
            FixKind("allowed", 0, port="delta", text="1.0"),
            FixKind("allowed", 0, port="beta", text="1.0"),
            FixKind("allowed", 0, port="margin", text="1.0"),
        ),
    ),
    Rule(
        "setting of an optimizer",
        "ValueError",
        r"Invalid (?P<what>learning rate|momentum value|weight_decay value|epsilon value|alpha value|rho value"
        r"|beta parameter at index \d): (?P<v>-?[\d.e-]+)",
        "The {what} {v} is out of range: it is 0 or more, and a beta lies below 1.",
        ("Write a number in that range",),
        "import torch\ntorch.optim.SGD([torch.ones(1, requires_grad=True)], lr=-1.0)",
        (FixKind("allowed", 0, text="0.01"),),
    ),
    Rule(
        "word that is not known",
        "",
        r"(?P<v>\w+) is not a valid value for reduction|reduce argument must be either [\w, ]+, got (?P<w>\w+)"
        r"|approximate argument must be either none or tanh|Unrecognised padding mode (?P<x>\w+)"
        r"|Invalid normalization mode: \"(?P<y>\w+)\"|Order (?P<z>\w+) not supported|'?(?P<a>\w+)'? is not valid",
        "The argument knows certain words only, and this is none of them.",
        ("Choose one of the words in the argument's list",),
        "import torch\ntorch.nn.functional.mse_loss(torch.ones(2), torch.ones(2), reduction='avg')",
    ),
    Rule(
        "drawing without putting back",
        "RuntimeError",
        r"cannot sample n_sample > prob_dist\.size\(-1\) samples without replacement",
        "Without putting back, no more can be drawn than there are.",
        ("Draw with replacement (replacement=True)", "Draw fewer"),
        "import torch\ntorch.multinomial(torch.ones(3), 9)",
        (FixKind("set", 0, port="replacement", text="True"),),
    ),
    Rule(
        "weights of a draw",
        "RuntimeError",
        r"probability tensor contains either `inf`, `nan` or element < 0|invalid multinomial distribution",
        "The weights of a draw are finite, 0 or more, and not all 0.",
        ("Make probabilities of them (softmax)", "Cut them off at 0 (clamp(min=0))"),
        "import torch\ntorch.multinomial(-torch.ones(3), 2)",
        (FixKind("softmax_first", 0),),
    ),
    Rule(
        "number of draws",
        "RuntimeError",
        r"cannot sample n_sample <= 0 samples",
        "At least one sample must be drawn.",
        ("Write 1 or more",),
        "import torch\ntorch.multinomial(torch.ones(3), 0)",
        (FixKind("allowed", 0, port="num_samples", text="1"),),
    ),
    Rule(
        "cannot be held",
        "",
        r"value cannot be converted to type (?P<a>[\w:<>]+) without overflow|unsupported range|number of "
        r"categories cannot",
        "The number is too large for the dtype, or of another kind.",
        ("Choose a smaller number, or a wider dtype",),
        "import torch\ntorch.ones(2, dtype=torch.int8).fill_(1000)",
    ),
    Rule(
        "no limit",
        "RuntimeError",
        r"At least one of 'min' or 'max' must not be None",
        "clamp cuts off at 'min' or at 'max'; both are empty.",
        ("Write a limit",),
        "import torch\ntorch.clamp(torch.ones(2))",
        (FixKind("set", 0, port="min", text="0.0"),),
    ),
    Rule(
        "device word",
        "RuntimeError",
        r"Expected one of cpu, cuda, .* device type at start of device string: (?P<v>\S+)|Invalid device "
        r"string: '(?P<w>[^']*)'",
        "There is no device called '{v}{w}'. Devices are cpu, cuda (cuda:0, cuda:1, …), mps.",
        ("Let it follow the document's device", "Write cpu"),
        "import torch\ntorch.zeros(1, device='tpu')",
    ),
    Rule(
        "dtype of a window",
        "ValueError",
        r"(?P<op>\w+) expects float32 or float64 dtypes, got: torch\.(?P<a>\w+)",
        "A window is made of fractions: its dtype is float32 or float64, not {a}.",
        ("Set dtype to torch.float32",),
        "import torch\ntorch.signal.windows.cosine(3, dtype=torch.int64)",
    ),
    Rule(
        "layout of a window",
        "ValueError",
        r"(?P<op>\w+) is implemented for strided tensors only, got: (?P<a>[\w.]+)",
        "{op} makes ordinary tensors only, whose layout is torch.strided; {a} is another.",
        ("Take the layout away",),
        "import torch\ntorch.signal.windows.cosine(3, layout=torch.sparse_coo)",
    ),
    Rule(
        "last dimension of two",
        "RuntimeError",
        r"Tensor must have a last dimension of size 2",
        "view_as_complex reads pairs: the last dimension holds the real and the imaginary part, so its size is 2.",
        ("Reshape the tensor so that it ends with 2", "Make complex numbers of two tensors (torch.complex)"),
        "import torch\ntorch.view_as_complex(torch.ones(2, 3))",
    ),
    Rule(
        "end of a flat tensor",
        "IndexError",
        r"out of range: tried to access index (?P<i>-?\d+) on a tensor of (?P<n>\d+) elements"
        r"|index (?P<j>-?\d+) out of range for tensor of size (?P<s>\[[^\]]*\]) at dimension (?P<d>\d+)",
        "There is no element number {i}{j} there; elements are numbered from 0.",
        ("Choose a smaller index",),
        "import torch\ntorch.take(torch.ones(2, 3), torch.tensor([90]))",
        (FixKind("allowed", 0, port="index", text="0"),),
    ),
)
