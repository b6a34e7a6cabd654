"""Errors about gradients and in-place writes. Data; the tests run each example."""

from gradstudio.advice.model import FixKind, Rule

STEPPED = Rule(
    "stepped before the backward",
    "RuntimeError",
    r"one of the variables needed for gradient computation has been modified by an inplace operation",
    "The step changed weights that this backward needs: it stands between the forward and the backward.",
    ("Let the optimizer step behind the backward", "Compute what the backward begins from anew, behind the step"),
    "import torch\nm = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))\n"
    "opt = torch.optim.SGD(m.parameters(), lr=0.1)\nx = torch.ones(1, 2)\nm(x).sum().backward()\n"
    "loss = m(x).sum()\nopt.step()\nloss.backward()",
    (FixKind("step_behind", 0),),
)
"""Of what torch says of an overwritten tensor, where an optimizer's step is known to have written."""

CUT_OFF = Rule(
    "cut off",
    "RuntimeError",
    r"element 0 of tensors does not require grad and does not have a grad_fn",
    "There is a leaf that requires grad, and what was computed from it was cut off.",
    ("Give the loss what goes into the cut, not what comes out of it",),
    "import torch\nx = torch.ones(3, requires_grad=True)\n(x * 2).argmax().float().backward()",
    (FixKind("create_graph"), FixKind("uncut", 0)),
)
"""Of what torch says of a root that does not require grad, where a cut is known: another leaf would be no way out."""

CARRIED = Rule(
    "carried graph",
    "RuntimeError",
    r"Trying to backward through the graph a second time",
    "The backward of a turn frees what it had saved on the way forward, and the next turn goes through it again.",
    ("Carry its detach() into the next turn",),
    "import torch\nh = w = torch.ones(1, requires_grad=True)\nfor _ in range(2):\n    h = h * w\n    h.backward()",
    (FixKind("detach_carried", 0),),
)
"""Of what torch says of a second backward, where a loop carries a graph: keeping it would not help."""

