"""Running the drawn program beside the module: outputs, parameters and gradients, bit for bit."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gradstudio.engine import access
from gradstudio.engine.bring.errors import Inexpressible
from gradstudio.engine.bring.forward_text import ForwardText, place_of
from gradstudio.engine.bring.leaf_statements import bits_equal
from gradstudio.engine.bring.user_file import UsersFile
from gradstudio.engine.run.untraced_run import CHECK, compile_untraced
from gradstudio.engine.tensor_files import StoredTensors
from gradstudio.graph.model import Graph, StoredTensor
from gradstudio.program.compile import compile_graph
from gradstudio.program.errors import NotReadable
from gradstudio.program.python_sizes import too_big
from gradstudio.program.reading.reader import read_script


@dataclass(frozen=True)
class Reference:
    """What the module gave.

    Attributes:
        outputs: tensors of its result, in order; `ids` who they were.
        parameters: by path, each parameter and its gradient after ``sum().backward()``.
        buffers: by path, each buffer after the forward.
    """

    outputs: tuple[Tensor, ...]
    ids: tuple[int, ...]
    parameters: dict[str, tuple[int, Tensor, Tensor | None]]
    buffers: dict[str, tuple[int, Tensor]]


@dataclass(frozen=True)
class Verdict:
    """How the drawn program compares.

    Attributes:
        graph: that program.
        outputs, gradients: the largest relative difference; 0.0 only when they are the same bit for bit.
        changed: ids of parameters that have other values.
        parts: what differs, by name.
    """

    graph: Graph
    outputs: float
    gradients: float
    changed: frozenset[int]
    parts: tuple[str, ...]

    @property
    def exact(self) -> bool:
        """Whether everything is the same, bit for bit."""
        return not (self.parts or self.changed)


def reference(root: nn.Module, output: Any, outputs: Sequence[Tensor]) -> Reference:
    """Note what the module gave, after a backward through it."""
    kept = tuple(tensor.detach().clone() for tensor in outputs)
    backward(outputs)
    parameters = {
        path: (id(p), p.detach().clone(), None if p.grad is None else p.grad.clone())
        for path, p in root.named_parameters()
    }
    buffers = {path: (id(b), b.detach().clone()) for path, b in root.named_buffers()}
    return Reference(kept, tuple(id(tensor) for tensor in outputs), parameters, buffers)


def backward(outputs: Sequence[Tensor]) -> None:
    """``sum().backward()`` of all that can have a gradient."""
    sums = [tensor.sum() for tensor in outputs if tensor.requires_grad and not tensor.is_complex()]
    if sums:
        torch.autograd.backward(torch.stack([one.double() for one in sums]).sum())


def graph_of(written: ForwardText, file: UsersFile) -> Graph:
    """The text as the reader reads it.

    Raises:
        Inexpressible: a line of it is nothing that a canvas draws; it names the line of the user's.
    """
    try:
        graph = read_script(written.text, lambda name: stored_of(written, name)).graph
    except NotReadable as error:
        call = written.origins.get(error.line)
        words = f"What torch recorded here cannot be drawn ({_line(written, error.line)}): {error.reason}"
        raise Inexpressible(words, *(place_of(file, call.line) if call is not None else ())) from error
    return graph


def stored_of(written: ForwardText, name: str) -> StoredTensor:
    """The stored tensor in a file that the text names."""
    return written.tensors[name.rpartition("/")[2].removesuffix(".safetensors")]


def run(graph: Graph, tensors: dict[str, StoredTensor]) -> dict[str, Any]:
    """Execute a graph as it would be exported, in a namespace of its own.

    Raises:
        Inexpressible: something in it cannot run.
        Exception: whatever torch raises.
    """
    program = compile_graph(graph)
    if program.incomplete:
        raise Inexpressible(f"A part of it cannot run: {program.incomplete[0].reason}")
    if found := too_big(program.statements):
        raise Inexpressible(found[0].reason)
    stored = StoredTensors()
    stored.add({digest: tensor.data for digest, tensor in tensors.items()})
    first, rest = compile_untraced(program, frozenset())
    namespace: dict[str, Any] = {"__name__": "__main__", "__file__": "program.py", CHECK: lambda _line: None}
    access.execute(first, namespace)
    namespace["load_file"] = stored.load_file
    access.execute(rest, namespace)
    return namespace


def verdict(written: ForwardText, file: UsersFile, told: Reference) -> Verdict:
    """Run the text's graph and compare.

    Raises:
        Inexpressible: it cannot be read, or what it draws raises where the module did not.
    """
    graph = graph_of(written, file)
    try:
        namespace = run(graph, written.tensors)
    except Inexpressible:
        raise
    except Exception as error:  # the step boundary: torch may raise anything
        raise Inexpressible(
            f"What was recorded raises when it is run again: {type(error).__name__}: {error}"
        ) from error

    def found(identity: int) -> Tensor | None:
        return tensor_at(namespace, written.names[identity]) if identity in written.names else None

    outputs = [found(identity) for identity in told.ids]
    kept = [None if one is None else one.detach().clone() for one in outputs]
    backward([one for one in outputs if one is not None])
    parts, worst = [], [0.0, 0.0]
    for number, (mine, other) in enumerate(zip(told.outputs, kept, strict=True)):
        if (apart := distance(mine, other)) is not None:
            worst[0] = max(worst[0], apart)
            parts.append(
                f"output {number} (by {apart:.3g})" if len(told.outputs) > 1 else f"the output (by {apart:.3g})"
            )
    changed = set()
    for path, (identity, value, grad) in told.parameters.items():
        leaf = found(identity)
        if leaf is None:
            continue
        if not bits_equal(value, leaf):
            changed.add(identity)
        if (apart := distance(grad, leaf.grad)) is not None:
            worst[1] = max(worst[1], apart)
            parts.append(f"the gradient of {path} (by {apart:.3g})")
    for path, (identity, value) in told.buffers.items():
        if (now := found(identity)) is not None and not bits_equal(value, now):
            parts.append(f"the buffer {path}")
    return Verdict(graph, worst[0], worst[1], frozenset(changed), tuple(parts))


def tensor_at(namespace: dict[str, Any], expression: str) -> Tensor | None:
    """What ``blocks_0.weight`` or ``xs[1]`` stands for, when it is a tensor."""
    name, *rest = re.findall(r"\w+", expression)
    found = namespace.get(name)
    for part in rest:
        found = found[int(part)] if part.isdigit() and isinstance(found, list | tuple) else getattr(found, part, None)
    return found if isinstance(found, Tensor) else None


def distance(mine: Tensor | None, other: Tensor | None) -> float | None:
    """The largest difference, relative to the largest value where that is above 1.

    None when they are the same bit for bit, infinite when they cannot be compared.
    """
    if mine is None or other is None:
        return None if mine is other else float("inf")
    if bits_equal(mine, other):
        return None
    if mine.shape != other.shape or mine.dtype != other.dtype:
        return float("inf")
    apart = (mine.to(torch.complex128) - other.to(torch.complex128)).abs()
    scale = max(1.0, float(mine.abs().max().double()))
    return float(apart.max()) / scale if not apart.isnan().any() else float("inf")


def _line(written: ForwardText, number: int) -> str:
    lines = written.text.splitlines()
    return lines[number - 1].strip()[:120] if 0 < number <= len(lines) else ""
