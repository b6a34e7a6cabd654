"""The settings of a text: seed, default dtype, device (semantics §11), the choice of a device in every usual form."""

import ast
from collections.abc import Callable, Sequence

import msgspec

from gradstudio.graph.model import Header
from gradstudio.graph.text.code_records import has_annotations
from gradstudio.program.reading.code.code_statement import codes_in
from gradstudio.program.reading.imports import Modules, defers_annotations

AUTO, CPU = "auto", "cpu"
DEVICE = "device"
"""The name that stands for the document's device."""
_AVAILABLE = frozenset(
    f"torch.{where}.is_available" for where in ("cuda", "accelerator", "mps", "backends.mps", "xpu", "mtia")
)
_ACCELERATORS = ("cuda", "mps", "xpu", "mtia")
_CURRENT = "torch.accelerator.current_accelerator"
IsAvailable = Callable[[str], bool]
"""Whether a name means that an accelerator is there."""


def header_before(statements: Sequence[ast.stmt]) -> Header:
    """The settings of a text before any of its statements sets one."""
    is_asked = defers_annotations(statements)
    is_deferred = is_asked and has_annotations(part for one in codes_in(statements) for part in one.statements)
    return Header(seed=None, deferred_annotations=is_deferred)


def read_header(statement: ast.stmt, modules: Modules, header: Header) -> Header | None:
    """The header with the seed or the default dtype that the statement sets; None when it sets none."""
    match statement:
        case ast.Expr(value=ast.Call(func=function, args=[argument], keywords=[])):
            return _call(modules.path(function), argument, modules, header)
        case _:
            return None


def read_device(statement: ast.stmt, modules: Modules, named: IsAvailable, before: str | None) -> str | None:
    """The device that a statement sets: "cuda:0", or "auto" for the usual choice; None when it sets none.

    Args:
        statement: an assignment to `device`, or an `if` around such.
        modules: what the imports bind.
        named: whether a name means that an accelerator is there.
        before: the device that was set above, if one was.
    """
    match statement:
        case ast.Assign(targets=[ast.Name(id="device")], value=value):
            return _device(value, modules, named)
        case ast.AnnAssign(target=ast.Name(id="device"), value=ast.expr() as value):
            return _device(value, modules, named)
        case ast.If(test=test, body=[inner], orelse=orelse) if is_choice(test, modules, named):
            chosen = read_device(inner, modules, named, before)
            return AUTO if _is_accelerator(chosen) and _ends_on_cpu(orelse, modules, named, before) else None
        case _:
            return None


def class_of_device(statement: ast.stmt) -> str:
    """What `device` is in Python behind a statement that sets it: "device", or "str" where a word is assigned."""
    made = next((part for part in ast.walk(statement) if isinstance(part, ast.Assign | ast.AnnAssign)), None)
    value = made.value if made is not None else None
    while isinstance(value, ast.IfExp):
        value = value.body
    return "device" if isinstance(value, ast.Call) else "str"


def as_text(tree: ast.AST, statement: ast.stmt) -> str:
    """Why a word that a statement binds to `device` stays one: the text looks into it; "" when it does not."""
    if class_of_device(statement) != "str":
        return ""
    parts = ast.walk(tree)
    if any(_is_asked(part) for part in parts):
        return "'device' is a text here, which is compared or taken apart: a canvas has a torch.device under that name."
    return ""


def _is_asked(part: ast.AST) -> bool:
    match part:
        case ast.Compare(left=left, comparators=others):
            operands = [left, *others]
        case ast.BinOp(left=left, right=right):
            operands = [left, right]
        case ast.Attribute(value=value, attr=word) if word not in ("type", "index"):
            operands = [value]
        case ast.Subscript(value=value):
            operands = [value]
        case _:
            return False
    return any(isinstance(one, ast.Name) and one.id == DEVICE for one in operands)


def is_choice(test: ast.expr, modules: Modules, named: IsAvailable) -> bool:
    """Whether an expression asks if an accelerator is there."""
    match test:
        case ast.Call(func=function, args=[]):
            return modules.path(function) in _AVAILABLE
        case ast.Name(id=name):
            return named(name)
        case ast.BoolOp(op=ast.And(), values=values):  # `and ngpu > 0`: the choice is the document's
            return any(is_choice(value, modules, named) for value in values)
        case ast.BoolOp(values=values):
            return all(is_choice(value, modules, named) for value in values)
        case ast.Compare(left=ast.Call(func=function), comparators=[ast.Constant(value=0)]):
            return modules.path(function) == "torch.cuda.device_count"
        case _:
            return False


def is_path_line(statement: ast.stmt, modules: Modules) -> bool:
    """Whether it is `HERE = Path(__file__).parent`, the folder that stored tensors are beside."""
    match statement:
        case ast.Assign(
            targets=[ast.Name(id="HERE")],
            value=ast.Attribute(value=ast.Call(func=function, args=[ast.Name(id="__file__")]), attr="parent"),
        ):
            return modules.path(function) == "pathlib.Path"
        case _:
            return False


def _call(path: str | None, argument: ast.expr, modules: Modules, header: Header) -> Header | None:
    if path in ("torch.manual_seed", "torch.random.manual_seed") and header.seed is None:
        match argument:
            case ast.Constant(value=int() as seed) if not isinstance(seed, bool):
                return msgspec.structs.replace(header, seed=seed)
    if path == "torch.set_default_dtype" and not header.default_dtype:
        dtype = modules.path(argument)
        if dtype is not None:
            return msgspec.structs.replace(header, default_dtype=dtype)
    return None


def _device(value: ast.expr, modules: Modules, named: IsAvailable) -> str | None:
    match value:
        case ast.Constant(value=str() as name):
            return name
        case ast.Call(func=function, args=[argument], keywords=[]) if modules.path(function) == "torch.device":
            return _device(argument, modules, named)
        case ast.Call(func=function, args=[]) if modules.path(function) == _CURRENT:
            return AUTO
        case ast.Attribute(value=ast.Call(func=function, args=[]), attr="type") if modules.path(function) == _CURRENT:
            return AUTO
        case ast.IfExp(test=test, body=body, orelse=orelse) if is_choice(test, modules, named):
            other = _device(orelse, modules, named)
            return AUTO if _is_accelerator(_device(body, modules, named)) and other in (CPU, AUTO) else None
        case _:
            return None


def _ends_on_cpu(orelse: Sequence[ast.stmt], modules: Modules, named: IsAvailable, before: str | None) -> bool:
    """Whether it is the CPU where no accelerator is there."""
    match orelse:
        case []:
            return before == CPU
        case [statement]:
            return read_device(statement, modules, named, before) in (CPU, AUTO)
        case _:
            return False


def _is_accelerator(device: str | None) -> bool:
    return device is not None and (device == AUTO or device.partition(":")[0] in _ACCELERATORS)
