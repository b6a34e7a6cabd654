"""From tensors or a forward of a module to a sketch: walked, named, folded, cut to size, then summarised."""

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import Any

import torch
from msgspec.structs import replace
from torch import Tensor, nn
from torch.autograd.graph import Node
from torch.utils._pytree import tree_leaves

from gradstudio.engine.backward.saved_tensors import RAW, saved_tensors
from gradstudio.engine.clean_modes import clean_modes
from gradstudio.engine.errors import CannotTry
from gradstudio.engine.sketch.graph_walk import Walk, origin_of, walk
from gradstudio.engine.sketch.module_trace import ModuleTrace, run_watched
from gradstudio.engine.sketch.raw_sketch import RawNode, RawSketch
from gradstudio.engine.sketch.repeated_layers import fold_repeated
from gradstudio.engine.value.lazy_modules import waits
from gradstudio.engine.value.tensor_summary import dtype_name, outline, summarise
from gradstudio.protocol.messages.records import Summary
from gradstudio.protocol.sketch import CallPath, SavedValue, Sketch, SketchEdge, SketchGroup, SketchNode

Names = Mapping[str, Tensor] | Iterable[tuple[str, Tensor]] | nn.Module


def sketch_tensors(tensors: object, params: Names | None = None, *, saved: bool = False, limit: int = 200) -> Sketch:
    """What autograd holds behind one tensor, or those in a nest of lists and dicts.

    Raises:
        CannotTry: there is no tensor.
    """
    named = _named(params)
    names = _names_of(named)
    return _Sketcher(_results(tensors, names), names, None, saved, named).sketch(limit, fold=False)


def sketch_forward(
    model: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    names: Names | None = None,
    saved: bool = False,
    limit: int = 200,
    fold: bool = True,
) -> Sketch:
    """What autograd holds behind what a module gives, by calls of its submodules.

    Raises:
        CannotTry: it gives no tensor, or has layers that only a first call makes.
    """
    _refuse_lazy(model)
    result, trace = run_watched(model, args, kwargs)
    own = _names_of(_named(model if isinstance(model, nn.Module) else None))
    known = trace.names | own | _names_of(_named(names))
    return _Sketcher(_results(result), known, trace, saved).sketch(limit, fold)


def _refuse_lazy(model: Callable[..., Any]) -> None:
    modules = model.named_modules() if isinstance(model, nn.Module) else ()
    for name, module in modules:
        if waits(module) and not any(map(waits, module.children())):
            words = "its parameters are made by a first call, and draw changes nothing: call the model once yourself"
            raise CannotTry(f"{type(module).__name__} {name!r} is not ready: {words}.")


def _results(nest: object, names: Mapping[int, str] = MappingProxyType({})) -> dict[str, Tensor]:
    """The tensors to draw, by the name of each."""
    if isinstance(nest, Tensor):
        return {names.get(id(nest), "result"): nest}
    if isinstance(nest, Mapping):
        found = {str(name): value for name, value in nest.items() if isinstance(value, Tensor)}
    else:
        tensors = [leaf for leaf in tree_leaves(nest) if isinstance(leaf, Tensor)]
        found = {f"result {number}": tensor for number, tensor in enumerate(tensors)}
    if not found:
        words = "draw shows tensors, or what a module makes of its inputs"
        raise CannotTry(f"There is no tensor in this {type(nest).__name__}: {words}.")
    return found


def _named(params: Names | None) -> list[tuple[str, Tensor]]:
    if params is None:
        return []
    if isinstance(params, nn.Module):
        return [*params.named_parameters(), *params.named_buffers()]
    return [*(params.items() if isinstance(params, Mapping) else params)]


def _names_of(named: Iterable[tuple[str, Tensor]]) -> dict[int, str]:
    """Names by identity; of a tensor with two names the first."""
    names: dict[int, str] = {}
    for name, tensor in named:
        names.setdefault(id(tensor), name)
    return names


