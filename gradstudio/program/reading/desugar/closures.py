"""Names that a definition reads from around it become arguments, which every call brings (semantics §15).

Syntax in, syntax out. A function looks a name up when it is called, and that is where its call brings the value. What
`forward` reads comes when the module is made, so that only a name counts there that the text binds once.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set

from gradstudio.program.reading.code.code_imports import imported
from gradstudio.program.reading.code.code_statement import CodeStatement, codes_in
from gradstudio.program.reading.desugar.class_state import behind_base, new_maker
from gradstudio.program.reading.desugar.global_names import look_up
from gradstudio.program.reading.desugar.synthetic_nodes import at_position
from gradstudio.program.reading.imports import PACKAGES
from gradstudio.program.reading.syntax_queries import walk
from gradstudio.program.reading.torch_paths import needs_import

Function = ast.FunctionDef
Defined = ast.FunctionDef | ast.ClassDef
_OWN = frozenset({"device", "HERE"})
"""Names that every definition knows."""


def bring_outer_names(statements: Sequence[ast.stmt], called_by_code: Set[str] = frozenset()) -> None:
    """Give definitions the names they read from around them, and their calls the values; the tree is changed.

    Those that code may call look the names up themselves.
    """
    definitions = {one.name: one for one in statements if isinstance(one, Defined)}
    needed = outer_names(statements, called_by_code)
    if not any(needed.values()):
        return
    brought = {name: names for name, names in needed.items() if names and name not in called_by_code}
    places = {name: _give(definitions[name], names) for name, names in brought.items()}
    for scope, local in _scopes(statements):
        for call in _calls(scope):
            if isinstance(call.func, ast.Name) and call.func.id in places and call.func.id not in local:
                _bring(call, needed[call.func.id], places[call.func.id])
    for name in called_by_code & needed.keys():
        for one in _functions(definitions[name]):
            look_up(one, {*needed[name]} - local_names(one), needed.keys())


def outer_names(statements: Sequence[ast.stmt], called_by_code: Set[str] = frozenset()) -> dict[str, list[str]]:
    """By definition, the names that it reads from around it, or that those read which it calls.

    What is called by code brings nothing to its callers: it looks names up itself.
    """
    definitions = {one.name: one for one in statements if isinstance(one, Defined)}
    if not definitions:
        return {}
    around = [one for one in statements if not isinstance(one, Defined)]
    return _needed(definitions, _bound_around(around), called_by_code)


def free_names(definition: Defined) -> set[str]:
    """The names that a definition reads from around it, whoever binds them."""
    functions = [definition] if isinstance(definition, Function) else _methods(definition)
    inside = {name for one in functions for name in _free(one)}
    if isinstance(definition, Function):
        return inside
    return inside | names_in([one for one in definition.body if not isinstance(one, Function | CodeStatement)])


def by_first_name(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements without second names of functions, `loss_func = nll`; what reads those reads the first."""
    definitions = {one.name for one in statements if isinstance(one, ast.FunctionDef)}
    if not any(_is_second_name(one, definitions) for one in statements):
        return list(statements)
    counts = Counter(stored_names(statements))
    counts.update(part.arg for one in statements for part in walk(one) if isinstance(part, ast.arg))
    second: dict[str, str] = {}
    found: list[ast.stmt] = []
    for one in statements:
        match one:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=first)) if (
                first in definitions and counts[name] == 1 and name not in definitions
            ):
                second[name] = first
            case _:
                found.append(one)
    for part in (part for one in found for part in walk(one)) if second else ():
        if isinstance(part, ast.Name):
            part.id = second.get(part.id, part.id)
    return found


def _is_second_name(statement: ast.stmt, definitions: Set[str]) -> bool:
    """Whether it binds a name to one of the definitions."""
    match statement:
        case ast.Assign(targets=[ast.Name()], value=ast.Name(id=first)):
            return first in definitions
        case _:
            return False


def stored_names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The names that statements bind, once for each time."""
    for node in nodes:
        for part in walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield part.id


def names_in(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that statements read or bind."""
    parts = [part for node in nodes for part in walk(node)]
    arguments = {part.arg for part in parts if isinstance(part, ast.arg)}
    return {part.id for part in parts if isinstance(part, ast.Name)} | arguments


def local_names(function: Function) -> set[str]:
    """The names that belong to a function: its arguments and what it binds."""
    found: set[str] = set()
    for part in walk(function):
        if isinstance(part, ast.arg):
            found.add(part.arg)
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            found.add(part.id)
    return found


