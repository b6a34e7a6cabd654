"""How curves are called."""

import re
from functools import lru_cache
from typing import Final

from gradstudio.protocol.messages.progress import CurveKey, Figure

FIGURES: Final[tuple[tuple[Figure, str], ...]] = (
    ("value", "value"),
    ("mean", "mean"),
    ("rms", "root mean square"),
    ("norm", "norm"),
    ("max", "largest magnitude"),
    ("zeros", "share of zeros"),
    ("update", "update-to-weight ratio"),
)

SHARES: Final = frozenset("acc accuracy f1 auc precision recall iou dice r2 top1 top5".split())
"""Words in names of figures that lie between 0 and 1."""
METRICS: Final = SHARES | frozenset("loss err error mse rmse mae perplexity ppl bleu".split())
"""Words in names of figures that are drawn by themselves."""
_WORDS: Final = re.compile(r"[a-z]+\d?|[A-Z][a-z]+|[A-Z]+")


@lru_cache(1024)
def is_metric(name: str) -> bool:
    """Whether a number that is called so says how well something has learnt: ``val_loss``, ``testAccuracy``."""
    return not METRICS.isdisjoint(_words(name))


def is_share(name: str) -> bool:
    """Whether a number that is called so lies between 0 and 1."""
    return name.startswith("share of ") or not SHARES.isdisjoint(_words(name))


def curve_title(node: str, key: CurveKey) -> str:
    """``loss``, ``norm of fc1.weight.grad``; `node` is how the node is called."""
    whole = f"{node}.{key.path}" if key.path else node
    value = f"{whole}.grad" if key.grad else whole
    return value if key.figure == "value" else f"{dict(FIGURES)[key.figure]} of {value}"


def _words(name: str) -> set[str]:
    """The words of a name, and those with a number behind them without it, too."""
    words = [word.lower() for word in _WORDS.findall(name)]
    return {*words, *(word.rstrip("0123456789") for word in words)}
