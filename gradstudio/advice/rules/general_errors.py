"""What torch says in general words, for errors that no other rule knows. Data, tried last; tests run each example."""

from gradstudio.advice.model import FixKind, Rule

GENERAL: tuple[Rule, ...] = (
    Rule(
        "device in general",
        "",
        r"(?i)same device|on device|is only supported on CUDA|CUDA|none are available",
        "This works on another device only, or the operands lie on different ones.",
        ("Let every creation node follow the document's device", "Move one of them with to(device)"),
        "import torch\ntorch.gradient(torch.ones(3), spacing=[torch.ones(3, device='meta')])",
    ),
    Rule(
        "number of dimensions",
        "",
        r"(?i)(?:expected?s?|requires?|needs?|must have|should have|supports?)\b[^.\n]{0,80}?\b(?:at least "
        r")?(?P<n>\d+)[ -]?"
        r"(?:or more )?(?:d\b|dim)[^.\n]{0,60}|(?:>=|at least) (?P<m>\d)-d|\d+-?dim\w*[^.\n]{0,40}expected"
        r"|must be 1 or 2 dim|must be one-dimensional|a 0-dim|have the same number of dimensions|0-dimensional",
        "The operator takes tensors with a certain number of dimensions, and an operand has another.",
        ("Insert a dimension of size 1 (unsqueeze), or join some (flatten)",),
        "import torch\ntorch.fliplr(torch.ones(3))",
        (FixKind("rank", 0, text="{n}{m}+"),),
    ),
    Rule(
        "dtype in general",
        "",
        r"(?i)(?:expected?s?|requires?|must be|should be|only supports?)[^\n]{0,80}(?:dtype|scalar type"
        r"|floating|integral|boolean"
        r"|complex|Long|Float|Double)|not supported for (?:dtype |type )?(?:torch\.)?\w+|dtypes? \w+ (?:is"
        r"|are) not supported"
        r"|cannot be cast",
        "The operator does not take tensors of this dtype, or the dtypes of its operands do not go together.",
        ("Cast an operand (float(), long(), to(dtype))",),
        "import torch\ntorch.cov(torch.ones(5), fweights=torch.ones(5))",
    ),
    Rule(
        "sizes in general",
        "",
        r"(?i)(?:same|equal|match\w*|inconsistent|incompatible|not expandable|not compatible|divisible|mismatch\w*)"
        r"[^\n]{0,120}",
        "Sizes that belong together differ.",
        ("Give the operands shapes that belong together (reshape, transpose, unsqueeze)",),
        "import torch\ntorch.ones(10, 5, 10).sum_to_size(10, 10)",
    ),
    Rule(
        "range in general",
        "",
        r"(?i)out of (?:range|bounds)|too (?:large|small|big)|exceeds|must be (?:greater|less|smaller|larger"
        r"|positive|negative"
        r"|non-|between|in)|should be (?:greater|less|smaller|larger|positive|non-|between|in)|cannot be "
        r"negative|not be negative"
        r"|at least|at most|has negative|greater than",
        "A number lies outside of what the operator allows.",
        ("Write a number in that range",),
        "import torch\ntorch.gradient(torch.ones(1))",
    ),
    Rule(
        "expected and got",
        "",
        r"(?i)expected (?P<want>[^\n]{1,80}?),? (?:but )?(?:got|found|received) (?P<got>[^\n]{1,80}?)(?:\.|$|\n)",
        "The operator takes {want}, and got {got}.",
        ("Change what goes in",),
        "import torch\ntorch.rot90(torch.ones(5))",
    ),
    Rule(
        "not supported",
        "",
        r"(?i)not (?:support|implement|intended|allow)\w*|only (?:supports?|works|be used)|unsupported|is not "
        r"valid|invalid"
        r"|not recogni[sz]ed|must align|batched input|incorrect|expects? \w|have positive length|supported"
        r"|must be (?:a|one of|either)|should be (?:a|one of|either)|must (?:be|have|contain|not)"
        r"|should (?:be|have|contain|not)|cannot|can't|can not|required",
        "torch has no version of this operator for what went in, or an argument has a value that it does not know.",
        ("Compare the arguments with the operator's page in the inspector",),
        "import torch\ntorch.roll(torch.ones(5), ())",
    ),
)
