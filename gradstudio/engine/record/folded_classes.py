"""The classes of folded modules: their layers, and a forward of what one call of each was seen to do."""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor, nn

from gradstudio.engine.bring.errors import Inexpressible
from gradstudio.engine.bring.forward_recorder import Call, Visit, tensors_in
from gradstudio.engine.bring.forward_text import INDENT, Recording, Writer
from gradstudio.engine.bring.leaf_statements import LeafStatements, ModuleState
from gradstudio.engine.bring.value_literals import NotWritable
from gradstudio.engine.bring.variable_names import Names
from gradstudio.engine.record.call_facts import ModuleCall, parts_of
from gradstudio.engine.record.module_folding import Folding
from gradstudio.engine.record.similar_tensors import similar_part
from gradstudio.engine.record.step_beginning import state_of
from gradstudio.engine.record.step_values import NOWHERE
from gradstudio.graph.model import ItemId

SELF = "self."


@dataclass(frozen=True)
class FoldedClass:
    """The class of a folded module, and what one call of it takes and gives.

    Attributes:
        name: of the class.
        inputs: what `forward` takes: the tensors that the call was given, then those from around it.
        results: what it gives: the tensors of the result, then what else is used outside.
        bound: of each thing it did, in order, the names of what that gave.
        made: by identity of a layer or tensor that the module keeps, the name of its attribute.
        state: the tensors that an object's state holds, in its order.
        given, parts: the same as `inputs` and `made` by provisional ids, once these are known.
    """

    name: str
    inputs: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    bound: tuple[tuple[str, ...], ...]
    made: Mapping[int, str]
    state: tuple[Tensor, ...] = ()
    given: tuple[tuple[ItemId, int], ...] = ()
    parts: Mapping[ItemId, str] = field(default_factory=dict)


class FoldedClasses:
    """A class for each kind of folded module: those that did alike share it.

    Attributes:
        of_visit: by number of a call of a module; nothing of those that cannot be written down.
        lines: the classes, as text.
    """

    def __init__(self, recording: Recording, folding: Folding, visits: Mapping[int, ModuleCall], names: Names) -> None:
        """Write them; their names are among `names`."""
        self.of_visit: dict[int, FoldedClass] = {}
        self.lines: list[str] = []
        last_use = _last_uses(recording.calls) if folding.members else {}
        bodies = {
            visit: _body(recording, visits[visit], visit, numbers, last_use)
            for visit, numbers in folding.members.items()
        }
        kinds: dict[int, set[str]] = {}
        for visit, body in bodies.items():
            kinds.setdefault(id(visits[visit].module), set()).add(body.text if body is not None else "")
        known: dict[tuple[type, str], str] = {}
        for visit, body in bodies.items():
            module = visits[visit].module
            if body is None or len(kinds[id(module)]) > 1:
                continue  # what cannot be written, or another thing each time it is called
            kind = type(module), body.text
            if kind not in known:
                known[kind] = names.fresh(type(module).__name__)
                self.lines += ["", f"class {known[kind]}(nn.Module):", *body.text.split("\n")]
            self.of_visit[visit] = FoldedClass(
                known[kind], tuple(body.inputs), tuple(body.results), body.bound(), body.made(), tuple(body.state())
            )

    def under_ids(
        self, sources: Mapping[int, tuple[ItemId, int]], things: Sequence[tuple[ItemId, nn.Module | Tensor]]
    ) -> dict[int, FoldedClass]:
        """The class of each call, with provisional ids in place of tensors and layers."""
        found: dict[int, FoldedClass] = {}
        for visit, folded in self.of_visit.items():
            given = tuple(sources.get(id(tensor), NOWHERE) for tensor in folded.inputs)
            parts = {node: folded.made[id(thing)] for node, thing in things if id(thing) in folded.made}
            found[visit] = replace(folded, given=given, parts=parts)
        return found


