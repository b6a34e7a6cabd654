"""Ways out of errors about dtypes, devices and single values, and those that only set or insert something."""

import re
from collections.abc import Callable, Iterator
from functools import partial

import msgspec

from gradstudio.advice.failure_case import Case, Offer, Operand
from gradstudio.advice.model import FixKind
from gradstudio.graph import recipes
from gradstudio.graph.edits import Edits
from gradstudio.graph.model import DOCUMENT_DEVICE, Graph, ItemId, Wire
from gradstudio.graph.ports.item_ports import find_port, operator_of
from gradstudio.operators.catalogue.loader import load

CASTS = {
    "float32": "float", "float64": "double", "float16": "half", "bfloat16": "bfloat16",
    "int64": "long", "int32": "int", "bool": "bool",
}  # fmt: skip
"""By dtype: the method that casts to it."""
WIDTH = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
TORCH_NAMES = {
    "Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16", "Long": "int64",
    "Int": "int32", "Short": "int16", "Char": "int8", "Byte": "uint8", "Bool": "bool",
}  # fmt: skip
"""How torch's messages call its dtypes."""
WHOLE_PORTS = ("target", "index", "indices", "input", "tensor")
FLOATING = ("float16", "bfloat16", "float32", "float64")
NUMBER_CALLS = frozenset({"item", "tolist"})
MOVES = frozenset({"cuda", "to"})
"""Methods that move a tensor to another device."""


def set_text(case: Case, kind: FixKind) -> Iterator[Offer]:
    """Write a literal into the failing node; "" takes it away, so that torch's default holds."""
    text = kind.text.format(**case.groups)
    port = find_port(case.graph, case.item, kind.port) if case.item in case.graph else None
    if port is not None and port.state != "wired":
        title = f"Set {kind.port} to {text}" if text else f"Take {kind.port} away"
        yield title, lambda graph: recipes.set_literal(graph, case.item, kind.port, text)


def insert_port(case: Case, kind: FixKind) -> Iterator[Offer]:
    """Put an operator before an argument; the first one when none is named."""
    wire = case.graph.wire_into(case.item, kind.port) if kind.port else case.first
    if wire is not None:
        word = kind.text.rsplit(".", 1)[-1]
        yield f"Call {word}() on {case.source_name(wire)} first", _insert(wire, kind.text)


def replace(case: Case, kind: FixKind) -> Iterator[Offer]:
    """Another operator in the failing one's place; the argument that it does not have is emptied."""
    if case.node is not None:
        word, old = kind.text.rsplit(".", 1)[-1], case.operator.word if case.operator is not None else "it"
        steps: list[Callable[[Graph], Edits]] = []
        if kind.port:
            steps.append(lambda graph: recipes.set_literal(graph, case.item, kind.port, ""))
        steps.append(partial(recipes.replace_operator, item=case.item, key=kind.text))
        yield f"Use {word} instead of {old}", _in_turn(steps)


