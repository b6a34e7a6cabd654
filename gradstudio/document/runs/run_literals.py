"""Literals of a program by name: ``optimizer.lr``, and ``epoch`` for how often a loop runs."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from gradstudio.graph.analysis.program_analysis import addresses, analyse
from gradstudio.graph.model import DOCUMENT_DEVICE, Graph, ItemId
from gradstudio.operators.model import Face, Kind, Parameter

LONGEST: Final = 200
"""Longer literals are data, not settings."""
SEED, DEVICE, DTYPE = "seed", "device", "dtype"
VALUE: Final = "value"
FIXED_KINDS: Final = frozenset({Kind.SHAPE, Kind.INDEX, Kind.DATA, Kind.NAME, Kind.DTYPE, Kind.DEVICE})
FIXED_NAMES: Final = frozenset({"dim", "dims", "axis", "requires_grad"})
"""What a program is, not how it is set: with other ones it is another program, or none."""
FLAGS: Final = ("True", "False")


class Setting(NamedTuple):
    """A literal of a program: whose, which argument, and its text."""

    item: ItemId
    path: str
    text: str


def settings_of(graph: Graph) -> dict[str, Setting]:
    """The literals of a program, by name, in its order."""
    names = addresses(graph)
    found: dict[str, Setting] = {}
    for item in graph.order():
        owner = graph.nodes.get(item) or graph.blocks[item]
        head = names.get(item, str(item))
        block = graph.blocks.get(item)
        if block is not None and block.variable:
            head = block.variable
        for path, text in owner.literals.items():
            if len(text) <= LONGEST and not owner.muted and text != DOCUMENT_DEVICE:
                is_only = path == VALUE or (path == "range.0" and "range.1" not in owner.literals)
                name = head if is_only else f"{head}.{path}"
                found.setdefault(name, Setting(item, path, text))
    return found


def varied_settings(graph: Graph) -> dict[str, Setting]:
    """Those of them that one varies to find the best: numbers, flags, and words out of a choice, by name."""
    return {name: setting for name, setting in settings_of(graph).items() if _is_varied(graph, setting)}


def _is_varied(graph: Graph, setting: Setting) -> bool:
    if setting.item in graph.blocks:
        return number_of(setting.text) is not None
    operator = analyse(graph).validity.operators.get(setting.item)
    if operator is None or operator.face in (Face.STORED, Face.CODE):
        return False
    name, _, part = setting.path.partition(".")
    parameter = next((one for one in operator.parameters if one.name == name), Parameter(name, Kind.ANY))
    if parameter.kind in FIXED_KINDS or name in FIXED_NAMES or part:
        return False
    return number_of(setting.text) is not None or setting.text in (*FLAGS, *parameter.choices)


def number_of(text: str) -> float | None:
    """The number that a literal is; None of any other."""
    try:
        return float(text)
    except ValueError:
        return None


def literals_of(graph: Graph) -> dict[str, str]:
    """Text of every literal of a program, and of its header, by name."""
    header = graph.header
    about = {SEED: "none" if header.seed is None else str(header.seed), DEVICE: header.device}
    if header.default_dtype:
        about[DTYPE] = header.default_dtype
    return about | {name: setting.text for name, setting in settings_of(graph).items()}


def differing(runs: Sequence[Mapping[str, str]]) -> list[str]:
    """The names of literals that are not the same in all runs, in the order of the programs."""
    names = dict.fromkeys(name for literals in runs for name in literals)
    return [name for name in names if len({literals.get(name) for literals in runs}) > 1]


def find_setting(graph: Graph, name: str) -> tuple[str, Setting] | None:
    """The literal that a person means by a name or by its end (``lr``); None where none or several are meant."""
    known = settings_of(graph)
    if name in known:
        return name, known[name]
    meant = [full for full in known if full.endswith(f".{name}")]
    return (meant[0], known[meant[0]]) if len(meant) == 1 else None
