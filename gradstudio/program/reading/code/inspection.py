"""Code that may look into functions: it would find another text in one that is drawn."""

import ast
from collections.abc import Iterable, Iterator

from gradstudio.program.reading.syntax_queries import walk

_INSPECTING = frozenset(
    "inspect jit script signature getsource get_type_hints __annotations__ __doc__ __code__ __defaults__ __wrapped__ "
    "__closure__ fx symbolic_trace export dis ast linecache "
    "script_method njit numba triton _getframe f_back f_locals settrace setprofile".split()
)
"""Words by which code may look into a function, whose text is not what it was."""


def looks_into_functions(statements: Iterable[ast.stmt]) -> bool:
    """Whether code may ask for more of a function than that it is called: its text, the names in it."""
    parts = [part for one in statements for part in walk(one)]
    known = {id(part) for call in parts if isinstance(call, ast.Call) and _asks_torch(call) for part in walk(call.func)}
    looks = [part for part in parts if id(part) not in known]
    words = {part.attr for part in looks if isinstance(part, ast.Attribute)} | set(_names(looks))
    words |= {part.value for part in looks if isinstance(part, ast.Constant) and isinstance(part.value, str)}
    return not _INSPECTING.isdisjoint(words)


def _names(parts: Iterable[ast.AST]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.alias) and part.asname is not None:
            yield from part.name.split(".")  # else it is named where it is used
        elif isinstance(part, ast.ImportFrom):
            yield from (alias.name for alias in part.names)


def _asks_torch(call: ast.Call) -> bool:
    """``inspect.signature(torch.optim.AdamW)``, which looks into none of the program's functions."""
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="inspect"), attr="signature"), args=[asked], keywords=[]):
            while isinstance(asked, ast.Attribute):
                asked = asked.value
            return isinstance(asked, ast.Name) and asked.id == "torch"
        case _:
            return False
