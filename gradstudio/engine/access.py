"""What a drawn program may read, call and write of the values it holds: a list, and the one door through which it runs.

Nothing else in the engine calls `exec` or `eval`. Every text passes `guarded` first: each attribute is asked for by
`reach`, each call of a value by `callee`, each write by `writable`; what is not listed for the type of the value is
refused at the statement, also before a run. What a value *gives* is never called, so that no chain of attributes
leads from a tensor to Python's own machinery. Whatever passes is then done by the statement itself: errors, warnings
and tracebacks are those of Python and torch.
"""

import ast
import builtins
import unicodedata
from functools import cache
from types import CodeType
from typing import Any, Final, TypeVar

from gradstudio.engine import access_calls, access_paths
from gradstudio.engine.access_paths import MODULES
from gradstudio.engine.access_types import built_in_functions, callee, each_callee, method, reach, writable
from gradstudio.engine.audit_wall import FILENAME as OF_PROGRAMS
from gradstudio.engine.audit_wall import wall
from gradstudio.engine.code.freedom import freedom
from gradstudio.engine.code.program_end import programs_end
from gradstudio.engine.code.turn_ends import within_turn
from gradstudio.engine.errors import AccessRefused
from gradstudio.graph.text.code_records import DEFERRED, FUTURE, LOADER

__all__ = ["FILENAME", "MODULES", "binder", "compiled", "evaluate", "execute", "expression", "guarded", "statements"]
FILENAME: Final = OF_PROGRAMS
REACH, METHOD, CALLEE, EACH, WRITABLE, REFUSE = (
    f"__gradstudio_{word}__" for word in ("reach", "method", "callee", "each", "writable", "refuse")
)
SPARSE, SAFE, COPY, WITH_INDICES, NOT_COMPRESSED, ALONE, WITH_OUT = (
    f"__gradstudio_{word}__"
    for word in ("sparse", "safe", "copy", "with_indices", "not_compressed", "alone", "with_out")
)
LOCALS: Final = "__gradstudio_locals__"
_IMPORTED: Final = frozenset(
    {("torch", None), ("torch.nn.functional", "F"), ("torch.nn.utils.prune", None), ("numpy", "np"), ("math", None)}
    | {("pathlib", "Path"), ("safetensors.torch", "load_file"), ("torch", "nn"), ("torch", "optim"), (FUTURE, DEFERRED)}
)
"""What the head of a script imports: (module, the name it has here), or (module, what is taken out of it)."""
_OWN_NAMES: Final = frozenset({"__name__", "__file__"})
_PRINTED: Final = frozenset({"print", "load_file", "Path"})
"""Called by their names, which no program may rebind."""
_KEPT_NAMES: Final = _PRINTED | MODULES.keys() | {"super", "HERE"}
_METHODS: Final = frozenset({"__init__", "forward"})
"""What a class of a program defines."""
_NODES: Final = (
    *(ast.Module, ast.Expression, ast.Expr, ast.Assign, ast.AugAssign, ast.For, ast.With, ast.withitem, ast.If),
    *(ast.Assert, ast.Pass, ast.Return, ast.While, ast.FunctionDef, ast.ClassDef, ast.arguments, ast.arg),
    *(ast.Import, ast.ImportFrom, ast.alias, ast.keyword, ast.expr_context, ast.boolop, ast.operator, ast.unaryop),
    *(ast.cmpop, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Dict, ast.Compare, ast.Call, ast.FormattedValue),
    *(ast.JoinedStr, ast.Constant, ast.Attribute, ast.Subscript, ast.Starred, ast.Name, ast.List, ast.Tuple),
    *(ast.Slice, ast.Set),
)
"""What the writer prints; a text that holds anything else is not the writer's."""
Tree = TypeVar("Tree", bound=ast.AST)
_FIRST: Final = ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=4)


def compiled(tree: ast.Module) -> CodeType:
    """The code of statements that were `guarded`."""
    code: CodeType = compile(ast.fix_missing_locations(tree), FILENAME, "exec", freedom.flags, dont_inherit=True)
    return code


def single(tree: ast.Module) -> ast.Module:
    """A text that is to be one statement; what holds more is not run, since nobody sees the rest."""
    if len(tree.body) <= 1 or freedom.now:
        return tree
    return ast.Module([_refusal(tree.body[0], "a statement of a drawing stands alone")], [])


