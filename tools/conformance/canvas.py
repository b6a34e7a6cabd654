"""Canvas: a plan drawn as a person would draw it, every tensor a stored one on a node of its own, all of them wired."""

from typing import Any

import torch
from torch import Tensor

from gradstudio.document.stored_tensors import stored_tensor
from gradstudio.graph.card_grouping import CALL
from gradstudio.graph.edits import AddNode, AddWire, SetHeader, SetTensor, apply
from gradstudio.graph.model import ROOT, Graph, Header, ItemId, Node, Wire
from gradstudio.operators.calls.argument_binding import Binding, Given, Several, Slice, Wired, Written, bind, bind_call
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.families import result_families
from gradstudio.operators.model import Effect, Face, Family, Operator
from tools.conformance.literals import literal
from tools.conformance.plan import Call, Input, InputRef, OutputRef, PartRef, Plan, Ref

Source = tuple[ItemId, int]


class Held(Wired, frozen=True):
    """A wire, with the output that it begins at."""

    item: ItemId = ItemId("")
    output: int = 0


class Canvas:
    """The drawing of one plan.

    Attributes:
        graph: the document.
        inputs: name of each input's leaf, by number; `leaves` those whose gradient is compared.
        outputs: of each output of the plan the name that holds it, and the way on from there.
        last: the node of the last call: the one that is measured.
    """

    def __init__(self, plan: Plan, seed: int, *, strict: bool = True, backward: bool = True) -> None:
        """Draw the plan.

        Args:
            plan: what to draw.
            seed: of the document's header.
            strict: refuse literals that the argument does not take; otherwise torch is left to say so.
            backward: draw the backward, when the plan has one.

        Raises:
            BindingError: no row of a path takes the arguments.
            NotWritable: an argument is nothing that can be typed.
        """
        self.graph, self._plan, self._strict = Graph(), plan, strict
        apply(self.graph, SetHeader(Header(seed=seed, default_dtype=plan.default_dtype)))
        self._calls: list[tuple[Node, Operator]] = []
        self._elements: dict[tuple[ItemId, int, tuple[int, ...]], Held] = {}
        self._inputs: list[Held] = []
        self.leaves: list[str] = []
        self._parts: list[Held] = []
        self.inputs = [self._input(k, entry) for k, entry in enumerate(plan.inputs)]
        for number, call in enumerate(plan.calls):
            name = "m" if number == plan.module else "y" if number == len(plan.calls) - 1 else f"t{number}"
            self._calls.append(self._call(call.path, call.args, call.kwargs, name))
        self.last = self._calls[-1][0].id if self._calls else ItemId("")
        self.outputs = [self._named(ref) for ref in plan.outputs]
        self.leaves = [self.inputs[number] for number in plan.grads] + ["m"] * bool(plan.parameter_grads)
        if backward and plan.cotangents:
            self._backward()

    def element_nodes(self) -> list[Held]:
        """A wire from every output of the plan, through an item node where it lies in a list."""
        return [self._held(ref) for ref in self._plan.outputs]

    # ---------------------------------------------------------------- inputs

    def _input(self, number: int, entry: Input) -> str:
        name = f"x{number}"
        only = not entry.steps and len(entry.parts) == 1
        self._parts = [self._stored(part, name if only else f"{name}_part{k}") for k, part in enumerate(entry.parts)]
        self._parts.append(self._parts[0])
        for k, (path, args) in enumerate(entry.steps):
            last = k == len(entry.steps) - 1
            self._parts[-1] = self._result(Call(path, args, {}), name if last else f"{name}_step{k}")
        if entry.requires_grad:
            self._place(Node(id=self._id(), operator="torch.Tensor.requires_grad_"), {"self": self._parts[-1]})
        self._inputs.append(self._parts[-1])
        return name

    def _stored(self, tensor: Tensor, name: str) -> Held:
        if tensor.dtype in _AS_PAIRS:
            pairs = self._stored(torch.view_as_real(tensor), f"{name}_pairs")
            return self._result(Call("torch.view_as_complex", (pairs,), {}), name)
        data = tensor.reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
        stored = stored_tensor(data, str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape))
        digest = stored.digest
        apply(self.graph, SetTensor(digest, stored))
        node = Node(id=self._id(), operator="python.stored", names=(name,), literals={"digest": f'"{digest}"'})
        self._place(node, {})
        return Held(Family.TENSOR, node.id, 0)

    def _result(self, call: Call, name: str) -> Held:
        node, _ = self._call(call.path, call.args, call.kwargs, name)
        return Held(Family.TENSOR, node.id, 0)

    # ---------------------------------------------------------------- calls

    def _call(self, path: str, args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> tuple[Node, Operator]:
        positional = [self._given(value) for value in args]
        keywords = {key: self._given(value) for key, value in kwargs.items()}
        if path == CALL:
            made_by = args[0].call if isinstance(args[0], OutputRef) else None
            maker = self._calls[made_by][1] if made_by is not None else None
            binding = bind_call(load()[CALL], maker, positional, keywords, strict=self._strict)
        else:
            binding = bind(load(), path, positional, keywords, strict=self._strict)
        operator = binding.operator
        names = (name,) if len(operator.results) == 1 or operator.varying else tuple(
            f"{name}_{result.name}" for result in operator.results
        )  # fmt: skip
        if operator.face is Face.AUGMENTED or (operator.face is Face.METHOD and Effect.MODE in operator.effects):
            names = ()
        literals, wires = self._ports(binding)
        node = Node(id=self._id(), operator=operator.key, names=names, literals=literals, lengths=binding.lengths)
        self._place(node, wires)
        return node, operator

    def _given(self, value: Any) -> Given:
        """A value of a sample as an argument: a wire, a literal, or several of them."""
        if isinstance(value, Held):
            return value
        if isinstance(value, InputRef | OutputRef | PartRef):
            return self._held(value)
        if isinstance(value, slice):
            return Slice(
                *(None if bound is None else self._bound(bound) for bound in (value.start, value.stop, value.step))
            )
        if isinstance(value, tuple | list) and any(isinstance(item, _PARTLY_WIRED) for item in value):
            return Several(tuple(self._given(item) for item in value), is_list=isinstance(value, list))
        return Written(literal(value))

    def _bound(self, value: Any) -> Wired | Written:
        return self._held(value) if isinstance(value, InputRef | OutputRef) else Written(literal(value))

    def _ports(self, binding: Binding) -> tuple[dict[str, str], dict[str, Held]]:
        literals: dict[str, str] = {}
        wires: dict[str, Held] = {}
        for path, given in binding.ports.items():
            if isinstance(given, Written):
                literals[path] = given.text
            elif isinstance(given, Held):
                wires[path] = given
            elif isinstance(given, Several):
                wires[path] = self._list(given)
        return literals, wires

    def _list(self, given: Several) -> Held:
        """A list or tuple on a node of its own."""
        key = "python.list" if given.is_list else "python.tuple"
        binding = bind(load(), key, (given,))
        literals, wires = self._ports(binding)
        node = Node(
            id=self._id(), operator=key, names=(f"items_{self._id()}",), literals=literals, lengths=binding.lengths
        )
        self._place(node, wires)
        return Held(Family.TUPLE, node.id, 0)

    # ---------------------------------------------------------------- results

    def _held(self, ref: Ref) -> Held:
        """The wire that brings a tensor; an element of a list is read by an item node."""
        match ref:
            case InputRef(index):
                return self._inputs[index]
            case PartRef(index):
                return self._parts[index]
            case OutputRef(call, way):
                node, operator = self._calls[call]
                output, rest = self._split(operator, node, way)
                families = result_families(operator, node.names, node.literals)
                held = Held(families[output] if output < len(families) else Family.UNKNOWN, node.id, output)
                for k in range(len(rest)):
                    held = self._element(held, rest[: k + 1])
                return held

    def _element(self, held: Held, way: tuple[int, ...]) -> Held:
        key = (held.item, held.output, way)
        if key not in self._elements:
            node = Node(
                id=self._id(),
                operator="operator.getitem",
                names=(f"item_{self._id()}",),
                literals={"index": str(way[-1])},
            )
            self._place(node, {"a": held})
            self._elements[key] = Held(Family.UNKNOWN, node.id, 0)
        return self._elements[key]

    def _named(self, ref: Ref) -> tuple[str, tuple[int, ...]]:
        match ref:
            case InputRef(index):
                return self.inputs[index], ()
            case OutputRef(call, way):
                node, operator = self._calls[call]
                output, rest = self._split(operator, node, way)
                return node.names[output] if output < len(node.names) else "", rest
            case _:
                raise AssertionError(ref)

    def _split(self, operator: Operator, node: Node, way: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        """Which output holds it, and the way on."""
        if operator.varying or len(operator.results) == 1 or not way:
            return 0, way
        return way[0], way[1:]

    def _backward(self) -> None:
        begins = [self._held(self._plan.outputs[number]) for number in self._plan.cotangents]
        seeds = [self._stored(value, f"g{number}") for number, value in self._plan.cotangents.items()]
        wires = {f"tensors.{k}": held for k, held in enumerate(begins)}
        wires |= {f"grad_tensors.{k}": held for k, held in enumerate(seeds)}
        lengths = {"tensors": len(begins), "grad_tensors": len(seeds)}
        self._place(Node(id=self._id(), operator="torch.autograd.backward", lengths=lengths), wires)

    # ---------------------------------------------------------------- drawing

    def _id(self) -> ItemId:
        return ItemId(f"n{len(self.graph.nodes)}")

    def _place(self, node: Node, wires: dict[str, Held]) -> None:
        apply(self.graph, AddNode(node, ROOT, len(self.graph.bodies[ROOT])))
        for port, held in wires.items():
            apply(self.graph, AddWire(Wire(held.item, held.output, node.id, port)))


_PARTLY_WIRED = (InputRef, OutputRef, PartRef, slice, tuple, list)
_AS_PAIRS = frozenset({torch.complex32, torch.complex128})
"""Dtypes that no stored tensor has: they are stored as pairs of real numbers."""
