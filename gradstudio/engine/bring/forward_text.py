"""A recorded forward as a Python text in our own dialect: header, inputs, and a region for each submodule."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from gradstudio.engine.bring.call_text import call_of_layer, is_in_catalogue, speller, statement_of
from gradstudio.engine.bring.errors import Inexpressible
from gradstudio.engine.bring.forward_recorder import Call, Line, Visit, tensors_in
from gradstudio.engine.bring.leaf_statements import LeafStatements, ModuleState
from gradstudio.engine.bring.user_file import SourceFiles
from gradstudio.engine.bring.value_literals import NotWritable
from gradstudio.engine.bring.variable_names import Names, wishes
from gradstudio.graph.model import StoredTensor

IMPORTS = (
    "import math",
    "from pathlib import Path",
    "",
    "import numpy as np",
    "import torch",
    "import torch.nn as nn",
    "import torch.nn.functional as F",
    "from safetensors.torch import load_file",
    "",
    "HERE = Path(__file__).parent",
)
INDENT = "    "
MakeLeaves = Callable[[ModuleState, Names, frozenset[int], str, str], LeafStatements]
_EFFECTS = ("backward", "__setitem__", "__set__", "manual_seed")
_SEEDS_IN_FORWARD = frozenset({"torch.manual_seed"})


@dataclass(frozen=True)
class Recording:
    """All that is written down of one forward.

    Attributes:
        inputs: name and expression of each input, in order, and its value.
        state: by id of a parameter or buffer, its value before the forward.
        constants: by id of a tensor from nowhere, its value.
        output: what the module gave.
        seed: for the header; `dtype` torch's default then, "" when it is the usual one.
    """

    root: nn.Module
    file: SourceFiles
    title: str
    stem: str
    inputs: tuple[tuple[str, str, Any], ...]
    calls: Sequence[Call]
    given: ModuleState
    output: Any
    seed: int
    dtype: str
    remark: str


@dataclass(frozen=True)
class ForwardText:
    """A text, and what is needed to run and judge it.

    Attributes:
        origins: by line of the text (from 1), the call it was written for.
        names: by id of a tensor, the expression that gives it at the end.
        tensors: by digest.
    """

    text: str
    origins: dict[int, Call]
    names: dict[int, str]
    tensors: dict[str, StoredTensor]


@dataclass
class _Lines:
    """Lines with the regions and blocks they stand in."""

    open: list[Visit | str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    origins: dict[int, Call] = field(default_factory=dict)

    def add(self, text: str, where: Sequence[Visit | str] = (), call: Call | None = None) -> None:
        """Put a line where it belongs."""
        self._stand(list(where))
        self.lines += [self._indent() + line for line in text.split("\n")]
        if call is not None:
            self.origins[len(self.lines)] = call

    def _stand(self, where: list[Visit | str]) -> None:
        same = 0
        while same < min(len(self.open), len(where)) and self.open[same] == where[same]:
            same += 1
        while len(self.open) > same:
            closed = self.open.pop()
            if isinstance(closed, Visit):
                self.lines.append(f"{self._indent()}# endregion")
        for one in where[same:]:
            if isinstance(one, Visit):
                self.lines += ["", f"{self._indent()}# region: {one.title}"]
            else:
                self.lines.append(f"{self._indent()}with {one}:")
            self.open.append(one)

    def _indent(self) -> str:
        return INDENT * sum(isinstance(one, str) for one in self.open)


class Writer:
    """Writes one recording down."""

    def __init__(self, recording: Recording, stored: frozenset[int], make_leaves: MakeLeaves = LeafStatements) -> None:
        """Begin.

        Args:
            recording: what is written.
            stored: ids of parameters whose values have to be stored, since no constructor gives them.
            make_leaves: makes what writes layers and leaves.
        """
        self._recording = recording
        self._names, self._lines = Names(), _Lines()
        self._leaves = make_leaves(recording.given, self._names, stored, recording.stem, recording.title)
        self._seeded = False

    @property
    def top_title(self) -> str:
        """Of the frame around what stands above all."""
        return f"Weights of {self._recording.title}"

    def write(self) -> ForwardText:
        """The whole text.

        Raises:
            Inexpressible: a call is not in the catalogue, or is given what no literal stands for.
        """
        recording = self._recording
        for name, text, value in recording.inputs:
            self._input(name, text, value)
        split = _before_draws(recording.calls)
        for number, call in enumerate(recording.calls):
            if number == split:
                self._leaves.may_draw = False
                self._construct(_drawing_layers(recording, split))
            self._call(number, call)
        for tensor in tensors_in(recording.output):
            self._name_of(tensor, ())
        self._lines.add("", ())
        return self._written()

    def _written(self) -> ForwardText:
        head = self._head()
        at_top = self._leaves.top
        top: list[str] = []
        if at_top:
            top = ["", f"# region: {self.top_title}", *at_top, "# endregion", ""]
        above = len(head) + len(top)
        text = "\n".join([*head, *top, *self._lines.lines]).rstrip() + "\n"
        origins = {above + line: call for line, call in self._lines.origins.items()}
        return ForwardText(text, origins, dict(self._leaves.names), self._leaves.tensors)

    def _head(self) -> list[str]:
        recording = self._recording
        lines = [*IMPORTS, "", f"torch.manual_seed({recording.seed})"]
        if recording.dtype:
            lines.append(f"torch.set_default_dtype({recording.dtype})")
        return [*lines, "", *(f"# {line}" for line in recording.remark.splitlines())]

    # -------------------------------------------------------------- inputs

    def _input(self, name: str, text: str, value: Any) -> None:
        tensors = tensors_in(value)
        if not tensors:
            return  # plain values become literals where they are used
        name = self._names.fresh(name)
        self._lines.add(f"{name} = {text}")
        self._inside(name, value)

    def _inside(self, name: str, value: Any) -> None:
        if isinstance(value, Tensor):
            self._leaves.names.setdefault(id(value), name)
        elif isinstance(value, list | tuple):
            for number, item in enumerate(value):
                self._inside(f"{name}[{number}]", item)

    # -------------------------------------------------------------- calls

    def _construct(self, paths: dict[str, bool]) -> None:
        """Construct layers in the module's order, before random numbers are drawn between their calls.

        Args:
            paths: of the layers, and whether each is called outside of all submodules.
        """
        title = f"Layers of {self._recording.title}"
        where = () if all(paths.values()) else (Visit(-1, "", title),)
        for path, layer in self._recording.root.named_modules():
            if path in paths:
                self._put(self._leaves.layer(layer, path), where)

    def _call(self, number: int, call: Call) -> None:
        where: tuple[Visit | str, ...] = (*call.inside, *call.around)
        if call.draws and not self._seeded:
            self._seeded = True
            self._lines.add(f"torch.manual_seed({self._recording.seed})", call.inside)
        try:
            self._say(number, call, where)
        except NotWritable as reason:
            words = f"{_title(call)} is given {reason}, which no canvas can hold."
            raise Inexpressible(words, *place_of(self._recording.file, call.line)) from None

    def _say(self, number: int, call: Call, where: tuple[Visit | str, ...]) -> None:
        spell = speller(lambda tensor: self._name_of(tensor, call.inside))
        made = tensors_in(call.result)
        if call.layer is not None:
            name = self._layer(call.layer, call.layer_path, call.inside)
            text, whole = call_of_layer(name, call.arguments, _said(call), spell), False
        elif not made and not call.path.endswith(_EFFECTS):
            return  # a size, a dtype, a truth: it stands as a literal where it is used
        elif not is_in_catalogue(call.path):
            words = f"{call.path} is not in the catalogue, so no canvas can draw it."
            raise Inexpressible(words, *place_of(self._recording.file, call.line))
        else:
            text, whole = statement_of(call.path, call.arguments, call.keywords, spell)
        if not whole and made and not _in_place(call):
            text = f"{self._targets(number, call)} = {text}"
        self._lines.add(text, where, call)

    def _targets(self, number: int, call: Call) -> str:
        wished = wishes(self._recording.calls, number)
        count = len(tensors_in(call.result))
        if isinstance(call.result, Tensor):
            return self._bind(call.result, wished[0] if len(wished) == 1 else _word(call))
        words = list(wished) if len(wished) == count and count > 1 else _words(call, count)
        return self._nest(call.result, words)

    def _nest(self, value: Any, words: list[str]) -> str:
        """The targets that unpack a result, from the outside in."""
        parts = []
        for item in value.values() if isinstance(value, dict) else value:
            if isinstance(item, Tensor):
                parts.append(self._bind(item, words.pop(0)))
            elif isinstance(item, list | tuple) and tensors_in(item):
                parts.append(f"({self._nest(item, words)})")
            else:
                parts.append("_")
        return ", ".join(parts) if len(parts) != 1 else f"({parts[0]},)"

    def _bind(self, tensor: Tensor, wish: str) -> str:
        name = self._names.fresh(wish)
        self._leaves.names[id(tensor)] = name
        return name

    # -------------------------------------------------------------- leaves

    def _layer(self, layer: nn.Module, path: str, where: tuple[Visit, ...]) -> str:
        self._put(self._leaves.layer(layer, path), where)
        return self._leaves.layers[id(layer)]

    def _name_of(self, tensor: Tensor, where: tuple[Visit, ...]) -> str:
        if id(tensor) not in self._leaves.names:
            self._put(self._leaves.leaf(tensor), where)
        return self._leaves.names[id(tensor)]

    def _put(self, lines: Sequence[str], where: Sequence[Visit]) -> None:
        for line in lines:
            self._lines.add(line, where)


def _before_draws(calls: Sequence[Call]) -> int | None:
    """The call before which all must be constructed: the first that draws, or the first of the submodule it is in."""
    first = next((number for number, call in enumerate(calls) if call.draws), None)
    if first is None or not calls[first].inside:
        return first
    outer = calls[first].inside[0]
    return next(number for number, call in enumerate(calls) if call.inside and call.inside[0] == outer)


def _drawing_layers(recording: Recording, split: int) -> dict[str, bool]:
    """Layers that are first called from there on and whose constructors draw; whether that is outside submodules."""
    before = {call.layer_path for call in recording.calls[:split] if call.layer is not None}
    found: dict[str, bool] = {}
    for call in recording.calls[split:]:
        if call.layer is not None and call.layer_path not in before and recording.given.makers[id(call.layer)].draws:
            found[call.layer_path] = found.get(call.layer_path, True) and not call.inside
    return found


def _said(call: Call) -> dict[str, Any]:
    """The keywords of a layer's call, but for those that say what holds anyway."""
    forward = inspect.signature(call.layer.forward) if call.layer is not None else inspect.Signature()
    defaults = {word: parameter.default for word, parameter in forward.parameters.items()}
    plain = (bool, int, float, str, type(None))
    return {w: v for w, v in call.keywords.items() if not (isinstance(v, plain) and v == defaults.get(w, w))}


def place_of(file: SourceFiles, line: Line) -> tuple[str, int, str]:
    """Where in the user's code, for an error."""
    return (file.short(line.file), line.number, file.source(line.file, line.number)) if line.file else ("", 0, "")


def _title(call: Call) -> str:
    return f"nn.{type(call.layer).__name__}" if call.layer is not None else call.path


def _in_place(call: Call) -> bool:
    """Whether it is a write into its receiver, for which a person gives no new name."""
    word = call.path.rpartition(".")[2]
    writes = word.endswith("_") and not word.endswith("__") and call.path.startswith("torch.Tensor.")
    return writes and bool(call.arguments) and call.result is call.arguments[0]


def _word(call: Call) -> str:
    if call.layer is not None:
        return f"{call.layer_path.replace('.', '_')}_out"
    word = call.path.partition("(")[0].removesuffix(".__get__").rpartition(".")[2]
    return {"__getitem__": "item", "div": "quotient"}.get(word, word.strip("_"))


def _words(call: Call, count: int) -> list[str]:
    fields = getattr(type(call.result), "_fields", None)
    if fields and len(fields) == count:
        return list(fields)
    return [f"{_word(call)}_{number}" for number in range(count)]