def _last_uses(calls: Sequence[Call]) -> dict[int, int]:
    """By identity of a tensor, the last call that was given it."""
    found: dict[int, int] = {}
    for number, call in enumerate(calls):
        found |= dict.fromkeys(map(id, tensors_in((call.arguments, call.keywords))), number)
    return found


def _body(
    recording: Recording, made: ModuleCall, visit: int, members: Sequence[int], last_use: Mapping[int, int]
) -> "_Body | None":
    """The body of a class that does what one call did; None where it cannot be written down."""
    paths = {id(module): path for path, module in made.module.named_modules()}
    calls = [recording.calls[number] for number in members]
    if any(call.layer is not None and id(call.layer) not in paths for call in calls):
        return None
    common = [one for one in calls[0].around if all(one in call.around for call in calls)]
    inner = [_within(call, visit, made.path, paths, common) for call in calls]
    left = [one for call in calls for one in tensors_in(call.result) if last_use.get(id(one), -1) > members[-1]]
    body = _Body(replace(recording, calls=inner), made, [*tensors_in(parts_of(made.result)), *left])
    try:
        body.write_body()
    except (NotWritable, Inexpressible):
        return None
    return body


def _within(call: Call, visit: int, path: str, paths: Mapping[int, str], common: Sequence[str]) -> Call:
    """A call as it is seen from within the module."""
    depth = next(place for place, one in enumerate(call.inside) if one.number == visit) + 1
    own = f"{path}." if path else ""
    inside = [Visit(one.number, one.path.removeprefix(own), one.title.removeprefix(own)) for one in call.inside[depth:]]
    around = [one for one in call.around if one not in common]
    layer_path = paths[id(call.layer)] if call.layer is not None else ""
    return replace(call, inside=tuple(inside), around=tuple(around), layer_path=layer_path)


class _Parts(LeafStatements):
    """Layers, parameters and buffers as the attributes of an object."""

    def __init__(self, given: ModuleState, names: Names, module: nn.Module) -> None:
        super().__init__(given, names, frozenset(), "", "")
        self.own: dict[int, Tensor] = {}
        self._own: dict[int, str] = {}
        for path, tensor in (*module.named_parameters(), *module.named_buffers()):
            self.own[id(tensor)] = tensor
            self._own[id(tensor)] = path
        self._paths = {id(part): path for path, part in module.named_modules()}

    def has(self, tensor: Tensor) -> bool:
        """Whether it is a part of the module, and of no layer around it."""
        owner = self.owner_of(tensor)
        return id(tensor) in self._own and (owner is None or id(owner[0]) in self._paths)

    def leaf(self, tensor: Tensor) -> list[str]:
        """The line that makes a part of the module, or its layer."""
        owner = self.owner_of(tensor)
        if owner is not None:
            return self.layer(owner[0], self._paths[id(owner[0])])
        name = self.names[id(tensor)] = self.name_for(self._own[id(tensor)])
        made = similar_part(tensor)
        if isinstance(tensor, nn.Parameter):
            return [f"{name} = nn.Parameter({made}{'' if tensor.requires_grad else ', requires_grad=False'})"]
        return [f'{SELF}register_buffer("{name.removeprefix(SELF)}", {made})']

    def name_for(self, wish: str) -> str:
        """How a part is called."""
        return SELF + self.fresh(wish)


