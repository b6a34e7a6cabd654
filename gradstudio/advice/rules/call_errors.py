"""Errors about calls: arguments missing, unknown, of another kind. Data; the tests run each example."""

from gradstudio.advice.model import FixKind, Rule

CALLS: tuple[Rule, ...] = (
    Rule(
        "missing argument",
        "TypeError",
        r"(?P<op>[\w.]+)\(\) missing (?P<n>\d+) required positional arguments?: [\"'](?P<p>\w+)[\"']",
        "{op} needs the argument '{p}'.",
        ("Wire it, or write it on the card",),
        "import torch\ntorch.ones(2, 3).cumsum()",
    ),
    Rule(
        "too many arguments",
        "TypeError",
        r"(?P<op>[\w.]+)\(\) takes (?P<n>[\w ]+?) positional arguments? but (?P<m>\d+) (?:were|was) given",
        "{op} takes {n} arguments by position, and got {m}.",
        ("Take the ones away that are too many",),
        "import torch\ntorch.relu(torch.ones(2), torch.ones(2))",
    ),
    Rule(
        "unknown argument",
        "TypeError",
        r"(?P<op>[\w.]+)\(\) got an unexpected keyword argument '(?P<p>\w+)'",
        "{op} has no argument called '{p}'.",
        ("Look at its signature in the inspector for the arguments it has",),
        "import torch\ntorch.relu(torch.ones(2), dim=1)",
    ),
    Rule(
        "kind of an argument",
        "TypeError",
        r"(?P<op>\w+)\(\): argument '(?P<p>\w+)' (?:\(position \d+\) )?must be (?P<want>[\w. ]+?), not (?P<got>[\w.]+)",
        "The argument '{p}' of {op} takes {want}, and got {got}.",
        ("Write or wire a value of that kind",),
        "import torch\ntorch.zeros(2.5)",
    ),
    Rule(
        "no such call",
        "TypeError",
        r"(?P<op>\w+)\(\) received an invalid combination of arguments - got \((?P<got>[^)]*)\)",
        "There is no way of calling {op} with these: ({got}). torch's words below list the ways there are; "
        "a Python number where a tensor is wanted is the usual reason.",
        ("Make a tensor of a number (torch.tensor)", "Look at its signature in the inspector"),
        "import torch\ntorch.eq(2, 3)",
    ),
    Rule(
        "operands of an operator",
        "TypeError",
        r"unsupported operand type\(s\) for (?P<op>[^:]+): '(?P<a>\w+)' and '(?P<b>\w+)'",
        "{op} is not defined between a {a} and a {b}.",
        ("Multiply by a number with *", "Make a tensor of the other side (torch.tensor)"),
        "import torch\ntorch.ones(2, 3) @ 2",
    ),
    Rule(
        "operand of an operator",
        "TypeError",
        r"bad operand type for (?P<op>[^:]+): '(?P<a>\w+)'",
        "{op} is not defined for a {a}.",
        ("Wire a tensor or a number",),
        "abs(None)",
    ),
    Rule(
        "no such attribute",
        "AttributeError",
        r"'(?P<a>[\w.]+)' object has no attribute '(?P<p>\w+)'",
        "A {a} has nothing called '{p}'.",
        ("Look for the operator in the library: the name may be another one",),
        "import torch\ntorch.ones(2).foo",
    ),
    Rule(
        "not to be called",
        "TypeError",
        r"'(?P<a>[\w.]+)' object is not callable",
        "A {a} is a value, no function and no module: it cannot be called.",
        ("Take the call away and use the value itself",),
        "import torch\ntorch.ones(2)()",
    ),
    Rule(
        "numbers where tensors are joined",
        "TypeError",
        r"expected Tensor as element (?P<k>\d+) in argument \d+, but got (?P<a>float|int|bool)\b",
        "This joins tensors, and got Python numbers ({a}): item() and float() leave the graph, so no gradient would "
        "come through them.",
        ("Append the tensors themselves, without item()", "Make a tensor of plain numbers with torch.tensor"),
        "import torch\ntorch.stack([1.0, 2.0])",
    ),
    Rule(
        "data of another kind",
        "",
        r"invalid data type '(?P<a>\w+)'|expected np\.ndarray \(got (?P<b>\w+)\)|could not convert string to float"
        r"|invalid type: '(?P<c>\w+)'|expected Tensor as element (?P<k>\d+) in argument \d+, but got (?P<d>\w+)"
        r"|doesn't apply to a '(?P<e>\w+)' object",
        "Numbers are wanted here, not {a}{b}{c}{d}{e}.",
        ("Write numbers, or wire a tensor",),
        "import torch\ntorch.tensor('a')",
    ),
    Rule(
        "einsum letters",
        "RuntimeError",
        r"einsum\(\): (?:output subscript (?P<s>\w) does not appear in the equation|more operands were provided than "
        r"specified|fewer operands were provided than specified|invalid subscript)",
        "In the equation every operand has its letters, with commas between them, and the result is made of "
        "those letters.",
        ("Write a group of letters for each operand, and use only these behind ->",),
        "import torch\ntorch.einsum('ij->ik', torch.ones(2, 3))",
    ),
    Rule(
        "differentiated without grad",
        "RuntimeError",
        r"One of the differentiated Tensors does not require grad|can't retain_grad on Tensor that has "
        r"requires_grad=False",
        "Gradients exist only for tensors that require grad.",
        ("Set requires_grad to True on the leaf",),
        "import torch\nr = torch.ones(3, requires_grad=True)\ntorch.autograd.grad(r.sum(), torch.ones(2))",
        (FixKind("require_inputs", 0),),
    ),
    Rule(
        "weights of a backward",
        "RuntimeError",
        r"Mismatch in shape: grad_output\[\d+\] has a shape of torch\.Size\(\[(?P<a>[^\]]*)\]\) and "
        r"output\[\d+\] has a shape "
        r"of torch\.Size\(\[(?P<b>[^\]]*)\]\)",
        "The weights of a backward have the shape of what it starts from: they are [{a}], the tensor is [{b}].",
        ("Take the gradient argument away, or give it the tensor's shape (ones_like)",),
        "import torch\ntorch.ones(3, requires_grad=True).sum().backward(torch.ones(2))",
    ),
    Rule(
        "gradient of another shape",
        "RuntimeError",
        r"attempting to assign a gradient (?:of size '(?P<a>[^']*)' to a tensor of size '(?P<b>[^']*)'|with "
        r"dtype '(?P<c>\w+)')"
        r"|data set to a tensor that requires gradients must be floating point|cannot resize variables that "
        r"require grad",
        "A tensor that requires grad and its gradient keep one shape and one dtype.",
        ("Assign a tensor of the same shape and dtype",),
        "import torch\nr = torch.ones(3, requires_grad=True)\nr.grad = torch.ones(5)",
    ),
    Rule(
        "parameters of an optimizer",
        "",
        r"params argument given to the optimizer should be an iterable|optimizer can only optimize Tensors",
        "An optimizer changes leaves: it takes a list of leaf tensors, or a module's parameters().",
        ("Wire the parameters() of a module, or leaves that require grad",),
        "import torch\ntorch.optim.SGD(torch.ones(1, requires_grad=True), lr=0.1)",
    ),
    Rule(
        "nesterov",
        "ValueError",
        r"Nesterov momentum requires a momentum and zero dampening",
        "Nesterov looks ahead along the momentum, so there must be one.",
        ("Set momentum to 0.9", "Take nesterov away"),
        "import torch\ntorch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1, nesterov=True)",
        (FixKind("set", 0, port="momentum", text="0.9"), FixKind("set", 1, port="nesterov")),
    ),
    Rule(
        "initialiser of matrices",
        "ValueError",
        r"Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        r"|Only tensors with 2 or more dimensions are supported",
        "This initialiser reads rows and columns, so it takes matrices; a bias is set by zeros_ or uniform_.",
        ("Use zeros_ or uniform_ for a vector",),
        "import torch\ntorch.nn.init.xavier_uniform_(torch.ones(3))",
    ),
    Rule(
        "length of a transform",
        "RuntimeError",
        r"Invalid number of data points \((?P<v>-?\d+)\) specified",
        "A Fourier transform needs at least one point; n is {v}.",
        ("Take n away, and the tensor's size is used",),
        "import torch\ntorch.fft.fft(torch.ones(4), n=0)",
        (FixKind("set", 0, port="n"),),
    ),
)
