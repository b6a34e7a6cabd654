"""A text in plainer Python that does the same, before it is read: what a canvas has no statement for is written out.

Syntax in, syntax out; nothing is evaluated. Names from around a definition become its arguments, comprehensions loops,
and `if` a choice, a loop of one turn, or the branch that the text decides.
"""

import ast
from collections import Counter
from collections.abc import Sequence
from functools import partial

from gradstudio.graph.names import fresh_name
from gradstudio.operators.model import Family
from gradstudio.program.errors import NotReadable
from gradstudio.program.reading.code.code_statement import codes_in, may_break, names_taken, surely_bound
from gradstudio.program.reading.code.interference import mentioned_names
from gradstudio.program.reading.desugar.branches import Branches, returned_once, splice_branches
from gradstudio.program.reading.desugar.class_state import hold_in_init, without_grad
from gradstudio.program.reading.desugar.closures import Defined, bring_outer_names, by_first_name, stored_names
from gradstudio.program.reading.desugar.comprehensions import WRITTEN, ComprehensionRewriter
from gradstudio.program.reading.desugar.constant_arguments import (
    Calls,
    Known,
    attributes_known,
    attributes_written,
    decide_test,
)
from gradstudio.program.reading.desugar.layer_builders import LayerBuilders
from gradstudio.program.reading.desugar.layer_in_step import Switched, switched_in
from gradstudio.program.reading.desugar.nested_functions import lift_functions
from gradstudio.program.reading.desugar.own_device import rename_own_devices
from gradstudio.program.reading.desugar.synthetic_nodes import at_position
from gradstudio.program.reading.expressions.conditional_reader import read_choice
from gradstudio.program.reading.graph_builder import WiredResult
from gradstudio.program.reading.imports import Modules
from gradstudio.program.reading.main_part import is_report, main_part
from gradstudio.program.reading.parser import MAX_NESTING
from gradstudio.program.reading.program_header import is_choice
from gradstudio.program.reading.syntax_queries import walk

_LISTED = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_WRITTEN_OUT = (*_LISTED, ast.NamedExpr, ast.If, ast.IfExp, ast.FunctionDef, ast.ClassDef, ast.Lambda)
"""What is looked for; a text without it is as plain as it can be."""


def desugar(tree: ast.Module) -> None:
    """Rewrite a text in place; the report at its end stays."""
    body = tree.body
    report = body[-1:] if body and is_report(body[-1]) else []
    statements = [inner for one in body[: len(body) - len(report)] for inner in main_part(one)]
    if any(isinstance(part, _WRITTEN_OUT) for one in statements for part in walk(one)):
        statements = _Text(statements).plain()
    tree.body = [*statements, *report]


def desugared(tree: ast.Module) -> ast.Module:
    """The tree, which was rewritten in place.

    Raises:
        NotReadable: it is nested too deep.
    """
    try:
        desugar(tree)
    except RecursionError:
        raise NotReadable(f"It is nested more than {MAX_NESTING} deep.", 1) from None
    return tree