class _Sketcher:
    """One sketch while it is made."""

    def __init__(
        self,
        results: dict[str, Tensor],
        names: dict[int, str],
        trace: ModuleTrace | None,
        with_saved: bool,
        variables: Iterable[tuple[str, Tensor]] = (),
    ) -> None:
        self._results = results
        self._names = names
        self._trace = trace
        self._with_saved = with_saved
        self._has_packed = False
        self._values: dict[tuple[Node, int], Tensor] = {}
        self._result_names: dict[object, str] = {}
        self._variables: dict[Node, str] = {}
        for name, tensor in results.items():
            node = origin_of(tensor)
            if node is not None:
                self._values[node, tensor.output_nr] = tensor
            self._result_names.setdefault(id(tensor) if node is None else node, name)
        for name, tensor in variables:
            node = origin_of(tensor)
            if node is not None:
                self._values.setdefault((node, tensor.output_nr), tensor)
                self._variables.setdefault(node, name)

    def sketch(self, limit: int, fold: bool) -> Sketch:
        """Its records."""
        origins = [node for tensor in self._results.values() if (node := origin_of(tensor)) is not None]
        walked = walk(origins)
        raw = self._raw(walked)
        if fold:
            raw = fold_repeated(raw)
        notes = [] if walked.is_whole else ["The graph goes on beyond what was walked."]
        raw, left_out = _nearest(raw, limit)
        if left_out:
            notes.append(f"{left_out:,} further nodes, behind these, are left out: limit={limit}.")
        if any(not tensor.requires_grad for tensor in self._results.values()):
            notes.append("A result that requires no grad has nothing behind it: autograd holds no graph of it.")
        place = {number: k for k, number in enumerate(sorted(raw.nodes))}
        with clean_modes(), torch._C.DisableTorchFunction():
            nodes = tuple(self._record(raw.nodes[number]) for number in place)
        if self._has_packed:
            notes.append("What hooks have packed (checkpoint, save_on_cpu) is not shown: to unpack it would run them.")
        edges = tuple(replace(e, source=place[e.source], target=place[e.target]) for e in raw.edges)
        used = {path[:k] for node in nodes for path in (node.path,) for k in range(1, len(path) + 1)}
        return Sketch(nodes, edges, tuple(raw.groups[path] for path in sorted(used)), tuple(notes))

    # ------------------------------------------------------------- shape

    def _raw(self, walked: Walk) -> RawSketch:
        """Nodes and edges, what autograd does not hold put before its first user."""
        before = self._constants(walked)
        nodes: list[RawNode] = [
            self._tensor_node(t, "leaf" if t.requires_grad else "constant") for t in self._alone(walked)
        ]
        place: dict[Node | int, int] = {}
        edges: list[SketchEdge] = []
        for node in walked.nodes:
            for tensor in before.get(node, ()):
                if id(tensor) not in place:
                    place[id(tensor)] = len(nodes)
                    nodes.append(self._tensor_node(tensor, "constant"))
            place[node] = len(nodes)
            nodes.append(self._node(node))
            edges += [SketchEdge(place[id(tensor)], place[node], False) for tensor in before.get(node, ())]
        held = [(walked.nodes[made], walked.nodes[user], output) for made, user, output in walked.edges]
        edges += dict.fromkeys(SketchEdge(place[made], place[user], output=output) for made, user, output in held)
        raw = RawSketch(dict(enumerate(nodes)), tuple(edges), self._groups())
        inputs = self._trace.inputs if self._trace is not None else frozenset()
        return _with_leaves_inside(raw, inputs)

    def _constants(self, walked: Walk) -> dict[Node, list[Tensor]]:
        """By function, what it used that autograd holds no edge to; without a forward what it keeps and has a name."""
        found: dict[Node, list[Tensor]] = {}
        if self._trace is not None:
            for tensor, user in self._trace.constants:
                found.setdefault(user, []).append(tensor)
            return found
        with clean_modes(), torch._C.DisableTorchFunction():
            for user in walked.nodes:
                for _, tensor in [] if _is_packed(user) else saved_tensors(user):
                    made = origin_of(tensor)
                    if made is not None:
                        self._values.setdefault((made, tensor.output_nr), tensor)
                    elif not tensor.requires_grad and id(tensor) in self._names:
                        found.setdefault(user, []).append(tensor)
        return found

    def _alone(self, walked: Walk) -> list[Tensor]:
        """Results that no function has made and that no other result leads back to."""
        leaves = {id(leaf) for node in walked.nodes if (leaf := getattr(node, "variable", None)) is not None}
        return [each for each in self._results.values() if origin_of(each) is None and id(each) not in leaves]

    def _node(self, node: Node) -> RawNode:
        leaf = getattr(node, "variable", None)
        if isinstance(leaf, Tensor):
            return self._tensor_node(leaf, "leaf")._replace(node=node)
        path = self._trace.paths.get(node, ()) if self._trace is not None else ()
        shapes = tuple((one.dtype, one.shape) for one in _outlines(node))
        return RawNode("function", node.name(), path, node, None, (node.name(), shapes))

    def _tensor_node(self, tensor: Tensor, kind: Any) -> RawNode:
        name = self._names.get(id(tensor), "leaf" if kind == "leaf" else "no grad")
        name = self._result_names.get(id(tensor), name) if id(tensor) not in self._names else name
        alike = (kind, name.rpartition(".")[2], outline(tensor))
        return RawNode(kind, name, (), None, tensor, (*alike[:2], alike[2].dtype, alike[2].shape))

    def _groups(self) -> dict[CallPath, SketchGroup]:
        titles = self._trace.titles if self._trace is not None else {}
        return {path: SketchGroup(path, f"{path[-1]} · {title}") for path, title in titles.items()}

    # ------------------------------------------------------------- figures

    def _record(self, raw: RawNode) -> SketchNode:
        if raw.tensor is not None:
            result = self._result_names.get(id(raw.tensor), "")
            summary = summarise(raw.tensor)
            return SketchNode(
                kind=raw.kind, title=raw.title, path=raw.path, outputs=(summary,), grad=_grad(raw.tensor), result=result
            )
        node = raw.node
        assert node is not None
        kept = self._kept(node) if self._with_saved else []
        return SketchNode(
            kind=raw.kind,
            title=raw.title,
            path=raw.path,
            outputs=tuple(self._output(node, number, one) for number, one in enumerate(_outlines(node))),
            grad=self._function_grad(node),
            saved=tuple(SavedValue(name, summarise(tensor)) for name, tensor in kept),
            result=self._result_names.get(node, ""),
            name=self._variables.get(node, ""),
        )

    def _output(self, node: Node, number: int, shape: Summary) -> Summary:
        """With numbers where the tensor is there and is what it was when it was made."""
        tensor = self._values.get((node, number))
        if tensor is None and self._trace is not None:
            found = self._trace.values.get((node, number))
            if found is not None and origin_of(found[0]) is node and found[0]._version == found[1]:
                tensor = found[0]
        return shape if tensor is None else summarise(tensor)

    def _kept(self, node: Node) -> list[tuple[str, Tensor]]:
        """What it keeps; not where a hook would have to unpack it, which is code of others and may compute anew."""
        if not _is_packed(node):
            return saved_tensors(node)
        self._has_packed = True
        return []

    def _function_grad(self, node: Node) -> Summary | None:
        tensor = self._values.get((node, 0))
        return _grad(tensor) if tensor is not None and tensor.retains_grad else None


