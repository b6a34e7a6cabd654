"""A statement of a syntax tree that stands for undrawn ones: who reads the tree sees the names in them alone."""

import ast
from collections.abc import Iterable, Iterator, Sequence

from gradstudio.graph.text.code_names import CodeNames, names_of_statements
from gradstudio.graph.text.code_text import outdented


class CodeStatement(ast.stmt):
    """Neighbours of one body that are kept as they were typed.

    Its children are names alone: those that it reads, now or when its functions are called, and those that it binds,
    as often as it does.

    Attributes:
        statements: what it stands for.
        names: what they do with names.
        text: them and the comments between them, without the indentation of the block.
    """

    _fields = ("reads", "binds")

    def __init__(self, statements: Sequence[ast.stmt], lines: Sequence[str], result: str = "") -> None:
        """Stand for neighbours; `lines` are those of the whole text, `result` the name of what the last returns."""
        super().__init__()
        if result:
            statements, lines = _bound(statements, lines, result)
        self.statements = list(statements)
        self.names: CodeNames = names_of_statements(statements)
        self.lineno, self.end_lineno = first_line(statements[0]), last_line(statements[-1])
        self.col_offset = statements[0].col_offset
        self.end_col_offset = statements[-1].end_col_offset
        margin = lines[self.lineno - 1]
        self.text = outdented(list(lines[self.lineno - 1 : self.end_lineno]), len(margin) - len(margin.lstrip()))
        self.reads = [self._name(name, ast.Load()) for name in self._read()]
        self.binds = [self._name(name, ast.Store()) for name in self._bindings()]

    @property
    def new_names(self) -> dict[str, str]:
        """Other names that what it reads and binds has been given in the tree."""
        typed = (*self._read(), *self._bindings())
        now = (*self.reads, *self.binds)
        return {old: one.id for old, one in zip(typed, now, strict=True) if one.id != old}

    @property
    def only_kept(self) -> set[str]:
        """Names that it does not read before it binds them, perhaps: else they go on meaning what they meant."""
        read = {*self.names.ahead, *self.names.later}
        return {one.id for name, one in zip(self._read(), self.reads, strict=True) if name not in read}

    def again(self) -> "CodeStatement":
        """The same for another tree: who rewrites that one changes the names in it."""
        other = CodeStatement.__new__(CodeStatement)
        other.__dict__.update(self.__dict__)
        other.reads = [self._name(one.id, one.ctx) for one in self.reads]
        other.binds = [self._name(one.id, one.ctx) for one in self.binds]
        return other

    def __deepcopy__(self, memo: object) -> "CodeStatement":
        """Where a branch is written twice: what it stands for is never changed."""
        return self.again()

    def _name(self, name: str, context: ast.expr_context) -> ast.Name:
        return ast.copy_location(ast.Name(name, context), self)

    def _read(self) -> Iterable[str]:
        """What it reads, now or when its functions are called."""
        return dict.fromkeys((*self.names.reads, *self.names.keeps, *self.names.later))

    def _bindings(self) -> Iterator[str]:
        """What it binds, twice where that may happen more than once."""
        for name in (*self.names.binds, *self.names.rebound, *self.names.removes):
            yield name
            if name not in self.names.surely or self._is_bound_again(name):
                yield name

    def _is_bound_again(self, name: str) -> bool:
        stored = [
            part
            for one in self.statements
            for part in ast.walk(one)
            if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store)
        ]
        return len(stored) > 1 or any(isinstance(one, ast.For | ast.While | ast.AugAssign) for one in self.statements)


def as_typed(statement: ast.stmt, lines: Sequence[str]) -> CodeStatement:
    """A statement as code, and what is code in it with it; of a definition, that there is one.

    Raises:
        SyntaxError: it cannot stand alone.
    """
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        stub = f"{'class' if isinstance(statement, ast.ClassDef) else 'def'} {statement.name}(): pass"
        return CodeStatement(ast.parse(stub).body, [stub])
    made = CodeStatement([statement], lines)
    return CodeStatement(ast.parse(made.text).body, made.text.split("\n")) if codes_in([statement]) else made


def _bound(statements: Sequence[ast.stmt], lines: Sequence[str], name: str) -> tuple[Sequence[ast.stmt], Sequence[str]]:
    """The statements, and the lines, with a name for what the last of them returns: `return` stands behind them."""
    last = statements[-1]
    assert isinstance(last, ast.Return)
    assert last.value is not None
    target = ast.copy_location(ast.Name(name, ast.Store()), last)
    line = lines[last.lineno - 1]
    value = line[last.col_offset :].removeprefix("return").lstrip()
    changed = list(lines)
    changed[last.lineno - 1] = f"{line[: last.col_offset]}{name} = {value}"
    return [*statements[:-1], ast.copy_location(ast.Assign([target], last.value), last)], changed


def first_line(statement: ast.stmt) -> int:
    """The line on which a statement begins, its decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(one.lineno for one in decorators)])


def last_line(statement: ast.stmt) -> int:
    """The line on which a statement ends."""
    return statement.end_lineno or statement.lineno


def codes_in(statements: Iterable[ast.AST], *, with_definitions: bool = True) -> list[CodeStatement]:
    """All that stand in for undrawn statements, in blocks too, and in definitions if those are asked for."""
    found: list[CodeStatement] = []
    for one in statements:
        if isinstance(one, CodeStatement):
            found.append(one)
        elif isinstance(one, ast.Module | ast.For | ast.With | ast.If):
            found += codes_in([*one.body, *getattr(one, "orelse", ())], with_definitions=with_definitions)
        elif isinstance(one, ast.FunctionDef | ast.ClassDef) and with_definitions:
            found += codes_in(one.body)
    return found


def names_taken(statements: Iterable[ast.AST]) -> set[str]:
    """Every name inside of undrawn statements."""
    return {name for one in codes_in(statements) for name in one.names.taken}


def surely_bound(statement: ast.stmt, stored: Iterable[str]) -> set[str]:
    """Of the names that a statement stores, those that have a value behind it."""
    if isinstance(statement, CodeStatement):
        return set(statement.names.surely)
    if may_break(statement):
        return set()
    return set(stored)


def may_break(statement: ast.stmt) -> bool:
    """Whether code in a loop may end its turn, so that what follows in that is not reached."""
    return isinstance(statement, ast.For) and any(one.names.leaves_turn for one in codes_in(statement.body))
