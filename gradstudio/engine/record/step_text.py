"""A recorded step as a Python text in our own dialect; layers and inputs by what makes such ones, without values."""

import ast
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gradstudio.engine.bring.call_text import Spell, call_of_layer, speller, statement_of
from gradstudio.engine.bring.forward_recorder import Call, Visit, tensors_in
from gradstudio.engine.bring.forward_text import Recording, Writer
from gradstudio.engine.bring.layer_constructors import tensors_of
from gradstudio.engine.bring.leaf_statements import LeafStatements, ModuleState
from gradstudio.engine.bring.value_literals import NotWritable, literal, small_tensor
from gradstudio.engine.record.script_files import CallerNames, ScriptFiles
from gradstudio.engine.record.step_recorder import BACKWARD, GRAD, LIBRARY, STEP, ZERO_GRAD, StepRecorder
from gradstudio.graph.model import ItemId

IMPORTS = (
    "import math",
    "",
    "import numpy as np",
    "import torch",
    "import torch.nn as nn",
    "import torch.nn.functional as F",
)
REMARK = (
    "A step of {title}, as it ran: values and gradients are in the record beside this document.\n"
    "Weights and inputs are not kept with it, so a run of this drawing begins with others."
)


@dataclass(frozen=True)
class StepText:
    """What was written.

    Attributes:
        lines: by line of the text (from 1), the number of the call it is.
        bound: by number of a call, the names of what it gave.
        names: by provisional id of a layer, leaf or optimizer, its name.
    """

    text: str
    lines: dict[int, int]
    bound: dict[int, list[str]]
    names: dict[ItemId, str]


def step_text(recorder: StepRecorder, names: CallerNames, title: str) -> StepText:
    """Write a step down."""
    layers = recorder.layers.values()
    owners = {id(tensor): (layer, path) for layer, path, _, _ in layers for tensor in tensors_of(layer).values()}
    state = {id(tensor): tensor for layer, *_ in layers for tensor in tensors_of(layer).values()}
    makers = {id(layer): maker for layer, _, maker, _ in layers}
    default = torch.get_default_dtype()
    recording = Recording(
        root=nn.Module(),
        file=ScriptFiles(),
        title=title,
        stem="",
        inputs=(),
        calls=recorder.calls,
        given=ModuleState({}, owners, makers, state, {}, []),
        output=(),
        seed=0,
        dtype="" if default == torch.float32 else str(default),
        remark=REMARK.format(title=title),
    )
    return _StepWriter(recording, recorder, names).write_step()


class _StepLeaves(LeafStatements):
    """Layers as others, leaves by what makes tensors of their shape."""

    wishes: Mapping[int, str] = {}
    before: Mapping[int, Tensor] = {}

    def leaf(self, tensor: Tensor) -> list[str]:
        """The line that makes a tensor like it, or its layer."""
        owner = self.owner_of(tensor)
        if owner is not None:
            return self.layer(*owner)
        name = self.fresh(self.wishes.get(id(tensor), "value" if tensor.grad_fn is None else "before"))
        self.names[id(tensor)] = name
        self.top.append(f"{name} = {_like(tensor, self.before.get(id(tensor)))}")
        return []


