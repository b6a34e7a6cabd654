"""A recorded step as a Python text in our own dialect; layers and inputs by what makes such ones, without values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gradstudio.engine.bring.call_text import call_of_layer, speller, statement_of
from gradstudio.engine.bring.errors import Inexpressible
from gradstudio.engine.bring.forward_recorder import Call, Visit, tensors_in
from gradstudio.engine.bring.forward_text import ForwardText, Recording, Writer
from gradstudio.engine.bring.layer_constructors import tensors_of
from gradstudio.engine.bring.leaf_statements import LeafStatements, ModuleState
from gradstudio.engine.record.call_facts import BACKWARD, GRAD, LIBRARY, STEP, ZERO_GRAD, ModuleCall, parts_of
from gradstudio.engine.record.folded_classes import FoldedClass, FoldedClasses
from gradstudio.engine.record.module_folding import Folding, fold, place_inner, producer
from gradstudio.engine.record.script_files import CallerNames, ScriptFiles
from gradstudio.engine.record.similar_tensors import similar
from gradstudio.engine.record.statement_words import (
    arguments_text,
    as_typed,
    group_entry,
    group_options,
    is_in_place,
    lenient,
    takes_all,
)
from gradstudio.engine.record.step_beginning import StepBeginning, check_parts, state_of
from gradstudio.engine.record.step_recorder import StepRecorder
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
REMARK = "A {what} of {title}, as it ran: {held} are in the record beside this document."
BEGINS_ANEW = "Weights and inputs are not kept with it, so a run of this drawing begins with others."
BEGINS_THERE = "A run of this drawing begins with the weights and inputs that the step began with."
NO_MOMENTS = "What an optimizer had learnt before is not kept, so its step makes other weights."
NO_GRADIENTS = "Gradients that were there before are not kept, so those of a run are of this step alone."


@dataclass(frozen=True)
class StepText:
    """What was written.

    Attributes:
        lines: by line of the text (from 1), the number of the call it is; below 0 a statement of `beginning`.
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
    beginning: StepBeginning | None = None


def step_text(recorder: StepRecorder, names: CallerNames, title: str, stem: str, level: int | None = None) -> StepText:
    """Write a step down.

    Args:
        title: of the script; `stem` of the document.
        level: calls of modules that are deeper are one statement each; None: where there is much.
    """
    layers = recorder.layers.values()
    owners = {id(tensor): (layer, path) for layer, path, _, _ in layers for tensor in tensors_of(layer).values()}
    state = {id(tensor): tensor for layer, *_ in layers for tensor in tensors_of(layer).values()}
    makers = {id(layer): maker for layer, _, maker, _ in layers}
    default = torch.get_default_dtype()
    recording = Recording(
        root=nn.Module(),
        file=ScriptFiles(),
        title=title,
        stem=stem,
        inputs=(),
        calls=recorder.calls,
        given=ModuleState({}, owners, makers, state, {}, []),
        output=(),
        seed=0,
        dtype="" if default == torch.float32 else str(default),
        remark="",
    )
    folding = fold(recorder.calls, recorder.visits, level)
    if recorder.kept.is_whole and _goes_back(recorder):
        try:
            return _StepWriter(recording, recorder, names, folding, keeps=True).write_step()
        except Inexpressible:
            folding = fold(recorder.calls, recorder.visits, level)
    return _StepWriter(recording, recorder, names, folding).write_step()


def _goes_back(recorder: StepRecorder) -> bool:
    return any(call.path in (BACKWARD, GRAD, "torch.Tensor.backward") for call in recorder.calls)


def _remark(recorder: StepRecorder, title: str, beginning: StepBeginning | None) -> Iterator[str]:
    """What it is, and what a run of it begins with."""
    what, held = ("step", "values and gradients") if _goes_back(recorder) else ("forward", "values")
    yield REMARK.format(what=what, held=held, title=title)
    yield BEGINS_ANEW if beginning is None else BEGINS_THERE
    if beginning is not None and recorder.kept.has_moments:
        yield NO_MOMENTS
    if beginning is not None and recorder.kept.has_gradients:
        yield NO_GRADIENTS


def _things(recorder: StepRecorder) -> list[tuple[ItemId, nn.Module | Tensor]]:
    """Layers and leaves by provisional id."""
    return [*((node, layer) for layer, _, _, node in recorder.layers.values()), *recorder.leaves.items()]


class _StepLeaves(LeafStatements):
    """Layers as others, leaves by what makes tensors of their shape."""

    wishes: Mapping[int, str] = {}
    before: Mapping[int, Tensor] = {}
    beginning: StepBeginning | None = None

    def leaf(self, tensor: Tensor) -> list[str]:
        """The line that makes a tensor like it, or its layer."""
        owner = self.owner_of(tensor)
        if owner is not None:
            return self.layer(*owner)
        name = self.fresh(self.wishes.get(id(tensor), "value" if tensor.grad_fn is None else "before"))
        self.names[id(tensor)] = name
        if self.beginning is not None:
            made = self.beginning.leaf(tensor, name)
        else:
            made = similar(tensor, self.before.get(id(tensor)))
        self.top.append(f"{name} = {made}")
        return []