def statements(text: str) -> CodeType:
    """The code of a text, guarded.

    Raises:
        SyntaxError: it is no Python.
    """
    return compiled(guarded(ast.parse(text, FILENAME)))


def undrawn(text: str) -> CodeType:
    """The code of undrawn Python: a refusal, unless its program is trusted.

    Raises:
        SyntaxError: it is no Python.
    """
    if freedom.now:
        return compiled(within_turn(text))
    return compiled(
        ast.Module([_refusal(ast.copy_location(ast.Pass(), _FIRST), "it is no drawing, and not trusted")], [])
    )


def expression(text: str) -> CodeType:
    """The code of an expression, guarded.

    Raises:
        SyntaxError: it is no Python.
    """
    tree = guarded(ast.parse(text, FILENAME, "eval"))
    return compile(ast.fix_missing_locations(tree), FILENAME, "eval")


def execute(code: CodeType, names: dict[str, Any]) -> None:
    """Run code in these names, which get only the built-ins that a program may use.

    Raises:
        Exception: whatever it raises.
    """
    if freedom.now:
        names["__builtins__"] = builtins
        with programs_end():
            exec(code, names)
        return
    names["__builtins__"] = _builtins()
    before, wall.up = wall.up, code
    try:
        exec(code, names)
    finally:
        wall.up = before


def evaluate(code: CodeType, names: dict[str, Any]) -> Any:
    """What an expression gives in these names.

    Raises:
        Exception: whatever it raises.
    """
    if freedom.now:
        names["__builtins__"] = builtins
        with programs_end():
            return eval(code, names)  # noqa: S307 - its person said yes to it
    names["__builtins__"] = _builtins()
    before, wall.up = wall.up, code
    try:
        return eval(code, names)  # noqa: S307 - guarded, and with built-ins of our choice
    finally:
        wall.up = before


def binder(head: str, names: dict[str, Any]) -> Any:
    """A function with these parameters that gives what they are bound to, by name.

    Raises:
        SyntaxError: the parameters are no Python.
    """
    tree = guarded(ast.parse(f"def bind({head}): pass", FILENAME))
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef)
    definition.body = ast.parse(f"return {'locals' if freedom.now else LOCALS}()").body
    within = dict(names)
    execute(compiled(tree), within)
    return within["bind"]


def guarded(tree: Tree) -> Tree:
    """The same statements or expression with every attribute, call and write asked for; the tree itself is changed."""
    if freedom.now:
        return tree
    guard = _Guard()
    result: Tree = guard.visit(tree)
    return result


