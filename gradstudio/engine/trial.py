"""One statement tried on stand-ins: its results, torch's refusal, or that only a run can tell."""

import ast
import builtins
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn

from gradstudio.engine.guard import largest_result
from gradstudio.engine.history import is_leaf
from gradstudio.engine.neutral import neutral
from gradstudio.engine.source import Step
from gradstudio.engine.standins import META, OnMeta, stand_in
from gradstudio.engine.values import tensors_in
from gradstudio.operators import catalogue
from gradstudio.operators.model import Effect

TINY = 1 << 14
LARGEST_EXPONENT = 64
_ACTS_ONLY = frozenset({Effect.BACKWARD, Effect.OPTIMIZER, Effect.PRINT, Effect.SEED})
_GRADIENT = re.compile(r"\.grad\b")
_OTHER_DEVICES = ("cuda", "mps", "xpu")
_ASKS_FOR_DATA = ("meta", "data-dependent", "Meta")
_OF_DTYPES = re.compile(r"same dtype|expected scalar type|Found dtype")


class Unknown:
    """Known after a run."""


UNKNOWN = Unknown()


@dataclass(frozen=True, slots=True)
class Refusal:
    """The run will refuse it, in torch's words."""

    words: str


Results = Unknown | Refusal | list[Any]


class Trial:
    """A statement and the stand-ins it reads.

    Attributes:
        skips: it only acts (backward, print, an optimizer's step): nothing to infer.
        repeatable: the same inputs give the same results, so they may be remembered.
    """

    def __init__(self, step: Step, namespace: dict[str, Any], autocast: bool) -> None:
        """Look at the statement; nothing runs yet."""
        self._step, self._namespace, self._autocast = step, namespace, autocast
        statement = step.statement
        operator = catalogue.load().get(statement.operator)
        effects = frozenset(operator.effects if operator is not None else ())
        self._random = operator is None or Effect.RANDOM in effects
        self._writes = [name for name in step.source.reads if name in statement.writes]
        self._inputs = {name: namespace[name] for name in step.source.reads if name in namespace}
        acts = bool(_ACTS_ONLY & effects) or statement.backward
        idle = not (self._has_tensor() or self._writes or statement.operator == "torch.set_default_dtype")
        self.skips = not statement.names and (acts or idle)
        self.repeatable = (
            bool(statement.names) and not self._writes and not self._has(nn.Module, torch.optim.Optimizer, list)
        )
        self._changed: dict[str, Any] = {}

    def results(self) -> Results:
        """A value per name that the statement binds."""
        reads = self._step.source.reads
        if _GRADIENT.search(self._step.statement.text) or self._step.statement.backward:
            return UNKNOWN
        if any(isinstance(value, Unknown) for value in self._inputs.values()):
            return UNKNOWN
        if any(name not in self._inputs and not _is_builtin(name) for name in reads) or self._explodes():
            return UNKNOWN
        return self._really() if self._is_tiny() else self._on_meta()

    def overwritten(self, results: Results) -> dict[str, Any]:
        """The names whose objects the statement wrote into, with stand-ins as they are afterwards."""
        if not self._writes and (self._step.statement.names or isinstance(results, list)):
            return self._changed
        touched = self._writes or [name for name, value in self._inputs.items() if isinstance(value, Tensor | list)]
        found = dict(self._changed)
        for name in touched:
            if name not in found and not isinstance(results, list):
                found.update(dict.fromkeys(self._aliases(name), UNKNOWN))
        return found

    # -------------------------------------------------------------- ways to run

    def _really(self) -> Results:
        names = self._read(_copy)
        try:
            exec(self._step.source.code, names)
            return self._taken(names)
        except Exception as error:  # noqa: BLE001 - a program's own code on stand-ins: its error is the answer
            return Refusal(str(error))

    def _on_meta(self) -> Results:
        names = self._read(_moved)
        try:
            with META, OnMeta():
                exec(self._step.source.code, names)
        except Exception as error:  # noqa: BLE001 - meta refuses some right programs: asked again below
            return self._confirm(error)
        return self._mixed() or self._taken(names)

    def _mixed(self) -> Refusal | None:
        """Meta multiplies tensors of different dtypes that torch refuses: ask torch itself, on one element of each."""
        tensors = [tensor for value in self._inputs.values() for tensor in tensors_in(value)]
        elsewhere = any(device in self._step.statement.text for device in _OTHER_DEVICES)
        if self._autocast or elsewhere or len({tensor.dtype for tensor in tensors}) < 2 or self._has(nn.Module):
            return None
        names = {name: _ones(value) for name, value in self._inputs.items()}
        try:
            exec(self._step.source.code, names)
        except Exception as error:  # noqa: BLE001 - of other shapes: only what is said of dtypes holds
            return Refusal(str(error)) if _OF_DTYPES.search(str(error)) else None
        return None

    def _confirm(self, error: Exception) -> Results:
        """Meta refused: ask torch itself, on zeros of the same shapes, when they are small enough."""
        tensors = [value for value in self._inputs.values() if isinstance(value, Tensor)]
        if (
            self._has(nn.Module)
            or sum(t.numel() for t in tensors) > TINY
            or largest_result(self._step, self._namespace) > TINY**2
        ):
            asks = isinstance(error, NotImplementedError) or any(word in str(error) for word in _ASKS_FOR_DATA)
            return UNKNOWN if asks else Refusal(str(error))
        names = {name: _zeros(value) for name, value in self._inputs.items()}
        try:
            exec(self._step.source.code, names)
        except Exception as real:  # noqa: BLE001 - torch's own words
            return Refusal(str(real))
        return UNKNOWN

    def _taken(self, names: dict[str, Any]) -> Results:
        for name in self._inputs:
            value = names[name]
            written = name in self._writes or (not self._step.statement.names and isinstance(value, Tensor | list))
            if written:
                settled = self._settled(value)
                self._changed.update(dict.fromkeys(self._aliases(name), settled))
        return [self._settled(names[name]) for name in self._step.statement.names]

    def _settled(self, value: Any) -> Any:
        """What is drawn, trained or large has no numbers to rely on."""
        if isinstance(value, Tensor) and not value.is_meta:
            decided = not (value.requires_grad or self._random or value.numel() > TINY)
            return value if decided else stand_in(value)
        if isinstance(value, tuple | list) and type(value) in (tuple, list):
            return type(value)(map(self._settled, value))
        if isinstance(value, tuple):
            return tuple(map(self._settled, value))
        return UNKNOWN if self._random and isinstance(value, int | float) else value

    # -------------------------------------------------------------- questions

    def _is_tiny(self) -> bool:
        text = self._step.statement.text
        if self._random or self._has(nn.Module, torch.optim.Optimizer) or "nn." in text:
            return False
        if any(device in text for device in _OTHER_DEVICES):
            return False
        tensors = [tensor for value in self._inputs.values() for tensor in tensors_in(value)]
        if any(tensor.is_meta or tensor.requires_grad or tensor.numel() > TINY for tensor in tensors):
            return False
        return largest_result(self._step, self._namespace) <= TINY

    def _explodes(self) -> bool:
        """Whole numbers raised to powers, or shifted, can take for ever; only a run may do that."""
        return not self._has_tensor() and _has_open_power(self._step.statement.text)

    def _has(self, *kinds: type) -> bool:
        return any(isinstance(value, kinds) for value in self._inputs.values())

    def _has_tensor(self) -> bool:
        return self._has(Tensor, list)

    def _aliases(self, name: str) -> list[str]:
        """Every name of the same object."""
        value = self._namespace[name]
        return [other for other, known in self._namespace.items() if known is value]

    def _read(self, twin_of: Callable[[Any], Any]) -> dict[str, Any]:
        """What the statement reads: twins of what it may write into, the stand-ins themselves else."""
        twins: dict[int, Any] = {}
        names = {}
        for name, value in self._inputs.items():
            written = name in self._writes or not self._step.statement.names
            if written and id(value) not in twins:
                twins[id(value)] = twin_of(value)
            names[name] = twins[id(value)] if written else value if twin_of is _copy else stand_in(value)
        return names