class _Text:
    """One text."""

    def __init__(self, statements: Sequence[ast.stmt]) -> None:
        """See what its names are."""
        drawn = [part for one in statements for part in walk(one)]
        parts = drawn + [part for code in codes_in(statements) for part in code.statements]
        self._modules = _imports(parts)
        self._without_lists = set[int]()
        if any(isinstance(one, Defined) for one in statements) or any(isinstance(part, ast.Lambda) for part in parts):
            switched = switched_in(drawn)
            called_by_code = mentioned_names(statements)
            builders = LayerBuilders(statements, called_by_code)
            for one in statements:
                self._tidy(one, switched)
            builders.write_out(statements, partial(fresh_name, _names_of(parts) | names_taken(statements)))
            statements = lift_functions(by_first_name(statements))
            rename_own_devices(statements)
            bring_outer_names(statements, called_by_code)
            each = [list(walk(one)) for one in statements]
            parts = [part for one in each for part in one]
            self._without_lists = {id(every[0]) for every in each if not any(isinstance(p, WRITTEN) for p in every)}
            self._calls = Calls(each, self._modules.paths())
            self._has_code = bool(codes_in(statements))
            self._changed = _written_elsewhere(parts)
        self._statements = statements
        used = _names_of(parts) | names_taken(statements)
        self._used = used | {one.name for one in statements if isinstance(one, ast.FunctionDef | ast.ClassDef)}
        self._outside = _used_outside(statements, parts)
        self._lists = ComprehensionRewriter(self._fresh, lambda name: name in self._outside)
        self._bound: set[str] = set()
        self._has_lists = True
        self._branches = Branches(
            self._fresh, self._is_choice, lambda name: name in self._bound, any(map(_reads_unused, parts))
        )

    def _tidy(self, statement: ast.stmt, switched: Switched) -> None:
        """Decorators and classes in the forms that a canvas has."""
        if isinstance(statement, ast.ClassDef):
            hold_in_init(statement, self._modules.paths(), self._modules.path, switched)
        for one in walk(statement) if isinstance(statement, Defined) else ():
            if isinstance(one, ast.FunctionDef):
                without_grad(one, self._modules.path)

    def plain(self) -> list[ast.stmt]:
        """All statements."""
        found: list[ast.stmt] = []
        for one in self._statements:
            self._has_lists = id(one) not in self._without_lists
            match one:
                case ast.FunctionDef():
                    self._function(one, self._calls.known(one, one))
                    found.append(one)
                case ast.ClassDef():
                    self._class(one)
                    found.append(one)
                case _:
                    found += self._body([one])
        return found

    def _class(self, definition: ast.ClassDef) -> None:
        methods = [one for one in definition.body if isinstance(one, ast.FunctionDef)]
        maker = next((one for one in methods if one.name == "__init__"), None)
        if self._has_code:  # which may call an object of it in any way
            for one in methods:
                self._function(one, {})
            return
        made = self._calls.known(definition, maker) if maker is not None else {}
        attributes = attributes_known(maker, made, self._changed) if maker is not None else {}
        for one in methods:
            known = made if one is maker else self._calls.known(definition, one) | attributes
            self._function(one, known)

    def _function(self, function: ast.FunctionDef, known: Known) -> None:
        before, self._bound = self._bound, {one.arg for one in function.args.args}
        chosen = _Chosen(known)
        statements = [chosen.visit(one) for one in function.body] if known else function.body
        once = returned_once(statements, self._fresh, lambda test: decide_test(test, known))
        function.body = self._body(once, known) or [at_position(ast.Pass(), function)]
        self._bound = before

    def _body(self, statements: Sequence[ast.stmt], known: Known | None = None) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for one in splice_branches(statements, lambda test: decide_test(test, known)) if known else statements:
            before, rest = self._lists.before(one) if self._has_lists else ([], one)
            for statement in (*before, *([rest] if rest is not None else ())):
                found += self._one(statement, known)
                binds_none = isinstance(statement, ast.Expr) and not self._has_lists
                if not binds_none and not isinstance(statement, ast.If):  # a branch may not run
                    self._bound |= surely_bound(statement, stored_names([statement]))
        return found

    def _one(self, statement: ast.stmt, known: Known | None) -> list[ast.stmt]:
        match statement:
            case ast.If():
                if _chooses_device(statement) and is_choice(statement.test, self._modules, lambda name: False):
                    return [statement]
                return self._if(statement, known)
            case ast.For() | ast.With():
                if isinstance(statement, ast.For):
                    self._bound |= set(stored_names([statement.target]))
                before = set(self._bound)
                statement.body = self._body(statement.body, known) or [at_position(ast.Pass(), statement)]
                if may_break(statement):
                    self._bound = before
        return [statement]

    def _if(self, statement: ast.If, known: Known | None) -> list[ast.stmt]:
        bound = set(self._bound)
        statement.body = self._body(statement.body, known) or [at_position(ast.Pass(), statement)]
        self._bound = set(bound)
        statement.orelse = self._body(statement.orelse, known)
        self._bound = bound
        return self._branches.plain(statement)

    def _fresh(self, base: str) -> str:
        return fresh_name(self._used, base)

    def _is_choice(self, node: ast.expr) -> bool:
        """Whether a canvas has an expression as one node."""
        try:
            read_choice(node, ast.unparse, self._modules, lambda _: _SOMETHING, lambda name: name in self._used)
        except NotReadable:
            return False
        return True


_SOMETHING = WiredResult(family=Family.UNKNOWN)


class _Chosen(ast.NodeTransformer):
    """`a if test else b` where the text decides the test."""

    def __init__(self, known: Known) -> None:
        self._known = known

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """One of them."""
        self.generic_visit(node)
        value = decide_test(node.test, self._known)
        if value is None:
            return node
        return node.body if value else node.orelse


def _written_elsewhere(parts: Sequence[ast.AST]) -> set[str]:
    """The attributes that are written elsewhere than in an `__init__`."""
    every = Counter(attributes_written(parts))
    makers = [part for part in parts if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
    return set(every - Counter(attributes_written(part for one in makers for part in walk(one))))


def _chooses_device(statement: ast.stmt) -> bool:
    """Whether an `if` binds `device` and does nothing else."""
    match statement:
        case ast.Assign(targets=[ast.Name(id="device")]) | ast.AnnAssign(target=ast.Name(id="device")):
            return True
        case ast.If(body=body, orelse=orelse):
            return all(map(_chooses_device, [*body, *orelse]))
        case _:
            return False


def _reads_unused(part: ast.AST) -> bool:
    """Whether it reads the name that is given to what nobody wants."""
    return isinstance(part, ast.Name) and part.id == "_" and isinstance(part.ctx, ast.Load)


def _imports(parts: Sequence[ast.AST]) -> Modules:
    modules = Modules()
    for part in parts:
        if isinstance(part, ast.Import | ast.ImportFrom):
            try:
                modules.read(part)
            except NotReadable:
                continue  # it is refused when it is read
    return modules


def _names_of(parts: Sequence[ast.AST]) -> set[str]:
    """The names in parts of statements."""
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    return names | {part.arg for part in parts if isinstance(part, ast.arg)}


def _used_outside(statements: Sequence[ast.stmt], parts: Sequence[ast.AST]) -> set[str]:
    """The names that are used elsewhere than in comprehensions; `parts` are all in the statements."""
    if not any(isinstance(part, _LISTED) for part in parts):
        return _names_of(parts)
    found: set[str] = set()
    waiting: list[ast.AST] = list(statements)
    while waiting:
        part = waiting.pop()
        if isinstance(part, _LISTED):
            continue
        if isinstance(part, ast.Name):
            found.add(part.id)
        if isinstance(part, ast.arg):
            found.add(part.arg)
        waiting.extend(ast.iter_child_nodes(part))
    return found
