"""Names from around a definition that code may call: a card of code in it looks each up, where the definition needs it.

Code brings nothing to a call, and a name from around means what it does when it is reached. Syntax in, syntax out:
`y = x * k` becomes `k_ = k`, which is code, and `y = x * k_`.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence, Set

from gradstudio.graph.names import fresh_name
from gradstudio.program.reading.code.code_statement import CodeStatement, names_taken
from gradstudio.program.reading.syntax_queries import Renamed, walk

_CHOOSING = (ast.IfExp, ast.BoolOp, ast.Assert, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
"""What is in them may not be reached."""


def look_up(function: ast.FunctionDef, names: Set[str], taken: Set[str]) -> None:
    """Let a function look names up that it reads from around it; `taken` are names that mean something in it."""
    parts = list(walk(function))
    used = {part.id for part in parts if isinstance(part, ast.Name)} | names_taken([function]) | set(taken)
    used |= {part.arg for part in parts if isinstance(part, ast.arg)}
    own = {name: fresh_name(used, f"{name}_") for name in sorted(names)}
    function.body = list(_looked_up(function.body, own, set()))


def is_looked_up(statement: ast.stmt, names: Set[str]) -> bool:
    """Whether whatever a statement reads of the names it reads whenever it runs."""
    choosing = [part for one in _head(statement) for part in walk(one) if isinstance(part, _CHOOSING)]
    inner = (part for one in choosing for part in walk(one))
    return not any(isinstance(part, ast.Name) and part.id in names for part in inner)


def _looked_up(statements: Sequence[ast.stmt], own: dict[str, str], known: set[str]) -> Iterator[ast.stmt]:
    for one in statements:
        match one:
            case CodeStatement():
                yield one
                continue
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.Name(id=name)) if name in own:
                yield _code(target, name, one)
                continue
        for name in _read(one, own.keys() - known):
            known.add(name)
            yield _code(own[name], name, one)
        for part in _head(one):
            Renamed(own).visit(part)
        if isinstance(one, ast.For | ast.With | ast.If):
            one.body = list(_looked_up(one.body, own, set(known)))
        if isinstance(one, ast.If):
            one.orelse = list(_looked_up(one.orelse, own, set(known)))
        yield one


def _read(statement: ast.stmt, names: Set[str]) -> Iterable[str]:
    """Those of the names that a statement reads, of a block its head, in their order."""
    parts = [part for one in _head(statement) for part in ast.walk(one)]
    return dict.fromkeys(part.id for part in parts if isinstance(part, ast.Name) and part.id in names)


def _head(statement: ast.stmt) -> list[ast.AST]:
    """A statement; of a block, what stands before its body."""
    match statement:
        case ast.For(target=target, iter=over):
            return [target, over]
        case ast.With(items=items):
            return list(items)
        case ast.If(test=test):
            return [test]
        case _:
            return [statement]


def _code(target: str, name: str, where: ast.stmt) -> CodeStatement:
    """`target = name` as code."""
    text = f"{target} = {name}"
    made = CodeStatement(ast.parse(text).body, [text])
    made.lineno, made.col_offset = where.lineno, where.col_offset
    made.end_lineno, made.end_col_offset = where.lineno, where.col_offset
    return made