@lru_cache(maxsize=65536)
def _has_open_power(text: str) -> bool:
    """Whether something is raised to a power, or shifted by a number, that is not a small literal."""
    powers = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.BinOp | ast.AugAssign))
    return any(isinstance(node.op, ast.Pow | ast.LShift) and not _is_small(node) for node in powers)


def _is_small(node: ast.BinOp | ast.AugAssign) -> bool:
    right = node.right if isinstance(node, ast.BinOp) else node.value
    return (
        isinstance(right, ast.Constant)
        and isinstance(right.value, int | float)
        and abs(right.value) <= LARGEST_EXPONENT
    )


def _is_builtin(name: str) -> bool:
    return hasattr(builtins, name)


def _copy(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.clone()
    return list(value) if type(value) is list else value


def _moved(value: Any) -> Any:
    twin = stand_in(value)
    if isinstance(value, Tensor) and isinstance(twin, Tensor) and twin is value:
        with neutral():
            twin = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device=META)
        if not value.requires_grad:
            return twin
        return twin.requires_grad_() if is_leaf(value) else _non_leaf(twin)
    return twin


def _non_leaf(twin: Tensor) -> Tensor:
    with torch.enable_grad():
        return twin.requires_grad_().clone()


def _ones(value: Any) -> Any:
    """Tensors with one element, of the same dtypes and numbers of dimensions."""
    if isinstance(value, Tensor):
        return torch.ones((1,) * value.dim(), dtype=value.dtype) if not value.is_nested else value
    if type(value) in (list, tuple):
        return type(value)(map(_ones, value))
    return value


def _zeros(value: Any) -> Any:
    if isinstance(value, Tensor):
        zeros = torch.zeros(value.shape, dtype=value.dtype)
        return zeros.requires_grad_() if value.requires_grad else zeros
    if type(value) in (list, tuple):
        return type(value)(map(_zeros, value))
    return value
