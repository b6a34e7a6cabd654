"""The rows that nobody wrote by hand: everything in the universe that the selection does not have.

`corrections.txt` says what torch's own sources get wrong or do not tell, a line `patterns | directives`
with the directives of `build`; every line whose pattern fits applies.
"""

import fnmatch
from functools import cache
from pathlib import Path

import msgspec

from gradstudio.operators.errors import LiteralError
from gradstudio.operators.literals.parser import parse
from gradstudio.operators.model import Kind, Operator, Parameter
from tools.catalogue import build, merge, selection, signatures, universe, wording
from tools.catalogue.categories import category
from tools.catalogue.selection import Row

CORRECTIONS = Path(__file__).parent / "corrections.txt"

_SUGGESTED_BY_NAME = {
    "dim": "0", "dim0": "0", "dim1": "1", "axis0": "0", "axis1": "1", "axis": "0", "n": "2", "k": "1", "diagonal": "0",
    "start": "0", "end": "1", "length": "1", "index": "0", "kernel_size": "2", "num_features": "4", "padding": "1",
    "in_channels": "1", "out_channels": "2", "output_size": "2", "chunks": "2", "sections": "2", "window_length": "8",
    "M": "8", "p": "0.5", "norm_type": "2.0", "T_max": "10", "T_0": "10", "step_size": "10", "gamma": "0.9",
    "milestones": "[10, 20]", "total_iters": "5", "repeats": "2", "dims": "(0,)", "split_sizes": "(1, 1)",
    "source": "0", "destination": "0",
}  # fmt: skip
_SUGGESTED_BY_KIND = {
    Kind.INT: "1", Kind.FLOAT: "1.0", Kind.NUMBER: "1.0", Kind.BOOL: "True", Kind.INTS: "1", Kind.NUMBERS: "1.0",
    Kind.DTYPE: "torch.float32", Kind.DEVICE: "cpu", Kind.LAYOUT: "torch.strided", Kind.COMPLEX: "1j",
    Kind.MEMORY_FORMAT: "torch.contiguous_format", Kind.SHAPE: "(2, 3)",
}  # fmt: skip
"""What a freshly dropped node gets for a required argument that is written rather than wired."""


def rows(by_hand: list[Row]) -> list[Operator]:
    """Every generated row."""
    table = {row.key: row for row in by_hand}
    written = {row.key for row in by_hand} | {row.first("target") or "" for row in by_hand}
    keys = {row.key for row in by_hand}
    found = []
    for path in universe.wanted():
        if path not in written and f"{path}=" not in keys:
            found += of_path(path, table)
        elif any(verb == "more" for verb, _ in corrections(path)):
            found += _more(table[path], by_hand)
    return found


def _more(row: Row, by_hand: list[Row]) -> list[Operator]:
    """The ways of calling that no hand-written row of the path has."""
    written = [build.build(other) for other in by_hand if other.target == row.target]
    kept = [directive for directive in row.directives if directive[0] in ("cuts", "pure", "effects", "varying", "view")]
    bare = Row(
        row.key, row.summary, row.words, (*kept, *corrections(row.target), ("rare", "")), row.category, build.GENERATED
    )
    ways = [build.build(bare, way) for way in _ways(row.target) if not build.outdated(bare, way)]
    new = [way for way in merge.merge(ways) if not any(merge.covers(other, way) for other in written)]
    return [_finished(way) for way in merge.told_apart(new, row.target, [other.key for other in written])]


def of_path(path: str, by_hand: dict[str, Row]) -> list[Operator]:
    """The rows of one path, as few as are true to torch."""
    name = category(path)
    inherited = (("cuts", ""),) if wording.base_cuts(path, by_hand) else ()
    directives = (*corrections(path), *_of_attribute(path), *inherited, ("rare", ""))
    row = Row(
        path, wording.summary(path, by_hand), wording.words(path, name, by_hand), directives, name, build.GENERATED
    )
    if row.first("sig") is not None:
        return [_finished(build.build(row))]
    if row.first("face") == "attribute":
        receiver = signatures.Argument("self", "Tensor")
        return [_finished(build.build(row, signatures.Signature((receiver,), "?", "attribute")))]
    ways = [build.build(row, way) for way in _ways(path) if not build.outdated(row, way)]
    if not ways:
        raise ValueError(f"{path}: no source knows how it is called")
    return [_finished(way) for way in merge.told_apart(merge.merge(ways), path)]


def _ways(path: str) -> list[signatures.Signature]:
    """The signatures of the best source alone; without those on plain numbers where others take tensors."""
    found = signatures.signatures(path)
    best = [way for way in found if way.source == found[0].source]
    tensors = [way for way in best if any("Tensor" in argument.type for argument in way.arguments)]
    return tensors if tensors and best[0].source == "schema" else best


def _of_attribute(path: str) -> tuple[tuple[str, str], ...]:
    head, word = path.rsplit(".", 1)
    if head not in universe.TYPES or callable(signatures.resolve(path)):
        return ()
    return (("face", "attribute"), ("symbol", word), ("title", f".{word}"), ("pure", ""))


@cache
def _corrections() -> list[tuple[tuple[str, ...], tuple[tuple[str, str], ...]]]:
    found = []
    for line in CORRECTIONS.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            patterns, bar, text = line.partition(" | ")
            if not bar:
                raise ValueError(f"corrections.txt: expected 'patterns | directives': {line}")
            found.append((tuple(patterns.split()), selection.directives(text)))
    return found


def corrections(path: str) -> tuple[tuple[str, str], ...]:
    """The directives of every line whose pattern fits the path."""
    return tuple(
        directive
        for patterns, directives in _corrections()
        if any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)
        for directive in directives
    )


def _finished(operator: Operator) -> Operator:
    """The row with hints, choices and suggestions where it lacks them."""
    parameters = tuple(_with_words(operator.path, p) for p in operator.parameters)
    suggested = dict(operator.suggested)
    for parameter in parameters:
        if parameter.default is None and parameter.name not in suggested and (text := _suggestion(parameter)):
            suggested[parameter.name] = text
    return msgspec.structs.replace(operator, parameters=parameters, suggested=suggested)


def _with_words(path: str, parameter: Parameter) -> Parameter:
    hint = parameter.hint or wording.hint(path, parameter.name)
    choices = parameter.choices
    if parameter.kind is Kind.TEXT and not choices:
        choices = tuple(build.normal(text) for text in wording.choices(path, parameter.name))
        if choices and parameter.default not in (None, "None", *choices):
            choices = (str(parameter.default), *choices)
    return msgspec.structs.replace(parameter, hint=hint, choices=choices)


def _suggestion(parameter: Parameter) -> str:
    """A literal for a required argument, in its normal form; "" where a wire has to come."""
    if parameter.kind is Kind.TEXT:
        return parameter.choices[0] if parameter.choices else ""
    text = _SUGGESTED_BY_NAME.get(parameter.name, "")
    for candidate in (text, _SUGGESTED_BY_KIND.get(parameter.kind, "")):
        if candidate and parameter.kind in _SUGGESTED_BY_KIND:
            try:
                return parse(candidate, parameter)
            except LiteralError:
                continue
    return ""
