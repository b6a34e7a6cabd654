"""What torch warns of and what to do about it: the program runs, but hardly as it is meant. Data; tests run each."""

from gradstudio.advice.model import FixKind, Rule

WARNINGS: tuple[Rule, ...] = (
    Rule(
        "shapes that broadcast in a loss",
        "UserWarning",
        r"Using a target size \(torch\.Size\(\[(?P<a>[^\]]*)\]\)\) that is different to the input size "
        r"\(torch\.Size\(\[(?P<b>[^\]]*)\]\)\)",
        "The loss compares element with element, but the target is [{a}] and the input [{b}]: they broadcast, so every "
        "element is compared with every other, and the loss is a wrong one.",
        ("Give the target the input's shape (reshape, unsqueeze)",),
        "import torch\ntorch.nn.functional.mse_loss(torch.ones(2, 1), torch.ones(2))",
        (FixKind("reshape_target", 0),),
    ),
    Rule(
        "no dimension for softmax",
        "UserWarning",
        r"Implicit dimension choice for (?P<op>\w+) has been deprecated",
        "Without 'dim', torch guesses along which dimension {op} adds up to 1.",
        ("Write the dimension of the classes (dim=-1)",),
        "import torch\ntorch.nn.functional.softmax(torch.ones(2, 3))",
        (FixKind("set", 0, port="dim", text="-1"),),
    ),
    Rule(
        "grad of a non-leaf",
        "UserWarning",
        r"The \.grad attribute of a Tensor that is not a leaf Tensor is being accessed",
        "Only leaves keep their gradient; a computed tensor keeps it when it is asked to.",
        ("Keep the gradient (retain_grad)",),
        "import torch\n(torch.ones(2, requires_grad=True) * 2).grad",
    ),
    Rule(
        "number of a tensor that requires grad",
        "UserWarning",
        r"Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior",
        "A number is copied out of a tensor that requires grad, so what is made of it has no way back to that tensor.",
        ("Join tensors with torch.stack, which keeps the way back", "Take detach() where no gradient is wanted"),
        "import torch\ntorch.tensor([torch.ones(1, requires_grad=True) * 2])",
    ),
    Rule(
        "transpose of many dimensions",
        "UserWarning",
        r"The use of `x\.(?P<op>T|H)` on tensors of dimension other than 2",
        "{op} turns matrices; with more dimensions it would turn all of them round.",
        ("Exchange the last two dimensions (.mT)",),
        "import torch\ntorch.ones(2, 3, 4).T",
        (FixKind("replace", 0, text="torch.Tensor.mT"),),
    ),
    Rule(
        "tensor of a tensor",
        "UserWarning",
        r"To copy construct from a tensor, it is recommended to use sourceTensor\.(?:detach\(\)\.)?clone",
        "torch.tensor makes a copy that knows nothing of the tensor's gradient; what is wired in is a tensor already.",
        ("Use clone, which keeps the way back", "Take it away"),
        "import torch\ntorch.tensor(torch.ones(2))",
    ),
    Rule(
        "division of a batch",
        "UserWarning",
        r"reduction: 'mean' divides the total loss by both the batch size and the support size",
        "'mean' divides by all elements; the KL divergence of distributions is divided by the batch alone.",
        ("Set reduction to batchmean",),
        "import torch\ntorch.nn.functional.kl_div(torch.ones(2, 3), torch.ones(2, 3))",
        (FixKind("set", 0, port="reduction", text='"batchmean"'),),
    ),
    Rule(
        "order of steps",
        "UserWarning",
        r"lr_scheduler\.step\(\)` before `optimizer\.step",
        "The learning rate is changed before the first step was made with it.",
        ("Let the optimizer step before the scheduler",),
        "import torch\no = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)\n"
        "torch.optim.lr_scheduler.StepLR(o, 1).step()",
    ),
    Rule(
        "statistic of one element",
        "UserWarning",
        r"(?:std|var)\w*\(\): degrees of freedom is <= 0",
        "The spread of a single element is not defined: it is NaN, since it is divided by n - 1.",
        ("Set unbiased to False (correction=0)", "Take more elements"),
        "import torch\ntorch.ones(1).std()",
    ),
)