def drawn_parts(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a statement, but for code in it."""
    waiting = [node]
    for part in waiting:  # which grows
        if not isinstance(part, CodeStatement):
            yield part
            waiting += ast.iter_child_nodes(part)


def _bound_around(statements: Sequence[ast.stmt]) -> Counter[str]:
    """How often each name is bound outside of definitions; those of functions under a second name are left out."""
    counts: Counter[str] = Counter()
    second: set[str] = set()
    for statement in statements:
        counts.update(stored_names([statement]))
        for part in walk(statement):
            if isinstance(part, ast.For | ast.AugAssign):
                counts.update(stored_names([part]))  # bound again and again
            if isinstance(part, ast.Assign) and isinstance(part.value, ast.Attribute):
                second.update(stored_names(part.targets))
    plain = {name for name in second if counts[name] == 1 and not _is_value(name, statements)}
    plain |= {name for name in _imported_by_code(statements) if counts[name] == 1}
    return Counter({name: n for name, n in counts.items() if name not in plain | _OWN})


def _imported_by_code(statements: Sequence[ast.stmt]) -> Iterator[str]:
    """Names by which imports of code bind what is torch's or numpy's: a definition knows it by its path."""
    for name, path in imported(part for code in codes_in(statements) for part in code.statements).items():
        if path.partition(".")[0] in PACKAGES and not needs_import(path):
            yield name


def _is_value(name: str, statements: Sequence[ast.stmt]) -> bool:
    """Whether the attribute that a name is bound to is one of a value, and none of a module."""
    values = set(stored_names(statements))
    for statement in statements:
        for part in walk(statement):
            if isinstance(part, ast.Assign) and name in stored_names(part.targets):
                root = part.value
                while isinstance(root, ast.Attribute):
                    root = root.value
                return not isinstance(root, ast.Name) or root.id in values
    return True


def _needed(definitions: dict[str, Defined], bound: Counter[str], called_by_code: Set[str]) -> dict[str, list[str]]:
    """What each definition reads from around it, and what those need that it calls."""
    second = {name for name in bound if name in definitions}
    free = {name: [(one, _free(one)) for one in _functions(definition)] for name, definition in definitions.items()}
    own = {name: _read(definitions[name], free[name], bound) for name in definitions}
    known = definitions.keys() - second - called_by_code
    called = {name: [one for _, names in free[name] for one in names if one in known] for name in definitions}
    local = {name: local_names(one) if isinstance(one, Function) else set() for name, one in definitions.items()}
    changes = True
    while changes:
        changes = False
        for name, callees in called.items():
            found = dict.fromkeys(own[name])  # in the order in which they become parameters
            for callee in callees:
                if callee != name:
                    found.update((one, None) for one in own[callee] if one not in local[name])
            changes = changes or len(found) > len(own[name])
            own[name] = list(found)
    return own


def _read(definition: Defined, free: Sequence[tuple[Function, list[str]]], bound: Counter[str]) -> list[str]:
    """The names from around it that a definition reads; `free` are those that its functions do."""
    found: list[str] = []
    for function, names in free:
        is_called = function is definition or function.name == "__init__"
        found += [name for name in names if bound[name] == 1 or (is_called and name in bound)]
    return list(dict.fromkeys(found))


def _free(function: Function) -> list[str]:
    """What its drawn statements read from around it: code reads that itself, when it runs."""
    local = local_names(function)
    names = (part for one in function.body for part in drawn_parts(one) if isinstance(part, ast.Name))
    return list(dict.fromkeys(name.id for name in names if name.id not in local))


def _functions(definition: Defined) -> list[Function]:
    return [definition] if isinstance(definition, Function) else _methods(definition)


def _methods(definition: ast.ClassDef) -> list[Function]:
    return [one for one in definition.body if isinstance(one, Function)]


def _give(definition: Defined, names: Sequence[str]) -> int:
    """Add the arguments behind those without defaults; how many a call gives before them."""
    if isinstance(definition, Function):
        return _add_arguments(definition, names, 0)
    maker = next((one for one in _methods(definition) if one.name == "__init__"), None)
    if maker is None:
        maker = new_maker(definition)
        definition.body.insert(0, maker)
    place = _add_arguments(maker, names, 1)
    others = [one for one in _methods(definition) if one.name != "__init__"]
    late = [name for name in names if any(name in _free(one) for one in others)]
    taken = {part.attr for part in walk(definition) if isinstance(part, ast.Attribute)}
    for name in late:
        attribute = name
        while attribute in taken:
            attribute += "_"
        for one in others:
            if name in _free(one):
                _Held(name, attribute, one.args.args[0].arg if one.args.args else "self").visit(one)
        _keep(maker, name, attribute)
    return place


def _add_arguments(function: Function, names: Sequence[str], own: int) -> int:
    arguments = function.args
    place = len(arguments.args) - len(arguments.defaults)
    added = [at_position(ast.arg(name), function) for name in names]
    arguments.args[place:place] = added
    return place - own


def _keep(maker: Function, name: str, attribute: str) -> None:
    """`self.name = name` behind the call of the base class."""
    own = maker.args.args[0].arg
    made = ast.parse(f"{own}.{attribute} = {name}").body[0]
    place = behind_base(maker)
    for part in walk(made):
        at_position(part, maker.body[max(place - 1, 0)])
    maker.body.insert(place, made)


class _Held(ast.NodeTransformer):
    """A name that `forward` reads is the object's."""

    def __init__(self, name: str, attribute: str, own: str) -> None:
        self._name, self._attribute, self._own = name, attribute, own

    def visit_CodeStatement(self, node: CodeStatement) -> ast.AST:
        """Code looks the name up itself."""
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """One reading of it."""
        if node.id != self._name:
            return node
        own = ast.copy_location(ast.Name(self._own, ast.Load()), node)
        made = ast.copy_location(ast.Attribute(own, self._attribute, node.ctx), node)
        made.end_lineno = own.end_lineno = None
        return made


def _scopes(statements: Sequence[ast.stmt]) -> Iterator[tuple[ast.AST, set[str]]]:
    """Every body of statements with the names that are its own; that of the program has none."""
    for one in statements:
        if isinstance(one, ast.ClassDef):
            yield from ((method, local_names(method)) for method in _methods(one))
        elif isinstance(one, Function):
            yield one, local_names(one)
        else:
            yield one, set()


def _calls(node: ast.AST) -> list[ast.Call]:
    return [part for part in walk(node) if isinstance(part, ast.Call)]


def _bring(call: ast.Call, names: Sequence[str], place: int) -> None:
    """Give a call the values: in their places where others follow, else by their names."""
    values = [at_position(ast.Name(name, ast.Load()), call.func) for name in names]
    if len(call.args) > place:
        call.args[place:place] = values
    else:
        call.keywords.extend(
            at_position(ast.keyword(name, value), call.func) for name, value in zip(names, values, strict=True)
        )