def cast(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Bring two operands, or an operand and a layer's parameters, to one dtype: the wider one first."""
    wanted = case.module_dtype()
    if wanted:
        for operand in case.operands:
            if operand.dtype != wanted:
                yield cast_offer(case, operand.wire, wanted)
        return
    numbers = [operand for operand in case.operands if operand.dtype in WIDTH]
    dtypes = sorted({operand.dtype for operand in numbers}, key=WIDTH.index, reverse=True)
    for dtype in dtypes if len(dtypes) > 1 else ():
        others = [operand for operand in numbers if operand.dtype != dtype]
        if len(others) == 1:
            yield cast_offer(case, others[0].wire, dtype)
        else:
            yield f"Cast all of them to {dtype}", _cast_all(others, dtype)


def cast_all(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Cast what the operator has no version for: to float32, or, where floats are refused, to bool and int64."""
    refused = TORCH_NAMES.get(case.groups.get("dtype", ""), case.groups.get("dtype", "").lower())
    operands = [operand for operand in case.operands if operand.dtype == refused]
    wanted = ("bool", "int64") if refused in ("float32", "float64") else ("float32",)
    for dtype in wanted if operands else ():
        if len(operands) == 1:
            yield cast_offer(case, operands[0].wire, dtype)
        else:
            yield f"Cast all of them to {dtype}", _cast_all(operands, dtype)


def cast_named(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Cast what has the dtype that torch found (group ``a``) to the one it expected (``b``)."""
    found, wanted = (TORCH_NAMES.get(case.groups.get(group, ""), "") for group in ("a", "b"))
    for operand in case.operands:
        if wanted and operand.dtype == found:
            yield cast_offer(case, operand.wire, wanted)


def cast_to(case: Case, kind: FixKind) -> Iterator[Offer]:
    """Cast an argument to the dtype that the rule names."""
    wire = case.graph.wire_into(case.item, kind.port) if kind.port else case.first
    if wire is not None:
        yield cast_offer(case, wire, kind.text)


def whole(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Cast what has to be whole numbers: the target, the index."""
    ports = sorted(case.operands, key=lambda o: _rank(o.port))
    for operand in ports:
        if operand.dtype in FLOATING and _rank(operand.port) < len(WHOLE_PORTS):
            if operand.port == "input" and case.operand("target") is not None:
                continue
            yield cast_offer(case, operand.wire, "int64")
            return


def point(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Write whole numbers with a point."""
    text = case.literals().get("data", "")
    pointed = re.sub(r"(?<![\w.])(\d+)(?![\w.])", r"\1.0", text)
    if case.node is not None and pointed != text:
        yield "Write the numbers with a point", lambda graph: recipes.set_literal(graph, case.item, "data", pointed)


def document_device(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Let creation nodes with a device of their own follow the document's."""
    items: list[ItemId] = []
    for node in case.above(case.item):
        operator = operator_of(case.graph, node.id)
        if operator is None or operator.parameter("device") is None or not operator.creates:
            continue
        own = node.literals.get("device", "")
        if own != DOCUMENT_DEVICE and (case.graph.header.device != "cpu" or own):
            items.append(node.id)
    steps = [partial(recipes.set_document_device_port, item=item, path="device") for item in items]
    if steps:
        names = ", ".join(case.name(item) for item in items[:3]) + (", …" if len(items) > 3 else "")
        yield f"Let {names} follow the document's device", lambda graph: recipes.combine_steps(graph, *steps)


def device_cpu(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Choose a device for the document that is always there."""
    header = case.graph.header
    for device, words in (("cpu", "cpu"), ("auto", "auto: an accelerator where there is one")):
        if header.device not in ("cpu", device):
            changed = msgspec.structs.replace(header, device=device)
            yield f"Set the document's device to {words}", partial(recipes.set_header, header=changed)


def stay(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Of a node that moves its tensor to a device that is not there: leave it where it is, or follow the document."""
    if case.node is None or case.operator is None:
        return
    word, name, literals = case.operator.word, case.name(case.item), case.node.literals
    if word not in MOVES or literals.get("device") == DOCUMENT_DEVICE:
        return
    passed_on = f"{name} passes its input on" if name != word else "it passes its input on"
    yield (
        f"Take {word} away ({passed_on})",
        partial(recipes.set_bypassed, items=(case.item,), bypassed=True),
    )
    steps: list[Callable[[Graph], Edits]] = []
    if word != "to":
        steps.append(partial(recipes.replace_operator, item=case.item, key="torch.Tensor.to"))
    steps.append(partial(recipes.set_document_device_port, item=case.item, path="device"))
    yield "Move it to the document's device instead (.to(device))", _in_turn(steps)


def to_device(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Move one of the operands to where the others are."""
    devices = list(dict.fromkeys(operand.device for operand in case.operands))
    for device in devices if len(devices) == 2 and "meta" not in devices else ():
        others = [operand for operand in case.operands if operand.device != device]
        names = ", ".join(case.source_name(operand.wire) for operand in others)
        steps = [_insert(operand.wire, "torch.Tensor.to", device=f'"{device}"') for operand in others]
        yield f"Move {names} to {device}", _in_turn(steps)


def uncall(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Let what became a Python number stay a tensor."""
    for wire in case.graph.wires_to(case.item):
        operator = operator_of(case.graph, wire.source)
        if operator is not None and operator.word in NUMBER_CALLS and wire.port in _number_ports(case):
            yield (
                f"Take {operator.word}() away, so that it stays a tensor",
                partial(recipes.set_bypassed, items=(wire.source,), bypassed=True),
            )


def as_tensor(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Make a tensor of a number that is wired in."""
    for port in _number_ports(case):
        wire = case.graph.wire_into(case.item, port)
        if wire is not None:
            yield f"Make a tensor of {case.source_name(wire)} (torch.tensor)", _insert(wire, "torch.tensor")


def identity(case: Case, _kind: FixKind) -> Iterator[Offer]:
    """Add the identity matrix to the first argument."""
    operand = next(iter(case.operands), None)
    if operand is None or len(operand.shape) < 2:
        return
    literals = {} if operand.dtype == "float32" else {"dtype": f"torch.{operand.dtype}"}
    name = case.source_name(operand.wire)
    yield (
        f"Add the identity to {name} ({name} + torch.eye({operand.shape[-1]}))",
        partial(recipes.add_identity, wire=operand.wire, size=operand.shape[-1], literals=literals),
    )


# ------------------------------------------------------------------ helpers


def cast_offer(case: Case, wire: Wire, dtype: str) -> Offer:
    """Cast what flows along a wire; of a creation node without a dtype, no cast but the dtype would do as well."""
    name = case.source_name(wire)
    key, literals = _cast_call(dtype)
    word = f"{key.rsplit('.', 1)[-1]}()" if not literals else f"to(torch.{dtype})"
    return f"Cast {name} to {dtype} ({name}.{word})", _insert(wire, key, **literals)


def _cast_call(dtype: str) -> tuple[str, dict[str, str]]:
    key = f"torch.Tensor.{CASTS.get(dtype, '')}"
    return (key, {}) if dtype in CASTS and key in load() else ("torch.Tensor.to", {"dtype": f"torch.{dtype}"})


def _cast_all(operands: list[Operand], dtype: str) -> Callable[[Graph], Edits]:
    key, literals = _cast_call(dtype)
    return _in_turn([_insert(operand.wire, key, **literals) for operand in operands])


def _number_ports(case: Case) -> tuple[str, ...]:
    """Where the number can have come in: the argument torch names, or what a module was called with."""
    return (case.groups.get("port", ""), "inputs.0", "inputs")


def _rank(port: str) -> int:
    head = port.partition(".")[0]
    return WHOLE_PORTS.index(head) if head in WHOLE_PORTS else len(WHOLE_PORTS)


def _in_turn(steps: list[Callable[[Graph], Edits]]) -> Callable[[Graph], Edits]:
    return lambda graph: recipes.combine_steps(graph, *steps)


def _insert(wire: Wire, key: str, **literals: str) -> Callable[[Graph], Edits]:
    return lambda graph: recipes.insert(graph, wire, key, literals)
