"""How curves are called."""

from typing import Final

from gradstudio.protocol.messages.progress import CurveKey, Figure

FIGURES: Final[tuple[tuple[Figure, str], ...]] = (
    ("value", "value"),
    ("mean", "mean"),
    ("rms", "root mean square"),
    ("norm", "norm"),
    ("max", "largest magnitude"),
)


def curve_title(node: str, key: CurveKey) -> str:
    """``loss``, ``norm of fc1.weight.grad``; `node` is how the node is called."""
    whole = f"{node}.{key.path}" if key.path else node
    value = f"{whole}.grad" if key.grad else whole
    return value if key.figure == "value" else f"{dict(FIGURES)[key.figure]} of {value}"
