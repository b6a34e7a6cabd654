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
from typing import Any, Final, TypeVar, get_args

from gradstudio.engine import access_calls
from gradstudio.engine.access_types import built_in_functions, callee, method, reach, writable
from gradstudio.engine.audit_wall import FILENAME as OF_PROGRAMS
from gradstudio.engine.audit_wall import wall
from gradstudio.engine.errors import AccessRefused
from gradstudio.graph.model import BlockKind, context_path
from gradstudio.graph.text.allowed_calls import CLASSES
from gradstudio.graph.text.literal_text import CONSTANTS
from gradstudio.operators.catalogue.loader import load
from gradstudio.operators.model import Face

FILENAME: Final = OF_PROGRAMS
REACH, METHOD, CALLEE, WRITABLE, REFUSE, SPARSE, SAFE, COPY = (
    f"__gradstudio_{word}__" for word in ("reach", "method", "callee", "writable", "refuse", "sparse", "safe", "copy")
)
LOCALS: Final = "__gradstudio_locals__"
MODULES: Final = {
    "torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional", "optim": "torch.optim", "np": "numpy",
    "math": "math",
}  # fmt: skip
"""Names the script's imports bind, and what they stand for; no program may rebind them (semantics §1)."""
_IMPORTED: Final = frozenset(
    {("torch", None), ("torch.nn.functional", "F"), ("torch.nn.utils.prune", None), ("numpy", "np"), ("math", None)}
    | {("pathlib", "Path"), ("safetensors.torch", "load_file"), ("torch", "nn"), ("torch", "optim")}
)
"""What the head of a script imports: (module, the name it has here), or (module, what is taken out of it)."""
_OF_HEADERS: Final = frozenset({"torch.manual_seed", "torch.set_default_dtype", "torch.device", "torch.Size"})
_OWN_NAMES: Final = frozenset({"__name__", "__file__"})
_PRINTED: Final = frozenset({"print", "load_file", "Path"})
"""Called by their names, which no program may rebind."""
_KEPT_NAMES: Final = _PRINTED | MODULES.keys() | {"super", "HERE"}
_METHODS: Final = frozenset({"__init__", "forward"})
"""What a class of a program defines."""
_FUNCTIONS_GIVEN: Final = frozenset(
    "key closure distance_function activation custom_encoder custom_decoder scale_fn formatter lr_lambda fn".split()
)
"""Arguments that torch and Python call."""
_NODES: Final = (
    *(ast.Module, ast.Expression, ast.Expr, ast.Assign, ast.AugAssign, ast.For, ast.With, ast.withitem, ast.If),
    *(ast.Assert, ast.Pass, ast.Return, ast.FunctionDef, ast.ClassDef, ast.arguments, ast.arg),
    *(ast.Import, ast.ImportFrom, ast.alias, ast.keyword, ast.expr_context, ast.boolop, ast.operator, ast.unaryop),
    *(ast.cmpop, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Dict, ast.Compare, ast.Call, ast.FormattedValue),
    *(ast.JoinedStr, ast.Constant, ast.Attribute, ast.Subscript, ast.Starred, ast.Name, ast.List, ast.Tuple),
    *(ast.Slice, ast.Set),
)
"""What the writer prints; a text that holds anything else is not the writer's."""
Tree = TypeVar("Tree", bound=ast.AST)


def compiled(tree: ast.Module) -> CodeType:
    """The code of statements that were `guarded`."""
    return compile(ast.fix_missing_locations(tree), FILENAME, "exec")


def single(tree: ast.Module) -> ast.Module:
    """A text that is to be one statement; what holds more is not run, since nobody sees the rest."""
    if len(tree.body) <= 1:
        return tree
    return ast.Module([_refusal(tree.body[0], "a statement of a drawing stands alone")], [])


def statements(text: str) -> CodeType:
    """The code of a text, guarded.

    Raises:
        SyntaxError: it is no Python.
    """
    return compiled(guarded(ast.parse(text, FILENAME)))


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
    definition.body = ast.parse(f"return {LOCALS}()").body
    within = dict(names)
    execute(compiled(tree), within)
    return within["bind"]


