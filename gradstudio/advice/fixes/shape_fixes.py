"""Ways out of errors about shapes, sizes and indices, computed from what went in."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from math import prod

from gradstudio.advice.failure_case import Case, Offer, Operand
from gradstudio.advice.model import FixKind
from gradstudio.advice.shape_rules import (
    Shape,
    combine_shapes,
    joining_dims,
    transpose_shape,
    unsqueeze_shape,
    with_one_inferred,
)
from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits
from gradstudio.graph.model import Graph, ItemId, Node, Wire
from gradstudio.graph.ports.item_ports import find_port

REDUCTIONS = frozenset("sum mean amax amin prod max min median std var norm logsumexp argmax argmin".split())
CHANNELS_LAST = {4: (0, 3, 1, 2), 3: (2, 0, 1), 5: (0, 4, 1, 2, 3)}
"""By number of dimensions: the order that brings channels from the end to where torch wants them."""
MAX_OFFERS = 3


def transpose(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Transpose whichever operand makes the shapes fit; of a list, the one that makes it joinable."""
    if case.operator is not None and case.operator.word == "cat":
        yield from _transpose_element(case)
        return
    for operand, others in _pairs(case):
        turned = transpose_shape(operand.shape)
        if turned != operand.shape and _fits(case, operand, turned, others):
            mark = "T" if len(operand.shape) == 2 else "mT"
            name = case.source_name(operand.wire)
            yield f"Transpose {name} ({name}.{mark})", _insert(operand.wire, f"torch.Tensor.{mark}")