class _Guard(ast.NodeTransformer):
    """Puts the questions in; what cannot be allowed becomes a call that refuses when it is reached."""

    def visit(self, node: ast.AST) -> Any:
        """Refuse what the writer never prints."""
        if not isinstance(node, _NODES):
            return _refusal(node, f"`{ast.unparse(node)[:60]}` is nothing that a drawing is made of")
        return super().visit(node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """A name of Python's own machinery is none of the program's, and those of the script stay what they are."""
        is_header = node.id == "HERE" and isinstance(node.ctx, ast.Store)  # the head of a script binds it
        if not is_header and not _is_free(node.id, bound=not isinstance(node.ctx, ast.Load)):
            refusal: ast.expr = _refusal(node, f"'{node.id[:60]}' is no name of a drawing")
            return refusal if isinstance(node.ctx, ast.Load) else ast.Attribute(refusal, "name", node.ctx)
        return node

    def visit_Import(self, node: ast.Import) -> ast.stmt:
        """Only what the head of a script imports."""
        foreign = [alias.name for alias in node.names if (alias.name, alias.asname) not in _IMPORTED]
        return _refused_import(node, foreign) if foreign else node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt:
        """Only what the head of a script imports."""
        taken = [(node.module, alias.asname or alias.name) for alias in node.names]
        known = not node.level and all(alias.asname is None for alias in node.names)
        return node if known and _IMPORTED.issuperset(taken) else _refused_import(node, [node.module or "."])

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        """A definition of the program: no decorators, and no name of the script's own."""
        return self._definition(node) if _is_free(node.name, bound=True) else _refused_definition(node)

    def _definition(self, node: ast.FunctionDef) -> ast.stmt:
        names = [argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)]
        if node.decorator_list or not all(_is_free(name, bound=True) for name in names):
            return _refused_definition(node)
        self.generic_visit(node)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        """A module of the program: a class of nn.Module with `__init__` and `forward`."""
        bodies = [part for part in node.body if isinstance(part, ast.FunctionDef)]
        is_module = [ast.unparse(base) for base in node.bases] == ["nn.Module"]
        is_plain = len(bodies) == len(node.body) and not node.keywords and not node.decorator_list
        named = all(part.name in _METHODS for part in bodies)
        if not (is_module and is_plain and named and _is_free(node.name, bound=True)):
            return _refused_definition(node)
        node.body = [self._definition(part) for part in bodies]
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Ask the value, or for the path of a module the catalogue."""
        if not isinstance(node.ctx, ast.Load):
            node.value = _refusal(node, "an attribute is written by a statement of its own")
            return node
        return self._attribute(node, REACH)

    def _attribute(self, node: ast.Attribute, question: str) -> ast.expr:
        path = _path(node)
        if path is not None:
            is_read = isinstance(node.ctx, ast.Load)
            if path in _LISTS[question]():
                return node
            reason = access_paths.refusal_reason(path)
            refusal: ast.expr = _refusal(node, f"'{path[:60]}' {reason}")
            node.value = refusal
            return refusal if is_read else node
        node.value = _asked(question, self.visit(node.value), ast.Constant(node.attr))
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        """What is put into a module or a value under a name is nothing that they could call."""
        target = node.targets[0]
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        if len(node.targets) > 1 or not any(isinstance(one, ast.Attribute) for one in parts):
            self.generic_visit(node)
            return node
        parts = [self._attribute(one, WRITABLE) if isinstance(one, ast.Attribute) else self.visit(one) for one in parts]
        if isinstance(target, ast.Tuple):
            target.elts = parts
        node.value = _asked(EACH if isinstance(target, ast.Tuple) else CALLEE, self.visit(node.value))
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        """It writes as an assignment does."""
        node.value = self.visit(node.value)
        if isinstance(node.target, ast.Attribute):
            self._attribute(node.target, WRITABLE)
        else:
            node.target = self.visit(node.target)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """What is called is a function of the catalogue, a method that was asked for, or must be allowed by itself."""
        if _is_super_init(node):
            return node
        if any(keyword.arg is None for keyword in node.keywords):
            refusal: ast.expr = _refusal(node, "arguments by keyword are given one by one")
            return refusal
        path = _path(node.func) if isinstance(node.func, ast.Attribute) else None
        word = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        calls_back = self._calls_back(node, path)
        if isinstance(node.func, ast.Attribute):
            node.func = self._attribute(node.func, METHOD)
        else:
            function = self.visit(node.func)
            is_printed = isinstance(function, ast.Name) and function.id in _PRINTED
            node.func = function if is_printed else _asked(CALLEE, function)
        node.args = [self.visit(argument) for argument in node.args]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        if calls_back:
            node.args = [_each_asked(CALLEE, EACH, one) for one in node.args]
        for keyword in node.keywords:
            if calls_back or keyword.arg in access_paths.FUNCTIONS_GIVEN:
                keyword.value = _asked(CALLEE, keyword.value)
        return _memory_asked(node, path, word)

    def _calls_back(self, node: ast.Call, path: str | None) -> bool:
        """Whether what is called may call what it is given."""
        if isinstance(node.func, ast.Name):
            return node.func.id == "iter" and (
                len(node.args) > 1 or any(isinstance(one, ast.Starred) for one in node.args)
            )
        is_step = isinstance(node.func, ast.Attribute) and node.func.attr == "step"
        return is_step or (path is not None and path in access_paths.that_call())


def _path(node: ast.expr) -> str | None:
    """``torch.nn.functional.relu`` of ``F.relu``; None when it starts at a value."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in MODULES:
        return None
    return ".".join([MODULES[node.id], *reversed(parts)])


_LISTS: Final = {REACH: access_paths.read, METHOD: access_paths.called, WRITABLE: access_paths.settings}