def _grad(tensor: Tensor) -> Summary | None:
    """What stands in `.grad`; of what is no leaf only where it is kept, as torch warns of it otherwise."""
    if not (tensor.is_leaf or tensor.retains_grad) or tensor.grad is None:
        return None
    return summarise(tensor.grad)


def _is_packed(node: Node) -> bool:
    """Whether hooks of saved tensors stand between the node and what it keeps."""
    for attribute in dir(node):
        if attribute.startswith(RAW):
            try:
                raw = getattr(node, attribute)
            except RuntimeError:  # a function of Python's own, whose tensors are released
                continue
            each = raw if isinstance(raw, tuple) else (raw,)
            if any(getattr(one, "unpack_hook", None) is not None for one in each):
                return True
    return False


def _outlines(node: Node) -> list[Summary]:
    """The dtype and shape of each output of a function, as autograd holds them."""
    outputs: Any = getattr(node, "_input_metadata", ())
    return [Summary(dtype=dtype_name(one.dtype), shape=_sizes(one.shape)) for one in outputs]


def _sizes(shape: Iterable[object]) -> tuple[int, ...]:
    return tuple(int(size) for size in shape)  # type: ignore[call-overload]  # a torch.Size, or nested sizes


def _with_leaves_inside(raw: RawSketch, inputs: AbstractSet[int]) -> RawSketch:
    """A leaf or constant stands in the innermost call that all of its users stand in, what is put in outside of all."""
    users: dict[int, list[CallPath]] = {}
    for edge in raw.edges:
        users.setdefault(edge.source, []).append(raw.nodes[edge.target].path)
    nodes = dict(raw.nodes)
    for number, node in raw.nodes.items():
        if node.tensor is not None and number in users and id(node.tensor) not in inputs:
            nodes[number] = node._replace(path=_common(users[number]))
    return raw._replace(nodes=nodes)


def _common(paths: list[CallPath]) -> CallPath:
    first, last = min(paths), max(paths)
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    return first[:same]


def _nearest(raw: RawSketch, limit: int) -> tuple[RawSketch, int]:
    """The nodes nearest to the results, and how many are left out."""
    if len(raw.nodes) <= limit:
        return raw, 0
    made: dict[int, list[int]] = {}
    for edge in raw.edges:
        made.setdefault(edge.target, []).append(edge.source)
    sources = {edge.source for edge in raw.edges}
    near = dict.fromkeys(number for number in raw.nodes if number not in sources)
    todo = list(near)
    for number in todo:
        for one in made.get(number, ()):
            if one not in near:
                near[one] = None
                todo.append(one)
    kept = set(todo[:limit])
    edges = tuple(edge for edge in raw.edges if edge.source in kept and edge.target in kept)
    return raw.without(set(raw.nodes) - kept, edges), len(raw.nodes) - len(kept)