def unsqueeze(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """A dimension of size 1 where it makes the shapes fit; the offers with the smallest results first."""
    if case.operator is not None and case.operator.word == "expand":
        yield from _unsqueeze_to_expand(case)
        return
    found: list[tuple[int, Operand, int]] = []
    for operand, others in _pairs(case):
        for dim in range(len(operand.shape) + 1):
            result = _result(case, operand, unsqueeze_shape(operand.shape, dim), others)
            if result is not None:
                found.append((len(result), operand, dim))
    rank = max((len(operand.shape) for operand in case.operands), default=0)
    for size, operand, dim in sorted(found, key=lambda row: row[0])[:MAX_OFFERS]:
        if size == rank or len(found) == 1:
            yield _unsqueeze_offer(case, operand, dim)


def keepdim(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Let a reduction keep the dimension it reduced, where the shapes fit then."""
    for operand, others in _pairs(case):
        node = case.graph.nodes.get(operand.wire.source)
        if node is None or not _is_reduction(case.graph, node):
            continue
        dim = _number(node.literals.get("dim", ""))
        if dim is None:
            continue
        kept = unsqueeze_shape(operand.shape, dim if dim >= 0 else dim + len(operand.shape) + 1)
        if _fits(case, operand, kept, others):
            title = f"Let {case.name(node.id)} keep its dimension (keepdim=True)"
            yield title, _set(node, "keepdim", "True")


def infer_size(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Write -1 for a size where the others divide the number of elements; where none do, flatten the tensor."""
    node, sizes = case.node, tuple(int(n) for n in re.findall(r"-?\d+", case.groups.get("a", "")))
    if node is None:
        return
    name = next((n for n in ("shape", "size") if n in node.lengths or n in node.literals), "")
    offers = with_one_inferred(sizes, int(case.groups.get("n", "0")))
    for chosen in offers[:2] if name else ():
        words = ", ".join(str(size) for size in chosen)
        yield f"Write {words} and let torch compute the -1", partial(_write_sizes, node=node, name=name, sizes=chosen)
    if name and not offers:
        title = f"Flatten it to one dimension instead ({name}=(-1,))"
        yield title, partial(_write_sizes, node=node, name=name, sizes=(-1,))


def join_dim(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Join along a dimension in which alone the tensors differ."""
    shapes = tuple(operand.shape for operand in case.operands)
    for dim in joining_dims(shapes):
        if case.node is not None:
            yield f"Join along dimension {dim} (dim={dim})", _set(case.node, "dim", str(dim))


def choose_dim(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """The dimension nearest to the one that does not exist."""
    wrong, last = case.groups.get("d", ""), case.groups.get("b", "")
    if case.node is None:
        return
    for path, text in case.node.literals.items():
        if path.startswith(("dim", "start_dim", "end_dim")) and _number(text) == int(wrong):
            yield f"Use the last dimension ({path}={last})", _set(case.node, path, last)


def last_index(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """The last element instead of one that is not there."""
    wrong, count = case.groups.get("i", ""), int(case.groups.get("n", "0"))
    for path, text in case.literals().items():
        if case.node is not None and path.startswith("index") and text.strip() == wrong and count:
            yield f"Take the last element ({count - 1})", _set(case.node, path, str(count - 1))


def fewer_indices(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Take the last index away."""
    node, rank = case.node, int(case.groups.get("d", "0"))
    if node is None or rank < 1:
        return
    if node.lengths.get("index", 0) > rank:
        yield f"Leave {rank} of the indices", lambda graph: recipes.split_list(graph, node.id, "index", rank)
    parts = [part.strip() for part in node.literals.get("index", "").strip("()[]").split(",")]
    if len(parts) > rank:
        yield f"Leave {rank} of the indices", _set(node, "index", ", ".join(parts[:rank]))


def module_literal(case: Case, kind: FixKind) -> Iterator[Offer]:
    """Give the layer the size its input has."""
    wanted = kind.text.format(**case.groups) if kind.text else _largest_index(case)
    given = case.groups.get("c", "")
    layers = [node for node in case.modules() if kind.port in node.literals and wanted]
    exact = [node for node in layers if node.literals[kind.port] == given] or layers
    for node in exact[:1]:
        yield f"Set {kind.port} of {case.name(node.id)} to {wanted}", _set(node, kind.port, wanted)


def clamp_index(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Bring indices between 0 and the last row of the table."""
    index, table = case.operand("input"), case.operand("weight")
    if index is not None and table is not None and table.shape:
        last = str(table.shape[0] - 1)
        yield (
            f"Cut the indices off at the first and the last row (clamp(min=0, max={last}))",
            _insert(index.wire, "torch.Tensor.clamp", min="0", max=last),
        )


def permute_channels(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Bring the channels from the end to the second place."""
    operand = next(iter(case.operands), None)
    if operand is None or not operand.shape or len(operand.shape) not in CHANNELS_LAST:
        return
    if str(operand.shape[-1]) == case.groups.get("c"):
        dims = ", ".join(str(dim) for dim in CHANNELS_LAST[len(operand.shape)])
        yield (
            f"Bring the channels forward (permute({dims}))",
            _insert(operand.wire, "torch.Tensor.permute", dims=f"({dims})"),
        )


def batch(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Put in the dimensions that are missing in front: the channel, then the batch."""
    operand = case.operand("input") or case.operand("inputs")
    if operand is None:
        return
    missing = int(case.groups.get("u", "0")) - len(operand.shape)
    name = case.source_name(operand.wire)
    if missing > 0:
        yield (
            f"Insert {missing} dimension{'s' if missing > 1 else ''} in front of {name} (unsqueeze(0))",
            partial(_unsqueeze_often, wire=operand.wire, times=missing),
        )


def subscripts(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Another equation, whose letters fit the operands' dimensions."""
    text = case.literals().get("equation", "").strip("'\"")
    inputs, arrow, output = text.replace(" ", "").partition("->")
    words = inputs.split(",")
    shapes = [operand.shape for operand in case.operands]
    k = int(case.groups.get("k", "-1"))
    if case.node is None or not 0 <= k < len(words) or len(words) != len(shapes):
        return
    word = words[k]
    for other in dict.fromkeys((word[::-1], word[: len(shapes[k])], word[-len(shapes[k]) :])):
        tried = [*words[:k], other, *words[k + 1 :]]
        kept = "".join(letter for letter in output if any(letter in t for t in tried))
        equation = ",".join(tried) + arrow + kept
        if other != word and _letters_fit(tried, shapes):
            yield f"Write the equation {equation}", _set(case.node, "equation", f'"{equation}"')


def squeeze_target(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """One class number per row: a column becomes a vector, a row of figures its largest place."""
    target = case.target
    if target is None or len(target.shape) != 2:
        return
    name = case.source_name(target.wire)
    if target.shape[1] == 1:
        yield f"Make a vector of {name} (flatten())", _insert(target.wire, "torch.Tensor.flatten")
    else:
        yield f"Take the class of each row of {name} (argmax)", _insert(target.wire, "torch.Tensor.argmax", dim="1")


def reshape_target(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """The input's shape for a target of as many elements."""
    target, given = case.target, next(iter(case.operands), None)
    if target is not None and given is not None and prod(target.shape) == prod(given.shape):
        name, sizes = case.source_name(target.wire), ", ".join(str(size) for size in given.shape)
        yield (
            f"Give {name} the input's shape (reshape({sizes}))",
            _insert(
                target.wire, "torch.Tensor.reshape", shape=f"({sizes},)" if len(given.shape) == 1 else f"({sizes})"
            ),
        )


def unsqueeze_index(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """A dimension of size 1 at the place where one index per row is taken."""
    index, given = case.operand("index"), next(iter(case.operands), None)
    dim = _number(case.literals().get("dim", ""))
    if index is None or given is None or dim is None or len(index.shape) + 1 != len(given.shape):
        return
    for place in (dim, 0):
        shape = unsqueeze_shape(index.shape, place % len(given.shape))
        if all(a <= b or k == dim % len(given.shape) for k, (a, b) in enumerate(zip(shape, given.shape, strict=True))):
            yield _unsqueeze_offer(case, index, place % len(given.shape))


def absolute(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Sizes without their minus."""
    for path, text in case.literals().items():
        if case.node is not None and path.partition(".")[0] in ("size", "shape") and re.search(r"-\d", text):
            plain = re.sub(r"-(\d)", r"\1", text)
            yield f"Write {plain} for the size", _set(case.node, path, plain)


def one_turn(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Let the loop that binds the name have a turn."""
    name = case.groups.get("name") or case.groups.get("local") or case.groups.get("free") or ""
    for wire in case.graph.wires_to(case.item):
        for body in case.graph.ancestors(wire.source) if wire.source in case.graph else ():
            block = case.graph.blocks.get(ItemId(body))
            for path in ("range", "range.0"):
                if block is not None and block.literals.get(path, "").strip("(),") == "0":
                    yield (
                        f"Let the loop that binds {name} have a turn (range(1))",
                        partial(recipes.set_literal, item=block.id, path=path, text="1"),
                    )


# ------------------------------------------------------------------ helpers


def _pairs(case: Case) -> Iterator[tuple[Operand, tuple[Operand, ...]]]:
    """Each of the first two tensors, with both: the later argument first, as people mean it."""
    first = case.operands[:2]
    if len(first) == 2:
        yield from ((operand, first) for operand in reversed(first))


def _fits(case: Case, operand: Operand, shape: Shape, both: tuple[Operand, ...]) -> bool:
    return _result(case, operand, shape, both) is not None


def _result(case: Case, operand: Operand, shape: Shape, both: tuple[Operand, ...]) -> Shape | None:
    left, right = (shape if other is operand else other.shape for other in both)
    return combine_shapes(case.operator.word if case.operator is not None else "", left, right)


def _transpose_element(case: Case) -> Iterator[Offer]:
    shapes = [operand.shape for operand in case.operands]
    dim = _number(case.literals().get("dim", "0"))
    for k, operand in reversed(list(enumerate(case.operands))):
        tried = (*shapes[:k], transpose_shape(operand.shape), *shapes[k + 1 :])
        if dim in joining_dims(tried) and tried[k] != operand.shape:
            name = case.source_name(operand.wire)
            yield f"Transpose {name} ({name}.T)", _insert(operand.wire, "torch.Tensor.mT")


def _unsqueeze_to_expand(case: Case) -> Iterator[Offer]:
    operand = next(iter(case.operands), None)
    sizes = tuple(int(n) for n in re.findall(r"-?\d+", case.literals().get("size", "")))
    if operand is None:
        return
    for dim in range(len(operand.shape) + 1):
        shape = unsqueeze_shape(operand.shape, dim)
        padded = (1,) * (len(sizes) - len(shape)) + shape
        if len(padded) == len(sizes) and all(a in (1, b) for a, b in zip(padded, sizes, strict=True)):
            yield _unsqueeze_offer(case, operand, dim)


def _unsqueeze_offer(case: Case, operand: Operand, dim: int) -> Offer:
    name = case.source_name(operand.wire)
    title = f"Insert a dimension of size 1 ({name}.unsqueeze({dim}))"
    return title, _insert(operand.wire, "torch.Tensor.unsqueeze", dim=str(dim))


def _unsqueeze_often(graph: Graph, wire: Wire, times: int) -> Edits:
    def once(now: Graph) -> Edits:
        return recipes.insert(now, now.wires[wire.target, wire.port], "torch.Tensor.unsqueeze", {"dim": "0"})

    return recipes.combine_steps(graph, *(once for _ in range(times)))


def _write_sizes(graph: Graph, node: Node, name: str, sizes: Shape) -> Edits:
    steps: list[Callable[[Graph], Edits]] = []
    if name in node.lengths:
        steps.append(lambda now: recipes.join_list(now, node.id, name))
    text = f"({', '.join(str(size) for size in sizes)}{',' if len(sizes) == 1 else ''})"
    steps.append(lambda now: recipes.set_literal(now, node.id, name, text))
    return recipes.combine_steps(graph, *steps)


def _letters_fit(words: list[str], shapes: list[Shape]) -> bool:
    sizes: dict[str, int] = {}
    for word, shape in zip(words, shapes, strict=True):
        if len(word) != len(shape):
            return False
        for letter, size in zip(word, shape, strict=True):
            if sizes.setdefault(letter, size) != size:
                return False
    return True


def _largest_index(case: Case) -> str:
    largest = next((operand.maximum for operand in case.operands if operand.maximum is not None), None)
    return str(int(largest) + 1) if largest is not None else ""


def _is_reduction(graph: Graph, node: Node) -> bool:
    word = node.operator.partition(":")[0].rsplit(".", 1)[-1]
    return word in REDUCTIONS and find_port(graph, node.id, "keepdim") is not None


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"\s*-?\d+\s*", text) else None


def _insert(wire: Wire, key: str, **literals: str) -> Callable[[Graph], Edits]:
    return lambda graph: recipes.insert(graph, wire, key, literals)


def _set(node: Node, path: str, text: str) -> Callable[[Graph], Edits]:
    return lambda graph: recipes.set_literal(graph, node.id, path, text)
