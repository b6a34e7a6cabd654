"""Signatures of torch's functions, read from the installed torch: its stubs, Python's own, its schemas.

No one source is complete: stubs type what is written in C++, `inspect` knows what is written in
Python, and the schemas alone know linalg and which arguments are written into.
"""

import ast
import importlib
import inspect
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import torch


@dataclass(frozen=True)
class Argument:
    """One argument as torch declares it; `type` is the annotation's text, `default` its Python text."""

    name: str
    type: str
    default: str | None = None
    keyword_only: bool = False
    positional_only: bool = False
    variadic: bool = False


@dataclass(frozen=True)
class Signature:
    """One way of calling a target; `returns` is the annotation's text."""

    arguments: tuple[Argument, ...]
    returns: str = "?"
    source: str = ""


@dataclass(frozen=True)
class Facts:
    """What the schemas say beside the arguments."""

    writes: tuple[str, ...] = ()
    view: bool = False
    random: bool = False
    defaults: dict[str, str] = field(default_factory=dict)


def resolve(path: str) -> Any:
    """The object of a dotted path.

    Raises:
        AttributeError: torch has no such thing.
    """
    first, *rest = path.split(".")
    found: Any = importlib.import_module(first)
    at = first
    for part in rest:
        at = f"{at}.{part}"
        if not hasattr(found, part) and inspect.ismodule(found):
            try:
                importlib.import_module(at)  # a submodule that nobody has imported yet
            except ImportError:
                raise AttributeError(path) from None
        found = getattr(found, part)
    return found


def signatures(path: str) -> list[Signature]:
    """Every way of calling the target that some source knows, the most trustworthy first."""
    target = resolve(path)
    name = path.rsplit(".", 1)[1]
    if inspect.isclass(target):
        return [_from_inspect(target.__init__, skip_first=True)]
    if inspect.isfunction(target):
        found = _from_inspect(target, skip_first=False)
        if not all(argument.variadic for argument in found.arguments) or not found.arguments:
            return [found]
        head = path.rsplit(".", 1)[0]
        plain = getattr(resolve(head), f"_{name}", None)  # torch chooses between two by a flag
        return [_from_inspect(plain, skip_first=False) if inspect.isfunction(plain) else found]
    if path.startswith("torch.Tensor."):
        table = _stub_methods()
    else:
        table = _stub_functions() | _stub_nn() if "functional" in path else _stub_functions()
    in_stubs = [] if path.startswith(("torch.linalg.", "torch.special.", "torch.fft.")) else list(table.get(name, []))
    schemas = _from_schemas(path)
    return [*(_with_defaults(signature, schemas) for signature in in_stubs), *schemas]


def _with_defaults(signature: Signature, schemas: list[Signature]) -> Signature:
    """The signature with the defaults that a stub writes as `...`."""
    known = {a.name: a.default for schema in schemas for a in schema.arguments}
    found = tuple(
        replace(a, default=known.get(a.name, a.default)) if a.default == "..." else a for a in signature.arguments
    )
    return replace(signature, arguments=found)


def stubs_of(name: str) -> list[Signature]:
    """Every way of calling a function of ``torch`` itself that its stub has."""
    return list(_stub_functions().get(name, ()))


def has_out_schema(path: str) -> bool:
    """Whether torch has a form of the target that writes into a tensor."""
    return any(argument.is_out for schema in _all_schemas(path) for argument in schema.arguments)


def facts(path: str, names: frozenset[str]) -> Facts:
    """What the schemas with (nearly) these arguments say: writes, view, randomness, defaults."""
    best: tuple[int, Any] | None = None
    for schema in _schemas(path):
        have = {argument.name for argument in schema.arguments}
        score = len(have & names) - len(have - names)
        if best is None or score > best[0]:
            best = (score, schema)
    if best is None:
        return Facts()
    schema = best[1]
    writes = tuple(a.name for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write)
    view = any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns)
    return Facts(writes, view and not writes, _is_random(schema))


# Stubs -----------------------------------------------------------------------------------------


def _stub_file(name: str) -> ast.Module:
    return ast.parse((Path(torch.__file__).parent / name).read_text(encoding="utf-8"))


@cache
def _stub_functions() -> dict[str, list[Signature]]:
    return _functions_in(_stub_file("_C/_VariableFunctions.pyi").body)


@cache
def _stub_nn() -> dict[str, list[Signature]]:
    return _functions_in(_stub_file("_C/_nn.pyi").body)


@cache
def _stub_methods() -> dict[str, list[Signature]]:
    module = _stub_file("_C/__init__.pyi").body
    base = next(node for node in module if isinstance(node, ast.ClassDef) and node.name == "TensorBase")
    return _functions_in(base.body)


