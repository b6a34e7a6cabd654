"""What the arguments of a definition surely are, since every call of it in the text says the same; nothing is run."""

import ast
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence

from gradstudio.graph.text.allowed_calls import allowed_method
from gradstudio.program.reading.desugar.closures import stored_names
from gradstudio.program.reading.syntax_queries import walk

OPEN = object()
"""Only a run tells."""
GIVEN = object()
"""Something, and surely not None."""
Known = dict[str, object]
"""By name, or by `.name` for an attribute of the object: a number, a text, a boolean, None, or GIVEN."""
_COMPARED: dict[type[ast.cmpop], Callable[..., bool]] = {
    ast.Eq: lambda a, b: a == b, ast.NotEq: lambda a, b: a != b, ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b, ast.Gt: lambda a, b: a > b, ast.GtE: lambda a, b: a >= b,
}  # fmt: skip
Defined = ast.FunctionDef | ast.ClassDef


def decide_test(test: ast.expr, known: Known) -> bool | None:
    """Whether a test holds; None when only a run tells."""
    value = value_of(test, known)
    return None if value is OPEN or value is GIVEN else bool(value)


def value_of(node: ast.expr, known: Known) -> object:
    """What an expression of constants and known names is; OPEN, or GIVEN, when it is not known."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return known.get(name, OPEN)
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return known.get(f".{name}", OPEN)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            value = decide_test(operand, known)
            return OPEN if value is None else not value
        case ast.BoolOp(op=operator, values=values):
            return _both(isinstance(operator, ast.And), [decide_test(value, known) for value in values])
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            return _compared(value_of(left, known), operator, value_of(right, known))
        case _:
            return OPEN


def _both(is_and: bool, values: list[bool | None]) -> object:
    for value in values:
        if value is None:
            return OPEN
        if value != is_and:
            return value
    return is_and


def _compared(left: object, operator: ast.cmpop, right: object) -> object:
    if left is OPEN or right is OPEN:
        return OPEN
    if isinstance(operator, ast.Is | ast.IsNot):
        if left is not None and right is not None:
            return OPEN
        return (left is right) == isinstance(operator, ast.Is)
    compare = _COMPARED.get(type(operator))
    if compare is None or left is GIVEN or right is GIVEN:
        return OPEN
    is_number = isinstance(left, int | float) and isinstance(right, int | float)
    is_text = isinstance(left, str) and isinstance(right, str)
    either = isinstance(operator, ast.Eq | ast.NotEq)
    return compare(left, right) if is_number or is_text or either else OPEN


class Calls:
    """The calls of a text, by the last word of what is called."""

    def __init__(self, statements: Sequence[Sequence[ast.AST]], imported: Iterable[str]) -> None:
        """Look at all of them, each with all its parts; `imported` are the names that imports bind."""
        self._imported = frozenset(imported)
        self._classes = {one.name for one, *_ in statements if isinstance(one, ast.ClassDef)}
        self._calls: dict[str, list[ast.Call]] = {}
        self._made: dict[str, set[str]] = {}
        self._loose: set[str] = set()
        self._values: set[str] = set()
        self._values = self._sure_names(part for parts in statements for part in parts)
        for statement in statements:
            self._look(statement)

    def known(self, definition: Defined, function: ast.FunctionDef) -> Known:
        """What the arguments of a function, or of a method of a class, are in every call."""
        is_own = isinstance(definition, ast.ClassDef)
        calls = self._of(definition, function.name)
        arguments = function.args
        if calls is None or arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
            return {}
        parameters = arguments.args[1:] if is_own else arguments.args
        defaults = dict(zip(reversed([one.arg for one in parameters]), reversed(arguments.defaults), strict=False))
        changed = set(stored_names(function.body))
        found: Known = {}
        for k, parameter in enumerate(parameters):
            values = [self._given(call, k, parameter.arg, defaults.get(parameter.arg)) for call in calls]
            if values and parameter.arg not in changed and all(_same(value, values[0]) for value in values):
                found[parameter.arg] = values[0]
            elif (
                values
                and parameter.arg not in changed
                and all(value is not OPEN and value is not None for value in values)
            ):
                found[parameter.arg] = GIVEN
        return {name: value for name, value in found.items() if value is not OPEN}

    def _of(self, definition: Defined, name: str) -> list[ast.Call] | None:
        """The calls of it; None when some may be unknown."""
        if isinstance(definition, ast.FunctionDef) or name == "__init__":
            calls = self._calls.get(definition.name, [])
            return None if definition.name in self._loose else calls
        if name != "forward" or definition.name in self._loose:
            return None
        words = self._made.get(definition.name, set())
        if not words.isdisjoint(self._loose):
            return None  # under another name it may be called otherwise
        alone = all(not words & others for one, others in self._made.items() if one != definition.name)
        made = len(self._calls.get(definition.name, []))
        every = (*words, "forward", "self", "__call__")
        return [call for word in every for call in self._calls.get(word, [])] if alone and len(words) == made else None

    def _given(self, call: ast.Call, place: int, name: str, default: ast.expr | None) -> object:
        if any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords):
            return OPEN
        given = next((one.value for one in call.keywords if one.arg == name), None)
        given = call.args[place] if given is None and place < len(call.args) else given
        value = given if given is not None else default
        return self._value(value) if value is not None else OPEN

    def _value(self, node: ast.expr) -> object:
        if isinstance(node, ast.Constant):
            return node.value
        return GIVEN if self._is_something(node) else OPEN

    def _is_something(self, node: ast.expr) -> bool:
        """Whether an expression is surely not None."""
        match node:
            case ast.Constant(value=value):
                return value is not None
            case ast.BinOp() | ast.Compare() | ast.Tuple() | ast.List() | ast.JoinedStr() | ast.ListComp():
                return True
            case ast.Call(func=ast.Name(id=name)):
                return name in self._classes
            case ast.Call(func=ast.Attribute(value=owner, attr=word)):
                return self._is_imported(owner) or allowed_method(word)
            case ast.Name(id=name):
                return name in self._values
            case _:
                return False

    def _is_imported(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self._imported

    def _sure_names(self, parts: Iterable[ast.AST]) -> set[str]:
        """The names that are something wherever the text binds them, and that no definition binds itself."""
        own: set[str] = set()
        bound: dict[str, int] = {}
        counts: dict[str, int] = {}
        for part in parts:
            if isinstance(part, ast.Name):
                if isinstance(part.ctx, ast.Store):
                    bound[part.id] = bound.get(part.id, 0) + 1
            elif isinstance(part, ast.arg):
                own.add(part.arg)
            elif isinstance(part, ast.Assign) and len(part.targets) == 1:
                for name, value in _pairs(part.targets[0], part.value):
                    counts[name] = counts.get(name, 0) + self._is_something(value)
        return {name for name, count in bound.items() if name not in own and counts.get(name, 0) == count}

    def _look(self, parts: Sequence[ast.AST]) -> None:
        """At one statement."""
        heads: set[int] = set()
        for part in parts:
            if isinstance(part, ast.Assign) and len(part.targets) == 1:
                name = self._class_of(part.value)
                word = _word(part.targets[0])
                if name and word and word not in self._made.get(name, ()):
                    self._made.setdefault(name, set()).add(word)
            if isinstance(part, ast.Attribute):
                heads.add(id(part.value))
            if isinstance(part, ast.Call):
                word = _word(part.func)
                heads.update(map(id, (part.func, *(part.args if word == "print" else ()))))
                if word:
                    self._calls.setdefault(word, []).append(part)
        for part in parts:
            if isinstance(part, ast.Name | ast.Attribute) and isinstance(part.ctx, ast.Load) and id(part) not in heads:
                self._loose.add(_word(part))

    def _class_of(self, node: ast.expr) -> str:
        """The class that an expression makes an object of: ``Net()``, ``Net().to(device)``."""
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in self._classes:
                return name
            case ast.Call(func=ast.Attribute(value=inner, attr="to" | "cuda" | "cpu" | "double" | "float" | "eval")):
                return self._class_of(inner)
            case _:
                return ""


def attributes_written(parts: Iterable[ast.AST]) -> Iterator[str]:
    """The attributes that parts of statements write, once for each time."""
    for part in parts:
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
            yield part.attr


def attributes_known(maker: ast.FunctionDef, known: Known, changed: Container[str]) -> Known:
    """What the attributes of an object are that `__init__` binds once, to what is known; `changed` are others."""
    counts = Counter(attributes_written(walk(maker)))
    values: Known = {}
    for statement in maker.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Attribute) and counts.get(target.attr) == 1:
                values[f".{target.attr}"] = value_of(statement.value, known)
                if isinstance(statement.value, ast.Call) and isinstance(statement.value.func, ast.Attribute):
                    values[f".{target.attr}"] = GIVEN if statement.value.func.attr[:1].isupper() else OPEN
    return {name: value for name, value in values.items() if value is not OPEN and name[1:] not in changed}


def _same(one: object, other: object) -> bool:
    return one is other or (type(one) is type(other) and one is not OPEN and one is not GIVEN and one == other)


def _word(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def _pairs(target: ast.expr, value: ast.expr) -> Iterable[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        return [(target.id, value)]
    is_pair = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts)
    if not is_pair:
        return []
    pairs = zip(target.elts, value.elts, strict=True)  # type: ignore[attr-defined]  # both are tuples
    return [(one.id, given) for one, given in pairs if isinstance(one, ast.Name)]