def _memory_asked(node: ast.Call, path: str | None, word: str) -> ast.expr:
    """The call, with what could lead out of a tensor's memory looked at: its indices."""
    if path == LOADER:
        node.func = _asked(ALONE, node.func)
    if path in access_calls.SPARSE or path in access_calls.UNSAFE:
        node.func = _asked(SPARSE if path in access_calls.SPARSE else SAFE, node.func)
    if any(keyword.arg == "out" for keyword in node.keywords) and (path is None or path.startswith("torch.")):
        node.func = _asked(WITH_OUT, node.func)
    if word in access_calls.RESIZES and isinstance(node.func, ast.Attribute):
        if path is None:
            node.func.value = _asked(NOT_COMPRESSED, node.func.value)
        node.args = [_each_asked(NOT_COMPRESSED, NOT_COMPRESSED, one) for one in node.args]
        for keyword in node.keywords:
            keyword.value = _asked(NOT_COMPRESSED, keyword.value)
    if path is None and word in access_calls.INDICES:
        return _asked(COPY, node)
    may_hide = path is not None or word in access_calls.NEW
    has_layout = any(keyword.arg == "layout" or (may_hide and keyword.arg is None) for keyword in node.keywords)
    is_new = word not in access_calls.SETS_INDICES if has_layout else path is None and word in access_calls.NEW
    return _asked(WITH_INDICES, node) if is_new else node


def _is_super_init(node: ast.Call) -> bool:
    is_init = isinstance(node.func, ast.Attribute) and node.func.attr == "__init__"
    return is_init and ast.unparse(node) == "super().__init__()"


def _is_free(name: str, *, bound: bool) -> bool:
    """Whether a program may use the name, or bind it."""
    if unicodedata.normalize("NFKC", name).startswith("__"):
        return not bound and name in _OWN_NAMES
    return name not in _KEPT_NAMES if bound else name != "super"


def _asked(question: str, *arguments: ast.expr) -> ast.expr:
    name = ast.Name(question, ast.Load())
    return ast.copy_location(ast.Call(name, list(arguments), []), arguments[0])


def _each_asked(question: str, of_many: str, argument: ast.expr) -> ast.expr:
    """An argument that is asked for, or one that stands for many."""
    if not isinstance(argument, ast.Starred):
        return _asked(question, argument)
    argument.value = _asked(of_many, argument.value)
    return argument


def _refusal(node: ast.AST, reason: str) -> Any:
    call = ast.Call(ast.Name(REFUSE, ast.Load()), [ast.Constant(reason)], [])
    wanted: ast.AST = ast.Expr(call) if isinstance(node, ast.stmt) else call
    return ast.copy_location(wanted, node) if hasattr(node, "lineno") else wanted


def _refused_definition(node: ast.FunctionDef | ast.ClassDef) -> ast.stmt:
    refusal: ast.stmt = _refusal(node, f"'{node.name[:60]}' is no definition of a drawing")
    return refusal


def _refused_import(node: ast.stmt, names: list[str]) -> ast.stmt:
    refusal: ast.stmt = _refusal(node, f"'{names[0][:60]}' is not imported by a drawing")
    return refusal


def _refuse(reason: str) -> None:
    raise AccessRefused(reason)


@cache
def _builtins() -> dict[str, Any]:
    """The built-ins a program has: those of the catalogue, what statements themselves need, and the questions."""
    questions = {REACH: reach, METHOD: method, CALLEE: callee, WRITABLE: writable, REFUSE: _refuse, LOCALS: locals}
    questions |= {SPARSE: access_calls.looked_through, SAFE: access_calls.safe, COPY: access_calls.copy_of}
    questions |= {
        EACH: each_callee,
        WITH_INDICES: access_calls.with_indices,
        NOT_COMPRESSED: access_calls.not_compressed,
        WITH_OUT: access_calls.with_out,
        ALONE: access_calls.alone,
    }
    words: dict[str, Any] = {word: getattr(builtins, word) for word in ("super", "print", "__build_class__")}
    words |= {"__import__": _import, "__name__": "builtins"}
    return words | built_in_functions() | questions


def _import(*arguments: Any) -> Any:
    """Python's import, asked anew each time: also torch's C++ asks the built-ins of the running text for it.

    WORKAROUND(shiboken replaces `__import__` and aborts where built-ins lack the original beside it)
    """
    return builtins.__import__(*arguments)