def guarded(tree: Tree) -> Tree:
    """The same statements or expression with every attribute, call and write asked for; the tree itself is changed."""
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
        return self._attribute(node, REACH if isinstance(node.ctx, ast.Load) else WRITABLE)

    def _attribute(self, node: ast.Attribute, question: str) -> ast.expr:
        path = _path(node)
        if path is not None:
            is_read = isinstance(node.ctx, ast.Load)
            if path in (_paths() if is_read else _settings()):
                return node
            refusal: ast.expr = _refusal(node, f"'{path[:60]}' is not in the catalogue")
            node.value = refusal
            return refusal if is_read else node
        node.value = _asked(question, self.visit(node.value), ast.Constant(node.attr))
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """What is called is a function of the catalogue, a method that was asked for, or must be allowed by itself."""
        if _is_super_init(node):
            return node
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
            node.args = [one if isinstance(one, ast.Starred) else _asked(CALLEE, one) for one in node.args]
        for keyword in node.keywords:
            if calls_back or keyword.arg in _FUNCTIONS_GIVEN:
                keyword.value = _asked(CALLEE, keyword.value)
        if path in access_calls.SPARSE or path in access_calls.UNSAFE:
            node.func = _asked(SPARSE if path in access_calls.SPARSE else SAFE, node.func)
        return _asked(COPY, node) if path is None and word in access_calls.INDICES else node

    def _calls_back(self, node: ast.Call, path: str | None) -> bool:
        """Whether what is called may call what it is given."""
        if isinstance(node.func, ast.Name):
            return node.func.id == "iter" and len(node.args) > 1
        is_step = isinstance(node.func, ast.Attribute) and node.func.attr == "step"
        return is_step or (path is not None and path in _paths_that_call())


def _path(node: ast.expr) -> str | None:
    """``torch.nn.functional.relu`` of ``F.relu``; None when it starts at a value."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in MODULES:
        return None
    return ".".join([MODULES[node.id], *reversed(parts)])


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
def _paths() -> frozenset[str]:
    """Every path that a program may write: those of the catalogue, constants, two classes, and what a header has."""
    rows = {row.path.removesuffix("=") for row in load()}
    constants = {f"{MODULES[short]}.{name}" for short, names in CONSTANTS.items() for name in names}
    contexts = {context_path(kind) for kind in get_args(BlockKind)}
    return frozenset(rows | constants | contexts | {*CLASSES} | _OF_HEADERS)


@cache
def _settings() -> frozenset[str]:
    """Settings of torch that a program may write: ``torch.backends.cudnn.benchmark``."""
    return frozenset(row.path.removesuffix("=") for row in load() if row.face is Face.SET_PATH)


@cache
def _paths_that_call() -> frozenset[str]:
    """Functions and classes of the catalogue that may be given a function."""
    return frozenset(row.path for row in load() if any(p.name in _FUNCTIONS_GIVEN for p in row.parameters))


@cache
def _builtins() -> dict[str, Any]:
    """The built-ins a program has: those of the catalogue, what statements themselves need, and the questions."""
    questions = {REACH: reach, METHOD: method, CALLEE: callee, WRITABLE: writable, REFUSE: _refuse, LOCALS: locals}
    questions |= {SPARSE: access_calls.looked_through, SAFE: access_calls.safe, COPY: access_calls.copy_of}
    words: dict[str, Any] = {word: getattr(builtins, word) for word in ("super", "print", "__build_class__")}
    words |= {"__import__": _import, "__name__": "builtins"}
    return words | built_in_functions() | questions


def _import(*arguments: Any) -> Any:
    """Python's import, asked anew each time: also torch's C++ asks the built-ins of the running text for it.

    WORKAROUND(shiboken replaces `__import__` and aborts where built-ins lack the original beside it)
    """
    return builtins.__import__(*arguments)
