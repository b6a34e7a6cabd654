"""Code that may decide which devices there are: a choice of a device behind it is not known from the text alone."""

import ast

from gradstudio.program.reading.syntax_queries import walk

_ACTS = frozenset(
    "environ environb putenv unsetenv setattr delattr __setattr__ __dict__ __getattribute__ attrgetter import_module "
    "reload run_path run_module ctypes CDLL set_device set_default_device load_dotenv monkeypatch".split()
)
"""Words by which code may set the environment, or put something in place of what torch answers with."""
_BUILT_IN = frozenset({"exec", "eval", "__import__", "globals", "vars"})
"""Of these the names alone: `model.eval()` is another."""
_ANSWERS = frozenset(
    "is_available is_built device_count current_accelerator cuda accelerator mps xpu device backends".split()
)
"""What torch answers with, or holds what does."""


def decides_devices(statement: ast.stmt) -> bool:
    """Whether a statement, or what it defines, may change what torch says of the devices that are there."""
    return any(map(_may_decide, walk(statement)))


def _may_decide(part: ast.AST) -> bool:
    match part:
        case ast.Attribute(ctx=ast.Store() | ast.Del()):
            return part.attr in _ACTS or (part.attr in _ANSWERS and not _is_self(part.value))
        case ast.Attribute(value=ast.Name(id="sys"), attr="modules"):
            return True
        case ast.Attribute(attr=word) | ast.alias(name=word) | ast.alias(asname=str(word)):
            return word in _ACTS
        case ast.Name(id=word):
            return word in _ACTS or word in _BUILT_IN
        case ast.Constant(value=str(word)):
            return word in _ACTS or "is_available" in word or "VISIBLE_DEVICES" in word
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(), *_]):
            return False
        case ast.Call(func=ast.Name(id="getattr")):
            return True  # nobody knows of what
        case _:
            return False


def _is_self(value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id == "self"
