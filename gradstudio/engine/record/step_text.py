"""A recorded step as a Python text in our own dialect; layers and inputs by what makes such ones, without values."""

import ast
import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from gradstudio.engine.bring.call_text import Spell, call_of_layer, speller, statement_of
from gradstudio.engine.bring.forward_recorder import Call, Visit, tensors_in
from gradstudio.engine.bring.forward_text import Recording, Writer
from gradstudio.engine.bring.layer_constructors import tensors_of
from gradstudio.engine.bring.leaf_statements import LeafStatements, ModuleState
from gradstudio.engine.bring.value_literals import NotWritable, literal
from gradstudio.engine.record.call_facts import BACKWARD, GRAD, LIBRARY, STEP, ZERO_GRAD, ModuleCall, parts_of
from gradstudio.engine.record.folded_classes import FoldedClass, FoldedClasses
from gradstudio.engine.record.module_folding import Folding, Inner, fold, producer
from gradstudio.engine.record.script_files import CallerNames, ScriptFiles
from gradstudio.engine.record.similar_tensors import similar
from gradstudio.engine.record.step_recorder import StepRecorder
from gradstudio.engine.record.step_values import NOWHERE
from gradstudio.engine.record.transform_watch import function_words
from gradstudio.graph.model import ItemId

IMPORTS = (
    "import math",
    "",
    "import numpy as np",
    "import torch",
    "import torch.nn as nn",
    "import torch.nn.functional as F",
)
SET_UP = "Before the step"
"""Title of the frame around layers and leaves."""
REMARK = (
    "A {what} of {title}, as it ran: {held} are in the record beside this document.\n"
    "Weights and inputs are not kept with it, so a run of this drawing begins with others."
)


@dataclass(frozen=True)
class StepText:
    """What was written.

    Attributes:
        lines: by line of the text (from 1), the number of the call it is.
        bound: by number of a call, the names of what it gave.
        names: by provisional id of a layer, leaf or optimizer, its name.
        folding: what calls of modules stand for; `classes` the class of each that has one.
    """

    text: str
    lines: dict[int, int]
    bound: dict[int, list[str]]
    names: dict[ItemId, str]
    folding: Folding
    classes: Mapping[int, FoldedClass]


def step_text(recorder: StepRecorder, names: CallerNames, title: str, level: int | None = None) -> StepText:
    """Write a step down; calls of modules deeper than `level` are one statement each, None: where there is much."""
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
        remark=_remark(recorder, title),
    )
    return _StepWriter(recording, recorder, names, fold(recorder.calls, recorder.visits, level)).write_step()


def _remark(recorder: StepRecorder, title: str) -> str:
    goes_back = any(call.path in (BACKWARD, GRAD, "torch.Tensor.backward") for call in recorder.calls)
    what, held = ("step", "values and gradients") if goes_back else ("forward", "values")
    return REMARK.format(what=what, held=held, title=title)


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
        self.top.append(f"{name} = {similar(tensor, self.before.get(id(tensor)))}")
        return []