def _functions_in(body: list[ast.stmt]) -> dict[str, list[Signature]]:
    table: dict[str, list[Signature]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            returns = ast.unparse(node.returns) if node.returns else "?"
            table.setdefault(node.name, []).append(Signature(_from_ast(node.args), returns, "stub"))
    return table


def _from_ast(arguments: ast.arguments) -> tuple[Argument, ...]:
    positional = [*arguments.posonlyargs, *arguments.args]
    padding: list[ast.expr | None] = [None] * (len(positional) - len(arguments.defaults))
    found = [
        _argument(a, default, positional_only=a in arguments.posonlyargs)
        for a, default in zip(positional, [*padding, *arguments.defaults], strict=True)
    ]
    if arguments.vararg:
        found.append(replace(_argument(arguments.vararg, None), variadic=True))
    for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        found.append(replace(_argument(a, default), keyword_only=True))
    return tuple(found)


def _argument(node: ast.arg, default: ast.expr | None, *, positional_only: bool = False) -> Argument:
    annotation = ast.unparse(node.annotation) if node.annotation else ""
    text = None if default is None else ast.unparse(default)
    return Argument(node.arg, annotation, text, positional_only=positional_only)


# Python's own ----------------------------------------------------------------------------------


def _from_inspect(function: Any, *, skip_first: bool) -> Signature:
    signature = inspect.signature(function)
    kinds = inspect.Parameter
    found = []
    for k, parameter in enumerate(signature.parameters.values()):
        if (k == 0 and skip_first) or parameter.kind is kinds.VAR_KEYWORD:
            continue
        annotation = parameter.annotation
        text = (
            "" if annotation is kinds.empty else annotation if isinstance(annotation, str) else _annotation(annotation)
        )
        default = None if parameter.default is kinds.empty else literal_text(parameter.default)
        found.append(
            Argument(
                parameter.name,
                text,
                default,
                keyword_only=parameter.kind is kinds.KEYWORD_ONLY,
                variadic=parameter.kind is kinds.VAR_POSITIONAL,
            )
        )
    returned = signature.return_annotation
    returns = "?" if returned is kinds.empty else returned if isinstance(returned, str) else _annotation(returned)
    if returned is None:
        returns = "None"
    return Signature(tuple(found), returns.replace("torch.Tensor", "Tensor"), "inspect")


def _annotation(value: object) -> str:
    return inspect.formatannotation(value).replace("torch.Tensor", "Tensor").replace("typing.", "")


def literal_text(value: object) -> str:
    """A default value as Python text."""
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return f"float('{value}')"
    if isinstance(value, torch.device):
        return repr(str(value))
    return repr(value)


# Schemas ---------------------------------------------------------------------------------------

_PREFIXES = {
    "torch.linalg.": "linalg_",
    "torch.special.": "special_",
    "torch.fft.": "fft_",
    "torch.sparse.": "sparse_",
}
_SCHEMA_TYPES = {"number": "Number", "int": "_int", "float": "_float", "bool": "_bool", "Tensor": "Tensor"}


def _all_schemas(path: str) -> list[Any]:
    name = path.rsplit(".", 1)[1]
    prefix = next((p for head, p in _PREFIXES.items() if path.startswith(head)), "")
    return list(torch._C._jit_get_schemas_for_operator(f"aten::{prefix}{name}"))


def _schemas(path: str) -> list[Any]:
    found = _all_schemas(path)
    if path.startswith(("torch.nn.init.", "torch.nn.utils.", "torch.masked.", "torch.signal.")):
        return []
    return [schema for schema in found if not any(argument.is_out for argument in schema.arguments)]


def _from_schemas(path: str) -> list[Signature]:
    return [_from_schema(schema) for schema in _schemas(path)]


def _from_schema(schema: Any) -> Signature:
    arguments = tuple(_schema_argument(argument, k) for k, argument in enumerate(schema.arguments))
    names = [result.name for result in schema.returns]
    returns = f"fields:{','.join(names)}" if len(names) > 1 and all(names) else _schema_returns(schema)
    return Signature(arguments, returns, "schema")


def _schema_returns(schema: Any) -> str:
    kinds = [str(result.real_type) for result in schema.returns]
    if kinds == ["List[Tensor]"]:
        return "tuple[Tensor, ...]"
    if len(kinds) > 1:
        return f"tuple[{', '.join(kinds)}]"
    return _SCHEMA_TYPES.get(kinds[0], kinds[0]) if kinds else "None"


_LISTS = {
    "List[int]": "_int | _size",
    "List[Tensor]": "list[Tensor]",
    "List[Optional[Tensor]]": "list[Tensor]",
    "List[float]": "list[float]",
    "List[number]": "list[Number]",
    "List[bool]": "list[bool]",
}
_PLAIN = {"Scalar": "Number", "number": "Number", "ScalarType": "_dtype", "Device": "device", "SymInt": "int"}


def _schema_argument(argument: Any, k: int) -> Argument:
    text = str(getattr(argument, "real_type", argument.type))
    optional = text.startswith("Optional[") or text.endswith("?")
    text = text.removeprefix("Optional[").removesuffix("]") if text.startswith("Optional[") else text.removesuffix("?")
    text = text if text.count("[") == text.count("]") else f"{text}]"
    text = _PLAIN.get(text, _LISTS.get(text, text))
    default = None
    if argument.has_default_value():
        default = literal_text(argument.default_value)
    name = "input" if argument.name == "self" and k == 0 else argument.name
    return Argument(name, f"{text} | None" if optional else text, default, keyword_only=argument.kwarg_only)


def _is_random(schema: Any) -> bool:
    packet = getattr(torch.ops.aten, schema.name.split("::")[1], None)
    overload = getattr(packet, schema.overload_name or "default", None)
    return overload is not None and torch.Tag.nondeterministic_seeded in overload.tags
