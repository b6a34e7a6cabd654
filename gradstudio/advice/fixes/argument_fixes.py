"""Ways out of errors about single arguments: a number out of its range, a word that is not known, too many dimensions.

Each changes one literal, or one operand, to the nearest thing that torch takes.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial

from gradstudio.advice.failure_case import Case, Offer, Operand
from gradstudio.advice.fixes.value_fixes import cast_offer
from gradstudio.advice.model import FixKind
from gradstudio.advice.shape_rules import combine_shapes
from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits
from gradstudio.graph.model import Graph, ItemId, Node, Wire

FLOATING = frozenset({"float16", "bfloat16", "float32", "float64", "complex64", "complex128"})
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?|\d+\.")


def allowed(case: Case, kind: FixKind) -> Iterator[Offer]:
    """The nearest number that torch allows, in place of the one it named (group ``v``) or in the port of the kind."""
    wanted, wrong = kind.text.format(**case.groups), case.groups.get("v", "")
    for owner in _owners(case):
        for path, text in owner.literals.items():
            named = kind.port and path.partition(".")[0] == kind.port
            if (named or (not kind.port and wrong and _same(text, wrong))) and not _same(text, wanted):
                whose = "" if owner.id == case.item else f" of {case.name(owner.id)}"
                yield f"Set {path}{whose} to {wanted}", _set(owner.id, path, wanted)
                return


def rank(case: Case, kind: FixKind) -> Iterator[Offer]:
    """Bring an operand to the number of dimensions that is wanted: ``2`` exactly, ``2+`` at least, ``-2`` at most."""
    text = kind.text.format(**case.groups)
    found = [operand for operand in case.operands if kind.port in ("", operand.port.partition(".")[0])]
    for operand in found:
        yield from _brought(case, operand, int(text.strip("+-")), len(operand.shape), text)


def rank_alike(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Give the tensors of a list as many dimensions as the one with most of them."""
    most = max((len(operand.shape) for operand in case.operands), default=0)
    for operand in case.operands:
        if len(operand.shape) < most:
            yield _unsqueezed(case, operand, most - len(operand.shape))


def unique_dims(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Each dimension once."""
    for path, text in case.literals().items():
        numbers = re.findall(r"-?\d+", text)
        once = list(dict.fromkeys(numbers))
        if path.startswith("dim") and len(once) < len(numbers) and case.node is not None:
            wanted = f"({', '.join(once)}{',' if len(once) == 1 else ''})"
            yield f"Name each dimension once ({path}={wanted})", _set(case.item, path, wanted)


def largest_count(case: Case, kind: FixKind) -> Iterator[Offer]:
    """As many as there are along the dimension, where more were asked for."""
    operand = next(iter(case.operands), None)
    if operand is None or not operand.shape or case.node is None:
        return
    dim = case.literals().get("dim", "") or "-1"
    size = (
        operand.shape[int(dim)]
        if re.fullmatch(r"-?\d+", dim) and -len(operand.shape) <= int(dim) < len(operand.shape)
        else 0
    )
    if size and kind.port in case.literals():
        yield f"Take all that there are ({kind.port}={size})", _set(case.item, kind.port, str(size))


def shorter(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """A length that ends where the dimension does."""
    start, size = int(case.groups.get("s", "0")), int(case.groups.get("n", "0"))
    if case.node is not None and "length" in case.literals() and 0 <= start < size:
        yield f"End where the dimension ends (length={size - start})", _set(case.item, "length", str(size - start))


def cast_floating(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Cast what is not a floating-point tensor to float32."""
    others = [operand for operand in case.operands if operand.dtype not in FLOATING]
    if len(others) == 1:
        yield cast_offer(case, others[0].wire, "float32")
    elif others:
        steps = [cast_offer(case, operand.wire, "float32")[1] for operand in others]
        yield "Cast all of them to float32", lambda graph: recipes.combine_steps(graph, *steps)


def swap(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Exchange the first two operands."""
    word = case.operator.word if case.operator is not None else ""
    shapes = [operand.shape for operand in case.operands]
    if len(shapes) == 2 and combine_shapes(word, shapes[1], shapes[0]) is not None:
        first, second = (operand.wire for operand in case.operands)
        names = case.source_name(first), case.source_name(second)
        yield f"Exchange the two operands ({names[1]}, {names[0]})", partial(_swapped, first=first, second=second)


def flatten_input(case: Case, kind: FixKind) -> Iterator[Offer]:
    """Flatten all behind the batch, where a layer was made for as many features as that gives."""
    operand = case.operand("inputs") or case.operand("input")
    if operand is None or len(operand.shape) < 3:
        return
    features = 1
    for size in operand.shape[1:]:
        features *= size
    if kind.port and str(features) != case.groups.get(kind.port, ""):
        return
    name = case.source_name(operand.wire)
    yield (
        f"Flatten {name} behind the batch ({name}.flatten(1))",
        _insert(operand.wire, "torch.Tensor.flatten", start_dim="1"),
    )


# ------------------------------------------------------------------ helpers


def _owners(case: Case) -> Iterator[Node]:
    """The node that failed, and the module that it called."""
    if case.node is not None:
        yield case.node
    yield from case.modules()


def _brought(case: Case, operand: Operand, wanted: int, now: int, text: str) -> Iterator[Offer]:
    name = case.source_name(operand.wire)
    if now < wanted and not text.startswith("-"):
        yield _unsqueezed(case, operand, wanted - now)
    elif now > wanted and not text.endswith("+") and wanted == 1:
        yield f"Make a vector of {name} ({name}.flatten())", _insert(operand.wire, "torch.Tensor.flatten")
    elif now > wanted and not text.endswith("+"):
        yield (
            f"Join the first dimensions of {name} (flatten(0, {now - wanted}))",
            _insert(operand.wire, "torch.Tensor.flatten", start_dim="0", end_dim=str(now - wanted)),
        )


def _unsqueezed(case: Case, operand: Operand, times: int) -> Offer:
    name = case.source_name(operand.wire)
    many = f"{times} dimensions" if times > 1 else "a dimension"
    return f"Insert {many} in front of {name} (unsqueeze(0))", partial(_often, wire=operand.wire, times=times)


def _often(graph: Graph, wire: Wire, times: int) -> Edits:
    def once(now: Graph) -> Edits:
        return recipes.insert(now, now.wires[wire.target, wire.port], "torch.Tensor.unsqueeze", {"dim": "0"})

    return recipes.combine_steps(graph, *(once for _ in range(times)))


def _swapped(graph: Graph, first: Wire, second: Wire) -> Edits:
    return recipes.combine_steps(
        graph,
        lambda now: recipes.disconnect(now, first),
        lambda now: recipes.connect(now, first.source, first.output, second.target, second.port),
        lambda now: recipes.connect(now, second.source, second.output, first.target, first.port),
    )


def _same(text: str, other: str) -> bool:
    """Whether two literals are one number, or one text."""
    if NUMBER.fullmatch(text.strip()) and NUMBER.fullmatch(other.strip()):
        return float(text) == float(other)
    return text.strip() == other.strip()


def _insert(wire: Wire, key: str, **literals: str) -> Callable[[Graph], Edits]:
    return lambda graph: recipes.insert(graph, wire, key, literals)


def _set(item: ItemId, path: str, text: str) -> Callable[[Graph], Edits]:
    return lambda graph: recipes.set_literal(graph, item, path, text)
