"""Python's blocks as a person finds them, beside the operators: `with torch.no_grad()`, `for`, `if`, a titled frame.

They are no operators and in no catalogue of them: a node can never be one.
"""

from typing import Final

from gradstudio.operators.model import Face, Operator

CATEGORY: Final = "Blocks"


def _row(key: str, title: str, summary: str, *words: str) -> Operator:
    return Operator(key, title, Face.GROUP, CATEGORY, summary, results=(), words=words)


ROWS: Final = (
    _row(
        "torch.no_grad", "no_grad", "A block in which nothing is recorded for backward",
        "with no grad", "no gradient", "without gradient", "stop recording", "disable gradients", "turn off gradients",
        "with torch no grad", "evaluation block",
    ),
    _row(
        "torch.enable_grad", "enable_grad", "A block in which operations are recorded again, within no_grad",
        "with enable grad", "turn on gradients", "with torch enable grad", "record again",
    ),
    _row(
        "torch.inference_mode", "inference_mode", "A block for predicting alone: faster than no_grad, never recorded",
        "with inference mode", "with torch inference mode", "inference",
    ),
    _row(
        "torch.set_grad_enabled", "set_grad_enabled", "A block in which gradients are recorded or not, as it is told",
        "with set grad enabled", "with torch set grad enabled", "train or evaluate", "switch gradients",
    ),
    _row(
        "torch.autocast", "autocast", "A block that computes in a shorter dtype where that is safe",
        "half precision block", "with autocast", "with torch autocast", "bfloat16 block",
    ),
    _row(
        "torch.autograd.set_detect_anomaly", "set_detect_anomaly", "A block whose backwards are looked through for NaN",
        "with set detect anomaly", "debug nan", "anomaly mode",
    ),
    _row(
        "python.for", "for", "A loop: its statements run once for each number of a range, or element of a list",
        "for loop", "loop", "loop block", "iterate", "iteration", "epochs", "training loop", "for each", "for in range",
        "for i in range", "repeat block", "repeat statements", "while",
    ),
    _row(
        "python.if", "if", "A condition around prints: they are written when it is true",
        "if block", "condition block", "conditional", "branch", "if statement", "print if",
    ),
    _row(
        "python.group", "group", "A titled frame around statements; it changes nothing of what they do",
        "frame", "region", "comment box", "group nodes", "section", "group block",
    ),
)  # fmt: skip
"""In the order the Library shows them."""
BY_KEY: Final = {row.key: row for row in ROWS}
KINDS: Final = {row.key: row.title for row in ROWS}
"""By key: the kind of `graph.model.Block`."""
_HEADS: Final = {
    "torch.set_grad_enabled": "with torch.set_grad_enabled(True):",
    "torch.autograd.set_detect_anomaly": "with torch.autograd.set_detect_anomaly(True):",
    "torch.autocast": 'with torch.autocast(device_type="cpu", dtype=torch.bfloat16):',
    "python.for": "for i in range(3):",
    "python.if": "if condition:",
    "python.group": "# region: title",
}


def head(key: str) -> str:
    """The first line of a fresh block; "" for what is none."""
    return _HEADS.get(key, f"with {key}():" if key in BY_KEY else "")
