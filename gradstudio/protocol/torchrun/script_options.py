"""The options of a training script, judged by its own parser before torchrun starts it in every process.

Only what its `parse_arguments` needs is run, without torch, in a process of its own.
"""

import ast
import subprocess
import sys
from pathlib import Path
from typing import Final

PARSER: Final = "parse_arguments"
_GOES_ON: Final = 77
"""The code of a process in which the options were taken: help ends with 0."""
_DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)
_BEGIN: Final = """\
import sys
class NotNeeded:
    def __getattr__(self, name):
        return self
__doc__, __file__ = {description!r}, {file!r}
sys.argv[0] = __file__
"""


def judge_options(script: Path, options: list[str]) -> int | None:
    """Have a script look at its options, in its folder, as it does when it is started; it says what is wrong.

    A script without a parser of ours takes what it likes.

    Returns:
        The code with which it ends there: 2 where it does not take them, 0 after its help; None: it goes on.
    """
    tree = ast.parse(script.read_bytes())
    needed = _needed(tree.body, PARSER)
    if not needed:
        return None
    begin = _BEGIN.format(description=ast.get_docstring(tree) or "", file=str(script.resolve()))
    lines = [line for statement in needed for line in _lines(statement)]
    text = "\n".join([begin, *lines, f"{PARSER}()", f"sys.exit({_GOES_ON})"])
    code = subprocess.run([sys.executable, "-P", "-c", text, *options], cwd=script.parent, check=False).returncode
    return None if code == _GOES_ON else code


def _needed(statements: list[ast.stmt], name: str) -> list[ast.stmt]:
    """The statements that bind a name, and all that those need, in their order."""
    binding = {bound: one for one in statements if isinstance(one, _DEFINITIONS) for bound in _bound(one)}
    found: set[ast.stmt] = set()
    ahead = [name]
    while ahead:
        statement = binding.get(ahead.pop())
        if statement is not None and statement not in found:
            found.add(statement)
            ahead += [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return [one for one in statements if one in found]


def _bound(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Import() | ast.ImportFrom():
            return [_name(one) for one in statement.names]
        case ast.Assign(targets=targets):
            return [one.id for one in targets if isinstance(one, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


def _name(imported: ast.alias) -> str:
    """What an import binds."""
    return (imported.asname or imported.name).partition(".")[0]


def _lines(statement: ast.stmt) -> list[str]:
    """The statement as it is run; a name that is imported from elsewhere than Python stands for nothing."""
    if not isinstance(statement, ast.Import | ast.ImportFrom):
        return [ast.unparse(statement)]
    module = statement.module if isinstance(statement, ast.ImportFrom) else None
    roots = {(module or one.name).partition(".")[0] for one in statement.names}
    if roots <= sys.stdlib_module_names:
        return [ast.unparse(statement)]
    return [f"{_name(one)} = NotNeeded()" for one in statement.names]