class _StepWriter(Writer):
    """Writes it, whatever was called: what is not in the catalogue is kept as it is spelled."""

    def __init__(self, recording: Recording, recorder: StepRecorder, names: CallerNames) -> None:
        super().__init__(recording, frozenset(), _StepLeaves)
        self._step, self._callers = recorder, names
        self._bound: dict[int, list[str]] = {}
        self._number = 0
        self._optimizers: dict[int, str] = {}
        assert isinstance(self._leaves, _StepLeaves)
        self._leaves.wishes, self._leaves.before = names.tensors, recorder.before

    def write_step(self) -> StepText:
        """All of it."""
        written = self.write()
        numbers = {id(call): number for number, call in enumerate(self._recording.calls)}
        lines = {line: numbers[id(call)] for line, call in written.origins.items()}
        names = {
            node: self._leaves.layers[id(layer)]
            for layer, _, _, node in self._step.layers.values()
            if id(layer) in self._leaves.layers
        }
        for node, leaf in self._step.leaves.items():
            name = self._leaves.names.get(id(leaf), "")
            if name.isidentifier():
                names[node] = name
        for place, identity in enumerate(self._step.optimizers):
            if identity in self._optimizers:
                names[ItemId(f"optimizer{place}")] = self._optimizers[identity]
        return StepText(written.text, lines, self._bound, names)

    @property
    def top_title(self) -> str:
        """Of the frame around what was there before."""
        return "Before the step"

    def _head(self) -> list[str]:
        dtype = self._recording.dtype
        header = ["", f"torch.set_default_dtype({dtype})"] if dtype else []
        return [*IMPORTS, *header, "", *(f"# {line}" for line in self._recording.remark.splitlines())]

    def _say(self, number: int, call: Call, where: tuple[Visit | str, ...]) -> None:
        self._number = number
        spell = _lenient(speller(lambda tensor: self._name_of(tensor, call.inside)))
        if call.path == LIBRARY:
            self._lines.add(self._as_typed(call), where, call)
            return
        if call.path in (STEP, ZERO_GRAD):
            self._lines.add(f"{self._optimizer(call.arguments[0])}.{call.path.partition('.')[2]}()", where, call)
            return
        if call.layer is not None:
            name = self._layer(call.layer, call.layer_path, call.inside)
            text, whole = call_of_layer(name, call.arguments, call.keywords, spell), False
        elif call.path in (BACKWARD, GRAD):
            text, whole = f"{call.path}({_given(call, spell)})", False
        else:
            text, whole = statement_of(call.path, call.arguments, call.keywords, spell)
        if not whole and tensors_in(call.result) and not is_in_place(call):
            text = f"{self._targets(number, call)} = {text}"
        self._lines.add(text, where, call)

    def _as_typed(self, call: Call) -> str:
        """The line of the script, where it is a statement by itself; else what was called."""
        source = self._recording.file.source(call.line.file, call.line.number)
        try:
            statements = ast.parse(source).body
        except (SyntaxError, ValueError):
            statements = []
        is_call = len(statements) == 1 and isinstance(statements[0], ast.Expr) and ";" not in source
        return source.partition("#")[0].strip() if is_call else f"{call.keywords['name']}(...)"

    def _bind(self, tensor: Tensor, wish: str) -> str:
        name = super()._bind(tensor, self._callers.tensors.get(id(tensor), wish))
        self._bound.setdefault(self._number, []).append(name)
        return name

    # ------------------------------------------------------------------ optimizers

    def _optimizer(self, optimizer: torch.optim.Optimizer) -> str:
        """Its name; what makes it is written where it is used first."""
        if id(optimizer) in self._optimizers:
            return self._optimizers[id(optimizer)]
        entries = [entry for group in optimizer.param_groups for entry in self._entries(optimizer, group)]
        name = self._names.fresh(self._callers.optimizers.get(id(optimizer), "optimizer"))
        self._optimizers[id(optimizer)] = name
        kind = type(optimizer)
        path = f"torch.optim.{kind.__name__}" if getattr(torch.optim, kind.__name__, None) is kind else kind.__name__
        if len(entries) == 1:
            given = "".join(f", {option}" for option in entries[0][1])
            self._put_before(f"{name} = {path}({entries[0][0]}{given})")
            return name
        rows = ", ".join(_entry(params, options) for params, options in entries)
        self._put_before(f"{name} = {path}([{rows}])")
        return name

    def _put_before(self, line: str) -> None:
        """Above the step as long as nothing of it is written: an optimizer that begins it needs all layers there."""
        if self._lines.lines:
            self._lines.add(line)
        else:
            self._leaves.top.append(line)

    def _put(self, lines: Sequence[str], where: Sequence[Visit]) -> None:
        for line in lines:
            if where:
                self._lines.add(line, where)
            else:
                self._put_before(line)

    def _entries(self, optimizer: torch.optim.Optimizer, group: dict[str, Any]) -> list[tuple[str, list[str]]]:
        """What a group holds, whole layers at once, and its options."""
        options = _options(optimizer, group)
        left = {id(tensor): tensor for tensor in group["params"]}
        whole: list[str] = []
        for layer, path, _, _ in self._step.layers.values():
            own = [id(parameter) for parameter in layer.parameters()]
            if own and all(identity in left for identity in own):
                whole.append(self._layer(layer, path, ()))
                for identity in set(own):
                    del left[identity]
        leaves = {id(leaf) for leaf in self._step.leaves.values()}
        known = [tensor for tensor in left.values() if id(tensor) in leaves or self._leaves.owner_of(tensor)]
        found: list[tuple[str, list[str]]] = []
        if whole:
            layers = self._names.fresh("layers")
            self._put_before(f"{layers} = nn.ModuleList([{', '.join(whole)}])")
            found.append((f"{layers}.parameters()", options))
        if known:
            found.append((f"[{', '.join(self._name_of(tensor, ()) for tensor in known)}]", options))
        return found


def _entry(params: str, options: Sequence[str]) -> str:
    words = [f'"{word}": {value}' for word, _, value in (option.partition("=") for option in options)]
    inside = ", ".join([f'"params": {params}', *words])
    return f"{{{inside}}}"


def _options(optimizer: torch.optim.Optimizer, group: dict[str, Any]) -> list[str]:
    """What the group is told that is not said by the class, as keywords; always the learning rate."""
    found = []
    for word, parameter in inspect.signature(type(optimizer)).parameters.items():
        if word not in group or word == "params":
            continue
        value = group[word].item() if isinstance(group[word], Tensor) else group[word]
        if word == "lr" or value != parameter.default:
            try:
                found.append(f"{word}={literal(value)}")
            except NotWritable:
                continue
    return found


def is_in_place(call: Call) -> bool:
    """Whether what it gave is what it was given, for which a person gives no new name."""
    return bool(call.arguments) and call.result is call.arguments[0] and call.path.endswith("_")


def _given(call: Call, spell: Spell) -> str:
    keywords = [f"{word}={spell(value)}" for word, value in call.keywords.items() if value is not None]
    return ", ".join([*map(spell, call.arguments), *keywords])


def _lenient(spell: Spell) -> Spell:
    """What no literal stands for is written as its class, as a text."""

    def spelled(value: Any) -> str:
        try:
            return spell(value)
        except NotWritable:
            return f'"<{type(value).__name__}>"'

    return spelled


def _like(tensor: Tensor, before: Tensor | None) -> str:
    """An expression for a tensor of that shape; `before` is what it was, where its values are few."""
    shape = literal(tuple(tensor.shape))
    dtype = "" if tensor.dtype == torch.get_default_dtype() else f", dtype={tensor.dtype}"
    is_plain = before is not None and before.layout is torch.strided and before.device.type == "cpu"
    small = small_tensor(before) if before is not None and is_plain and not before.is_quantized else None
    learns = tensor.requires_grad and tensor.grad_fn is None
    if small is not None:
        return f"{small[:-1]}, requires_grad=True)" if learns else small
    if tensor.is_floating_point() or tensor.is_complex():
        return f"torch.randn({shape}{dtype}{', requires_grad=True' if learns else ''})"
    return f"torch.zeros({shape}{dtype})"