GRADIENTS: tuple[Rule, ...] = (
    Rule(
        "backward not scalar",
        "RuntimeError",
        r"grad can be implicitly created only for scalar outputs",
        "backward starts from one number. This tensor has several, so torch cannot know their weights.",
        ("Reduce it to one number first (sum or mean)", "Give the weights in the argument 'gradient'"),
        "import torch\n(torch.randn(3, requires_grad=True) * 2).backward()",
        (
            FixKind("reduce", 0, text="torch.Tensor.sum"),
            FixKind("reduce", 0, text="torch.Tensor.mean"),
            FixKind("ones", 1),
        ),
    ),
    Rule(
        "does not require grad",
        "RuntimeError",
        r"element 0 of tensors does not require grad and does not have a grad_fn",
        "Nothing this tensor was computed from requires grad, or the chain was cut "
        "(detach, no_grad, argmax, a comparison), so there is no way back.",
        ("Set requires_grad to True on a leaf", "Take away the detach or no_grad in between"),
        "import torch\ntorch.randn(3).sum().backward()",
        (
            FixKind("create_graph"),
            FixKind("uncut", 1),
            FixKind("require_leaf", 0),
        ),
    ),
    Rule(
        "second backward",
        "RuntimeError",
        r"Trying to backward through the graph a second time",
        "The first backward freed what it had saved for itself on the way forward.",
        (
            "Compute the root anew, its statements once more, in front of the second backward",
            "Set retain_graph to True in the first backward",
        ),
        "import torch\ny = torch.ones(1, requires_grad=True) ** 2\ny.backward()\ny.backward()",
        (FixKind("detach_shared"), FixKind("retain_graph", 1)),
    ),
    Rule(
        "in-place on leaf",
        "RuntimeError",
        r"^a leaf Variable that requires grad is being used in an in-place operation",
        "A leaf that requires grad must not be changed in place: autograd could not tell its gradient afterwards.",
        ("Wrap the statement in no_grad", "Use the operator that returns a new tensor"),
        "import torch\nx = torch.ones(2, requires_grad=True)\nx.add_(1)",
        (
            FixKind("no_grad", 0),
            FixKind("out_of_place", 1),
        ),
    ),
    Rule(
        "in-place on view of leaf",
        "RuntimeError",
        r"a view of a leaf Variable that requires grad is being used in an in-place operation",
        "The tensor is a view of a leaf that requires grad; writing into it would change the leaf in place.",
        ("Wrap the statement in no_grad", "Work on a clone()"),
        "import torch\nx = torch.ones(2, requires_grad=True)\nx[0:1].add_(1)",
        (
            FixKind("no_grad", 0),
            FixKind("clone_base", 1),
        ),
    ),
    Rule(
        "saved tensor modified",
        "RuntimeError",
        r"one of the variables needed for gradient computation has been modified by an inplace operation: "
        r"\[(?P<what>[^\]]*)\].*?is at version (?P<now>\d+); expected version (?P<then>\d+) instead",
        "A value that backward needs was overwritten. It was saved at version {then} and is at version {now} now.",
        ("Use the operator that returns a new tensor", "Write into a clone()"),
        "import torch\nx = torch.ones(2, requires_grad=True)\ny = x.exp()\ny += 1\ny.sum().backward()",
        (
            FixKind("out_of_place", 0),
            FixKind("clone", 1),
        ),
    ),
    Rule(
        "one of differentiated not used",
        "RuntimeError",
        r"(?:One of the differentiated Tensors|The differentiated Tensor at index \d+) "
        r"appears to not have been used in the graph",
        "autograd.grad was asked for a tensor that the output was not computed from.",
        ("Set allow_unused to True, which gives None for it", "Wire the tensor into the computation"),
        "import torch\nx = torch.ones(1, requires_grad=True)\ny = torch.ones(1, requires_grad=True)\n"
        "torch.autograd.grad(x * 2, y)",
        (FixKind("set", 0, port="allow_unused", text="True"),),
    ),
    Rule(
        "numpy of grad",
        "RuntimeError",
        r"Can't call numpy\(\) on Tensor that requires grad",
        "numpy knows nothing of gradients, so torch asks you to leave the graph on purpose.",
        ("Call detach() before numpy()",),
        "import torch\ntorch.ones(2, requires_grad=True).numpy()",
        (FixKind("insert", 0, port="self", text="torch.Tensor.detach"),),
    ),
    Rule(
        "in-place on expanded",
        "RuntimeError",
        r"unsupported operation: (?:more than one element of the written-to tensor refers to a single memory location"
        r"|some elements of the input tensor and the written-to tensor refer to a single memory location)",
        "expand repeats without copying, so several elements are one place in memory, and a write would hit them all.",
        ("Write into a clone()", "Use the operator that returns a new tensor"),
        "import torch\ntorch.ones(3, 1).expand(3, 4).add_(torch.ones(3, 4))",
        (FixKind("clone", 0), FixKind("out_of_place", 1)),
    ),
    Rule(
        "inference tensor written",
        "RuntimeError",
        r"Inplace update to inference tensor outside InferenceMode is not allowed",
        "A tensor made in inference_mode has no version counter, so it must not be changed outside of it.",
        ("Use no_grad instead of inference_mode", "Write into a clone()"),
        "import torch\nwith torch.inference_mode():\n    x = torch.ones(2)\nx.add_(1)",
        (FixKind("not_inference", 0), FixKind("clone", 1)),
    ),
    Rule(
        "inference tensor saved",
        "RuntimeError",
        r"Inference tensors cannot be saved for backward",
        "A tensor made in inference_mode can never take part in a backward, and this operator would have to save it.",
        ("Use no_grad instead of inference_mode", "Work on a clone()"),
        "import torch\nwith torch.inference_mode():\n    x = torch.ones(2)\ntorch.ones(2, requires_grad=True) * x",
        (FixKind("not_inference", 0), FixKind("clone_inference", 1)),
    ),
    Rule(
        "grad is None",
        "AttributeError",
        r"'NoneType' object has no attribute '(?P<what>\w+)'",
        "What stands before .{what} is None. A .grad is None until a backward has reached the tensor, "
        "and stays None on a tensor that is not a leaf.",
        ("Use it behind the backward", "Set requires_grad to True on the tensor", "Keep the gradient (retain_grad)"),
        "import torch\nx = torch.ones(2, requires_grad=True)\nx.grad.zero_()",
        (FixKind("require_own_leaf", 1), FixKind("retain_grad", 2), FixKind("behind_backward", 0)),
    ),
    Rule(
        "grad is None in arithmetic",
        "TypeError",
        r"unsupported operand type\(s\) for [^:]+: (?:'(?P<a>\w+)' and 'NoneType'|'NoneType' and '(?P<b>\w+)')",
        "One of the two is None. A .grad is None until a backward has reached the tensor, "
        "and stays None on a tensor that is not a leaf.",
        ("Use it behind the backward", "Set requires_grad to True on the tensor", "Keep the gradient (retain_grad)"),
        "import torch\nx = torch.ones(2, requires_grad=True)\n2 * x.grad",
        (FixKind("require_own_leaf", 1), FixKind("retain_grad", 2), FixKind("behind_backward", 0)),
    ),
    Rule(
        "flag of a non-leaf",
        "RuntimeError",
        r"you can only change requires_grad flags of leaf variables",
        "A computed tensor requires grad because what it was made from does; only a leaf's flag can be set.",
        ("Call detach() instead, which cuts it off",),
        "import torch\n(torch.ones(2, requires_grad=True) * 2).requires_grad_(False)",
        (FixKind("replace", 0, port="requires_grad", text="torch.Tensor.detach"),),
    ),
)
