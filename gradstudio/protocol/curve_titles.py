"""How curves are called."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from gradstudio.graph.model import Graph
from gradstudio.graph.text.item_titles import title
from gradstudio.protocol.messages.progress import CurveKey, Figure

FIGURES: Final[tuple[tuple[Figure, str], ...]] = (
    ("value", "value"),
    ("mean", "mean"),
    ("rms", "root mean square"),
    ("norm", "norm"),
    ("max", "largest magnitude"),
    ("zeros", "share of zeros"),
    ("update", "update-to-weight ratio"),
    ("rate", "learning rate"),
)

SHARES: Final = frozenset("acc accuracy f1 auc precision recall iou dice r2 top1 top5".split())
"""Words in names of figures that lie between 0 and 1."""
METRICS: Final = SHARES | frozenset("loss err error mse rmse mae perplexity ppl bleu".split())
"""Words in names of figures that are drawn by themselves."""
APART: Final = frozenset(("val", "valid", "validation", "test", "eval", "dev"))
"""Words in names of figures of data that nobody learns from."""
LOSSES: Final = METRICS - SHARES - {"bleu"}
"""Words in names of figures that are best where they are least."""
_WORDS: Final = re.compile(r"[a-z]+\d?|[A-Z][a-z]+|[A-Z]+")


@lru_cache(1024)
def is_metric(name: str) -> bool:
    """Whether a number that is called so says how well something has learnt: ``val_loss``, ``testAccuracy``."""
    return not METRICS.isdisjoint(_words(name))


def is_share(name: str) -> bool:
    """Whether a number that is called so lies between 0 and 1."""
    return name.startswith("share of ") or not SHARES.isdisjoint(_words(name))


def is_apart(name: str) -> bool:
    """Whether data, or a figure, that is called so is of what nobody learns from: ``x_val``, ``test_loss``."""
    return not APART.isdisjoint(_words(name))


class Watched(NamedTuple):
    """The figure by which what was learnt is judged; `rises`: it is best where it is largest."""

    name: str
    rises: bool


def watched_figures(names: Iterable[str]) -> list[Watched]:
    """Of these names: losses of data that nobody learns from, then shares of theirs, then any share.

    A loss that is learnt from says nothing of a single turn.
    """
    ranks: dict[Watched, int] = {}
    for name in filter(is_metric, names):
        words = _words(name)
        of_test, rises = is_apart(name), LOSSES.isdisjoint(words)
        if of_test or rises:
            ranks.setdefault(Watched(name, rises), rises + 2 * (not of_test))
    return sorted(ranks, key=ranks.__getitem__)


def watched_figure(names: Iterable[str]) -> Watched | None:
    """The first of `watched_figures`; None: there is none."""
    return next(iter(watched_figures(names)), None)


def judged_figures(graph: Graph) -> list[Watched]:
    """The figures of a program by which its training can be judged, the surest first."""
    inside = (node for node in graph.nodes.values() if graph.loop_around(node.id) is not None)
    return watched_figures(name for node in inside for name in node.names)


def name_of_several(graph: Graph, key: CurveKey) -> str:
    """Of a node that binds several names, the one of this value: ``loss`` of ``logits, loss = …``; else ""."""
    node = graph.nodes.get(key.node)
    if node is None or len(node.names) < 2 or key.output >= len(node.names):
        return ""
    return node.names[key.output]


def curve_title_in(graph: Graph, key: CurveKey) -> str:
    """How a curve of a graph's node is called."""
    return curve_title(name_of_several(graph, key) or title(graph, key.node), key)


def curve_title(node: str, key: CurveKey) -> str:
    """``loss``, ``norm of fc1.weight.grad``; `node` is how the node is called."""
    whole = f"{node}.{key.path}" if key.path else node
    value = f"{whole}.grad" if key.grad else whole
    return value if key.figure == "value" else f"{dict(FIGURES)[key.figure]} of {value}"


def _words(name: str) -> set[str]:
    """The words of a name, and those with a number behind them without it, too."""
    words = [word.lower() for word in _WORDS.findall(name)]
    return {*words, *(word.rstrip("0123456789") for word in words)}