class _Body(Writer):
    """What stands in a class: how an object is made, and what a call of it does."""

    def __init__(self, recording: Recording, made: ModuleCall, results: Sequence[Tensor]) -> None:
        super().__init__(recording, frozenset(), lambda given, names, *_: _Parts(given, names, made.module))
        self.inputs: list[Tensor] = []
        self.results = list({id(one): one for one in results}.values())
        self.text = ""
        self._made_lines: list[str] = []
        self._takes: list[str] = []
        self._number = 0
        self._names_of: dict[int, list[str]] = {}
        self._module = made.module
        self._make(made.module)
        for word, value in _arguments(made):
            for tensor in tensors_in(value):
                if id(tensor) not in self._leaves.names:
                    self._take(tensor, word)

    def write_body(self) -> None:
        """Write it down as `text`.

        Raises:
            NotWritable, Inexpressible: a call cannot be written.
        """
        for number, call in enumerate(self._recording.calls):
            self._number = number
            self._call(number, call)
        given = ", ".join(self._name_of(tensor, ()) for tensor in self.results)
        self._lines.add(f"return {given}")
        inside = [f"{INDENT}def __init__(self):", f"{INDENT * 2}super().__init__()"]
        inside += [f"{INDENT * 2}{line}" for line in self._made_lines]
        inside += ["", f"{INDENT}def forward({', '.join(['self', *self._takes])}):"]
        inside += [f"{INDENT * 2}{line}" if line else "" for line in self._lines.lines]
        self.text = "\n".join(inside)

    def bound(self) -> tuple[tuple[str, ...], ...]:
        """Of each call, the names of what it gave."""
        return tuple(tuple(self._names_of.get(number, ())) for number in range(len(self._recording.calls)))

    def made(self) -> dict[int, str]:
        """By identity of a layer, or of a tensor of the module's own, the name of its attribute."""
        every = self._leaves.names | self._leaves.layers
        return {one: name.removeprefix(SELF) for one, name in every.items() if name.startswith(SELF)}

    def state(self) -> list[Tensor]:
        """What the state of an object holds: its own parameters, its own buffers, then its layers."""
        assert isinstance(self._leaves, _Parts)
        own = self._leaves.own
        loose = [own[one] for one, name in self._leaves.names.items() if one in own and name.count(".") == 1]
        parameters = [tensor for tensor in loose if isinstance(tensor, nn.Parameter)]
        buffers = [tensor for tensor in loose if not isinstance(tensor, nn.Parameter)]
        layers = {id(part): part for part in self._module.modules()}
        inner = [tensor for one in self._leaves.layers for tensor in state_of([layers[one]])]
        return [*parameters, *buffers, *inner]

    def _bind(self, tensor: Tensor, wish: str) -> str:
        name = super()._bind(tensor, wish)
        self._names_of.setdefault(self._number, []).append(name)
        return name

    def _make(self, module: nn.Module) -> None:
        """Make what of the module is used, in its own order."""
        calls = self._recording.calls
        used = {id(tensor) for call in calls for tensor in tensors_in((call.arguments, call.keywords, call.result))}
        used |= {id(call.layer) for call in calls if call.layer is not None}
        used |= {id(tensor) for tensor in self.results}
        for path, part in module.named_modules():
            for tensor in (*part.parameters(recurse=False), *part.buffers(recurse=False)):
                if id(tensor) in used:
                    self._name_of(tensor, ())
            if id(part) in used:
                self._layer(part, path, ())

    def _take(self, tensor: Tensor, wish: str) -> None:
        name = self._names.fresh(wish)
        self._leaves.names[id(tensor)] = name
        self.inputs.append(tensor)
        self._takes.append(name)

    def _layer(self, layer: nn.Module, path: str, where: tuple[Visit, ...]) -> str:
        self._made_lines += self._leaves.layer(layer, path)
        return self._leaves.layers[id(layer)]

    def _name_of(self, tensor: Tensor, where: tuple[Visit, ...]) -> str:
        if id(tensor) not in self._leaves.names:
            assert isinstance(self._leaves, _Parts)
            if self._leaves.has(tensor):
                self._made_lines += self._leaves.leaf(tensor)
            else:
                self._take(tensor, "given")
        return self._leaves.names[id(tensor)]


def _arguments(made: ModuleCall) -> Iterator[tuple[str, Any]]:
    """What a call was given, by the names of the arguments."""
    try:
        return iter(inspect.signature(made.module.forward).bind(*made.args, **made.kwargs).arguments.items())
    except (TypeError, ValueError):
        return iter(("given", value) for value in (*made.args, *made.kwargs.values()))