class _StepWriter(Writer):
    """Writes it, whatever was called: what is not in the catalogue is kept as it is spelled."""

    def __init__(
        self,
        recording: Recording,
        recorder: StepRecorder,
        names: CallerNames,
        folding: Folding,
        *,
        keeps: bool = False,
    ) -> None:
        super().__init__(recording, frozenset(), _StepLeaves)
        self._step, self._callers, self._folding = recorder, names, folding
        self._modules: dict[int, tuple[nn.Module, str]] = {}
        self._bound: dict[int, list[str]] = {}
        self._number = 0
        self._optimizers: dict[int, str] = {}
        assert isinstance(self._leaves, _StepLeaves)
        self._leaves.wishes, self._leaves.before = names.tensors, recorder.kept.values
        self._classes = FoldedClasses(recording, folding, recorder.visits, self._names)
        self._lists: dict[tuple[str, ...], str] = {}
        self._beginning: StepBeginning | None = None
        if keeps:
            self._beginning = StepBeginning(recorder.kept, recording.stem, recording.title, self._names)
            self._leaves.beginning = self._beginning

    def write_step(self) -> StepText:
        """All of it.

        Raises:
            Inexpressible: what the step began with cannot be written down.
        """
        if self._beginning is not None:
            self._leaves.top += self._begin(self._beginning)
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
        for module, name in self._modules.values():
            place_inner(self._folding, module, name, _things(self._step), names)
        if self._beginning is not None:
            names |= self._beginning.names()
            lines |= self._beginning.lines(written.text)
        classes = self._classes.under_ids(self._step.values.sources, _things(self._step))
        return StepText(written.text, lines, self._bound, names, self._folding, classes, self._beginning)

    def _begin(self, beginning: StepBeginning) -> Iterator[str]:
        """Make all layers, and let them begin with what they had."""
        if not self._folding.members.keys() <= self._classes.of_visit.keys():
            raise Inexpressible("A module stays code, so nothing here can run.")
        names: list[str] = []
        tensors: list[Tensor] = []
        states = {id(self._step.visits[visit].module): one.state for visit, one in self._classes.of_visit.items()}
        for module, name in self._folded_modules():
            names.append(name)
            tensors += states[id(module)]
        inside = {id(part) for module, _ in self._modules.values() for part in module.modules()}
        for layer, path, _, _ in self._step.layers.values():
            if id(layer) not in inside and (state := state_of([layer])):
                names.append(self._layer(layer, path, ()))
                tensors += state
        if tensors:
            yield from beginning.weights(self._list_of(names), tensors)

    def _list_of(self, names: Sequence[str]) -> str:
        """The name of a list of modules; each is made once."""
        key = tuple(names)
        if key not in self._lists:
            self._lists[key] = self._names.fresh("layers")
            self._put_before(f"{self._lists[key]} = nn.ModuleList([{', '.join(names)}])")
        return self._lists[key]

    def _written(self) -> ForwardText:
        if self._beginning is not None:
            check_parts([module for module, _ in self._modules.values()], self._leaves.names)
            self._leaves.top += self._beginning.random_numbers()
        return super()._written()

    @property
    def top_title(self) -> str:
        """Of the frame around what was there before."""
        return SET_UP

    def _head(self) -> list[str]:
        dtype = self._recording.dtype
        header = ["", f"torch.set_default_dtype({dtype})"] if dtype else []
        remark = [f"# {line}" for line in _remark(self._step, self._recording.title, self._beginning)]
        beginning = self._beginning.head if self._beginning is not None else []
        return [*IMPORTS, *beginning, *header, *self._classes.lines, "", *remark]

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
        spell = lenient(speller(lambda tensor: self._name_of(tensor, inside)))
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
        spell = lenient(speller(lambda tensor: self._name_of(tensor, call.inside)))
        if call.path == LIBRARY:
            self._lines.add(as_typed(call, self._recording.file.source(call.line.file, call.line.number)), where, call)
            return
        if call.path in (STEP, ZERO_GRAD):
            self._lines.add(f"{self._optimizer(call.arguments[0])}.{call.path.partition('.')[2]}()", where, call)
            return
        if call.layer is not None:
            name = self._layer(call.layer, call.layer_path, call.inside)
            text, whole = call_of_layer(name, call.arguments, call.keywords, spell), False
        elif call.path in (BACKWARD, GRAD):
            text, whole = f"{call.path}({arguments_text(call, spell)})", False
        else:
            text, whole = statement_of(call.path, call.arguments, call.keywords, spell)
        if not whole and tensors_in(call.result) and not is_in_place(call):
            text = f"{self._targets(number, call)} = {text}"
        self._lines.add(text, where, call)

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
            params = f"[{', '.join(group_entry(params, () if is_one else options) for params, options in entries)}]"
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
        options = group_options(optimizer, group)
        left = {id(tensor): tensor for tensor in group["params"]}
        whole: list[str] = []
        for module, name in self._folded_modules():
            if takes_all(left, module):
                whole.append(name)
        for layer, path, _, _ in self._step.layers.values():
            if takes_all(left, layer):
                whole.append(self._layer(layer, path, ()))
        there = {id(leaf) for leaf in self._step.leaves.values()} | self._leaves.names.keys()
        known = [tensor for tensor in left.values() if id(tensor) in there or self._leaves.owner_of(tensor)]
        found: list[tuple[str, list[str]]] = []
        if whole:
            found.append((f"{self._list_of(whole)}.parameters()", options))
        if known:
            found.append((f"[{', '.join(self._name_of(tensor, ()) for tensor in known)}]", options))
        return found

    def _folded_modules(self) -> list[tuple[nn.Module, str]]:
        """Every module that stands for what it does, in the order of the calls."""
        for visit in self._folding.members:
            self._module(self._step.visits[visit], self._classes.of_visit.get(visit))
        return list(self._modules.values())
