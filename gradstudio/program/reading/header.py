"""The settings at the top of a text: seed, default dtype, device (SEMANTICS 11)."""

import ast

import msgspec

from gradstudio.graph.model import Header
from gradstudio.program.reading.modules import Modules

_AVAILABLE = {"torch.cuda.is_available", "torch.accelerator.is_available"}


def read_header(statement: ast.stmt, modules: Modules, header: Header) -> Header | None:
    """The header with what the statement sets; None when it is no setting."""
    match statement:
        case ast.Expr(value=ast.Call(func=function, args=[argument], keywords=[])):
            return _call(modules.path(function), argument, modules, header)
        case ast.Assign(targets=[ast.Name(id="device")], value=value):
            device = _device(value, modules)
            return None if device is None else msgspec.structs.replace(header, device=device)
        case _:
            return None


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


def _device(value: ast.expr, modules: Modules) -> str | None:
    """The device an expression names: "cuda:0", "auto" for the usual choice; None when it is something else."""
    match value:
        case ast.Constant(value=str() as name):
            return name
        case ast.Call(func=function, args=[argument], keywords=[]) if modules.path(function) == "torch.device":
            return _device(argument, modules)
        case ast.IfExp(test=ast.Call(func=function, args=[]), body=body, orelse=orelse):
            is_usual = modules.path(function) in _AVAILABLE and _device(orelse, modules) == "cpu"
            return "auto" if is_usual and _device(body, modules) in ("cuda", "cuda:0") else None
        case _:
            return None