class _StepWriter(Writer):
    """Writes it, whatever was called: what is not in the catalogue is kept as it is spelled."""

    def __init__(self, recording: Recording, recorder: StepRecorder, names: CallerNames, folding: Folding) -> None:
        super().__init__(recording, frozenset(), _StepLeaves)
        self._step, self._callers, self._folding = recorder, names, folding
        self._modules: dict[int, tuple[nn.Module, str]] = {}
        self._bound: dict[int, list[str]] = {}
        self._number = 0
        self._optimizers: dict[int, str] = {}
        assert isinstance(self._leaves, _StepLeaves)
        self._leaves.wishes, self._leaves.before = names.tensors, recorder.before
        self._classes = FoldedClasses(recording, folding, recorder.visits, self._names)

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
        self._place_inner(names)
        return StepText(written.text, lines, self._bound, names, self._folding, dict(self._known_classes()))

    def _known_classes(self) -> Iterator[tuple[int, FoldedClass]]:
        """The classes, with provisional ids in place of tensors and layers."""
        sources = self._step.values.sources
        things = [*((node, layer) for layer, _, _, node in self._step.layers.values()), *self._step.leaves.items()]
        for visit, folded in self._classes.of_visit.items():
            given = tuple(sources.get(id(tensor), NOWHERE) for tensor in folded.inputs)
            parts = {node: folded.made[id(thing)] for node, thing in things if id(thing) in folded.made}
            yield visit, replace(folded, given=given, parts=parts)

    def _place_inner(self, names: Mapping[ItemId, str]) -> None:
        """Say of layers and leaves without a statement of their own which folded module has them."""
        for module, name in self._modules.values():
            paths = {id(part): f"{path}." for path, part in module.named_modules() if path}
            paths |= {id(leaf): path for path, leaf in (*module.named_parameters(), *module.named_buffers())}
            things = [*((node, layer) for layer, _, _, node in self._step.layers.values()), *self._step.leaves.items()]
            for node, thing in things:
                if id(thing) in paths and node not in names:
                    inner = Inner(name, type(module).__name__, paths[id(thing)])
                    self._folding.inner.setdefault(node, inner)

    @property
    def top_title(self) -> str:
        """Of the frame around what was there before."""
        return SET_UP

    def _head(self) -> list[str]:
        dtype = self._recording.dtype
        header = ["", f"torch.set_default_dtype({dtype})"] if dtype else []
        remark = [f"# {line}" for line in self._recording.remark.splitlines()]
        return [*IMPORTS, *header, *self._classes.lines, "", *remark]

    def _call(self, number: int, call: Call) -> None:
        visit = self._folding.visits.get(number)
        if visit is None:
            super()._call(number, call)
        elif self._folding.members[visit][0] == number:
            self._say_folded(number, call, visit)

    def _say_folded(self, number: int, call: Call, visit: int) -> None:
        """A call of a module in the place of all that it did."""
        self._number, made = number, self._step.visits[visit]
        members = self._folding.members[visit]
        inside = call.inside[: [one.number for one in call.inside].index(visit)]
        spell = _lenient(speller(lambda tensor: self._name_of(tensor, inside)))
        folded = self._classes.of_visit.get(visit)
        name = self._module(made, folded)
        if folded is None:
            given, results = call_of_layer(name, made.args, made.kwargs, spell), made.result
        else:
            given, results = call_of_layer(name, folded.inputs, {}, spell), folded.results
            results = results[0] if len(results) == 1 else results
        parts = parts_of(results)
        words = [f"{made.path}_out" if len(parts) == 1 else f"{made.path}_{place}" for place in range(len(parts))]
        is_one = isinstance(results, Tensor)
        targets = self._bind(results, words[0]) if is_one else self._nest(results, words)
        for tensor in tensors_in(parts):
            source = producer(self._recording.calls, members, tensor)
            if source is not None:
                self._folding.results[source] = self._leaves.names[id(tensor)]
        around = [one for one in call.around if all(one in self._recording.calls[k].around for k in members)]
        frames = self._folding.frames.get(visit, inside)
        self._lines.add(f"{targets} = {given}", (*frames, *around), call)

    def _module(self, made: ModuleCall, folded: FoldedClass | None) -> str:
        """The name of a folded module; one that no class makes, is written as code."""
        if id(made.module) not in self._modules:
            kind = type(made.module).__name__
            name = self._names.fresh(made.path or kind.lower())
            self._modules[id(made.module)] = (made.module, name)
            self._leaves.top.append(f"{name} = {kind}(...)" if folded is None else f"{name} = {folded.name}()")
        return self._modules[id(made.module)][1]

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

    def _targets(self, number: int, call: Call) -> str:
        result = call.result
        has_hooks = call.layer is not None and bool(call.layer._forward_hooks)
        if has_hooks and isinstance(result, Tensor) and id(result) not in self._callers.tensors:
            return self._bind(result, f"{call.layer_path}_out")  # the source's name is that of what a hook made of it
        return super()._targets(number, call)

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
        is_one = len(optimizer.param_groups) == 1
        given = "".join(f", {option}" for option in entries[0][1]) if entries and is_one else ""
        if len(entries) == 1 and is_one:
            params = entries[0][0]
        else:
            params = f"[{', '.join(_entry(params, () if is_one else options) for params, options in entries)}]"
        self._put_before(f"{name} = {path}({params}{given})")
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
        for module, name in self._folded_modules():
            if _takes(left, module):
                whole.append(name)
        for layer, path, _, _ in self._step.layers.values():
            if _takes(left, layer):
                whole.append(self._layer(layer, path, ()))
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

    def _folded_modules(self) -> list[tuple[nn.Module, str]]:
        """Every module that stands for what it does, in the order of the calls."""
        for visit in self._folding.members:
            self._module(self._step.visits[visit], self._classes.of_visit.get(visit))
        return list(self._modules.values())


def _takes(left: dict[int, Tensor], module: nn.Module) -> bool:
    """Whether all parameters of a module are among these; then they are taken out."""
    own = {id(parameter) for parameter in module.parameters()}
    if not own or not own <= left.keys():
        return False
    for identity in own:
        del left[identity]
    return True


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
    """What no literal stands for is written as its class, as a text; a function by its name."""

    def spelled(value: Any) -> str:
        try:
            return spell(value)
        except NotWritable:
            return function_words(value) or f'"<{type(value).__name__}>"'

    return spelled
