"""Code that may look into functions: it would find another text in one that is drawn."""

import ast
from collections.abc import Iterable

from gradstudio.program.reading.syntax_queries import walk

_INSPECTING = frozenset(
    "inspect jit script signature getsource get_type_hints __annotations__ __doc__ __code__ __defaults__ __wrapped__ "
    "__closure__ fx symbolic_trace export dis ast linecache "
    "script_method njit numba triton _getframe f_back f_locals settrace setprofile".split()
)
"""Words by which code may look into a function, whose text is not what it was."""
_OF_FRAMES = frozenset(
    "signature currentframe _getframe f_back f_locals __annotations__ __doc__ __defaults__ __wrapped__ "
    "__closure__ fx symbolic_trace".split()
)
"""Those of them that find the same in a function whose statements are the same, wherever they stand."""
_TAME_OF_INSPECT = frozenset(
    "signature currentframe getargvalues Parameter isclass isfunction ismethod ismodule isbuiltin getmembers".split()
)
"""What `inspect` has that does not ask for lines."""
_LINES = frozenset(
    "f_code f_lineno co_firstlineno co_code co_lines tb_lineno extract_tb extract_stack walk_tb walk_stack "
    "format_exc format_exception format_tb format_stack TracebackException".split()
)


def looks_into_functions(statements: Iterable[ast.stmt]) -> bool:
    """Whether code may ask for more of a function than that it is called: its text, the names in it."""
    known: set[int] = set()
    for part in (part for one in statements for part in walk(one)):  # what is called stands behind its call
        if isinstance(part, ast.Call) and _asks_torch(part):
            known.update(map(id, walk(part.func)))
        elif id(part) not in known and not _INSPECTING.isdisjoint(_words(part)):
            return True
    return False


def looks_at_lines(statements: Iterable[ast.stmt]) -> bool:
    """Whether code may ask for the lines of a function, so that no other may stand in their place."""
    known: set[int] = set()
    for part in (part for one in statements for part in walk(one)):
        if isinstance(part, ast.Attribute) and part.attr in _TAME_OF_INSPECT:
            known.update(map(id, walk(part.value)))
        elif id(part) not in known and not (_INSPECTING - _OF_FRAMES | _LINES).isdisjoint(_words(part)):
            return True
    return False


def _words(part: ast.AST) -> Iterable[str]:
    match part:
        case ast.Name(id=word) | ast.Attribute(attr=word) | ast.Constant(value=str(word)):
            return (word,)
        case ast.alias(asname=str()):
            return part.name.split(".")  # else it is named where it is used
        case ast.ImportFrom():
            return [alias.name for alias in part.names]
        case _:
            return ()


def _asks_torch(call: ast.Call) -> bool:
    """``inspect.signature(torch.optim.AdamW)``, which looks into none of the program's functions."""
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="inspect"), attr="signature"), args=[asked], keywords=[]):
            while isinstance(asked, ast.Attribute):
                asked = asked.value
            return isinstance(asked, ast.Name) and asked.id == "torch"
        case _:
            return False
